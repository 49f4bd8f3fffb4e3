//! How well what was typed fits a name. Several words may stand in it in any order; the letters of one word must be there
//! in their order, better in one run, at the beginnings of words and in the last part of a path.

use bosun_store::words_of;

const WHOLE: i64 = 10_000;
const AT_WORD: i64 = 60;
const IN_RUN: i64 = 40;
const IN_NAME: i64 = 500;

/// The higher the better; `None` where a letter is missing.
pub(in crate::sessions) fn score(typed: &str, name: &str) -> Option<i64> {
    let wanted = typed.trim().to_lowercase();
    let text = name.to_lowercase();
    let shorter = -i64::try_from(text.len()).unwrap_or(i64::MAX);
    if wanted.is_empty() {
        return Some(shorter);
    }
    let last = text.trim_end_matches('/').rfind('/').map_or(0, |slash| slash + 1);
    let total = within(&wanted, &text, last).or_else(|| match *words_of(&wanted) {
        [word] if word == wanted => in_order(word, &text, last),
        // All of them, and as well as the one that fits least.
        ref words => words.iter().map(|word| within(word, &text, last)).min().flatten(),
    });
    total.map(|total| total + shorter)
}

fn within(word: &str, text: &str, last: usize) -> Option<i64> {
    match text.get(last..).and_then(|part| part.find(word)) {
        Some(0) => Some(WHOLE + IN_NAME + AT_WORD),
        Some(_) => Some(WHOLE + IN_NAME),
        None => text.contains(word).then_some(WHOLE),
    }
}

fn in_order(wanted: &str, text: &str, last: usize) -> Option<i64> {
    let mut letters = text.char_indices();
    let mut before = '/';
    let (mut total, mut in_run) = (0, false);
    for letter in wanted.chars().filter(|letter| !letter.is_whitespace()) {
        loop {
            let (at, here) = letters.next()?;
            let is_word = !before.is_alphanumeric();
            before = here;
            if here != letter {
                in_run = false;
                continue;
            }
            total += if in_run { IN_RUN } else { 1 };
            total += if is_word { AT_WORD } else { 0 };
            total += if at >= last { 2 } else { 0 };
            in_run = true;
            break;
        }
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn ranked<'n>(typed: &str, names: &[&'n str]) -> Vec<&'n str> {
        let mut found: Vec<_> = names.iter().filter_map(|name| Some((score(typed, name)?, *name))).collect();
        found.sort_by(|(a, one), (b, other)| b.cmp(a).then_with(|| one.cmp(other)));
        found.into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn the_name_counts_more_than_the_way_to_it() {
        let names =
            ["src/clock/mod.rs", "tests/support/clock.rs", "src/auth/session.rs", "docs/o-clock.md", "src/clock/"];
        assert_eq!(
            ranked("clock", &names),
            ["src/clock/", "tests/support/clock.rs", "docs/o-clock.md", "src/clock/mod.rs"]
        );
        assert_eq!(ranked("sas", &names), ["src/auth/session.rs"]);
        assert_eq!(ranked("Übung", &["docs/übung.md"]), ["docs/übung.md"]);
        assert_eq!(ranked("zz", &names), Vec::<&str>::new());
        assert_eq!(ranked("", &["bb", "a"]), ["a", "bb"]);
    }

    #[test]
    fn words_stand_in_any_order_and_in_quotes_as_one() {
        let names = ["src/auth/refresh.rs", "src/auth/session.rs", "docs/refresh the auth.md"];
        assert_eq!(ranked("refresh auth", &names), ["docs/refresh the auth.md", "src/auth/refresh.rs"]);
        assert_eq!(ranked("\"the auth\"", &names), ["docs/refresh the auth.md"]);
        assert_eq!(ranked("refresh zz", &names), Vec::<&str>::new());
        assert_eq!(ranked("src sn", &names), Vec::<&str>::new());
    }
}
