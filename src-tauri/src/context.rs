#![allow(clippy::disallowed_methods, reason = "Tauri's macro ends the process where it finds its own files gone")]

use tauri::{Context, Runtime};

/// The app's configuration, its page, and what the page may call.
pub fn context<R: Runtime>() -> Context<R> {
    tauri::generate_context!()
}
