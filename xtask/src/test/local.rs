//! A model server of this machine as it is published, with a model made here. In the long profile only: the server is
//! compiled when it is installed, which takes a while.

use super::python::environment;
use super::report::Report;
use super::rust::Runner;
use crate::place::Place;
use crate::say;

const STEP: &str = "local: llama-cpp-python";
const REQUIREMENTS: &str = "tests/llama/requirements.txt";

pub fn stage(place: &Place, runner: &Runner, report: &mut Report) {
    match environment(place, "llama-server", REQUIREMENTS, "llama-cpp-python, which is compiled here") {
        Ok(python) => {
            report.counted(STEP, || runner.tests(place, &["--test", "llama"]).env("BOSUN_LLAMA_PYTHON", python))
        }
        Err(error) if place.ci => report.step(STEP, || Err(error)),
        Err(error) => {
            say::problem(&format!("{error:#}"));
            let reason = "the server could not be installed; it wants a network, a compiler and some minutes: \
                          `cargo xtask test --long --only local` tries again";
            report.skip(STEP, reason);
        }
    }
}
