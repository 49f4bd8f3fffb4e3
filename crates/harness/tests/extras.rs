//! What a person adds to an agent: hooks, and servers of tools, in a deep agent over a real folder.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests may touch files and fail loudly")]

#[allow(dead_code, reason = "each file of tests uses a part of it")]
#[path = "stack/scene.rs"]
mod scene;

#[path = "extras/hooks.rs"]
mod hooks;
#[path = "extras/servers.rs"]
mod servers;
