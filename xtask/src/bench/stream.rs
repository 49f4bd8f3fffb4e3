//! How many text deltas a second of CPU takes in: an answer of 100,000 deltas through `bosun run`, less one that is given
//! at once. The text is written to standard output as it comes.

use anyhow::Result;

use super::Bench;
use super::desk::{ANSWER, DELTAS, Desk, STREAM};
use super::measure::Sample;
use super::table::{Row, Target};

const ROUNDS: usize = 5;

pub fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let desk = Desk::set_up(bench, "stream")?;
    let rate = Sample::take(ROUNDS, || {
        let nothing = desk.run(ANSWER)?;
        let stream = desk.run(STREAM)?;
        Ok(f64::from(DELTAS) / stream.cpu.saturating_sub(nothing.cpu).as_secs_f64())
    })?;
    Ok(vec![Row::new("text deltas per second of CPU", &rate, "/s", Target::AtLeast(100_000.0))])
}
