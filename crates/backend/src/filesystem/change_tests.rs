use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use pretty_assertions::assert_eq;
use rustix::fs::XattrFlags;
use rustix::io::Errno;

use super::{Kept, Outdated, told};
use crate::{
    Backend, BackendError, BoxFuture, Change, ChangeWitness, Delete, Expect, FilesystemBackend, FilesystemOptions,
    ObjectKind, PlannedChange, ReadContent, ReadWindow, Replacement, TextPage, Unwitnessed, VirtualPath,
};

fn open(folder: &Path) -> FilesystemBackend {
    FilesystemBackend::open(folder, FilesystemOptions::default()).unwrap()
}

fn path(text: &str) -> VirtualPath {
    VirtualPath::parse(text).unwrap()
}

async fn write(backend: &FilesystemBackend, name: &str, text: &str) -> Result<Change, BackendError> {
    backend.write(&path(name), text.into(), Expect::Anything, &Unwitnessed).await
}

async fn delete(backend: &FilesystemBackend, name: &str) -> Result<Vec<Change>, BackendError> {
    backend.delete(&path(name), Expect::Anything, &Unwitnessed).await
}

/// Everything in a folder, hidden too: what a change must not leave behind shows here.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().mode() & 0o7777
}

/// Does something between the intent and the change.
struct Meanwhile<F>(F);

impl<F: Fn(&PlannedChange) + Send + Sync> ChangeWitness for Meanwhile<F> {
    fn intend(&self, change: PlannedChange) -> BoxFuture<'_, Result<(), BackendError>> {
        (self.0)(&change);
        Box::pin(async { Ok(()) })
    }
}

/// P28: mode, owner, extended attributes.
#[tokio::test]
async fn a_replaced_file_keeps_what_is_not_content() {
    let top = tempfile::tempdir().unwrap();
    let file = top.path().join("run.sh");
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o4751)).unwrap();
    let held = fs::File::open(&file).unwrap();
    let attributes = rustix::fs::fsetxattr(&held, "user.note", b"kept\0bytes", XattrFlags::empty()).is_ok();
    let root = rustix::process::geteuid().is_root();
    if root {
        std::os::unix::fs::chown(&file, Some(12_345), Some(54_321)).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o4751)).unwrap();
    }
    write(&open(top.path()), "/run.sh", "new").await.unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "new");
    assert_eq!(mode(&file), 0o4751);
    if root {
        let metadata = file.metadata().unwrap();
        assert_eq!((metadata.uid(), metadata.gid()), (12_345, 54_321));
    }
    if attributes {
        let now = fs::File::open(&file).unwrap();
        let mut value = [0; 32];
        let length = rustix::fs::fgetxattr(&now, "user.note", &mut value[..]).unwrap();
        assert_eq!(&value[..length], b"kept\0bytes");
    }
    assert_eq!(names(top.path()), ["run.sh"]);
}

/// P28: an edit changes its text and nothing else of the file.
#[tokio::test]
async fn an_edit_keeps_every_byte_and_attribute_that_it_does_not_mean() {
    let top = tempfile::tempdir().unwrap();
    let file = top.path().join("run.bat");
    fs::write(&file, "\u{feff}one\r\ntwo\r\n\tthree \u{85}\nlast").unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o2750)).unwrap();
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&file, Some(12_345), Some(54_321)).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o2750)).unwrap();
    }
    let held = fs::File::open(&file).unwrap();
    let attributes = rustix::fs::fsetxattr(&held, "user.note", b"kept", XattrFlags::empty()).is_ok();
    let before = file.metadata().unwrap();
    let replacement = Replacement { old: "one\ntwo", new: "1\n2\n2", all: false };
    open(top.path()).edit(&path("/run.bat"), replacement, Expect::Anything, &Unwitnessed).await.unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "\u{feff}1\r\n2\r\n2\r\n\tthree \u{85}\nlast");
    let after = file.metadata().unwrap();
    assert_eq!((after.mode(), after.uid(), after.gid()), (before.mode(), before.uid(), before.gid()));
    if attributes {
        let mut value = [0; 8];
        assert_eq!(rustix::fs::fgetxattr(fs::File::open(&file).unwrap(), "user.note", &mut value[..]), Ok(4));
        assert_eq!(&value[..4], b"kept");
    }
    assert_eq!(names(top.path()), ["run.bat"]);
}

#[tokio::test]
async fn a_new_file_has_the_usual_mode() {
    let top = tempfile::tempdir().unwrap();
    fs::write(top.path().join("by_hand"), "").unwrap();
    write(&open(top.path()), "/new", "x").await.unwrap();
    assert_eq!(mode(&top.path().join("new")), mode(&top.path().join("by_hand")));
    assert_eq!(names(top.path()), ["by_hand", "new"]);
}

/// P11, P15.
#[tokio::test]
async fn links_are_written_through_and_hard_links_broken() {
    let top = tempfile::tempdir().unwrap();
    let project = top.path().join("proj");
    fs::create_dir_all(project.join("dir")).unwrap();
    fs::write(project.join("dir/real"), "old").unwrap();
    fs::write(top.path().join("outside"), "outside").unwrap();
    fs::hard_link(top.path().join("outside"), project.join("hard")).unwrap();
    symlink("dir/real", project.join("link")).unwrap();
    symlink(project.join("dir"), project.join("folder")).unwrap();
    symlink("dir/made", project.join("dangling")).unwrap();
    let backend = open(&project);
    for (name, target) in [("/link", "dir/real"), ("/folder/real", "dir/real"), ("/dangling", "dir/made")] {
        write(&backend, name, name).await.unwrap();
        assert_eq!(fs::read_to_string(project.join(target)).unwrap(), name);
    }
    assert!(project.join("link").is_symlink() && project.join("dangling").is_symlink());
    assert!(!write(&backend, "/link", "/link").await.unwrap().parted, "a symbolic link is not parted from its target");
    assert!(write(&backend, "/hard", "mine").await.unwrap().parted);
    assert!(!write(&backend, "/hard", "mine").await.unwrap().parted, "by then it is one of its own");
    assert_eq!(fs::read_to_string(top.path().join("outside")).unwrap(), "outside");
    assert_eq!(fs::read_to_string(project.join("hard")).unwrap(), "mine");
}

/// P09, P10, and the same for deleting.
#[tokio::test]
async fn nothing_outside_is_changed() {
    let top = tempfile::tempdir().unwrap();
    let project = top.path().join("proj");
    fs::create_dir(&project).unwrap();
    fs::create_dir(top.path().join("out")).unwrap();
    fs::write(top.path().join("out/secret"), "secret").unwrap();
    symlink("../out/secret", project.join("link")).unwrap();
    symlink("../out/new", project.join("dangling")).unwrap();
    symlink(top.path().join("out"), project.join("folder")).unwrap();
    let backend = open(&project);
    for name in ["/link", "/dangling", "/folder/secret", "/folder/new", "/folder/deep/er/new"] {
        let refused = BackendError::OutsideRoot { path: path(name) };
        assert_eq!(write(&backend, name, "x").await.unwrap_err(), refused);
        let replacement = Replacement { old: "secret", new: "x", all: false };
        let edit = backend.edit(&path(name), replacement, Expect::Anything, &Unwitnessed).await;
        assert_eq!(edit.unwrap_err(), refused);
        assert_eq!(backend.read(&path(name), ReadWindow { offset: 0, limit: 1 }).await.unwrap_err(), refused);
    }
    assert_eq!(
        delete(&backend, "/folder/secret").await.unwrap_err(),
        BackendError::OutsideRoot { path: path("/folder/secret") }
    );
    assert_eq!(backend.ls(&path("/")).await.unwrap().rows, []);
    // A link itself may go, wherever it leads.
    let changes = delete(&backend, "/folder").await.unwrap();
    assert_eq!((changes.len(), changes[0].path.as_str()), (1, "/folder"));
    assert_eq!(
        (names(&top.path().join("out")), names(&project)),
        (vec!["secret".into()], vec!["dangling".to_owned(), "link".to_owned()])
    );
}

#[tokio::test]
async fn deleting_a_link_leaves_its_target() {
    let top = tempfile::tempdir().unwrap();
    fs::create_dir(top.path().join("dir")).unwrap();
    fs::write(top.path().join("dir/a"), "a").unwrap();
    symlink("dir", top.path().join("folder")).unwrap();
    symlink("dir/a", top.path().join("file")).unwrap();
    symlink("nowhere", top.path().join("broken")).unwrap();
    let backend = open(top.path());
    let seen = Mutex::new(Vec::new());
    let witness = Meanwhile(|change: &PlannedChange| {
        seen.lock().unwrap().push((change.object, change.before.as_deref().map(<[u8]>::to_vec)));
    });
    for name in ["/folder", "/file", "/broken"] {
        backend.delete(&path(name), Expect::Anything, &witness).await.unwrap();
    }
    assert_eq!(names(top.path()), ["dir"]);
    assert_eq!(names(&top.path().join("dir")), ["a"]);
    let link = |target: &str| (ObjectKind::Link, Some(target.as_bytes().to_vec()));
    assert_eq!(seen.into_inner().unwrap(), [link("dir"), link("dir/a"), link("nowhere")]);
}

/// P31, also for the superuser, whom the system would let through.
#[tokio::test]
async fn read_only_is_respected_and_left_as_it_is() {
    let top = tempfile::tempdir().unwrap();
    let folder = top.path().join("ro");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("in"), "old").unwrap();
    fs::write(top.path().join("file"), "old").unwrap();
    fs::set_permissions(top.path().join("file"), Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(&folder, Permissions::from_mode(0o555)).unwrap();
    let backend = open(top.path());
    for name in ["/file", "/ro/in", "/ro/new", "/ro/new/deeper"] {
        let error = write(&backend, name, "x").await.unwrap_err();
        let refused = matches!(error, BackendError::ReadOnly { .. } | BackendError::PermissionDenied { .. });
        assert!(refused && error.to_string().contains(name), "{error}");
    }
    for name in ["/ro/in", "/ro"] {
        let error = delete(&backend, name).await.unwrap_err();
        assert!(matches!(error, BackendError::ReadOnly { .. }), "{error}");
    }
    assert_eq!((mode(&folder), mode(&top.path().join("file"))), (0o555, 0o444));
    assert_eq!((names(&folder), names(top.path())), (vec!["in".to_owned()], vec!["file".to_owned(), "ro".to_owned()]));
    fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
}

/// F01: whoever saves between our look and our change keeps what he saved.
#[tokio::test]
async fn a_save_in_between_is_never_lost() {
    let top = tempfile::tempdir().unwrap();
    let (file, other) = (top.path().join("a"), top.path().join("other"));
    let refused = BackendError::Changed { path: path("/a") };
    let saves: [(&str, &(dyn Fn() + Sync)); 4] = [
        ("in place", &|| fs::write(&file, "saved").unwrap()),
        ("same length", &|| fs::write(&file, "dlo").unwrap()),
        ("by rename", &|| {
            fs::write(&other, "saved").unwrap();
            fs::rename(&other, &file).unwrap();
        }),
        ("the same bytes in another file", &|| {
            fs::write(&other, "old").unwrap();
            fs::rename(&other, &file).unwrap();
        }),
    ];
    let backend = open(top.path());
    for (how, save) in saves {
        fs::write(&file, "old").unwrap();
        let witness = Meanwhile(|_: &PlannedChange| save());
        let result = backend.write(&path("/a"), b"mine".to_vec(), Expect::Anything, &witness).await;
        assert_eq!(result.unwrap_err(), refused, "{how}");
        assert_ne!(fs::read_to_string(&file).unwrap(), "mine", "{how}");
        fs::write(&file, "old").unwrap();
        let result = backend.delete(&path("/a"), Expect::Anything, &witness).await;
        assert_eq!(result.unwrap_err(), refused, "{how}");
        assert_eq!(names(top.path()), ["a"], "{how}");
    }
}

#[tokio::test]
async fn a_file_that_appears_in_between_stays() {
    let top = tempfile::tempdir().unwrap();
    let backend = open(top.path());
    let file = top.path().join("new");
    let witness = Meanwhile(|_: &PlannedChange| fs::write(&file, "theirs").unwrap());
    let absent = backend.write(&path("/new"), b"mine".to_vec(), Expect::Absent, &witness).await;
    assert_eq!(absent.unwrap_err(), BackendError::AlreadyExists { path: path("/new") });
    assert_eq!(fs::read_to_string(&file).unwrap(), "theirs");
    assert_eq!(names(top.path()), ["new"]);
}

/// The last moment: the file goes, or its folder becomes a link, after the intent.
#[tokio::test]
async fn what_goes_in_between_is_not_made_again() {
    let top = tempfile::tempdir().unwrap();
    let project = top.path().join("proj");
    fs::create_dir_all(project.join("dir")).unwrap();
    fs::create_dir(top.path().join("out")).unwrap();
    fs::write(project.join("dir/a"), "old").unwrap();
    fs::write(top.path().join("out/a"), "secret").unwrap();
    let backend = open(&project);
    let swap = Meanwhile(|_: &PlannedChange| {
        fs::rename(project.join("dir"), project.join("moved")).unwrap();
        symlink("../out", project.join("dir")).unwrap();
    });
    // The folder is held: the change happens where the file was, never behind the link.
    backend.write(&path("/dir/a"), b"mine".to_vec(), Expect::Anything, &swap).await.unwrap();
    assert_eq!(fs::read_to_string(project.join("moved/a")).unwrap(), "mine");
    assert_eq!(fs::read_to_string(top.path().join("out/a")).unwrap(), "secret");
    assert_eq!(
        (names(&top.path().join("out")), names(&project.join("moved"))),
        (vec!["a".into()], vec!["a".to_owned()])
    );
}

/// F05.
#[tokio::test]
async fn a_project_that_goes_away_is_not_made_again() {
    let top = tempfile::tempdir().unwrap();
    let project = top.path().join("proj");
    fs::create_dir(&project).unwrap();
    fs::write(project.join("a"), "old").unwrap();
    let backend = open(&project);
    let moved = Meanwhile(|_: &PlannedChange| fs::rename(&project, top.path().join("moved")).unwrap());
    let result = backend.write(&path("/a"), b"mine".to_vec(), Expect::Anything, &moved).await;
    assert_eq!(result.unwrap_err(), BackendError::RootGone);
    assert_eq!(write(&backend, "/b", "x").await.unwrap_err(), BackendError::RootGone);
    assert_eq!(delete(&backend, "/a").await.unwrap_err(), BackendError::RootGone);
    assert_eq!(backend.ls(&path("/")).await.unwrap_err(), BackendError::RootGone);
    assert_eq!(names(top.path()), ["moved"]);
    assert_eq!(
        (names(&top.path().join("moved")), fs::read_to_string(top.path().join("moved/a")).unwrap()),
        (vec!["a".to_owned()], "old".to_owned())
    );
}

/// What a dropped call had prepared goes with it, folders too.
#[tokio::test]
async fn a_dropped_change_leaves_nothing() {
    struct Never;
    impl ChangeWitness for Never {
        fn intend(&self, _change: PlannedChange) -> BoxFuture<'_, Result<(), BackendError>> {
            Box::pin(std::future::pending())
        }
    }
    let top = tempfile::tempdir().unwrap();
    fs::write(top.path().join("a"), "old").unwrap();
    let backend = open(top.path());
    for name in ["/a", "/x/y/new"] {
        let path = path(name);
        let change = backend.write(&path, b"mine".to_vec(), Expect::Anything, &Never);
        assert!(tokio::time::timeout(std::time::Duration::from_millis(200), change).await.is_err());
    }
    assert_eq!(names(top.path()), ["a"]);
    assert_eq!(fs::read_to_string(top.path().join("a")).unwrap(), "old");
    // The lock went too.
    write(&backend, "/a", "next").await.unwrap();
}

/// P30, and the bound on what is kept.
#[tokio::test]
async fn sizes_are_bounded() {
    let top = tempfile::tempdir().unwrap();
    let options = FilesystemOptions { max_file_size: 100, max_kept_size: 50, ..FilesystemOptions::default() };
    let backend = FilesystemBackend::open(top.path(), options).unwrap();
    let large = write(&backend, "/a", &"x".repeat(101)).await.unwrap_err();
    assert_eq!(large, BackendError::TooLarge { path: path("/a"), size: 101, limit: 100 });
    assert_eq!(names(top.path()), [""; 0]);
    fs::write(top.path().join("big"), "x".repeat(1000)).unwrap();
    let seen = Mutex::new(Vec::new());
    let witness = Meanwhile(|change: &PlannedChange| {
        let unkept = change.unkept.as_ref().map(|stamp| (stamp.size, stamp.hash.is_some()));
        seen.lock().unwrap().push((change.before.is_some(), unkept));
    });
    backend.write(&path("/big"), b"small".to_vec(), Expect::Anything, &witness).await.unwrap();
    backend.delete(&path("/big"), Expect::Anything, &witness).await.unwrap();
    assert_eq!(seen.into_inner().unwrap(), [(false, Some((1000, true))), (true, None)]);
    fs::write(top.path().join("big"), "x".repeat(1000)).unwrap();
    let replacement = Replacement { old: "x", new: "y", all: true };
    let edit = backend.edit(&path("/big"), replacement, Expect::Anything, &Unwitnessed).await.unwrap_err();
    assert_eq!(edit, BackendError::TooLarge { path: path("/big"), size: 1000, limit: 50 });
    assert!(backend.download(vec![path("/big")]).await.remove(0).is_err());
}

/// P22.
#[tokio::test]
async fn a_tree_of_two_thousand_levels_is_deleted() {
    let top = tempfile::tempdir().unwrap();
    let mut at = rustix::fs::open(top.path(), crate::root::FOLDER, rustix::fs::Mode::empty()).unwrap();
    for _ in 0..2000 {
        rustix::fs::mkdirat(&at, "d", rustix::fs::Mode::from_raw_mode(0o755)).unwrap();
        at = rustix::fs::openat(&at, "d", crate::root::FOLDER, rustix::fs::Mode::empty()).unwrap();
    }
    delete(&open(top.path()), "/d").await.unwrap();
    assert_eq!(names(top.path()), [""; 0]);
}

/// F07: two backends on one folder, by different names.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_sessions_in_one_project_take_turns() {
    let top = tempfile::tempdir().unwrap();
    let project = top.path().join("proj");
    fs::create_dir(&project).unwrap();
    symlink(&project, top.path().join("link")).unwrap();
    symlink("shared", project.join("alias")).unwrap();
    fs::write(project.join("shared"), "|").unwrap();
    let backends = [open(&project), open(&top.path().join("link"))];
    let edits = (0..60).map(|index| {
        let backend = &backends[index % 2];
        let name = if index % 3 == 0 { "/alias" } else { "/shared" };
        async move {
            let new = format!("|{index},");
            let replacement = Replacement { old: "|", new: &new, all: false };
            backend.edit(&path(name), replacement, Expect::Anything, &Unwitnessed).await.unwrap();
        }
    });
    futures_util::future::join_all(edits).await;
    let text = fs::read_to_string(project.join("shared")).unwrap();
    let mut numbers: Vec<usize> =
        text.trim_start_matches('|').trim_end_matches(',').split(',').map(|number| number.parse().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..60).collect::<Vec<_>>());
    assert_eq!(names(&project), ["alias", "shared"]);
}

/// A26, P06.
#[test]
fn host_paths_below_the_root_are_understood() {
    let top = tempfile::tempdir().unwrap();
    let real = top.path().canonicalize().unwrap();
    let (project, link) = (real.join("proj"), real.join("link"));
    fs::create_dir(&project).unwrap();
    symlink(&project, &link).unwrap();
    let backend = open(&link);
    let resolved = |text: String| backend.resolve(&text).unwrap().to_string();
    for root in [&project, &link] {
        assert_eq!(resolved(format!("{}", root.display())), "/");
        assert_eq!(resolved(format!("{}/src//main.rs", root.display())), "/src/main.rs");
        assert_eq!(resolved(format!("/{}/", root.display())), "/");
        let sibling = format!("{}-evil/x", root.display());
        assert_eq!(resolved(sibling.clone()), sibling);
        assert!(backend.resolve(&format!("{}/../x", root.display())).is_err());
    }
    assert_eq!(resolved("/etc/passwd".into()), "/etc/passwd");
    assert_eq!(resolved("src/main.rs".into()), "/src/main.rs");
    assert_eq!(backend.host_path(&path("/src/a")), Some(link.join("src/a")));
    // What a person calls it by a link is its name too, whatever it was opened by.
    let called =
        FilesystemBackend::open_called(&project, std::slice::from_ref(&link), FilesystemOptions::default()).unwrap();
    for root in [&project, &link] {
        assert_eq!(called.resolve(&format!("{}/src/a", root.display())).unwrap(), path("/src/a"));
    }
    assert_eq!(called.host_path(&path("/src/a")), Some(project.join("src/a")));
    // A project with a folder of the root's own first name means that folder.
    let first = project.components().nth(1).unwrap().as_os_str();
    fs::create_dir(project.join(first)).unwrap();
    assert_eq!(resolved(format!("{}", project.display())), project.to_str().unwrap());
}

/// Writes on a thread of its own until `read` has returned, also where that panics.
fn while_writing(write: impl Fn() + Sync, read: impl AsyncFn()) {
    struct Stop<'a>(&'a AtomicBool);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let stopped = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stopped.load(Ordering::Relaxed) {
                write();
            }
        });
        let _stop = Stop(&stopped);
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(read());
    });
}

async fn page(backend: &FilesystemBackend, name: &str, offset: u64, limit: u64) -> Result<TextPage, BackendError> {
    match backend.read(&path(name), ReadWindow { offset, limit }).await?.content {
        ReadContent::Text(page) => Ok(page),
        ReadContent::Bytes { .. } => panic!("{name} is no text"),
    }
}

/// P27: a page is of one state of the file, or there is none.
#[test]
fn reading_while_it_is_replaced_never_mixes() {
    let top = tempfile::tempdir().unwrap();
    let (file, other) = (top.path().join("f"), top.path().join("g"));
    let (a, b) = ("a\n".repeat(100_000), "b\n".repeat(100_000));
    fs::write(&file, &a).unwrap();
    let backend = open(top.path());
    let write = || {
        fs::write(&other, &b).unwrap();
        fs::rename(&other, &file).unwrap();
        // Cut to nothing and written again: a shorter file is a state of it too, two kinds of lines are none.
        fs::write(&file, &a).unwrap();
        fs::remove_file(&file).unwrap();
        fs::write(&file, &b).unwrap();
    };
    while_writing(write, async || {
        for _ in 0..60 {
            match page(&backend, "/f", 0, u64::MAX).await {
                Ok(page) => assert!(page.lines.iter().all(|line| *line == page.lines[0])),
                Err(BackendError::Unstable { .. } | BackendError::NotFound { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
    });
}

#[test]
fn a_growing_file_can_be_read() {
    let top = tempfile::tempdir().unwrap();
    let file = top.path().join("log");
    fs::write(&file, "line\n".repeat(10_000)).unwrap();
    let backend = open(top.path());
    let write = || fs::OpenOptions::new().append(true).open(&file).unwrap().write_all(b"line\n").unwrap();
    while_writing(write, async || {
        for _ in 0..20 {
            assert_eq!(page(&backend, "/log", 9_999, 1).await.unwrap().lines, ["line"]);
        }
    });
}

#[test]
fn of_what_is_kept_beside_a_file_only_what_was_done_is_said() {
    let name = "a.bosun-1".to_owned();
    let beside = || Kept { name: name.clone(), errno: Errno::IO };
    let kept = told(Outdated::Kept(beside()), &path("/a")).to_string();
    let unknown = told(Outdated::Unknown(beside()), &path("/a")).to_string();
    assert!(kept.contains("could not be put back") && kept.contains(&name), "{kept}");
    assert!(!unknown.contains("put back") && unknown.contains("new content is in its place"), "{unknown}");
    assert!(unknown.contains(&name), "{unknown}");
}
