//! Variables that the page's process and drawing go by, set at the only time that is safe: at the very start, before any
//! thread.
//!
//! What is opened in other programs does not get them ([`names`]). Provider keys are taken out of the environment by
//! [`bosun_providers::EnvironmentKeys`]. Children of the agent never see any of this: the launcher builds their environment
//! from nothing.

use std::sync::{Mutex, PoisonError};

static SET: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

/// The variables that were set here.
pub(crate) fn names() -> Vec<&'static str> {
    SET.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Sets variables. Only for the start of `main`, before any thread and any call into GTK.
#[allow(unsafe_code, reason = "std offers no safe way to set a variable")]
pub(crate) fn set(variables: &[(&'static str, &str)]) {
    SET.lock().unwrap_or_else(PoisonError::into_inner).extend(variables.iter().map(|(name, _)| name));
    for (name, value) in variables {
        // SAFETY: called before the first thread.
        unsafe { std::env::set_var(name, value) };
    }
}
