//! What a person adds to an agent (hooks, servers of tools, members and subagents of their own) and how they set it up, in
//! a deep agent over a real folder.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests may touch files and fail loudly")]

#[allow(dead_code, reason = "each file of tests uses a part of it")]
#[path = "stack/scene.rs"]
mod scene;

#[path = "extras/hooks.rs"]
mod hooks;
#[path = "stack/media.rs"]
mod media;
#[path = "stack/options.rs"]
mod options;
#[path = "stack/own.rs"]
mod own;
#[path = "extras/servers.rs"]
mod servers;
