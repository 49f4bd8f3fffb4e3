use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use pretty_assertions::assert_eq;

use super::super::intercepted::intercepted;
use super::super::script;
use crate::{Backend, BackendError, ReadContent, ReadWindow, SandboxBackend, Script, VirtualPath};

/// So many lines are three parts.
const LINES: usize = 72;

/// A mebibyte.
fn line() -> String {
    format!(
        "{}\n",
        "a line of a file that is larger than any that goes over, ".repeat(18_500).split_at(1024 * 1024 - 1).0
    )
}

fn file(folder: &Path) -> fs::File {
    fs::OpenOptions::new().write(true).open(folder.join("large.txt")).unwrap()
}

fn append(folder: &Path, text: &str) {
    let mut file = fs::OpenOptions::new().append(true).open(folder.join("large.txt")).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// What the last line's page has, with the number of all lines, and how many parts were fetched for it. Somebody does
/// `meddle` before each, told how many there were.
async fn last_line(
    text: &[u8],
    meddle: impl Fn(&Path, u32) + Send + Sync + 'static,
) -> (Result<(Vec<String>, u64), BackendError>, u32) {
    let top = tempfile::tempdir().unwrap();
    let folder = top.path().to_owned();
    fs::write(folder.join("large.txt"), text).unwrap();
    let parts = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&parts);
    let executor = intercepted(top.path(), move |Script { text, limit, .. }| {
        if *text == script::READ_PART {
            assert!(*limit < 40 << 20, "more is held than a part");
            meddle(&folder, counted.fetch_add(1, Ordering::Relaxed));
        }
        Ok((*text).into())
    });
    let backend = SandboxBackend::open(executor).await;
    let window = ReadWindow { offset: LINES as u64 - 1, limit: 1 };
    let read = backend.read(&VirtualPath::parse("/large.txt").unwrap(), window).await;
    let told = read.map(|read| match read.content {
        ReadContent::Text(page) => (page.lines, page.total_lines),
        ReadContent::Bytes { .. } => panic!("it is text"),
    });
    (told, parts.load(Ordering::Relaxed))
}

fn whole() -> Vec<u8> {
    line().repeat(LINES).into_bytes()
}

fn last() -> (Vec<String>, u64) {
    (vec![line().trim_end().to_owned()], LINES as u64)
}

#[tokio::test]
async fn a_file_that_rests_is_gone_through_once() {
    assert_eq!(last_line(&whole(), |_, _| {}).await, (Ok(last()), 3));
}

/// A line that grows while it is read: the page is of what stood there when it was looked at.
#[tokio::test]
async fn what_is_appended_meanwhile_is_not_in_it() {
    let (told, parts) = last_line(&whole(), |folder, _| append(folder, "one more\n")).await;
    assert_eq!((told, parts), (Ok(last()), 6));
}

/// F01: never a mixture of two states, which is what the second pass finds out.
#[tokio::test]
async fn what_is_changed_in_place_meanwhile_is_read_anew_or_said() {
    let change = |folder: &Path, part: u32| {
        use std::os::unix::fs::FileExt;
        file(folder).write_all_at(part.to_string().as_bytes(), 0).unwrap();
    };
    let (told, _) = last_line(&whole(), change).await;
    assert_eq!(told, Err(BackendError::Unstable { path: VirtualPath::parse("/large.txt").unwrap() }));
    let once = move |folder: &Path, part: u32| {
        if part == 1 {
            change(folder, part);
        }
    };
    assert_eq!(last_line(&whole(), once).await, (Ok(last()), 6), "it rested afterwards");
}

#[tokio::test]
async fn what_is_cut_meanwhile_is_read_as_it_is_then() {
    let cut = |folder: &Path, part: u32| {
        if part == 1 {
            file(folder).set_len((line().len() * (LINES - 4)) as u64).unwrap();
        }
    };
    let (told, _) = last_line(&whole(), cut).await;
    let total_lines = LINES as u64 - 4;
    let path = VirtualPath::parse("/large.txt").unwrap();
    assert_eq!(told, Err(BackendError::OffsetPastEnd { path, offset: LINES as u64 - 1, total_lines }));
}

#[tokio::test]
async fn what_is_no_text_is_not_fetched_to_its_end() {
    let mut bytes = whole();
    bytes[7] = 0;
    let (told, parts) = last_line(&bytes, |_, _| {}).await;
    assert!(matches!(told, Err(BackendError::NotText { .. })), "{told:?}");
    assert_eq!(parts, 1);
}
