use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pretty_assertions::assert_eq;

use super::super::intercepted::intercepted;
use super::super::script;
use crate::{
    Backend, BackendError, ExecRequest, LocalExecutorOptions, OutputSink, SandboxBackend, Script, VirtualPath,
    local_process,
};

fn path(text: &str) -> VirtualPath {
    VirtualPath::parse(text).unwrap()
}

struct Unwatched;

impl OutputSink for Unwatched {
    fn output(&self, _bytes: &[u8]) {}
}

async fn run(backend: &SandboxBackend, command: &str) {
    let request = ExecRequest::new(command);
    let ran = backend.shell().unwrap().execute(request, &Unwatched).await.unwrap();
    assert_eq!(ran.exit_code, Some(0), "{}", ran.output);
}

/// A place in a folder, and the folder by the name that commands have for it.
async fn open(folder: &Path) -> (SandboxBackend, String) {
    let executor = local_process(folder, LocalExecutorOptions::default()).unwrap();
    let name = fs::canonicalize(folder).unwrap().to_str().unwrap().to_owned();
    (SandboxBackend::open(executor).await, name)
}

/// What a command does before a call does not change which file that call was judged for.
#[tokio::test]
async fn a_path_means_the_same_before_and_after_the_first_command() {
    let folder = tempfile::tempdir().unwrap();
    let (backend, name) = open(folder.path()).await;
    let given = format!("{name}/secrets/x");
    let judged = backend.resolve(&given).unwrap();
    run(&backend, "true").await;
    assert_eq!((judged, backend.resolve(&given).unwrap()), (path("/secrets/x"), path("/secrets/x")));
}

/// Two things by one name: neither is taken for the other, and what was refused once is never done.
#[tokio::test]
async fn a_folder_that_a_command_makes_by_the_name_of_the_root_is_not_taken_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let (backend, name) = open(folder.path()).await;
    let own = name.split('/').nth(1).unwrap();
    let given = format!("{name}/src");
    assert_eq!(backend.resolve(&given), Ok(path("/src")));
    run(&backend, &format!("mkdir -p src .{name}/src")).await;
    let refused = BackendError::AmbiguousPath { path: path(&given), below: path("/src") };
    assert_eq!(backend.resolve(&given), Err(refused.clone()));
    let sentence = refused.to_string();
    assert!(sentence.contains(&format!("'{}'", &given[1..])) && sentence.contains("'/src'"), "{sentence}");
    // As the sentence says.
    assert_eq!(backend.resolve(&given[1..]), Ok(path(&given)));
    assert_eq!(
        (backend.resolve("/src"), backend.resolve(&format!("/{own}"))),
        (Ok(path("/src")), Ok(path(&format!("/{own}"))))
    );
    run(&backend, &format!("rm -r {own}")).await;
    backend.ls(&VirtualPath::root()).await.unwrap();
    assert_eq!(backend.resolve(&given), Err(refused));
}

#[tokio::test]
async fn a_folder_by_the_name_of_the_root_that_is_there_first_is_the_projects_own() {
    let folder = tempfile::tempdir().unwrap();
    let own = fs::canonicalize(folder.path()).unwrap().to_str().unwrap().split('/').nth(1).unwrap().to_owned();
    fs::create_dir(folder.path().join(&own)).unwrap();
    let (backend, name) = open(folder.path()).await;
    let given = format!("{name}/src");
    assert_eq!(backend.resolve(&given), Ok(path(&given)));
    run(&backend, &format!("rmdir {own}")).await;
    backend.ls(&VirtualPath::root()).await.unwrap();
    assert_eq!(backend.resolve(&given), Ok(path(&given)));
}

#[tokio::test]
async fn a_place_that_does_not_say_its_roots_name_is_asked_once() {
    let folder = tempfile::tempdir().unwrap();
    let asked: Arc<AtomicUsize> = Arc::default();
    let times = Arc::clone(&asked);
    let silent = intercepted(folder.path(), move |Script { text, .. }| match *text {
        script::ROOT => {
            times.fetch_add(1, Ordering::SeqCst);
            Err(BackendError::Unreachable { path: VirtualPath::root(), reason: "it is silent".to_owned() })
        }
        _ => Ok((*text).into()),
    });
    let backend = SandboxBackend::open(silent).await;
    run(&backend, "true").await;
    run(&backend, "true").await;
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    let given = format!("{}/src", folder.path().display());
    assert_eq!(backend.resolve(&given), Ok(path(&given)));
}
