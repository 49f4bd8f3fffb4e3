//! A keyring for tests: `gnome-keyring-daemon`, unlocked, on a session bus and in a home folder of its own.

use std::path::PathBuf;
use std::process::Command;

use crate::part::{is_here, missing};

/// Has the home folder, and tells a test that it runs inside.
const INSIDE: &str = "BOSUN_TEST_INSIDE_KEYRING";

/// Runs the ignored test `name` of the running test program where a keyring answers. A missing part is told.
pub fn run_in_keyring(name: &str) {
    if !is_here("dbus-run-session") || !is_here("gnome-keyring-daemon") {
        missing::<()>("a keyring", "apt-get install gnome-keyring dbus");
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let unlocked = "printf '\\n' | gnome-keyring-daemon --unlock --components=secrets >/dev/null && exec \"$0\" \"$@\"";
    let output = Command::new("dbus-run-session")
        .args(["--", "sh", "-c", unlocked])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", name, "--ignored"])
        .env(INSIDE, home.path())
        .env("HOME", home.path())
        .env("XDG_DATA_HOME", home.path().join("data"))
        .env("XDG_CONFIG_HOME", home.path().join("config"))
        .env("XDG_CACHE_HOME", home.path().join("cache"))
        .env("XDG_RUNTIME_DIR", home.path())
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .output()
        .unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

/// The home folder of [`run_in_keyring`]; `None` outside of it, where its tests have nothing to do.
pub fn keyring_home() -> Option<PathBuf> {
    std::env::var_os(INSIDE).map(PathBuf::from)
}
