//! Processes of one desk: started with its environment, ended with it.

use rustix::process::{Pid, Signal, kill_process};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::Duration;

use super::wait;

/// Marks the environment of everything a desk starts, so that what its children start can be found as well.
pub const MARK: &str = "BOSUN_E2E_DESK";

/// A child that does not outlive its owner.
pub struct Owned {
    child: Child,
    name: String,
}

impl Owned {
    /// Starts `command`; the program must be on the PATH.
    pub fn start(command: &mut Command) -> Self {
        let name = command.get_program().to_string_lossy().into_owned();
        let child = command.spawn().unwrap_or_else(|error| {
            panic!("could not start {name}: {error}; `cargo xtask test --only window` installs what is missing")
        });
        Self { child, name }
    }

    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Fails the test if the process is already over.
    pub fn assert_alive(&mut self) {
        if let Some(status) = self.child.try_wait().expect("a child can be asked") {
            panic!("{} ended early: {status}", self.name);
        }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // It may be over already; then there is nothing to end.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Living processes whose environment carries `mark`, with the path of their program.
pub fn marked(mark: &str) -> Vec<(Pid, PathBuf)> {
    let needle = format!("{MARK}={mark}\0").into_bytes();
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let found = entries.filter_map(Result::ok).filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok().and_then(Pid::from_raw)?;
        // A process that is over, or another user's, has no environment to read.
        let environment = std::fs::read(entry.path().join("environ")).ok()?;
        let is_marked = environment.windows(needle.len()).any(|window| window == needle);
        is_marked.then(|| (pid, std::fs::read_link(entry.path().join("exe")).unwrap_or_default()))
    });
    found.collect()
}

/// Whether a process of this machine has `words` on its command line.
pub fn running_with(words: &str) -> bool {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    // One that is over has no command line any more.
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.map(|line| String::from_utf8_lossy(&line).into_owned()).any(|line| line.contains(words))
}

/// Kills everything that carries `mark` and waits until it is gone.
pub fn end_all(mark: &str) {
    let gone = wait(Duration::from_secs(5), || {
        let living = marked(mark);
        for (pid, _) in &living {
            // It may have ended since it was listed.
            kill_process(*pid, Signal::KILL).ok();
        }
        living.is_empty().then_some(())
    });
    if gone.is_none() {
        eprintln!("still running after the test: {:?}", marked(mark));
    }
}
