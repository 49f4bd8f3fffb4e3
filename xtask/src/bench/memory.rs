//! The highest resident memory of a headless answer: one `bosun run` whose model answers at once.

use anyhow::Result;

use super::Bench;
use super::desk::{ANSWER, Desk};
use super::measure::Sample;
use super::table::{Row, Target};

const ROUNDS: usize = 10;

pub fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let desk = Desk::set_up(bench, "memory")?;
    let peak = Sample::take(ROUNDS, || Ok(desk.run(ANSWER)?.peak as f64 / 1e6))?;
    Ok(vec![Row::new("peak memory of a headless answer", &peak, "MB", Target::Under(25.0))])
}
