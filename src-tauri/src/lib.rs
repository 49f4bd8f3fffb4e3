//! The shell: a window around the core, and the only code that names Tauri.
//!
//! **Owns** the composition of the app (data folder, keys, providers, sessions), the commands the page may call, the window
//! and what it refuses, the log. **Must not** hold rules: a command checks the form of what it got and passes it on.
//!
//! Start reading at [`main`], then `start` (the order in which things begin), then [`Shell`], then `commands`.

mod activation;
mod argument;
mod caret;
mod check;
mod closing;
mod commands;
mod confirming;
mod context;
mod core;
mod desk;
mod diagnostics;
mod display;
mod environment;
mod error;
mod events;
mod faults;
mod graphics;
mod herald;
mod instance;
mod language;
mod launch;
mod links;
mod logs;
mod memory;
mod opening;
mod providers;
mod reviving;
mod sample;
mod shell;
mod start;
mod tour;
mod window;

pub use bosun_providers::EnvironmentKeys;
pub use commands::{bindings, handler};
pub use context::context;
pub use core::CoreParts;
pub use desk::{Desk, Question};
pub use shell::Shell;
pub use start::main;
