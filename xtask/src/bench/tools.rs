//! A running `bosun tools`, asked call by call, and the reference's backend asked the same way.

use anyhow::{Context, Result, bail};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use super::desk::bare;
use super::measure::millis;
use crate::place::Place;
use crate::test::python;

/// A program that answers a line with a line. Ended when dropped.
struct Talk {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Talk {
    fn start(command: &mut Command) -> Result<Self> {
        let program = command.get_program().to_string_lossy().into_owned();
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("could not start {program}"))?;
        let input = child.stdin.take().context("it has no input")?;
        let output = BufReader::new(child.stdout.take().context("it has no output")?);
        Ok(Self { child, input, output })
    }

    fn ask(&mut self, line: &str) -> Result<String> {
        writeln!(self.input, "{line}")?;
        let mut answer = String::new();
        self.output.read_line(&mut answer)?;
        Ok(answer)
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        // Nothing to do about a program that is already gone.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// `bosun tools` of one project.
pub struct Tools(Talk);

impl Tools {
    /// With its home and its data in `home`.
    pub fn start(bosun: &Path, project: &Path, home: &Path, more: &[&str]) -> Result<Self> {
        std::fs::create_dir_all(home).with_context(|| format!("could not make {}", home.display()))?;
        let mut command = bare(bosun, home);
        command.arg("tools").arg("--project").arg(project).args(more);
        Ok(Self(Talk::start(&mut command)?))
    }

    /// Milliseconds from the call of `tool` with the JSON object `arguments` to its answer, which must be a success.
    pub fn call(&mut self, tool: &str, arguments: &str) -> Result<f64> {
        self.timed(tool, arguments).map(|(time, _)| time)
    }

    /// The figure of this name that the answer to a call has, such as the number of its `matches`.
    pub fn figure(&mut self, tool: &str, arguments: &str, name: &str) -> Result<usize> {
        self.counted(tool, arguments, name).map(|(_, figure)| figure)
    }

    /// As [`Tools::call`], with the figure of this name.
    pub fn counted(&mut self, tool: &str, arguments: &str, name: &str) -> Result<(f64, usize)> {
        let (time, answer) = self.timed(tool, arguments)?;
        let told = format!(r#""figure":"{name}","value":"#);
        let (_, value) = answer.split_once(&told).with_context(|| format!("{tool} told no {name}"))?;
        let digits: String = value.chars().take_while(char::is_ascii_digit).collect();
        let figure = digits.parse().with_context(|| format!("{tool} told no number of {name}"))?;
        Ok((time, figure))
    }

    fn timed(&mut self, tool: &str, arguments: &str) -> Result<(f64, String)> {
        let call = format!(r#"{{"id":"1","tool":"{tool}","args":{arguments}}}"#);
        let start = Instant::now();
        let answer = self.0.ask(&call)?;
        let time = millis(start.elapsed());
        if !answer.contains(r#""status":"success""#) || answer.contains("No matches found") {
            let shown: String = call.chars().take(300).collect();
            bail!("the call {shown} was answered with {}", answer.chars().take(300).collect::<String>());
        }
        Ok((time, answer))
    }

    /// Highest resident memory so far, in bytes. Linux only.
    pub fn peak(&self) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM in the status")?;
        let kibibytes: u64 = line.trim().trim_end_matches("kB").trim().parse()?;
        Ok(kibibytes * 1024)
    }
}

/// A program of tests/parity in the environment that has the reference.
pub fn reference(place: &Place, program: &str) -> Result<Command> {
    let python = python::environment(place, "reference", "tests/parity/requirements.txt", "the reference")?;
    let mut command = Command::new(python);
    command.arg(place.root.join("tests/parity").join(program));
    Ok(command)
}

/// The reference's backend over one folder.
pub struct Reference(Talk);

impl Reference {
    pub fn start(place: &Place, folder: &Path) -> Result<Self> {
        Self::with(place, [folder.as_os_str()])
    }

    /// Over its store in memory, with the first `notes` of the notes that are measured.
    pub fn over_notes(place: &Place, notes: u32) -> Result<Self> {
        Self::with(place, ["--store".as_ref(), notes.to_string().as_ref()])
    }

    fn with<'a>(place: &Place, arguments: impl IntoIterator<Item = &'a OsStr>) -> Result<Self> {
        let mut command = reference(place, "speed.py")?;
        Ok(Self(Talk::start(command.args(arguments))?))
    }

    /// Milliseconds inside `operation` of the reference's backend.
    pub fn call(&mut self, operation: &str, arguments: &str) -> Result<f64> {
        let answer = self.0.ask(&format!(r#"{{"operation":"{operation}","args":{arguments}}}"#))?;
        if !answer.contains(r#""error": null"#) {
            bail!(
                "the reference answered {operation} {arguments} with {}",
                answer.chars().take(300).collect::<String>()
            );
        }
        let after = answer.split_once(r#""ms": "#).context("the reference told no time")?.1;
        let digits: String =
            after.chars().take_while(|letter| letter.is_ascii_digit() || "e-.".contains(*letter)).collect();
        digits.parse().context("the reference told no number")
    }
}
