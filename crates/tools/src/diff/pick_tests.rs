use bosun_backend::VirtualPath;
use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::{carried, imposed, open_since, with_hunk, without_hunk};
use crate::diff::{DiffLimits, file_diff};

const BEFORE: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
const AFTER: &str = "1\ntwo\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\nthirteen\n";

fn text(bytes: Option<Vec<u8>>) -> Option<String> {
    bytes.map(|bytes| String::from_utf8(bytes).unwrap())
}

#[test]
fn one_hunk_goes_and_the_other_stays() {
    let (before, after) = (BEFORE.as_bytes(), AFTER.as_bytes());
    assert_eq!(text(without_hunk(before, after, 0)), Some(format!("{BEFORE}thirteen\n")));
    assert_eq!(text(without_hunk(before, after, 1)), Some(BEFORE.replace('2', "two").replace("1two", "12")));
    assert_eq!(text(with_hunk(before, after, 1)), text(without_hunk(before, after, 0)));
    assert_eq!(without_hunk(before, after, 2), None);
    assert_eq!(without_hunk(b"\0a", after, 0), None);
}

#[test]
fn own_edits_stay_when_a_change_is_carried_past_them() {
    let (before, after) = (BEFORE.as_bytes(), AFTER.as_bytes());
    let now = AFTER.replace("7\n", "seven\nand more\n");
    assert_eq!(text(carried(after, before, now.as_bytes())), Some(BEFORE.replace("7\n", "seven\nand more\n")));
    for near in [AFTER.replace("two", "TWO"), AFTER.replace("3\n", "three\n"), AFTER.replace("1\ntwo", "one\ntwo")] {
        assert_eq!(carried(after, before, near.as_bytes()), None, "{near}");
    }
    assert_eq!(carried(after, b"\0", now.as_bytes()), None);
}

#[test]
fn what_both_changed_alike_is_changed_once() {
    let (before, after) = (BEFORE.as_bytes(), AFTER.as_bytes());
    assert_eq!(text(carried(before, after, after)), Some(AFTER.into()));
    let now = BEFORE.replace("2\n", "two\n").replace("1two", "12").replace("7\n", "seven\n");
    assert_eq!(text(carried(before, after, now.as_bytes())), Some(AFTER.replace("7\n", "seven\n")));
    assert_eq!(carried(b"\0a", b"\0b", b"\0b"), Some(b"\0b".to_vec()));
}

#[test]
fn where_they_meet_one_change_stands_and_of_the_other_what_lies_around() {
    let put = |from: &str, to: &str, now: &str| {
        imposed(from.as_bytes(), to.as_bytes(), now.as_bytes())
            .map(|(bytes, parted)| (text(Some(bytes)).unwrap(), parted))
    };
    let said = |text: &str, is_parted: bool| Some((text.to_owned(), is_parted));
    assert_eq!(put("ten\nx\n", "TEN\nx\n", "10\nx\n"), said("TEN\nx\n", false), "the whole place");
    assert_eq!(put("ten\nx\n", "ten\ny\n", "10\nx\n"), said("10\ny\n", false), "right beside it");
    assert_eq!(put("0\na\nb\nc\n9\n", "0\na\nB\nc\n9\n", "0\n9\n"), said("0\nB\n9\n", true), "within it");
    assert_eq!(put("0\na\nb\n9\n", "0\na\nB\n9\n", "0\n1\n2\n3\n9\n"), said("0\n1\n2\n3\nB\n9\n", true));
    assert_eq!(put("a\n", "b\n", "a\n"), said("b\n", false));
    assert_eq!(put("a\nm\nz\n", "a\nm\nZ\n", "A\nm\nz\n"), said("A\nm\nZ\n", false));
    assert_eq!(imposed(b"\0a", b"b", b"c"), None);
}

#[test]
fn what_is_kept_of_a_change_is_open_no_longer() {
    let (before, after) = (BEFORE.as_bytes(), AFTER.as_bytes());
    let open = |kept: &str| text(open_since(before, kept.as_bytes(), after));
    assert_eq!(open(BEFORE), Some(BEFORE.into()), "nothing is kept");
    assert_eq!(open(AFTER), Some(AFTER.into()), "all is kept");
    assert_eq!(open(&AFTER.replace("two", "2")), Some(AFTER.replace("two", "2")), "one place is kept");
    assert_eq!(open(&AFTER.replace("7\n", "seven\n")), Some(AFTER.into()), "what else is open there is no part of it");
    assert_eq!(open(&AFTER.replace("two\n3", "due\ntre")), Some(AFTER.replace("two", "2")), "open in part");
    assert_eq!(open("\0"), None);
}

#[test]
fn the_last_line_without_an_end_is_kept_so() {
    assert_eq!(text(carried(b"a\nb", b"x\nb", b"a\nb")), Some("x\nb".into()));
    assert_eq!(text(without_hunk(b"a\nb", b"a\nb\n", 0)), Some("a\nb".into()));
}

proptest! {
    #[test]
    fn every_hunk_can_go_by_itself(
        before in prop::collection::vec(0u8..4, 0..60),
        after in prop::collection::vec(0u8..4, 0..60),
    ) {
        let lines = |list: &[u8]| list.iter().map(|at| format!("{at}\n")).collect::<String>().into_bytes();
        let (before, after) = (lines(&before), lines(&after));
        let path = VirtualPath::parse("/a").unwrap();
        let count = |after: &[u8]| file_diff(&path, Some(&before), Some(after), DiffLimits::PREVIEW).hunks.len();
        let mut now = after.clone();
        // What is left may be matched anew, but each step takes something away.
        for _ in 0..=count(&after) * 4 {
            match without_hunk(&before, &now, 0) {
                Some(next) => now = next,
                None => break,
            }
        }
        prop_assert_eq!(now, before);
    }

    #[test]
    fn an_edit_carried_forth_and_back_leaves_what_was_there(
        base in prop::collection::vec(0u8..9, 12..40),
        at in 0usize..4,
        own in 8usize..12,
    ) {
        let lines = |list: &[String]| list.concat().into_bytes();
        let base: Vec<String> = base.iter().enumerate().map(|(line, word)| format!("{line} {word}\n")).collect();
        let with = |list: &[String], at: usize, text: &str| {
            let mut list = list.to_vec();
            list[at] = text.to_owned();
            list
        };
        let to = with(&base, at, "agent\n");
        let now = with(&base, own, "person\n");
        let forth = carried(&lines(&base), &lines(&to), &lines(&now)).unwrap();
        prop_assert_eq!(&forth, &lines(&with(&now, at, "agent\n")));
        prop_assert_eq!(carried(&lines(&to), &lines(&base), &forth), Some(lines(&now)));
    }
}
