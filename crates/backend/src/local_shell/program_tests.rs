use std::path::Path;
use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;
use tokio_util::sync::CancellationToken;

use super::{Program, ProgramAnswer, ProgramExit, ProgramRun};
use crate::BackendError;

fn shell(script: &str, folder: &Path) -> Program {
    Program {
        program: "sh".into(),
        args: vec!["-c".into(), script.into()],
        folder: folder.to_owned(),
        pass_environment: Vec::new(),
        set_environment: Vec::new(),
    }
}

fn run(timeout: u64) -> ProgramRun {
    ProgramRun {
        input: b"{\"n\":1}".to_vec(),
        timeout: Duration::from_millis(timeout),
        cancel: CancellationToken::new(),
        most_output: 1_000,
    }
}

async fn answer(script: &str, timeout: u64) -> ProgramAnswer {
    let folder = tempfile::tempdir().unwrap();
    shell(script, folder.path()).run(run(timeout)).await.unwrap()
}

#[tokio::test]
async fn it_reads_its_input_and_answers() {
    let got = answer("cat; echo no >&2; exit 2", 10_000).await;
    assert_eq!((&*got.stdout, &*got.stderr), (&b"{\"n\":1}"[..], &b"no\n"[..]));
    assert_eq!((got.exit, got.truncated), (Some(ProgramExit { code: Some(2), signal: None }), false));
}

#[tokio::test]
async fn one_that_never_ends_is_ended_with_all_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let begun = Instant::now();
    let script = "(trap '' TERM; while :; do echo x > alive; sleep 0.05; done) & sleep 1000";
    let got = shell(script, folder.path()).run(run(400)).await.unwrap();
    assert_eq!((got.exit, got.cancelled), (None, false));
    assert!(begun.elapsed() < Duration::from_secs(10));
    let alive = folder.path().join("alive");
    std::fs::remove_file(&alive).unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!alive.exists(), "something went on after the end");
}

#[tokio::test]
async fn a_flood_is_cut_and_does_not_block() {
    let got = answer("yes flood | head -c 3000000", 20_000).await;
    assert_eq!((got.stdout.len(), got.truncated), (1_000, true));
    assert_eq!(got.exit, Some(ProgramExit { code: Some(0), signal: None }));
}

#[tokio::test]
async fn one_that_does_not_read_is_no_failure() {
    let folder = tempfile::tempdir().unwrap();
    let given = ProgramRun { input: vec![b'x'; 1_000_000], ..run(10_000) };
    let got = shell("exit 0", folder.path()).run(given).await.unwrap();
    assert_eq!(got.exit, Some(ProgramExit { code: Some(0), signal: None }));
}

#[tokio::test]
async fn cancelling_ends_it() {
    let folder = tempfile::tempdir().unwrap();
    let given = run(60_000);
    let cancel = given.cancel.clone();
    let program = shell("sleep 1000", folder.path());
    let (got, ()) = tokio::join!(program.run(given), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        cancel.cancel();
    });
    assert!(got.unwrap().cancelled);
}

#[tokio::test]
async fn what_is_not_there_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let program = Program { program: "no-such-program".into(), ..shell("", folder.path()) };
    assert!(matches!(program.run(run(1_000)).await, Err(BackendError::Spawn { .. })));
    let program = Program { program: "sh".into(), args: vec!["a\0b".into()], ..shell("", folder.path()) };
    assert!(matches!(program.run(run(1_000)).await, Err(BackendError::Spawn { .. })));
}

#[test]
fn only_listed_variables_come_through() {
    let own =
        [("HOME", "/h"), ("PATH", "/usr/bin:/p/bin"), ("SECRET_KEY", "s"), ("GITHUB_TOKEN", "g"), ("EDITOR", "e")];
    let own = own.map(|(name, value)| (name.into(), value.into()));
    let program = Program {
        pass_environment: vec!["GITHUB_TOKEN".into()],
        set_environment: vec![("MODE".into(), "x".into())],
        ..shell("", Path::new("/p"))
    };
    let mut names: Vec<String> =
        program.environment(own.into_iter()).into_iter().map(|(name, _)| name.into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["GITHUB_TOKEN", "HOME", "MODE", "PATH", "TERM"]);
}
