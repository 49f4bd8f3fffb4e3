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

fn request(command: &str) -> ExecRequest {
    ExecRequest { command: command.to_owned(), timeout: None, cancel: CancellationToken::new() }
}

#[tokio::test]
async fn output_and_exit_code() {
    let (_folder, backend) = backend();
    let result = backend.execute(request("echo hello; echo oops >&2; exit 3"), &Silent).await.unwrap();
    assert_eq!(result.output, "hello\n[stderr] oops\n");
    assert_eq!((result.exit_code, result.signal, result.timed_out, result.truncated), (Some(3), None, false, false));
}

#[tokio::test]
async fn a_background_child_does_not_hold_the_result() {
    let (folder, backend) = backend();
    let begun = Instant::now();
    let result = backend.execute(request("sleep 30 & echo done"), &Silent).await.unwrap();
    assert_eq!(result.output, "done\n");
    assert!(begun.elapsed() < Duration::from_secs(10));
    drop(folder);
}
