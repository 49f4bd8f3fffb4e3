use std::sync::atomic::{AtomicU32, Ordering};

use bosun_agent::BoxFuture;

use super::*;

/// How a keyring is.
#[derive(Clone, Copy, Default)]
enum Mood {
    #[default]
    Well,
    /// As Secret Service is then: it says that there is no such key.
    Locked,
    /// It goes on giving out what it was given first.
    Stale,
    /// It gives out and keeps, and removes nothing.
    Clinging,
    Hanging,
    /// Its question is answered after nobody waits for it any more ([`Moody::is_answered`]).
    Asking,
    /// It takes a key, and gives none out.
    Closing,
}

/// A keyring that is well until the test says otherwise, and how often it hung.
#[derive(Default)]
struct Moody {
    memory: MemorySecrets,
    mood: Mutex<Mood>,
    hung: AtomicU32,
    /// What it was given while it asked.
    waiting: Mutex<Option<(String, String, SecretString)>>,
    /// What happens to Bosun's database when a locked one is given a key.
    meanwhile: Mutex<Option<std::path::PathBuf>>,
}

impl Moody {
    async fn is_answered(&self) {
        let waiting = self.waiting.lock().unwrap().take();
        let (account, host, key) = waiting.unwrap();
        self.memory.set(&account, &host, key).await.unwrap();
        self.becomes(Mood::Well);
    }

    fn becomes(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    fn mood(&self) -> Mood {
        *self.mood.lock().unwrap()
    }
}

impl SecretStore for Moody {
    fn get<'a>(&'a self, account: &'a str, host: &'a str) -> BoxFuture<'a, Result<Option<SecretString>, SecretError>> {
        Box::pin(async move {
            match self.mood() {
                Mood::Well | Mood::Stale | Mood::Clinging => self.memory.get(account, host).await,
                Mood::Locked | Mood::Closing => Ok(None),
                Mood::Hanging | Mood::Asking => {
                    self.hung.fetch_add(1, Ordering::SeqCst);
                    tokio::time::sleep(Duration::from_secs(90)).await;
                    Err(SecretError::Slow { seconds: 90 })
                }
            }
        })
    }

    fn set<'a>(&'a self, account: &'a str, host: &'a str, key: SecretString) -> BoxFuture<'a, Result<(), SecretError>> {
        Box::pin(async move {
            match self.mood() {
                Mood::Locked => {
                    if let Some(database) = self.meanwhile.lock().unwrap().take() {
                        let other = rusqlite::Connection::open(database).unwrap();
                        other.execute_batch("DROP TABLE settings").unwrap();
                    }
                    Err(SecretError::Locked)
                }
                Mood::Stale => Ok(()),
                Mood::Asking => {
                    *self.waiting.lock().unwrap() = Some((account.into(), host.into(), key));
                    Err(SecretError::Slow { seconds: 90 })
                }
                Mood::Well | Mood::Clinging | Mood::Hanging | Mood::Closing => {
                    self.memory.set(account, host, key).await
                }
            }
        })
    }

    fn remove<'a>(&'a self, account: &'a str, host: &'a str) -> BoxFuture<'a, Result<(), SecretError>> {
        Box::pin(async move {
            match self.mood() {
                // It has no such key, as it says.
                Mood::Locked | Mood::Stale => Ok(()),
                Mood::Clinging => Err(SecretError::Unremoved { reason: "it is read-only".into() }),
                Mood::Well | Mood::Hanging | Mood::Asking | Mood::Closing => self.memory.remove(account, host).await,
            }
        })
    }
}

fn scene() -> (tempfile::TempDir, Arc<Moody>, Keys) {
    let folder = tempfile::tempdir().unwrap();
    let keyring = Arc::new(Moody::default());
    let database = Database::open(folder.path()).unwrap();
    let keys = Keys::new(Arc::clone(&keyring) as Arc<dyn SecretStore>, Some(database));
    (folder, keyring, keys)
}

#[tokio::test]
async fn a_key_is_good_for_its_host_only() {
    let (_folder, _keyring, keys) = scene();
    keys.set("openai", "api.openai.com", SecretString::from("sk-1")).await.unwrap();
    assert!(matches!(keys.get("openai", "api.openai.com").await.unwrap(), Key::InKeyring(_)));
    assert!(matches!(keys.get("openai", "evil.example").await.unwrap(), Key::Missing));
}

#[tokio::test]
async fn a_locked_keyring_is_not_taken_for_an_empty_one() {
    let (_folder, keyring, keys) = scene();
    keys.set("openai", "h", SecretString::from("sk-1")).await.unwrap();
    keyring.becomes(Mood::Locked);
    assert!(matches!(keys.get("openai", "h").await.unwrap(), Key::Locked { .. }));
    assert!(matches!(keys.get("other", "h").await.unwrap(), Key::Missing));
    let kept = keys.set("other", "h", SecretString::from("sk-2")).await.unwrap();
    assert!(matches!(kept, Key::InMemory { .. }));
    let Key::InMemory { reason, .. } = keys.get("other", "h").await.unwrap() else { panic!("it is in memory") };
    assert_eq!(reason, SecretError::Locked);
}

#[tokio::test]
async fn a_keyring_that_gives_out_an_old_key_is_not_believed() {
    let (_folder, keyring, keys) = scene();
    assert!(matches!(keys.set("openai", "h", "sk-1".into()).await.unwrap(), Key::InKeyring(_)));
    keyring.becomes(Mood::Stale);
    let second = keys.set("openai", "h", "sk-2".into()).await.unwrap();
    assert!(matches!(&second, Key::InMemory { reason: SecretError::Other, .. }), "{second:?}");
    let found = keys.get("openai", "h").await.unwrap();
    assert_eq!(found.secret().unwrap().expose_secret(), "sk-2");
}

/// Nobody else could take it out: it is not seen from outside which keys there are.
#[tokio::test]
async fn a_key_that_the_keyring_may_have_taken_can_be_removed() {
    for mood in [Mood::Asking, Mood::Closing] {
        let (_folder, keyring, keys) = scene();
        keyring.becomes(mood);
        let kept = keys.set("a", "h", "sk-1".into()).await.unwrap();
        assert!(matches!(kept, Key::InMemory { .. }), "{kept:?}");
        match mood {
            Mood::Asking => keyring.is_answered().await,
            _ => keyring.becomes(Mood::Well),
        }
        assert!(keyring.memory.get("a", "h").await.unwrap().is_some());
        keys.remove("a", "h").await.unwrap();
        assert!(keyring.memory.get("a", "h").await.unwrap().is_none());
        assert!(matches!(keys.get("a", "h").await.unwrap(), Key::Missing));
    }
}

/// A key that the keyring surely did not take is not said to be there and locked once this run is over.
#[tokio::test]
async fn a_key_that_was_refused_is_not_known_to_the_next_run() {
    let (_folder, keyring, keys) = scene();
    keyring.becomes(Mood::Locked);
    keys.set("a", "h", "sk-1".into()).await.unwrap();
    let next = Keys::new(Arc::clone(&keyring) as Arc<dyn SecretStore>, keys.database.clone());
    assert!(matches!(next.get("a", "h").await.unwrap(), Key::Missing));
}

/// One that the keyring may have taken, and did not, is not said to be there and locked; one that it did take is.
#[tokio::test]
async fn a_key_that_was_never_really_kept_is_not_locked_but_missing() {
    let (_folder, keyring, keys) = scene();
    let next = || Keys::new(Arc::clone(&keyring) as Arc<dyn SecretStore>, keys.database.clone());
    keyring.becomes(Mood::Asking);
    keys.set("a", "h", "sk-1".into()).await.unwrap();
    // Its question was never answered.
    keyring.becomes(Mood::Well);
    let key = next().get("a", "h").await.unwrap();
    assert!(matches!(key, Key::Missing), "{key:?}");
    keyring.is_answered().await;
    let key = next().get("a", "h").await.unwrap();
    assert!(matches!(key, Key::InKeyring(_)), "{key:?}");
    keyring.becomes(Mood::Locked);
    let key = next().get("a", "h").await.unwrap();
    assert!(matches!(key, Key::Locked { .. }), "it showed to have it: {key:?}");
    keyring.becomes(Mood::Well);
    next().remove("a", "h").await.unwrap();
    assert!(keyring.memory.get("a", "h").await.unwrap().is_none());
    let unsure: Vec<String> = keys.database.as_ref().unwrap().setting(UNSURE).await.unwrap().unwrap_or_default();
    assert_eq!(unsure, [] as [String; 0]);
}

#[tokio::test]
async fn what_was_typed_is_there_for_this_run_whatever_else_fails() {
    let (folder, keyring, keys) = scene();
    keyring.becomes(Mood::Locked);
    *keyring.meanwhile.lock().unwrap() = Some(folder.path().join("bosun.db"));
    let kept = keys.set("a", "h", "sk-1".into()).await.unwrap();
    assert!(matches!(kept, Key::InMemory { .. }), "{kept:?}");
    let found = keys.get("a", "h").await.unwrap();
    assert_eq!(found.secret().map(ExposeSecret::expose_secret), Some("sk-1"));
}

#[tokio::test(start_paused = true)]
async fn a_keyring_that_hangs_is_waited_for_once_and_not_for_every_key() {
    let (_folder, keyring, keys) = scene();
    for account in ["a", "b"] {
        keys.set(account, "h", SecretString::from("sk-1")).await.unwrap();
    }
    keyring.becomes(Mood::Hanging);
    let begun = Instant::now();
    for account in ["a", "b", "a"] {
        let key = keys.get(account, "h").await.unwrap();
        assert!(matches!(key, Key::Locked { reason: SecretError::Slow { seconds: 90 } }), "{key:?}");
    }
    let hung = || keyring.hung.load(Ordering::SeqCst);
    assert_eq!((begun.elapsed().as_secs(), hung()), (90, 1));
    tokio::time::advance(REST).await;
    keys.get("b", "h").await.unwrap();
    assert_eq!(hung(), 2, "it may have been unlocked meanwhile");
}

#[tokio::test]
async fn an_empty_key_removes_the_one_that_was() {
    let (_folder, _keyring, keys) = scene();
    keys.set("a", "h", SecretString::from("sk-1")).await.unwrap();
    keys.set("a", "h", SecretString::from(" ")).await.unwrap();
    assert!(matches!(keys.get("a", "h").await.unwrap(), Key::Missing));
}

#[tokio::test]
async fn a_key_that_the_keyring_does_not_let_go_of_stays_known() {
    let (_folder, keyring, keys) = scene();
    keys.set("a", "h", SecretString::from("sk-1")).await.unwrap();
    let unremoved = |reason: &str| SecretError::Unremoved { reason: reason.into() };
    let why = [
        (Mood::Locked, SecretError::Locked),
        (Mood::Clinging, unremoved("it is read-only")),
        (Mood::Stale, unremoved("it still gives the key out")),
    ];
    for (mood, reason) in why {
        keyring.becomes(mood);
        assert_eq!(keys.remove("a", "h").await, Err(KeyError::Stays(reason.clone())));
        assert_eq!(keys.set("a", "h", "".into()).await.unwrap_err(), KeyError::Stays(reason));
        keyring.becomes(Mood::Well);
        assert!(matches!(keys.get("a", "h").await.unwrap(), Key::InKeyring(_)));
    }
    keys.remove("a", "h").await.unwrap();
    assert!(matches!(keys.get("a", "h").await.unwrap(), Key::Missing));
}

#[tokio::test]
async fn a_key_that_somebody_else_removed_can_be_removed_and_one_that_never_was_asks_nobody() {
    let (_folder, keyring, keys) = scene();
    keys.set("a", "h", SecretString::from("sk-1")).await.unwrap();
    keyring.memory.remove("a", "h").await.unwrap();
    keys.remove("a", "h").await.unwrap();
    assert!(matches!(keys.get("a", "h").await.unwrap(), Key::Missing));
    assert!(keyring.memory.get("a", "h").await.unwrap().is_none(), "nothing is left of asking");
    keyring.becomes(Mood::Clinging);
    assert_eq!(keys.remove("never", "h").await, Ok(()));
}

/// A word of ours in a key's place would be sent as the key.
#[tokio::test]
async fn nothing_takes_the_place_of_a_key_that_is_removed() {
    let (_folder, keyring, keys) = scene();
    keys.set("a", "h", SecretString::from("sk-1")).await.unwrap();
    keyring.memory.remove("a", "h").await.unwrap();
    keyring.becomes(Mood::Clinging);
    assert!(matches!(keys.remove("a", "h").await, Err(KeyError::Stays(_))));
    assert!(keyring.memory.get("a", "h").await.unwrap().is_none());
    keyring.becomes(Mood::Well);
    assert_eq!(keys.remove("a", "h").await, Ok(()));
    assert!(keyring.memory.get(TRIED, "h").await.unwrap().is_none());
}

#[tokio::test]
async fn a_key_in_memory_goes_at_once_however_the_keyring_is() {
    let (_folder, keyring, keys) = scene();
    keys.set("a", "h", SecretString::from("sk-1")).await.unwrap();
    keyring.becomes(Mood::Locked);
    assert!(matches!(keys.set("a", "h", "sk-2".into()).await.unwrap(), Key::InMemory { .. }));
    assert_eq!(keys.remove("a", "h").await, Err(KeyError::Stays(SecretError::Locked)));
    let key = keys.get("a", "h").await.unwrap();
    assert!(matches!(key, Key::Locked { .. }), "nothing that was removed is in use: {key:?}");
}

#[tokio::test]
async fn an_account_goes_without_the_keyring_and_what_stays_there_is_not_used_again() {
    let (_folder, keyring, keys) = scene();
    for mood in [Mood::Locked, Mood::Clinging] {
        keys.set("a", "h", SecretString::from("sk-1")).await.unwrap();
        keys.set_header("a", "h", "X-Team", "red-canary".into()).await.unwrap();
        keyring.becomes(mood);
        let gone = keys.let_go("a", "h").await;
        assert!(matches!(gone, Err(KeyError::Left(_))), "{gone:?}");
        keyring.becomes(Mood::Well);
        assert!(keyring.memory.get("a", "h").await.unwrap().is_some(), "it is still there");
        assert!(matches!(keys.get("a", "h").await.unwrap(), Key::Missing));
        assert!(keys.headers("a", "h").await.unwrap().is_empty());
    }
    keys.set("a", "h", SecretString::from("sk-1")).await.unwrap();
    assert_eq!(keys.let_go("a", "h").await, Ok(()));
    assert!(keyring.memory.get("a", "h").await.unwrap().is_none());
}
