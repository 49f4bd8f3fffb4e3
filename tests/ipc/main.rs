//! The commands as the page calls them: through Tauri's own IPC with our capabilities, over a mock of the window, against a
//! real data folder, a real project and a model behind real HTTP. Start reading at [`page`].
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "tests make their own folders and stop at once"
)]

mod access;
mod canaries;
mod grave;
mod hostile;
mod page;
mod permissions;
mod providers;
mod stopping;
mod storage;
mod tour;
mod trouble;
mod work;
