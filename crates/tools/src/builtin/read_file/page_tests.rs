use bosun_backend::TextPage;
use proptest::prelude::*;

use super::{numbered, plain};
use crate::limits::RESULT_CHARS;

/// What a backend gives of `lines`.
fn page_of(lines: &[String], offset: u64, limit: u64) -> TextPage {
    TextPage {
        lines: lines.iter().skip(offset as usize).take(limit as usize).cloned().collect(),
        cut: false,
        start_line: offset + 1,
        total_lines: lines.len() as u64,
        blank: false,
    }
}

/// The number behind the last `the next offset is`, or `next offset`, of a page.
fn next_offset(text: &str) -> Option<u64> {
    let (_, after) = text.rsplit_once("next offset ")?;
    let digits: String = after.trim_start_matches("is ").chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// Lines as rows show them, long ones put together again.
fn lines_of(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for row in text.lines() {
        let Some((number, piece)) = row.split_once('\t') else { continue };
        match (number.contains('.'), lines.last_mut()) {
            (true, Some(line)) => line.push_str(piece),
            _ => lines.push(piece.to_owned()),
        }
    }
    lines
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => "[a-z漢 ]{0,30}",
        1 => (0_usize..12_000).prop_map(|length| "é".repeat(length)),
        1 => (4_999_usize..=5_001).prop_map(|length| "x".repeat(length)),
    ]
}

proptest! {
    #[test]
    fn following_the_offsets_shows_every_line(lines in prop::collection::vec(line(), 1..60), limit in 3_u64..30) {
        let mut seen = Vec::new();
        let mut offset = 0;
        loop {
            let page = numbered(&page_of(&lines, offset, limit), limit, 0);
            prop_assert!(page.text.chars().count() < RESULT_CHARS);
            let shown = lines_of(&page.text);
            prop_assert_eq!(shown.len(), page.lines);
            prop_assert!(page.text.lines().filter(|row| row.contains('\t')).count() as u64 <= limit);
            seen.extend(shown);
            let next = next_offset(page.text.lines().last().unwrap_or_default());
            prop_assert_eq!(next, (seen.len() < lines.len()).then_some(seen.len() as u64));
            match next {
                Some(next) => offset = next,
                None => break,
            }
        }
        prop_assert_eq!(seen, lines);
    }

    #[test]
    fn the_plain_form_shows_every_line_too(lines in prop::collection::vec(line(), 1..60), limit in 1_u64..60) {
        let mut seen: Vec<String> = Vec::new();
        while seen.len() < lines.len() {
            let page = plain(&page_of(&lines, seen.len() as u64, limit), 0);
            prop_assert!(page.text.chars().count() < RESULT_CHARS);
            let (header, body) = page.text.split_once(" @@\n").unwrap();
            let shown: Vec<String> = body.split('\n').map(str::to_owned).collect();
            prop_assert_eq!(shown.len(), page.lines);
            seen.extend(shown);
            prop_assert_eq!(next_offset(header), (seen.len() < lines.len()).then_some(seen.len() as u64));
        }
        prop_assert_eq!(seen, lines);
    }
}
