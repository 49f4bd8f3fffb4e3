//! Files that are too large for the store: refused before anything is written, and no trouble where they stand there already.

#![allow(clippy::unwrap_used, reason = "a test's helpers may fail like the test")]

use std::sync::Arc;

use bosun_agent::SystemClock;
use bosun_backend::{
    Backend, BackendError, BoxFuture, ChangeWitness, Expect, FileData, PlannedChange, ReadWindow, Replacement, Store,
    StoreBackend, StoreScope, Unwitnessed, VirtualPath,
};
use bosun_store::{Database, KeyValueStore};
use pretty_assertions::assert_eq;

const LIMIT: usize = 1024 * 1024;

fn path(path: &str) -> VirtualPath {
    VirtualPath::parse(path).unwrap()
}

/// Nothing is to be recorded of what is refused.
struct Nobody;

impl ChangeWitness for Nobody {
    fn intend(&self, change: PlannedChange) -> BoxFuture<'_, Result<(), BackendError>> {
        panic!("{} was to be changed", change.path)
    }
}

fn refused(name: &str, size: usize) -> BackendError {
    BackendError::TooLargeToKeep { path: path(name), size: size as u64, limit: LIMIT as u64 }
}

#[tokio::test]
async fn a_file_over_the_limit_is_refused_before_anything_is_written() {
    let store: Arc<dyn Store> = Arc::new(KeyValueStore::new(Database::in_memory().unwrap(), Arc::new(SystemClock)));
    let space = StoreScope::User.namespace("memories").unwrap();
    let backend = StoreBackend::new(Arc::clone(&store), space.clone());
    let write = async |size: usize, witness: &dyn ChangeWitness| {
        backend.write(&path("/a.txt"), vec![b'x'; size], Expect::Anything, witness).await
    };
    let over = write(LIMIT + 1, &Nobody).await.unwrap_err();
    assert_eq!(over, refused("/a.txt", LIMIT + 1));
    assert_eq!(
        over.to_string(),
        "'/a.txt' would be 1048577 bytes, over the limit of 1048576 for one file of what is remembered; write it into the \
         project instead, or keep only the parts of it that matter"
    );
    assert_eq!(store.keys(&space, "/", 9).await.unwrap(), Vec::<String>::new());
    write(LIMIT, &Unwitnessed).await.unwrap();
    let grow = |new| Replacement { old: "x", new, all: true };
    let edited = backend.edit(&path("/a.txt"), grow("xy"), Expect::Anything, &Nobody).await.unwrap_err();
    assert_eq!(edited, refused("/a.txt", 2 * LIMIT));
    backend.edit(&path("/a.txt"), grow("y"), Expect::Anything, &Unwitnessed).await.unwrap();
    let files = [("/one", 1), ("/large", LIMIT + 1), ("/two", 2)];
    let files = files.map(|(name, size)| (path(name), vec![b'x'; size])).to_vec();
    assert_eq!(backend.upload(files).await, [Ok(()), Err(refused("/large", LIMIT + 1)), Ok(())]);
    assert_eq!(store.keys(&space, "/", 9).await.unwrap(), ["/a.txt", "/one", "/two"]);
}

#[tokio::test]
async fn a_larger_file_of_before_is_read_made_smaller_and_deleted() {
    let store: Arc<dyn Store> = Arc::new(KeyValueStore::new(Database::in_memory().unwrap(), Arc::new(SystemClock)));
    let space = StoreScope::User.namespace("notes").unwrap();
    let backend = StoreBackend::new(Arc::clone(&store), space.clone());
    let text = format!("{}\nneedle\n", "x".repeat(LIMIT));
    for name in ["/edited", "/deleted"] {
        let data = FileData::of(text.as_bytes(), None, 0);
        store.put(&space, name, serde_json::to_value(data).unwrap()).await.unwrap();
    }
    let (edited, deleted) = (path("/edited"), path("/deleted"));
    backend.read(&edited, ReadWindow { offset: 1, limit: 1 }).await.unwrap();
    assert_eq!(backend.download(vec![edited.clone()]).await, [Ok(text.into_bytes())]);
    let replacement = Replacement { old: "x", new: "", all: true };
    backend.edit(&edited, replacement, Expect::Anything, &Unwitnessed).await.unwrap();
    backend.deleter().unwrap().delete(&deleted, Expect::Anything, &Unwitnessed).await.unwrap();
    assert_eq!(store.keys(&space, "/", 9).await.unwrap(), ["/edited"]);
}
