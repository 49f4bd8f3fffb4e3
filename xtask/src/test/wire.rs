//! What programs of others say: whether the scripted model server speaks the vendors' wire formats, asked of the vendors'
//! own Python clients, and whether the file tools answer as the reference's do.

use std::path::PathBuf;

use super::Tally;
use super::python::environment;
use super::report::Report;
use super::rust::Runner;
use crate::exec::{Program, find};
use crate::place::Place;
use crate::say;
use crate::setup::way_to;

/// One comparison with packages from PyPI.
struct Comparison {
    step: &'static str,
    /// The environment in the cache folder, and what is in it, for people.
    environment: &'static str,
    what: &'static str,
    requirements: &'static str,
    /// Programs that it needs beside them.
    programs: &'static [&'static str],
}

const CLIENTS: Comparison = Comparison {
    step: "wire: official clients",
    environment: "wire-clients",
    what: "the official Python clients",
    requirements: "tests/wire/requirements.txt",
    programs: &[],
};

/// The environment is the one that `cargo xtask bench` measures the reference in. The reference searches with ripgrep
/// where it is, and answers otherwise where it is not. Beside the base of its sandboxes stands the local sandbox.
const REFERENCE: Comparison = Comparison {
    step: "wire: tools of the reference",
    environment: "reference",
    what: "the reference",
    requirements: "tests/parity/requirements.txt",
    programs: &["rg", "bwrap"],
};

/// The steps, for telling that they are left out.
pub const STEPS: [&str; 2] = [CLIENTS.step, REFERENCE.step];

pub fn stage(place: &Place, report: &mut Report) {
    report.check("wire: build", || Runner::programs(place, &["bosun", "bosun-model-server"]));
    CLIENTS.run(place, report, |python| {
        Program::new(place, python).arg("tests/wire/check.py").arg(place.target.join("debug/bosun-model-server"))
    });
    REFERENCE.run(place, report, |python| {
        let environment = place.cache.join(REFERENCE.environment);
        let compare = Program::new(place, python).arg("tests/parity/run.py");
        compare.env("BOSUN_PARITY_VENV", environment).env("BOSUN", place.target.join("debug/bosun"))
    });
}

impl Comparison {
    fn run(&self, place: &Place, report: &mut Report, program: impl FnOnce(PathBuf) -> Program) {
        if let Some(program) = self.programs.iter().find(|program| find(program).is_none()) {
            let reason = format!("{program} is not on this machine: {}", way_to(program));
            return report.skip(self.step, &reason);
        }
        let python = match environment(place, self.environment, self.requirements, self.what) {
            Ok(python) => python,
            Err(error) => {
                say::problem(&format!("{error:#}"));
                let reason = format!(
                    "{} could not be installed; with a network, `cargo xtask test --only wire` tries again",
                    self.what
                );
                return report.skip(self.step, &reason);
            }
        };
        report.step(self.step, || {
            let mut tally = Tally::default();
            let passed = program(python).watched(&mut |line| {
                tally.passed += u32::from(line.starts_with("ok  "));
                tally.failed += u32::from(line.starts_with("FAIL  "));
            })?;
            Ok(tally.settled(passed))
        });
    }
}
