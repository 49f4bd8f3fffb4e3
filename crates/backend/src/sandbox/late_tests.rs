use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use pretty_assertions::assert_eq;
use tokio_util::sync::CancellationToken;

use super::late;
use crate::sandbox::{ContainerOptions, SandboxError, container};
use crate::{Backend, BackendError, SandboxBackend, VirtualPath};

#[derive(Default)]
struct World {
    is_up: AtomicBool,
    hangs: AtomicBool,
    attempts: AtomicU32,
}

/// An engine that runs what it is asked to in the folder of the test, while the file `up` is there.
async fn engine(folder: std::path::PathBuf) -> Result<Arc<dyn crate::Executor>, SandboxError> {
    use std::os::unix::fs::PermissionsExt;
    let program = folder.join("podman");
    let home = folder.display();
    let script = format!(
        "#!/bin/sh\ncase $1 in\ncontainer) [ -e {home}/up ] && echo {home}/there && exit; echo 'Error: no such container' \
         >&2; exit 125;;\nrun) echo 'Error: no such image' >&2; exit 125;;\nexec) [ -e {home}/up ] || {{ echo 'Error: no \
         such container' >&2; exit 125; }}; shift 3; exec \"$@\";;\nesac\n"
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    container("there", None, ContainerOptions { engine: Some(program), ..ContainerOptions::default() }).await
}

fn placed(world: &Arc<World>, folder: &std::path::Path) -> SandboxBackend {
    let (world, folder) = (Arc::clone(world), folder.to_owned());
    SandboxBackend::below(late(Box::new(move || {
        let (world, folder) = (Arc::clone(&world), folder.clone());
        Box::pin(async move {
            world.attempts.fetch_add(1, Ordering::SeqCst);
            if world.hangs.load(Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
            if !world.is_up.load(Ordering::SeqCst) {
                return Err(SandboxError::Elsewhere);
            }
            engine(folder).await
        })
    })))
}

async fn names(place: &SandboxBackend) -> Result<Vec<String>, BackendError> {
    let listed = place.ls(&VirtualPath::root()).await?;
    Ok(listed.into_iter().map(|entry| entry.path.to_string()).collect())
}

#[tokio::test]
async fn a_place_is_led_to_when_something_needs_it_and_again_after_it_could_not_be_had_or_went() {
    let (world, folder) = (Arc::new(World::default()), tempfile::tempdir().unwrap());
    std::fs::create_dir(folder.path().join("there")).unwrap();
    std::fs::write(folder.path().join("there/a.txt"), "a").unwrap();
    let place = placed(&world, folder.path());
    assert_eq!(world.attempts.load(Ordering::SeqCst), 0);

    let refused = names(&place).await.unwrap_err().to_string();
    assert!(refused.contains("does not answer") && refused.contains("bubblewrap"), "{refused}");
    assert_eq!(names(&place).await.unwrap_err().to_string(), refused);
    assert_eq!(world.attempts.load(Ordering::SeqCst), 1, "not at once again");

    world.is_up.store(true, Ordering::SeqCst);
    std::fs::write(folder.path().join("up"), "").unwrap();
    let later = async {
        while names(&place).await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), later).await.expect("it is tried again");
    assert_eq!(names(&place).await.unwrap(), ["/a.txt"]);
    assert_eq!(world.attempts.load(Ordering::SeqCst), 2);

    // It goes, and comes back.
    std::fs::remove_file(folder.path().join("up")).unwrap();
    assert!(matches!(names(&place).await, Err(BackendError::Unreachable { .. })));
    std::fs::write(folder.path().join("up"), "").unwrap();
    assert_eq!(names(&place).await.unwrap(), ["/a.txt"]);
    assert_eq!(world.attempts.load(Ordering::SeqCst), 3);
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_a_place_can_give_up() {
    let (world, folder) = (Arc::new(World::default()), tempfile::tempdir().unwrap());
    world.hangs.store(true, Ordering::SeqCst);
    let place = placed(&world, folder.path());
    let cancel = CancellationToken::new();
    let root = VirtualPath::root();
    let mut script = super::super::script::about("true", &root, &[]);
    script.cancel = cancel.clone();
    let asked = super::super::script::run(&*place.executor, script, &root);
    let (asked, ()) = tokio::join!(asked, async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    });
    assert_eq!(asked.unwrap_err(), BackendError::Cancelled);
}
