//! What a tool step costs beyond the model: a scripted turn of 100 and of 400 `read_file` calls through `bosun run` with
//! the durable journal on, less a run that answers at once, divided by the number of steps. CPU is that of the `bosun`
//! process alone; the model server is another. Cost that grows with the length of the session would show as a ratio of
//! the two above 1. While the server reads a request Bosun waits, so that the wall time without the server's CPU is
//! Bosun's own.
//!
//! The reference does the same turns in the same run. Where its step took 32 and 94 ms, Bosun's was to take less than
//! 1.2 ms, and less than 1.5 ms with 2,000 steps: as a share of the reference's that is asked on a machine of any speed.

use anyhow::Result;

use super::Bench;
use super::desk::{ANSWER, Desk, MANY_STEPS, STEPS, task_of};
use super::measure::{Sample, millis};
use super::table::{Row, Target};

const ROUNDS: usize = 5;
/// A turn of the reference takes half a minute.
const REFERENCE_ROUNDS: usize = 2;
/// A step's cost may not grow with the session: a fifth more at four times the length is the noise of a busy machine and
/// the larger request that goes over the wire.
const LINEAR: Target = Target::Under(1.25);
/// CPU per step in milliseconds, and what the reference took for each of the lengths where that was set.
const PER_STEP: f64 = 1.2;
const PER_STEP_OF_MANY: f64 = 1.5;
const OF_REFERENCE: [f64; 2] = [32.0, 94.0];

pub fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let desk = Desk::set_up(bench, "steps")?;
    let mut rows = Vec::new();
    let (mut per_step, mut own, mut references) = (Vec::new(), Vec::new(), Vec::new());
    for (steps, of_reference) in STEPS.into_iter().zip(OF_REFERENCE) {
        let Turns { cpu, wall, own: waited } = turns(&desk, steps, ROUNDS)?;
        let reference = desk.reference(bench, &task_of(steps), steps, REFERENCE_ROUNDS)?;
        let share = Sample::from(vec![cpu.median() / reference.median() * 100.0]);
        per_step.push(cpu.median());
        references.push(reference.median());
        own.push(waited.median());
        rows.push(Row::new(format!("CPU per step, {steps} steps"), &cpu, "ms", Target::Under(PER_STEP)));
        rows.push(Row::new(format!("CPU per step of the reference, {steps} steps"), &reference, "ms", Target::None));
        let target = Target::Under(PER_STEP / of_reference * 100.0);
        rows.push(Row::new(format!("CPU per step, share of the reference's, {steps} steps"), &share, "%", target));
        rows.push(Row::new(format!("wall per step, {steps} steps"), &wall, "ms", Target::None));
        rows.push(Row::new(format!("the same without the model server's, {steps} steps"), &waited, "ms", Target::None));
    }
    if let [short, long] = per_step.as_slice() {
        rows.push(Row::new("CPU per step, 400 steps against 100", &Sample::from(vec![long / short]), "x", LINEAR));
    }
    if let [short, long] = own.as_slice() {
        let name = "wall per step without the model server's, 400 steps against 100";
        rows.push(Row::new(name, &Sample::from(vec![long / short]), "x", LINEAR));
    }
    let Turns { cpu, .. } = turns(&desk, MANY_STEPS, 2)?;
    rows.push(Row::new("CPU per step, 2,000 steps with short results", &cpu, "ms", Target::Under(PER_STEP_OF_MANY)));
    if let ([short, _], [reference, _]) = (per_step.as_slice(), references.as_slice()) {
        let name = "CPU per step, 2,000 steps, share of the reference's at 100";
        let share = Sample::from(vec![cpu.median() / reference * 100.0]);
        rows.push(Row::new(name, &share, "%", Target::Under(PER_STEP_OF_MANY / OF_REFERENCE[0] * 100.0)));
        let name = "CPU per step, 2,000 steps against 100";
        rows.push(Row::new(name, &Sample::from(vec![cpu.median() / short]), "x", LINEAR));
    }
    Ok(rows)
}

/// Milliseconds per step.
struct Turns {
    cpu: Sample,
    wall: Sample,
    /// The wall time without what the model server worked.
    own: Sample,
}

fn turns(desk: &Desk, steps: u32, rounds: usize) -> Result<Turns> {
    let (mut cpu, mut wall, mut own) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        desk.forget()?;
        let nothing = desk.run(ANSWER)?;
        desk.forget()?;
        let before = desk.server_cpu();
        let turn = desk.run_unlimited(&task_of(steps))?;
        let served = desk.server_cpu().saturating_sub(before);
        cpu.push(millis(turn.cpu.saturating_sub(nothing.cpu)) / f64::from(steps));
        let waited = turn.wall.saturating_sub(nothing.wall);
        wall.push(millis(waited) / f64::from(steps));
        own.push(millis(waited.saturating_sub(served)) / f64::from(steps));
    }
    Ok(Turns { cpu: Sample::from(cpu), wall: Sample::from(wall), own: Sample::from(own) })
}
