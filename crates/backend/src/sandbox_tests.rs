use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use pretty_assertions::assert_eq;
use tokio_util::sync::CancellationToken;

use super::{LocalExecutorOptions, SandboxBackend, bubblewrap, local_process};
use crate::protected::{PROTECTED_FILES, PROTECTED_FOLDERS, PROTECTED_INSIDE};
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
        ("nowhere/../../out/made", "later"),
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

async fn open(top: &Path) -> SandboxBackend {
    SandboxBackend::open(local_process(&top.join("proj"), LocalExecutorOptions::default()).unwrap()).await
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
    let backend = open(top.path()).await;
    for name in ["/bad", "/baddir/secret", "/worse", "/later", "/gooddir/../bad"] {
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
    assert!(!top.path().join("proj/nowhere").exists());
}

#[tokio::test]
async fn walks_show_links_inside_and_hide_those_that_lead_out() {
    let top = arena();
    let backend = open(top.path()).await;
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
    let backend = open(top.path()).await;
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
    let backend = open(top.path()).await;
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

/// P28 where the place can keep them: extended attributes.
#[tokio::test]
async fn a_change_keeps_extended_attributes() {
    let top = arena();
    let file = top.path().join("proj/dir/f");
    let held = fs::File::open(&file).unwrap();
    let note = rustix::fs::fsetxattr(&held, "user.note", b"kept", rustix::fs::XattrFlags::empty());
    if note == Err(rustix::io::Errno::OPNOTSUPP) {
        eprintln!("passed over: the temporary folder's file system keeps no attributes");
        return;
    }
    note.unwrap();
    write(&open(top.path()).await, "/dir/f").await.unwrap();
    let mut value = [0; 8];
    assert_eq!(rustix::fs::fgetxattr(fs::File::open(&file).unwrap(), "user.note", &mut value[..]), Ok(4));
    assert_eq!((fs::read(&file).unwrap(), &value[..4]), (b"new".to_vec(), &b"kept"[..]));
}

#[tokio::test]
async fn a_folder_that_is_gone_is_said_and_not_made_again() {
    let top = arena();
    let backend = open(top.path()).await;
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
    let backend = open(top.path()).await;
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
    let request = ExecRequest::new(command);
    let result = backend.shell().unwrap().execute(request, &Unwatched).await.unwrap();
    (result.exit_code, result.output)
}

/// What a command left behind writes on and on into the same pipe: how it ended is told all the same.
#[tokio::test]
async fn the_end_of_a_command_is_heard_in_a_flood() {
    let top = arena();
    let backend = open(top.path()).await;
    for code in [7, 137, 0, 255].repeat(5) {
        let command = format!("setsid yes 'a flood' & sleep 0.05; exit {code}");
        let request = ExecRequest::new(command);
        let result = backend.shell().unwrap().execute(request, &Unwatched).await.unwrap();
        assert_eq!((result.exit_code, result.signal, result.broke_off), (Some(code), None, false));
        assert!(!result.output.contains('\u{1e}'));
    }
}

/// `None` where there is no sandbox, which CI has to have.
async fn sandboxed(proj: &Path) -> Option<SandboxBackend> {
    if let Ok(executor) = bubblewrap(proj, LocalExecutorOptions::default()).await {
        return Some(SandboxBackend::open(executor).await);
    }
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "with CI=true there has to be a sandbox");
    eprintln!("passed over: there is no sandbox here; add it with apt-get install bubblewrap");
    None
}

fn names(folder: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = fs::read_dir(folder).unwrap().map(name).collect();
    names.sort_unstable();
    names
}

/// Security.md, section 9: the project is writable, and there is nothing else.
#[tokio::test]
async fn a_sandbox_has_the_project_and_nothing_else() {
    let top = arena();
    let proj = top.path().join("proj");
    let Some(backend) = sandboxed(&proj).await else { return };
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
        "rm bare/.git/config".into(),
        "echo x > made; mv -T made bare/.git/config".into(),
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
    run(&backend, "echo x > bare/.git/config").await;
    assert_eq!(fs::read_dir(proj.join("bare/.git")).unwrap().count(), 0, "no placeholder stays");
    assert_eq!(fs::read(proj.join(".git/config")).unwrap(), b"[core]\n");
    // X17: what goes on behind a command ends with it.
    run(&backend, "(setsid sleep 300 &) ; (nohup sleep 301 >/dev/null 2>&1 &)").await;
    let left = std::process::Command::new("pgrep").args(["-f", "^sleep 30[01]$"]).output();
    assert!(left.is_ok_and(|left| left.stdout.is_empty()), "a process survived its command");
}

/// Security.md, section 9: a command cannot make what is run or obeyed later, and nothing of its cover stays.
#[tokio::test]
async fn a_command_in_a_sandbox_makes_nothing_that_runs_later() {
    let top = arena();
    let proj = top.path().join("proj");
    let Some(backend) = sandboxed(&proj).await else { return };
    let before = names(&proj);
    for name in PROTECTED_FILES {
        for attempt in [
            format!("echo x > {name}"),
            format!("rm -rf {name}; echo x > {name}"),
            format!("echo x > made; mv -T made {name}; rm -f made"),
            format!("ln -sfT dir/f {name}"),
            format!("mkdir {name}; echo x > {name}/x"),
        ] {
            let (_, said) = run(&backend, &attempt).await;
            assert_eq!(names(&proj), before, "{attempt}: {said}");
        }
    }
    let inside = PROTECTED_INSIDE.map(|(folder, name)| format!("{folder}/{name}"));
    for name in PROTECTED_FOLDERS.iter().copied().chain(inside.iter().map(String::as_str)) {
        for attempt in [
            format!("mkdir -p {name}; echo x > {name}/x"),
            format!("rm -rf {name}; mkdir -p {name} && echo x > {name}/x"),
            format!("mkdir made; echo x > made/x; mv -T made {name}; rm -rf made"),
            format!("ln -sfT dir {name}"),
        ] {
            let (_, said) = run(&backend, &attempt).await;
            assert_eq!(names(&proj), before, "{attempt}: {said}");
        }
    }
    let (code, _) = run(&backend, "mv .github other 2>/dev/null").await;
    assert_ne!(code, Some(0), "the folder above a protected one stays in its place");
    assert_eq!(names(&proj), before, "no placeholder stays");
    // Programs that read their settings find none.
    assert_eq!(run(&backend, "cat .npmrc").await, (Some(0), String::new()));
    // What is not protected can be put beside it, and stays.
    assert_eq!(run(&backend, "mkdir .github/ISSUE_TEMPLATE && echo x > .github/ISSUE_TEMPLATE/a").await.0, Some(0));
    assert_eq!(names(&proj.join(".github")), ["ISSUE_TEMPLATE"]);
}

#[tokio::test]
async fn a_command_in_a_sandbox_changes_nothing_that_runs_later() {
    let top = arena();
    let proj = top.path().join("proj");
    let Some(backend) = sandboxed(&proj).await else { return };
    let held = [
        ".claude/settings.json",
        ".husky/pre-commit",
        ".github/workflows/ci.yml",
        ".mcp.json",
        ".bashrc",
        "sub/.npmrc",
        "sub/.vscode/tasks.json",
        "sub/deep/.github/workflows/ci.yml",
        // A work tree and a submodule have a file that says where their repository is.
        "tree/.git",
        ".git/config",
        ".git/modules/vendor/lib/HEAD",
        ".git/modules/vendor/lib/config",
        ".git/modules/vendor/lib/hooks/post-checkout",
    ];
    for name in held {
        fs::create_dir_all(proj.join(name).parent().unwrap()).unwrap();
        fs::write(proj.join(name), "as it was").unwrap();
    }
    for name in held.into_iter().filter(|name| !name.ends_with("HEAD")) {
        let folder = Path::new(name).parent().unwrap().display();
        for attempt in [
            format!("echo x > {name}"),
            format!("rm {name}"),
            format!("echo x > made; mv -T made {name}"),
            format!("[ -n '{folder}' ] && mv {folder} other"),
        ] {
            let (code, said) = run(&backend, &format!("{{ {attempt}; }} 2>/dev/null")).await;
            assert_ne!(code, Some(0), "{attempt}: {said}");
        }
    }
    // What is data can be taken away, and does not make it another thing.
    run(&backend, "rm .git/modules/vendor/lib/HEAD").await;
    run(&backend, "echo x > .git/modules/vendor/lib/config; echo x > .git/modules/vendor/lib/info/exclude").await;
    fs::write(proj.join(".git/modules/vendor/lib/HEAD"), "as it was").unwrap();
    let parts = names(&proj.join(".git/modules/vendor/lib"));
    assert_eq!(parts, ["HEAD", "config", "hooks"], "what a submodule's repository lacks cannot be made");
    for name in held {
        assert_eq!(fs::read_to_string(proj.join(name)).unwrap(), "as it was", "{name}");
    }
}

/// X09: a link would be replaced, not what it leads to.
#[tokio::test]
async fn a_protected_name_that_is_a_link_refuses_the_command() {
    let top = arena();
    let proj = top.path().join("proj");
    let Some(backend) = sandboxed(&proj).await else { return };
    fs::create_dir_all(proj.join("sub/.git")).unwrap();
    for name in [".git", ".claude", ".envrc", "sub/.git/hooks", "sub/.git/config"] {
        symlink("dir", proj.join(name)).unwrap();
        let request = ExecRequest::new("echo > ran");
        let refused = backend.shell().unwrap().execute(request, &Unwatched).await.unwrap_err();
        assert_eq!(refused, BackendError::GuardIsLink { path: path(&format!("/{name}")) });
        fs::remove_file(proj.join(name)).unwrap();
    }
    assert!(!proj.join("ran").exists());
    assert_eq!(run(&backend, "echo > ran").await.0, Some(0));
}

/// Where a folder of a protected name would be there is a file: that stays, so that nothing comes below it.
#[tokio::test]
async fn a_file_in_the_way_of_a_protected_name_is_held_and_a_link_refused() {
    let top = arena();
    let proj = top.path().join("proj");
    let Some(backend) = sandboxed(&proj).await else { return };
    fs::write(proj.join(".github"), "a file").unwrap();
    assert_eq!(run(&backend, "cat .github").await, (Some(0), "a file".into()));
    let (code, _) =
        run(&backend, "rm -f .github; mkdir -p .github/workflows && echo x > .github/workflows/ci.yml").await;
    assert_ne!(code, Some(0));
    assert_eq!(fs::read_to_string(proj.join(".github")).unwrap(), "a file");
    for target in ["nowhere", "dir"] {
        fs::remove_file(proj.join(".github")).unwrap();
        symlink(target, proj.join(".github")).unwrap();
        let request = ExecRequest::new("true");
        let refused = backend.shell().unwrap().execute(request, &Unwatched).await.unwrap_err();
        assert_eq!(refused, BackendError::GuardIsLink { path: path("/.github") });
    }
}

#[tokio::test]
async fn covers_are_not_seen_by_git_and_go_with_the_last_command() {
    let top = arena();
    let proj = top.path().join("proj");
    let Some(backend) = sandboxed(&proj).await else { return };
    // An empty folder of the person's own, and a placeholder that a crash left behind.
    fs::create_dir(proj.join(".claude")).unwrap();
    fs::create_dir(proj.join(".envrc")).unwrap();
    fs::set_permissions(proj.join(".envrc"), fs::Permissions::from_mode(0o1555)).unwrap();
    if std::process::Command::new("git").args(["init", "--quiet"]).current_dir(&proj).status().is_ok() {
        let (code, said) = run(&backend, "git add -A && git diff --cached --name-only && git status --porcelain").await;
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("dir/f") && !said.contains(".npmrc") && !said.contains(".envrc"), "{said}");
    }
    // One that ends leaves the other's covers.
    let long = run(&backend, "echo > started; while [ ! -e go ]; do sleep 0.05; done; echo x > .envrc");
    let short = async {
        while !proj.join("started").exists() {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        assert_ne!(run(&backend, "echo x > .envrc").await.0, Some(0));
        assert!(proj.join(".envrc").exists(), "it stands for as long as the other runs");
        fs::write(proj.join("go"), "").unwrap();
    };
    let ((code, _), ()) = tokio::join!(long, short);
    assert_ne!(code, Some(0));
    let left = names(&proj);
    assert!(left.contains(&".claude".to_owned()), "{left:?}");
    assert!(![".envrc", ".npmrc", ".github"].iter().any(|name| left.iter().any(|left| left == name)), "{left:?}");
}
