//! What the window promises while it is used: `tests/e2e/figures.rs`, run against the optimised app. The tests tell each
//! figure as a line of fields between tabs.

use anyhow::{Context, Result, bail};

use super::Bench;
use super::measure::Sample;
use super::table::{Row, Target};
use crate::exec::Program;
use crate::run::EMBED_PAGE;

pub fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let tests = ["test", "--package", "bosun-desktop", "--test", "window"];
    let only = ["--", "figures::", "--ignored", "--nocapture", "--test-threads=1"];
    let minutes = if bench.long { "60" } else { "10" };
    let cargo = Program::cargo(&bench.place).args(tests).args(EMBED_PAGE).args(only);
    let mut rows = Vec::new();
    let cargo = cargo.env("BOSUN_DESKTOP", &bench.desktop).env("BOSUN_FIGURE_MINUTES", minutes);
    let passed = cargo.watched(&mut |line| rows.extend(row(line).transpose()))?;
    if !passed {
        bail!("the window could not be measured; its own words stand above");
    }
    rows.into_iter().collect()
}

/// The row that a line tells, if it tells one.
fn row(line: &str) -> Result<Option<Row>> {
    // The test runner writes the name of a test before the first line of it.
    let Some((_, fields)) = line.split_once("figure\t") else { return Ok(None) };
    let fields: Vec<&str> = fields.split('\t').collect();
    let [what, unit, under, values] = fields.as_slice() else { bail!("this is no figure: {line}") };
    let number = |text: &str| text.parse::<f64>().with_context(|| format!("{text:?} is no number in: {line}"));
    let target = if under.is_empty() { Target::None } else { Target::Under(number(under)?) };
    let values = values.split(' ').map(number).collect::<Result<Vec<_>>>()?;
    Ok(Some(Row::new(*what, &Sample::from(values), unit, target)))
}

#[cfg(test)]
mod tests {
    use super::row;

    #[test]
    fn figures_among_other_lines() {
        let line = "test figures::x ... figure\topening\tms\t300\t12.5 14 13";
        assert_eq!(row(line).expect("a figure").expect("a row").line().split_whitespace().next(), Some("opening"));
        assert!(row("running 3 tests").expect("no figure").is_none());
        assert!(row("figure\topening\tms\t300\tfast").is_err());
    }
}
