//! What processes use, as Linux tells it.

use rustix::process::Pid;
use std::time::Duration;

/// The kernel's unit of processor time, the same on every Linux machine.
const TICKS_A_SECOND: f64 = 100.0;

/// User and system time of `processes` so far.
pub fn cpu(processes: &[Pid]) -> Duration {
    let of = |pid: &Pid| -> Option<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
        // The name in brackets may hold blanks; user and system time are the 12th and 13th field behind it.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        Some(fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?)
    };
    Duration::from_secs_f64(processes.iter().filter_map(of).sum::<f64>() / TICKS_A_SECOND)
}

/// Proportional set size of `processes` in bytes: a page that several have counts once.
pub fn memory(processes: &[Pid]) -> u64 {
    let of = |pid: &Pid| -> Option<u64> {
        let rollup = std::fs::read_to_string(format!("/proc/{}/smaps_rollup", pid.as_raw_nonzero())).ok()?;
        let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
        line.trim().trim_end_matches("kB").trim().parse().ok()
    };
    processes.iter().filter_map(of).sum::<u64>() * 1024
}
