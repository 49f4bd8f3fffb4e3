//! O01 to O03, P24, P25, P23: more than anybody wants, from real commands, folders and files. The small form by default;
//! with `BOSUN_LONG=1` 10 GB of output, a million entries, a file of 10 GB. What is held stays small in both.
use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bosun_backend::{
    Backend, BackendError, BoxFuture, Cut, ExecRequest, ExecResult, Executor, Expect, FilesystemBackend,
    FilesystemOptions, Finished, GlobQuery, GrepMatch, GrepQuery, Listed, LocalExecutorOptions, LocalShellBackend,
    LocalShellOptions, OnDrop, OutputSink, ReadContent, ReadWindow, SandboxBackend, Script, StoreBackend, StoreScope,
    Truncation, Unwitnessed, VirtualPath, grep_kept, local_process,
};
use tokio_util::sync::CancellationToken;

use crate::places;

struct Silent;

impl OutputSink for Silent {
    fn output(&self, _bytes: &[u8]) {}
}

fn is_long() -> bool {
    std::env::var_os("BOSUN_LONG").is_some()
}

fn path(text: &str) -> VirtualPath {
    VirtualPath::parse(text).unwrap()
}

/// Bytes of the most memory this process had since it was last asked.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    fs::write("/proc/self/clear_refs", "5").unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// Most that a flood may cost: behind `security.md` O01.
const MOST: u64 = 32 * 1024 * 1024;

fn grep(pattern: &str) -> GrepQuery {
    GrepQuery::literal(pattern, 100)
}

fn glob(pattern: &str) -> GlobQuery {
    GlobQuery {
        pattern: pattern.into(),
        path: VirtualPath::root(),
        include_ignored: false,
        cancel: CancellationToken::new(),
    }
}

async fn ran(backend: &dyn Backend, command: &str) -> ExecResult {
    let (timeout, cancel) = (Some(Duration::from_secs(3_500)), CancellationToken::new());
    let request = ExecRequest { timeout, cancel, ..ExecRequest::new(command) };
    backend.shell().unwrap().execute(request, &Silent).await.unwrap()
}

/// All of it is read, so that nothing blocks; both ends are shown, a part is kept, the size is told.
async fn floods(backend: &dyn Backend, megabytes: u64) {
    let part = |stream: &str, share: u64| format!("yes 'a line' | head -c {}{stream}", megabytes / share * 1024 * 1024);
    ran(backend, "true").await;
    for (name, command, marks) in [
        ("O01", part("", 1), 0),
        ("O02", part(" >&2", 1), megabytes / 8),
        ("O03", format!("{} & {}; wait", part("", 2), part(" >&2", 2)), 0),
    ] {
        let before = peak();
        let result = ran(backend, &format!("echo first; {command}; echo last")).await;
        let grown = peak().saturating_sub(before);
        assert_eq!((result.exit_code, result.truncated), (Some(0), true), "{name}");
        assert!(result.total_bytes >= megabytes * 1024 * 1024, "{name}: {}", result.total_bytes);
        assert!(result.output.len() < 120_000 && result.output.contains("bytes left out here"), "{name}");
        assert!(result.output.starts_with("first\n") || result.output.starts_with("[stderr] "), "{name}");
        assert!(name != "O01" || result.output.ends_with("last\n"), "{name}");
        assert!(result.full_output.unwrap().len() <= 64 * 1024 * 1024 + marks, "{name}");
        assert!(grown <= MOST, "{name}: {grown} bytes more");
        eprintln!("{name}: {megabytes} MB of output, {} KiB more memory", grown / 1024);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_gigabytes_of_a_commands_output_cost_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let backend = LocalShellBackend::open(folder.path(), LocalShellOptions::default()).unwrap();
    floods(&backend, if is_long() { 10 * 1024 } else { 48 }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_from_another_machine_costs_no_memory() {
    let Some(machine) = places::machine() else { return };
    floods(&machine.backend().await, if is_long() { 2 * 1024 } else { 48 }).await;
}

/// What a script of ours is told over there comes to an end here: of an answer without end so much is taken as is asked
/// for, the one who speaks is ended, and of complaints only the beginning is kept.
async fn endless_answers(executor: &dyn Executor) {
    const TAKEN: usize = 8 << 20;
    let megabytes = if is_long() { 10 * 1024 } else { 64 };
    let script = |text: &'static str| Script {
        text,
        args: vec![(megabytes * 1024 * 1024_u64).to_string()],
        input: Vec::new(),
        limit: TAKEN,
        time: Duration::from_secs(3_500),
        cancel: CancellationToken::new(),
        on_drop: OnDrop::End,
    };
    executor.run(script("true")).await.unwrap();
    let before = peak();
    let listing = executor.run(script("yes 'one more name of a folder without end'")).await.unwrap();
    assert_eq!((listing.output.len(), listing.cut), (TAKEN, Some(Cut::Size)));
    drop(listing);
    let listed = peak().saturating_sub(before);
    let complaint = executor.run(script("yes 'no such thing' | head -c \"$2\" >&2; echo after")).await.unwrap();
    assert_eq!((complaint.output.as_slice(), complaint.cut, complaint.code), (&b"after\n"[..], None, Some(0)));
    assert!(complaint.complaint.len() <= 64 * 1024, "{}", complaint.complaint.len());
    let complained = peak().saturating_sub(before);
    eprintln!("endless answers: {listed} bytes more, {megabytes} MB of complaints: {complained}");
    assert!(listed <= TAKEN as u64 * 2 + MOST && complained <= TAKEN as u64 * 2 + MOST, "{listed} {complained}");
}

/// O01, O02, P24 for an executor's answers: a listing, a search, a file that grows faster than it is taken.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_without_end_are_cut_and_cost_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    endless_answers(&*local_process(folder.path(), LocalExecutorOptions::default()).unwrap()).await;
    let Some(machine) = places::machine() else { return };
    endless_answers(&*machine.executor()).await;
}

/// An executor that takes far less than usual, so that small places overflow it.
struct Narrow(Arc<dyn Executor>, usize);

impl Executor for Narrow {
    fn root(&self) -> &str {
        self.0.root()
    }

    fn run<'a>(&'a self, mut script: Script<'a>) -> BoxFuture<'a, Result<Finished, BackendError>> {
        script.limit = script.limit.min(self.1);
        self.0.run(script)
    }

    fn execute<'a>(
        &'a self,
        request: ExecRequest,
        sink: &'a dyn OutputSink,
    ) -> BoxFuture<'a, Result<ExecResult, BackendError>> {
        self.0.execute(request, sink)
    }

    fn default_timeout(&self) -> Duration {
        self.0.default_timeout()
    }

    fn sandbox(&self) -> Option<&str> {
        self.0.sandbox()
    }
}

/// What another machine has more of than is taken: searches give a part and say so, everything else is refused by name.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn endless_listings_and_files_of_another_machine_are_cut_and_said() {
    let folder = tempfile::tempdir().unwrap();
    are_cut_and_said(local_process(folder.path(), LocalExecutorOptions::default()).unwrap()).await;
    let Some(machine) = places::machine() else { return };
    are_cut_and_said(machine.executor()).await;
}

async fn are_cut_and_said(executor: Arc<dyn Executor>) {
    let wide = SandboxBackend::open(Arc::clone(&executor)).await;
    let many = "mkdir folder; for i in $(seq 200); do echo needle > folder/$(printf '%0100d' $i).txt; done";
    assert_eq!(ran(&wide, many).await.exit_code, Some(0));
    wide.upload(vec![(path("/large.txt"), vec![b'x'; 100_000])]).await.remove(0).unwrap();
    let narrow = SandboxBackend::open(Arc::new(Narrow(executor, 8_000))).await;
    let found = narrow.glob(glob("*.txt")).await.unwrap();
    assert!(found.truncated.is_some() && (1..200).contains(&found.paths.len()), "{:?}", found.paths.len());
    let found = narrow.grep(grep("needle")).await.unwrap();
    assert!(found.truncated.is_some() && found.matches.len() < 200, "{:?}", found.matches.len());
    let listed = narrow.ls(&path("/folder")).await.unwrap();
    assert!(listed.cut && (1..200).contains(&listed.len()), "{}", listed.len());
    assert!(listed.iter().all(|row| row.size == Some(7) && row.path.name().unwrap().len() == 104), "each came whole");
    assert!(!wide.ls(&path("/folder")).await.unwrap().cut);
    let refused = narrow.read(&path("/large.txt"), ReadWindow { offset: 0, limit: 1 }).await.unwrap_err();
    assert!(refused.to_string().contains("/large.txt"), "{refused}");
    // The real bounds: a file over the limit in either direction, found out before it travels.
    let over = 64 * 1024 * 1024 + 1;
    let refused = wide.upload(vec![(path("/new.bin"), vec![0; over])]).await.remove(0).unwrap_err();
    assert!(matches!(refused, BackendError::TooLarge { .. }), "{refused}");
    ran(
        &wide,
        &format!("truncate -s {over} huge.bin 2>/dev/null || dd if=/dev/zero of=huge.bin bs=1 count=0 seek={over}"),
    )
    .await;
    let before = peak();
    let refused = wide.download(vec![path("/huge.bin")]).await.remove(0).unwrap_err();
    assert!(matches!(refused, BackendError::TooLarge { size, .. } if size == over as u64), "{refused}");
    assert!(peak().saturating_sub(before) <= MOST);
}

/// An executor that comes to its time while it follows links, and remembers how much it was given.
struct Lost(Arc<dyn Executor>, Arc<Mutex<Vec<(Duration, CancellationToken)>>>);

impl Executor for Lost {
    fn root(&self) -> &str {
        self.0.root()
    }

    fn run<'a>(&'a self, script: Script<'a>) -> BoxFuture<'a, Result<Finished, BackendError>> {
        if !script.text.contains("# What links lead to") {
            return self.0.run(script);
        }
        self.1.lock().unwrap().push((script.time, script.cancel));
        let finished =
            Finished { code: None, output: b"81a4 7 0 1\n\0".to_vec(), complaint: String::new(), cut: Some(Cut::Time) };
        Box::pin(async move { Ok(finished) })
    }

    fn execute<'a>(
        &'a self,
        request: ExecRequest,
        sink: &'a dyn OutputSink,
    ) -> BoxFuture<'a, Result<ExecResult, BackendError>> {
        self.0.execute(request, sink)
    }

    fn default_timeout(&self) -> Duration {
        self.0.default_timeout()
    }

    fn sandbox(&self) -> Option<&str> {
        self.0.sandbox()
    }
}

/// Where links lead is part of a search: it has the search's time, ends with it, and what was found stays.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_that_ends_among_links_gives_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.txt", "z.txt"] {
        fs::write(folder.path().join(name), "needle\n").unwrap();
        std::os::unix::fs::symlink(name, folder.path().join(format!("l-{name}"))).unwrap();
    }
    let given = Arc::default();
    let executor = local_process(folder.path(), LocalExecutorOptions::default()).unwrap();
    let backend = SandboxBackend::open(Arc::new(Lost(executor, Arc::clone(&given)))).await;
    let cancel = CancellationToken::new();
    let found = backend.glob(GlobQuery { cancel: cancel.clone(), ..glob("*.txt") }).await.unwrap();
    let names = ["/a.txt", "/l-a.txt", "/z.txt"].map(path).to_vec();
    assert_eq!((found.paths, found.truncated), (names, Some(Truncation::Budget)));
    let found = backend.grep(GrepQuery { cancel: cancel.clone(), ..grep("needle") }).await.unwrap();
    assert_eq!((found.matches.len(), found.truncated), (3, Some(Truncation::Budget)));
    let given = std::mem::take(&mut *given.lock().unwrap());
    assert_eq!(given.len(), 2);
    assert!(given.iter().all(|(time, _)| *time <= Duration::from_secs(15)), "{given:?}");
    cancel.cancel();
    assert!(given.iter().all(|(_, token)| token.is_cancelled()));
}

/// P24: 1,000,000 entries with `BOSUN_LONG=1`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_with_very_many_entries_is_listed_and_searched_in_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let entries = if is_long() { 1_000_000 } else { 20_000 };
    fs::create_dir(folder.path().join("many")).unwrap();
    for at in 0..entries {
        rustix::fs::open(
            folder.path().join(format!("many/f{at:07}")),
            rustix::fs::OFlags::CREATE | rustix::fs::OFlags::WRONLY,
            rustix::fs::Mode::from_raw_mode(0o644),
        )
        .unwrap();
    }
    let backend = FilesystemBackend::open(folder.path(), FilesystemOptions::default()).unwrap();
    let before = peak();
    let listed = backend.ls(&path("/many")).await.unwrap();
    assert_eq!((listed.len(), listed[0].path.as_str()), (entries.min(100_000), "/many/f0000000"));
    assert_eq!(listed.cut, entries > 100_000);
    let over_there = places::here(folder.path()).await.ls(&path("/many")).await.unwrap();
    let names = |listed: &Listed| listed.iter().map(|row| row.path.clone()).collect::<Vec<_>>();
    assert_eq!((names(&over_there), over_there.cut), (names(&listed), listed.cut));
    drop((listed, over_there));
    peak();
    drop(backend.ls(&path("/many")).await.unwrap());
    let listing = peak().saturating_sub(before);
    let found = backend.glob(glob("f*1")).await.unwrap();
    assert!(
        found.truncated.is_some() || found.paths.len() == entries / 10,
        "{} {:?}",
        found.paths.len(),
        found.truncated
    );
    let named = peak().saturating_sub(before);
    let found = backend.grep(grep("nothing here")).await.unwrap();
    assert!(found.matches.is_empty());
    let searched = peak().saturating_sub(before);
    eprintln!("{entries} entries: {listing}, {named}, {searched} bytes more for ls, glob, grep");
    // The names themselves are what it costs, and nothing of the files.
    let most = MOST + entries as u64 * 300;
    assert!(listing <= MOST * 2 && named <= most && searched <= most, "{listing} {named} {searched}");
}

/// P24 for what is kept in the database: a listing holds names, never what is in the files.
/// Long lines, of which a rule leaves all out that come first: a search holds no more of them than of any others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_that_a_rule_leaves_out_cost_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("denied")).unwrap();
    let text = format!("needle{}\n", "x".repeat(1_900)).repeat(2_000);
    for number in 0..40 {
        fs::write(folder.path().join(format!("denied/{number}")), &text).unwrap();
    }
    drop(text);
    fs::write(folder.path().join("file"), "needle\n").unwrap();
    let backend = FilesystemBackend::open(folder.path(), FilesystemOptions::default()).unwrap();
    let all = GrepQuery { max_count: 1_000_000, ..grep("needle") };
    for query in [grep("needle"), all] {
        let before = peak();
        let kept = |found: &mut GrepMatch| !found.path.starts_with(&path("/denied"));
        let found = grep_kept(&backend, query.clone(), kept).await.unwrap();
        let grown = peak().saturating_sub(before);
        assert_eq!(
            (found.matches.len(), found.truncated),
            (0, Some(Truncation::Count)),
            "it is said that there is more"
        );
        assert!(grown <= 2 * MOST, "{grown} bytes more");
        drop(found);
        let found = backend.grep(query).await.unwrap();
        assert_eq!(found.truncated, Some(Truncation::Count));
        assert!(peak().saturating_sub(before) <= 2 * MOST, "{} bytes more", peak() - before);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_of_the_store_is_listed_without_what_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    let values = crate::values(&bosun_store::Database::open(folder.path()).unwrap());
    let space = StoreScope::User.namespace("flood").unwrap();
    let files = if is_long() { 4_000 } else { 1_000 };
    for at in 0..files {
        let value = serde_json::json!({"content": " ".repeat(64 * 1024), "encoding": "utf-8"});
        values.put(&space, &format!("/many/deep/f{at:05}"), value).await.unwrap();
    }
    let backend = StoreBackend::new(values, space);
    let before = peak();
    for (name, rows) in [("/", 1), ("/many", 1), ("/many/deep", files)] {
        assert_eq!(backend.ls(&path(name)).await.unwrap().len(), rows, "{name}");
    }
    assert_eq!(backend.stat(&path("/many/deep/f00000")).await.unwrap().size, Some(64 * 1024));
    let listed = peak().saturating_sub(before);
    let gone = backend.deleter().unwrap().delete(&path("/many"), Expect::Anything, &Unwitnessed).await.unwrap();
    assert_eq!(gone.len(), files);
    let deleted = peak().saturating_sub(before);
    eprintln!("{files} files of 64 KiB: {listed} bytes more for listings, {deleted} with the delete");
    assert!(listed <= MOST && deleted <= 2 * MOST, "{listed} {deleted}");
}

/// P25, O10: 10 GB and a line of 1 GB with `BOSUN_LONG=1`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn very_large_files_cost_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let (size, line) = if is_long() { (10 << 30, 1 << 30) } else { (256 << 20, 64 << 20) };
    // Holes: nothing of them is on disk, and they are read as NUL bytes.
    fs::File::create(folder.path().join("zeros.bin")).unwrap().set_len(size).unwrap();
    fs::write(folder.path().join("a-line.txt"), vec![b'x'; 1 << 20].repeat((line >> 20) as usize)).unwrap();
    fs::write(folder.path().join("small.txt"), "needle\n").unwrap();
    let backend = FilesystemBackend::open(folder.path(), FilesystemOptions::default()).unwrap();
    peak();
    let before = peak();
    let found = backend.grep(grep("needle")).await.unwrap();
    assert_eq!(found.matches.iter().map(|row| row.path.as_str()).collect::<Vec<_>>(), ["/small.txt"]);
    assert_eq!(found.truncated, Some(Truncation::Unreadable), "the line is named as not searched");
    let refused = backend.read(&path("/zeros.bin"), ReadWindow { offset: 0, limit: 10 }).await;
    let refused = refused.unwrap_err();
    assert!(matches!(refused, BackendError::NotText { .. }) && refused.to_string().contains("binary"), "{refused}");
    let page = backend.read(&path("/a-line.txt"), ReadWindow { offset: 0, limit: 10 }).await.unwrap();
    let ReadContent::Text(page) = page.content else { panic!() };
    assert!(page.cut && page.lines[0].len() < 8 << 20);
    drop(page);
    for offset in [2, u64::MAX, i64::MAX as u64] {
        let past = backend.read(&path("/small.txt"), ReadWindow { offset, limit: 10 }).await.unwrap_err();
        assert!(past.to_string().contains("/small.txt"), "{past}");
    }
    let none = backend.read(&path("/small.txt"), ReadWindow { offset: 0, limit: 0 }).await;
    assert!(none.is_ok(), "{none:?}");
    let grown = peak().saturating_sub(before);
    assert!(grown <= 2 * MOST, "{grown} bytes more");
    eprintln!("{size} bytes and a line of {line}: {grown} bytes more");
}

/// P23: patterns that are made to be slow come to an end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn patterns_that_are_made_to_be_slow_end() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("a/".repeat(60));
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("b"), "a".repeat(50_000)).unwrap();
    let backend = FilesystemBackend::open(folder.path(), FilesystemOptions::default()).unwrap();
    let begun = std::time::Instant::now();
    let found = backend.glob(glob("**/".repeat(50).trim_end_matches('/'))).await;
    assert!(found.is_ok_and(|found| found.paths.len() <= 1));
    let refused = backend.glob(glob(&"{a,b}".repeat(30))).await.unwrap_err();
    assert!(refused.to_string().contains("1000") || refused.to_string().contains("1,000"), "{refused}");
    for pattern in ["(a+)+$x", "((a*)*)*b$", "(a|aa)+$x", "(.*a){20}x"] {
        let query = GrepQuery { regex: true, ..grep(pattern) };
        assert!(backend.grep(query).await.is_ok_and(|found| found.matches.is_empty()), "{pattern}");
    }
    // A long text that nearly matches everywhere, in a file that is searched in one piece and in one that is not.
    fs::write(folder.path().join("near"), "a".repeat(131_071)).unwrap();
    fs::write(folder.path().join("far"), "a".repeat(400_000)).unwrap();
    let long = backend.grep(grep(&"a".repeat(60_000))).await.unwrap();
    assert_eq!(long.matches.iter().map(|row| row.path.as_str()).collect::<Vec<_>>(), ["/far", "/near"]);
    let none = backend.grep(grep(&format!("{}b", "a".repeat(60_000)))).await.unwrap();
    assert_eq!((none.matches.len(), none.truncated), (0, None));
    let vast = GrepQuery { regex: true, ..grep("((a{1000}){1000}){1000}") };
    let refused = backend.grep(vast).await.unwrap_err();
    assert!(!refused.to_string().is_empty());
    // Only something without end takes this long.
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

/// Whatever is no file is refused by name at once, never waited for: through every way in.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pipes_sockets_and_devices_are_refused_and_never_waited_for() {
    use bosun_backend::{Delete as _, Expect, Replacement, Unwitnessed};
    let top = tempfile::tempdir().unwrap();
    let folder = top.path();
    places::ran("mkfifo", &[folder.join("pipe").to_str().unwrap()]);
    let _socket = std::os::unix::net::UnixListener::bind(folder.join("socket")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", folder.join("zero")).unwrap();
    std::os::unix::fs::symlink("pipe", folder.join("to-pipe")).unwrap();
    let device = places::ran_if("mknod", &[folder.join("device").to_str().unwrap(), "c", "1", "5"]);
    fs::write(folder.join("text.txt"), "needle\n").unwrap();
    fs::write(folder.join("latin.txt"), b"caf\xe9\nneedle\n").unwrap();
    let backend = FilesystemBackend::open(folder, FilesystemOptions::default()).unwrap();
    let mut names = vec!["/pipe", "/socket", "/zero", "/to-pipe"];
    names.extend(device.then_some("/device"));
    let all = async {
        for name in names {
            let at = path(name);
            let typed = |error: BackendError| {
                let known = matches!(error, BackendError::NotRegular { .. } | BackendError::OutsideRoot { .. });
                assert!(known && error.to_string().contains(name), "{name}: {error}");
            };
            typed(backend.read(&at, ReadWindow { offset: 0, limit: 1 }).await.unwrap_err());
            typed(backend.download(vec![at.clone()]).await.remove(0).unwrap_err());
            typed(backend.write(&at, b"x".to_vec(), Expect::Anything, &Unwitnessed).await.unwrap_err());
            let replacement = Replacement { old: "a", new: "b", all: false };
            typed(backend.edit(&at, replacement, Expect::Anything, &Unwitnessed).await.unwrap_err());
        }
        let found = backend.grep(grep("needle")).await.unwrap();
        assert_eq!(found.matches.iter().map(|row| row.path.as_str()).collect::<Vec<_>>(), ["/latin.txt", "/text.txt"]);
        assert!(backend.delete(&path("/pipe"), Expect::Anything, &Unwitnessed).await.is_ok(), "it can be taken away");
    };
    tokio::time::timeout(Duration::from_secs(60), all).await.expect("nothing waits for a pipe");
    let invalid = backend.read(&path("/latin.txt"), ReadWindow { offset: 0, limit: 1 }).await.unwrap_err();
    assert!(matches!(invalid, BackendError::NotText { .. }), "{invalid}");
    let replacement = Replacement { old: "needle", new: "pin", all: false };
    let invalid = backend.edit(&path("/latin.txt"), replacement, Expect::Anything, &Unwitnessed).await.unwrap_err();
    assert!(matches!(invalid, BackendError::NotText { .. }), "{invalid}");
    assert_eq!(fs::read(folder.join("latin.txt")).unwrap(), b"caf\xe9\nneedle\n");
}

/// F03: 100 writers with 100 edits each on 10 files with `BOSUN_LONG=1`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_very_many_edits_of_a_few_files_every_one_that_is_done_is_there() {
    use bosun_backend::{Expect, Replacement, Unwitnessed};
    let folder = tempfile::tempdir().unwrap();
    let (writers, rounds) = if is_long() { (100, 100) } else { (20, 5) };
    for file in 0..10 {
        fs::write(folder.path().join(format!("{file}.txt")), "start\n").unwrap();
    }
    let backend = &FilesystemBackend::open(folder.path(), FilesystemOptions::default()).unwrap();
    let writer = |writer: usize| async move {
        let (mut done, mut refused) = (Vec::new(), 0);
        for round in 0..rounds {
            let file = path(&format!("/{}.txt", (writer + round) % 10));
            let seen = backend.read(&file, ReadWindow { offset: 0, limit: 1 }).await.unwrap().stamp;
            let line = format!("{writer}.{round}\n");
            let new = format!("start\n{line}");
            let replacement = Replacement { old: "start\n", new: &new, all: false };
            match backend.edit(&file, replacement, Expect::Unchanged(seen), &Unwitnessed).await {
                Ok(_) => done.push(line),
                Err(BackendError::Changed { .. }) => refused += 1,
                Err(error) => panic!("{error}"),
            }
        }
        (done, refused)
    };
    let ended = futures_util::future::join_all((0..writers).map(writer)).await;
    let refused: usize = ended.iter().map(|(_, refused)| refused).sum();
    let mut done: Vec<String> = ended.into_iter().flat_map(|(done, _)| done).collect();
    assert_eq!(done.len() + refused, writers * rounds, "none is silent");
    let texts = (0..10).map(|file| fs::read_to_string(folder.path().join(format!("{file}.txt"))).unwrap());
    let mut there: Vec<String> =
        texts.flat_map(|text| text.split_inclusive('\n').map(str::to_owned).collect::<Vec<_>>()).collect();
    there.retain(|line| line != "start\n");
    there.sort();
    done.sort();
    assert_eq!(there, done);
    eprintln!("{} edits done, {refused} refused", done.len());
}
