use pretty_assertions::assert_eq;

use super::*;

fn page(lines: &[&str], start_line: u64, total_lines: u64) -> TextPage {
    let lines = lines.iter().map(|line| (*line).to_owned()).collect();
    TextPage { lines, cut: false, start_line, total_lines, blank: false }
}

type Shown = (Vec<(u32, u32, usize)>, Option<(u32, u32)>, bool);

fn shown(body: PreviewBody) -> Shown {
    let PreviewBody::Text { rows, next, cut, .. } = body else { panic!("{body:?}") };
    let rows = rows.iter().map(|row| (row.line, row.part, row.text.len())).collect();
    (rows, next.map(|place| (place.line, place.part)), cut)
}

#[test]
fn a_long_line_goes_on_in_further_rows() {
    let long = "x".repeat(2_500);
    let lines = [long.as_str(), "", "end"];
    let rows = vec![(7, 0, 1_000), (7, 1, 1_000), (7, 2, 500), (8, 0, 0), (9, 0, 3)];
    assert_eq!(shown(rows_of(&page(&lines, 7, 9), 0)), (rows.clone(), None, false));
    assert_eq!(shown(rows_of(&page(&lines, 7, 12), 2)), (rows[2..].to_vec(), Some((10, 0)), false));
}

#[test]
fn nothing_is_lost_between_two_parts_wherever_characters_begin() {
    let line = "中文".repeat(700);
    let from = |part| parts(&line, part).map(|(_, text)| text).collect::<String>();
    assert_eq!(from(0), line);
    assert_eq!(line.len() - from(2).len(), 1_998);
}

#[test]
fn a_look_has_so_many_rows_and_says_where_the_next_begins() {
    let long = "x".repeat(3_000_000);
    let (rows, next, _) = shown(rows_of(&page(&["a", &long], 1, 2), 0));
    assert_eq!((rows.len(), rows.last().copied(), next), (2_000, Some((2, 1_998, 1_000)), Some((2, 1_999))));
    let (rows, next, cut) = shown(rows_of(&page(&[&long], 2, 2), 1_999));
    assert_eq!((rows.len(), next, cut), (1_001, None, false));
}

#[test]
fn a_line_that_a_page_broke_off_is_cut_only_where_no_page_has_more_of_it() {
    let broken = |lines: &[&str]| TextPage { cut: true, ..page(lines, 1, 3) };
    assert_eq!(shown(rows_of(&broken(&["a", "bb"]), 0)), (vec![(1, 0, 1)], Some((2, 0)), false));
    assert_eq!(shown(rows_of(&broken(&["bb"]), 0)), (vec![(1, 0, 2)], Some((2, 0)), true));
}
