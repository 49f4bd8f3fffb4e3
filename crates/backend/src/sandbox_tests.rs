use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use pretty_assertions::assert_eq;
use tokio_util::sync::CancellationToken;

use super::{LocalExecutorOptions, SandboxBackend, bubblewrap, local_process};
use crate::{
    Backend, BackendError, ExecRequest, Expect, GlobQuery, OutputSink, ReadWindow, Replacement, Unwitnessed,
    VirtualPath,
};

fn path(text: &str) -> VirtualPath {
    VirtualPath::parse(text).unwrap()
}

/// `proj` with files and links in it, `out` beside it.
fn arena() -> tempfile::TempDir {
    let top = tempfile::tempdir().unwrap();
    let proj = top.path().join("proj");
    fs::create_dir_all(proj.join("dir")).unwrap();
    fs::create_dir(top.path().join("out")).unwrap();
    fs::write(top.path().join("out/secret"), "secret").unwrap();
    fs::write(proj.join("dir/f"), "inside").unwrap();
    for (target, name) in [
        ("dir/f", "good"),
        ("dir", "gooddir"),
        ("../out/secret", "bad"),
        ("../out", "baddir"),
        ("/etc/passwd", "worse"),
        ("loop", "loop"),
        ("nowhere", "broken"),
    ] {
        symlink(target, proj.join(name)).unwrap();
    }
    top
}

fn open(top: &Path) -> SandboxBackend {
    SandboxBackend::new(local_process(&top.join("proj"), LocalExecutorOptions::default()).unwrap())
}

async fn read(backend: &dyn Backend, name: &str) -> Result<Vec<u8>, BackendError> {
    backend.download(vec![path(name)]).await.remove(0)
}

async fn write(backend: &dyn Backend, name: &str) -> Result<(), BackendError> {
    backend.write(&path(name), b"new".to_vec(), Expect::Anything, &Unwitnessed).await.map(|_| ())
}

/// P09, P10, P11, P14.
#[tokio::test]
async fn links_that_lead_out_are_refused() {
    let top = arena();
    let backend = open(top.path());
    for name in ["/bad", "/baddir/secret", "/worse", "/gooddir/../bad"] {
        let Ok(name) = VirtualPath::parse(name) else { continue };
        assert_eq!(read(&backend, name.as_str()).await, Err(BackendError::OutsideRoot { path: name.clone() }));
        assert_eq!(write(&backend, name.as_str()).await, Err(BackendError::OutsideRoot { path: name }));
    }
    for name in ["/baddir/new", "/baddir/deep/er/new"] {
        assert_eq!(write(&backend, name).await, Err(BackendError::OutsideRoot { path: path(name) }));
    }
    assert_eq!(read(&backend, "/loop").await, Err(BackendError::LinkLoop { path: path("/loop") }));
    assert_eq!(read(&backend, "/broken").await, Err(BackendError::NotFound { path: path("/broken") }));
    assert_eq!(read(&backend, "/good").await.as_deref(), Ok(&b"inside"[..]));
    write(&backend, "/gooddir/f").await.unwrap();
    write(&backend, "/good").await.unwrap();
    assert_eq!(fs::read(top.path().join("proj/dir/f")).unwrap(), b"new");
    assert!(top.path().join("proj/good").is_symlink(), "the link stays a link");
    assert_eq!(fs::read(top.path().join("out/secret")).unwrap(), b"secret");
    assert_eq!(fs::read_dir(top.path().join("out")).unwrap().count(), 1);
}

#[tokio::test]
async fn walks_show_links_inside_and_hide_those_that_lead_out() {
    let top = arena();
    let backend = open(top.path());
    let rows = backend.ls(&VirtualPath::root()).await.unwrap();
    let names: Vec<String> =
        rows.iter().map(|row| format!("{}{}", row.path, if row.is_dir { "/" } else { "" })).collect();
    assert_eq!(names, ["/broken", "/dir/", "/good", "/gooddir/", "/loop"]);
    let query = |below: &str| GlobQuery {
        pattern: "*".into(),
        path: path(below),
        include_ignored: true,
        cancel: CancellationToken::new(),
    };
    assert_eq!(backend.glob(query("/")).await.unwrap().paths, [path("/dir/f"), path("/good")]);
    assert_eq!(backend.glob(query("/gooddir")).await.unwrap().paths, [path("/gooddir/f")]);
    assert!(backend.glob(query("/baddir")).await.is_err());
}

/// Part A 10: the link goes, never its target.
#[tokio::test]
async fn deleting_a_link_keeps_what_it_leads_to() {
    let top = arena();
    let backend = open(top.path());
    let deleter = backend.deleter().unwrap();
    for name in ["/good", "/gooddir", "/bad", "/baddir", "/broken", "/loop"] {
        deleter.delete(&path(name), Expect::Anything, &Unwitnessed).await.unwrap_or_else(|error| panic!("{error}"));
        assert!(!top.path().join("proj").join(&name[1..]).is_symlink(), "{name}");
    }
    let inside = deleter.delete(&path("/worse/x"), Expect::Anything, &Unwitnessed).await;
    assert!(inside.is_err());
    assert!(top.path().join("out/secret").exists() && top.path().join("proj/dir/f").exists());
    let changes = deleter.delete(&path("/dir"), Expect::Anything, &Unwitnessed).await.unwrap();
    assert_eq!(changes.len(), 1);
}

/// P18, and what a change keeps.
#[tokio::test]
async fn only_regular_files_and_their_modes() {
    let top = arena();
    let backend = open(top.path());
    let proj = top.path().join("proj");
    let made = std::process::Command::new("mkfifo").arg(proj.join("pipe")).status().unwrap();
    assert!(made.success());
    assert!(matches!(read(&backend, "/pipe").await, Err(BackendError::NotRegular { .. })));
    assert!(write(&backend, "/pipe").await.is_err());
    fs::set_permissions(proj.join("dir/f"), fs::Permissions::from_mode(0o751)).unwrap();
    let replacement = Replacement { old: "inside", new: "edited", all: false };
    backend.edit(&path("/dir/f"), replacement, Expect::Anything, &Unwitnessed).await.unwrap();
    let mode = fs::metadata(proj.join("dir/f")).unwrap().permissions().mode();
    assert_eq!((mode & 0o777, fs::read(proj.join("dir/f")).unwrap()), (0o751, b"edited".to_vec()));
    let left: Vec<_> = fs::read_dir(proj.join("dir")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["f"], "nothing waits beside it");
}

#[tokio::test]
async fn a_folder_that_is_gone_is_said_and_not_made_again() {
    let top = arena();
    let backend = open(top.path());
    fs::remove_dir_all(top.path().join("proj")).unwrap();
    assert_eq!(write(&backend, "/a").await, Err(BackendError::RootGone));
    let window = ReadWindow { offset: 0, limit: 1 };
    assert_eq!(backend.read(&path("/a"), window).await.unwrap_err(), BackendError::RootGone);
    assert!(!top.path().join("proj").exists());
}

/// What is too large to go over can be deleted, and only its size is kept; the small ones beside it are kept whole.
#[tokio::test]
async fn large_files_go_without_their_bytes() {
    let top = arena();
    let backend = open(top.path());
    for name in ["dir/large", "large"] {
        let file = fs::File::create(top.path().join("proj").join(name)).unwrap();
        file.set_len(super::MAX_FILE + 1).unwrap();
    }
    let deleter = backend.deleter().unwrap();
    let tree = deleter.delete(&path("/dir"), Expect::Anything, &Unwitnessed).await.unwrap();
    let mut kept: Vec<_> = tree.iter().map(|change| (change.path.as_str(), change.before.is_some())).collect();
    kept.sort_unstable();
    assert_eq!(kept, [("/dir/f", true), ("/dir/large", false)]);
    let one = deleter.delete(&path("/large"), Expect::Anything, &Unwitnessed).await.unwrap();
    assert_eq!((one.len(), one[0].before.clone()), (1, None));
    assert!(!top.path().join("proj/dir").exists() && !top.path().join("proj/large").exists());
}

struct Unwatched;

impl OutputSink for Unwatched {
    fn output(&self, _bytes: &[u8]) {}
}

async fn run(backend: &dyn Backend, command: &str) -> (Option<i32>, String) {
    let request = ExecRequest { command: command.to_owned(), timeout: None, cancel: CancellationToken::new() };
    let result = backend.shell().unwrap().execute(request, &Unwatched).await.unwrap();
    (result.exit_code, result.output)
}

/// Security.md, section 9: the project is writable, and there is nothing else.
#[tokio::test]
async fn a_sandbox_has_the_project_and_nothing_else() {
    let top = arena();
    let proj = top.path().join("proj");
    let Ok(executor) = bubblewrap(&proj, LocalExecutorOptions::default()).await else {
        assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "with CI=true there has to be a sandbox");
        return eprintln!("passed over: there is no sandbox here; add it with apt-get install bubblewrap");
    };
    let backend = SandboxBackend::new(executor);
    for folder in [".git/hooks", ".git/info", "sub/.git/hooks"] {
        fs::create_dir_all(proj.join(folder)).unwrap();
    }
    fs::write(proj.join(".git/config"), "[core]\n").unwrap();
    // A repository without its usual parts: what is missing cannot be made either.
    fs::create_dir(proj.join("bare")).unwrap();
    fs::create_dir(proj.join("bare/.git")).unwrap();
    assert_eq!(run(&backend, "echo made > made; cat made").await, (Some(0), "made\n".into()));
    let outside = top.path().join("out");
    let outside = outside.to_str().unwrap();
    for denied in [
        format!("cat {outside}/secret"),
        format!("echo x > {outside}/new"),
        "cat bad".into(),
        "echo x > baddir/new".into(),
        "cat /etc/shadow".into(),
        "ls ~/.ssh".into(),
        "echo x > /usr/bosun".into(),
        "echo x > .git/hooks/post-commit".into(),
        "echo x >> .git/config".into(),
        "echo x > bare/.git/hooks/post-commit".into(),
        "echo x > bare/.git/config".into(),
        "rmdir bare/.git/hooks; mkdir bare/.git/hooks".into(),
        "mv bare bare2".into(),
        "mv .git .moved".into(),
        "mv sub other".into(),
        "echo x > sub/.git/hooks/y".into(),
        "grep -q . /proc/net/route && [ $(wc -l < /proc/net/route) -gt 1 ]".into(),
        "kill -0 1 && [ $(ps ax 2>/dev/null | wc -l) -gt 20 ]".into(),
        "unshare -U true".into(),
    ] {
        let (code, said) = run(&backend, &format!("{{ {denied}; }} 2>/dev/null")).await;
        assert_ne!(code, Some(0), "{denied}: {said}");
    }
    assert_eq!(fs::read_dir(top.path().join("out")).unwrap().count(), 1);
    assert_eq!(fs::read_dir(proj.join("bare/.git")).unwrap().count(), 0, "no placeholder stays");
    assert_eq!(fs::read(proj.join(".git/config")).unwrap(), b"[core]\n");
    // X17: what goes on behind a command ends with it.
    run(&backend, "(setsid sleep 300 &) ; (nohup sleep 301 >/dev/null 2>&1 &)").await;
    let left = std::process::Command::new("pgrep").args(["-f", "^sleep 30[01]$"]).output();
    assert!(left.is_ok_and(|left| left.stdout.is_empty()), "a process survived its command");
}
