use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pretty_assertions::assert_eq;

use super::{ContainerOptions, ProjectIn, container};
use crate::{Executor, SandboxError};

/// A program called as an engine that writes down what it is asked and knows one container, `there`.
struct Engine {
    folder: tempfile::TempDir,
    program: PathBuf,
}

impl Engine {
    fn called(name: &str) -> Self {
        Self::that(name, r#"[ "$3" = --format ] && [ "$5" = there ] && echo /srv && exit"#, "true")
    }

    fn that(name: &str, inspect: &str, info: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (program, log) = (folder.path().join(name), folder.path().join("log"));
        let script = format!(
            "#!/bin/sh\nprintf '%s\\n' \"$*\" >> {}\ncase $1 in\ncontainer) {inspect}; exit 1;;\nrun) {info} || exit; echo \
             warned; echo made;;\ninfo) {info};;\nesac\n",
            log.display()
        );
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Self { folder, program }
    }

    fn options(&self) -> ContainerOptions {
        ContainerOptions { engine: Some(self.program.clone()), ..ContainerOptions::default() }
    }

    /// What it was asked, without what holds a container.
    fn log(&self) -> Vec<String> {
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        log.lines().filter(|line| !line.starts_with("exec ")).map(str::to_owned).collect()
    }

    /// What it was asked last, once `executor` is gone and what that starts is done.
    async fn last_after(&self, executor: std::sync::Arc<dyn Executor>) -> String {
        let before = self.log().len();
        drop(executor);
        for _ in 0..250 {
            if self.log().len() > before {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        self.log().pop().unwrap()
    }
}

/// Processes of this one that have ended and that nobody has taken note of.
fn left_dead() -> usize {
    let own = std::process::id().to_string();
    let stat = |entry: fs::DirEntry| fs::read_to_string(entry.path().join("stat")).ok();
    let all = fs::read_dir("/proc").unwrap().flatten().filter_map(stat);
    let is_dead = |stat: &String| {
        let behind = stat.rsplit_once(") ").map_or("", |(_, behind)| behind);
        behind.split(' ').take(2).eq(["Z", own.as_str()])
    };
    all.filter(is_dead).count()
}

/// A day's containers would leave as many dead processes.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_removes_a_container_is_taken_note_of() {
    let engine = Engine::called("podman");
    let executor = container("image", Some(project()), engine.options()).await.unwrap();
    assert!(engine.last_after(executor).await.starts_with("rm "));
    for _ in 0..250 {
        if left_dead() == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("a dead process is left");
}

fn project() -> &'static Path {
    Path::new("/srv/project")
}

/// Docker's root is the machine's: what is made in the person's folder has to be theirs.
#[tokio::test]
async fn docker_works_in_a_mounted_project_as_the_person() {
    let engine = Engine::called("docker");
    let executor = container("image", Some(project()), engine.options()).await.unwrap();
    let (user, group) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    let run = engine.log().pop().unwrap();
    assert!(run.starts_with("run --detach --rm --network none "), "{run}");
    assert!(run.contains("--mount type=bind,source=/srv/project,target=/work"), "{run}");
    assert!(run.contains(&format!(" --user {user}:{group} image /bin/sh -c ")), "{run}");
    // It has no `--time` for this, unlike Podman.
    assert_eq!(engine.last_after(executor).await, "rm --force --volumes made");
}

#[tokio::test]
async fn docker_copies_a_project_as_the_images_own_user() {
    let engine = Engine::called("docker");
    let options = ContainerOptions { project: ProjectIn::Copied, ..engine.options() };
    let executor = container("image", Some(project()), options).await.unwrap();
    let log = engine.log();
    let run = log.iter().find(|line| line.starts_with("run ")).unwrap();
    assert!(!run.contains("--user") && run.contains(" --volume /work image "), "{run}");
    assert_eq!(log.last().unwrap(), "cp /srv/project/. made:/work");
    assert_eq!(engine.last_after(executor).await, "rm --force --volumes made");
}

/// A command that a sandbox holds may run unasked; one in a mounted project could leave a hook that runs outside later.
#[tokio::test]
async fn a_container_holds_only_what_leaves_no_trace_outside() {
    let engine = Engine::called("podman");
    let with = |project, words: &[&str]| {
        let run_args = words.iter().map(Into::into).collect();
        ContainerOptions { project, run_args, ..engine.options() }
    };
    let held = Some("a container of image, which has a folder of its own and no network".to_owned());
    for (folder, options, holds) in [
        (Some(project()), with(ProjectIn::Mounted, &[]), None),
        (Some(project()), with(ProjectIn::Copied, &[]), held.clone()),
        (None, with(ProjectIn::Mounted, &[]), held.clone()),
        (None, with(ProjectIn::Mounted, &["--ulimit", "nproc=9:9", "--memory=1g"]), held.clone()),
        (Some(project()), with(ProjectIn::Copied, &["--network", "host"]), None),
        (None, with(ProjectIn::Copied, &["--memory", "1g", "--volume=/:/host"]), None),
        (None, with(ProjectIn::Copied, &["--privileged"]), None),
    ] {
        let words = options.run_args.clone();
        let executor = container("image", folder, options).await.unwrap();
        assert_eq!(executor.sandbox().map(str::to_owned), holds, "{folder:?} {words:?}");
    }
    assert_eq!(container("there", None, engine.options()).await.unwrap().sandbox(), None);
}

/// Podman without root maps its root to the person.
#[tokio::test]
async fn podman_needs_no_user() {
    let engine = Engine::called("podman");
    let executor = container("image", Some(project()), engine.options()).await.unwrap();
    let run = engine.log().pop().unwrap();
    assert!(!run.contains("--user"), "{run}");
    assert_eq!(engine.last_after(executor).await, "rm --force --volumes --time 0 made");
}

#[tokio::test]
async fn a_container_that_was_there_is_left_alone() {
    let engine = Engine::called("docker");
    let executor = container("there", None, engine.options()).await.unwrap();
    assert_eq!(executor.root(), "/srv");
    let asked = engine.log();
    assert_eq!(asked, ["container inspect --format {{.Config.WorkingDir}} there"]);
    drop(executor);
    // What an end would start would be written down while these are.
    for _ in 0..5 {
        drop(container("there", None, engine.options()).await.unwrap());
    }
    assert_eq!(engine.log().iter().filter(|line| line.starts_with("rm")).count(), 0);
}

/// Neither mounted nor copied, and not left out silently.
#[tokio::test]
async fn a_container_that_was_there_takes_no_project() {
    let engine = Engine::called("docker");
    for project_in in [ProjectIn::Mounted, ProjectIn::Copied] {
        let options = ContainerOptions { project: project_in, ..engine.options() };
        let Err(refused) = container("there", Some(project()), options).await else { panic!() };
        let said = refused.to_string();
        assert!(said.starts_with("the container 'there' already exists"), "{said}");
        assert!(said.contains("leave out the folder") && said.contains("docker cp`, or name an image"), "{said}");
    }
    assert_eq!(engine.log(), ["container inspect --format {{.Config.WorkingDir}} there"; 2]);
}

#[tokio::test]
async fn an_engine_without_its_service_says_what_to_start() {
    let closed = "echo 'Cannot connect to the Docker daemon at unix:///run/docker.sock.' >&2; exit 1";
    let engine = Engine::that("docker", "exit 1", closed);
    let Err(refused) = container("image", None, engine.options()).await else { panic!() };
    assert!(matches!(refused, SandboxError::Unusable { .. }), "{refused}");
    let said = refused.to_string();
    assert!(said.contains("cannot be used: Cannot connect to the Docker daemon"), "{said}");
    assert!(said.contains(&format!("; check whether `{} info` works", engine.program.display())), "{said}");
}

#[tokio::test]
async fn a_working_engine_without_the_image_says_that() {
    let engine = Engine::that("docker", "exit 1", "true");
    let script = fs::read_to_string(&engine.program).unwrap().replace("run) true", "run) false");
    fs::write(&engine.program, script).unwrap();
    let Err(refused) = container("image", None, engine.options()).await else { panic!() };
    assert!(matches!(refused, SandboxError::NoContainer { .. }), "{refused}");
}
