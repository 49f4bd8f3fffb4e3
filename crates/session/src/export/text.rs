//! Text of unknown origin on a terminal: what would be acted upon, hidden or moved is written out instead.

use std::borrow::Cow;
use std::fmt::Write;

/// `text` with every character that a terminal would act upon, or that would hide or reorder others, written as
/// `⟨ESC⟩` or `⟨U+202E⟩`. Line feeds and tabs stay, and a carriage return right before a line feed is dropped.
///
/// Nothing is remembered between two calls, so that a stream may be given piece by piece.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(misleads) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\r' if rest.peek() == Some(&'\n') => {}
            c if misleads(c) => mark(&mut shown, c),
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// [`visible`] on one line: white space is folded.
pub fn one_line(text: &str) -> String {
    let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
    visible(&folded).into_owned()
}

/// As [`one_line`], at most `most` characters long.
pub fn short(text: &str, most: usize) -> String {
    let line = one_line(text);
    match line.char_indices().nth(most) {
        Some(_) => {
            let kept: String = line.chars().take(most.saturating_sub(1)).collect();
            format!("{kept}…")
        }
        None => line,
    }
}

fn misleads(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        c if c.is_control() => true,
        // Marks of direction, isolates and overrides, joiners and blanks of no width, line separators, tags.
        '\u{ad}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffc}'
        | '\u{e0000}'..='\u{e007f}' => !matches!(c, '\u{200c}' | '\u{200d}'),
        _ => false,
    }
}

fn mark(shown: &mut String, c: char) {
    let name = match c {
        '\0' => "NUL",
        '\u{7}' => "BEL",
        '\u{8}' => "BS",
        '\r' => "CR",
        '\u{1b}' => "ESC",
        '\u{7f}' => "DEL",
        '\u{9b}' => "CSI",
        '\u{9d}' => "OSC",
        _ => {
            // Writing to a string cannot fail.
            write!(shown, "⟨U+{:04X}⟩", u32::from(c)).ok();
            return;
        }
    };
    write!(shown, "⟨{name}⟩").ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_act_upon_is_written_out() {
        let cases = [
            ("plain\ttext\nwith 漢字 and 👩‍🚀", "plain\ttext\nwith 漢字 and 👩‍🚀"),
            ("\u{1b}[31mred\u{1b}]0;title\u{7}", "⟨ESC⟩[31mred⟨ESC⟩]0;title⟨BEL⟩"),
            ("over\rwritten\r\nline", "over⟨CR⟩written\nline"),
            ("\u{9b}2J\u{7f}\0\u{8}", "⟨CSI⟩2J⟨DEL⟩⟨NUL⟩⟨BS⟩"),
            ("a\u{202e}b\u{200b}c", "a⟨U+202E⟩b⟨U+200B⟩c"),
        ];
        for (given, shown) in cases {
            assert_eq!(visible(given), shown);
        }
    }

    #[test]
    fn lines_are_folded_and_cut_between_characters() {
        assert_eq!(one_line(" a\n  b\tc "), "a b c");
        assert_eq!(short("日本語です", 3), "日本…");
        assert_eq!(short("abc", 3), "abc");
    }
}
