//! `grep` and `glob` as the agent calls them beside `rg`, `fd` and the reference, over a generated tree of 50,000 files and
//! over the sources of Bosun's own dependencies, both in the page cache. The agent's search runs inside a `bosun tools` that
//! is already there and is timed from the call to the answer; `rg` and `fd` are timed as a person runs them, start included;
//! the reference inside its own process. They take turns, so that all meet the same machine. First both have to find the same
//! number of things: what looked at fewer files would be no faster for it.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use super::Bench;
use super::measure::{Sample, millis};
use super::table::{Row, Target};
use super::tools::{Reference, Tools};
use super::tree;
use crate::exec::find;
use crate::place::Place;

const ROUNDS: usize = 15;
/// The reference takes seconds for what takes the others milliseconds.
const REFERENCE_ROUNDS: usize = 3;
/// Words of `unsafe` code that every tree of Rust sources has, some thousand times.
const REAL_WORD: &str = "unsafe impl Sync";

/// One search, as each of the three is asked for it.
struct Search {
    what: String,
    tool: &'static str,
    /// What its answer counts, as the other program has a line for each.
    counts: &'static str,
    arguments: String,
    beside: Vec<String>,
    reference: String,
}

pub fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let generated = tree::ready(&bench.place)?;
    rows.extend(over(bench, &generated, &generated_searches()?)?);
    match sources(&bench.place) {
        Some(folder) => rows.extend(over(bench, &folder, &source_searches()?)?),
        None => bail!("there are no sources of dependencies; `cargo fetch` brings them"),
    }
    Ok(rows)
}

fn over(bench: &Bench, folder: &Path, searches: &[Search]) -> Result<Vec<Row>> {
    let home = bench.place.target.join("bench/search-home");
    let mut tools = Tools::start(&bench.bosun, folder, &home, &[])?;
    let mut reference = Reference::start(&bench.place, folder)?;
    let mut rows = Vec::new();
    for search in searches {
        let found = tools.figure(search.tool, &search.arguments, search.counts)?;
        let expected = other(&search.beside, folder)?.1;
        if found != expected {
            bail!(
                "{}: {found} {} were found, and {expected} by {}",
                search.what,
                search.counts,
                search.beside.join(" ")
            );
        }
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for round in 0..=ROUNDS {
            let pair = (tools.call(search.tool, &search.arguments)?, other(&search.beside, folder)?.0);
            // The first round warms the cache.
            if round > 0 {
                ours.push(pair.0);
                theirs.push(pair.1);
            }
        }
        let slow = Sample::take(REFERENCE_ROUNDS, || reference.call(search.tool, &search.reference))?;
        // Pair by pair, because what else the machine does hits both of a pair alike.
        let ratio: Vec<_> = ours.iter().zip(&theirs).map(|(ours, theirs)| ours / theirs).collect();
        let (ours, theirs, ratio) = (Sample::from(ours), Sample::from(theirs), Sample::from(ratio));
        let program = search.beside.first().map_or("", |path| path.rsplit('/').next().unwrap_or(path)).to_owned();
        rows.push(Row::new(search.what.as_str(), &ours, "ms", Target::None));
        rows.push(Row::new(format!("  {program} on the same"), &theirs, "ms", Target::None));
        rows.push(Row::new(format!("  against {program}"), &ratio, "x", Target::Under(1.1)));
        rows.push(Row::new("  the reference on the same", &slow, "ms", Target::None));
    }
    Ok(rows)
}

fn grep(what: impl Into<String>, rg: &str, pattern: &str) -> Search {
    Search {
        what: what.into(),
        tool: "grep",
        counts: "matches",
        // More than there are, so that neither stops early.
        arguments: format!(r#"{{"pattern":"{pattern}","output_mode":"content","max_count":100000}}"#),
        beside: words(&[rg, "-nF", pattern]),
        reference: format!(r#"{{"pattern":"{pattern}"}}"#),
    }
}

fn glob(what: impl Into<String>, fd: &str, name: &str) -> Search {
    Search {
        what: what.into(),
        tool: "glob",
        counts: "files",
        arguments: format!(r#"{{"pattern":"**/{name}"}}"#),
        beside: words(&[fd, "--glob", "--type", "f", name]),
        reference: format!(r#"{{"pattern":"**/{name}"}}"#),
    }
}

fn generated_searches() -> Result<Vec<Search>> {
    let (rg, fd) = (program(&["rg"])?, program(&["fdfind", "fd"])?);
    Ok(vec![
        grep("grep, 50,000 files, 500 matches", &rg, tree::COMMON),
        grep("grep, 50,000 files, 3 matches", &rg, tree::RARE),
        glob("glob, 50,000 files, 5,000 found", &fd, "*_test.rs"),
    ])
}

fn source_searches() -> Result<Vec<Search>> {
    let (rg, fd) = (program(&["rg"])?, program(&["fdfind", "fd"])?);
    Ok(vec![grep("grep, sources of the dependencies", &rg, REAL_WORD), glob("glob, the same sources", &fd, "build.rs")])
}

/// The unpacked sources of Bosun's dependencies: a real tree that every machine has which built Bosun.
fn sources(place: &Place) -> Option<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")))?;
    let folder = std::fs::read_dir(place.root.join(home).join("registry/src")).ok()?.find_map(Result::ok)?.path();
    folder.is_dir().then_some(folder)
}

fn words(parts: &[&str]) -> Vec<String> {
    parts.iter().map(|part| (*part).to_owned()).collect()
}

fn program(names: &[&str]) -> Result<String> {
    let found =
        names.iter().find_map(|name| find(name)).with_context(|| format!("{} is not installed", names.join(" or ")))?;
    Ok(found.to_string_lossy().into_owned())
}

/// Milliseconds from the start of a program to its end, and the number of lines it wrote.
fn other(words: &[String], folder: &Path) -> Result<(f64, usize)> {
    let (name, arguments) = words.split_first().context("a program to measure beside")?;
    let start = Instant::now();
    let output = Command::new(name).args(arguments).current_dir(folder).stdin(Stdio::null()).output()?;
    let time = millis(start.elapsed());
    match output.stdout.iter().filter(|byte| **byte == b'\n').count() {
        0 => bail!("{name} found nothing"),
        lines => Ok((time, lines)),
    }
}
