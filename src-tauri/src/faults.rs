//! Faults of the page, for the log: it has no console that anybody would look into.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bosun_session::export::visible;

/// Characters that are kept of where it happened, of what was said, and of the way there.
const PLACE: usize = 60;
const MESSAGE: usize = 500;
const STACK: usize = 3_000;

/// So many are written within a span; a fault that comes with every frame would leave nothing else in the log.
const MOST: u32 = 12;
const SPAN: Duration = Duration::from_secs(60);

/// How many were written lately.
#[derive(Default)]
pub(crate) struct Faults(Mutex<Lately>);

#[derive(Default)]
struct Lately {
    since: Option<Instant>,
    written: u32,
    /// Those that came beyond, of which the next one tells.
    left_out: u64,
}

impl Faults {
    pub(crate) fn note(&self, place: &str, message: &str, stack: &str) {
        let Some(left_out) = self.admit(Instant::now()) else { return };
        let [place, message, stack] = [(place, PLACE), (message, MESSAGE), (stack, STACK)].map(written);
        if left_out > 0 {
            tracing::error!(left_out, "more faults in the page than are written");
        }
        tracing::error!(%place, said = %message, %stack, "a fault in the page");
    }

    /// How many were left out before this one; `None` where it is one of them.
    fn admit(&self, now: Instant) -> Option<u64> {
        let mut lately = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lately.since.is_none_or(|since| now.duration_since(since) >= SPAN) {
            lately.since = Some(now);
            lately.written = 0;
        }
        if lately.written == MOST {
            lately.left_out = lately.left_out.saturating_add(1);
            return None;
        }
        lately.written += 1;
        Some(std::mem::take(&mut lately.left_out))
    }
}

/// One line of at most so many characters, in which every one can be seen: no text of the page begins a line of the log.
fn written((text, most): (&str, usize)) -> String {
    // What is cut first need not be looked through, however long it is.
    let kept: String = text.chars().take(most).collect();
    let lines: Vec<&str> = kept.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let shown = visible(&lines.join(" | ")).replace('\t', " ");
    if shown.chars().count() <= most && text.chars().nth(most).is_none() {
        return shown;
    }
    shown.chars().take(most - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_of_faults_leaves_room_in_the_log_and_is_counted() {
        let faults = Faults::default();
        let begun = Instant::now();
        let admitted = (0..1_000).filter_map(|_| faults.admit(begun)).collect::<Vec<_>>();
        assert_eq!(admitted, vec![0; MOST as usize]);
        assert_eq!(faults.admit(begun + SPAN / 2), None);
        assert_eq!(faults.admit(begun + SPAN), Some(1_001 - u64::from(MOST)));
        assert_eq!(faults.admit(begun + SPAN), Some(0), "they are told of once");
    }

    #[test]
    fn what_is_written_is_one_line_that_can_be_seen() {
        let forged = "no such row\n2026-01-01T00:00:00Z ERROR approved\u{1b}[2J\r\n\tat \u{202e}x";
        let line = written((forged, MESSAGE));
        assert_eq!(line.lines().count(), 1, "{line}");
        assert!(line.starts_with("no such row | 2026"), "{line}");
        assert!(!line.chars().any(|c| c.is_control() || c == '\u{202e}'), "{line}");
    }

    #[test]
    fn what_is_written_has_a_bound_whatever_it_is_made_of() {
        for text in ["a", "\u{202e}", "海", "\n", "\0"] {
            let line = written((&text.repeat(3 << 20), MESSAGE));
            assert!(line.chars().count() <= MESSAGE, "{text:?}: {}", line.chars().count());
        }
        let whole = "x".repeat(MESSAGE);
        assert_eq!(written((&whole, MESSAGE)), whole);
        assert!(written((&format!("{whole}y"), MESSAGE)).ends_with("x…"));
    }
}
