//! The client of the Model Context Protocol against servers as they are published: on npm, and made with the SDK from
//! PyPI. Both are installed here from exact lists.

use anyhow::{Context, Result};

use super::python::environment;
use super::report::Report;
use super::rust::Runner;
use crate::exec::Program;
use crate::place::Place;
use crate::say;

const STEP: &str = "mcp: published servers";
const REQUIREMENTS: &str = "tests/mcp/requirements.txt";

pub fn stage(place: &Place, runner: &Runner, report: &mut Report) {
    let python = match packages(place)
        .and_then(|()| environment(place, "mcp-servers", REQUIREMENTS, "the Python SDK of the protocol"))
    {
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
