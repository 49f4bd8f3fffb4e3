//! A tool call as one line.

pub(crate) use bosun_session::export::{call, finished};
