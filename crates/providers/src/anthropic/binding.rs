//! Thoughts that Claude takes back only with the very conversation they came of.
//!
//! From the 5.1 line on, what stands before a thought must be what it was when the thought was made: system, tools and
//! messages. Else the request is refused, unless it asks for such thoughts to be dropped
//! (<https://platform.claude.com/docs/en/build-with-claude/preserved-thinking>). A conversation of Bosun's changes in front
//! of them: memory is read anew for each step, tools come when they are wanted, and what is old becomes a summary.

use serde::Serialize;

use super::thinking::version;

/// Without it the field is refused.
pub(crate) const BETA: &str = "thinking-binding-controls-2026-08-01";

/// What becomes of what the model once thought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thoughts {
    /// It goes back as it came.
    Replayed,
    /// As [`Self::Replayed`]; the server drops what no longer fits.
    Dropped,
    /// Nothing of it goes back.
    LeftOut,
}

/// The field `thinking.block_binding`.
#[derive(Debug, Serialize)]
pub(super) struct BlockBinding {
    prefix_mismatch_behavior: &'static str,
}

impl BlockBinding {
    pub(super) const DROP: Self = Self { prefix_mismatch_behavior: "drop_block" };
}

/// Whether a model checks what stands before its thoughts.
pub(crate) fn is_bound(name: &str) -> bool {
    version(name).is_some_and(|version| version >= (5, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_checks_begins_with_5_1() {
        for name in [
            "claude-fable-5-1",
            "claude-fable-5-2-20261101",
            "claude-opus-5-5",
            "claude-sonnet-5-5@20260928",
            "us.anthropic.claude-opus-5-5-v1:0",
            "anthropic/claude-haiku-5.5",
            "claude-opus-6",
            "claude-saga-6-1",
        ] {
            assert!(is_bound(name), "{name}");
        }
        for name in
            ["claude-fable-5", "claude-opus-5-20260724", "claude-opus-4-8", "claude-3-7-sonnet-20250219", "gpt-5.6"]
        {
            assert!(!is_bound(name), "{name}");
        }
    }
}
