//! F05: a project folder that is deleted, moved, replaced or closed while somebody works in it. Everything says so by a
//! typed error, nothing is made again, and what stands in its place is not touched.
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};

use bosun_backend::{
    Backend, BackendError, ExecRequest, Expect, FilesystemBackend, FilesystemOptions, GrepQuery, LocalShellBackend,
    LocalShellOptions, OutputSink, ReadWindow, Replacement, RootError, RootNote, Unwitnessed, project_root,
};

use crate::support::{glob_query, grep_query, path};

/// What every way in answers, by its name.
async fn all_ways(backend: &dyn Backend) -> Vec<(&'static str, Option<BackendError>)> {
    let window = ReadWindow { offset: 0, limit: 10 };
    let replacement = Replacement { old: "old", new: "new", all: false };
    let bytes = || b"mine".to_vec();
    vec![
        ("ls", backend.ls(&path("/")).await.err()),
        ("ls below", backend.ls(&path("/src")).await.err()),
        ("read", backend.read(&path("/src/a.txt"), window).await.err()),
        ("edit", backend.edit(&path("/src/a.txt"), replacement, Expect::Anything, &Unwitnessed).await.err()),
        ("write", backend.write(&path("/src/a.txt"), bytes(), Expect::Anything, &Unwitnessed).await.err()),
        ("write new", backend.write(&path("/new/b.txt"), bytes(), Expect::Anything, &Unwitnessed).await.err()),
        ("glob", backend.glob(glob_query("**/*.txt", "/")).await.err()),
        ("grep", backend.grep(grep_query("old")).await.err()),
        ("upload", backend.upload(vec![(path("/up.txt"), bytes())]).await.remove(0).err()),
        ("download", backend.download(vec![path("/src/a.txt")]).await.remove(0).err()),
        ("delete", backend.deleter().unwrap().delete(&path("/src"), Expect::Anything, &Unwitnessed).await.err()),
        ("execute", ran(backend).await.err()),
    ]
}

struct Unwatched;

impl OutputSink for Unwatched {
    fn output(&self, _bytes: &[u8]) {}
}

/// A command, where there are any.
async fn ran(backend: &dyn Backend) -> Result<(), BackendError> {
    let Some(shell) = backend.shell() else { return backend.ls(&path("/")).await.map(|_| ()) };
    shell.execute(ExecRequest::new("echo mine > made.txt"), &Unwatched).await.map(|_| ())
}

fn fill(project: &Path) {
    fs::create_dir_all(project.join("src")).unwrap();
    fs::write(project.join("src/a.txt"), "old\n").unwrap();
}

/// Every file below `folder` with its text.
fn everything(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let at = entry.path();
            if entry.file_type().unwrap().is_dir() {
                open.push(at);
            } else {
                found.push((at.display().to_string(), fs::read_to_string(&at).unwrap_or_default()));
            }
        }
    }
    found.sort();
    found
}

/// The project in `top` becomes something else by and by, with `backend` at work in it.
async fn what_is_not_what_it_was_is_refused(backend: &dyn Backend, top: &Path) {
    type Deed = fn(&Path, &Path);
    let deeds: [(&str, Deed); 5] = [
        ("moved", |_, _| {}),
        ("replaced by a folder", |project, _| fill(project)),
        ("replaced by a file", |project, _| fs::write(project, "old\n").unwrap()),
        ("replaced by a link to itself", |project, moved| symlink(moved.with_extension("elsewhere"), project).unwrap()),
        ("replaced by a link to another folder", |project, moved| {
            let other = moved.with_extension("other");
            fill(&other);
            symlink(other, project).unwrap();
        }),
    ];
    let (project, moved) = (top.join("project"), top.join("moved"));
    assert!(all_ways(backend).await.into_iter().all(|(_, refused)| refused.is_none()));
    for (name, deed) in deeds {
        fill(&project);
        fs::rename(&project, &moved).unwrap();
        deed(&project, &moved);
        let before = everything(top);
        for (way, refused) in all_ways(backend).await {
            assert_eq!(refused, Some(BackendError::RootGone), "{way}, {name}");
        }
        assert_eq!(everything(top), before, "{name}");
        if project.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            fs::remove_dir_all(&project).unwrap();
        } else if project.symlink_metadata().is_ok() {
            fs::remove_file(&project).unwrap();
        }
        fs::rename(&moved, &project).unwrap();
        for (way, refused) in all_ways(backend).await {
            assert_eq!(refused, None, "{way}, {name}: it is back");
        }
    }
}

fn a_project() -> (tempfile::TempDir, PathBuf) {
    let top = tempfile::tempdir().unwrap();
    let project = top.path().join("project");
    fill(&project);
    (top, project)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_project_that_is_not_what_it_was_is_refused_in_every_way_and_works_again_when_it_is_back() {
    let (top, project) = a_project();
    let backend = LocalShellBackend::open(&project, LocalShellOptions::default()).unwrap();
    what_is_not_what_it_was_is_refused(&backend, top.path()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_folder_is_refused_by_files() {
    let (top, project) = a_project();
    let backend = FilesystemBackend::open(&project, FilesystemOptions::default()).unwrap();
    what_is_not_what_it_was_is_refused(&backend, top.path()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_folder_is_refused_here() {
    let (top, project) = a_project();
    let backend = crate::places::here(&project).await;
    what_is_not_what_it_was_is_refused(&backend, top.path()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_folder_is_refused_by_a_sandbox() {
    let (top, project) = a_project();
    let Some(backend) = crate::places::sandbox(&project).await else { return };
    what_is_not_what_it_was_is_refused(&backend, top.path()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_folder_is_refused_on_another_machine() {
    let (top, project) = a_project();
    let Some(machine) = crate::places::machine() else { return };
    let backend = machine.backend_at(&project).await;
    what_is_not_what_it_was_is_refused(&backend, top.path()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_folder_is_refused_by_a_container() {
    let (top, project) = a_project();
    let Some(backend) = crate::places::container_of(&project).await else { return };
    what_is_not_what_it_was_is_refused(&backend, top.path()).await;
}

#[tokio::test]
async fn a_deleted_project_is_not_made_again() {
    let top = tempfile::tempdir().unwrap();
    let project = top.path().join("project");
    fill(&project);
    let backend = FilesystemBackend::open(&project, FilesystemOptions::default()).unwrap();
    fs::remove_dir_all(&project).unwrap();
    for (way, refused) in all_ways(&backend).await {
        assert_eq!(refused, Some(BackendError::RootGone), "{way}");
    }
    assert!(!project.exists());
}

/// Runs the test `name` again as nobody where it runs as root, whom no right holds back; whether it did, and it passed.
fn ran_as_nobody(name: &str) -> bool {
    ran_as_nobody_beside(name, |_| ())
}

/// The same with something made by root first in the folder that it works in.
fn ran_as_nobody_beside(name: &str, make: impl FnOnce(&Path)) -> bool {
    if !rustix::process::geteuid().is_root() {
        return false;
    }
    // What was built may lie where nobody else comes by.
    let open = tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o755)).tempdir_in("/tmp").unwrap();
    let program = open.path().join("contract");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    make(open.path());
    let mut again = std::process::Command::new(&program);
    again.args(["--exact", name, "--nocapture"]).current_dir(open.path());
    // A home that is root's holds tool chains that a sandbox would show.
    again.env("TMPDIR", "/tmp").env("HOME", open.path()).uid(65_534).gid(65_534);
    let ran = again.output().unwrap();
    let told = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{told}{}", String::from_utf8_lossy(&ran.stderr));
    assert!(told.contains("1 passed"), "{name} is no test: {told}");
    true
}

#[test]
fn a_folder_without_rights_is_no_project() {
    if ran_as_nobody("gone::a_folder_without_rights_is_no_project") {
        return;
    }
    let top = tempfile::tempdir().unwrap();
    let set = |mode| fs::set_permissions(top.path(), fs::Permissions::from_mode(mode)).unwrap();
    set(0o555);
    assert_eq!(project_root(top.path(), None).unwrap().notes, [RootNote::ReadOnly]);
    set(0o000);
    let error = project_root(top.path(), None).unwrap_err();
    set(0o755);
    assert!(matches!(error, RootError::Unreadable { .. }), "{error}");
}

#[tokio::test]
async fn rights_that_are_taken_away_are_said_and_what_comes_back_works() {
    if ran_as_nobody("gone::rights_that_are_taken_away_are_said_and_what_comes_back_works") {
        return;
    }
    let top = tempfile::tempdir().unwrap();
    fill(top.path());
    let backend = FilesystemBackend::open(top.path(), FilesystemOptions::default()).unwrap();
    let give = |name: &str, mode| {
        fs::set_permissions(top.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    // Neither read nor written: every way below it names it; what is elsewhere goes on.
    give("src", 0o000);
    for (way, refused) in all_ways(&backend).await {
        let searches = matches!(way, "ls" | "glob" | "grep" | "write new" | "upload" | "execute");
        match refused {
            None => assert!(searches, "{way}"),
            Some(BackendError::PermissionDenied { path }) => {
                assert!(path.as_str().starts_with("/src"), "{way}: {path}")
            }
            Some(other) => panic!("{way}: {other}"),
        }
    }
    let cut = backend.grep(grep_query("old")).await.unwrap();
    assert_eq!(cut.truncated, Some(bosun_backend::Truncation::Unreadable), "what could not be searched is said");
    give("src", 0o755);
    // The project itself read-only: it can be read, and nothing is changed by halves.
    give(".", 0o555);
    give("src", 0o555);
    let refused = backend.write(&path("/src/a.txt"), b"x".to_vec(), Expect::Anything, &Unwitnessed).await.unwrap_err();
    assert_eq!(refused, BackendError::ReadOnly { path: path("/src/a.txt") });
    assert_eq!(backend.download(vec![path("/src/a.txt")]).await.remove(0).unwrap(), b"old\n");
    give(".", 0o755);
    give("src", 0o755);
    assert!(all_ways(&backend).await.into_iter().all(|(_, refused)| refused.is_none()));
}

/// What nobody may look at is said, never taken for what is not there: the same here and in every place.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_read_is_said_wherever_it_is() {
    if ran_as_nobody("gone::what_cannot_be_read_is_said_wherever_it_is") {
        return;
    }
    let top = tempfile::tempdir().unwrap();
    let set = |name: &str, mode| {
        fs::set_permissions(top.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    for folder in ["names", "shut"] {
        fs::create_dir(top.path().join(folder)).unwrap();
        fs::write(top.path().join(folder).join("in.txt"), "nothing\n").unwrap();
    }
    for name in ["a.txt", "b.txt", "c.txt"] {
        fs::write(top.path().join(name), "needle\n").unwrap();
    }
    let mut places: Vec<(&str, Box<dyn Backend>)> = vec![
        ("disk", Box::new(FilesystemBackend::open(top.path(), FilesystemOptions::default()).unwrap())),
        ("here", Box::new(crate::places::here(top.path()).await)),
    ];
    if let Some(sandbox) = crate::places::sandbox(top.path()).await {
        places.push(("sandbox", Box::new(sandbox)));
    }
    for (place, backend) in &places {
        set("a.txt", 0o000);
        for (query, rows) in [
            (grep_query("needle"), vec!["/b.txt", "/c.txt"]),
            (GrepQuery { regex: true, ..grep_query("need.e") }, vec!["/b.txt", "/c.txt"]),
            (GrepQuery { path: path("/a.txt"), ..grep_query("needle") }, vec![]),
            (GrepQuery { glob: Some("a.*".into()), ..grep_query("needle") }, vec![]),
        ] {
            let found = backend.grep(query).await.unwrap();
            assert_eq!(found.truncated, Some(bosun_backend::Truncation::Unreadable), "{place}");
            assert_eq!(found.matches.iter().map(|row| row.path.as_str()).collect::<Vec<_>>(), rows, "{place}");
        }
        set("a.txt", 0o644);
        assert_eq!(backend.grep(grep_query("needle")).await.unwrap().truncated, None, "{place}");
        // Of the one folder the names can be had and nothing of what they are, of the other not even those.
        for (folder, mode) in [("names", 0o444), ("shut", 0o000), ("shut", 0o311)] {
            set(folder, mode);
            let listed = backend.ls(&path(&format!("/{folder}"))).await;
            let found = backend.grep(grep_query("needle")).await.unwrap();
            set(folder, 0o755);
            let denied = BackendError::PermissionDenied { path: path(&format!("/{folder}")) };
            assert_eq!(listed, Err(denied), "{place} {folder} {mode:o}");
            assert_eq!(found.truncated, Some(bosun_backend::Truncation::Unreadable), "{place} {folder} {mode:o}");
        }
    }
}

/// P28: in a folder that several people share, a file that one of them changes becomes theirs, and it is said.
#[tokio::test]
async fn a_file_that_changes_hands_is_said() {
    let share = |folder: &Path| {
        fill(&folder.join("shared"));
        fs::write(folder.join("shared/src/over-there.txt"), "old\n").unwrap();
        let files = ["shared/src/a.txt", "shared/src/over-there.txt"].map(|name| (name, 0o6777));
        for (name, mode) in files.into_iter().chain([("shared/src", 0o777)]) {
            fs::set_permissions(folder.join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    // Only root can give somebody a file of somebody else.
    if ran_as_nobody_beside("gone::a_file_that_changes_hands_is_said", share) || !Path::new("shared").exists() {
        return;
    }
    let disk = FilesystemBackend::open(Path::new("shared"), FilesystemOptions::default()).unwrap();
    let over_there = crate::places::here(&fs::canonicalize("shared").unwrap()).await;
    let places: [(&dyn Backend, &str); 2] = [(&disk, "/src/a.txt"), (&over_there, "/src/over-there.txt")];
    for (backend, name) in places {
        let (file, replacement) = (path(name), Replacement { old: "old", new: "new", all: false });
        let changed = backend.edit(&file, replacement, Expect::Anything, &Unwitnessed).await.unwrap();
        assert!(changed.handed_over, "{name}");
        let now = fs::metadata(format!("shared{name}")).unwrap();
        assert_eq!((now.uid(), now.mode() & 0o7777), (65_534, 0o777), "and runs as nobody else");
        let again = backend.write(&file, b"again".to_vec(), Expect::Anything, &Unwitnessed).await.unwrap();
        assert!(!again.handed_over, "{name} is their own by now");
        let made = backend.write(&path(&format!("{name}.new")), b"new".to_vec(), Expect::Absent, &Unwitnessed).await;
        assert!(!made.unwrap().handed_over, "what was not there belonged to nobody");
    }
}
