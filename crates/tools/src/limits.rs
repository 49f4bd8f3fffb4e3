//! Hard caps of results. What is over a cap is left out and said; keeping it elsewhere is the harness's business.

use bosun_backend::BackendError;

/// Longest text of a file tool's result, in characters (behaviour.md 4.3).
pub const RESULT_CHARS: usize = 80_000;
/// Longest output of a command in a result, in characters: the shell's own cap on what it shows, and room for marks.
pub const OUTPUT_CHARS: usize = 101_000;

/// Longest refusal, in characters: what a caller wrote is cut where it is quoted, and a long path can stand in one more than
/// once.
const REFUSAL_CHARS: usize = 2_000;

/// `sentence` with its middle left out where it is very long: what is wrong stands in front, and what to do behind.
pub(crate) fn refusal(sentence: String) -> String {
    const TAIL: usize = 600;
    let count = sentence.chars().count();
    if count <= REFUSAL_CHARS {
        return sentence;
    }
    let head = sentence.chars().take(REFUSAL_CHARS - TAIL - 1);
    head.chain(['…']).chain(sentence.chars().skip(count - TAIL)).collect()
}

/// Lines as long as they fit below [`RESULT_CHARS`] together with what is said about the rest.
pub(crate) struct Listing {
    pub text: String,
    /// Lines in `text`.
    pub shown: usize,
    pub cut: bool,
}

impl Listing {
    /// Joins `lines`; where some are left out, `guidance` is the last line. `room` is what the caller still adds.
    pub(crate) fn of<L: AsRef<str>>(lines: impl IntoIterator<Item = L>, guidance: &str, room: usize) -> Self {
        let budget = RESULT_CHARS.saturating_sub(guidance.chars().count() + room + 2);
        let mut listing = Self { text: String::new(), shown: 0, cut: false };
        let mut used = 0;
        for line in lines {
            let line = line.as_ref();
            let length = line.chars().count() + 1;
            if used + length > budget {
                listing.cut = true;
                break;
            }
            if listing.shown > 0 {
                listing.text.push('\n');
            }
            listing.text.push_str(line);
            used += length;
            listing.shown += 1;
        }
        if listing.cut {
            if listing.shown > 0 {
                listing.text.push('\n');
            }
            listing.text.push_str(guidance);
        }
        listing
    }
}

/// At most `limit` characters around `focus` (a byte offset), with `…` where something is left out.
pub(crate) fn excerpt(text: &str, focus: usize, limit: usize) -> String {
    if text.len() <= limit || text.chars().count() <= limit {
        return text.to_owned();
    }
    let before = text.get(..focus).map_or(0, |head| head.chars().count());
    let from = before.saturating_sub(limit / 4);
    let part: String = text.chars().skip(from).take(limit).collect();
    let cut_after = text.chars().nth(from + limit).is_some();
    format!("{}{part}{}", if from > 0 { "…" } else { "" }, if cut_after { "…" } else { "" })
}

/// Head and tail of `text` within `limit` characters, and how many characters lie between them.
pub(crate) fn head_and_tail(text: &str, limit: usize) -> (String, usize) {
    let count = text.chars().count();
    if count <= limit {
        return (text.to_owned(), 0);
    }
    let half = limit / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(count - half).collect();
    let left_out = count - 2 * half;
    (format!("{head}\n[… {left_out} characters left out …]\n{tail}"), left_out)
}

/// `1 file`, `2 files`.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// What is said of names that are not text, which no path here says.
pub(crate) fn left_out(count: usize) -> Option<String> {
    let names = match count {
        0 => return None,
        1 => "1 name that is not text is".to_owned(),
        _ => format!("{count} names that are not text are"),
    };
    Some(format!("[{names} left out. Only a command can read, rename or delete what is called so.]"))
}

/// What is said of mounts that a search could not look into.
pub(crate) fn not_searched(failed: &[BackendError]) -> impl Iterator<Item = String> {
    failed.iter().map(|error| format!("[Not searched: {error}]"))
}

/// A count as a row shows it.
pub(crate) fn figure(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{Listing, RESULT_CHARS, excerpt, head_and_tail};

    #[test]
    fn a_listing_stays_below_the_cap() {
        let lines: Vec<String> = (0..2_000).map(|line| format!("/{line:0>100}")).collect();
        let listing = Listing::of(&lines, "narrow it", 0);
        assert!(listing.cut && listing.text.chars().count() < RESULT_CHARS);
        assert!(listing.text.ends_with("\nnarrow it"));
        assert_eq!(listing.text.lines().count(), listing.shown + 1);
        let all = Listing::of(["a", "b"], "narrow it", 0);
        assert_eq!((all.text.as_str(), all.shown, all.cut), ("a\nb", 2, false));
        assert_eq!(Listing::of(["x".repeat(RESULT_CHARS)], "narrow it", 0).text, "narrow it");
    }

    #[test]
    fn an_excerpt_shows_its_focus() {
        let text = format!("{}NEEDLE{}", "a".repeat(1_000), "b".repeat(1_000));
        let shown = excerpt(&text, 1_000, 100);
        assert!(shown.starts_with('…') && shown.ends_with('…') && shown.contains("NEEDLE"), "{shown}");
        assert_eq!(excerpt("short", 0, 100), "short");
        assert_eq!(excerpt(&"漢".repeat(50), 0, 100), "漢".repeat(50));
    }

    #[test]
    fn head_and_tail_leave_out_the_middle() {
        let (text, left_out) = head_and_tail(&"ab".repeat(100), 20);
        assert_eq!(left_out, 180);
        assert!(text.starts_with("ababababab\n") && text.ends_with("\nababababab"));
    }
}
