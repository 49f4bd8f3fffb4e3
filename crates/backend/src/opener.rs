use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A launcher that has not failed within this time has opened what it was given, or still does.
const FAILS_WITHIN: Duration = Duration::from_millis(300);
const LOOKS_EVERY: Duration = Duration::from_millis(10);

/// Hands an address or a file to the program that the desktop has for it, without the variables `hidden`: they are for
/// Bosun's own window, and a browser would keep them for all its life. Blocks for a moment.
///
/// # Errors
/// What the last launcher that was tried said, where none could.
pub fn hand_to_desktop(target: &OsStr, hidden: &[&str]) -> io::Result<()> {
    first_of(open::commands(target), hidden)
}

pub(crate) fn first_of(launchers: impl IntoIterator<Item = Command>, hidden: &[&str]) -> io::Result<()> {
    let mut failed = io::Error::from(io::ErrorKind::NotFound);
    for mut launcher in launchers {
        hidden.iter().for_each(|name| {
            launcher.env_remove(name);
        });
        // What is opened stays open when the app ends.
        launcher.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        match launcher.spawn().and_then(handed) {
            Ok(()) => return Ok(()),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

/// Whether it did not fail at once. One that goes on is waited for elsewhere, so that nothing of it stays when it ends.
fn handed(mut launcher: Child) -> io::Result<()> {
    let begun = Instant::now();
    loop {
        match launcher.try_wait()? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(io::Error::other(status.to_string())),
            None if begun.elapsed() < FAILS_WITHIN => std::thread::sleep(LOOKS_EVERY),
            None => {
                std::thread::Builder::new().name("opener".to_owned()).spawn(move || launcher.wait())?;
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).env("HIDDEN", "x").env("SEEN", "y");
        command
    }

    #[test]
    fn the_first_launcher_that_does_not_fail_gets_it_without_what_is_hidden() {
        let folder = tempfile::tempdir().unwrap();
        let said = folder.path().join("said");
        let tell = format!("echo \"${{HIDDEN-none}} $SEEN\" >> '{}'", said.display());
        let missing = Command::new(folder.path().join("missing"));
        first_of([missing, shell("exit 3"), shell(&tell), shell(&tell)], &["HIDDEN"]).unwrap();
        assert_eq!(std::fs::read_to_string(said).unwrap(), "none y\n");
    }

    #[test]
    fn one_that_stays_is_not_waited_for_and_a_failure_is_told() {
        let begun = Instant::now();
        first_of([shell("sleep 20")], &[]).unwrap();
        assert!(begun.elapsed() < Duration::from_secs(10));
        let error = first_of([shell("exit 4")], &[]).unwrap_err();
        assert!(error.to_string().contains('4'), "{error}");
        assert_eq!(first_of([], &[]).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
