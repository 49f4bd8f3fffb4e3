//! `cargo xtask audit`: what the dependencies are allowed to be, and which of them nothing uses.
//!
//! Not part of the tests: what it looks at changes only with the lock files, and its two programs are built from source.

use anyhow::{Result, bail};
use std::collections::BTreeMap;
use std::process::ExitCode;

use crate::exec::{Program, find};
use crate::place::Place;
use crate::say;

/// The programs that do the work, as cargo's subcommands.
const TOOLS: [&str; 2] = ["cargo-deny", "cargo-machete"];

pub fn run(place: &Place, arguments: &[String]) -> Result<ExitCode> {
    if let Some(argument) = arguments.first() {
        bail!("`cargo xtask audit` takes no argument, not {argument:?}");
    }
    let absent: Vec<&str> = TOOLS.into_iter().filter(|tool| find(tool).is_none()).collect();
    if !absent.is_empty() {
        bail!("{} is missing; add it with\n    cargo install --locked {}", absent.join(" and "), absent.join(" "));
    }
    say::stage("licences, bans and sources of the crates");
    let allowed = Program::cargo(place).args(["deny", "--locked", "--workspace", "--config", ".config/deny.toml"]);
    let allowed = allowed.args(["check", "--hide-inclusion-graph", "licenses", "bans", "sources"]).status()?;
    say::stage("crates that nothing uses");
    let used = Program::cargo(place).arg("machete").status()?;
    say::stage("licences of the packages of the page");
    for (licence, packages) in licences_of_the_page(place)? {
        say::note(&format!("{packages:>5}  {licence}"));
    }
    Ok(if allowed && used { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// How many packages in npm's lock file have each licence, those for development too.
fn licences_of_the_page(place: &Place) -> Result<BTreeMap<String, usize>> {
    let lock = std::fs::read_to_string(place.ui.join("package-lock.json"))?;
    Ok(licences(&lock))
}

/// npm writes one field a line; reading those lines keeps a JSON library out of this program.
fn licences(lock: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let fields = lock.lines().filter_map(|line| line.trim().strip_prefix("\"license\": \""));
    for licence in fields.filter_map(|rest| rest.split('"').next()) {
        *counts.entry(licence.to_owned()).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::licences;

    #[test]
    fn licences_are_counted_from_the_lines_of_a_lock_file() {
        let lock = "{\n  \"a\": {\n    \"license\": \"MIT\",\n  },\n  \"b\": { \n    \"license\": \"MIT\"\n  },\n  \"license\": \"ISC\"\n}";
        assert_eq!(licences(lock).into_iter().collect::<Vec<_>>(), [("ISC".to_owned(), 1), ("MIT".to_owned(), 2)]);
    }
}
