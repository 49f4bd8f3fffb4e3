//! A container: one that is there, or one made from an image for as long as its backend lives.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::process::{Child, Command};

use super::super::script::fresh_word;
use super::local::named;
use super::{
    Launcher, LocalExecutorOptions, NAME_RULE, NamedThing, Prepared, ProcessExecutor, Purpose, SandboxError, found,
    last_words,
};
use crate::{BackendError, BoxFuture, Executor};

/// How long the engine may take to tell something.
const LOOK: Duration = Duration::from_secs(30);
/// How long it may take to fetch an image and begin, or to copy a project.
const CARRY: Duration = Duration::from_secs(600);
const REMEDY: &str = "apt-get install podman";
/// Where the project is in a container made from an image.
const WORK: &str = "/work";
/// Keeps a container alive that has nothing to do by itself, where somebody holds it soon.
const WAIT: &str = "trap 'exit 0' TERM; trap h=1 USR1; h=; sleep 120 & wait; while [ -n \"$h\" ]; do trap '' USR1; sleep 3600 & wait; done";
/// Holds it, and ends it when nobody on this side listens any more, also where the app ends without a word. Said more
/// than once: what comes before its first program listens is lost.
const HOLD: &str =
    "{ for i in 1 2 3 4 5; do kill -USR1 1; sleep 2; done; } >/dev/null 2>&1 & cat >/dev/null; kill -TERM 1";
/// What the engine's client needs of this machine.
const PASSED: [&str; 13] = [
    "HOME",
    "PATH",
    "USER",
    "LANG",
    "TMPDIR",
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "CONTAINERS_CONF",
    "CONTAINERS_STORAGE_CONF",
    "CONTAINER_HOST",
    "DOCKER_HOST",
    "DOCKER_CONTEXT",
    "DOCKER_CONFIG",
];

/// Options of a container by which it has less, or is found; each with a value.
const LIMITING: [&str; 8] =
    ["--cap-drop", "--cpus", "--label", "--memory", "--memory-swap", "--name", "--pids-limit", "--ulimit"];

/// How containers are made and spoken to.
#[derive(Clone, Debug, Default)]
pub struct ContainerOptions {
    /// Podman or Docker by its path; `None`: the first of them that is there.
    pub engine: Option<PathBuf>,
    /// For every call of the engine, in front of the rest.
    pub engine_args: Vec<OsString>,
    /// For making a container from an image. With others than those that limit it, nothing is said to hold it.
    pub run_args: Vec<OsString>,
    /// How the project comes into a container that is made.
    pub project: ProjectIn,
    pub run: LocalExecutorOptions,
}

/// How a project comes into a container.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProjectIn {
    /// It is the folder itself: what changes there changes here.
    #[default]
    Mounted,
    /// It is a copy, which goes with the container.
    Copied,
}

/// The container `name`, or one made from the image `name` with `project` as its working folder and no network.
///
/// # Errors
/// [`SandboxError::Missing`] without an engine, [`SandboxError::NoContainer`] and [`SandboxError::Unusable`] with its own
/// words, [`SandboxError::NoFolderIn`] for a `project` and a container that is there.
pub async fn container(
    name: &str,
    project: Option<&Path>,
    options: ContainerOptions,
) -> Result<Arc<dyn Executor>, SandboxError> {
    if name.is_empty() || name.starts_with('-') || name.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(SandboxError::BadName { what: NamedThing::Container, given: name.to_owned(), rule: NAME_RULE });
    }
    let program = match options.engine {
        Some(program) => program,
        None => {
            let missing = SandboxError::Missing { program: "podman or docker", remedy: REMEDY };
            found(&["podman", "docker"]).ok_or(missing)?.1
        }
    };
    let engine = Engine { program, args: options.engine_args };
    let inspect = ["container", "inspect", "--format", "{{.Config.WorkingDir}}", name];
    if let Ok(folder) = engine.ask(&inspect.map(OsString::from)).await {
        if project.is_some() {
            // Nor is it copied: what is in a person's own container is not written over unasked.
            let program = engine.program.display().to_string();
            return Err(SandboxError::NoFolderIn { name: name.to_owned(), program });
        }
        let root = if folder.is_empty() { "/".to_owned() } else { folder };
        let launcher = Container { engine, id: name.to_owned(), holds: None, made: None, mounted: None };
        return Ok(ProcessExecutor::shared(Arc::new(launcher), root, options.run));
    }
    let mounted = project.filter(|_| options.project == ProjectIn::Mounted);
    // Whoever stops waiting for it does not know whether it was made.
    let called = (!has_name(&options.run_args)).then(fresh_word);
    let mut held = Made { engine: engine.clone(), id: called.clone(), line: None };
    let made = engine.make(name, called, mounted, &options.run_args).await;
    if matches!(made, Err(SandboxError::NoContainer { .. })) {
        // Without a service behind its socket it is not the name that is wrong.
        engine.ask(&["info".into()]).await?;
    }
    let made = made?;
    let holds = holds_back(name, mounted, &options.run_args);
    held.id = Some(made.clone());
    held.line = Some(engine.hold(&made)?);
    let mounted = mounted.map(Path::to_owned);
    let launcher = Container { engine: engine.clone(), id: made, holds, made: Some(held), mounted };
    if let Some(project) = project.filter(|_| options.project == ProjectIn::Copied) {
        engine.copy(project, &launcher.id).await?;
    }
    Ok(ProcessExecutor::shared(Arc::new(launcher), WORK.to_owned(), options.run))
}

/// What a container of `image` keeps from the machine, in words for a person: `None` where it does not hold what runs in
/// it as the sandbox of this machine does (security.md, section 9). In a project that is mounted, a command can change
/// what later runs outside, such as the hooks of git, which nothing covers here; and what the words of `run_args` open,
/// only whoever wrote them knows.
fn holds_back(image: &str, mounted: Option<&Path>, run_args: &[OsString]) -> Option<String> {
    let is_held = mounted.is_none() && only_limit(run_args);
    is_held.then(|| format!("a container of {image}, which has a folder of its own and no network"))
}

/// Whether all of these options of a container take something from it.
fn only_limit(run_args: &[OsString]) -> bool {
    let mut words = run_args.iter();
    while let Some(word) = words.next() {
        let word = word.to_string_lossy();
        let (name, has_value) = word.split_once('=').map_or((&*word, false), |(name, _)| (name, true));
        if !LIMITING.contains(&name) || !(has_value || words.next().is_some()) {
            return false;
        }
    }
    true
}

/// Whether these options give the container a name of the person's.
fn has_name(run_args: &[OsString]) -> bool {
    run_args.iter().any(|word| word.to_str().is_some_and(|word| word == "--name" || word.starts_with("--name=")))
}

#[derive(Clone, Debug)]
struct Engine {
    program: PathBuf,
    args: Vec<OsString>,
}

impl Engine {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        let passed = PASSED.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        command.env_clear().envs(passed).args(&self.args).stdin(Stdio::null());
        command
    }

    /// What the engine answers to `args`, which it does within `limit` or not at all.
    async fn ask_within(&self, limit: Duration, args: &[OsString]) -> Result<String, SandboxError> {
        let output = tokio::time::timeout(limit, self.command().args(args).kill_on_drop(true).output()).await;
        let late = |_| self.unusable(format!("it did not answer within {} seconds", limit.as_secs()));
        let output = output.map_err(late)?.map_err(|error| self.unusable(error.to_string()))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(self.unusable(if said.is_empty() { output.status.to_string() } else { said }));
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    async fn ask(&self, args: &[OsString]) -> Result<String, SandboxError> {
        self.ask_within(LOOK, args).await
    }

    /// Copies what is in the project to where it is in the container.
    async fn copy(&self, project: &Path, id: &str) -> Result<(), SandboxError> {
        let from = format!("{}/.", named(project)?);
        self.ask_within(CARRY, &["cp".into(), from.into(), format!("{id}:{WORK}").into()]).await.map(drop)
    }

    /// The program whose end is the end of the container. It ends when its standard input does.
    fn hold(&self, id: &str) -> Result<Child, SandboxError> {
        let mut line = self.command();
        line.args(["exec", "--interactive", id, "/bin/sh", "-c", HOLD]);
        line.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        line.spawn().map_err(|error| self.unusable(error.to_string()))
    }

    fn unusable(&self, reason: String) -> SandboxError {
        let program = self.program.display().to_string();
        let remedy =
            format!("check whether `{program} info` works in a terminal, and start its service if it does not");
        SandboxError::Unusable { program, reason, remedy }
    }

    /// Makes a container that waits, and gives its id.
    async fn make(
        &self,
        image: &str,
        called: Option<String>,
        project: Option<&Path>,
        run_args: &[OsString],
    ) -> Result<String, SandboxError> {
        let mut args: Vec<OsString> = ["run", "--detach", "--rm", "--network", "none"].map(OsString::from).to_vec();
        args.extend(["--security-opt", "no-new-privileges", "--security-opt", "label=disable"].map(OsString::from));
        args.extend(called.into_iter().flat_map(|called| ["--name".into(), called.into()]));
        args.extend(["--workdir", WORK].map(OsString::from));
        if let Some(project) = project {
            let project = named(project)?;
            if project.contains(',') {
                let rule = "its path must not contain a comma";
                return Err(SandboxError::BadName { what: NamedThing::ContainerFolder, given: project, rule });
            }
            args.push("--mount".into());
            args.push(format!("type=bind,source={project},target={WORK}").into());
        } else {
            // Goes with the container, and is there whatever the image has.
            args.extend(["--volume", WORK].map(OsString::from));
        }
        // Without the person's own folder in it the container is its user's.
        if project.is_some() && self.program.file_name().is_some_and(|name| name == "docker") {
            // Podman without root maps its root to this person; Docker's is the machine's.
            let (user, group) = (rustix::process::getuid(), rustix::process::getgid());
            args.push("--user".into());
            args.push(format!("{}:{}", user.as_raw(), group.as_raw()).into());
        }
        args.extend_from_slice(run_args);
        args.extend([image, "/bin/sh", "-c", WAIT].map(OsString::from));
        let said = self.ask_within(CARRY, &args).await.map_err(|error| match error {
            SandboxError::Unusable { program, reason, .. } => {
                // How often it tried stands in front of why it could not.
                let reason = reason.lines().last().unwrap_or_default().trim_start_matches("Error: ").to_owned();
                SandboxError::NoContainer { name: image.to_owned(), program, reason }
            }
            error => error,
        })?;
        // Warnings come first.
        Ok(said.lines().last().unwrap_or_default().trim().to_owned())
    }
}

struct Container {
    engine: Engine,
    id: String,
    /// See [`holds_back`]; what somebody else's reaches, nobody knows.
    holds: Option<String>,
    /// Made here, so that it goes with this.
    made: Option<Made>,
    /// The folder of this machine that is its root.
    mounted: Option<PathBuf>,
}

/// A container that goes with this value, and with the app.
struct Made {
    engine: Engine,
    /// Its name before it was made, where that is Bosun's own; what a person calls so may be somebody else's still.
    id: Option<String>,
    line: Option<Child>,
}

impl Launcher for Container {
    fn program(&self, text: &str, args: &[String], _purpose: Purpose) -> Result<Prepared, BackendError> {
        let mut program = self.engine.command();
        program.args(["exec", "--interactive", &self.id, "/bin/sh", "-c", text, "sh"]).args(args);
        Ok(program.into())
    }

    fn holds_back(&self) -> Option<&str> {
        self.holds.as_deref()
    }

    fn host_folder(&self) -> Option<&Path> {
        self.mounted.as_deref()
    }

    /// One that was made here holds what was done in it: only an engine that answers and does not know it says that it is
    /// gone.
    fn is_gone(&self) -> BoxFuture<'_, bool> {
        Box::pin(async {
            if self.made.is_none() {
                return true;
            }
            let inspect = ["container", "inspect", "--format", "{{.Id}}", &self.id].map(OsString::from);
            self.engine.ask(&inspect).await.is_err() && self.engine.ask(&["info".into()]).await.is_ok()
        })
    }

    fn is_elsewhere(&self) -> bool {
        true
    }

    fn unreachable(&self, said: &str) -> String {
        let reason = last_words(said).trim_start_matches("Error: ");
        let program = self.engine.program.display();
        format!("the container {}: {reason} (`{program} ps` tells whether it runs)", self.id)
    }

    /// That the engine could do no more, or that all in the container was ended.
    fn broke_off(&self, code: i32) -> bool {
        matches!(code, 125 | 137 | 255)
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        drop(self.line.take());
        let Some(id) = &self.id else { return };
        let mut remove = std::process::Command::new(&self.engine.program);
        remove.args(&self.engine.args).args(["rm", "--force", "--volumes", "--time", "0", id]);
        if self.engine.program.file_name().is_some_and(|name| name == "docker") {
            remove = std::process::Command::new(&self.engine.program);
            remove.args(&self.engine.args).args(["rm", "--force", "--volumes", id]);
        }
        // Nobody waits here; the engine finishes by itself, and a thread takes note that it has.
        let started = remove.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let waits = started.and_then(|mut remove| {
            std::thread::Builder::new().name("end of a container".to_owned()).spawn(move || remove.wait())
        });
        if let Err(error) = waits {
            tracing::warn!(%error, %id, "a container stays behind");
        }
    }
}

#[cfg(test)]
#[path = "container_tests.rs"]
mod tests;
