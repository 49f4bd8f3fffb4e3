use secrecy::{ExposeSecret, SecretString};

/// Provider keys that stood in the environment, by variable. They are in no child's environment and, on Linux, no longer
/// to be read in `/proc/<pid>/environ`; children of the agent get an environment made from nothing in any case.
#[derive(Clone, Debug, Default)]
pub struct EnvironmentKeys(Vec<(String, SecretString)>);

impl EnvironmentKeys {
    /// Takes the `variables` out of the environment. White space around a key is dropped, and one that is nothing else
    /// is none.
    ///
    /// Only for the start of `main`, before any thread: the environment has no lock.
    pub fn take<'a>(variables: impl Iterator<Item = &'a str>) -> Self {
        let mut taken = Self::default();
        for variable in variables {
            let value = std::env::var(variable).ok().map(|value| value.trim().to_owned());
            remove(variable);
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                taken = taken.with(variable, &value);
            }
        }
        taken
    }

    /// Keys as if they had been found there.
    pub fn with(mut self, variable: &str, key: &str) -> Self {
        self.0.push((variable.to_owned(), SecretString::from(key)));
        self
    }

    /// The key that stood under `variable`.
    pub fn get(&self, variable: &str) -> Option<String> {
        let found = self.0.iter().find(|(name, _)| name == variable);
        found.map(|(_, key)| key.expose_secret().to_owned())
    }

    /// The keys themselves, to be kept out of logs.
    pub fn secrets(&self) -> impl Iterator<Item = &SecretString> {
        self.0.iter().map(|(_, key)| key)
    }

    /// Gives the keys back for a program that replaces this one. Only when nothing runs any more.
    #[allow(unsafe_code, reason = "std offers no safe way to set a variable")]
    pub fn give_back(&self) {
        for (variable, key) in &self.0 {
            // SAFETY: the caller has no thread left that could read the environment.
            unsafe { std::env::set_var(variable, key.expose_secret()) };
        }
    }
}

#[allow(unsafe_code, reason = "std offers no safe way to remove a variable")]
fn remove(name: &str) {
    #[cfg(unix)]
    wipe(name);
    // SAFETY: called before the first thread.
    unsafe { std::env::remove_var(name) };
}

/// Overwrites the value where the kernel put it: removing a variable only takes the pointer away, and the bytes would stay
/// readable in `/proc/<pid>/environ`.
#[cfg(unix)]
#[allow(unsafe_code, reason = "std gives no access to the bytes of the environment")]
fn wipe(name: &str) {
    let Ok(name) = std::ffi::CString::new(name) else { return };
    // SAFETY: no other thread exists that could change or read the environment; `getenv` gives a pointer into this
    // process's own writable memory, ended by the first zero byte, and nothing beyond it is written.
    unsafe {
        let value = libc::getenv(name.as_ptr());
        if !value.is_null() {
            std::ptr::write_bytes(value, 0, libc::strlen(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests share their process's environment, so this one starts itself again in a process of its own.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_key_that_was_taken_is_gone_from_the_process() {
        const CHILD: &str = "BOSUN_TEST_CHILD";
        if std::env::var_os(CHILD).is_some() {
            let keys = EnvironmentKeys::take(["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "DEEPSEEK_API_KEY"].into_iter());
            assert_eq!(keys.get("ANTHROPIC_API_KEY").as_deref(), Some("sk-canary"));
            assert_eq!((keys.get("OPENAI_API_KEY"), keys.get("DEEPSEEK_API_KEY")), (None, None));
            assert_eq!((std::env::var_os("ANTHROPIC_API_KEY"), std::env::var_os("OPENAI_API_KEY")), (None, None));
            let shown = std::fs::read("/proc/self/environ").unwrap();
            assert!(!shown.windows(6).any(|bytes| bytes == b"canary"));
            keys.give_back();
            assert_eq!(std::env::var("ANTHROPIC_API_KEY").as_deref(), Ok("sk-canary"));
            return;
        }
        let name = "environment::tests::a_key_that_was_taken_is_gone_from_the_process";
        let status = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name])
            .envs([(CHILD, "1"), ("ANTHROPIC_API_KEY", " sk-canary\n"), ("OPENAI_API_KEY", " ")])
            .status();
        assert!(status.unwrap().success());
    }

    #[test]
    fn keys_are_found_by_variable_and_never_shown() {
        let keys = EnvironmentKeys::default().with("ANTHROPIC_API_KEY", "sk-canary");
        assert_eq!(keys.get("ANTHROPIC_API_KEY").as_deref(), Some("sk-canary"));
        assert_eq!(keys.get("OPENAI_API_KEY"), None);
        assert!(!format!("{keys:?}").contains("canary"));
    }
}
