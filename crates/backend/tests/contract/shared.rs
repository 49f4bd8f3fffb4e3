//! What every store promises to two processes that have it open, as cases over two handles on one empty store. A lock in
//! one process is nothing to the other, so that a backend goes through the first handle and somebody else through the
//! second.

use std::sync::Arc;

use bosun_backend::{
    Backend, BackendError, BoxFuture, ChangeWitness, ContentHash, Expect, FileData, Namespace, PlannedChange,
    Replacement, Store, StoreBackend, StoreScope, Swap, Unwitnessed, VirtualPath,
};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::support::{given, path, stamp, text};

type Handles = [Arc<dyn Store>; 2];

fn space() -> Namespace {
    StoreScope::User.namespace("memories").unwrap()
}

pub async fn only_what_was_seen_is_replaced(stores: &Handles) {
    let [mine, theirs] = stores;
    let space = space();
    let swap = async |current: Option<Value>, next: Option<Value>| {
        mine.compare_and_swap(&space, "/a", current, next).await.unwrap()
    };
    let standing = async || theirs.get(&space, "/a").await.unwrap().map(|item| item.value);
    let [one, two] = [json!({"content": "one", "n": 1.5}), json!({"content": "two"})];
    assert_eq!(swap(Some(one.clone()), Some(two.clone())).await, Swap::Changed);
    assert_eq!(swap(Some(one.clone()), None).await, Swap::Changed);
    assert_eq!(standing().await, None);
    assert_eq!(swap(None, Some(one.clone())).await, Swap::Done);
    assert_eq!(swap(None, Some(two.clone())).await, Swap::Changed);
    assert_eq!(swap(Some(two.clone()), None).await, Swap::Changed);
    assert_eq!(standing().await, Some(one.clone()));
    assert_eq!(swap(Some(one), Some(two.clone())).await, Swap::Done);
    assert_eq!(standing().await, Some(two.clone()));
    assert_eq!(swap(Some(two), None).await, Swap::Done);
    assert_eq!(standing().await, None);
    assert_eq!(swap(None, None).await, Swap::Done);
}

/// Both count in one value at once; whoever is told that it was done has counted.
pub async fn two_who_count_lose_nothing(stores: &Handles) {
    const EACH: i64 = 50;
    let count = |store: Arc<dyn Store>| async move {
        let space = space();
        let mut done = 0;
        while done < EACH {
            let current = store.get(&space, "n").await.unwrap().map(|item| item.value);
            let next = current.as_ref().and_then(Value::as_i64).unwrap_or(0) + 1;
            match store.compare_and_swap(&space, "n", current, Some(next.into())).await.unwrap() {
                Swap::Done => done += 1,
                Swap::Changed => tokio::task::yield_now().await,
            }
        }
    };
    let counts = stores.clone().map(|store| tokio::spawn(count(store)));
    for count in counts {
        count.await.unwrap();
    }
    let counted = stores[0].get(&space(), "n").await.unwrap().unwrap().value;
    assert_eq!(counted, json!(2 * EACH));
}

/// Another process, which writes between what is recorded and what is done.
struct Beside {
    store: Arc<dyn Store>,
    path: VirtualPath,
    /// `None`: it deletes.
    text: Option<&'static str>,
}

impl ChangeWitness for Beside {
    fn intend(&self, change: PlannedChange) -> BoxFuture<'_, Result<(), BackendError>> {
        Box::pin(async move {
            if change.path == self.path {
                let (space, key) = (space(), self.path.as_str());
                match self.text {
                    Some(text) => {
                        let data = FileData::of(text.as_bytes(), None, 0);
                        self.store.put(&space, key, serde_json::to_value(data).unwrap()).await.unwrap();
                    }
                    None => assert!(self.store.delete(&space, key).await.unwrap()),
                }
            }
            Ok(())
        })
    }
}

/// F01, A17: what another process wrote in between stays, and the words are those for a file on the disk.
pub async fn what_another_process_wrote_in_between_stays(stores: &Handles) {
    let backend = StoreBackend::new(Arc::clone(&stores[0]), space());
    let beside = |name: &str, text| Beside { store: Arc::clone(&stores[1]), path: path(name), text };
    let theirs = beside("/x.md", Some("theirs"));
    given(&backend, &[("/x.md", "old")]).await;
    let replacement = Replacement { old: "old", new: "mine", all: false };
    let seen = Expect::Unchanged(stamp(&backend, "/x.md").await);
    let edited = backend.edit(&path("/x.md"), replacement, seen, &theirs).await.unwrap_err();
    assert_eq!(edited.to_string(), "'/x.md' changed since it was read; read it again before changing it");
    assert_eq!(text(&backend, "/x.md").await, "theirs");
    for expect in [Expect::Unchanged(stamp(&backend, "/x.md").await), Expect::Anything] {
        given(&backend, &[("/x.md", "theirs")]).await;
        let others = beside("/x.md", Some("another's"));
        let written = backend.write(&path("/x.md"), b"mine".to_vec(), expect, &others).await;
        assert_eq!(written.unwrap_err(), BackendError::Changed { path: path("/x.md") });
        assert_eq!(text(&backend, "/x.md").await, "another's");
    }
    let deleted = backend.deleter().unwrap().delete(&path("/x.md"), Expect::Anything, &theirs).await;
    assert_eq!(deleted.unwrap_err(), BackendError::Changed { path: path("/x.md") });
    assert_eq!(text(&backend, "/x.md").await, "theirs");
}

/// The same for what comes to be there, and for what goes.
pub async fn what_another_process_made_or_took_in_between_is_met(stores: &Handles) {
    let backend = StoreBackend::new(Arc::clone(&stores[0]), space());
    let beside = |name: &str, text| Beside { store: Arc::clone(&stores[1]), path: path(name), text };
    let made = beside("/new.md", Some("theirs"));
    let written = backend.write(&path("/new.md"), b"mine".to_vec(), Expect::Absent, &made).await;
    assert_eq!(written.unwrap_err(), BackendError::AlreadyExists { path: path("/new.md") });
    assert_eq!(text(&backend, "/new.md").await, "theirs");
    let seen = Expect::Unchanged(stamp(&backend, "/new.md").await);
    let written = backend.write(&path("/new.md"), b"mine".to_vec(), seen, &beside("/new.md", None)).await;
    assert_eq!(written.unwrap_err(), BackendError::Changed { path: path("/new.md") });
    assert_eq!(stores[1].get(&space(), "/new.md").await.unwrap(), None, "it is not brought back");
    given(&backend, &[("/dir/a", "old"), ("/dir/b", "old")]).await;
    let changed = beside("/dir/b", Some("theirs"));
    let deleted = backend.deleter().unwrap().delete(&path("/dir"), Expect::Anything, &changed).await;
    assert_eq!(deleted.unwrap_err(), BackendError::Changed { path: path("/dir/b") });
    assert_eq!(text(&backend, "/dir/b").await, "theirs");
}

/// Files of older agents have another shape in the store than they are given in, and what is no file is in the way of
/// none.
pub async fn other_shapes_can_be_replaced(stores: &Handles) {
    let [mine, theirs] = stores;
    let backend = StoreBackend::new(Arc::clone(mine), space());
    theirs.put(&space(), "/old.md", json!({"content": ["a", "b"], "kept": true})).await.unwrap();
    theirs.put(&space(), "/none", json!(7)).await.unwrap();
    let replacement = Replacement { old: "a\nb", new: "c", all: false };
    let old = path("/old.md");
    let change = backend.edit(&old, replacement, Expect::Anything, &Unwitnessed).await.unwrap();
    assert_eq!(change.before, Some(ContentHash::of(b"a\nb")));
    given(&backend, &[("/none", "a file")]).await;
    assert_eq!((text(&backend, "/old.md").await, text(&backend, "/none").await), ("c".into(), "a file".into()));
}
