//! Whether the scripted model server speaks the vendors' wire formats, asked of the vendors' own Python clients.

use super::Tally;
use super::python::environment;
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
    let python = match environment(place, "wire-clients", REQUIREMENTS, "the official Python clients") {
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
