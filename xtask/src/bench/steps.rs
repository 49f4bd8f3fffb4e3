//! What a tool step costs beyond the model: a scripted turn of 100 and of 400 `read_file` calls through `bosun run` with
//! the durable journal on, less a run that answers at once, divided by the number of steps. CPU is that of the `bosun`
//! process alone; the model server is another. Cost that grows with the length of the session would show as a ratio of
//! the two above 1.

use anyhow::Result;

use super::Bench;
use super::desk::{ANSWER, Desk, MANY_STEPS, STEPS, task_of};
use super::measure::{Sample, millis};
use super::table::{Row, Target};

const ROUNDS: usize = 5;
/// A step's cost may not grow with the session: a fifth more at four times the length is the noise of a busy machine and
/// the larger request that goes over the wire.
const LINEAR: Target = Target::Under(1.25);

pub fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let desk = Desk::set_up(bench, "steps")?;
    let mut rows = Vec::new();
    let mut per_step = Vec::new();
    for steps in STEPS {
        let (cpu, wall) = turns(&desk, steps, ROUNDS)?;
        per_step.push(cpu.median());
        rows.push(Row::new(format!("CPU per step, {steps} steps"), &cpu, "ms", Target::Under(1.2)));
        rows.push(Row::new(format!("wall per step, {steps} steps"), &wall, "ms", Target::None));
    }
    if let [short, long] = per_step.as_slice() {
        rows.push(Row::new("CPU per step, 400 steps against 100", &Sample::from(vec![long / short]), "x", LINEAR));
    }
    let (cpu, _) = turns(&desk, MANY_STEPS, 2)?;
    rows.push(Row::new("CPU per step, 2,000 steps with short results", &cpu, "ms", Target::Under(1.5)));
    Ok(rows)
}

/// CPU and wall time per step of turns of so many steps.
fn turns(desk: &Desk, steps: u32, rounds: usize) -> Result<(Sample, Sample)> {
    let (mut cpu, mut wall) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        desk.forget()?;
        let nothing = desk.run(ANSWER)?;
        desk.forget()?;
        let turn = desk.run_unlimited(&task_of(steps))?;
        cpu.push(millis(turn.cpu.saturating_sub(nothing.cpu)) / f64::from(steps));
        wall.push(millis(turn.wall.saturating_sub(nothing.wall)) / f64::from(steps));
    }
    Ok((Sample::from(cpu), Sample::from(wall)))
}
