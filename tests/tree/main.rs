//! Tests that check the tree itself: who may depend on whom, where effects happen, how long files get, what the desktop
//! package may do, and that what the documents promise exists.
//!
//! Each rule is stated in `ARCHITECTURE.md`; the tables here are its exact form. A failing rule names the file, the rule
//! and what to do instead. Exceptions are rows of a table and carry a reason.
#![allow(clippy::disallowed_methods, clippy::expect_used, reason = "tests read the tree they check")]

mod coverage;
mod desktop;
mod effects;
mod layering;
mod machine;
mod problems;
mod sizes;
mod source;

/// Fails with all of `problems` at once, so that one run tells everything.
fn none(rule: &str, problems: &[String]) {
    assert!(problems.is_empty(), "{rule}:\n  {}", problems.join("\n  "));
}
