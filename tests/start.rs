//! The real binary where no window can be opened: one sentence, the right exit code, no panic.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests start programs and stop at once")]

use std::process::{Command, Output};

/// Runs the app without a display, in a home of its own.
fn run(arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_bosun-desktop"));
    command.env_clear().env("HOME", home.path()).envs(environment.iter().copied()).args(arguments);
    command.output().unwrap()
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

#[test]
#[cfg(target_os = "linux")]
fn without_a_display_it_says_so_and_names_the_way_out() {
    let cases = [
        (&[][..], "neither DISPLAY nor WAYLAND_DISPLAY is set"),
        (&[("DISPLAY", ":7777")][..], "DISPLAY=:7777"),
        (&[("WAYLAND_DISPLAY", "nowhere"), ("XDG_RUNTIME_DIR", "/nonexistent")][..], "WAYLAND_DISPLAY=nowhere"),
        (&[("LANG", "zh_CN.UTF-8")][..], "Bosun 需要显示环境"),
    ];
    for (environment, words) in cases {
        let output = run(&[], environment);
        let sentence = said(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{sentence}");
        assert!(sentence.contains(words) && sentence.contains("bosun run"), "{sentence}");
        assert_eq!(sentence.lines().count(), 1, "{sentence}");
        assert_eq!(said(&output.stdout), "");
    }
}

#[test]
fn the_command_line_is_answered_without_a_window() {
    let version = run(&["--version"], &[]);
    assert_eq!(
        (version.status.code(), said(&version.stdout)),
        (Some(0), format!("Bosun {}", env!("CARGO_PKG_VERSION")))
    );
    let help = run(&["--help"], &[]);
    assert!(help.status.success() && said(&help.stdout).contains("--safe-graphics"));
    let wrong = run(&["--fast"], &[]);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(said(&wrong.stderr).contains("--fast"));
}
