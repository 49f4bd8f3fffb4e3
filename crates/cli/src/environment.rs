//! Provider keys out of the environment, at the only time when that is safe: before the first thread.
//!
//! Commands of the agent never inherit keys: the launcher builds their environment from nothing. This keeps them from
//! looking up ours in `/proc/<pid>/environ`, too.

use secrecy::{ExposeSecret, SecretString};

/// The keys that stood in the environment, by variable.
#[derive(Clone, Debug, Default)]
pub(crate) struct EnvironmentKeys(Vec<(&'static str, SecretString)>);

impl EnvironmentKeys {
    /// Takes the `variables` out of the environment. Only for the start of `main`.
    pub(crate) fn take(variables: impl Iterator<Item = &'static str>) -> Self {
        let mut keys = Vec::new();
        for variable in variables {
            let Ok(value) = std::env::var(variable) else { continue };
            remove(variable);
            keys.push((variable, SecretString::from(value)));
        }
        Self(keys)
    }

    /// What stood under `variable`.
    pub(crate) fn get(&self, variable: &str) -> Option<String> {
        let found = self.0.iter().find(|(name, _)| *name == variable);
        found.map(|(_, key)| key.expose_secret().to_owned())
    }
}

#[allow(unsafe_code, reason = "std offers no safe way to remove a variable")]
fn remove(name: &str) {
    #[cfg(unix)]
    wipe(name);
    // SAFETY: called before the first thread.
    unsafe { std::env::remove_var(name) };
}

/// Overwrites the value where the kernel put it: removing a variable only takes the pointer away.
#[cfg(unix)]
#[allow(unsafe_code, reason = "std gives no access to the bytes of the environment")]
fn wipe(name: &str) {
    let Ok(name) = std::ffi::CString::new(name) else { return };
    // SAFETY: no other thread exists that could read or change the environment; `getenv` gives a pointer into this
    // process's own writable memory that ends at the first zero byte, and nothing beyond that is written.
    unsafe {
        let value = libc::getenv(name.as_ptr());
        if !value.is_null() {
            std::ptr::write_bytes(value, 0, libc::strlen(value));
        }
    }
}
