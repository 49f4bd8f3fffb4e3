//! What a task tells the person at the terminal: plain lines, with the time each stage took.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Announces a stage.
pub fn stage(text: &str) {
    line("==>", "1;36", text);
}

/// A remark within a stage.
pub fn note(text: &str) {
    line("   ", "0", text);
}

/// Something that did not work, with the way out.
pub fn problem(text: &str) {
    line("error:", "1;31", text);
}

/// Something that works and is not as it should be.
pub fn warning(text: &str) {
    line("warning:", "1;33", text);
}

/// Something that was left out, with the command that adds it.
pub fn skipped(text: &str) {
    line("skipped:", "1;33", text);
}

fn line(mark: &str, colour: &str, text: &str) {
    // A closed pipe must not end the task: there is nobody left to tell.
    let mut err = std::io::stderr().lock();
    let written = if colour != "0" && err.is_terminal() {
        writeln!(err, "\u{1b}[{colour}m{mark}\u{1b}[0m {text}")
    } else {
        writeln!(err, "{mark} {text}")
    };
    drop(written.and_then(|()| err.flush()));
}

/// Runs `work` as an announced stage and tells how long it took.
pub fn timed<T>(text: &str, work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    stage(text);
    let start = Instant::now();
    let outcome = work()?;
    note(&format!("done in {}", duration(start.elapsed())));
    Ok(outcome)
}

/// A duration as people read it: `0.4 s`, `12 s`, `3 min 05 s`.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 9.95 {
        format!("{seconds:.1} s")
    } else if seconds < 59.5 {
        format!("{seconds:.0} s")
    } else {
        let whole = seconds.round() as u64;
        format!("{} min {:02} s", whole / 60, whole % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::duration;
    use std::time::Duration;

    #[test]
    fn durations_read_as_people_say_them() {
        let said = |ms| duration(Duration::from_millis(ms));
        assert_eq!(said(40), "0.0 s");
        assert_eq!(said(9_940), "9.9 s");
        assert_eq!(said(9_960), "10 s");
        assert_eq!(said(59_600), "1 min 00 s");
        assert_eq!(said(185_000), "3 min 05 s");
    }
}
