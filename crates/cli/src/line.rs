use std::fmt::Write as _;
use std::io::{self, Write};

use serde::Serialize;

/// Writes `value` as one line of JSON and nothing a terminal would act upon: JSON escapes the old control characters,
/// this the newer ones too.
pub(crate) fn write_line(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_string(value)?;
    if text.chars().any(is_late_control) {
        let mut safe = String::with_capacity(text.len() + 16);
        for c in text.chars() {
            if is_late_control(c) {
                // Writing to a string cannot fail. Such a character only ever stands inside a JSON string.
                write!(safe, "\\u{:04x}", u32::from(c)).ok();
            } else {
                safe.push(c);
            }
        }
        return writeln!(out, "{safe}");
    }
    writeln!(out, "{text}")
}

fn is_late_control(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_value_is_one_line_that_no_terminal_acts_upon_and_reads_back_as_it_was() {
        let value = json!({ "text": "a\nb\u{1b}[0m\u{9b}2J\u{7f}\u{2028}漢" });
        let mut out = Vec::new();
        write_line(&mut out, &value).unwrap();
        let line = String::from_utf8(out).unwrap();
        assert!(!line.trim_end_matches('\n').chars().any(|c| c.is_control() || c == '\u{2028}'), "{line:?}");
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), value);
    }
}
