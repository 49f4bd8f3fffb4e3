use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use pretty_assertions::assert_eq;

use super::{Changed, FileWatch, MAX_PATHS, QUIET};
use crate::VirtualPath;

fn path(name: &str) -> VirtualPath {
    VirtualPath::parse(name).unwrap()
}

fn follow(watch: &mut FileWatch, folder: &Path, name: &str) {
    watch.follow(&path(name), &folder.join(name)).unwrap();
}

/// What is told next, within a time that only a broken watcher needs.
async fn told(watch: &FileWatch) -> Changed {
    let told = async {
        loop {
            tokio::time::sleep(Duration::from_millis(5)).await;
            watch.settled().await;
            if let Some(changed) = watch.noticed() {
                return changed;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), told).await.unwrap()
}

fn paths(names: &[&str]) -> Changed {
    Changed::Paths(names.iter().map(|name| path(name)).collect())
}

#[tokio::test]
async fn followed_files_are_told_and_no_others() {
    let top = tempfile::tempdir().unwrap();
    fs::create_dir(top.path().join("d")).unwrap();
    for name in ["a", "b", "d/c", "other"] {
        fs::write(top.path().join(name), "1").unwrap();
    }
    let mut watch = FileWatch::open().unwrap();
    for name in ["a", "b", "d/c", "not-yet"] {
        follow(&mut watch, top.path(), name);
    }
    fs::read(top.path().join("a")).unwrap();
    fs::write(top.path().join("other"), "2").unwrap();
    fs::write(top.path().join("a"), "2").unwrap();
    fs::write(top.path().join("waiting"), "2").unwrap();
    fs::rename(top.path().join("waiting"), top.path().join("d/c")).unwrap();
    assert_eq!(told(&watch).await, paths(&["a", "d/c"]));
    fs::remove_file(top.path().join("b")).unwrap();
    fs::write(top.path().join("not-yet"), "1").unwrap();
    assert_eq!(told(&watch).await, paths(&["b", "not-yet"]));
    watch.forget(&top.path().join("a"));
    fs::write(top.path().join("a"), "3").unwrap();
    fs::write(top.path().join("not-yet"), "2").unwrap();
    assert_eq!(told(&watch).await, paths(&["not-yet"]));
}

/// F08: a flood is one notice.
#[tokio::test]
async fn a_flood_is_told_once() {
    let top = tempfile::tempdir().unwrap();
    let mut watch = FileWatch::open().unwrap();
    let names: Vec<String> = (0..MAX_PATHS + 200).map(|number| format!("f{number}")).collect();
    for name in &names {
        follow(&mut watch, top.path(), name);
    }
    for name in &names {
        fs::write(top.path().join(name), "x").unwrap();
    }
    // Nobody asks before all of it was heard.
    let mut heard = 0;
    loop {
        tokio::time::sleep(QUIET * 3).await;
        let now = watch.shared.state().heard;
        if now == heard && heard >= names.len() as u64 {
            break;
        }
        heard = now;
    }
    assert_eq!(watch.noticed(), Some(Changed::Many));
    assert_eq!(watch.noticed(), None, "one notice holds all of it");
    fs::write(top.path().join("f7"), "again").unwrap();
    assert_eq!(told(&watch).await, paths(&["f7"]));
}

#[tokio::test]
async fn many_small_changes_of_one_file_are_one() {
    let top = tempfile::tempdir().unwrap();
    let mut watch = FileWatch::open().unwrap();
    follow(&mut watch, top.path(), "log");
    for number in 0..500 {
        fs::write(top.path().join("log"), number.to_string()).unwrap();
    }
    assert_eq!(told(&watch).await, paths(&["log"]));
    fs::write(top.path().join("log"), "last").unwrap();
    assert_eq!(told(&watch).await, paths(&["log"]));
}

#[tokio::test]
async fn a_folder_that_cannot_be_watched_is_said() {
    let top = tempfile::tempdir().unwrap();
    let mut watch = FileWatch::open().unwrap();
    let error = watch.follow(&path("/gone/a"), &top.path().join("gone/a")).unwrap_err();
    assert!(error.to_string().contains("/gone/a"), "{error}");
    follow(&mut watch, top.path(), "a");
    fs::write(top.path().join("a"), "x").unwrap();
    assert_eq!(told(&watch).await, paths(&["a"]));
}

/// What happens in a folder that moved is nobody's business here, also once another has come to be called like it.
#[tokio::test]
async fn a_folder_that_moved_is_not_watched_by_its_old_name() {
    let top = tempfile::tempdir().unwrap();
    fs::create_dir(top.path().join("docs")).unwrap();
    for name in ["docs/a", "c"] {
        fs::write(top.path().join(name), "1").unwrap();
    }
    let mut watch = FileWatch::open().unwrap();
    for name in ["docs/a", "c"] {
        follow(&mut watch, top.path(), name);
    }
    fs::rename(top.path().join("docs"), top.path().join("old")).unwrap();
    assert_eq!(told(&watch).await, paths(&["/docs/a"]));
    fs::create_dir(top.path().join("docs")).unwrap();
    fs::write(top.path().join("docs/a"), "1").unwrap();
    follow(&mut watch, top.path(), "docs/a");
    // What comes behind it: all that was made before was heard.
    fs::write(top.path().join("c"), "2").unwrap();
    told(&watch).await;
    fs::write(top.path().join("old/a"), "2").unwrap();
    fs::write(top.path().join("c"), "3").unwrap();
    assert_eq!(told(&watch).await, paths(&["/c"]));
    fs::write(top.path().join("docs/a"), "2").unwrap();
    assert_eq!(told(&watch).await, paths(&["/docs/a"]));
}

/// Also where it is one above that is renamed, and as often as that happens.
#[tokio::test]
async fn what_is_in_a_folder_that_moves_is_told_and_followed_no_more() {
    let top = tempfile::tempdir().unwrap();
    fs::create_dir_all(top.path().join("docs/sub")).unwrap();
    for name in ["docs/sub/a", "docs/b", "c"] {
        fs::write(top.path().join(name), "1").unwrap();
    }
    let mut watch = FileWatch::open().unwrap();
    for _ in 0..2 {
        for name in ["docs/sub/a", "docs/b", "c"] {
            follow(&mut watch, top.path(), name);
        }
        assert_eq!(watch.astray(), BTreeSet::new());
        fs::rename(top.path().join("docs"), top.path().join("old")).unwrap();
        assert_eq!(told(&watch).await, paths(&["/docs/sub/a", "/docs/b"]));
        assert_eq!(watch.astray(), BTreeSet::from(["/docs/sub/a", "/docs/b"].map(path)));
        assert!(watch.follow(&path("docs/sub/a"), &top.path().join("docs/sub/a")).is_err(), "it is not there");
        fs::rename(top.path().join("old"), top.path().join("docs")).unwrap();
        // What comes behind it: that it is back was heard.
        fs::write(top.path().join("c"), "2").unwrap();
        assert_eq!(told(&watch).await, paths(&["/c"]));
    }
    follow(&mut watch, top.path(), "docs/sub/a");
    fs::write(top.path().join("docs/sub/a"), "2").unwrap();
    assert_eq!(told(&watch).await, paths(&["/docs/sub/a"]));
}
