use std::sync::Mutex;
use std::time::{Duration, Instant};

use bosun_backend::{
    Backend, BackendError, ExecRequest, ExecResult, Expect, GrepQuery, OutputSink, ReadContent, ReadResult, ReadWindow,
    Unwitnessed,
};
use pretty_assertions::assert_eq;
use tokio_util::sync::CancellationToken;

use crate::support::{given, path, text};

#[derive(Default)]
struct Shown(Mutex<Vec<u8>>);

impl OutputSink for Shown {
    fn output(&self, bytes: &[u8]) {
        self.0.lock().unwrap().extend_from_slice(bytes);
    }
}

fn request(command: &str) -> ExecRequest {
    ExecRequest { timeout: Some(Duration::from_secs(60)), ..ExecRequest::new(command) }
}

async fn execute(backend: &dyn Backend, request: ExecRequest) -> Result<ExecResult, BackendError> {
    backend.shell().unwrap().execute(request, &Shown::default()).await
}

pub async fn run(backend: &dyn Backend, command: &str) -> ExecResult {
    execute(backend, request(command)).await.unwrap()
}

pub async fn refused(backend: &dyn Backend, command: &str) -> BackendError {
    execute(backend, request(command)).await.unwrap_err()
}

pub async fn it_runs_in_the_project(backend: &dyn Backend) {
    given(backend, &[("/in/a.txt", "from the file\n")]).await;
    let result = run(backend, "cat in/a.txt && printf made > out.txt").await;
    assert_eq!((result.output.as_str(), result.exit_code), ("from the file\n", Some(0)));
    assert_eq!(text(backend, "/out.txt").await, "made");
}

/// P27: a text that is larger than what goes over at once is read page by page, known by its content, and deleted where it
/// is still as it was read.
pub async fn a_text_of_any_size_is_read_by_pages(backend: &dyn Backend) {
    let line = "a line of a file that is larger than any that goes over, ".repeat(100);
    let make = format!("yes '{line}' | head -n 12000 > large.txt; printf 'é the last' >> large.txt");
    assert_eq!(run(backend, &make).await.exit_code, Some(0));
    // Every look at it goes through all of it, so that there are no more of them than are asked about.
    let (deleter, file) = (backend.deleter().unwrap(), path("/large.txt"));
    let ReadResult { content, stamp: read } =
        backend.read(&file, ReadWindow { offset: 11_999, limit: 9 }).await.unwrap();
    let ReadContent::Text(last) = content else { panic!("it is text") };
    assert_eq!((last.start_line, last.total_lines, last.cut), (12_000, 12_001, false));
    assert_eq!(last.lines, [line.clone(), "é the last".to_owned()]);
    let found = backend.grep(GrepQuery::literal("é the last", 10)).await.unwrap();
    let lines: Vec<_> = found.matches.iter().map(|found| (found.line, found.text.as_str())).collect();
    assert_eq!((lines, found.truncated), (vec![(12_001, "é the last")], None));
    // As long as it was: only its content tells.
    let put = |letter: char| format!("printf '{letter}' | dd of=large.txt bs=1 seek=40000000 conv=notrunc");
    assert_eq!(run(backend, &put('.')).await.exit_code, Some(0));
    let refused = deleter.delete(&file, Expect::Unchanged(read.clone()), &Unwitnessed).await.unwrap_err();
    assert_eq!(refused, BackendError::Changed { path: file.clone() });
    let was = char::from(line.as_bytes()[40_000_000 % (line.len() + 1)]);
    assert_eq!(run(backend, &put(was)).await.exit_code, Some(0));
    deleter.delete(&file, Expect::Unchanged(read), &Unwitnessed).await.unwrap();
    assert_eq!(run(backend, "ls").await.output, "");
}

pub async fn streams_are_told_apart(backend: &dyn Backend) {
    let lines = run(backend, "echo a; echo b >&2; echo c; printf 'd\\ne' >&2").await;
    // Each stream keeps its order; between the two it is that of arrival.
    let (err, out): (Vec<&str>, Vec<&str>) = lines.output.lines().partition(|line| line.starts_with("[stderr] "));
    assert_eq!((out, err), (vec!["a", "c"], vec!["[stderr] b", "[stderr] d", "[stderr] e"]));
    assert_eq!(lines.total_bytes, 9);
    assert_eq!(lines.full_output, None);
    let silent = run(backend, "true").await;
    assert_eq!((silent.output.as_str(), silent.total_bytes), ("", 0));
}

pub async fn exit_codes_and_signals(backend: &dyn Backend) {
    assert_eq!(run(backend, "exit 3").await.exit_code, Some(3));
    assert_eq!(run(backend, "no-such-program-anywhere").await.exit_code, Some(127));
    let killed = run(backend, "kill -9 $$").await;
    assert_eq!((killed.exit_code, killed.signal, killed.timed_out), (None, Some(9), false));
}

/// Codes that a shell, an engine and a client that goes to another machine end with themselves.
pub async fn every_code_is_the_commands_own(backend: &dyn Backend) {
    for code in [1, 70, 125, 126, 127, 130, 137, 192, 255] {
        let result = run(backend, &format!("exit {code}")).await;
        let told = (result.exit_code, result.signal, result.output.as_str(), result.total_bytes);
        assert_eq!(told, (Some(code), None, "", 0), "exit {code}");
    }
}

/// What a program says that did not get there is nothing to go by: a command can say it too.
pub async fn words_of_a_way_there_are_output(backend: &dyn Backend) {
    let words = [
        "Error: x",
        "ssh: connect to host there port 22: Connection refused",
        "Connection to 127.0.0.1 closed by remote host.",
        "Permission denied (publickey).",
        "Host key verification failed.",
        "bwrap: setting up uid map: Permission denied",
    ];
    for (turn, code) in [255, 125, 126, 127, 70, 1].into_iter().enumerate() {
        // Each stands in front once, and last.
        let said: Vec<&str> = words.iter().cycle().skip(turn).take(words.len()).copied().collect();
        let command = format!("printf '%s\\n' '{}' >&2; exit {code}", said.join("' '"));
        let result = run(backend, &command).await;
        let shown: String = said.iter().map(|said| format!("[stderr] {said}\n")).collect();
        assert_eq!((result.exit_code, result.output), (Some(code), shown));
    }
    let result = run(backend, "echo made; echo 'Error: x' >&2; exit 255").await;
    assert_eq!((result.exit_code, result.total_bytes), (Some(255), 14));
}

/// What watches over a command ends without it, as it does where a connection ends or a machine is switched off.
pub async fn a_way_that_breaks_off_leaves_what_came_and_no_outcome(backend: &dyn Backend) {
    let result = run(backend, "echo early; kill -9 $PPID; sleep 60").await;
    assert_broke_off(&result);
    assert!(result.output.starts_with("early\n"), "{}", result.output);
}

#[track_caller]
pub fn assert_broke_off(result: &ExecResult) {
    let told = (result.broke_off, result.exit_code, result.signal, result.timed_out, result.cancelled);
    assert_eq!(told, (true, None, None, false, false), "{result:?}");
}

pub async fn refused_commands(backend: &dyn Backend) {
    for command in ["", " \n\t", "echo a\0b", &"x".repeat(1_000_000)] {
        let error = execute(backend, request(command)).await.unwrap_err();
        assert!(matches!(error, BackendError::BadCommand { .. }), "{error}");
    }
    for timeout in [Duration::ZERO, Duration::from_secs(1_000_000)] {
        let error = execute(backend, ExecRequest { timeout: Some(timeout), ..request("true") }).await.unwrap_err();
        assert!(matches!(error, BackendError::BadTimeout { .. }), "{error}");
    }
}

pub async fn input_is_empty(backend: &dyn Backend) {
    let result = run(backend, "cat; read x; echo \"read: $?\"").await;
    assert_eq!(result.output, "read: 1\n");
}

pub async fn time_runs_out_and_output_stays(backend: &dyn Backend) {
    let begun = Instant::now();
    // Time enough to get to another machine, which can be busy.
    let timeout = Some(Duration::from_secs(3));
    let result = execute(backend, ExecRequest { timeout, ..request("echo early; printf partial; sleep 60") }).await;
    let result = result.unwrap();
    assert_eq!(result.output, "early\npartial");
    assert_eq!((result.timed_out, result.cancelled, result.exit_code), (true, false, None));
    assert!(begun.elapsed() < Duration::from_secs(20));
}

pub async fn a_cancel_ends_it(backend: &dyn Backend) {
    let cancel = CancellationToken::new();
    let command = ExecRequest { cancel: cancel.clone(), ..request("trap '' TERM; echo up; sleep 60") };
    let shown = Shown::default();
    let running = backend.shell().unwrap().execute(command, &shown);
    let watch = async {
        while shown.0.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let (result, ()) = tokio::join!(running, watch);
    let result = result.unwrap();
    assert_eq!((result.output.as_str(), result.cancelled, result.timed_out), ("up\n", true, false));
    let early = CancellationToken::new();
    early.cancel();
    let result = execute(backend, ExecRequest { cancel: early, ..request("echo never > never.txt; sleep 60") }).await;
    assert!(result.is_err() || result.is_ok_and(|result| result.cancelled));
}

/// A11: what goes on behind a command keeps nobody waiting, however far it has gone away.
pub async fn a_background_child_does_not_hold_the_result(backend: &dyn Backend) {
    for command in [
        "(setsid sleep 7301 &); sleep 0.2; echo b",
        "sleep 7301 & echo b",
        "(trap '' TERM HUP; setsid sh -c 'sleep 7301; sleep 7301' &); echo b",
    ] {
        let begun = Instant::now();
        let result = run(backend, command).await;
        let told = (result.output.as_str(), result.exit_code, result.timed_out, result.may_go_on);
        assert_eq!(told, ("b\n", Some(0), false, false), "{command}");
        assert!(begun.elapsed() < Duration::from_secs(30), "{command}: {:?}", begun.elapsed());
    }
}

/// One in a session of its own and without a parent, that does not hear; it is there when this has run.
const DEEP: &str = "(setsid sh -c 'trap \"\" TERM HUP; echo $$ > pid; while :; do sleep 7303; done' >/dev/null 2>&1 &); \
                    while [ ! -s pid ]; do sleep 0.05; done; echo up";

/// What is said of it by its number, which may be another's where every command has its own.
async fn lives(backend: &dyn Backend) -> String {
    run(backend, "grep -q -s '730[3]' \"/proc/$(cat pid)/cmdline\" && echo lives").await.output
}

/// Runs until it says something; then, or when that was stopped, what became of it, or nothing where nobody waits any more.
async fn once_up(backend: &dyn Backend, command: &str, goes_on: GoesOn) -> Option<ExecResult> {
    let (shown, cancel) = (Shown::default(), CancellationToken::new());
    let command = ExecRequest { cancel: cancel.clone(), ..request(command) };
    let running = backend.shell().unwrap().execute(command, &shown);
    let given_up = async {
        while shown.0.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        if goes_on == GoesOn::UntilItEnds {
            cancel.cancel();
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        result = running => Some(result.unwrap()),
        () = given_up => None,
    }
}

/// Who waits for a command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GoesOn {
    UntilItEnds,
    Not,
}

/// X17: all that a command started is gone when its result is there, however it ended; and soon, where nobody waits for one.
pub async fn nothing_that_a_command_started_survives_it(backend: &dyn Backend) {
    let ended = run(backend, DEEP).await;
    assert_eq!((ended.output.as_str(), ended.exit_code, ended.may_go_on), ("up\n", Some(0), false));
    assert_eq!(lives(backend).await, "", "it has ended");
    let goes_on = format!("rm -f pid; {DEEP}; sleep 60");
    let late = ExecRequest { timeout: Some(Duration::from_secs(5)), ..request(&goes_on) };
    let late = execute(backend, late).await.unwrap();
    assert_eq!((late.output.as_str(), late.timed_out, late.may_go_on), ("up\n", true, false));
    assert_eq!(lives(backend).await, "", "its time was over");
    let stopped = once_up(backend, &goes_on, GoesOn::UntilItEnds).await.unwrap();
    assert_eq!((stopped.output.as_str(), stopped.cancelled, stopped.may_go_on), ("up\n", true, false));
    assert_eq!(lives(backend).await, "", "it was stopped");
    assert!(once_up(backend, &goes_on, GoesOn::Not).await.is_none());
    let begun = Instant::now();
    while !lives(backend).await.is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(30), "nobody waited for it");
    }
}

pub async fn output_arrives_while_it_runs(backend: &dyn Backend) {
    let cancel = CancellationToken::new();
    let shown = Shown::default();
    let command =
        ExecRequest { cancel: cancel.clone(), ..request("printf 'no line end yet'; echo oops >&2; sleep 60") };
    let running = backend.shell().unwrap().execute(command, &shown);
    let watch = async {
        loop {
            let text = String::from_utf8(shown.0.lock().unwrap().clone()).unwrap();
            if text.contains("no line end yet") && text.contains("[stderr] oops\n") {
                return cancel.cancel();
            }
            tokio::task::yield_now().await;
        }
    };
    let (result, ()) = tokio::join!(running, watch);
    assert!(result.unwrap().cancelled);
}

pub async fn long_output_keeps_both_ends(backend: &dyn Backend) {
    let result =
        run(backend, "echo first; i=0; while [ $i -lt 40000 ]; do echo \"line number $i\"; i=$((i+1)); done").await;
    assert!(result.truncated);
    assert!(result.output.len() < 101_000, "{}", result.output.len());
    assert!(result.output.starts_with("first\nline number 0\n") && result.output.ends_with("line number 39999\n"));
    assert!(result.output.contains("bytes left out here"));
    let kept = result.full_output.unwrap();
    assert_eq!(kept.len(), result.total_bytes);
    let middle = kept.read(0, usize::MAX).unwrap();
    assert!(String::from_utf8(middle).unwrap().contains("\nline number 20000\n"));
    assert_eq!(kept.read(kept.len() - 6, 100).unwrap(), b"39999\n");
}

pub async fn odd_bytes_are_shown_and_kept(backend: &dyn Backend) {
    let result = run(backend, "printf 'a\\377\\376\\000b'").await;
    assert_eq!(result.output, "a\u{fffd}\u{fffd}\0b");
    assert_eq!((result.exit_code, result.truncated), (Some(0), false));
    assert_eq!(result.full_output.unwrap().read(0, 100).unwrap(), b"a\xff\xfe\0b");
}

pub async fn no_secrets_in_the_environment(backend: &dyn Backend) {
    let names = run(backend, "env | cut -d= -f1 | sort").await.output;
    let usual =
        ["BOSUN_COMMAND", "HOME", "LANG", "LANGUAGE", "OLDPWD", "PATH", "PWD", "SHLVL", "TERM", "TMPDIR", "TZ", "_"];
    for name in names.lines() {
        assert!(usual.contains(&name) || name.starts_with("LC_"), "{name}");
    }
}
