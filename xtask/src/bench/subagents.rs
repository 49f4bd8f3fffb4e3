//! What subagents cost: one step of a `bosun run` with the durable journal on sends out 200, each reads three notes and
//! answers. CPU and memory are those of the `bosun` process, less a run that answers at once. The same again with a model
//! that takes half a second for every request: six requests stand behind one another, so that three seconds are ideal.
//!
//! The reference does the same in the same run. Where its subagent took 48 ms, Bosun's was to take less than 3 ms: as a
//! share of the reference's that is asked on a machine of any speed.

use anyhow::Result;

use super::Bench;
use super::desk::{ANSWER, CREW, Desk, SLOW_CREW, SUBAGENTS};
use super::measure::{Sample, millis};
use super::table::{Row, Target};

const ROUNDS: usize = 3;
const IDEAL_SECONDS: f64 = 3.0;
/// CPU per subagent in milliseconds, and what the reference took where that was set.
const PER_SUBAGENT: f64 = 3.0;
const OF_REFERENCE: f64 = 48.0;

pub fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let desk = Desk::set_up(bench, "subagents")?;
    let (mut cpu, mut memory, mut slow) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        desk.forget()?;
        let nothing = desk.run(ANSWER)?;
        desk.forget()?;
        let crew = desk.run_unlimited(&task(CREW))?;
        cpu.push(millis(crew.cpu.saturating_sub(nothing.cpu)) / f64::from(SUBAGENTS));
        memory.push(crew.peak.saturating_sub(nothing.peak) as f64 / 1e6);
        desk.forget()?;
        slow.push(desk.run_unlimited(&task(SLOW_CREW))?.wall.as_secs_f64() / IDEAL_SECONDS);
    }
    let cpu = Sample::from(cpu);
    let reference = desk.reference(bench, &task(CREW), SUBAGENTS, 1)?;
    let share = Sample::from(vec![cpu.median() / reference.median() * 100.0]);
    let target = Target::Under(PER_SUBAGENT / OF_REFERENCE * 100.0);
    Ok(vec![
        Row::new("CPU per subagent, 200 at once", &cpu, "ms", Target::Under(PER_SUBAGENT)),
        Row::new("CPU per subagent of the reference", &reference, "ms", Target::None),
        Row::new("CPU per subagent, share of the reference's", &share, "%", target),
        Row::new("memory beyond a run without them", &Sample::from(memory), "MB", Target::Under(50.0)),
        Row::new("time against the ideal, 0.5 s per request", &Sample::from(slow), "x", Target::Under(1.15)),
    ])
}

fn task(crew: &str) -> String {
    format!("send the {crew}")
}
