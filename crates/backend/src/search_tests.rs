use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use pretty_assertions::assert_eq;

use super::*;
use crate::Unread;
use crate::root::Mounts;

fn path(text: &str) -> VirtualPath {
    VirtualPath::parse(text).unwrap()
}

fn budget() -> Budget {
    Budget::new(Duration::from_secs(60), &CancellationToken::new())
}

fn glob_at(root: &Root, pattern: &str, below: &str) -> Result<GlobResult, BackendError> {
    let query = GlobQuery {
        pattern: pattern.into(),
        path: path(below),
        include_ignored: false,
        cancel: CancellationToken::new(),
    };
    glob(root, &query, &budget())
}

fn found(root: &Root, pattern: &str, below: &str) -> Vec<String> {
    glob_at(root, pattern, below).unwrap().paths.iter().map(ToString::to_string).collect()
}

fn query(pattern: &str, max_count: usize) -> GrepQuery {
    GrepQuery::literal(pattern, max_count)
}

fn put(folder: &Path, name: &str, text: impl AsRef<[u8]>) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn links_are_met_under_their_own_name_once() {
    let top = tempfile::tempdir().unwrap();
    let project = top.path().join("proj");
    put(&project, "real/a.txt", "needle\n");
    put(top.path(), "secret/s.txt", "needle\n");
    symlink("real/a.txt", project.join("link.txt")).unwrap();
    symlink(project.join("real/a.txt"), project.join("abs.txt")).unwrap();
    symlink("real", project.join("folder")).unwrap();
    symlink(".", project.join("self")).unwrap();
    symlink("../secret/s.txt", project.join("out.txt")).unwrap();
    symlink("../secret", project.join("outside")).unwrap();
    symlink("nowhere", project.join("broken.txt")).unwrap();
    let root = Root::open(&project, Mounts::Refuse).unwrap();
    let all = ["/abs.txt", "/link.txt", "/real/a.txt"];
    assert_eq!(found(&root, "*.txt", "/"), all);
    let rows = grep(&root, &query("needle", 100), &budget()).unwrap();
    assert_eq!(rows.matches.iter().map(|row| row.path.to_string()).collect::<Vec<_>>(), all);
    // A link that is named is where the search begins, and its name stays.
    assert_eq!(found(&root, "*", "/folder"), ["/folder/a.txt"]);
    assert_eq!(found(&root, "*", "/link.txt"), ["/link.txt"]);
    assert_eq!(found(&root, "*", "/self/folder"), ["/self/folder/a.txt"]);
    for out in ["/outside", "/out.txt", "/outside/s.txt"] {
        assert_eq!(glob_at(&root, "*", out).unwrap_err(), BackendError::OutsideRoot { path: path(out) });
    }
}

#[test]
fn large_folders_are_shared_out_and_nothing_is_lost() {
    let top = tempfile::tempdir().unwrap();
    for index in 0..1000 {
        put(top.path(), &format!("many/{index:04}.txt"), format!("needle {index}\n"));
        put(top.path(), &format!("{}/{index}", index % 7), "hay\nneedle\n");
    }
    let root = Root::open(top.path(), Mounts::Refuse).unwrap();
    assert_eq!(found(&root, "*", "/").len(), 2000);
    let rows = grep(&root, &query("needle", 5000), &budget()).unwrap();
    assert_eq!((rows.matches.len(), rows.truncated), (2000, None));
    assert!(rows.matches.is_sorted());
    let few = grep(&root, &query("needle", 10), &budget()).unwrap();
    assert_eq!((few.matches.as_slice(), few.truncated), (&rows.matches[..10], Some(Truncation::Count)));
}

#[test]
fn time_that_runs_out_gives_what_there_is() {
    let top = tempfile::tempdir().unwrap();
    put(top.path(), "a", "needle\n");
    let root = Root::open(top.path(), Mounts::Refuse).unwrap();
    let spent = Budget::new(Duration::ZERO, &CancellationToken::new());
    assert_eq!(grep(&root, &query("needle", 10), &spent).unwrap().truncated, Some(Truncation::Budget));
}

#[test]
fn special_files_and_odd_names_are_passed_over() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let top = tempfile::tempdir().unwrap();
    put(top.path(), "a", "needle\n");
    fs::write(top.path().join(OsStr::from_bytes(b"bad\xff")), "needle\n").unwrap();
    put(top.path(), r"..\x", "needle\n");
    let fifo = top.path().join("pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let root = Root::open(top.path(), Mounts::Refuse).unwrap();
    assert_eq!(found(&root, "*", "/"), ["/a"]);
    assert_eq!(grep(&root, &query("needle", 10), &budget()).unwrap().matches.len(), 1);
    assert_eq!(found(&root, "*", "/pipe"), [""; 0]);
}

/// P25: whatever a line's length, memory stays within the searcher's bound.
#[test]
fn a_line_without_end_is_given_up() {
    let top = tempfile::tempdir().unwrap();
    put(top.path(), "long", [b"x".repeat(40 * 1024 * 1024), b"needle".to_vec()].concat());
    put(top.path(), "other", "needle\n");
    let root = Root::open(top.path(), Mounts::Refuse).unwrap();
    let rows = grep(&root, &query("needle", 10), &budget()).unwrap();
    assert_eq!(rows.matches.iter().map(|row| row.path.as_str()).collect::<Vec<_>>(), ["/other"]);
    assert_eq!(rows.truncated, Some(Truncation::Unreadable));
    let reason = "searched only up to a line of over 16 MiB".to_owned();
    assert_eq!(rows.unread, [Unread { path: path("/long"), reason }]);
}

/// The first in the order of paths, by the caller's names, of a start that is a link as well.
#[test]
fn what_could_not_be_read_is_named() {
    let top = tempfile::tempdir().unwrap();
    for name in ["e", "d", "c", "b", "a"] {
        put(top.path(), &format!("real/{name}"), b"x".repeat(17 * 1024 * 1024));
    }
    symlink("real", top.path().join("link")).unwrap();
    let root = Root::open(top.path(), Mounts::Refuse).unwrap();
    for start in ["/real", "/link"] {
        let rows = grep(&root, &GrepQuery { path: path(start), ..query("needle", 10) }, &budget()).unwrap();
        let named: Vec<_> = rows.unread.iter().map(|one| one.path.to_string()).collect();
        assert_eq!(named, ["a", "b", "c"].map(|name| format!("{start}/{name}")));
    }
}

#[test]
fn large_files_are_searched_to_their_end() {
    let top = tempfile::tempdir().unwrap();
    put(top.path(), "large", ["a line of hay\n".repeat(100_000).as_str(), "the needle"].concat());
    put(top.path(), "binary", [b"\0".to_vec(), b"a line of hay\n".repeat(100_000), b"needle".to_vec()].concat());
    put(top.path(), "far", [b"a line of hay\n".repeat(100_000), b"\0\nneedle".to_vec()].concat());
    let root = Root::open(top.path(), Mounts::Refuse).unwrap();
    let rows = grep(&root, &query("needle", 10), &budget()).unwrap();
    let expected = [("/far", 100_002, "needle"), ("/large", 100_001, "the needle")];
    let expected = expected.map(|(name, line, text)| GrepMatch { path: path(name), line, text: text.into() });
    assert_eq!((rows.matches, rows.truncated), (expected.to_vec(), None));
}

#[test]
fn two_thousand_levels_are_no_stack() {
    let top = tempfile::tempdir().unwrap();
    let mut at = rustix::fs::open(top.path(), crate::root::FOLDER, rustix::fs::Mode::empty()).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o755);
    for _ in 0..1999 {
        rustix::fs::mkdirat(&at, "d", mode).unwrap();
        at = rustix::fs::openat(&at, "d", crate::root::FOLDER, rustix::fs::Mode::empty()).unwrap();
    }
    let flags = rustix::fs::OFlags::CREATE | rustix::fs::OFlags::WRONLY;
    rustix::fs::openat(&at, "f", flags, mode).unwrap();
    let root = Root::open(top.path(), Mounts::Refuse).unwrap();
    let deep = format!("/{}f", "d/".repeat(1999));
    assert_eq!(found(&root, "f", "/"), [deep]);
}
