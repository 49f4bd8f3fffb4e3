//! A session as a file: Markdown, JSON, or one HTML page that loads and runs nothing.
//!
//! The same words serve whoever shows sessions as text: rows, diffs, and text of unknown origin made visible.

mod archive;
mod diff;
mod html;
mod inert;
mod markdown;
mod prose;
pub(crate) mod redacting;
mod row;
mod text;
mod words;

pub use archive::Archive;
pub use diff::unified;
pub use html::page as html;
pub use markdown::{Detail, time, written as markdown};
pub use row::{call, finished};
pub use text::{one_line, short, visible};
pub use words::{CHINESE, ENGLISH, Words, word};
