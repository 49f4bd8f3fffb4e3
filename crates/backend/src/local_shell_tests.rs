use std::path::Path;
use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;
use tokio_util::sync::CancellationToken;

use super::*;

struct Silent;

impl OutputSink for Silent {
    fn output(&self, _bytes: &[u8]) {}
}

fn backend() -> (tempfile::TempDir, LocalShellBackend) {
    let folder = tempfile::tempdir().unwrap();
    let backend = LocalShellBackend::open(folder.path(), LocalShellOptions::default()).unwrap();
    (folder, backend)
}

fn request(command: impl Into<String>) -> ExecRequest {
    ExecRequest { timeout: Some(Duration::from_secs(60)), ..ExecRequest::new(command) }
}

async fn run(backend: &LocalShellBackend, command: impl Into<String>) -> ExecResult {
    backend.execute(request(command), &Silent).await.unwrap()
}

/// Processes that have `token` among their arguments: every test gives its own.
fn living(token: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(arguments) = std::fs::read(entry.path().join("cmdline")) else { continue };
        let text = String::from_utf8_lossy(&arguments).replace('\0', " ");
        let is_test = text.contains("bosun_backend") || text.contains("nextest");
        if text.contains(token) && !is_test {
            found.push(text);
        }
    }
    found
}

/// Waits for something that another process does.
async fn until(mut done: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while !done() {
        if begun.elapsed() > Duration::from_secs(20) {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    true
}

/// A number of seconds to sleep that no other process of this machine sleeps.
fn token() -> String {
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let next = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    format!("86{:07}.{next}", std::process::id())
}

#[tokio::test]
async fn output_and_exit_code() {
    let (_folder, backend) = backend();
    let result = run(&backend, "echo hello; echo oops >&2; exit 3").await;
    assert_eq!(result.output, "hello\n[stderr] oops\n");
    assert_eq!((result.exit_code, result.signal, result.timed_out, result.truncated), (Some(3), None, false, false));
    assert_eq!((backend.sandbox(), backend.default_timeout()), (None, Duration::from_secs(120)));
}

/// X17: every way in which a process can leave its command behind.
fn ways_to_stay(token: &str) -> Vec<String> {
    let dash = format!("exec sleep {token}");
    vec![
        format!("sleep {token} &"),
        format!("nohup sleep {token} >/dev/null 2>&1 &"),
        format!("setsid sleep {token} &"),
        format!("(setsid sh -c '(sleep {token} &) &' >/dev/null 2>&1 &)"),
        format!("env -i setsid -f sleep {token} </dev/null >/dev/null 2>&1"),
        format!(
            "trap '' TERM INT HUP; sleep {token} & trap '' TERM; (trap '' TERM; while :; do sleep {token}; done) &"
        ),
        format!("env -i setsid -f sh -c 'cd /; trap \"\" TERM; {dash}' >/dev/null 2>&1"),
        format!("sleep {token} & kill -STOP $!"),
    ]
}

#[tokio::test]
async fn nothing_stays_after_the_end() {
    let (_folder, backend) = backend();
    for way in ways_to_stay("TOKEN") {
        let token = token();
        let way = way.replace("TOKEN", &token);
        let begun = Instant::now();
        let result = run(&backend, format!("{way}\necho done")).await;
        assert!(result.output.contains("done\n"), "{way}: {}", result.output);
        assert_eq!((result.exit_code, living(&token)), (Some(0), Vec::new()), "{way}");
        assert!(begun.elapsed() < Duration::from_secs(20), "{way}");
    }
}

#[tokio::test]
async fn nothing_stays_when_time_is_up() {
    let (_folder, backend) = backend();
    for way in ways_to_stay("TOKEN") {
        let token = token();
        let way = way.replace("TOKEN", &token);
        let timeout = Some(Duration::from_millis(400));
        let command = format!("{way}\necho started; sleep {token}");
        let result = backend.execute(ExecRequest { timeout, ..request(command) }, &Silent).await.unwrap();
        assert!(result.timed_out && result.output.contains("started\n"), "{way}: {result:?}");
        assert_eq!((result.exit_code, living(&token)), (None, Vec::new()), "{way}");
    }
}

#[tokio::test]
async fn nothing_stays_after_a_cancel() {
    let (folder, backend) = backend();
    let (token, cancel) = (token(), CancellationToken::new());
    let command = format!("setsid -f sleep {token}; trap '' TERM; touch up; while :; do sleep {token}; done");
    let request = ExecRequest { cancel: cancel.clone(), ..request(command) };
    let watch = async {
        assert!(until(|| folder.path().join("up").exists()).await);
        cancel.cancel();
    };
    let (result, ()) = tokio::join!(backend.execute(request, &Silent), watch);
    assert!(result.unwrap().cancelled);
    assert_eq!(living(&token), [""; 0]);
}

#[tokio::test]
async fn nothing_stays_when_the_call_is_dropped() {
    let (folder, backend) = backend();
    let token = token();
    let command = format!("env -i setsid -f sleep {token}; sleep {token} & touch up; trap '' TERM; wait");
    {
        let call = backend.execute(request(command), &Silent);
        let up = until(|| folder.path().join("up").exists());
        tokio::select! {
            _ = call => panic!("it ended by itself"),
            up = up => assert!(up),
        }
    }
    assert!(until(|| living(&token).is_empty()).await, "{:?}", living(&token));
}

/// X15, small: what forks as fast as it can is ended too.
#[tokio::test]
async fn what_multiplies_is_ended() {
    let (_folder, backend) = backend();
    let token = token();
    let bomb = format!(
        "trap '' TERM; f() {{ n=0; while [ $n -lt 40 ]; do sleep {token} & (sleep 0.01; exec sleep {token}) & n=$((n+1)); done; }}; \
         f & f & f & echo lit; sleep {token}"
    );
    let timeout = Some(Duration::from_millis(500));
    let result = backend.execute(ExecRequest { timeout, ..request(bomb) }, &Silent).await.unwrap();
    assert!(result.timed_out);
    assert_eq!(living(&token), [""; 0]);
}

#[tokio::test]
async fn others_are_left_alone() {
    let (_folder, backend) = backend();
    let (mine, other) = (token(), token());
    let mut bystander = tokio::process::Command::new("sleep").arg(&other).kill_on_drop(true).spawn().unwrap();
    let slow = backend.execute(request(format!("echo slow; sleep 0.5; echo {mine}")), &Silent);
    let quick = async {
        for _ in 0..5 {
            run(&backend, "sleep 60 & true").await;
        }
    };
    let (slow, ()) = tokio::join!(slow, quick);
    assert_eq!(slow.unwrap().output, format!("slow\n{mine}\n"));
    assert_eq!(bystander.try_wait().unwrap(), None);
    assert!(!living(&other).is_empty());
    bystander.kill().await.unwrap();
}

/// A11 and F05: the folder is the one that was opened, or none.
#[tokio::test]
async fn it_runs_where_the_files_are_or_not_at_all() {
    let top = tempfile::tempdir().unwrap();
    let project = top.path().join("proj");
    std::fs::create_dir(&project).unwrap();
    let backend = LocalShellBackend::open(&project, LocalShellOptions::default()).unwrap();
    assert_eq!(Path::new(run(&backend, "pwd -P").await.output.trim()), project.canonicalize().unwrap());
    std::fs::rename(&project, top.path().join("moved")).unwrap();
    std::fs::create_dir(&project).unwrap();
    let error = backend.execute(request("touch here"), &Silent).await.unwrap_err();
    assert_eq!(error, BackendError::RootGone);
    assert!(!project.join("here").exists());
}

#[tokio::test]
async fn no_more_than_allowed_run_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let options = LocalShellOptions { at_once: 2, ..LocalShellOptions::default() };
    let backend = LocalShellBackend::open(folder.path(), options).unwrap();
    let command = "mkdir run.$$; set -- run.*; echo $#; sleep 0.1; rmdir run.$$";
    let all = futures_util::future::join_all((0..8).map(|_| run(&backend, command))).await;
    for result in all {
        assert!(result.output.trim().parse::<u32>().unwrap() <= 2, "{}", result.output);
    }
    // One that waits can be called off.
    let (holding, cancel) = (CancellationToken::new(), CancellationToken::new());
    let hold = || backend.execute(ExecRequest { cancel: holding.clone(), ..request("sleep 60") }, &Silent);
    let waiting = async {
        tokio::task::yield_now().await;
        cancel.cancel();
    };
    let third = async {
        let request = ExecRequest { cancel: cancel.clone(), ..request("touch third") };
        let (third, ()) = tokio::join!(backend.execute(request, &Silent), waiting);
        holding.cancel();
        third
    };
    let (_, _, third) = tokio::join!(hold(), hold(), third);
    assert_eq!(third.unwrap_err(), BackendError::Cancelled);
    assert!(!folder.path().join("third").exists());
}

/// What the app was given is read from its environment once; nothing of it comes through but what is listed.
#[tokio::test]
async fn set_variables_arrive() {
    let folder = tempfile::tempdir().unwrap();
    let options = LocalShellOptions {
        set_environment: vec![("GREETING".into(), "two words".into())],
        ..LocalShellOptions::default()
    };
    let backend = LocalShellBackend::open(folder.path(), options).unwrap();
    assert_eq!(run(&backend, "echo $GREETING $TERM; ulimit -c").await.output, "two words dumb\n0\n");
}
