//! P13: a folder is swapped with a link that leads out, as fast as the machine can, while everything a backend does is
//! done through it. Half a second by default, ten with `BOSUN_LONG=1`. Not one byte from outside may be seen and not
//! one outside may change.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests make their own files and fail by panicking")]

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bosun_backend::{
    Backend, BackendError, Delete, ExecRequest, Expect, FilesystemBackend, FilesystemOptions, GlobQuery, GrepQuery,
    LocalExecutorOptions, OutputSink, ReadContent, ReadWindow, Replacement, SandboxBackend, Unwitnessed, VirtualPath,
    bubblewrap, local_process,
};
use bosun_testkit::missing;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use tokio_util::sync::CancellationToken;

const SECRET: &str = "secret from outside";

fn path(text: &str) -> VirtualPath {
    VirtualPath::parse(text).unwrap()
}

type Open = fn(&Path, FilesystemOptions) -> Result<FilesystemBackend, BackendError>;

/// `proj/dir` (inside) and `proj/swap`, which trades places with `dir` and leads to `out`.
fn arena(top: &Path, open: Open) -> FilesystemBackend {
    let project = top.join("proj");
    fs::create_dir_all(project.join("dir/sub")).unwrap();
    fs::create_dir_all(top.join("out/sub")).unwrap();
    for name in ["f.txt", "sub/f.txt"] {
        fs::write(project.join("dir").join(name), "inside\n").unwrap();
        fs::write(top.join("out").join(name), SECRET).unwrap();
    }
    fs::write(top.join("out/only-outside.txt"), SECRET).unwrap();
    std::os::unix::fs::symlink("../out", project.join("swap")).unwrap();
    open(&project, FilesystemOptions::default()).unwrap()
}

/// Everything below a folder with its mode, and what is in files.
fn shape(folder: &Path) -> Vec<(PathBuf, u32, Vec<u8>)> {
    let mut found = vec![(folder.to_owned(), fs::metadata(folder).unwrap().mode(), Vec::new())];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(shape(&path));
        } else {
            let mode = fs::symlink_metadata(&path).unwrap().mode();
            found.push((path.clone(), mode, fs::read(&path).unwrap_or_default()));
        }
    }
    found.sort();
    found
}

/// What comes of `work`, while each of `others` is done again and again in a thread of its own.
fn beside<T: Send>(others: impl IntoIterator<Item = impl FnMut() + Send>, work: impl AsyncFnOnce() -> T + Send) -> T {
    let (handle, stopped) = (tokio::runtime::Handle::current(), AtomicBool::new(false));
    let ended = std::thread::scope(|scope| {
        for mut other in others {
            let stopped = &stopped;
            scope.spawn(move || {
                while !stopped.load(Ordering::Relaxed) {
                    other();
                }
            });
        }
        let ended = scope.spawn(move || handle.block_on(work())).join();
        stopped.store(true, Ordering::Relaxed);
        ended
    });
    ended.unwrap()
}

/// Does `once` for as long as a race takes: how often it got through in all. A busy machine gets the time that it needs for
/// the way to be open once.
async fn over_and_over(once: impl AsyncFn() -> usize) -> usize {
    let time = Duration::from_millis(if std::env::var_os("BOSUN_LONG").is_some() { 10_000 } else { 500 });
    let (begun, mut through) = (Instant::now(), 0);
    while begun.elapsed() < time || (through == 0 && begun.elapsed() < Duration::from_secs(45)) {
        through += once().await;
    }
    through
}

/// Returns how many reads got through.
async fn reads(backend: &FilesystemBackend) -> usize {
    let mut through = 0;
    let window = ReadWindow { offset: 0, limit: 10 };
    for name in ["/dir/f.txt", "/dir/sub/f.txt", "/dir/only-outside.txt"] {
        if let Ok(read) = backend.read(&path(name), window).await {
            let ReadContent::Text(page) = read.content else { panic!("{name}") };
            assert!(!page.lines.concat().contains(SECRET), "read {name}");
            through += 1;
        }
        if let Some(Ok(bytes)) = backend.download(vec![path(name)]).await.pop() {
            assert!(!String::from_utf8(bytes).unwrap().contains(SECRET), "download {name}");
        }
    }
    let listed = backend.ls(&path("/dir")).await.unwrap_or_default();
    assert!(listed.iter().all(|row| row.path.name() != Some("only-outside.txt")), "ls");
    through
}

async fn searches(backend: &FilesystemBackend) {
    for start in ["/", "/dir", "/dir/sub"] {
        let query = GlobQuery {
            pattern: "*.txt".into(),
            path: path(start),
            include_ignored: true,
            cancel: CancellationToken::new(),
        };
        let found = backend.glob(query).await.map(|found| found.paths).unwrap_or_default();
        assert!(found.iter().all(|path| path.name() != Some("only-outside.txt")), "glob {start}");
        let query = GrepQuery { path: path(start), include_ignored: true, ..GrepQuery::literal("e", 100) };
        let found = backend.grep(query).await.map(|found| found.matches).unwrap_or_default();
        assert!(found.iter().all(|row| !row.text.contains(SECRET)), "grep {start}");
    }
}

async fn changes(backend: &(impl Backend + Delete)) {
    let write = |name| async move {
        let done = backend.write(&path(name), b"inside\n".to_vec(), Expect::Anything, &Unwitnessed).await;
        expected(done.map(|_| ()));
    };
    write("/dir/f.txt").await;
    write("/dir/sub/f.txt").await;
    write("/dir/new/deep/f.txt").await;
    let replacement = Replacement { old: "e", new: "3", all: true };
    expected(backend.edit(&path("/dir/f.txt"), replacement, Expect::Anything, &Unwitnessed).await.map(|_| ()));
    expected(backend.delete(&path("/dir/new"), Expect::Anything, &Unwitnessed).await.map(|_| ()));
}

/// Any refusal will do, so long as it is about the path.
fn expected(result: Result<(), BackendError>) {
    if let Err(error) = result {
        assert!(!matches!(error, BackendError::RootGone), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_racing_link_never_leads_out() {
    race(FilesystemBackend::open);
}

/// The same where every folder on the way is opened by itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_racing_link_never_leads_out_step_by_step() {
    race(FilesystemBackend::open_stepwise);
}

fn race(open: Open) {
    let top = tempfile::tempdir().unwrap();
    let backend = arena(top.path(), open);
    let outside = shape(&top.path().join("out"));
    let (dir, swap) = (top.path().join("proj/dir"), top.path().join("proj/swap"));
    let swapping = || renameat_with(CWD, &dir, CWD, &swap, RenameFlags::EXCHANGE).unwrap();
    let once = async || {
        let through = reads(&backend).await;
        searches(&backend).await;
        changes(&backend).await;
        through
    };
    let through = beside([swapping], async || over_and_over(once).await);
    assert!(through > 0, "the way in was never open");
    assert_eq!(shape(&top.path().join("out")), outside);
}

struct Unseen;

impl OutputSink for Unseen {
    fn output(&self, _bytes: &[u8]) {}
}

/// The same behind an executor, whose scripts have no handles: a folder and a file are links for moments, between any two
/// steps of a script.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_racing_link_leads_no_change_of_another_place_out() {
    let top = tempfile::tempdir().unwrap();
    let (project, out) = (top.path().join("proj"), top.path().join("out"));
    arena(top.path(), FilesystemBackend::open);
    fs::write(project.join("own.txt"), "inside\n").unwrap();
    symlink("../out/f.txt", project.join("own-link")).unwrap();
    let executor = local_process(&project, LocalExecutorOptions::default()).unwrap();
    let backend = SandboxBackend::open(executor).await;
    let before = shape(&out);
    let swapping = [("dir", "swap"), ("own.txt", "own-link")].map(|(inside, link)| {
        let (inside, link) = (project.join(inside), project.join(link));
        let mut round = 0;
        move || {
            round += 1;
            // For as long as a script takes for a step, and for as long as it takes for all.
            for (step, most) in [(137, 3_000), (1_931, 30_000)] {
                renameat_with(CWD, &inside, CWD, &link, RenameFlags::EXCHANGE).unwrap();
                std::thread::sleep(Duration::from_micros(round * step % most));
            }
        }
    });
    let once = async || {
        let own = path("/own.txt");
        let written = backend.write(&own, b"inside\n".to_vec(), Expect::Anything, &Unwitnessed).await;
        let replacement = Replacement { old: "in", new: "out", all: true };
        expected(backend.edit(&own, replacement, Expect::Anything, &Unwitnessed).await.map(|_| ()));
        changes(&backend).await;
        usize::from(written.is_ok())
    };
    let through = beside(swapping, async || over_and_over(once).await);
    assert!(through > 0, "the way in was never open");
    assert_eq!(shape(&out), before);
}

/// Security.md, section 9: what is held for a command is looked for, made and mounted while others put links in its way,
/// as a command that runs beside it can. `lead` is where they lead to for the one who follows them.
async fn commands_beside_a_racing_link(lead: impl Fn(&Path) -> PathBuf) {
    let top = tempfile::tempdir().unwrap();
    let (project, out) = (top.path().join("proj"), top.path().join("out"));
    // What leads to `out` has repositories that lack what is to be held, so that something would be made there.
    for folder in ["a", "b/.git", "c/.git/hooks"] {
        fs::create_dir_all(out.join(folder).join(".git/modules/m/HEAD")).unwrap();
        fs::write(out.join(folder).join("f.txt"), SECRET).unwrap();
    }
    let swapped = ["a", "b/.git", "c/.git/hooks"].map(|folder| {
        let (inside, link) = (project.join(folder), project.join(format!("to-{}", &folder[..1])));
        fs::create_dir_all(inside.join(".git/modules/m/HEAD")).unwrap();
        fs::write(inside.join("f.txt"), "inside\n").unwrap();
        symlink(lead(&out.join(folder)), &link).unwrap();
        (inside, link)
    });
    let Ok(executor) = bubblewrap(&project, LocalExecutorOptions::default()).await else {
        missing::<()>("a sandbox", "apt-get install bubblewrap");
        return;
    };
    let backend = SandboxBackend::open(executor).await;
    let before = shape(&out);
    let command = "for at in a b/.git c/.git/hooks; do cat $at/f.txt; echo x > $at/f.txt; echo x > $at/new; done";
    let request = || ExecRequest::new(command);
    let once = async || match backend.shell().unwrap().execute(request(), &Unseen).await {
        Ok(ran) => {
            assert!(!ran.output.contains(SECRET), "{}", ran.output);
            1
        }
        // Where a mount has moved while bubblewrap went over them it gives up, and nothing runs.
        Err(BackendError::GuardIsLink { .. } | BackendError::Spawn { .. } | BackendError::Unreachable { .. }) => 0,
        Err(error) => panic!("{error}"),
    };
    let swapping = swapped.each_ref().map(|(inside, link)| {
        move || {
            // What a command holds stays in its place until it ends.
            renameat_with(CWD, inside, CWD, link, RenameFlags::EXCHANGE).ok();
            std::thread::yield_now();
        }
    });
    let (one, other) = beside(swapping, async || tokio::join!(over_and_over(&once), over_and_over(&once)));
    assert!(one + other > 0, "no command ever ran");
    assert_eq!(shape(&out), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_racing_link_leads_no_command_out() {
    commands_beside_a_racing_link(Path::to_owned).await;
}

/// The same for the one who mounts: it has this machine's files at a place of its own while it does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_racing_link_leads_no_mount_out() {
    commands_beside_a_racing_link(|out| Path::new("/oldroot").join(out.strip_prefix("/").unwrap())).await;
}
