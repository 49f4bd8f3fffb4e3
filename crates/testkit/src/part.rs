//! Parts of a machine that a test needs and that may be missing on a person's: with `CI=true` they have to be there.

use std::process::Command;

/// `None` where the part is missing, after saying so.
pub fn missing<T>(what: &str, remedy: &str) -> Option<T> {
    let required = std::env::var_os("CI").is_some_and(|value| value == "true");
    assert!(!required, "{what} is not here, and with CI=true it has to be: {remedy}");
    eprintln!("passed over: {what} is not here; add it with {remedy}");
    None
}

/// Whether the shell finds the program.
pub fn is_here(program: &str) -> bool {
    let found = Command::new("/bin/sh").arg("-c").arg(format!("command -v {program}")).output();
    found.is_ok_and(|found| found.status.success())
}

/// A run that has to work, and what it printed.
pub fn ran(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).output().unwrap();
    assert!(output.status.success(), "{program} {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
