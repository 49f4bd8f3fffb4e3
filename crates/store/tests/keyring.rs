//! Keys in a real keyring: `gnome-keyring-daemon` on a session bus of its own, in a home folder of its own.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods, reason = "tests start processes")]

use std::process::{Command, Stdio};
use std::sync::Arc;

use bosun_store::{Database, Key, KeyringSecrets, Keys, SecretStore};
use secrecy::{ExposeSecret, SecretString};

const INSIDE: &str = "BOSUN_TEST_INSIDE_KEYRING";

fn is_there(program: &str) -> bool {
    let status = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok()
}

#[test]
fn keys_are_kept_found_bound_to_their_host_and_removed() {
    if !is_there("dbus-run-session") || !is_there("gnome-keyring-daemon") {
        assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "CI=true: gnome-keyring is missing");
        return eprintln!("skipped: sudo apt-get install gnome-keyring dbus");
    }
    let home = tempfile::tempdir().unwrap();
    let unlocked = "printf '\\n' | gnome-keyring-daemon --unlock --components=secrets >/dev/null && exec \"$0\" \"$@\"";
    let output = Command::new("dbus-run-session")
        .args(["--", "sh", "-c", unlocked])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "inside", "--ignored", "--nocapture"])
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
    assert!(output.status.success() && said.contains("inside: done"), "{said}");
}

#[test]
#[ignore = "runs on a bus of its own, started by the test above"]
fn inside() {
    let Some(home) = std::env::var_os(INSIDE) else { return };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let keyring = || Arc::new(KeyringSecrets) as Arc<dyn SecretStore>;
        let database = Database::open(&std::path::Path::new(&home).join("bosun")).unwrap();
        let keys = Keys::new(keyring(), Some(Arc::clone(&database)));
        let kept = keys.set("work", "api.example.com", SecretString::from("sk-first".to_owned())).await.unwrap();
        assert!(matches!(kept, Key::InKeyring(_)), "{kept:?}");
        // As after a restart: nothing is in memory.
        let again = Keys::new(keyring(), Some(Arc::clone(&database)));
        let found = again.get("work", "api.example.com").await.unwrap();
        assert_eq!(found.secret().unwrap().expose_secret(), "sk-first");
        assert!(matches!(again.get("work", "evil.example.com").await.unwrap(), Key::Missing));
        again.set("work", "api.example.com", SecretString::from("sk-second".to_owned())).await.unwrap();
        let direct = KeyringSecrets.get("work", "api.example.com").await.unwrap();
        assert_eq!(direct.unwrap().expose_secret(), "sk-second");
        again.remove("work", "api.example.com").await.unwrap();
        assert!(matches!(again.get("work", "api.example.com").await.unwrap(), Key::Missing));
        assert!(KeyringSecrets.get("work", "api.example.com").await.unwrap().is_none());
        KeyringSecrets.remove("work", "api.example.com").await.unwrap();
    });
    println!("inside: done");
}
