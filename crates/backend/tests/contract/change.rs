use std::sync::Arc;
use std::time::{Duration, Instant};

use bosun_backend::{Backend, BackendError, ContentHash, Expect, ReadWindow, Replacement, Unwitnessed};
use pretty_assertions::assert_eq;

use crate::support::{Witness, bytes, edit, given, names, page, path, stamp, text, write};

pub async fn parents_are_made(backend: &dyn Backend) {
    let change = write(backend, "/x/y/z.txt", "a\r\nb", Expect::Absent).await.unwrap();
    assert_eq!(text(backend, "/x/y/z.txt").await, "a\r\nb");
    assert_eq!((change.path, change.before, change.occurrences), (path("/x/y/z.txt"), None, 0));
    let after = change.after.unwrap();
    assert_eq!((after.size, after.hash.clone()), (4, Some(ContentHash::of(b"a\r\nb"))));
    assert!(after.same_content(&stamp(backend, "/x/y/z.txt").await));
}

pub async fn absent_means_absent(backend: &dyn Backend) {
    given(backend, &[("/a", "old")]).await;
    let error = write(backend, "/a", "new", Expect::Absent).await.unwrap_err();
    assert_eq!(error, BackendError::AlreadyExists { path: path("/a") });
    assert_eq!(text(backend, "/a").await, "old");
}

pub async fn unchanged_means_unchanged(backend: &dyn Backend) {
    given(backend, &[("/a", "old")]).await;
    let seen = stamp(backend, "/a").await;
    let first = write(backend, "/a", "mine", Expect::Unchanged(seen.clone())).await.unwrap();
    assert_eq!(first.before, Some(ContentHash::of(b"old")));
    let stale = write(backend, "/a", "again", Expect::Unchanged(seen.clone())).await.unwrap_err();
    assert_eq!(stale, BackendError::Changed { path: path("/a") });
    assert_eq!(text(backend, "/a").await, "mine");
    // Back to the bytes that were read: by hash, that is unchanged.
    given(backend, &[("/a", "old")]).await;
    write(backend, "/a", "last", Expect::Unchanged(seen.clone())).await.unwrap();
    let missing = write(backend, "/gone", "x", Expect::Unchanged(seen)).await.unwrap_err();
    assert_eq!(missing, BackendError::Changed { path: path("/gone") });
}

pub async fn anything_means_anything(backend: &dyn Backend) {
    write(backend, "/a", "one", Expect::Anything).await.unwrap();
    write(backend, "/a", "two", Expect::Anything).await.unwrap();
    assert_eq!(text(backend, "/a").await, "two");
}

pub async fn the_witness_sees_before_and_after_once(backend: &dyn Backend) {
    given(backend, &[("/a", "old text")]).await;
    let witness = Witness::default();
    let replacement = Replacement { old: "old", new: "new", all: false };
    backend.edit(&path("/a"), replacement, Expect::Anything, &witness).await.unwrap();
    backend.write(&path("/b"), b"b".to_vec(), Expect::Absent, &witness).await.unwrap();
    backend.deleter().unwrap().delete(&path("/a"), Expect::Anything, &witness).await.unwrap();
    // What fails by itself is not witnessed.
    edit(backend, "/b", "nowhere", "x").await.unwrap_err();
    backend.write(&path("/b"), Vec::new(), Expect::Absent, &witness).await.unwrap_err();
    let seen = witness.seen.into_inner().unwrap();
    let text = |bytes: &Option<Arc<[u8]>>| bytes.as_deref().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let rows: Vec<String> = seen
        .iter()
        .map(|change| {
            format!("{} {:?} {:?} -> {:?}", change.path, change.object, text(&change.before), text(&change.after))
        })
        .collect();
    let expected = [
        r#"/a File Some("old text") -> Some("new text")"#,
        r#"/b File None -> Some("b")"#,
        r#"/a File Some("new text") -> None"#,
    ];
    assert_eq!(rows, expected);
}

pub async fn a_refusing_witness_keeps_the_old_bytes(backend: &dyn Backend) {
    given(backend, &[("/a", "old"), ("/dir/x", "x")]).await;
    let witness = Witness { refuses: true, ..Witness::default() };
    let refused = |error: BackendError| assert!(matches!(error, BackendError::NotRecorded { .. }), "{error}");
    refused(backend.write(&path("/a"), b"new".to_vec(), Expect::Anything, &witness).await.unwrap_err());
    refused(backend.write(&path("/new/b"), b"new".to_vec(), Expect::Absent, &witness).await.unwrap_err());
    let replacement = Replacement { old: "old", new: "new", all: false };
    refused(backend.edit(&path("/a"), replacement, Expect::Anything, &witness).await.unwrap_err());
    let deleter = backend.deleter().unwrap();
    refused(deleter.delete(&path("/a"), Expect::Anything, &witness).await.unwrap_err());
    refused(deleter.delete(&path("/dir"), Expect::Anything, &witness).await.unwrap_err());
    assert_eq!(names(backend, "/").await, ["/a", "/dir/"]);
    assert_eq!((text(backend, "/a").await, text(backend, "/dir/x").await), ("old".into(), "x".into()));
}

pub async fn a_file_is_no_folder(backend: &dyn Backend) {
    given(backend, &[("/a", "a"), ("/dir/x", "x")]).await;
    let onto = write(backend, "/dir", "x", Expect::Anything).await.unwrap_err().to_string();
    assert!(onto.contains("is a directory"), "{onto}");
    assert!(write(backend, "/", "x", Expect::Anything).await.is_err());
    assert!(write(backend, "/a/b", "x", Expect::Anything).await.is_err());
    assert!(write(backend, "/a/b/c", "x", Expect::Anything).await.is_err());
    assert_eq!(text(backend, "/a").await, "a");
}

/// What a witness is told suffices to give a file its mode back.
pub async fn modes_are_told_and_given_back(backend: &dyn Backend) {
    given(backend, &[("/d/a", "old"), ("/d/b", "old")]).await;
    let Some(modes) = backend.modes() else { return };
    modes.set_mode(&path("/d/a"), 0o750).await.unwrap();
    modes.set_mode(&path("/d/b"), 0o640).await.unwrap();
    assert_eq!(modes.mode(&path("/d/a")).await, Ok(Some(0o750)));
    let witness = Witness::default();
    let change = backend.write(&path("/d/a"), b"new".to_vec(), Expect::Anything, &witness).await.unwrap();
    let kept = [change.mode, change.mode_after].map(|mode| mode.map(|mode| mode & 0o777));
    assert_eq!(kept, [Some(0o750), Some(0o750)]);
    backend.deleter().unwrap().delete(&path("/d"), Expect::Anything, &witness).await.unwrap();
    let mut told: Vec<_> =
        witness.seen.into_inner().unwrap().iter().map(|change| (change.path.to_string(), change.mode)).collect();
    told.retain(|(name, _)| name != "/d");
    told.sort();
    let told: Vec<_> = told.iter().map(|(name, mode)| (&**name, mode.map(|mode| mode & 0o777))).collect();
    assert_eq!(told, [("/d/a", Some(0o750)), ("/d/a", Some(0o750)), ("/d/b", Some(0o640))]);
    given(backend, &[("/d/a", "again")]).await;
    modes.set_mode(&path("/d/a"), 0o700).await.unwrap();
    let witness = Witness::default();
    backend.deleter().unwrap().delete(&path("/d/a"), Expect::Anything, &witness).await.unwrap();
    assert_eq!(witness.seen.into_inner().unwrap()[0].mode.map(|mode| mode & 0o777), Some(0o700));
    let gone = modes.set_mode(&path("/d/a"), 0o700).await;
    assert_eq!(gone, Err(BackendError::NotFound { path: path("/d/a") }));
    assert_eq!(modes.mode(&path("/d/a")).await, Err(BackendError::NotFound { path: path("/d/a") }));
}

pub async fn deleting_a_file(backend: &dyn Backend) {
    given(backend, &[("/dir/a", "a"), ("/dir/b", "b")]).await;
    let seen = stamp(backend, "/dir/a").await;
    given(backend, &[("/dir/a", "changed")]).await;
    let deleter = backend.deleter().unwrap();
    let stale = deleter.delete(&path("/dir/a"), Expect::Unchanged(seen), &Unwitnessed).await.unwrap_err();
    assert_eq!(stale, BackendError::Changed { path: path("/dir/a") });
    let seen = stamp(backend, "/dir/a").await;
    let changes = deleter.delete(&path("/dir/a"), Expect::Unchanged(seen), &Unwitnessed).await.unwrap();
    assert_eq!(changes.len(), 1);
    assert_eq!((changes[0].before.clone(), changes[0].after.clone()), (Some(ContentHash::of(b"changed")), None));
    assert_eq!(names(backend, "/dir").await, ["/dir/b"]);
}

pub async fn deleting_a_tree(backend: &dyn Backend) {
    given(backend, &[("/d/a", "1"), ("/d/s/b", "2"), ("/d/s/t/.c", "3"), ("/d_evil/x", "4"), ("/e", "5")]).await;
    let witness = Witness::default();
    let changes = backend.deleter().unwrap().delete(&path("/d"), Expect::Anything, &witness).await.unwrap();
    let mut paths: Vec<_> = changes.iter().map(|change| change.path.to_string()).collect();
    paths.sort();
    assert_eq!(paths, ["/d/a", "/d/s/b", "/d/s/t/.c"]);
    assert_eq!(witness.seen.lock().unwrap().len(), 3);
    assert_eq!(names(backend, "/").await, ["/d_evil/", "/e"]);
}

pub async fn deleting_nothing_and_everything(backend: &dyn Backend) {
    given(backend, &[("/a", "a")]).await;
    let deleter = backend.deleter().unwrap();
    for missing in ["/none", "/none/deeper", "/a/b"] {
        let error = deleter.delete(&path(missing), Expect::Anything, &Unwitnessed).await.unwrap_err();
        assert!(error.to_string().contains(missing), "{error}");
    }
    for root in ["/", "", "."] {
        let error = deleter.delete(&path(root), Expect::Anything, &Unwitnessed).await.unwrap_err();
        assert!(matches!(error, BackendError::ProtectedRoot { .. }), "{error}");
    }
    assert_eq!(names(backend, "/").await, ["/a"]);
}

pub async fn transfers_keep_their_order(backend: &dyn Backend) {
    given(backend, &[("/dir/x", "x")]).await;
    let up = backend.upload(vec![
        (path("/one"), vec![0xff, 0x00]),
        (path("/dir"), b"no".to_vec()),
        (path("/dir/x/y"), b"no".to_vec()),
        (path("/two"), b"2".to_vec()),
    ]);
    let up: Vec<bool> = up.await.iter().map(Result::is_ok).collect();
    assert_eq!(up, [true, false, false, true]);
    let down = backend.download(vec![path("/two"), path("/none"), path("/dir"), path("/one")]).await;
    assert_eq!(down[0].as_deref(), Ok(&b"2"[..]));
    assert_eq!(down[1], Err(BackendError::NotFound { path: path("/none") }));
    assert_eq!(down[2], Err(BackendError::IsADirectory { path: path("/dir") }));
    assert_eq!(down[3].as_deref(), Ok(&[0xff, 0x00][..]));
}

/// Every edit that was reported done is in the final bytes; every other was refused in words (security.md F03).
pub async fn writers_of_one_file_do_not_pass_each_other(backend: &dyn Backend) {
    writers(&[backend]).await;
}

/// Two ways to one place.
pub type Handles = [Box<dyn Backend>; 2];

/// The same where they come by two ways, as two processes do (F03, F07).
pub async fn writers_by_two_ways_lose_nothing(handles: &Handles) {
    writers(&[&*handles[0], &*handles[1]]).await;
    // Neither a lock nor what waited is left.
    assert_eq!(names(&*handles[0], "/").await, ["/shared"]);
}

async fn writers(ways: &[&dyn Backend]) {
    given(ways[0], &[("/shared", "start\n")]).await;
    // As many rounds as a far place manages in a while; a near one does all of them.
    let begun = Instant::now();
    let one = |writer: usize| async move {
        let backend = ways[writer % ways.len()];
        let mut done = Vec::new();
        for round in (0..10).take_while(|round| *round == 0 || begun.elapsed() < Duration::from_secs(5)) {
            let seen = match backend.read(&path("/shared"), ReadWindow { offset: 0, limit: 1 }).await {
                Ok(read) => read.stamp,
                // Others put one after the other in its place.
                Err(error) => {
                    assert_eq!(error, BackendError::Unstable { path: path("/shared") });
                    continue;
                }
            };
            let line = format!("{writer}.{round}\n");
            let new = format!("start\n{line}");
            let replacement = Replacement { old: "start\n", new: &new, all: false };
            match backend.edit(&path("/shared"), replacement, Expect::Unchanged(seen), &Unwitnessed).await {
                Ok(_) => done.push(line),
                Err(error @ BackendError::Changed { .. }) => {
                    assert_eq!(error, BackendError::Changed { path: path("/shared") });
                }
                Err(error) => assert_eq!(error, BackendError::Unstable { path: path("/shared") }),
            }
        }
        done
    };
    let done = futures_util::future::join_all((0..20).map(one)).await.concat();
    let mut lines: Vec<_> = text(ways[0], "/shared").await.split_inclusive('\n').map(str::to_owned).collect();
    assert_eq!(lines.remove(0), "start\n");
    lines.sort();
    let mut done = done;
    done.sort();
    assert_eq!(lines, done);
    assert!(!done.is_empty());
}

/// Several files of a project that begins are written at once, into folders that none of them has made yet.
pub async fn writers_of_a_new_folder_share_it(backend: &dyn Backend) {
    let one = |writer: usize| async move {
        // One is refused, and takes none of the others with it.
        if writer == 7 {
            let witness = Witness { refuses: true, ..Witness::default() };
            let refused = backend.write(&path("/new/deep/7"), b"x".to_vec(), Expect::Absent, &witness).await;
            assert!(matches!(refused, Err(BackendError::NotRecorded { .. })), "{refused:?}");
            return;
        }
        write(backend, &format!("/new/deep/{writer}"), &writer.to_string(), Expect::Absent).await.unwrap();
    };
    futures_util::future::join_all((0..20).map(one)).await;
    for writer in (0..20).filter(|writer| *writer != 7) {
        assert_eq!(text(backend, &format!("/new/deep/{writer}")).await, writer.to_string());
    }
}

/// security.md P03, P04, P20: nothing in a name is decoded or folded.
pub async fn names_are_only_names(backend: &dyn Backend) {
    let odd = [
        "/report..final.md",
        "/app/[...slug]/page.tsx",
        "/.../x",
        "/%2e%2e/x",
        "/..%2fx",
        "/a b/ c ",
        "/~/x",
        "/a~b",
        "/-rf",
        "/*",
        "/a\\b",
        "/\u{ff0e}\u{ff0e}\u{2215}x",
        "/caf\u{e9}",
        "/cafe\u{301}",
        "/\u{202e}txt.exe",
        "/\u{1f600}",
        "/new\nline",
    ];
    for name in odd {
        write(backend, name, name, Expect::Absent).await.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    for name in odd {
        assert_eq!(bytes(backend, name).await, name.as_bytes(), "{name}");
        assert_eq!(page(backend, name, 0, 1).await.unwrap().lines[0], name.lines().next().unwrap());
    }
}
