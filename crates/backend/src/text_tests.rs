use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::PageScan;
use crate::{BackendError, ReadWindow, TextPage, VirtualPath};

fn scan(bytes: &[u8], step: usize, window: ReadWindow) -> Result<TextPage, BackendError> {
    let path = VirtualPath::parse("/f").unwrap();
    let mut scan = PageScan::new(window);
    for chunk in bytes.chunks(step) {
        scan.feed(chunk).map_err(|reason| BackendError::NotText { path: path.clone(), reason })?;
    }
    scan.finish(&path, window)
}

/// The same by the plainest means.
fn expected(text: &str, window: ReadWindow) -> (Vec<String>, u64) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let unified = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut lines: Vec<&str> = unified.split('\n').collect();
    if lines.last() == Some(&"") {
        lines.pop();
    }
    let page = lines.iter().skip(window.offset as usize).take(window.limit as usize);
    (page.map(|line| (*line).to_owned()).collect(), lines.len() as u64)
}

#[test]
fn where_the_text_is_wrong() {
    let all = ReadWindow { offset: 0, limit: 100 };
    for (bytes, at) in
        [(&b"ab\xe9"[..], 2), (b"\xe2\x82", 0), (b"a\xe2\x82z", 1), (b"\xed\xa0\x80", 0), (b"\xff\xfe", 0)]
    {
        for step in 1..5 {
            let Err(BackendError::NotText { reason, .. }) = scan(bytes, step, all) else { panic!("{bytes:?}") };
            assert!(reason.contains("utf-8") && reason.ends_with(&format!("offset {at}")), "{bytes:?}: {reason}");
        }
    }
    let Err(BackendError::NotText { reason, .. }) = scan(b"abc\0", 2, all) else { panic!() };
    assert_eq!(reason, "binary data: a NUL byte at offset 3");
}

#[test]
fn a_line_longer_than_a_page_keeps_its_place() {
    let text = format!("{}\r\nsecond\n\nthird", "x".repeat(5 * 1024 * 1024));
    let page = scan(text.as_bytes(), 1 << 16, ReadWindow { offset: 0, limit: 10 }).unwrap();
    assert_eq!((page.lines.len(), page.cut, page.total_lines), (1, true, 4));
    let page = scan(text.as_bytes(), 1 << 16, ReadWindow { offset: 1, limit: 10 }).unwrap();
    assert_eq!((page.lines, page.cut), (vec!["second".to_owned(), String::new(), "third".to_owned()], false));
}

proptest! {
    #[test]
    fn chunks_make_no_difference(
        text in "\u{feff}?[aé😀 \r\n]{0,60}",
        step in 1_usize..7,
        offset in 0_u64..8,
        limit in 0_u64..8,
    ) {
        let window = ReadWindow { offset, limit };
        let (lines, total) = expected(&text, window);
        match scan(text.as_bytes(), step, window) {
            Ok(page) => {
                prop_assert_eq!(page.lines, lines);
                prop_assert_eq!((page.total_lines, page.start_line, page.cut), (total, offset + 1, false));
                prop_assert_eq!(page.blank, text.trim_start_matches('\u{feff}').trim().is_empty());
            }
            Err(BackendError::OffsetPastEnd { total_lines, .. }) => {
                prop_assert_eq!(total_lines, total);
                prop_assert!(offset >= total && limit > 0);
            }
            Err(other) => prop_assert!(false, "{}", other),
        }
    }
}
