//! `cargo xtask test`: everything that can fail, with the time each part took.
//!
//! One feature set serves every build here, so that the tree of dependencies is compiled once for the tests and checked
//! once for clippy. A failing step does not stop the others: the table at the end tells them all.

use anyhow::{Context, Result, bail};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::exec::Program;
use crate::place::Place;
use crate::setup::{self, Missing, Need, browser};
use crate::{run, ui};

mod cache;
mod fuzz;
mod local;
mod mcp;
#[cfg(unix)]
mod package;
pub mod python;
mod report;
pub mod rust;
mod tally;
mod wire;

use report::Report;
use tally::Tally;

/// The parts one can ask for by name, in the order they run.
const STAGES: [&str; 8] = ["ui", "tree", "rust", "wire", "mcp", "local", "window", "package"];

/// A run of continuous integration should be over by then.
const LONGEST: Duration = Duration::from_mins(60);

/// What the person asked for.
struct Options {
    long: bool,
    stages: Vec<&'static str>,
}

impl Options {
    fn read(arguments: &[String]) -> Result<Self> {
        let mut options = Self { long: false, stages: Vec::new() };
        let mut rest = arguments.iter().map(String::as_str);
        while let Some(argument) = rest.next() {
            match argument {
                "--long" => options.long = true,
                "--only" => options.stages.push(stage_named(rest.next().unwrap_or_default())?),
                other => bail!("`cargo xtask test` takes --long and --only STAGE, not {other:?}"),
            }
        }
        if options.stages.is_empty() {
            options.stages.extend(STAGES);
        }
        Ok(options)
    }

    fn wants(&self, stage: &str) -> bool {
        self.stages.contains(&stage)
    }

    /// What the whole run may take. Who asks for the long form expects to wait.
    fn limit(&self, ci: bool) -> Option<Duration> {
        (ci && !self.long).then_some(LONGEST)
    }

    /// Whether anything is compiled.
    fn compiles(&self) -> bool {
        self.stages.iter().any(|stage| *stage != "ui")
    }

    /// Whether the desktop binary is compiled, which embeds the built page.
    fn embeds_page(&self) -> bool {
        self.stages.iter().any(|stage| matches!(*stage, "tree" | "rust" | "window" | "package"))
    }

    fn needs(&self) -> Vec<Need> {
        let mut needs = Vec::new();
        if self.compiles() {
            needs.push(Need::Build);
        }
        if self.wants("rust") {
            needs.push(Need::Places);
        }
        if self.wants("package") {
            needs.push(Need::Package);
        }
        if self.wants("package") && self.long {
            needs.push(Need::Rpm);
        }
        if self.wants("ui") {
            needs.push(Need::Browser);
        }
        if self.wants("window") || self.wants("package") {
            needs.push(Need::Window);
        }
        if self.wants("rust") || self.wants("window") || self.wants("package") {
            needs.push(Need::Keyring);
        }
        if self.wants("wire") || self.wants("mcp") || self.wants("local") {
            needs.push(Need::Python);
        }
        if self.wants("wire") {
            // What the reference searches with.
            needs.push(Need::Bench);
        }
        needs
    }
}

fn stage_named(name: &str) -> Result<&'static str> {
    match STAGES.iter().find(|stage| **stage == name) {
        Some(stage) => Ok(stage),
        None => bail!("there is no stage named {name:?}; the stages are {}", STAGES.join(", ")),
    }
}

pub fn run(place: &Place, arguments: &[String]) -> Result<ExitCode> {
    let options = Options::read(arguments)?;
    let mut report = Report::new(place.ci);
    let start = Instant::now();
    let missing = setup::check(place, &options.needs())?;
    report.set_up(start.elapsed(), missing.was_nothing());
    setup::tell(&missing);
    let prepare = Instant::now();
    if options.wants("ui") || options.embeds_page() {
        ui::install(place)?;
    }
    if options.embeds_page() {
        ui::build(place)?;
    }
    if options.compiles() {
        cache::prepare(place)?;
    }
    report.time("set-up: page, cache", prepare.elapsed());
    if options.wants("ui") {
        ui_stage(place, &missing, &mut report);
    }
    if options.compiles() {
        rust_stages(place, &options, &missing, &mut report)?;
    }
    report.print(options.limit(place.ci));
    Ok(if report.total().failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn ui_stage(place: &Place, missing: &Missing, report: &mut Report) {
    for script in ["check", "lint"] {
        report.check(&format!("ui: {script}"), || Program::npm(place).args(["run", "--silent", script]));
    }
    report.counted("ui: tests", || Program::npm(place).args(["run", "--silent", "test"]));
    match missing.reason(Need::Browser) {
        Some(reason) => report.skip("ui: in a browser", reason),
        None => report.counted("ui: in a browser", || {
            let browser = browser::find(place).unwrap_or_default();
            Program::npm(place).args(["run", "--silent", "test:browser"]).env(browser::VARIABLE, browser)
        }),
    }
}

fn rust_stages(place: &Place, options: &Options, missing: &Missing, report: &mut Report) -> Result<()> {
    let runner = rust::Runner::choose(options.long);
    if options.wants("tree") {
        report.check("tree: format", || rust::format(place));
        report.check("tree: clippy", || rust::clippy(place));
        report.check("tree: fuzz targets", || fuzz::check(place));
    }
    if options.embeds_page() {
        report.check("build", || runner.build(place));
    }
    if options.wants("tree") {
        report.counted("tree: layering", || runner.tests(place, &["--test", "tree"]));
    }
    if options.wants("rust") {
        let targets = rust::targets(place)?;
        report.counted("rust: tests", || runner.tests(place, &targets));
        // These look for what they need themselves and pass without it; the table must not be silent about that.
        for (step, need) in [("rust: keyring", Need::Keyring), ("rust: sandbox, SSH, containers", Need::Places)] {
            if let Some(reason) = missing.reason(need) {
                report.skip(step, reason);
            }
        }
        report.counted("rust: examples in docs", || runner.doc_tests(place));
        report.step("run: its program answers", || run_answers(place));
    }
    if options.wants("rust") && options.long {
        report.counted("rust: laws, a million cases each", || runner.laws(place));
        fuzz::stage(place, report);
    }
    if options.wants("wire") {
        match missing.reason(Need::Python) {
            Some(reason) => wire::STEPS.iter().for_each(|step| report.skip(step, reason)),
            None => wire::stage(place, report),
        }
    }
    if options.wants("mcp") {
        match missing.reason(Need::Python) {
            Some(reason) => report.skip("mcp: published servers", reason),
            None => mcp::stage(place, &runner, report),
        }
    }
    if options.wants("local") && options.long {
        match missing.reason(Need::Python) {
            Some(reason) => report.skip("local: llama-cpp-python", reason),
            None => local::stage(place, &runner, report),
        }
    }
    if options.wants("window") {
        match missing.reason(Need::Window) {
            Some(reason) => report.skip("window: tests", reason),
            // One window at a time, also without nextest's own rules for it.
            None => report
                .counted("window: tests", || runner.tests(place, &["--test", "window"]).env("RUST_TEST_THREADS", "1")),
        }
        if let (None, Some(reason)) = (missing.reason(Need::Window), missing.reason(Need::Keyring)) {
            report.skip("window: keys in a keyring", reason);
        }
    }
    #[cfg(unix)]
    if options.wants("package") {
        match missing.reason(Need::Window) {
            Some(reason) => report.skip(package::STEP, reason),
            None => package::stage(place, &runner, missing, report),
        }
    }
    Ok(())
}

/// `cargo xtask run -- --version`, built as the tests are, which have built it already.
fn run_answers(place: &Place) -> Result<Tally> {
    let window = run::prepared(place, &["--".to_owned(), "--version".to_owned()], &rust::AS_TESTS)?;
    let text = window.text();
    let said = window.output().with_context(|| format!("`{text}` failed"))?;
    if !said.starts_with("Bosun ") {
        bail!("`{text}` answers {said:?}");
    }
    Ok(Tally::of_check(true))
}

#[cfg(test)]
mod tests {
    use super::{Options, STAGES};
    use crate::setup::Need;
    use std::time::Duration;

    fn read(arguments: &[&str]) -> anyhow::Result<Options> {
        Options::read(&arguments.iter().map(|argument| (*argument).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn without_arguments_every_stage_runs() {
        let options = read(&[]).expect("options");
        assert_eq!(options.stages, STAGES);
        assert_eq!(
            options.needs(),
            [
                Need::Build,
                Need::Places,
                Need::Package,
                Need::Browser,
                Need::Window,
                Need::Keyring,
                Need::Python,
                Need::Bench
            ]
        );
        assert!(!options.long);
        assert_eq!((options.limit(true), options.limit(false)), (Some(Duration::from_secs(3_600)), None));
    }

    #[test]
    fn stages_are_chosen_by_name() {
        let options = read(&["--only", "ui", "--long"]).expect("options");
        assert!(options.long && options.wants("ui") && !options.compiles() && options.needs() == [Need::Browser]);
        assert_eq!(options.limit(true), None);
        assert_eq!(read(&["--only", "package"]).expect("options").needs()[..2], [Need::Build, Need::Package]);
        assert!(read(&["--only", "everything"]).is_err());
        assert!(read(&["--only"]).is_err());
        assert!(read(&["--quick"]).is_err());
    }
}
