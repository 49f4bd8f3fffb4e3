//! Whether the scripted model server speaks the vendors' wire formats, asked of the vendors' own Python clients.

use anyhow::{Context, Result};
use std::path::PathBuf;

use super::Tally;
use super::report::Report;
use crate::exec::Program;
use crate::place::Place;
use crate::say;

const CHECK: &str = "tests/wire/check.py";
const REQUIREMENTS: &str = "tests/wire/requirements.txt";

pub fn stage(place: &Place, report: &mut Report) {
    report.check("wire: build the model server", || {
        Program::cargo(place).args(["build", "--locked", "--package", "bosun-testkit", "--bin", "bosun-model-server"])
    });
    let python = match environment(place) {
        Ok(python) => python,
        Err(error) if place.ci => return report.step("wire: official clients", || Err(error)),
        Err(error) => {
            say::problem(&format!("{error:#}"));
            let reason =
                "the clients could not be installed; with a network, `cargo xtask test --only wire` tries again";
            return report.skip("wire: official clients", reason);
        }
    };
    let server = place.target.join("debug/bosun-model-server");
    report.step("wire: official clients", || {
        let mut tally = Tally::default();
        let check = Program::new(place, python).arg(CHECK).arg(server);
        let passed = check.watched(&mut |line| {
            tally.passed += u32::from(line.starts_with("ok  "));
            tally.failed += u32::from(line.starts_with("FAIL  "));
        })?;
        Ok(tally.settled(passed))
    });
}

/// The interpreter of a virtual environment with the clients, made anew when the list of them changes.
fn environment(place: &Place) -> Result<PathBuf> {
    let dir = place.cache.join("wire-clients");
    let python = dir.join("bin/python");
    let wanted = std::fs::read_to_string(place.root.join(REQUIREMENTS))
        .with_context(|| format!("could not read {REQUIREMENTS}"))?;
    let stamp = dir.join("installed.txt");
    if python.exists() && std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    say::timed("installing the official Python clients into the cache folder", || {
        Program::new(place, "python3").args(["-m", "venv", "--clear"]).arg(&dir).run()?;
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", REQUIREMENTS];
        Program::new(place, &python).args(install).run()?;
        std::fs::write(&stamp, &wanted).with_context(|| format!("could not write {}", stamp.display()))
    })?;
    Ok(python)
}
