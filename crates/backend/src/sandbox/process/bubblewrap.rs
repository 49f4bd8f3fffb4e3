//! A sandbox on this machine (security.md, section 9, steps 1 and 2): the project is writable, the system's programs
//! can be read, and there is nothing else: no network, no home, no other process.

mod covering;
mod guard;
#[cfg(target_os = "linux")]
mod refused;
#[cfg(target_os = "linux")]
mod stage;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::process::Command;
use tokio::sync::Semaphore;

use super::local::{named, usual};
use super::{
    Launcher, LocalExecutorOptions, Prepared, ProcessExecutor, Purpose, SandboxError, Watched, found, last_words,
};
use crate::fault::io_fault;
use crate::root::{Mounts, Root};
use crate::{BackendError, Executor, VirtualPath};
use covering::Covering;
use guard::{Cover, CoverKind, Guarded};

const REMEDY: &str = "apt-get install bubblewrap";
/// The usual reasons, each by what the system asks for.
const NOT_ALLOWED: &str = "let programs create user namespaces: on Ubuntu with an AppArmor profile for bwrap that \
                           contains `userns,` (or `sysctl kernel.apparmor_restrict_unprivileged_userns=0`), on \
                           Debian with `sysctl kernel.unprivileged_userns_clone=1`, in a container through the \
                           settings of its engine";
/// Namespaces of its own, no way to more of them, no rights, no terminal, and an end when the app ends.
const APART: [&str; 12] = [
    "--unshare-user",
    "--unshare-pid",
    "--unshare-net",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--disable-userns",
    "--new-session",
    "--die-with-parent",
    "--cap-drop",
    "ALL",
    "--clearenv",
];
/// The system, as far as programs need it.
const SYSTEM: [&str; 9] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/opt", "/nix/store", "/nix/var/nix/profiles"];
/// Where NixOS has its programs, which is a link into its store.
const CURRENT_SYSTEM: &str = "/run/current-system";
/// Of `/etc` what names people, libraries and certificates, and what runtimes read that keep their own settings there;
/// nothing that holds a password.
const ETC: [&str; 26] = [
    "passwd",
    "group",
    "nsswitch.conf",
    "hosts",
    "localtime",
    "timezone",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "ssl",
    "ca-certificates",
    "pki",
    "alternatives",
    "mime.types",
    "terminfo",
    "crypto-policies",
    "debian_version",
    "fonts",
    "lsb-release",
    "magic",
    "maven/logging",
    "maven/m2.conf",
    "os-release",
    "perl",
    "protocols",
    "services",
];
/// The same by how the names begin, which have a version in them.
const ETC_BEGINNINGS: [&str; 2] = ["java-", "python3"];
/// Toolchains in a home folder: programs, libraries that were fetched, and no settings or keys.
const TOOLCHAINS: [&str; 26] = [
    ".asdf",
    ".bun/bin",
    ".cargo/bin",
    ".cargo/git",
    ".cargo/registry",
    ".deno/bin",
    ".local/bin",
    ".local/lib",
    ".local/pipx/venvs",
    ".local/share/fnm",
    ".local/share/mise/installs",
    ".local/share/mise/shims",
    ".local/share/pipx/venvs",
    ".local/share/pnpm",
    ".local/share/uv/python",
    ".local/share/uv/tools",
    ".m2/repository",
    ".m2/wrapper",
    ".nvm/versions",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".sdkman/candidates",
    ".volta",
    "go/bin",
    "go/pkg/mod",
];

/// Folders of the sandbox's own, which are in memory, and what part of the machine's each may fill: by default every one of
/// them takes half of it, and all of them together more than there is.
const SCRATCH: [(&str, u64); 4] = [("/tmp", 4), ("/var/tmp", 8), ("/dev/shm", 8), ("/run", 64)];
const HOME_PART: u64 = 8;

/// What the sandbox does, in words for a person.
pub(crate) const HOLDS_BACK: &str = "a sandbox: it can change the project and nothing else, and has no network; git's \
                                     settings and hooks are read-only, and git init works below the project's top only";

/// Variables of commands.
pub(crate) type Environment = Arc<[(OsString, OsString)]>;

/// The folder `root` in a sandbox of this machine.
///
/// # Errors
/// [`SandboxError::Missing`] without bubblewrap, [`SandboxError::Unusable`] where the system does not let it work.
pub async fn bubblewrap(root: &Path, options: LocalExecutorOptions) -> Result<Arc<dyn Executor>, SandboxError> {
    let program = installed(root)?;
    let root = Root::open(root, Mounts::Cross)?;
    let environment = usual(root.host()).into();
    started_by(program, root, environment, options).await
}

/// Why there can be no sandbox on this machine; `None` where there can.
pub async fn sandbox_trouble() -> Option<SandboxError> {
    let around_nothing = tempfile::tempdir().map_err(|error| io_fault(&error, &VirtualPath::root()));
    match around_nothing {
        Ok(folder) => bubblewrap(folder.path(), LocalExecutorOptions::default()).await.err(),
        Err(error) => Some(error.into()),
    }
}

/// As [`bubblewrap`], around a folder that is held already and with this environment.
pub(crate) async fn around(
    root: &Root,
    environment: Environment,
    options: LocalExecutorOptions,
) -> Result<Arc<dyn Executor>, SandboxError> {
    started_by(installed(root.host())?, root.across_mounts()?, environment, options).await
}

fn installed(root: &Path) -> Result<PathBuf, SandboxError> {
    if cfg!(not(target_os = "linux")) {
        return Err(SandboxError::Elsewhere);
    }
    let missing = SandboxError::Missing { program: "bubblewrap", remedy: REMEDY };
    let (_, program) = found(&["bwrap"]).filter(|(_, path)| !path.starts_with(root)).ok_or(missing)?;
    Ok(program)
}

async fn started_by(
    program: PathBuf,
    root: Root,
    environment: Environment,
    options: LocalExecutorOptions,
) -> Result<Arc<dyn Executor>, SandboxError> {
    let covering = Covering::of(&root);
    let by_handle = Bubblewrap { program, root: Arc::new(root), environment, covering, mounting: Mounting::ByHandle };
    if by_handle.works().await.is_ok() {
        return by_handle.shared(options);
    }
    let by_name = Bubblewrap { mounting: Mounting::ByName, ..by_handle };
    by_name.works().await.map_err(|reason| SandboxError::Unusable {
        program: "bubblewrap".to_owned(),
        reason,
        remedy: NOT_ALLOWED.to_owned(),
    })?;
    tracing::info!("this system lets only bubblewrap itself mount: commands in a sandbox run one after the other");
    by_name.shared(options)
}

/// Held by a command whose covers are mounted by name: what could put a link in their way does not run meanwhile.
static ALONE: Semaphore = Semaphore::const_new(1);

/// Puts an empty folder there that takes one of `part` parts of the memory at most.
fn scratch(program: &mut Command, path: &Path, memory: Option<u64>, part: u64) {
    if let Some(memory) = memory {
        program.arg("--size").arg((memory / part).to_string());
    }
    program.arg("--tmpfs").arg(path);
}

/// Bytes of memory of this machine, where it says so.
fn memory() -> Option<u64> {
    let told = std::fs::read_to_string("/proc/meminfo").ok()?;
    let kibibytes = told.lines().find_map(|line| line.strip_prefix("MemTotal:"))?.trim().strip_suffix(" kB")?;
    kibibytes.parse::<u64>().ok()?.checked_mul(1024)
}

/// How the project and its covers come into the sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mounting {
    /// See [`stage`].
    ByHandle,
    /// By bubblewrap, where the system lets no other program mount (Ubuntu's profiles) or has no way to do it by handle
    /// (Linux before 5.12).
    ByName,
}

struct Bubblewrap {
    program: PathBuf,
    root: Arc<Root>,
    environment: Environment,
    covering: Arc<Mutex<Covering>>,
    mounting: Mounting,
}

impl Bubblewrap {
    fn shared(self, options: LocalExecutorOptions) -> Result<Arc<dyn Executor>, SandboxError> {
        let root = named(self.root.host())?;
        Ok(ProcessExecutor::shared(Arc::new(self), root, options))
    }

    /// Whether it can be used, or why not.
    async fn works(&self) -> Result<(), String> {
        let trial = self.program("exit 42", &[], Purpose::Files).map_err(|error| error.to_string())?;
        let Prepared { program: mut trial, .. } = trial;
        let output = trial.output().await.map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&output.stderr);
        match said.trim().trim_start_matches("bwrap: ") {
            _ if output.status.code() == Some(42) => Ok(()),
            "" => Err(output.status.to_string()),
            said => Err(said.to_owned()),
        }
    }

    fn view(&self, program: &mut Command) {
        for path in SYSTEM.iter().map(Path::new) {
            match std::fs::read_link(path) {
                Ok(target) => program.arg("--symlink").arg(target).arg(path),
                Err(_) => program.arg("--ro-bind-try").arg(path).arg(path),
            };
        }
        let versions = std::fs::read_dir("/etc").into_iter().flatten().flatten().map(|entry| entry.file_name());
        let versions = versions.filter(|name| {
            ETC_BEGINNINGS.iter().any(|beginning| name.as_encoded_bytes().starts_with(beginning.as_bytes()))
        });
        for name in ETC.map(OsString::from).into_iter().chain(versions) {
            let path = Path::new("/etc").join(name);
            program.arg("--ro-bind-try").arg(&path).arg(&path);
        }
        program.args(["--proc", "/proc", "--dev", "/dev"]);
        let memory = memory();
        for (path, part) in SCRATCH {
            scratch(program, Path::new(path), memory, part);
        }
        if let Ok(system) = std::fs::read_link(CURRENT_SYSTEM) {
            program.arg("--symlink").arg(system).arg(CURRENT_SYSTEM);
        }
        if let Some(home) = self.home().filter(|home| !self.root.host().ends_with(home) && home.is_absolute()) {
            scratch(program, home, memory, HOME_PART);
            for name in TOOLCHAINS {
                let path = home.join(name);
                program.arg("--ro-bind-try").arg(&path).arg(&path);
            }
        }
    }

    #[cfg(target_os = "linux")]
    fn mount(&self, program: &mut Command, covers: &[Cover]) -> Result<(), BackendError> {
        if self.mounting == Mounting::ByName {
            return self.mount_by_name(program, covers);
        }
        let failed = |error: std::io::Error| BackendError::Spawn { reason: error.to_string() };
        stage::stage(program, &self.root, covers).map_err(failed)?;
        // What is on the stage says by itself which devices can be opened.
        program.arg("--dev-bind").arg(stage::STAGE).arg(self.root.host());
        Ok(())
    }

    #[cfg(not(target_os = "linux"))]
    fn mount(&self, program: &mut Command, covers: &[Cover]) -> Result<(), BackendError> {
        self.mount_by_name(program, covers)
    }

    fn mount_by_name(&self, program: &mut Command, covers: &[Cover]) -> Result<(), BackendError> {
        program.arg("--bind").arg(self.root.host()).arg(self.root.host());
        for Cover { path, kind, .. } in covers {
            let path = self.root.host().join(path);
            match kind {
                CoverKind::InPlace => program.arg("--bind").arg(&path),
                CoverKind::ReadOnly => program.arg("--ro-bind").arg(&path),
                CoverKind::Empty => program.arg("--dev-bind").arg("/dev/null"),
            };
            program.arg(path);
        }
        Ok(())
    }

    /// Finds what a command may not change, and says that one more has it.
    fn covered(&self) -> Result<(Vec<Cover>, Watched), BackendError> {
        let mut guarded = Guarded::find(&self.root)?;
        let (unheld, armed, root) = (guarded.is_cut(), guarded.armed(), Arc::clone(&self.root));
        let watched = Watched { unheld, armed: Box::new(move || armed.since(&root)) };
        // Held until they are known, so that no command that ends takes them away meanwhile.
        let mut covering = self.covering.lock().unwrap_or_else(PoisonError::into_inner);
        let mut made = Vec::new();
        let covers = guarded.covers(&self.root, &mut made);
        covering.add(made);
        match covers {
            Ok(covers) => {
                covering.commands += 1;
                Ok((covers, watched))
            }
            Err(error) => {
                covering.clear_where_idle(&self.root);
                Err(error)
            }
        }
    }

    fn home(&self) -> Option<&Path> {
        self.environment.iter().find(|(name, _)| name == OsStr::new("HOME")).map(|(_, home)| Path::new(home))
    }
}

impl Launcher for Bubblewrap {
    fn program(&self, text: &str, args: &[String], purpose: Purpose) -> Result<Prepared, BackendError> {
        self.root.check_alive()?;
        let mut program = Command::new(&self.program);
        program.env_clear().args(APART);
        #[cfg(target_os = "linux")]
        refused::refuse(&mut program).map_err(|error| BackendError::Spawn { reason: error.to_string() })?;
        for (name, value) in self.environment.iter().filter(|(name, _)| name != OsStr::new("TMPDIR")) {
            program.arg("--setenv").arg(name).arg(value);
        }
        self.view(&mut program);
        let (covers, watched) = match purpose {
            Purpose::Command => self.covered().map(|(covers, watched)| (covers, Some(watched)))?,
            Purpose::Files => (Vec::new(), None),
        };
        if let Err(error) = self.mount(&mut program, &covers) {
            if purpose == Purpose::Command {
                self.command_ended();
            }
            return Err(error);
        }
        program.arg("--chdir").arg(self.root.host());
        program.args(["--", "/bin/sh", "-c", text, "sh"]).args(args);
        Ok(Prepared { program, watched })
    }

    fn command_ended(&self) {
        let mut covering = self.covering.lock().unwrap_or_else(PoisonError::into_inner);
        covering.commands = covering.commands.saturating_sub(1);
        covering.clear_where_idle(&self.root);
    }

    fn makes_environment(&self) -> bool {
        true
    }

    fn alone(&self) -> Option<&'static Semaphore> {
        (self.mounting == Mounting::ByName).then_some(&ALONE)
    }

    fn holds_back(&self) -> Option<&str> {
        Some(HOLDS_BACK)
    }

    fn host_folder(&self) -> Option<&Path> {
        Some(self.root.host())
    }

    fn unreachable(&self, said: &str) -> String {
        last_words(said).to_owned()
    }

    /// That all in the sandbox was ended.
    fn broke_off(&self, code: i32) -> bool {
        code == 137
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::{LocalExecutorOptions, Mounts, Root, started_by};

    /// As where the system forbids user namespaces.
    #[tokio::test]
    async fn a_sandbox_that_may_not_be_made_says_what_allows_it() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("bwrap");
        let script = "#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n";
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let root = Root::open(folder.path(), Mounts::Cross).unwrap();
        let refused = started_by(program, root, [].into(), LocalExecutorOptions::default()).await.err().unwrap();
        let said = refused.to_string();
        assert!(
            said.starts_with(
                "bubblewrap is installed but cannot be used: setting up uid map: Permission denied; let programs"
            ),
            "{said}"
        );
        assert!(said.contains("AppArmor profile for bwrap"), "{said}");
    }
}
