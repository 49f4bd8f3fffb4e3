//! Starting other programs: what failed is always said with the whole command.

use anyhow::{Context, Result, bail};
use std::ffi::OsStr;
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::place::Place;

/// A program about to be started, in the repository unless told otherwise.
pub struct Program {
    command: Command,
}

impl Program {
    /// `name` looked up on the PATH.
    pub fn new(place: &Place, name: impl AsRef<OsStr>) -> Self {
        let mut command = Command::new(name);
        command.current_dir(&place.root);
        Self { command }
    }

    /// Cargo, writing where `place` says.
    pub fn cargo(place: &Place) -> Self {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut program = Self::new(place, cargo).env("CARGO_TARGET_DIR", &place.target);
        // `cargo run` describes xtask itself in the environment. Build scripts that watch those variables would see
        // them change and build again whenever plain cargo and xtask take turns.
        for (name, _) in std::env::vars_os() {
            let own =
                name.to_str().is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_"));
            if own {
                program.command.env_remove(name);
            }
        }
        if place.ci {
            program = program.env("CI", "true").env("CARGO_INCREMENTAL", "0");
        }
        if std::io::stderr().is_terminal() {
            program = program.env("CARGO_TERM_COLOR", "always");
        }
        program
    }

    /// npm in the web project.
    pub fn npm(place: &Place) -> Self {
        let program = Self::new(place, script("npm")).dir(&place.ui).env("npm_config_update_notifier", "false");
        if place.ci { program.env("CI", "true").env("npm_config_cache", place.cache.join("npm")) } else { program }
    }

    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    pub fn args<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.command.args(arguments);
        self
    }

    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Leaves a variable of this environment out.
    pub fn without(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    pub fn dir(mut self, dir: &Path) -> Self {
        self.command.current_dir(dir);
        self
    }

    /// The command as it would be typed.
    pub fn text(&self) -> String {
        let words = std::iter::once(self.command.get_program()).chain(self.command.get_args());
        words.map(|word| quoted(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
    }

    /// The variables that are left out.
    #[cfg(test)]
    pub fn left_out(&self) -> std::collections::BTreeSet<String> {
        let removed = self.command.get_envs().filter(|(_, value)| value.is_none());
        removed.map(|(name, _)| name.to_string_lossy().into_owned()).collect()
    }

    /// Runs it on this terminal and tells whether it succeeded.
    pub fn status(mut self) -> Result<bool> {
        let text = self.text();
        let status = self.command.status().with_context(|| format!("could not start `{text}`"))?;
        Ok(status.success())
    }

    /// Runs it on this terminal; anything but success is an error.
    pub fn run(self) -> Result<()> {
        let text = self.text();
        if self.status()? { Ok(()) } else { bail!("`{text}` failed; its own words stand above") }
    }

    /// Runs it silently and returns what it wrote to standard output, or `None` when it cannot be started or fails.
    pub fn output(mut self) -> Option<String> {
        let output = self.command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Runs it, showing everything it writes and handing every line to `watch` as well.
    pub fn watched(mut self, watch: &mut (dyn FnMut(&str) + Send)) -> Result<bool> {
        let text = self.text();
        let (reader, writer) = std::io::pipe().context("could not make a pipe")?;
        self.command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        let mut child = self.command.spawn().with_context(|| format!("could not start `{text}`"))?;
        // The command holds the writing ends; without this the reader below would never see the end.
        drop(self.command);
        let shown = show(reader, watch);
        let status = child.wait().with_context(|| format!("lost `{text}`"))?;
        shown?;
        Ok(status.success())
    }
}

fn show(mut reader: impl Read, watch: &mut (dyn FnMut(&str) + Send)) -> Result<()> {
    let mut line = Vec::new();
    let mut chunk = [0_u8; 8192];
    let mut out = std::io::stdout().lock();
    loop {
        let count = reader.read(&mut chunk)?;
        let Some(bytes) = chunk.get(..count).filter(|bytes| !bytes.is_empty()) else { break };
        out.write_all(bytes)?;
        out.flush()?;
        for &byte in bytes {
            if matches!(byte, b'\n' | b'\r') {
                watch(&String::from_utf8_lossy(&line));
                line.clear();
            } else {
                line.push(byte);
            }
        }
    }
    if !line.is_empty() {
        watch(&String::from_utf8_lossy(&line));
    }
    Ok(())
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,~".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Where `program` is on the PATH.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let program = if Path::new(program).extension().is_some() {
        program.to_owned()
    } else {
        format!("{program}{}", std::env::consts::EXE_SUFFIX)
    };
    std::env::split_paths(&path).map(|dir| dir.join(&program)).find(|file| file.is_file())
}

/// The name of a program that Node starts: npm, and what npm installs. On Windows it is a batch file, and without its
/// ending nothing would be found.
pub fn script(name: &str) -> String {
    if cfg!(windows) { format!("{name}.cmd") } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{Program, quoted};
    use crate::place::Place;

    #[test]
    fn words_are_quoted_as_a_shell_needs_them() {
        assert_eq!(quoted("--only"), "--only");
        assert_eq!(quoted("two words"), "'two words'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn a_watched_program_gives_up_every_line_of_both_streams() {
        let place = Place::here().expect("a place");
        let mut lines = Vec::new();
        let passed = Program::new(&place, "sh")
            .args(["-c", "printf 'one\\ntwo\\r'; printf three >&2; exit 3"])
            .watched(&mut |line| lines.push(line.to_owned()))
            .expect("sh starts");
        assert!(!passed);
        assert_eq!(lines, ["one", "two", "three"]);
    }
}
