//! What only a file system of its own can show: a full disk, a read-only one, one mounted into the project. Without the
//! right to mount a test runs itself again in a namespace where it has it; where that cannot be had either, it says how
//! to have it, and with `CI=true` it fails.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests make their own files and mounts")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use bosun_backend::{
    Backend, BackendError, Delete, Expect, FilesystemBackend, FilesystemOptions, GlobQuery, GlobResult, GrepQuery,
    GrepResult, LocalExecutorOptions, Mounts, ReadWindow, Replacement, SandboxBackend, Truncation, Unread, Unwitnessed,
    VirtualPath, local_process,
};

struct Mounted(PathBuf);

/// Set where a test runs itself again.
const INNER: &str = "BOSUN_TEST_MOUNTS";

impl Mounted {
    /// `None` where this process may not; the test `name` was run elsewhere then, or passed over.
    fn new(name: &str, at: &Path, options: &str) -> Option<Self> {
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(at).output();
        if mount.is_ok_and(|mount| mount.status.success()) {
            return Some(Self(at.to_owned()));
        }
        let is_inner = std::env::var_os(INNER).is_some();
        let again = (!is_inner).then(|| {
            let mut again = Command::new("unshare");
            again.args(["--user", "--map-root-user", "--mount"]).arg(std::env::current_exe().unwrap());
            again.args(["--exact", name, "--nocapture"]).env(INNER, "1").output()
        });
        match again {
            Some(Ok(again)) if again.status.success() => return None,
            Some(Ok(again)) => {
                let said =
                    String::from_utf8_lossy(&again.stdout).into_owned() + &String::from_utf8_lossy(&again.stderr);
                assert!(!said.contains("panicked"), "{said}");
            }
            Some(Err(_)) | None => {}
        }
        let remedy = "sudo -E cargo nextest run -p bosun-backend --test mounts";
        let required = std::env::var_os("CI").is_some_and(|value| value == "true");
        assert!(!required && !is_inner, "nothing can be mounted here, and with CI=true it has to be: {remedy}");
        eprintln!("passed over: nothing can be mounted here; {remedy}");
        None
    }

    fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        assert!(Command::new("mount").args(["-o", &options]).arg(&self.0).status().unwrap().success());
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg("-l").arg(&self.0).status();
        assert!(unmounted.is_ok_and(|status| status.success()));
    }
}

fn path(text: &str) -> VirtualPath {
    VirtualPath::parse(text).unwrap()
}

fn open(folder: &Path) -> FilesystemBackend {
    FilesystemBackend::open(folder, FilesystemOptions::default()).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// G7: a full disk is said, nothing is half done, and when there is room again it works again.
#[tokio::test]
async fn a_full_disk() {
    let top = tempfile::tempdir().unwrap();
    let Some(_mounted) = Mounted::new("a_full_disk", top.path(), "size=1m") else { return };
    let backend = open(top.path());
    fs::write(top.path().join("a"), "old").unwrap();
    let large = || vec![b'x'; 3 * 1024 * 1024];
    for name in ["/a", "/new", "/deep/er/new"] {
        let full = backend.write(&path(name), large(), Expect::Anything, &Unwitnessed).await.unwrap_err();
        assert_eq!(full, BackendError::DiskFull { path: path(name) });
    }
    let replacement = Replacement { old: "old", new: &"y".repeat(2_000_000), all: false };
    let full = backend.edit(&path("/a"), replacement, Expect::Anything, &Unwitnessed).await.unwrap_err();
    assert_eq!(full, BackendError::DiskFull { path: path("/a") });
    assert_eq!((names(top.path()), fs::read(top.path().join("a")).unwrap()), (vec!["a".to_owned()], b"old".to_vec()));
    backend.write(&path("/a"), b"new".to_vec(), Expect::Anything, &Unwitnessed).await.unwrap();
}

#[tokio::test]
async fn a_read_only_disk() {
    let top = tempfile::tempdir().unwrap();
    let Some(mounted) = Mounted::new("a_read_only_disk", top.path(), "size=1m") else { return };
    fs::write(top.path().join("a"), "old").unwrap();
    let backend = open(top.path());
    mounted.remount("ro");
    for name in ["/a", "/new", "/deep/new"] {
        let refused = backend.write(&path(name), b"x".to_vec(), Expect::Anything, &Unwitnessed).await.unwrap_err();
        assert_eq!(refused, BackendError::ReadOnly { path: path(name) });
    }
    let refused = backend.delete(&path("/a"), Expect::Anything, &Unwitnessed).await.unwrap_err();
    assert_eq!(refused, BackendError::ReadOnly { path: path("/a") });
    mounted.remount("rw");
    backend.write(&path("/a"), b"x".to_vec(), Expect::Anything, &Unwitnessed).await.unwrap();
}

/// P16 by way of a mount.
#[tokio::test]
async fn a_mount_in_the_project_leads_out_unless_it_is_said_to_belong() {
    let top = tempfile::tempdir().unwrap();
    fs::create_dir(top.path().join("mnt")).unwrap();
    let Some(_mounted) = Mounted::new(
        "a_mount_in_the_project_leads_out_unless_it_is_said_to_belong",
        &top.path().join("mnt"),
        "size=1m",
    ) else {
        return;
    };
    fs::write(top.path().join("mnt/a"), "there").unwrap();
    let window = ReadWindow { offset: 0, limit: 1 };
    let glob = || GlobQuery {
        pattern: "*".into(),
        path: VirtualPath::root(),
        include_ignored: false,
        cancel: tokio_util::sync::CancellationToken::new(),
    };
    let closed = open(top.path());
    let outside = BackendError::OutsideRoot { path: path("/mnt/a") };
    assert_eq!(closed.read(&path("/mnt/a"), window).await.unwrap_err(), outside);
    let write = closed.write(&path("/mnt/a"), b"x".to_vec(), Expect::Anything, &Unwitnessed).await;
    assert_eq!(write.unwrap_err(), outside);
    assert!(closed.delete(&path("/mnt"), Expect::Anything, &Unwitnessed).await.is_err());
    assert!(top.path().join("mnt/a").exists());
    let far = SandboxBackend::open(local_process(top.path(), LocalExecutorOptions::default()).unwrap()).await;
    for backend in [&closed as &dyn Backend, &far] {
        // What is left out is said, where it would have been met.
        let reason = "it is another file system, and not searched".to_owned();
        let unread = vec![Unread { path: path("/mnt"), reason }];
        let found = backend.glob(glob()).await.unwrap();
        assert_eq!((found.paths, found.truncated), (vec![], Some(Truncation::Unreadable)));
        assert_eq!(found.unread, unread);
        let found = backend.grep(GrepQuery::literal("there", 10)).await.unwrap();
        assert_eq!((found.matches, found.truncated, found.unread), (vec![], Some(Truncation::Unreadable), unread));
        let elsewhere = GlobQuery { pattern: "src/*".into(), ..glob() };
        assert_eq!(backend.glob(elsewhere).await.unwrap(), GlobResult::default());
    }
    let ignored = top.path().join(".ignore");
    fs::write(&ignored, "mnt/\n").unwrap();
    for backend in [&closed as &dyn Backend, &far] {
        assert_eq!(backend.grep(GrepQuery::literal("there", 10)).await.unwrap(), GrepResult::default());
    }
    fs::remove_file(ignored).unwrap();
    let options = FilesystemOptions { mounts: Mounts::Cross, ..FilesystemOptions::default() };
    let crossing = FilesystemBackend::open(top.path(), options).unwrap();
    crossing.write(&path("/mnt/a"), b"x".to_vec(), Expect::Anything, &Unwitnessed).await.unwrap();
    assert_eq!(crossing.glob(glob()).await.unwrap().paths, [path("/mnt/a")]);
}

/// The same behind an executor, whose scripts meet the full disk: it is said, the old bytes stay, nothing is left over.
#[tokio::test]
async fn a_full_and_a_read_only_disk_of_another_place() {
    let top = tempfile::tempdir().unwrap();
    let Some(mounted) = Mounted::new("a_full_and_a_read_only_disk_of_another_place", top.path(), "size=1m") else {
        return;
    };
    let backend = SandboxBackend::open(local_process(top.path(), LocalExecutorOptions::default()).unwrap()).await;
    fs::write(top.path().join("a"), "old").unwrap();
    let write = |name: &str, bytes: Vec<u8>| {
        let (backend, name) = (backend.clone(), path(name));
        async move { backend.write(&name, bytes, Expect::Anything, &Unwitnessed).await.map(|_| ()) }
    };
    for name in ["/a", "/new", "/deep/er/new"] {
        let full = write(name, vec![b'x'; 3 * 1024 * 1024]).await;
        assert_eq!(full, Err(BackendError::DiskFull { path: path(name) }));
    }
    assert_eq!((names(top.path()), fs::read(top.path().join("a")).unwrap()), (vec!["a".to_owned()], b"old".to_vec()));
    mounted.remount("ro");
    assert_eq!(write("/new", b"x".to_vec()).await, Err(BackendError::ReadOnly { path: path("/new") }));
    let refused = backend.delete(&path("/a"), Expect::Anything, &Unwitnessed).await.unwrap_err();
    assert!(matches!(refused, BackendError::ReadOnly { .. } | BackendError::PermissionDenied { .. }), "{refused}");
    mounted.remount("rw");
    write("/a", b"new".to_vec()).await.unwrap();
    assert_eq!(fs::read(top.path().join("a")).unwrap(), b"new");
}

/// F05: the disk that a project is on goes away while somebody works there. What is left is the empty folder it was
/// mounted at, and that is not the project.
#[tokio::test]
async fn a_project_that_is_unmounted_is_gone_and_nothing_is_made_in_its_place() {
    let top = tempfile::tempdir().unwrap();
    let name = "a_project_that_is_unmounted_is_gone_and_nothing_is_made_in_its_place";
    let Some(mounted) = Mounted::new(name, top.path(), "size=1m") else { return };
    fs::write(top.path().join("a"), "old").unwrap();
    let (files, place) = (open(top.path()), local_process(top.path(), LocalExecutorOptions::default()).unwrap());
    let far = SandboxBackend::open(place).await;
    drop(mounted);
    let write = async |backend: &dyn Backend| {
        backend.write(&path("/a"), b"new".to_vec(), Expect::Anything, &Unwitnessed).await.unwrap_err()
    };
    assert_eq!(write(&files).await, BackendError::RootGone);
    assert_eq!(files.ls(&path("/")).await.unwrap_err(), BackendError::RootGone);
    let window = ReadWindow { offset: 0, limit: 1 };
    assert_eq!(files.read(&path("/a"), window).await.unwrap_err(), BackendError::RootGone);
    // Another machine's folder is known by its name alone: there the file is not found, which is said as well.
    let refused = far.read(&path("/a"), window).await.unwrap_err();
    assert!(matches!(refused, BackendError::NotFound { .. } | BackendError::RootGone), "{refused}");
    assert_eq!(names(top.path()), Vec::<String>::new());
}
