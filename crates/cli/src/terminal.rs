//! Text of unknown origin on a terminal: what would be acted upon, hidden or moved is written out instead.

pub(crate) use bosun_session::export::{one_line, short, visible};
