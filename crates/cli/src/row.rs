//! A tool call as one line.

use bosun_protocol::ToolItem;
use bosun_session::export::ENGLISH;

pub(crate) use bosun_session::export::call;

pub(crate) fn finished(tool: &ToolItem) -> String {
    bosun_session::export::finished(tool, &ENGLISH)
}
