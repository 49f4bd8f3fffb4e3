//! Keys in a real keyring: `gnome-keyring-daemon` on a session bus of its own, in a home folder of its own.
#![cfg(target_os = "linux")]

use std::sync::Arc;

use bosun_store::{Database, Key, KeyringSecrets, Keys, SecretStore};
use bosun_testkit::{is_here, keyring_home, missing, ran, run_in_keyring};
use secrecy::{ExposeSecret, SecretString};

const README: &str = include_str!("../../../README.md");

#[test]
fn keys_are_kept_found_bound_to_their_host_and_removed() {
    run_in_keyring("inside");
}

#[test]
#[ignore = "runs on a bus of its own, started by the test above"]
fn inside() {
    let Some(home) = keyring_home() else { return };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let keyring = || Arc::new(KeyringSecrets) as Arc<dyn SecretStore>;
        let database = Database::open(&home.join("bosun")).unwrap();
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
}

#[test]
fn what_the_readme_says_takes_every_key_away_and_nothing_else() {
    if is_here("secret-tool") {
        run_in_keyring("cleared");
    } else {
        missing::<()>("secret-tool", "apt-get install libsecret-tools");
    }
}

#[test]
#[ignore = "runs on a bus of its own, started by the test above"]
fn cleared() {
    let Some(_) = keyring_home() else { return };
    let command = README.split('`').find(|words| words.starts_with("secret-tool clear ")).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let entries = [("work", "api.example.com"), ("work", "localhost:11434"), ("mcp:tools", "tools.example.com")];
        for (account, host) in entries {
            KeyringSecrets.set(account, host, SecretString::from("sk-key".to_owned())).await.unwrap();
        }
        let others =
            "printf other | secret-tool store --label=other service com.example.other username work@api.example.com";
        ran("sh", &["-c", others]);
        ran("sh", &["-c", command]);
        for (account, host) in entries {
            assert!(KeyringSecrets.get(account, host).await.unwrap().is_none(), "{account} at {host}");
        }
        assert_eq!(ran("secret-tool", &["lookup", "service", "com.example.other"]), "other");
    });
}
