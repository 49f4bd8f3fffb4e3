//! Figures as lines for the terminal and as a page of the documentation.

use std::fmt::Write as _;

use super::measure::Sample;
use crate::exec::Program;
use crate::place::Place;

/// One line of a figure.
pub struct Row {
    what: String,
    median: String,
    spread: String,
    target: String,
}

impl Row {
    /// A sample in `unit` (`ms`, `MB`, `x`, `/s`); `target` as the issue words it, empty for a figure without one.
    pub fn new(what: impl Into<String>, sample: &Sample, unit: &str, target: &str) -> Self {
        let shown = |value: f64| format!("{} {unit}", number(value));
        let spread = format!("{} to {}", number(sample.lowest()), shown(sample.highest()));
        Self { what: what.into(), median: shown(sample.median()), spread, target: target.to_owned() }
    }

    /// As it is told while measuring.
    pub fn line(&self) -> String {
        let target = if self.target.is_empty() { String::new() } else { format!("   target {}", self.target) };
        format!("{:52} {:>14}   ({}){target}", self.what, self.median, self.spread)
    }
}

/// Three figures, more for large numbers, none for what is noise.
fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => grouped(value.round()),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let length = digits.len();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (length - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// All figures of a run.
#[derive(Default)]
pub struct Table {
    figures: Vec<(&'static str, Vec<Row>)>,
    /// A figure could not be taken.
    pub failed: bool,
}

impl Table {
    pub fn add(&mut self, name: &'static str, rows: Vec<Row>) {
        self.figures.push((name, rows));
    }

    /// The page of the documentation.
    pub fn document(&self, place: &Place) -> String {
        let mut page = String::from(
            "# Benchmarks\n\nWritten by `cargo xtask bench --write`: medians of release builds with the lowest and highest \
             value. What each\nfigure measures is described at the top of its file in `xtask/src/bench/`.\n\n",
        );
        // Writing to a string cannot fail.
        writeln!(page, "Machine: {}.\n", machine(place)).ok();
        page.push_str("| Figure | | Median | Spread | Target |\n|---|---|--:|--:|--:|\n");
        for (name, rows) in &self.figures {
            for row in rows {
                let Row { what, median, spread, target } = row;
                writeln!(page, "| {name} | {what} | {median} | {spread} | {target} |").ok();
            }
        }
        page
    }
}

/// Processor, cores, kernel and compiler.
fn machine(place: &Place) -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("unknown processor", |(_, name)| name).to_owned();
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let said = |program: &str, arguments: &[&str]| {
        let text = Program::new(place, program).args(arguments).output().unwrap_or_default();
        text.trim().to_owned()
    };
    let rustc = said("rustc", &["--version"]);
    format!("{model}, {cores} cores, {} {}, {rustc}", said("uname", &["-s"]), said("uname", &["-r"]))
}

#[cfg(test)]
mod tests {
    use super::{Row, number};
    use crate::bench::measure::Sample;

    #[test]
    fn numbers_are_as_exact_as_they_can_be_trusted() {
        let shown: Vec<_> = [0.0123, 1.234, 12.34, 123.4, 1_234_567.0].map(number).into();
        assert_eq!(shown, ["0.012", "1.23", "12.3", "123", "1,234,567"]);
    }

    #[test]
    fn a_row_tells_its_target() {
        let row = Row::new("a step", &Sample::from(vec![1.0, 2.0, 4.0]), "ms", "under 1.2 ms");
        assert!(row.line().contains("2.00 ms   (1.00 to 4.00 ms)   target under 1.2 ms"), "{}", row.line());
    }
}
