//! A sandbox on this machine (security.md, section 9, steps 1 and 2): the project is writable, the system's programs
//! can be read, and there is nothing else: no network, no home, no other process.

mod guard;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::process::Command;

use super::local::{named, usual};
use super::{Launcher, LocalExecutorOptions, ProcessExecutor, Purpose, SandboxError, found};
use crate::{BackendError, Executor};
use guard::{Guarded, Placeholder};

const REMEDY: &str = "apt-get install bubblewrap";
/// The usual reasons, each by what the system asks for.
const NOT_ALLOWED: &str = "let programs make user namespaces: on Ubuntu with an AppArmor profile for bwrap that has \
                           `userns,` in it (or `sysctl kernel.apparmor_restrict_unprivileged_userns=0`), on Debian with \
                           `sysctl kernel.unprivileged_userns_clone=1`, in a container by what its engine allows";
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
const SYSTEM: [&str; 8] = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/opt", "/nix/store"];
/// Of `/etc` what names people, libraries and certificates; nothing that holds a password.
const ETC: [&str; 15] = [
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
];
/// Toolchains in a home folder: programs, and no settings or keys.
const TOOLCHAINS: [&str; 6] =
    [".rustup", ".cargo/bin", ".cargo/registry", ".nvm/versions", ".pyenv/versions", ".local/share/uv/python"];

/// The folder `root` in a sandbox of this machine.
///
/// # Errors
/// [`SandboxError::Missing`] without bubblewrap, [`SandboxError::Unusable`] where the system does not let it work.
pub async fn bubblewrap(root: &Path, options: LocalExecutorOptions) -> Result<Arc<dyn Executor>, SandboxError> {
    let missing = SandboxError::Missing { program: "bubblewrap", remedy: REMEDY };
    let (_, program) = found(&["bwrap"]).filter(|(_, path)| !path.starts_with(root)).ok_or(missing)?;
    started_by(program, root, options).await
}

async fn started_by(
    program: PathBuf,
    root: &Path,
    options: LocalExecutorOptions,
) -> Result<Arc<dyn Executor>, SandboxError> {
    let text = named(root)?;
    let sandbox = Bubblewrap { program, root: root.to_owned(), environment: usual(root), covering: Mutex::default() };
    let unusable = |reason: String| SandboxError::Unusable {
        program: "bubblewrap".to_owned(),
        reason,
        remedy: NOT_ALLOWED.to_owned(),
    };
    let mut trial = sandbox.program("exit 42", &[], Purpose::Files)?;
    let output = trial.output().await.map_err(|error| unusable(error.to_string()))?;
    if output.status.code() != Some(42) {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.trim().trim_start_matches("bwrap: ");
        return Err(unusable(if said.is_empty() { output.status.to_string() } else { said.to_owned() }));
    }
    Ok(ProcessExecutor::shared(Box::new(sandbox), text, options))
}

struct Bubblewrap {
    program: PathBuf,
    root: PathBuf,
    environment: Vec<(OsString, OsString)>,
    covering: Mutex<Covering>,
}

/// What commands that run have placeholders for. They go with the last command: one that is taken away from under a
/// running one would take its cover with it.
#[derive(Default)]
struct Covering {
    commands: usize,
    placeholders: Vec<Placeholder>,
}

impl Covering {
    fn add(&mut self, made: Vec<Placeholder>) {
        for placeholder in made {
            if !self.placeholders.contains(&placeholder) {
                self.placeholders.push(placeholder);
            }
        }
    }

    fn clear_where_idle(&mut self) {
        if self.commands == 0 {
            // What is in a folder goes before it.
            self.placeholders.drain(..).rev().for_each(|placeholder| placeholder.remove());
        }
    }
}

impl Bubblewrap {
    fn view(&self, program: &mut Command) {
        for path in SYSTEM.iter().map(Path::new) {
            match std::fs::read_link(path) {
                Ok(target) => program.arg("--symlink").arg(target).arg(path),
                Err(_) => program.arg("--ro-bind-try").arg(path).arg(path),
            };
        }
        for name in ETC {
            let path = Path::new("/etc").join(name);
            program.arg("--ro-bind-try").arg(&path).arg(&path);
        }
        program.args(["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/run", "--tmpfs", "/var/tmp"]);
        if let Some(home) = self.home().filter(|home| !self.root.ends_with(home) && home.is_absolute()) {
            program.arg("--tmpfs").arg(home);
            for name in TOOLCHAINS {
                let path = home.join(name);
                program.arg("--ro-bind-try").arg(&path).arg(&path);
            }
        }
        program.arg("--bind").arg(&self.root).arg(&self.root);
    }

    fn home(&self) -> Option<&Path> {
        self.environment.iter().find(|(name, _)| name == OsStr::new("HOME")).map(|(_, home)| Path::new(home))
    }
}

impl Launcher for Bubblewrap {
    fn program(&self, text: &str, args: &[String], purpose: Purpose) -> Result<Command, BackendError> {
        if !self.root.is_dir() {
            return Err(BackendError::RootGone);
        }
        let mut program = Command::new(&self.program);
        program.env_clear().args(APART);
        for (name, value) in self.environment.iter().filter(|(name, _)| name != OsStr::new("TMPDIR")) {
            program.arg("--setenv").arg(name).arg(value);
        }
        self.view(&mut program);
        if purpose == Purpose::Command {
            let guarded = Guarded::find(&self.root)?;
            // Held until they are known, so that no command that ends takes them away meanwhile.
            let mut covering = self.covering.lock().unwrap_or_else(PoisonError::into_inner);
            let mut made = Vec::new();
            let covered = guarded.cover(&self.root, &mut program, &mut made);
            covering.add(made);
            if let Err(error) = covered {
                covering.clear_where_idle();
                return Err(error);
            }
            covering.commands += 1;
        }
        program.arg("--chdir").arg(&self.root);
        program.args(["--", "/bin/sh", "-c", text, "sh"]).args(args);
        Ok(program)
    }

    fn command_ended(&self) {
        let mut covering = self.covering.lock().unwrap_or_else(PoisonError::into_inner);
        covering.commands = covering.commands.saturating_sub(1);
        covering.clear_where_idle();
    }

    fn holds_back(&self) -> Option<&str> {
        Some("a sandbox: it can change the project and nothing else, and has no network")
    }

    fn unreachable(&self, code: Option<i32>, complaint: &str) -> Option<String> {
        let said = complaint.trim_start_matches("[stderr] ");
        (code == Some(1) && said.starts_with("bwrap: ")).then(|| said.trim().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::{LocalExecutorOptions, started_by};

    /// As where the system forbids user namespaces.
    #[tokio::test]
    async fn a_sandbox_that_may_not_be_made_says_what_allows_it() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("bwrap");
        let script = "#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n";
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let refused = started_by(program, folder.path(), LocalExecutorOptions::default()).await.err().unwrap();
        let said = refused.to_string();
        assert!(
            said.starts_with(
                "bubblewrap is here and cannot be used: setting up uid map: Permission denied; let programs"
            ),
            "{said}"
        );
        assert!(said.contains("AppArmor profile for bwrap"), "{said}");
    }
}
