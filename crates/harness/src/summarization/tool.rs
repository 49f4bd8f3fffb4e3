use std::borrow::Cow;

use bosun_tools::{Tool, ToolContext, ToolError, ToolKind, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Compacted, CompactionError};

pub(crate) const NAME: &str = "compact_conversation";

/// Lets the model ask for a summary. The work is the middleware's; this says only that it may be done.
pub(crate) struct CompactConversation;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct CompactConversationInput {}

impl Tool for CompactConversation {
    const NAME: &'static str = NAME;
    type Input = CompactConversationInput;

    fn kind(&self) -> ToolKind {
        ToolKind::Plan
    }

    fn description(&self) -> Cow<'_, str> {
        "Replaces the older part of this conversation by a summary, so that there is room for more. Use it at a good \
         moment, when one part of the work is done and its details are no longer needed. It happens by itself when the \
         conversation gets too long."
            .into()
    }

    async fn call(&self, _cx: &ToolContext, _input: Self::Input) -> Result<ToolOutput, ToolError> {
        Ok(granted())
    }
}

pub(super) fn granted() -> ToolOutput {
    ToolOutput::text("The conversation may be compacted.")
}

pub(super) fn nothing() -> ToolOutput {
    ToolOutput::text("There is nothing to compact yet: the conversation is still short.")
}

pub(super) fn done(compacted: &Compacted) -> ToolOutput {
    let place = compacted.file.as_ref().map(|file| format!(" They can be read in {file}.")).unwrap_or_default();
    ToolOutput::text(format!("{} messages were replaced by a summary.{place}", compacted.messages))
}

pub(super) fn failed(error: &CompactionError) -> ToolOutput {
    ToolOutput::error(format!("Error: {error}."))
}
