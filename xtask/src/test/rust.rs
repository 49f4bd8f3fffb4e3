//! The Rust side of a test run: nextest where it is installed, cargo's own runner elsewhere.

use anyhow::{Context, Result};
use std::path::Path;

use crate::exec::{Program, find};
use crate::place::Place;
use crate::run::EMBED_PAGE;

/// Root test targets with a stage of their own.
const APART: [&str; 2] = ["tree", "window"];

/// The laws of paths and routes: property tests that a million cases suit.
const LAWS: [&str; 2] = ["path::tests", "composite::tests"];

/// Has cargo resolve features as the tests' own build does: with a test among what is asked for, the tests' dependencies
/// count as they do there.
pub const AS_TESTS: [&str; 4] = ["--workspace", "--locked", "--test", "cli"];

pub struct Runner {
    nextest: bool,
    pub long: bool,
}

impl Runner {
    pub fn choose(long: bool) -> Self {
        Self { nextest: find("cargo-nextest").is_some(), long }
    }

    /// Compiles every test of the workspace, with cargo's own progress on the terminal.
    pub fn build(&self, place: &Place) -> Program {
        self.command(place).args(["--no-run", "--tests"])
    }

    /// Runs the tests of `targets` (`--lib`, `--test NAME`, …).
    pub fn tests<S: AsRef<std::ffi::OsStr>>(&self, place: &Place, targets: &[S]) -> Program {
        let mut program = self.command(place).arg("--no-fail-fast").args(targets);
        if self.long {
            program = program.env("BOSUN_LONG", "1");
        }
        match (self.nextest, self.long) {
            (true, true) => program.args(["--profile", "long", "--run-ignored", "all"]),
            (false, true) => program.args(["--", "--include-ignored"]),
            _ => program,
        }
    }

    /// The laws of paths and routes, a million cases for each. They are compiled apart and optimised: a debug build takes
    /// most of an hour for them.
    pub fn laws(&self, place: &Place) -> Program {
        let run: &[&str] = match self.nextest {
            true => &["nextest", "run", "--cargo-profile", "long", "--profile", "long"],
            false => &["test", "--profile", "long"],
        };
        let program =
            Program::cargo(place).args(run).args(["--locked", "--no-fail-fast", "--lib", "-p", "bosun-backend", "--"]);
        program.args(LAWS).env("PROPTEST_CASES", "1000000")
    }

    /// The examples in documentation, which nextest does not run.
    pub fn doc_tests(&self, place: &Place) -> Program {
        Program::cargo(place).args(["test", "--doc", "--workspace", "--locked", "--no-fail-fast"]).args(EMBED_PAGE)
    }

    /// Compiles programs as the tests' own build does, which has compiled them already where it ran.
    pub fn programs(place: &Place, names: &[&str]) -> Program {
        let program = Program::cargo(place).arg("build").args(AS_TESTS).args(EMBED_PAGE);
        program.args(names.iter().flat_map(|name| ["--bin", name]))
    }

    fn command(&self, place: &Place) -> Program {
        let run: &[&str] = if self.nextest { &["nextest", "run"] } else { &["test"] };
        // The whole workspace whatever is run, so that features resolve the same way and nothing is built twice.
        Program::cargo(place).args(run).args(["--workspace", "--locked"]).args(EMBED_PAGE)
    }
}

pub fn format(place: &Place) -> Program {
    Program::cargo(place).args(["fmt", "--all", "--", "--check"])
}

pub fn clippy(place: &Place) -> Program {
    let check = ["clippy", "--workspace", "--all-targets", "--locked"];
    Program::cargo(place).args(check).args(EMBED_PAGE).args(["--", "-D", "warnings", "-W", "clippy::too_many_lines"])
}

/// Every target with tests but those that have a stage of their own. Choosing targets instead of filtering tests keeps
/// the runner's count of skipped tests at those that really were skipped.
pub fn targets(place: &Place) -> Result<Vec<String>> {
    let manifest = std::fs::read_to_string(place.root.join("Cargo.toml")).context("could not read Cargo.toml")?;
    let mut names: Vec<String> =
        root_tests(&manifest).filter(|name| !APART.contains(name)).map(str::to_owned).collect();
    for krate in std::fs::read_dir(place.root.join("crates")).context("could not list crates")? {
        names.extend(integration_tests(&krate?.path().join("tests")));
    }
    names.sort();
    names.dedup();
    let chosen = names.into_iter().flat_map(|name| ["--test".to_owned(), name]);
    Ok(["--lib".to_owned(), "--bins".to_owned()].into_iter().chain(chosen).collect())
}

/// The names in the manifest's `[[test]]` tables.
fn root_tests(manifest: &str) -> impl Iterator<Item = &str> {
    let tables = manifest.split("\n[").filter_map(|table| table.strip_prefix("[test]]"));
    tables.filter_map(|table| table.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"')))
}

/// What cargo finds by itself in a crate's `tests` folder: files, and folders with a `main.rs`.
fn integration_tests(dir: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let is_target = |path: &std::path::PathBuf| {
        path.extension().is_some_and(|extension| extension == "rs") || path.join("main.rs").is_file()
    };
    paths.filter(is_target).filter_map(|path| path.file_stem()?.to_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::root_tests;

    #[test]
    fn test_tables_are_found_by_name() {
        let manifest = "[package]\nname = \"a\"\n\n[[test]]\nname = \"tree\"\npath = \"x\"\n\n[[bin]]\nname = \"b\"\n\n\
                        [[test]]\npath = \"y\"\nname = \"ipc\"\n";
        assert_eq!(root_tests(manifest).collect::<Vec<_>>(), ["tree", "ipc"]);
    }
}
