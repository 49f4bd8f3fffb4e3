//! The built `bosun` against a scripted model over real HTTP, real SQLite and temporary projects.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "tests make their own files and processes"
)]

mod approvals;
mod backends;
mod bench;
mod beside;
mod canaries;
mod crash;
mod declared;
mod documented;
mod extras;
mod generated;
mod keys;
mod knowledge;
mod limits;
mod mcp;
mod models;
mod places;
mod programs;
#[cfg(target_os = "linux")]
mod proxies;
mod refusals;
mod running;
mod sandbox;
mod settings;
mod stable;
mod stored;
mod summary;
mod terminal;
mod tools;
mod usage;
mod watching;
