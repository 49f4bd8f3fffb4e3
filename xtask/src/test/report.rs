//! Runs the steps of a test run and keeps what became of each.

use std::time::{Duration, Instant};

use super::Tally;
use crate::exec::Program;
use crate::say;

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
}

impl Report {
    pub fn new(strict: bool) -> Self {
        Self { rows: Vec::new(), total: Tally::default(), start: Instant::now(), strict }
    }

    pub fn total(&self) -> Tally {
        self.total
    }

    /// A part that took time and cannot fail by itself.
    pub fn time(&mut self, step: &str, time: Duration) {
        self.rows.push(Row { step: step.to_owned(), time, outcome: String::new() });
    }

    /// A step that either passes or fails.
    pub fn check(&mut self, step: &str, program: impl FnOnce() -> Program) {
        self.step(step, || program().status().map(Tally::of_check));
    }

    /// A step whose program counts its tests.
    pub fn counted(&mut self, step: &str, program: impl FnOnce() -> Program) {
        self.step(step, || {
            let mut tally = Tally::default();
            let passed = program().watched(&mut |line| tally.read(line))?;
            Ok(tally.settled(passed))
        });
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

    /// The table of steps, then the closing line on standard output, where a reader of the log looks for it.
    pub fn print(&self) {
        say::stage("time per step");
        let width = self.rows.iter().map(|row| row.step.chars().count()).max().unwrap_or_default();
        for row in &self.rows {
            let line = format!("{:width$}  {:>14}  {}", row.step, say::duration(row.time), row.outcome);
            say::note(line.trim_end());
        }
        say::note(&format!("{:width$}  {:>14}", "in all", say::duration(self.start.elapsed())));
        println!("{}", self.total.sentence());
    }
}
