//! `cargo xtask`: installs what is missing, then does the job.
//!
//! Owns the set-up of a machine, the order of builds and tests, benchmarks and bundles. Must not hold anything the app
//! needs at run time, and stays quick to compile: the standard library, `anyhow` and `libc`, nothing else. Start reading at
//! [`run`] and [`test`]; both begin with [`setup`].
#![allow(clippy::disallowed_methods, reason = "a build tool starts programs and writes files; nothing here ships")]

use anyhow::{Result, bail};
use std::process::ExitCode;

mod audit;
#[cfg(unix)]
mod bench;
mod bundle;
mod exec;
mod place;
mod run;
mod say;
mod setup;
mod test;
mod ui;

use place::Place;

const HELP: &str = "\
cargo xtask <task>

  run [--release] [-- ARGS]       install what is missing, build, open the window
  test [--long] [--only STAGE]    every test; STAGE is tree, ui, rust, wire, mcp, local, window
                                  or package (may be repeated)
  bench [--write] [--only FIGURE] [--long] [--debug] [--built]
                                  the measured figures; --write puts them into docs/benchmarks.md, --long measures what
                                  takes an hour too, --built takes the programs that are there
  bundle [KIND...]                the packages: deb and rpm; appimage (its tools are downloaded)
  audit                           licences, bans and unused dependencies (with cargo-deny and cargo-machete)
  ci                              `test` as continuous integration runs it: nothing may be skipped
  help                            this text

With CI=true in the environment a missing part is an error instead of a skipped test, and builds of third-party
code are kept in the user's cache folder between runs.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(code) => code,
        Err(error) => {
            say::problem(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<ExitCode> {
    let (task, rest) = match arguments.split_first() {
        Some((task, rest)) => (task.as_str(), rest),
        None => ("help", arguments),
    };
    match task {
        "run" => run::run(&Place::here()?, rest),
        "test" => test::run(&Place::here()?, rest),
        "ci" => test::run(&Place::here()?.with_ci_rules(), rest),
        #[cfg(unix)]
        "bench" => bench::run(&Place::here()?, rest),
        #[cfg(unix)]
        bench::MEASURED => bench::measured(rest),
        "audit" => audit::run(&Place::here()?, rest),
        "bundle" => bundle::run(&Place::here()?, rest),
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(ExitCode::SUCCESS)
        }
        other => bail!("there is no task named {other:?}; `cargo xtask help` lists them"),
    }
}

#[cfg(test)]
mod tests {
    use super::{HELP, dispatch};
    use crate::place::Place;

    fn text(path: &str) -> String {
        std::fs::read_to_string(Place::here().expect("a place").root.join(path)).expect(path)
    }

    /// The words after `cargo xtask`, wherever they stand.
    fn tasks(text: &str) -> Vec<&str> {
        let words = text.split("cargo xtask ").skip(1);
        words.filter_map(|rest| rest.split(|c: char| !c.is_ascii_lowercase()).find(|word| !word.is_empty())).collect()
    }

    #[test]
    fn the_readme_says_where_the_source_is_and_names_tasks_that_there_are() {
        let (readme, manifest) = (text("README.md"), text("Cargo.toml"));
        let repository = manifest.lines().find_map(|line| line.strip_prefix("repository = \"")?.strip_suffix('"'));
        let clone = format!("git clone {}\n", repository.expect("a repository"));
        assert!(readme.contains(&clone), "README.md lacks {clone}");
        let tasks = tasks(&readme);
        assert!(tasks.contains(&"run") && tasks.contains(&"test"), "{tasks:?}");
        for task in tasks {
            assert!(HELP.contains(&format!("\n  {task} ")), "README.md names `cargo xtask {task}`");
        }
    }

    /// xtask has itself started under this name to measure: another task of it would be run in its place, or never.
    #[test]
    #[cfg(unix)]
    fn the_task_that_measures_is_no_other() {
        let tasks: Vec<&str> = HELP.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
        let named: Vec<&str> = tasks.into_iter().filter(|task| !task.is_empty()).collect();
        assert!(named.contains(&"bench") && !named.contains(&crate::bench::MEASURED), "{named:?}");
        let error = dispatch(&[crate::bench::MEASURED.to_owned()]).expect_err("there is nothing to measure");
        assert_eq!(error.to_string(), "which program?");
    }

    #[test]
    fn what_is_no_task_is_told_the_tasks() {
        let error = dispatch(&["serve".to_owned()]).expect_err("there is no such task").to_string();
        assert_eq!(error, "there is no task named \"serve\"; `cargo xtask help` lists them");
    }
}
