//! What a command said, without what is another at each time it is run: times, how long it took, addresses, numbers of
//! processes and of attempts. Every other number stays: one error less is another outcome.

const UNITS: [&str; 21] = [
    "ns",
    "us",
    "µs",
    "μs",
    "ms",
    "s",
    "m",
    "h",
    "sec",
    "secs",
    "second",
    "seconds",
    "msec",
    "millisecond",
    "milliseconds",
    "min",
    "mins",
    "minute",
    "minutes",
    "hour",
    "hours",
];
/// Behind these stands a number that counts how often something ran, or names what ran it.
const COUNTERS: [&str; 8] = ["attempt", "try", "retry", "run", "pid", "process", "tid", "thread"];

/// `text` with a `#` for all that only says when and where it ran.
pub(super) fn steady(text: &str) -> String {
    let is_between = |c: char| c.is_whitespace() || "()[]{},;\"'`=<>|#".contains(c);
    let pieces: Vec<&str> = text.split_inclusive(is_between).collect();
    let words: Vec<&str> =
        pieces.iter().map(|piece| piece.trim_end_matches(is_between).trim_end_matches(['.', ':'])).collect();
    let mut steady = String::with_capacity(text.len());
    // The last two words, as what stands between them may be empty pieces.
    let mut before = ["", ""];
    for (index, (piece, word)) in pieces.iter().zip(&words).enumerate() {
        let next = || words.get(index + 1..).unwrap_or_default().iter().find(|word| !word.is_empty()).copied();
        if varies(word, before, next) {
            steady.push('#');
            steady.push_str(piece.get(word.len()..).unwrap_or_default());
        } else {
            steady.push_str(piece);
        }
        if !word.is_empty() {
            before = [before[1], word];
        }
    }
    steady
}

fn varies<'a>(word: &str, before: [&str; 2], next: impl FnOnce() -> Option<&'a str>) -> bool {
    if !word.contains(|c: char| c.is_ascii_digit()) {
        return false;
    }
    if is_date(word) || is_clock(word) || is_duration(word) || is_address(word) || is_uuid(word) {
        return true;
    }
    if !word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return false;
    }
    let counts = |word: &str| COUNTERS.iter().any(|counter| word.eq_ignore_ascii_case(counter));
    // Between a thread and its number stands its name.
    counts(before[1]) || before[0] == "thread" || next().is_some_and(|next| UNITS.contains(&next) && next.len() > 1)
}

/// `2026-11-22`, alone or with a time behind it.
fn is_date(word: &str) -> bool {
    word.get(..10).is_some_and(|day| fits(day, "0000-00-00") || fits(day, "0000/00/00"))
        && word.get(10..).is_some_and(|rest| rest.is_empty() || rest.starts_with(['T', '-', ':', '_']))
}

/// `9:05:17`, with parts of a second or not. Two numbers alone are a line and a column.
fn is_clock(word: &str) -> bool {
    let whole = word.split(['.', 'Z', '+']).next().unwrap_or_default();
    fits(whole, "00:00:00") || fits(whole, "0:00:00")
}

/// `0.52s`, `0m0.003s`.
fn is_duration(word: &str) -> bool {
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let mut rest = word;
    while !rest.is_empty() {
        let unit = rest.trim_start_matches(is_number);
        let end = unit.find(is_number).unwrap_or(unit.len());
        let (unit, after) = unit.split_at(end);
        if unit.len() + after.len() == rest.len() || !UNITS.contains(&unit) {
            return false;
        }
        rest = after;
    }
    true
}

/// `0x7ffd5e8c`.
fn is_address(word: &str) -> bool {
    word.strip_prefix("0x").is_some_and(|hex| hex.len() >= 6 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn is_uuid(word: &str) -> bool {
    let lengths = word.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12]) && word.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// Whether `word` is as long as `shape`, has a digit for each `0` and is the same elsewhere.
fn fits(word: &str, shape: &str) -> bool {
    let same = |(byte, wanted): (u8, u8)| if wanted == b'0' { byte.is_ascii_digit() } else { byte == wanted };
    word.len() == shape.len() && word.bytes().zip(shape.bytes()).all(same)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn what_only_says_when_and_where_it_ran_is_the_same() {
        for (one, other) in [
            ("test result: FAILED; finished in 0.52s", "test result: FAILED; finished in 12.07s"),
            ("real\t0m0.003s", "real\t1m2.5s"),
            ("1 failed in 0.4 seconds", "1 failed in 1.25 seconds"),
            ("[2026-11-22 09:05:17] no such host", "[2026-11-23 10:00:00] no such host"),
            ("2026-11-22T09:05:17.123Z error", "2026-11-22T09:05:18.5Z error"),
            ("at 9:05:17.120 it broke", "at 9:05:18.007 it broke"),
            ("<Thing object at 0x7ffd5e8c10>", "<Thing object at 0x55d0aa1b20>"),
            ("Attempt 1 failed.", "Attempt 2 failed."),
            ("pid=4711: refused", "pid=4712: refused"),
            ("thread 'a::b' (4711) panicked at src/a.rs:3:5:", "thread 'a::b' (99) panicked at src/a.rs:3:5:"),
            ("request 1b4e28ba-2fa1-11d2-883f-0016d3cca427", "request 6fa459ea-ee8a-3ca4-894e-db77e160355e"),
        ] {
            assert_eq!(steady(one), steady(other));
        }
    }

    #[test]
    fn what_a_command_found_is_not() {
        for (one, other) in [
            ("3 errors", "2 errors"),
            ("src/a.rs:12:34: expected ;", "src/a.rs:12:35: expected ;"),
            ("exit code 1", "exit code 2"),
            ("expected 5, got 6", "expected 5, got 7"),
            ("40% done", "60% done"),
            ("at 0x1f", "at 0x20"),
            ("version 1.2.3", "version 1.2.4"),
            ("10 minus 2", "11 minus 2"),
        ] {
            assert!(steady(one) != steady(other), "{one}");
        }
        assert_eq!(steady("nothing of it\n  is lost "), "nothing of it\n  is lost ");
    }
}
