//! Reading what test runners say about how many tests passed.

/// Counts over one or more runs.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    pub passed: u32,
    pub failed: u32,
    /// Left out though it was asked for. What Rust's runners call skipped or ignored was not: tests that others start, and
    /// measurements.
    pub skipped: u32,
    /// Passed at the second try; counted among those that passed.
    pub flaky: u32,
}

impl Tally {
    /// One check that has no counts of its own.
    pub fn of_check(passed: bool) -> Self {
        Self { passed: u32::from(passed), failed: u32::from(!passed), ..Self::default() }
    }

    pub fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.flaky += other.flaky;
    }

    /// Takes in a line if it is the summary of nextest, of cargo's own runner, of vitest or of Python's checks.
    pub fn read(&mut self, line: &str) {
        let line = without_colour(line);
        let text = line.trim();
        // What a failed test said itself is shown with spaces in front, and has its own line of cargo's kind.
        let is_own = !line.starts_with(' ');
        let is_nextest = text.starts_with("Summary [") && text.contains(" run: ");
        let is_cargo = is_own && text.starts_with("test result: ");
        // Vitest counts files as well ("Test Files  2 passed"); only the line of tests counts.
        let is_vitest = text.starts_with("Tests  ");
        let is_plain =
            text.starts_with(|c: char| c.is_ascii_digit()) && text.contains(" passed, ") && text.contains(" failed");
        if is_nextest || is_cargo {
            self.add(Self { skipped: 0, ..counts(text) });
        } else if is_vitest || is_plain {
            self.add(counts(text));
        }
    }

    /// The same where nothing may be left out.
    pub fn strictly(mut self) -> Self {
        self.failed += std::mem::take(&mut self.skipped);
        self
    }

    /// A run that failed without a failing test, or passed without any test, counts as one failure.
    pub fn settled(mut self, passed: bool) -> Self {
        if (!passed && self.failed == 0) || (passed && self == Self::default()) {
            self.failed += 1;
        }
        self
    }

    /// The closing line: `12 passed, 0 failed`, with `, 1 skipped` where something was.
    pub fn sentence(self) -> String {
        let skipped = if self.skipped == 0 { String::new() } else { format!(", {} skipped", self.skipped) };
        format!("{} passed, {} failed{skipped}", self.passed, self.failed)
    }
}

/// Every number that is followed by one of the words.
fn counts(text: &str) -> Tally {
    let words: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let mut tally = Tally::default();
    for pair in words.windows(2) {
        let [number, word] = pair else { continue };
        let Ok(number) = number.parse::<u32>() else { continue };
        match *word {
            "passed" => tally.passed += number,
            "failed" | "timed" => tally.failed += number,
            "skipped" | "ignored" | "todo" => tally.skipped += number,
            "flaky" => tally.flaky += number,
            _ => {}
        }
    }
    tally
}

/// The test that a line tells has failed: a line of nextest, of cargo's own runner, of vitest or of Node's runner.
pub fn failed(line: &str) -> Option<String> {
    let line = without_colour(line);
    let text = line.trim();
    // What became of the test, how long it took, which of how many it was, its name.
    let of_nextest = || {
        let (outcome, rest) = text.split_once(" [")?;
        let mut words = outcome.split(' ');
        words.find(|word| ["FAIL", "FLAKY", "TIMEOUT", "TMT", "ABORT"].contains(word) || word.starts_with("SIG"))?;
        let (_, name) = rest.split_once(']')?;
        // Vitest says a file's name in brackets behind the file.
        Some(name.rsplit_once(") ").map_or(name, |(_, name)| name).trim()).filter(|name| !name.is_empty())
    };
    let of_cargo = || text.strip_prefix("test ")?.strip_suffix(" ... FAILED");
    let of_vitest = || text.strip_prefix("FAIL ").map(str::trim).filter(|name| name.contains(" > "));
    // Its time is no part of its name, and without one the line is a heading.
    let of_node = || text.strip_prefix("✖ ")?.rsplit_once(" (").map(|(name, _)| name);
    of_nextest().or_else(of_cargo).or_else(of_vitest).or_else(of_node).map(str::to_owned)
}

fn without_colour(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            for end in chars.by_ref() {
                if end.is_ascii_alphabetic() {
                    break;
                }
            }
        } else {
            plain.push(c);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::{Tally, failed};

    fn read(lines: &[&str]) -> (u32, u32, u32) {
        let mut tally = Tally::default();
        lines.iter().for_each(|line| tally.read(line));
        (tally.passed, tally.failed, tally.skipped)
    }

    #[test]
    fn nextest() {
        assert_eq!(read(&["     Summary [   0.010s] 3 tests run: 3 passed, 0 skipped"]), (3, 0, 0));
        let mixed =
            "     Summary [  12.1s] 9/10 tests run: 6 passed (1 slow, 1 flaky), 2 failed, 1 timed out, 4 skipped";
        assert_eq!(read(&[mixed]), (6, 3, 0));
        let mut tally = Tally::default();
        tally.read(mixed);
        assert_eq!(tally.flaky, 1);
        let shown =
            "    test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 3 filtered out; finished in 2.1s";
        let again = "     Summary [  12.1s] 1 test run: 1 passed (1 flaky), 0 skipped";
        assert_eq!(read(&[shown, again]), (1, 0, 0));
        assert_eq!(
            read(&["\u{1b}[32;1m     Summary\u{1b}[0m [   0.0s] \u{1b}[1m1\u{1b}[0m test run: 1 passed, 0 skipped"]),
            (1, 0, 0)
        );
    }

    #[test]
    fn cargo_test() {
        let line = "test result: ok. 12 passed; 1 failed; 2 ignored; 0 measured; 7 filtered out; finished in 0.02s";
        assert_eq!(read(&[line, line]), (24, 2, 0));
    }

    #[test]
    fn vitest() {
        let lines = [" Test Files  1 failed | 3 passed (4)", "      Tests  2 failed | 41 passed | 1 skipped (44)"];
        assert_eq!(read(&lines), (41, 2, 1));
        let strictly = Tally { passed: 41, skipped: 1, ..Tally::default() }.strictly();
        assert_eq!((strictly.failed, strictly.skipped), (1, 0));
    }

    #[test]
    fn a_plain_closing_line_and_lines_that_are_none() {
        assert_eq!(read(&["14 passed, 0 failed, 1 flaky"]), (14, 0, 0));
        assert_eq!(read(&["        PASS [   0.004s] xtask tests::says_3_passed", "Compiling 3 passed"]), (0, 0, 0));
    }

    #[test]
    fn the_name_of_a_test_that_failed() {
        for (line, name) in [
            ("        FAIL [   0.062s] ( 1/30) bosun-session rights::stay", Some("bosun-session rights::stay")),
            ("\u{1b}[31;1m     TIMEOUT\u{1b}[0m [ 60.0s] bosun-tools slow::one", Some("bosun-tools slow::one")),
            ("  TRY 1 FAIL [   0.062s] ( 1/30) bosun-session rights::stay", Some("bosun-session rights::stay")),
            ("   FLAKY 2/2 [   0.062s] bosun-session rights::stay", Some("bosun-session rights::stay")),
            ("  TRY 2 PASS [   0.062s] bosun-session rights::stay", None),
            ("test tally::reads ... FAILED", Some("tally::reads")),
            (" FAIL  src/app/unsent.test.ts > is stored", Some("src/app/unsent.test.ts > is stored")),
            ("  ✖ a todo (as it is) is dragged (5827.005791ms)", Some("a todo (as it is) is dragged")),
            ("✖ failing tests:", None),
            ("        PASS [   0.004s] xtask tests::says_FAIL", None),
            ("test tally::reads ... ok", None),
        ] {
            assert_eq!(failed(line).as_deref(), name, "{line}");
        }
    }

    #[test]
    fn a_run_that_ends_badly_without_a_failed_test_is_a_failure() {
        let three = Tally { passed: 3, ..Tally::default() };
        assert_eq!(three.settled(true), three);
        assert_eq!(three.settled(false), Tally { failed: 1, ..three });
        assert_eq!(Tally::default().settled(true).failed, 1);
    }

    #[test]
    fn the_closing_sentence() {
        let tally = Tally { passed: 3, failed: 1, ..Tally::default() };
        assert_eq!(tally.sentence(), "3 passed, 1 failed");
        assert_eq!(Tally { skipped: 2, ..tally }.sentence(), "3 passed, 1 failed, 2 skipped");
    }
}
