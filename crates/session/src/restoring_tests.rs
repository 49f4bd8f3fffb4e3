//! Files whose rights cannot be given back.
#![allow(clippy::disallowed_methods, reason = "tests look at files and change them as a person would")]

use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicU32, Ordering};

use bosun_backend::{
    Backend, BackendError, BoxFuture, ContentHash, FilesystemBackend, FilesystemOptions, SetMode, VirtualPath, hand_on,
};
use bosun_tools::ChangeRecord;
use pretty_assertions::assert_eq;

use super::{Put, put, with_the_rights_it_has};

/// A folder in which the rights of a file are changed only so often, as where a file system turns away what it let pass.
struct Reluctant {
    files: FilesystemBackend,
    left: AtomicU32,
}

impl Backend for Reluctant {
    hand_on!(files: ls, stat, read, write, edit, grep, glob, upload, download, stamp, tidy, host_path, direct, resolve);

    fn modes(&self) -> Option<&dyn SetMode> {
        Some(self)
    }
}

impl SetMode for Reluctant {
    fn set_mode<'a>(&'a self, path: &'a VirtualPath, mode: u32) -> BoxFuture<'a, Result<(), BackendError>> {
        let may = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        match (may, self.files.modes()) {
            (Ok(_), Some(modes)) => modes.set_mode(path, mode),
            _ => Box::pin(async { Err(BackendError::PermissionDenied { path: path.clone() }) }),
        }
    }

    fn mode<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Option<u32>, BackendError>> {
        match self.files.modes() {
            Some(modes) => modes.mode(path),
            None => Box::pin(async { Ok(None) }),
        }
    }
}

#[tokio::test]
async fn what_has_its_bytes_and_not_its_rights_is_recorded_with_those_it_has() {
    let (before, after) = (b"what the agent left".as_slice(), b"what was there".as_slice());
    // How often the rights may be changed: to open the file, and then to give the new ones or to close it again.
    for (changes, expected) in [(1, 0o644), (3, 0o600)] {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.txt");
        std::fs::write(&file, before).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o444)).unwrap();
        let files = FilesystemBackend::open(dir.path(), FilesystemOptions::default()).unwrap();
        let backend = Reluctant { files, left: AtomicU32::new(changes) };
        let record = ChangeRecord {
            path: VirtualPath::parse("/a.txt").unwrap(),
            before: Some(ContentHash::of(before)),
            after: Some(ContentHash::of(after)),
            mode: Some(0o444),
            mode_after: Some(0o600),
        };
        let Put { without_rights, .. } = put(&backend, &record, Some(after.to_vec()), Some(0o444)).await.unwrap();
        assert_eq!(without_rights.is_some(), changes == 1);
        let kept = with_the_rights_it_has(&backend, &record, record.clone()).await;
        assert_eq!(kept, ChangeRecord { mode_after: Some(expected), ..record });
        assert_eq!(std::fs::read(&file).unwrap(), after);
    }
}
