//! The client of the Model Context Protocol against servers as they are published: on npm, and made with the SDK from
//! PyPI. Both are installed here from exact lists.

use anyhow::{Context, Result};
use std::path::PathBuf;

use super::report::Report;
use super::rust::Runner;
use crate::exec::Program;
use crate::place::Place;
use crate::say;

const STEP: &str = "mcp: published servers";
const REQUIREMENTS: &str = "tests/mcp/requirements.txt";

pub fn stage(place: &Place, runner: &Runner, report: &mut Report) {
    let python = match packages(place).and_then(|()| environment(place)) {
        Ok(python) => python,
        Err(error) if place.ci => return report.step(STEP, || Err(error)),
        Err(error) => {
            say::problem(&format!("{error:#}"));
            let reason =
                "the servers could not be installed; with a network, `cargo xtask test --only mcp` tries again";
            return report.skip(STEP, reason);
        }
    };
    report.counted(STEP, || runner.tests(place, &["--test", "published"]).env("BOSUN_MCP_PYTHON", python));
}

/// The servers from npm. The stamp is a copy of the lock file they were installed from.
fn packages(place: &Place) -> Result<()> {
    let dir = place.root.join("tests/mcp");
    let lock = dir.join("package-lock.json");
    let wanted = std::fs::read(&lock).with_context(|| format!("could not read {}", lock.display()))?;
    let stamp = dir.join("node_modules/.bosun-installed-lock.json");
    if std::fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    say::timed("installing the servers from npm", || {
        // None of them needs an install script, so none gets to run one.
        let install = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
        Program::npm(place).dir(&dir).args(install).run()?;
        std::fs::write(&stamp, &wanted).with_context(|| format!("could not write {}", stamp.display()))
    })
}

/// The interpreter of a virtual environment with the SDK, made anew when the list changes.
fn environment(place: &Place) -> Result<PathBuf> {
    let dir = place.cache.join("mcp-servers");
    let python = dir.join("bin/python");
    let wanted = std::fs::read_to_string(place.root.join(REQUIREMENTS))
        .with_context(|| format!("could not read {REQUIREMENTS}"))?;
    let stamp = dir.join("installed.txt");
    if python.exists() && std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    say::timed("installing the Python SDK of the protocol into the cache folder", || {
        Program::new(place, "python3").args(["-m", "venv", "--clear"]).arg(&dir).run()?;
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", REQUIREMENTS];
        Program::new(place, &python).args(install).run()?;
        std::fs::write(&stamp, &wanted).with_context(|| format!("could not write {}", stamp.display()))
    })?;
    Ok(python)
}
