//! Runs the steps of a test run and keeps what became of each.

use std::time::{Duration, Instant};

use super::Tally;
use super::tally::failed;
use crate::exec::Program;
use crate::say;

/// More names than this are told by their number.
const NAMED: usize = 20;

/// What a set-up check takes at most that finds everything in place.
const SET_UP: Duration = Duration::from_secs(2);

struct Row {
    step: String,
    time: Duration,
    outcome: String,
}

/// The steps so far.
pub struct Report {
    rows: Vec<Row>,
    total: Tally,
    start: Instant,
    /// Whether what is left out counts as failed.
    strict: bool,
    warnings: Vec<String>,
    /// Tests that failed at least once, with their steps.
    failed: Vec<String>,
}

impl Report {
    pub fn new(strict: bool) -> Self {
        Self {
            rows: Vec::new(),
            total: Tally::default(),
            start: Instant::now(),
            strict,
            warnings: Vec::new(),
            failed: Vec::new(),
        }
    }

    pub fn total(&self) -> Tally {
        self.total
    }

    /// A part that took time and cannot fail by itself.
    pub fn time(&mut self, step: &str, time: Duration) {
        self.rows.push(Row { step: step.to_owned(), time, outcome: String::new() });
    }

    /// The set-up check, which does nothing but look where everything is in place.
    pub fn set_up(&mut self, time: Duration, only_looked: bool) {
        self.time("set-up: what is missing", time);
        if only_looked && time > SET_UP {
            let (took, limit) = (say::duration(time), say::duration(SET_UP));
            self.warnings.push(format!("nothing was missing, and seeing that took {took} instead of {limit} at most"));
        }
    }

    /// A step that either passes or fails.
    pub fn check(&mut self, step: &str, program: impl FnOnce() -> Program) {
        self.step(step, || program().status().map(Tally::of_check));
    }

    /// A step whose program counts its tests.
    pub fn counted(&mut self, step: &str, program: impl FnOnce() -> Program) {
        let mut names = Vec::new();
        self.step(step, || {
            let mut tally = Tally::default();
            let passed = program().watched(&mut |line| {
                tally.read(line);
                names.extend(failed(line));
            })?;
            Ok(tally.settled(passed))
        });
        self.remember(step, names);
    }

    fn remember(&mut self, step: &str, names: Vec<String>) {
        for name in names {
            let name = format!("{step}: {name}");
            // Runners name it where it fails and again at their end.
            if !self.failed.contains(&name) {
                self.failed.push(name);
            }
        }
    }

    /// A step that is left out.
    pub fn skip(&mut self, step: &str, reason: &str) {
        if self.strict {
            return self.step(step, || anyhow::bail!("nothing may be left out with CI=true: {reason}"));
        }
        self.total.skipped += 1;
        self.rows.push(Row { step: step.to_owned(), time: Duration::ZERO, outcome: format!("skipped: {reason}") });
    }

    pub fn step(&mut self, step: &str, work: impl FnOnce() -> anyhow::Result<Tally>) {
        say::stage(step);
        let start = Instant::now();
        let tally = work().unwrap_or_else(|error| {
            say::problem(&format!("{error:#}"));
            Tally::of_check(false)
        });
        let tally = if self.strict { tally.strictly() } else { tally };
        let outcome = if tally.failed == 0 { "passed" } else { "FAILED" };
        let flaky = if tally.flaky == 0 { String::new() } else { format!(", {} at the second try only", tally.flaky) };
        self.rows.push(Row {
            step: step.to_owned(),
            time: start.elapsed(),
            outcome: format!("{outcome} ({}{flaky})", tally.sentence()),
        });
        self.total.add(tally);
    }

    /// The table of steps and the warnings, then the closing line on standard output, where a reader of the log looks for
    /// it. `limit` is what the whole run may take.
    pub fn print(&self, limit: Option<Duration>) {
        let time = self.start.elapsed();
        say::stage("time per step");
        self.table(time).iter().for_each(|line| say::note(line));
        self.names().iter().for_each(|line| say::note(line));
        self.warnings(time, limit).iter().for_each(|warning| say::warning(warning));
        println!("{}", self.total.sentence());
    }

    fn table(&self, time: Duration) -> Vec<String> {
        let width = self.rows.iter().map(|row| row.step.chars().count()).max().unwrap_or_default();
        let line = |step: &str, time, outcome: &str| {
            format!("{step:width$}  {:>14}  {outcome}", say::duration(time)).trim_end().to_owned()
        };
        let rows = self.rows.iter().map(|row| line(&row.step, row.time, &row.outcome));
        rows.chain([line("in all", time, "")]).collect()
    }

    /// The tests that failed, be it at their first try only: a reader of the log's end need not look for them.
    fn names(&self) -> Vec<String> {
        let more = self.failed.len().saturating_sub(NAMED);
        let rest = (more > 0).then(|| format!("failed: {more} more"));
        self.failed.iter().take(NAMED).map(|name| format!("failed: {name}")).chain(rest).collect()
    }

    fn warnings(&self, time: Duration, limit: Option<Duration>) -> Vec<String> {
        let over = limit.filter(|limit| time > *limit);
        let slow = over
            .map(|limit| format!("the run took {} instead of {} at most", say::duration(time), say::duration(limit)));
        self.warnings.iter().cloned().chain(slow).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Report, Tally};
    use std::time::Duration;

    const REASON: &str = "system packages are missing for something: apt-get install something";

    #[test]
    fn what_is_left_out_is_told_with_its_command_and_with_ci_has_failed() {
        let mut lenient = Report::new(false);
        lenient.skip("a step", REASON);
        assert_eq!(lenient.total(), Tally { skipped: 1, ..Tally::default() });
        assert_eq!(
            lenient.table(Duration::ZERO),
            [format!("a step           0.0 s  skipped: {REASON}"), "in all           0.0 s".to_owned()]
        );
        let mut strict = Report::new(true);
        strict.skip("a step", REASON);
        assert_eq!(strict.total(), Tally { failed: 1, ..Tally::default() });
        assert!(strict.table(Duration::ZERO)[0].ends_with("FAILED (0 passed, 1 failed)"));
    }

    #[test]
    fn with_ci_tests_that_were_left_out_have_failed() {
        let tally = Tally { passed: 4, skipped: 2, ..Tally::default() };
        for (strict, expected) in [(false, tally), (true, Tally { passed: 4, failed: 2, ..Tally::default() })] {
            let mut report = Report::new(strict);
            report.step("tests", || Ok(tally));
            report.step("more tests", || Ok(Tally::default()));
            assert_eq!(report.total(), expected, "strict: {strict}");
        }
    }

    #[test]
    fn what_failed_is_named_once_at_the_end() {
        let mut report = Report::new(false);
        report.remember("a step", vec!["one".into(), "two".into(), "one".into()]);
        assert_eq!(report.names(), ["failed: a step: one", "failed: a step: two"]);
        report.remember("more", (0..20).map(|number| number.to_string()).collect());
        assert_eq!((report.names().len(), report.names()[20].as_str()), (21, "failed: 2 more"));
    }

    #[test]
    fn a_step_that_could_not_be_taken_has_failed() {
        let mut report = Report::new(false);
        report.step("a step", || anyhow::bail!("no such program"));
        report.time("a part", Duration::from_secs(90));
        assert_eq!(report.total(), Tally { failed: 1, ..Tally::default() });
        assert!(report.table(Duration::ZERO)[1].ends_with("1 min 30 s"));
    }

    #[test]
    fn what_takes_too_long_is_said() {
        let said = |set_up: u64, only_looked, run: u64, limit: Option<u64>| {
            let mut report = Report::new(true);
            report.set_up(Duration::from_millis(set_up), only_looked);
            report.warnings(Duration::from_secs(run), limit.map(Duration::from_secs))
        };
        assert!(said(2_000, true, 3_600, Some(3_600)).is_empty());
        assert!(said(90_000, false, 3_601, None).is_empty());
        assert_eq!(
            said(2_100, true, 0, None),
            ["nothing was missing, and seeing that took 2.1 s instead of 2.0 s at most"]
        );
        assert_eq!(said(0, true, 3_601, Some(3_600)), ["the run took 60 min 01 s instead of 60 min 00 s at most"]);
        assert_eq!(said(2_100, true, 3_601, Some(3_600)).len(), 2);
    }
}
