//! `grep` and `glob` as the agent calls them beside `rg` and `fd`, over a generated tree of 50,000 files in the page cache.
//! The agent's search runs inside a `bosun tools` that is already there and is timed from the call to the answer; the
//! others are timed as a person runs them, start included. The two take turns, so that both meet the same machine.

use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use super::Bench;
use super::desk::bare;
use super::measure::{Sample, millis};
use super::table::{Row, Target};
use super::tree;
use crate::exec::find;

const ROUNDS: usize = 15;

struct Search {
    what: &'static str,
    call: String,
    beside: Vec<String>,
}

pub fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let folder = tree::ready(&bench.place)?;
    let mut tools = Tools::start(&bench.bosun, &folder)?;
    let mut rows = Vec::new();
    for search in searches()? {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for round in 0..=ROUNDS {
            let pair = (tools.call(&search.call)?, other(&search.beside, &folder)?);
            // The first round warms the cache.
            if round > 0 {
                ours.push(pair.0);
                theirs.push(pair.1);
            }
        }
        // Pair by pair, because what else the machine does hits both of a pair alike.
        let ratio: Vec<_> = ours.iter().zip(&theirs).map(|(ours, theirs)| ours / theirs).collect();
        let (ours, theirs, ratio) = (Sample::from(ours), Sample::from(theirs), Sample::from(ratio));
        let program = search.beside.first().map_or("", |path| path.rsplit('/').next().unwrap_or(path)).to_owned();
        rows.push(Row::new(search.what, &ours, "ms", Target::None));
        rows.push(Row::new(format!("  {program} on the same"), &theirs, "ms", Target::None));
        rows.push(Row::new(format!("  against {program}"), &ratio, "x", Target::Under(1.1)));
    }
    Ok(rows)
}

fn searches() -> Result<Vec<Search>> {
    let rg = program(&["rg"])?;
    let fd = program(&["fdfind", "fd"])?;
    let words = |parts: &[&str]| parts.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>();
    let grep = |pattern: &str| {
        format!(r#"{{"id":"1","tool":"grep","args":{{"pattern":"{pattern}","output_mode":"content"}}}}"#)
    };
    Ok(vec![
        Search { what: "grep, 500 matches", call: grep(tree::COMMON), beside: words(&[&rg, "-nF", tree::COMMON]) },
        Search { what: "grep, 3 matches", call: grep(tree::RARE), beside: words(&[&rg, "-nF", tree::RARE]) },
        Search {
            what: "glob, 1,000 files",
            call: r#"{"id":"1","tool":"glob","args":{"pattern":"**/*_test.rs"}}"#.to_owned(),
            beside: words(&[&fd, "--glob", "--type", "f", "*_test.rs"]),
        },
    ])
}

fn program(names: &[&str]) -> Result<String> {
    let found =
        names.iter().find_map(|name| find(name)).with_context(|| format!("{} is not installed", names.join(" or ")))?;
    Ok(found.to_string_lossy().into_owned())
}

fn other(words: &[String], folder: &Path) -> Result<f64> {
    let (name, arguments) = words.split_first().context("a program to measure beside")?;
    let start = Instant::now();
    let output = Command::new(name).args(arguments).current_dir(folder).stdin(Stdio::null()).output()?;
    let time = millis(start.elapsed());
    if output.stdout.is_empty() {
        bail!("{name} found nothing");
    }
    Ok(time)
}

/// A running `bosun tools`.
struct Tools {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Tools {
    fn start(bosun: &Path, project: &Path) -> Result<Self> {
        let home = project.parent().unwrap_or(project).join("bench-home");
        std::fs::create_dir_all(&home)?;
        let mut command = bare(bosun, &home);
        command.arg("tools").arg("--project").arg(project);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("could not start bosun tools")?;
        let input = child.stdin.take().context("bosun tools has no input")?;
        let output = BufReader::new(child.stdout.take().context("bosun tools has no output")?);
        Ok(Self { child, input, output })
    }

    /// Milliseconds from the call to its answer.
    fn call(&mut self, call: &str) -> Result<f64> {
        let start = Instant::now();
        writeln!(self.input, "{call}")?;
        let mut answer = String::new();
        self.output.read_line(&mut answer)?;
        let time = millis(start.elapsed());
        if !answer.contains(r#""status":"success""#) || answer.contains("No matches found") {
            bail!("the call {call} was answered with {answer}");
        }
        Ok(time)
    }
}

impl Drop for Tools {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
