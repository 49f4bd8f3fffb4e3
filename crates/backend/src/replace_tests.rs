use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::replace;
use crate::{BackendError, Replacement, VirtualPath};

fn edit(text: &[u8], old: &str, new: &str, all: bool) -> Result<(Vec<u8>, usize), BackendError> {
    replace(text, Replacement { old, new, all }, 1_000_000, &VirtualPath::parse("/f").unwrap())
}

#[test]
fn the_same_after_all_is_no_change() {
    let error = edit(b"a\r\nb", "a\nb", "a\r\nb", false).unwrap_err();
    assert!(matches!(error, BackendError::NothingToChange { .. }), "{error}");
}

#[test]
fn a_result_that_grows_without_bound_is_refused() {
    let error = edit(&b"x".repeat(1000), "x", &"y".repeat(10_000), true).unwrap_err();
    assert!(matches!(error, BackendError::TooLarge { size: 10_000_000, limit: 1_000_000, .. }), "{error}");
}

#[test]
fn what_is_refused_does_not_come_back_whole() {
    let long = "z".repeat(200_000);
    for (text, old) in [("one\n", &*long), (&*format!("{long} {long}"), &*long), ("one", &*format!("{long}\n"))] {
        let sentence = edit(text.as_bytes(), old, "y", false).unwrap_err().to_string();
        assert!(sentence.chars().count() < 700 && sentence.contains(&format!("{}…", "z".repeat(300))), "{sentence}");
    }
}

#[test]
fn a_match_may_begin_or_end_with_a_line_end() {
    assert_eq!(edit(b"a\r\nb\r\nc", "\nb\n", "-", false).unwrap().0, b"a-c");
    assert_eq!(edit(b"a\r\nb", "\n", " ", false).unwrap().0, b"a b");
    assert_eq!(edit(b"a\rb\r\nc\nd", "b\nc\nd", "1\n2\n3", false).unwrap().0, b"a\r1\r\n2\n3");
}

/// A file as files are: one kind of line end, with or without a mark in front and a line end behind.
fn file() -> impl Strategy<Value = (String, &'static str)> {
    let ends = prop_oneof![Just("\n"), Just("\r\n"), Just("\r")];
    (proptest::collection::vec("[abé ]{0,6}", 3..9), ends, any::<bool>(), any::<bool>()).prop_map(
        |(lines, end, mark, last)| {
            let text = lines.join(end);
            (format!("{}{text}{}", if mark { "\u{feff}" } else { "" }, if last { end } else { "" }), end)
        },
    )
}

proptest! {
    /// Law 8: an edit and its inverse restore the bytes. The texts are written with LF, as reading shows them.
    #[test]
    fn an_edit_and_its_inverse_restore_the_bytes(
        (text, end) in file(),
        from in 0_usize..60,
        length in 1_usize..20,
        middle in "[xyz]{1,4}(\n[xyz]{0,4}){0,3}",
    ) {
        let view = text.trim_start_matches('\u{feff}').replace(end, "\n");
        let old: String = view.chars().skip(from).take(length).collect();
        // Unique words, so that either way there is one match.
        let new = format!("<{middle}>");
        prop_assume!(!old.is_empty() && old.matches('\n').count() + 1 < view.matches('\n').count());
        let Ok((edited, 1)) = edit(text.as_bytes(), &old, &new, false) else { return Ok(()) };
        let outside = String::from_utf8(edited.clone()).unwrap().replace(&new.replace('\n', end), "");
        prop_assert_eq!(outside.replace(end, ""), text.replacen(&old.replace('\n', end), "", 1).replace(end, ""));
        let (restored, _) = edit(&edited, &new, &old, false).unwrap();
        prop_assert_eq!(String::from_utf8(restored).unwrap(), text);
    }

    #[test]
    fn replacing_all_is_what_the_standard_library_does(text in "[ab\n]{0,30}", old in "[ab\n]{1,3}", new in "[bc\n]{0,3}") {
        match edit(text.as_bytes(), &old, &new, true) {
            Ok((edited, count)) => {
                prop_assert_eq!(String::from_utf8(edited).unwrap(), text.replace(&old, &new));
                prop_assert_eq!(count, text.matches(&old).count());
            }
            Err(BackendError::NothingToChange { .. }) => prop_assert_eq!(old, new),
            Err(_) => prop_assert!(!text.contains(&old)),
        }
    }
}
