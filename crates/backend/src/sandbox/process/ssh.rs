//! Another machine, by way of the person's own OpenSSH client and its configuration.

mod line;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::process::Command;

use super::{
    Launcher, LocalExecutorOptions, NAME_RULE, NamedThing, Prepared, ProcessExecutor, Purpose, SandboxError, found,
    last_words,
};
use crate::{BackendError, BoxFuture, Executor};
use line::Line;

const REMEDY: &str = "apt-get install openssh-client";
/// Nobody is there to type a password, and a host that is not known is not asked about. What the person has set up for
/// working there themselves, ports that are handed on and a command of its own, is not ours.
const FIXED: [&str; 18] = [
    "-T",
    "-o",
    "BatchMode=yes",
    "-o",
    "StrictHostKeyChecking=yes",
    "-o",
    "ConnectTimeout=15",
    "-o",
    "ServerAliveInterval=15",
    "-o",
    "ForwardAgent=no",
    "-o",
    "PermitLocalCommand=no",
    "-o",
    "ClearAllForwardings=yes",
    "-o",
    "RemoteCommand=none",
    "-x",
];
/// What the client needs of this machine.
const PASSED: [&str; 7] = ["HOME", "PATH", "USER", "LOGNAME", "SSH_AUTH_SOCK", "LANG", "XDG_RUNTIME_DIR"];

/// Ends when nobody on this side listens any more.
const HOLD: &str = "exec cat >/dev/null";
/// Operations over one connection at a time: what a server allows by default, without the one that holds it.
const AT_ONCE: usize = 9;

/// Bytes that the system takes as one argument of a program.
const MAX_LINE: usize = 128 * 1024 - 1;

/// How to come to another machine.
#[derive(Clone, Debug, Default)]
pub struct SshOptions {
    /// The folder over there that is `/` here; `None`: where one is after logging in.
    pub root: Option<String>,
    /// Another configuration than the person's.
    pub config: Option<PathBuf>,
    pub run: LocalExecutorOptions,
}

/// The machine that `ssh HOST` leads to. Nothing is connected yet. Host, user, port and key are those of the person's
/// own configuration; a host whose key is not in `known_hosts` is refused.
///
/// # Errors
/// [`SandboxError::Missing`] without an OpenSSH client, [`SandboxError::BadName`].
pub fn ssh(host: &str, options: SshOptions) -> Result<Arc<dyn Executor>, SandboxError> {
    let (_, program) = found(&["ssh"]).ok_or(SandboxError::Missing { program: "ssh", remedy: REMEDY })?;
    // One that begins with a dash would be an option.
    if host.is_empty() || host.starts_with('-') || host.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(SandboxError::BadName { what: NamedThing::Host, given: host.to_owned(), rule: NAME_RULE });
    }
    let root = options.root.unwrap_or_else(|| ".".to_owned());
    let launcher = Ssh { program, host: host.to_owned(), config: options.config, line: Line::new() };
    Ok(ProcessExecutor::shared(Arc::new(launcher), root, options.run))
}

struct Ssh {
    program: PathBuf,
    host: String,
    config: Option<PathBuf>,
    line: Line,
}

impl Ssh {
    /// The client, up to where the host is named.
    fn client(&self) -> Command {
        let mut program = Command::new(&self.program);
        let passed = PASSED.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        program.env_clear().envs(passed).args(FIXED);
        if let Some(config) = &self.config {
            program.arg("-F").arg(config);
        }
        program
    }

    /// The client that holds the connection that others go over.
    fn holding(&self, socket: &Path) -> Command {
        let mut program = self.client();
        program.args(["-o", "ControlMaster=yes", "-o", "ControlPersist=no", "-S"]).arg(escaped(socket));
        program.arg("--").arg(&self.host).arg(HOLD);
        program
    }
}

impl Launcher for Ssh {
    fn ready(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.line.open(|socket| self.holding(socket)))
    }

    fn at_once(&self) -> Option<usize> {
        Some(AT_ONCE)
    }

    fn program(&self, text: &str, args: &[String], purpose: Purpose) -> Result<Prepared, BackendError> {
        let mut program = self.client();
        program.args(["-o", "ControlMaster=no", "-S"]);
        program.arg(self.line.socket().map_or_else(|| "none".into(), |socket| escaped(&socket)));
        let line = line_for(["-c", text, "sh"].into_iter().chain(args.iter().map(String::as_str)));
        // A program for files has none that is its user's own.
        if purpose == Purpose::Command && line.len() > MAX_LINE {
            return Err(BackendError::BadCommand { reason: too_long(line.len()) });
        }
        program.arg("--").arg(&self.host).arg(line);
        Ok(program.into())
    }

    fn holds_back(&self) -> Option<&str> {
        // What runs there may do whatever the person may do there.
        None
    }

    fn is_elsewhere(&self) -> bool {
        true
    }

    fn unreachable(&self, said: &str) -> String {
        let host = &self.host;
        if said.contains("Host key verification failed") || said.contains("host key is known") {
            return format!(
                "the key of {host} is not the one that is known, or none is; connect once with `ssh {host}` in a \
                 terminal and compare its key with what the machine's owner says"
            );
        }
        format!("{host}: {} (`ssh {host}` in a terminal tells more)", last_words(said))
    }

    fn broke_off(&self, code: i32) -> bool {
        code == 255
    }
}

/// A quotation mark becomes four characters, and what runs the command comes before it.
fn too_long(length: usize) -> String {
    format!(
        "made ready for the other machine it is {length} bytes long and the system takes {MAX_LINE}; write it to a file \
         and run that"
    )
}

/// A socket's name as the client takes it, which fills in what stands behind a percent sign.
fn escaped(socket: &Path) -> OsString {
    socket.to_string_lossy().replace('%', "%%").into()
}

/// Makes words of words in which [`quoted`] put figures in the place of characters, and goes on as what they are for.
const UNQUOTE: &str = "n=$#; for w; do w=$(printf \"$w\"; echo x); set -- \"$@\" \"${w%x}\"; done; shift $n; \
                       exec /bin/sh \"$@\"";

/// The line that has `/bin/sh` run with `words` over there, in whatever shell somebody has there: all of them take it as it
/// stands, those of the C shell's family and fish too. It is one line, and nothing in it means something else to one of them.
fn line_for<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.map(quoted).collect();
    format!("exec /bin/sh -c '{UNQUOTE}' sh {}", words.join(" "))
}

/// One word, whatever is in it. What does not stand for itself between quotation marks in every shell, and in the format of
/// `printf`, does so by its figures.
fn quoted(word: &str) -> String {
    let mut quoted = String::with_capacity(word.len() + word.len() / 8 + 2);
    quoted.push('\'');
    for (at, c) in word.char_indices() {
        match c {
            '%' => quoted.push_str("%%"),
            '\'' | '\\' | '!' | '\0'..='\x1f' | '\x7f' => quoted.push_str(&format!("\\{:03o}", u32::from(c))),
            '-' if at == 0 => quoted.push_str("\\055"),
            c => quoted.push(c),
        }
    }
    quoted.push('\'');
    quoted
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{Launcher, Line, MAX_LINE, Purpose, Ssh, SshOptions, line_for, quoted, ssh};
    use crate::sandbox::script::EXECUTE;
    use crate::{BackendError, SandboxError};

    #[test]
    fn words_stay_words() {
        assert_eq!(quoted("a'b $(c)\n!"), r"'a\047b $(c)\012\041'");
        assert_eq!(quoted(r"-\0 100%"), r"'\055\1340 100%%'");
    }

    /// Somebody's shell over there is any of these. Those that are not on this machine are passed over.
    #[test]
    fn words_stay_words_in_every_shell() {
        let words = [
            "",
            " ",
            "-",
            "-n",
            "%s",
            "a'b\"c`d",
            "$(x) $HOME ${y}",
            "!! !x",
            "x\n",
            "\n\ny\n",
            "\\",
            "\\n\\\\0",
            "a\tb\x7f\x01",
            "~ * ? [a] {b,c} #d ;e &f |g <h >i ^j",
            "键 ü",
            "%%%d\\045",
        ];
        let script = "for w; do printf '%s|' \"$w\"; done\n# and 'a' \"second\" line!\n";
        let expected: String = words.iter().map(|word| format!("{word}|")).collect();
        let line = line_for(["-c", script, "sh"].into_iter().chain(words));
        assert!(!line.contains('\n'));
        for shell in [
            "sh -c",
            "dash -c",
            "bash -c",
            "busybox ash -c",
            "zsh -c",
            "ksh -c",
            "mksh -c",
            "fish -c",
            "tcsh -c",
            "csh -c",
        ] {
            let mut program = shell.split(' ');
            let output = std::process::Command::new(program.next().unwrap()).args(program).arg(&line).output();
            match output {
                Ok(output) => {
                    let (said, wrong) =
                        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
                    assert_eq!((&*said, &*wrong), (&*expected, ""), "{shell}");
                }
                Err(_) => eprintln!("passed over: there is no {shell} here"),
            }
        }
    }

    /// One that is short enough by itself can be too long once it is made ready for the shell over there.
    #[test]
    fn a_command_that_is_too_long_on_the_way_is_refused_with_its_way_out() {
        let there = Ssh { program: "ssh".into(), host: "there".to_owned(), config: None, line: Line::new() };
        let made = |command: String| {
            let args = [".".to_owned(), command, "word".to_owned(), String::new()];
            there
                .program(EXECUTE, &args, Purpose::Command)
                .map(|made| made.program.as_std().get_args().map(std::ffi::OsStr::len).max().unwrap_or_default())
        };
        let taken = made("'".repeat(30_000)).unwrap();
        assert!((4 * 30_000..=MAX_LINE).contains(&taken), "{taken}");
        for command in ["'".repeat(40_000), "x".repeat(MAX_LINE)] {
            let refused = made(command).unwrap_err();
            assert!(matches!(refused, BackendError::BadCommand { .. }), "{refused}");
            assert!(refused.to_string().ends_with("; write it to a file and run that"), "{refused}");
        }
    }

    #[test]
    fn a_host_is_never_an_option() {
        for given in ["", "-oProxyCommand=x", "a b", "a\n"] {
            let refused = ssh(given, SshOptions::default()).err();
            let bad = SandboxError::BadName {
                what: crate::NamedThing::Host,
                given: given.to_owned(),
                rule: super::NAME_RULE,
            };
            let missing = matches!(refused, Some(SandboxError::Missing { .. }));
            assert!(missing || refused == Some(bad), "{given}");
        }
    }
}
