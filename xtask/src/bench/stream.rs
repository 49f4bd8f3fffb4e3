//! How many text deltas a second of CPU takes in: an answer of 100,000 deltas through `bosun run`, less one that is given
//! at once. The text is written to standard output as it comes. And how much memory the deltas take beside the text itself,
//! which the session keeps: the same text comes in a fifth of them, too.

use anyhow::Result;

use super::Bench;
use super::desk::{ANSWER, COARSE_STREAM, DELTAS, Desk, STREAM};
use super::measure::Sample;
use super::table::{Row, Target};

const ROUNDS: usize = 5;
const MEGABYTE: f64 = 1_000_000.0;

pub fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let desk = Desk::set_up(bench, "stream")?;
    let rate = Sample::take(ROUNDS, || {
        let nothing = desk.run(ANSWER)?;
        let stream = desk.run(STREAM)?;
        Ok(f64::from(DELTAS) / stream.cpu.saturating_sub(nothing.cpu).as_secs_f64())
    })?;
    let more = Sample::take(ROUNDS, || {
        let coarse = desk.run(COARSE_STREAM)?;
        let stream = desk.run(STREAM)?;
        Ok((stream.peak as f64 - coarse.peak as f64) / MEGABYTE)
    })?;
    Ok(vec![
        Row::new("text deltas per second of CPU", &rate, "/s", Target::AtLeast(100_000.0)),
        Row::new("more memory for five times the deltas of one text", &more, "MB", Target::Under(2.0)),
    ])
}
