//! Files whose rights cannot be given, or told.
#![allow(clippy::disallowed_methods, reason = "tests look at files and change them as a person would")]

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};

use bosun_agent::{JournalEntry, MemoryHost, Recorded, SystemClock};
use bosun_backend::{BoxFuture, Delete, FilesystemBackend, FilesystemOptions, SetMode, hand_on};
use pretty_assertions::assert_eq;

use super::*;
use crate::stream::locked;

/// What the session left in the file, and what was there before.
const LEFT: &str = "what the agent left";
const BEFORE: &str = "what was there";

/// A folder with the file `a.txt`, of which not every right is given.
struct Reluctant {
    dir: tempfile::TempDir,
    files: FilesystemBackend,
    refused: &'static [u32],
    given: Mutex<Vec<u32>>,
    /// Nobody can tell the rights of a file, or its bytes.
    is_blind: bool,
    is_unread: bool,
}

impl Reluctant {
    /// The file has these bytes and rights.
    fn with(text: &str, mode: u32, refused: &'static [u32]) -> Result<Self, Box<dyn std::error::Error>> {
        let dir = tempfile::tempdir()?;
        let files = FilesystemBackend::open(dir.path(), FilesystemOptions::default())?;
        let path = dir.path().join("a.txt");
        std::fs::write(&path, text)?;
        std::fs::set_permissions(path, Permissions::from_mode(mode))?;
        Ok(Self { dir, files, refused, given: Mutex::default(), is_blind: false, is_unread: false })
    }

    fn text(&self) -> std::io::Result<String> {
        std::fs::read_to_string(self.dir.path().join("a.txt"))
    }

    fn rights(&self) -> std::io::Result<u32> {
        Ok(std::fs::metadata(self.dir.path().join("a.txt"))?.permissions().mode() & 0o777)
    }

    fn refusal<T>(path: &VirtualPath) -> BoxFuture<'static, Result<T, BackendError>> {
        let path = path.clone();
        Box::pin(async { Err(BackendError::PermissionDenied { path }) })
    }
}

impl Backend for Reluctant {
    hand_on!(files: ls, stat, read, write, edit, grep, glob, upload, stamp, tidy, host_path, direct, resolve);

    fn download(&self, paths: Vec<VirtualPath>) -> BoxFuture<'_, Vec<Result<Vec<u8>, BackendError>>> {
        if self.is_unread {
            let refused = paths.into_iter().map(|path| Err(BackendError::PermissionDenied { path })).collect();
            return Box::pin(async { refused });
        }
        self.files.download(paths)
    }

    fn modes(&self) -> Option<&dyn SetMode> {
        Some(self)
    }

    fn deleter(&self) -> Option<&dyn Delete> {
        self.files.deleter()
    }
}

impl SetMode for Reluctant {
    fn set_mode<'a>(&'a self, path: &'a VirtualPath, mode: u32) -> BoxFuture<'a, Result<(), BackendError>> {
        if self.refused.contains(&mode) {
            return Self::refusal(path);
        }
        locked(&self.given).push(mode);
        SetMode::set_mode(&self.files, path, mode)
    }

    fn mode<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Option<u32>, BackendError>> {
        if self.is_blind { Self::refusal(path) } else { SetMode::mode(&self.files, path) }
    }
}

/// From what the session left, with the rights before and afterwards.
fn change(after: &str, mode: u32, mode_after: u32) -> ChangeRecord {
    let hash = |text: &str| Some(ContentHash::of(text.as_bytes()));
    let path = VirtualPath::parse("/a.txt").unwrap_or_else(|_| VirtualPath::root());
    ChangeRecord { path, before: hash(LEFT), after: hash(after), mode: Some(mode), mode_after: Some(mode_after) }
}

/// The change `disk`, where the session's own is `record`.
fn checked(record: &ChangeRecord, disk: &ChangeRecord) -> Checked {
    let bytes = [LEFT, BEFORE].into_iter().find(|text| disk.after == Some(ContentHash::of(text.as_bytes())));
    let path = disk.path.to_string();
    let shown = RestoredFile { path, change: ChangeKind::Changed, added: 0, removed: 0, problem: None };
    let bytes = bytes.map(|text| text.as_bytes().to_vec());
    Checked { record: record.clone(), disk: disk.clone(), bytes, made: None, now: None, shown }
}

/// What is recorded where the app ended while it put the file back.
async fn settled_by(backend: &Reluctant, back: &ChangeRecord, is_opened: bool) -> Result<Vec<EntryBody>, SessionError> {
    let opened = is_opened.then(|| back.path.clone()).into_iter().collect();
    all_settled_by(backend, vec![back.clone()], opened).await
}

/// The same for several files.
async fn all_settled_by(
    backend: &Reluctant,
    changes: Vec<ChangeRecord>,
    opened: Vec<VirtualPath>,
) -> Result<Vec<EntryBody>, SessionError> {
    let body = EntryBody::RestoreIntended { changes, opened };
    let intended = Recorded { seq: 1, entry: JournalEntry { at: 0, body } };
    let host = Arc::new(MemoryHost::with_entries("s".into(), vec![intended.clone()]));
    let log = SessionLog::open(Arc::clone(&host) as _, Arc::new(SystemClock), &[intended]);
    settle_restoring(&log, backend).await?;
    Ok(host.entries().into_iter().skip(1).map(|recorded| recorded.entry.body).collect())
}

#[tokio::test]
async fn a_change_without_its_rights_is_recorded_without_them_and_without_those_that_others_gave() {
    // The person let the group write, and it was to be run by nobody.
    let (record, disk) = (change(BEFORE, 0o755, 0o644), change(BEFORE, 0o775, 0o664));
    for is_blind in [false, true] {
        let backend = Reluctant { is_blind, ..Reluctant::with(LEFT, 0o775, &[0o664]).unwrap() };
        let put = put(&backend, checked(&record, &disk)).await.unwrap();
        assert!(put.without_rights.is_some());
        assert_eq!(put.record, ChangeRecord { mode_after: Some(0o755), ..record.clone() });
        assert_eq!((backend.text().unwrap().as_str(), backend.rights().unwrap()), (BEFORE, 0o775));
    }
}

#[tokio::test]
async fn a_file_that_was_opened_and_got_no_rights_is_closed_again_or_recorded_as_it_is() {
    let record = change(BEFORE, 0o444, 0o600);
    for (refused, expected) in [([0o600].as_slice(), 0o444), (&[0o600, 0o444], 0o644)] {
        let backend = Reluctant::with(LEFT, 0o444, refused).unwrap();
        let put = put(&backend, checked(&record, &record)).await.unwrap();
        let without = ChangeRecord { mode_after: Some(expected), ..record.clone() };
        assert_eq!((put.record, put.without_rights.is_some()), (without.clone(), true));
        assert_eq!((backend.text().unwrap().as_str(), backend.rights().unwrap()), (BEFORE, expected));

        let backend = Reluctant::with(BEFORE, 0o644, refused).unwrap();
        let settled = settled_by(&backend, &record, true).await.unwrap();
        assert_eq!(settled, [EntryBody::Restored { changes: vec![without] }]);
        assert_eq!(backend.rights().unwrap(), expected);
    }
}

#[tokio::test]
async fn a_file_that_was_made_has_the_rights_that_it_was_made_with_until_it_gets_others() {
    let back = ChangeRecord { before: None, mode: None, ..change(BEFORE, 0, 0o751) };
    let backend = Reluctant::with("", 0o644, &[0o751]).unwrap();
    std::fs::remove_file(backend.dir.path().join("a.txt")).unwrap();
    let put = put(&backend, checked(&back, &back)).await.unwrap();
    let has = backend.rights().unwrap();
    assert_eq!(put.record, ChangeRecord { mode_after: Some(has), ..back.clone() });

    for (found, expected) in [(has, 0o751), (0o700, 0o700), (0o444, 0o444)] {
        let backend = Reluctant::with(BEFORE, found, &[]).unwrap();
        let settled = settled_by(&backend, &back, false).await.unwrap();
        assert_eq!(settled, [EntryBody::Restored { changes: vec![back.clone()] }]);
        assert_eq!(backend.rights().unwrap(), expected);
    }
}

#[tokio::test]
async fn what_has_the_rights_that_it_is_to_have_gets_none() {
    for (back, given) in [
        (change(LEFT, 0o444, 0o444), [].as_slice()),
        (change(BEFORE, 0o644, 0o644), &[]),
        (change(BEFORE, 0o444, 0o644), &[0o644]),
        (change(BEFORE, 0o444, 0o444), &[0o644, 0o444]),
    ] {
        let backend = Reluctant::with(LEFT, back.mode.unwrap(), &[]).unwrap();
        put(&backend, checked(&back, &back)).await.unwrap();
        assert_eq!(*locked(&backend.given), given, "{back:?}");
        assert_eq!(Some(backend.rights().unwrap()), back.mode_after);
    }
}

#[tokio::test]
async fn rights_alone_that_are_not_given_are_not_put_back() {
    let back = change(LEFT, 0o755, 0o644);
    let backend = Reluctant::with(LEFT, 0o755, &[0o644]).unwrap();
    assert!(put(&backend, checked(&back, &back)).await.is_err());
    for is_blind in [false, true] {
        let backend = Reluctant { is_blind, ..Reluctant::with(LEFT, 0o755, &[0o644]).unwrap() };
        let settled = settled_by(&backend, &back, false).await.unwrap();
        assert_eq!(settled, [EntryBody::Restored { changes: Vec::new() }]);
    }
}

#[tokio::test]
async fn a_file_that_was_opened_is_closed_again_where_it_cannot_be_read() {
    let back = change(BEFORE, 0o444, 0o444);
    for (is_opened, expected) in [(true, 0o444), (false, 0o644)] {
        let backend = Reluctant { is_unread: true, ..Reluctant::with(LEFT, 0o644, &[]).unwrap() };
        let settled = settled_by(&backend, &back, is_opened).await.unwrap();
        assert_eq!(settled, [EntryBody::Restored { changes: Vec::new() }]);
        assert_eq!(backend.rights().unwrap(), expected);
    }
}

/// It is opened, written and closed one after the other: behind the one at which the app ended none was opened for it.
#[tokio::test]
async fn of_several_files_the_one_at_which_the_app_ended_is_closed_again() {
    let backend = Reluctant::with(BEFORE, 0o444, &[]).unwrap();
    let (folder, mut changes) = (backend.dir.path(), vec![change(BEFORE, 0o444, 0o444)]);
    for (name, mode) in [("b.txt", 0o444), ("c.txt", 0o644), ("d.txt", 0o644)] {
        std::fs::write(folder.join(name), LEFT).unwrap();
        std::fs::set_permissions(folder.join(name), Permissions::from_mode(mode)).unwrap();
        let path = VirtualPath::parse(&format!("/{name}")).unwrap();
        changes.push(ChangeRecord { path, ..change(BEFORE, 0o444, 0o444) });
    }
    let opened = changes.iter().map(|change| change.path.clone()).collect();
    let settled = all_settled_by(&backend, changes.clone(), opened).await.unwrap();
    assert_eq!(settled, [EntryBody::Restored { changes: changes[..1].to_vec() }]);
    let rights = |name: &str| std::fs::metadata(folder.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(["a.txt", "b.txt", "c.txt", "d.txt"].map(rights), [0o444, 0o444, 0o444, 0o644]);
}

#[tokio::test]
async fn a_file_behind_a_link_is_put_back_with_the_rights_it_has() {
    let backend = Reluctant::with(BEFORE, 0o644, &[]).unwrap();
    std::os::unix::fs::symlink(".", backend.dir.path().join("d")).unwrap();
    let path = VirtualPath::parse("/d/a.txt").unwrap();
    let back = ChangeRecord { path, before: None, mode: None, ..change(BEFORE, 0, 0o600) };
    let settled = settled_by(&backend, &back, false).await.unwrap();
    assert_eq!(settled, [EntryBody::Restored { changes: vec![back] }]);
    assert_eq!(backend.rights().unwrap(), 0o644);
}
