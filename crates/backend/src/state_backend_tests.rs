use std::collections::BTreeMap;
use std::sync::Arc;

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use tokio_util::sync::CancellationToken;

use super::{FileConflict, FileUpdates, StateBackend, merge_files};
use crate::clock::Now;
use crate::{
    Access, Backend, BackendError, BlobStore, BoxFuture, ChangeWitness, CompositeBackend, Expect, FileContent,
    FileData, GlobQuery, GrepQuery, PlannedChange, ReadWindow, Replacement, Route, Truncation, Unwitnessed,
    VirtualPath,
};

fn path(text: &str) -> VirtualPath {
    VirtualPath::parse(text).unwrap()
}

fn data(text: &str) -> FileData {
    FileData::of(text.as_bytes(), None, 0)
}

fn files(rows: &[(&str, &str)]) -> BTreeMap<VirtualPath, FileData> {
    rows.iter().map(|(name, text)| (path(name), data(text))).collect()
}

fn reduced(mut files: BTreeMap<VirtualPath, FileData>, updates: FileUpdates) -> BTreeMap<VirtualPath, FileData> {
    for (path, data) in updates {
        match data {
            Some(data) => files.insert(path, data),
            None => files.remove(&path),
        };
    }
    files
}

#[tokio::test]
async fn changes_say_what_the_reducer_merges() {
    let clock = std::sync::Arc::new(std::sync::atomic::AtomicI64::new(1_000));
    let ticks = std::sync::Arc::clone(&clock);
    let now = Now::from_fn(move || ticks.fetch_add(1_000, std::sync::atomic::Ordering::SeqCst));
    let backend = StateBackend::at([], now);
    let made = backend.write(&path("/a"), b"one".to_vec(), Expect::Absent, &Unwitnessed).await.unwrap();
    let mut expected = FileData {
        content: "one".into(),
        encoding: "utf-8".into(),
        created_at: Some("1970-01-01T00:00:01Z".into()),
        modified_at: Some("1970-01-01T00:00:01Z".into()),
    };
    assert_eq!(made.state, [(path("/a"), Some(expected.clone()))]);
    let replacement = Replacement { old: "one", new: "two", all: false };
    let edited = backend.edit(&path("/a"), replacement, Expect::Anything, &Unwitnessed).await.unwrap();
    expected.content = "two".into();
    expected.modified_at = Some("1970-01-01T00:00:02Z".into());
    assert_eq!(edited.state, [(path("/a"), Some(expected.clone()))]);
    assert_eq!(backend.files(), BTreeMap::from([(path("/a"), expected)]));
    let gone = backend.deleter().unwrap().delete(&path("/a"), Expect::Anything, &Unwitnessed).await.unwrap();
    assert_eq!(gone[0].state, [(path("/a"), None)]);
    let bytes = backend.write(&path("/b"), vec![0xff], Expect::Absent, &Unwitnessed).await.unwrap();
    let (content, encoding) = ("/w==".into(), "base64");
    assert_eq!(bytes.state[0].1.as_ref().map(|data| (&data.content, &*data.encoding)), Some((&content, encoding)));
}

#[test]
fn a_mount_has_its_own_part() {
    let session = files(&[("/kept/a", "1"), ("/kept/b/c", "2"), ("/kept_evil", "3"), ("/d", "4")]);
    assert_eq!(StateBackend::mounted(&session, &path("/kept")).files(), files(&[("/a", "1"), ("/b/c", "2")]));
}

/// Opening a session's files and handing them on copies no content.
#[test]
fn content_is_shared() {
    let session = files(&[("/kept/a", "a text")]);
    let FileContent::Held(text) = &session[&path("/kept/a")].content else { panic!() };
    let mounted = StateBackend::mounted(&session, &path("/kept"));
    let FileContent::Held(again) = &mounted.fork().files()[&path("/a")].content else { panic!() };
    assert!(std::ptr::eq(&**text, &**again));
}

/// A large file is told to the reducer by its name, and read, searched, changed and removed like any.
#[tokio::test]
async fn a_large_file_is_a_blob_and_a_file_like_any() {
    let folder = tempfile::tempdir().unwrap();
    let blobs = Arc::new(BlobStore::open(folder.path()).unwrap());
    let backend = StateBackend::new([]).keeping_in(Some(Arc::clone(&blobs)));
    let text: String = (0..20_000).map(|row| format!("row {row}\n")).collect();
    let made = backend.write(&path("/a/log"), text.clone().into_bytes(), Expect::Absent, &Unwitnessed).await.unwrap();
    assert!(serde_json::to_string(&made.state).unwrap().len() < 300);
    assert_eq!(backend.ls(&path("/a")).await.unwrap()[0].size, Some(text.len() as u64));
    // As a session has it that begins from its journal.
    let backend = StateBackend::new(backend.files()).keeping_in(Some(blobs));
    assert_eq!(backend.download(vec![path("/a/log")]).await, [Ok(text.into_bytes())]);
    assert_eq!(backend.grep(grep("row 19999")).await.unwrap().matches.len(), 1);
    let replacement = Replacement { old: "row 19999\n", new: "the end\n", all: false };
    let edited = backend.edit(&path("/a/log"), replacement, Expect::Anything, &Unwitnessed).await.unwrap();
    assert_eq!(edited.before, made.after.unwrap().hash);
    assert!(serde_json::to_string(&edited.state).unwrap().len() < 300);
    let gone = backend.deleter().unwrap().delete(&path("/a"), Expect::Anything, &Unwitnessed).await.unwrap();
    assert_eq!(
        (gone[0].before.clone(), gone[0].state.clone()),
        (edited.after.unwrap().hash, vec![(path("/a/log"), None)])
    );
}

/// A file whose content somebody took out of the app's folder, or one that is damaged there, is there and says so. It can
/// go and be replaced like any; searches tell that they could not look into it.
#[tokio::test]
async fn a_file_whose_content_is_lost_is_replaced_and_goes_like_any() {
    let folder = tempfile::tempdir().unwrap();
    let blobs = Arc::new(BlobStore::open(folder.path()).unwrap());
    let made = StateBackend::new([]).keeping_in(Some(Arc::clone(&blobs)));
    for name in ["/a/one", "/a/two", "/a/three", "/a/.gitignore"] {
        let text = format!("needle of {name}\n").repeat(10_000);
        made.write(&path(name), text.into_bytes(), Expect::Absent, &Unwitnessed).await.unwrap();
    }
    let hash = made.read(&path("/a/one"), ReadWindow { offset: 0, limit: 1 }).await.unwrap().stamp;
    let kept =
        |entry: std::fs::DirEntry| std::fs::read_dir(entry.path()).into_iter().flatten().map(|file| file.unwrap());
    for blob in std::fs::read_dir(folder.path()).unwrap().flat_map(|entry| kept(entry.unwrap())) {
        std::fs::remove_file(blob.path()).unwrap();
    }
    let closed = StateBackend::new(made.files());
    for backend in [&made, &closed] {
        let lost = BackendError::ContentLost { path: path("/a/one") };
        assert_eq!(backend.download(vec![path("/a/one")]).await, [Err(lost.clone())]);
        let replacement = Replacement { old: "needle", new: "thread", all: true };
        let edited = backend.edit(&path("/a/one"), replacement, Expect::Anything, &Unwitnessed).await;
        assert_eq!(edited.unwrap_err(), lost);
        let found = backend.grep(grep("needle")).await.unwrap();
        assert_eq!((found.matches.len(), found.truncated), (0, Some(Truncation::Unreadable)));
        let named: Vec<_> = found.unread.iter().map(|one| one.path.as_str()).collect();
        assert_eq!(named, ["/a/one", "/a/three", "/a/two"]);
    }
    // By the names of whoever asks.
    let route = |prefix: &str, backend| Route { prefix: path(prefix), backend, access: Access::ReadWrite };
    let inner = CompositeBackend::new(Arc::new(StateBackend::new([])), vec![route("/b", Arc::new(closed))]).unwrap();
    let outer = CompositeBackend::new(Arc::new(StateBackend::new([])), vec![route("/c", Arc::new(inner))]).unwrap();
    let found = outer.grep(grep("needle")).await.unwrap();
    assert_eq!(found.unread[0].path, path("/c/b/a/one"));
    assert!(found.unread.len() == 3 && found.unread[0].reason.contains("kept in another place"), "{:?}", found.unread);
    let glob = |pattern: &str| GlobQuery {
        pattern: pattern.into(),
        path: VirtualPath::root(),
        include_ignored: false,
        cancel: CancellationToken::new(),
    };
    let found = made.glob(glob("**/*")).await.unwrap();
    assert_eq!((found.paths.len(), found.truncated), (3, Some(Truncation::Unreadable)), "its rules are not known");
    // Whoever read it before may replace it; what is taken down knows it by its name.
    let changed = made.write(&path("/a/one"), b"new".to_vec(), Expect::Unchanged(hash.clone()), &Unwitnessed).await;
    assert_eq!(changed.unwrap().before, hash.hash);
    assert_eq!(made.download(vec![path("/a/one")]).await, [Ok(b"new".to_vec())]);
    let witness = Witness::default();
    let gone = made.deleter().unwrap().delete(&path("/a"), Expect::Anything, &witness).await.unwrap();
    assert_eq!((gone.len(), made.files().len()), (4, 0));
    assert!(gone.iter().all(|change| change.before.is_some()));
    let told: Vec<(bool, bool)> =
        witness.0.lock().unwrap().iter().map(|change| (change.before.is_some(), change.unkept.is_some())).collect();
    assert_eq!(told, [(false, true), (true, false), (false, true), (false, true)]);
}

#[derive(Default)]
struct Witness(std::sync::Mutex<Vec<PlannedChange>>);

impl ChangeWitness for Witness {
    fn intend(&self, change: PlannedChange) -> BoxFuture<'_, Result<(), BackendError>> {
        self.0.lock().unwrap().push(change);
        Box::pin(async { Ok(()) })
    }
}

/// Refuses from the second batch on; before that it may do something else.
struct Stops<'a> {
    batches: std::sync::atomic::AtomicUsize,
    meanwhile: Option<(&'a StateBackend, VirtualPath)>,
}

impl ChangeWitness for Stops<'_> {
    fn intend(&self, _change: PlannedChange) -> BoxFuture<'_, Result<(), BackendError>> {
        Box::pin(async { Ok(()) })
    }

    fn intend_all(&self, _changes: Vec<PlannedChange>) -> BoxFuture<'_, Result<(), BackendError>> {
        let batch = self.batches.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Box::pin(async move {
            match &self.meanwhile {
                Some((backend, path)) => backend.apply(&[(path.clone(), Some(data("theirs")))]),
                None if batch > 0 => return Err(BackendError::Cancelled),
                None => {}
            }
            Ok(())
        })
    }
}

/// The caller hears of no change of a call that failed, so that none may be left behind in what it reads next.
#[tokio::test]
async fn a_folder_whose_removal_is_stopped_is_all_there() {
    let names: Vec<String> = (0..250).map(|at| format!("/folder/f{at:03}")).collect();
    let given: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "text")).collect();
    let backend = StateBackend::new(files(&given));
    let delete = async |meanwhile| {
        let stops = Stops { batches: Default::default(), meanwhile };
        backend.deleter().unwrap().delete(&path("/folder"), Expect::Anything, &stops).await
    };
    assert_eq!(delete(None).await, Err(BackendError::Cancelled));
    assert_eq!(backend.files(), files(&given));
    // Another of the session's agents brought home something else for the last of them.
    let last = path("/folder/f249");
    assert_eq!(delete(Some((&backend, last.clone()))).await, Err(BackendError::Changed { path: last.clone() }));
    backend.apply(&[(last, Some(data("text")))]);
    assert_eq!(backend.files(), files(&given));
    let gone = backend.deleter().unwrap().delete(&path("/folder"), Expect::Anything, &Unwitnessed).await.unwrap();
    let told: Vec<_> = gone.into_iter().flat_map(|change| change.state).collect();
    assert_eq!((told.len(), told.iter().all(|(_, data)| data.is_none()), backend.files().len()), (250, true, 0));
}

fn grep(pattern: &str) -> GrepQuery {
    GrepQuery::literal(pattern, 10)
}

#[tokio::test]
async fn a_fork_goes_its_own_way() {
    let parent = StateBackend::new(files(&[("/a", "1")]));
    let child = parent.fork();
    child.write(&path("/a"), b"2".to_vec(), Expect::Anything, &Unwitnessed).await.unwrap();
    assert_eq!(parent.files(), files(&[("/a", "1")]));
    parent.apply(&[(path("/a"), None), (path("/b"), Some(data("b")))]);
    assert_eq!(parent.files(), files(&[("/b", "b")]));
}

#[test]
fn two_writers_of_one_path_keep_both_versions() {
    let base = files(&[("/a", "base"), ("/b", "base"), ("/c", "base")]);
    let ours = files(&[("/a", "ours"), ("/b", "base"), ("/c", "ours")]);
    let theirs = vec![(path("/a"), Some(data("theirs"))), (path("/b"), Some(data("new"))), (path("/c"), None)];
    let (updates, conflicts) = merge_files(&ours, &base, theirs);
    let kept_at = conflicts[0].kept_at.clone().unwrap();
    assert!(kept_at.as_str().starts_with("/a.conflict-"), "{kept_at}");
    assert_eq!(conflicts[1], FileConflict { path: path("/c"), kept_at: None });
    let merged = reduced(ours, updates);
    let text = |data: &FileData| String::from_utf8(data.bytes().unwrap()).unwrap();
    let texts: Vec<_> = merged.iter().map(|(path, data)| format!("{path} {}", text(data))).collect();
    assert_eq!(texts, ["/a ours".to_owned(), format!("{kept_at} theirs"), "/b new".into(), "/c ours".into()]);
}

#[test]
fn the_longest_name_still_has_a_place_beside_it() {
    let name = format!("/{}", "é".repeat(127));
    let (base, ours) = (files(&[(&name, "base")]), files(&[(&name, "ours")]));
    let (updates, conflicts) = merge_files(&ours, &base, vec![(path(&name), Some(data("theirs")))]);
    assert_eq!((updates.len(), conflicts.len()), (1, 1));
    assert!(conflicts[0].kept_at.is_some());
}

/// Nor is a version lost for which there is no room beside the first.
#[test]
fn the_longest_path_still_has_a_place_elsewhere() {
    let name = "/abcdefg".repeat(VirtualPath::MAX_LENGTH / 8);
    let (base, ours) = (files(&[(&name, "base")]), files(&[(&name, "ours")]));
    let (updates, conflicts) = merge_files(&ours, &base, vec![(path(&name), Some(data("theirs")))]);
    let kept_at = conflicts[0].kept_at.clone().unwrap();
    assert!(kept_at.as_str().starts_with("/conflict-"), "{kept_at}");
    assert_eq!(updates, [(kept_at, Some(data("theirs")))]);
}

fn some_files() -> impl Strategy<Value = BTreeMap<VirtualPath, FileData>> {
    let rows = prop::collection::btree_map(prop_oneof![Just("/a"), Just("/b"), Just("/c")], "[xyz]", 0..4);
    rows.prop_map(|rows| rows.into_iter().map(|(name, text)| (path(name), data(&text))).collect())
}

fn changes(base: &BTreeMap<VirtualPath, FileData>, now: &BTreeMap<VirtualPath, FileData>) -> FileUpdates {
    let written = now.iter().filter(|(path, data)| base.get(*path) != Some(*data));
    let gone = base.keys().filter(|path| !now.contains_key(*path));
    written
        .map(|(path, data)| (path.clone(), Some(data.clone())))
        .chain(gone.map(|path| (path.clone(), None)))
        .collect()
}

proptest! {
    /// Whatever two subagents did, every version that one of them wrote is there after both were merged.
    #[test]
    fn nothing_written_is_lost(base in some_files(), one in some_files(), two in some_files()) {
        let (first, none) = merge_files(&base, &base, changes(&base, &one));
        prop_assert_eq!(none, vec![]);
        let files = reduced(base.clone(), first);
        prop_assert_eq!(&files, &one);
        let (second, conflicts) = merge_files(&files, &base, changes(&base, &two));
        let merged = reduced(files, second);
        for (path, data) in changes(&base, &two).into_iter().chain(changes(&base, &one)) {
            let Some(data) = data else { continue };
            let here = merged.get(&path) == Some(&data);
            let beside = conflicts.iter().any(|conflict| {
                conflict.path == path && conflict.kept_at.as_ref().and_then(|at| merged.get(at)) == Some(&data)
            });
            prop_assert!(here || beside, "{path}");
        }
    }
}
