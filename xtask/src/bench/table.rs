//! Figures as lines for the terminal and as a page of the documentation.

use std::fmt::Write as _;

use super::measure::Sample;
use crate::exec::{Program, find};
use crate::place::Place;

/// What a median is to be, in the unit of its row.
#[derive(Debug, Clone, Copy)]
pub enum Target {
    None,
    Under(f64),
    AtLeast(f64),
}

impl Target {
    fn text(self, unit: &str) -> String {
        match self {
            Self::None => String::new(),
            Self::Under(limit) => format!("under {} {unit}", number(limit)),
            Self::AtLeast(limit) => format!("{} {unit} or more", number(limit)),
        }
    }

    /// Whether `value` is as it is to be; `None` where nothing was promised.
    fn met(self, value: f64) -> Option<bool> {
        match self {
            Self::None => None,
            Self::Under(limit) => Some(value < limit),
            Self::AtLeast(limit) => Some(value >= limit),
        }
    }
}

/// One line of a figure.
pub struct Row {
    what: String,
    median: String,
    spread: String,
    target: String,
    met: Option<bool>,
}

impl Row {
    /// A sample in `unit` (`ms`, `MB`, `x`, `/s`).
    pub fn new(what: impl Into<String>, sample: &Sample, unit: &str, target: Target) -> Self {
        let shown = |value: f64| format!("{} {unit}", number(value));
        let spread = format!("{} to {}", number(sample.lowest()), shown(sample.highest()));
        let met = target.met(sample.median());
        Self { what: what.into(), median: shown(sample.median()), spread, target: target.text(unit), met }
    }

    /// As it is told while measuring.
    pub fn line(&self) -> String {
        let target = self.met.map(|_| format!("   target {}: {}", self.target, self.verdict())).unwrap_or_default();
        format!("{:52} {:>14}   ({}){target}", self.what, self.median, self.spread)
    }

    fn verdict(&self) -> &'static str {
        match self.met {
            None => "",
            Some(true) => "met",
            Some(false) => "**not met**",
        }
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

    /// The page of the documentation: these figures, those of `before` that were not taken, in this order, and what people
    /// wrote below.
    pub fn document(&self, place: &Place, order: impl Iterator<Item = &'static str>, before: &str) -> String {
        let mut page = String::from(
            "# Benchmarks\n\nWritten by `cargo xtask bench --write`: medians of release builds with the lowest and highest \
             value. What each\nfigure measures is described at the top of its file in `xtask/src/bench/`.\n\n",
        );
        // Writing to a string cannot fail.
        writeln!(page, "{}", machine(place)).ok();
        page.push_str("| Figure | | Median | Spread | Target | | Commit |\n|---|---|--:|--:|--:|---|---|\n");
        let commit = commit(place);
        order.for_each(|name| page.push_str(&self.lines(name, &commit, before)));
        page.push_str(notes(before));
        page
    }

    /// The lines of one figure.
    fn lines(&self, name: &str, commit: &str, before: &str) -> String {
        let mut lines = String::new();
        let Some((_, rows)) = self.figures.iter().find(|(taken, _)| *taken == name) else {
            let start = format!("| {name} |");
            before.lines().filter(|line| line.starts_with(&start)).for_each(|line| lines.extend([line, "\n"]));
            return lines;
        };
        for row in rows {
            let Row { what, median, spread, target, .. } = row;
            // Writing to a string cannot fail.
            writeln!(lines, "| {name} | {what} | {median} | {spread} | {target} | {} | {commit} |", row.verdict()).ok();
        }
        lines
    }
}

/// What people wrote below the figures of a page: from the first heading behind them.
fn notes(page: &str) -> &str {
    page.find("\n## ").and_then(|start| page.get(start..)).unwrap_or_default()
}

fn commit(place: &Place) -> String {
    first_line(place, "git", &["rev-parse", "--short", "HEAD"])
}

fn first_line(place: &Place, program: &str, arguments: &[&str]) -> String {
    let text = Program::new(place, program).args(arguments).output().unwrap_or_default();
    text.lines().next().unwrap_or_default().trim().to_owned()
}

/// The machine at the last run, how busy it is, and the versions of what is measured and measured beside.
fn machine(place: &Place) -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let info = read("/proc/cpuinfo");
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("unknown processor", |(_, name)| name).to_owned();
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let memory = read("/proc/meminfo");
    let memory =
        memory.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.parse().ok());
    let memory = memory.map_or_else(String::new, |kib: f64| format!(", {:.0} GB of memory", kib * 1024.0 / 1e9));
    let load = read("/proc/loadavg").split(' ').take(3).collect::<Vec<_>>().join(", ");
    let first = |program: &str, arguments: &[&str]| first_line(place, program, arguments);
    let version = |program: &str| find(program).map(|_| first(program, &["--version"])).filter(|text| !text.is_empty());
    let mut versions: Vec<String> = ["rustc", "rg", "fdfind", "fd"].into_iter().filter_map(version).collect();
    let web = first("pkg-config", &["--modversion", "webkit2gtk-4.1"]);
    if !web.is_empty() {
        versions.push(format!("WebKitGTK {web}"));
    }
    format!(
        "- Machine: {model}, {cores} cores{memory}, {} {}. Load at the end (1, 5, 15 minutes): {load}.\n- Versions: {}.\n",
        first("uname", &["-s"]),
        first("uname", &["-r"]),
        versions.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::{Row, Table, Target, notes, number};
    use crate::bench::measure::Sample;

    #[test]
    fn numbers_are_as_exact_as_they_can_be_trusted() {
        let shown: Vec<_> = [0.0123, 1.234, 12.34, 123.4, 1_234_567.0].map(number).into();
        assert_eq!(shown, ["0.012", "1.23", "12.3", "123", "1,234,567"]);
    }

    #[test]
    fn notes_outlive_the_figures() {
        assert_eq!(notes("# A\n\n| 1 |\n\n## Notes\n\nWhy.\n"), "\n## Notes\n\nWhy.\n");
        assert_eq!(notes("# A\n"), "");
    }

    #[test]
    fn figures_that_were_not_taken_stay_as_they_were() {
        let before = "| start | a | 1 | b0b |\n| steps | b | 2 | b0b |\n| start | c | 3 | b0b |\n";
        let mut table = Table::default();
        table.add("steps", vec![Row::new("b", &Sample::from(vec![5.0]), "ms", Target::Under(6.0))]);
        assert_eq!(table.lines("start", "abc", before), "| start | a | 1 | b0b |\n| start | c | 3 | b0b |\n");
        let taken = "| steps | b | 5.00 ms | 5.00 to 5.00 ms | under 6.00 ms | met | abc |\n";
        assert_eq!(table.lines("steps", "abc", before), taken);
    }

    #[test]
    fn a_row_tells_its_target() {
        let sample = Sample::from(vec![1.0, 2.0, 4.0]);
        let row = |target| Row::new("a step", &sample, "ms", target).line();
        let missed = row(Target::Under(1.2));
        assert!(missed.ends_with("2.00 ms   (1.00 to 4.00 ms)   target under 1.20 ms: **not met**"), "{missed}");
        assert!(row(Target::AtLeast(2.0)).ends_with("target 2.00 ms or more: met"));
        assert!(row(Target::None).ends_with("(1.00 to 4.00 ms)"));
    }
}
