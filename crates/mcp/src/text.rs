//! Text from servers as a model or a person may read it.

/// `text` without what acts on a terminal, reorders what is shown or is not shown at all, cut to `limit` characters.
/// Line ends and tabs stay.
pub fn clean(text: &str, limit: usize) -> String {
    let mut out = String::with_capacity(text.len().min(limit));
    let mut count = 0;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let kept = match c {
            '\u{1b}' | '\u{9b}' => {
                skip_sequence(c, &mut rest);
                continue;
            }
            '\r' | '\u{2028}' | '\u{2029}' => '\n',
            c if is_hidden(c) => continue,
            c => c,
        };
        if count == limit {
            out.push('…');
            break;
        }
        out.push(kept);
        count += 1;
    }
    out
}

/// [`clean`] on one line.
pub(crate) fn line(text: &str, limit: usize) -> String {
    let cleaned = clean(text, limit);
    cleaned.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Controls, direction marks, and characters without a width, which can hide text from a person or turn it around.
pub(crate) fn is_hidden(c: char) -> bool {
    matches!(c,
        '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{ad}' | '\u{61c}' | '\u{180e}'
        | '\u{200b}' | '\u{200e}' | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Leaves out the rest of an escape sequence: up to its final byte, or to the end of the string it carries.
fn skip_sequence(first: char, rest: &mut std::str::Chars<'_>) {
    let kind = if first == '\u{9b}' { Some('[') } else { rest.clone().next() };
    if first == '\u{1b}' && kind.is_some() {
        rest.next();
    }
    match kind {
        Some('[') => {
            // Parameters and intermediates are 0x20 to 0x3f; what follows them ends the sequence.
            while let Some(c) = rest.clone().next() {
                let inside = ('\u{20}'..='\u{3f}').contains(&c);
                if inside || ('\u{40}'..='\u{7e}').contains(&c) {
                    rest.next();
                }
                if !inside {
                    return;
                }
            }
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            for c in rest.by_ref() {
                if matches!(c, '\u{7}' | '\u{9c}' | '\u{1b}' | '\n') {
                    break;
                }
            }
            if rest.clone().next() == Some('\\') {
                rest.next();
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{clean, line};

    #[test]
    fn nothing_hidden_or_acting_comes_through() {
        let table = [
            ("plain\ttext\r\nnext", "plain\ttext\n\nnext"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}after", "after"),
            ("\u{1b}]8;;http://x\u{1b}\\link", "link"),
            ("\u{9b}2Jgone", "gone"),
            ("safe\u{202e}live\u{202c}", "safelive"),
            ("a\u{200b}b\u{feff}c\u{e0041}d", "abcd"),
            ("\u{1b}[", ""),
            ("\u{1b}", ""),
            ("👩‍💻 é 漢字 שלום", "👩‍💻 é 漢字 שלום"),
        ];
        for (given, expected) in table {
            assert_eq!(clean(given, 100), expected, "{given:?}");
        }
    }

    #[test]
    fn length_is_bounded_and_said() {
        assert_eq!(clean(&"x".repeat(1_000), 3), "xxx…");
        assert_eq!(clean("xxx", 3), "xxx");
        assert_eq!(line("a\n\n  b\u{1b}[2J", 50), "a b");
    }
}
