//! What a child process used, and what many measurements say together.

use anyhow::{Context, Result, bail};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// What one run of a program took.
#[derive(Debug, Clone, Copy)]
pub struct Usage {
    pub wall: Duration,
    /// User and system time of the process and the children it waited for.
    pub cpu: Duration,
    /// Highest resident memory in bytes.
    pub peak: u64,
}

/// The task by which xtask has itself started to measure. Linux counts the moment before exec too, so that a program's peak
/// is never below that of whoever starts it: a process that has only just begun, and not one that measured for an hour.
pub const TASK: &str = "measured";

/// Runs `command` to its end with no variables but its own, and with what it says on standard error in `said`; anything but
/// success is an error.
pub fn measured(command: &Command, said: Stdio) -> Result<Usage> {
    let program = command.get_program().to_string_lossy().into_owned();
    let mut measuring = Command::new(std::env::current_exe()?);
    measuring.arg(TASK).arg(command.get_program()).args(command.get_args());
    measuring.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(folder) = command.get_current_dir() {
        measuring.current_dir(folder);
    }
    let told =
        measuring.stdin(Stdio::null()).stderr(said).output().with_context(|| format!("could not run {program}"))?;
    let text = String::from_utf8_lossy(&told.stdout);
    let numbers: Vec<u64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [status, wall, cpu, peak] = numbers.as_slice() else { bail!("{program} could not be started or was lost") };
    if *status != 0 {
        bail!("{program} failed (status {status:#x})");
    }
    Ok(Usage { wall: Duration::from_nanos(*wall), cpu: Duration::from_nanos(*cpu), peak: *peak })
}

/// [`TASK`]: runs a program with its arguments and prints its status, time, time of the processor and peak.
pub fn run(arguments: &[String]) -> Result<ExitCode> {
    let (program, arguments) = arguments.split_first().context("which program?")?;
    let start = Instant::now();
    let mut command = Command::new(program);
    let child =
        command.args(arguments).stdout(Stdio::null()).spawn().with_context(|| format!("could not start {program}"))?;
    let (status, usage) = wait(child.id())?;
    let wall = start.elapsed();
    let cpu = time(usage.ru_utime) + time(usage.ru_stime);
    println!("{} {} {} {}", status.cast_unsigned(), wall.as_nanos(), cpu.as_nanos(), peak(&usage));
    Ok(ExitCode::SUCCESS)
}

/// `wait4` is the only call that tells a child's own usage.
#[allow(unsafe_code, reason = "there is no safe wait4 in the standard library")]
fn wait(pid: u32) -> Result<(i32, libc::rusage)> {
    let pid = libc::pid_t::try_from(pid)?;
    let mut status = 0;
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    loop {
        // SAFETY: both pointers are valid for writes, and `pid` is a child nobody else waits for.
        let reaped = unsafe { libc::wait4(pid, &raw mut status, 0, usage.as_mut_ptr()) };
        if reaped == pid {
            // SAFETY: all bits zero are a valid rusage, and wait4 has filled it.
            return Ok((status, unsafe { usage.assume_init() }));
        }
        let error = std::io::Error::last_os_error();
        if error.kind() != std::io::ErrorKind::Interrupted {
            return Err(error.into());
        }
    }
}

/// User and system time of a process that runs, with its threads that have ended; nothing where the system does not tell.
#[allow(unsafe_code, reason = "there is no safe clock of another process in the standard library")]
pub fn cpu_of(pid: u32) -> Duration {
    #[cfg(target_os = "linux")]
    if let Ok(pid) = libc::pid_t::try_from(pid) {
        let mut clock = 0;
        let mut value = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: both pointers are valid for writes; a process that is gone is an error and nothing more.
        let told = unsafe {
            libc::clock_getcpuclockid(pid, &raw mut clock) == 0 && libc::clock_gettime(clock, &raw mut value) == 0
        };
        if told {
            let seconds = u64::try_from(value.tv_sec).unwrap_or_default();
            return Duration::new(seconds, u32::try_from(value.tv_nsec).unwrap_or_default());
        }
    }
    Duration::ZERO
}

fn time(value: libc::timeval) -> Duration {
    let seconds = u64::try_from(value.tv_sec).unwrap_or_default();
    let micros = u64::try_from(value.tv_usec).unwrap_or_default();
    Duration::from_secs(seconds) + Duration::from_micros(micros)
}

fn peak(usage: &libc::rusage) -> u64 {
    let value = u64::try_from(usage.ru_maxrss).unwrap_or_default();
    // Kibibytes on Linux, bytes on macOS.
    if cfg!(target_os = "macos") { value } else { value * 1024 }
}

/// Many values of one thing.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample(Vec<f64>);

impl Sample {
    /// Takes `count` values after one that is thrown away.
    pub fn take(count: usize, mut one: impl FnMut() -> Result<f64>) -> Result<Self> {
        one()?;
        (0..count).map(|_| one()).collect::<Result<Vec<_>>>().map(Self::from)
    }

    pub fn median(&self) -> f64 {
        let at = |index: usize| self.0.get(index).copied().unwrap_or(f64::NAN);
        let middle = self.0.len() / 2;
        if self.0.len() % 2 == 1 { at(middle) } else { f64::midpoint(at(middle.saturating_sub(1)), at(middle)) }
    }

    /// The value that `part` of 100 values do not exceed.
    pub fn percentile(&self, part: f64) -> f64 {
        let place = (self.0.len() as f64 * part / 100.0).ceil() as usize;
        self.0.get(place.saturating_sub(1)).copied().unwrap_or(f64::NAN)
    }

    pub fn lowest(&self) -> f64 {
        self.0.first().copied().unwrap_or(f64::NAN)
    }

    pub fn highest(&self) -> f64 {
        self.0.last().copied().unwrap_or(f64::NAN)
    }
}

impl From<Vec<f64>> for Sample {
    fn from(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        Self(values)
    }
}

pub fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Takes every file out of memory that the system only keeps for speed; `false` where this is not allowed. The next start
/// of a program is then as it is after the machine was switched on.
pub fn forget_files() -> bool {
    // What was written and is not on disk yet would stay.
    let synced = std::process::Command::new("sync").status().is_ok_and(|status| status.success());
    synced && std::fs::write("/proc/sys/vm/drop_caches", "3").is_ok()
}

#[cfg(test)]
mod tests {
    use super::{Sample, cpu_of};
    use std::process::Command;

    #[test]
    fn the_median_and_the_ends() {
        let sample = Sample::from(vec![9.0, 1.0, 4.0]);
        assert_eq!((sample.lowest(), sample.median(), sample.highest()), (1.0, 4.0, 9.0));
        assert_eq!(Sample::from(vec![4.0, 2.0]).median(), 3.0);
        let hundred = Sample::from((1..=100).map(f64::from).collect::<Vec<_>>());
        assert_eq!((hundred.percentile(95.0), hundred.percentile(100.0)), (95.0, 100.0));
        assert_eq!(Sample::take(2, || Ok(5.0)).expect("values"), Sample::from(vec![5.0, 5.0]));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_time_of_a_process_that_runs_grows_with_its_work() {
        let before = cpu_of(std::process::id());
        let sum: u64 = std::hint::black_box((0..3_000_000_u64).fold(0, |sum, n| sum ^ n.rotate_left(7)));
        assert!(cpu_of(std::process::id()) > before && sum != 1);
        assert_eq!(cpu_of(u32::MAX), std::time::Duration::ZERO);
    }

    #[test]
    #[allow(clippy::zombie_processes, reason = "`wait` reaps them")]
    fn a_child_is_told_apart_from_the_rest() {
        let shell = |script: &str| ["-c".to_owned(), script.to_owned()];
        let loops = shell("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done");
        let child = Command::new("sh").args(loops).spawn().expect("sh");
        let (status, usage) = super::wait(child.id()).expect("an end");
        assert!(
            status == 0 && super::time(usage.ru_utime) > std::time::Duration::ZERO && super::peak(&usage) > 100_000
        );
        let failing = Command::new("sh").args(shell("exit 3")).spawn().expect("sh");
        assert_ne!(super::wait(failing.id()).expect("an end").0, 0);
    }
}
