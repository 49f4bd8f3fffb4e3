use std::sync::Arc;

use bosun_backend::{Backend, BackendError, Change, ChangeWitness, Delete, Expect, VirtualPath, hand_on};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::fixture::{Canned, Fixture};
use crate::{BoxFuture, Figure, Preview};

fn path(path: &str) -> Value {
    json!({"file_path": path})
}

#[tokio::test]
async fn a_file_that_was_read_goes_and_is_forgotten() {
    let fixture = Fixture::with([("/a.txt", "one\ntwo\n")]);
    let text = fixture.err("delete", path("/a.txt")).await;
    assert!(text.contains("has not been read yet"), "{text}");
    fixture.ok("read_file", path("/a.txt")).await;
    let output = fixture.run("delete", path("/a.txt")).await;
    assert_eq!(output.content, ["Deleted /a.txt".into()]);
    assert_eq!(output.artifact.figures, [Figure::Removed(2)]);
    assert!(output.artifact.diff.unwrap().deleted);
    assert!(!fixture.exists("/a.txt") && !fixture.knows("/a.txt"));
    let gone = fixture.err("delete", path("/a.txt")).await;
    assert!(gone.starts_with("Error: File '/a.txt' not found; "), "{gone}");
}

#[tokio::test]
async fn a_folder_goes_with_everything_in_it() {
    let fixture = Fixture::with([("/dir/a", "a"), ("/dir/sub/.b", "b"), ("/other", "o")]);
    fixture.ok("read_file", path("/dir/a")).await;
    let output = fixture.run("delete", path("/dir/")).await;
    assert_eq!(output.content, ["Deleted /dir (2 files)".into()]);
    assert_eq!(output.artifact.figures, [Figure::Files(2)]);
    assert_eq!(output.artifact.changes.len(), 2);
    assert!(!fixture.exists("/dir") && fixture.exists("/other") && !fixture.knows("/dir/a"));
    std::fs::create_dir(fixture.host("/void")).unwrap();
    assert_eq!(fixture.ok("delete", path("/void")).await, "Deleted /void (0 files)");
}

#[tokio::test]
async fn the_root_and_what_is_outside_are_refused() {
    let fixture = Fixture::with([("/a", "a")]);
    for (given, token) in
        [("/", "root"), ("", "root"), (".", "root"), ("/..", "/.."), ("/none", "File '/none' not found")]
    {
        let text = fixture.err("delete", path(given)).await;
        assert!(text.starts_with("Error: ") && text.contains(token), "{text}");
        assert!(fixture.problem("delete", path(given)).await.contains(token));
    }
    assert!(fixture.exists("/a"));
}

/// P27: more bytes than go over at once, and no text: they cannot be read, and are known by what reading says of them.
#[tokio::test]
async fn a_file_that_is_too_large_to_be_had_and_no_text_goes() {
    const SIZE: u64 = 65 * 1024 * 1024;
    for fixture in [Fixture::with([]), Fixture::behind_an_executor([]).await] {
        let file = std::fs::File::create(fixture.host("/a.bin")).unwrap();
        file.set_len(SIZE).unwrap();
        let text = fixture.err("delete", path("/a.bin")).await;
        assert!(text.contains("has not been read yet"), "{text}");
        let text = fixture.err("read_file", path("/a.bin")).await;
        assert!(text.contains("'/a.bin' is not UTF-8 text") && text.contains("a NUL byte"), "{text}");
        assert!(fixture.knows("/a.bin"));
        file.set_len(SIZE + 1).unwrap();
        let text = fixture.err("delete", path("/a.bin")).await;
        assert!(text.contains("changed"), "{text}");
        assert!(fixture.exists("/a.bin"));
        fixture.err("read_file", path("/a.bin")).await;
        let preview = fixture.preview("delete", path("/a.bin")).await;
        assert!(matches!(preview, Preview::Delete { files: 1, is_dir: false, .. }), "{preview:?}");
        assert_eq!(fixture.ok("delete", path("/a.bin")).await, "Deleted /a.bin");
        assert!(!fixture.exists("/a.bin"));
    }
}

/// On this machine, and behind an executor.
#[cfg(unix)]
#[tokio::test]
async fn of_a_link_only_the_link_goes() {
    let files = [("/target", "t"), ("/dir/inside", "i")];
    for fixture in [Fixture::with(files), Fixture::behind_an_executor(files).await] {
        only_the_link_goes(&fixture).await;
    }
}

#[cfg(unix)]
async fn only_the_link_goes(fixture: &Fixture) {
    use std::os::unix::fs::symlink;
    symlink("target", fixture.host("/link")).unwrap();
    symlink("dir", fixture.host("/folder")).unwrap();
    symlink("nowhere", fixture.host("/broken")).unwrap();
    symlink("loop", fixture.host("/loop")).unwrap();
    symlink("..", fixture.host("/dir/up")).unwrap();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("kept"), "kept").unwrap();
    symlink(outside.path(), fixture.host("/out")).unwrap();
    symlink(outside.path().join("kept"), fixture.host("/file")).unwrap();
    symlink(outside.path().join("none"), fixture.host("/gone")).unwrap();
    let planned = |path: &str, files, is_dir| Preview::Delete { path: path.into(), files, counted_all: true, is_dir };
    assert_eq!(fixture.preview("delete", path("/folder")).await, planned("/folder", 1, false));
    assert_eq!(fixture.preview("delete", path("/dir")).await, planned("/dir", 2, true));
    fixture.ok("read_file", path("/link")).await;
    fixture.ok("delete", path("/link")).await;
    assert_eq!(fixture.ok("delete", path("/folder")).await, "Deleted /folder");
    fixture.ok("delete", path("/broken")).await;
    fixture.ok("delete", path("/loop")).await;
    let text = fixture.err("delete", path("/out/kept")).await;
    assert!(text.contains("'/out/kept' leads outside its root"), "{text}");
    for out in ["/out", "/file", "/gone"] {
        assert_eq!(fixture.preview("delete", path(out)).await, planned(out, 1, false));
        assert!(fixture.err("read_file", path(out)).await.starts_with("Error: "));
        assert_eq!(fixture.ok("delete", path(out)).await, format!("Deleted {out}"));
    }
    for gone in ["/link", "/folder", "/broken", "/loop", "/out", "/file", "/gone"] {
        assert!(!fixture.exists(gone), "{gone}");
    }
    assert!(fixture.exists("/target") && fixture.exists("/dir/inside"));
    assert_eq!(std::fs::read_to_string(outside.path().join("kept")).unwrap(), "kept");
}

#[tokio::test]
async fn a_file_whose_content_is_lost_goes_without_being_read() {
    let fixture = Fixture::with_lost_content().await;
    let preview = fixture.preview("delete", path("/a/log")).await;
    assert!(matches!(preview, Preview::Delete { files: 1, is_dir: false, .. }), "{preview:?}");
    assert_eq!(fixture.ok("delete", path("/a/log")).await, "Deleted /a/log");
    assert!(fixture.err("delete", path("/a/log")).await.contains("not found"));
}

#[tokio::test]
async fn a_file_that_changed_since_is_kept() {
    let fixture = Fixture::with([("/a", "a")]);
    fixture.ok("read_file", path("/a")).await;
    fixture.put("/a", "b");
    assert!(fixture.problem("delete", path("/a")).await.contains("changed since"));
    assert!(fixture.err("delete", path("/a")).await.contains("changed since"));
    assert!(fixture.exists("/a"));
}

/// A4, F01: of what nobody has read nothing is known; what was read and is no longer that, somebody has worked on since.
#[tokio::test]
async fn a_folder_with_a_file_that_changed_since_is_kept() {
    let files = [("/d/a.txt", "a"), ("/d/sub/b.txt", "b"), ("/d/same", "s"), ("/d/built", "x"), ("/dx", "beside")];
    for fixture in [Fixture::with(files), Fixture::behind_an_executor(files).await] {
        for read in ["/d/a.txt", "/d/sub/b.txt", "/d/same", "/dx"] {
            fixture.ok("read_file", path(read)).await;
        }
        for changed in ["/d/a.txt", "/d/sub/b.txt", "/d/built", "/dx"] {
            fixture.put(changed, "what a person saved");
        }
        let said = "Error: '/d' was left as it is: '/d/a.txt', '/d/sub/b.txt' changed since they were read; read again what \
                    changed, then decide whether '/d' may go";
        assert_eq!(fixture.err("delete", path("/d")).await, said);
        assert_eq!(fixture.problem("delete", path("/d")).await, said.trim_start_matches("Error: "));
        assert!(fixture.exists("/d/same") && fixture.exists("/d/built"));
        assert_eq!(fixture.text("/d/a.txt"), "what a person saved");
        fixture.ok("read_file", path("/d/a.txt")).await;
        // What is gone has nothing to lose.
        std::fs::remove_file(fixture.host("/d/sub/b.txt")).unwrap();
        assert_eq!(fixture.ok("delete", path("/d")).await, "Deleted /d (3 files)");
    }
}

#[tokio::test]
async fn of_many_files_that_changed_since_some_are_named() {
    let names: Vec<String> = (0..30).map(|number| format!("/d/{number:02}")).collect();
    let fixture = Fixture::with(names.iter().map(|name| (name.as_str(), "before")));
    for name in &names {
        fixture.ok("read_file", path(name)).await;
        fixture.put(name, "after");
    }
    let text = fixture.err("delete", path("/d")).await;
    assert!(text.contains("'/d/09' and 20 more changed since") && !text.contains("/d/10"), "{text}");
    assert!(names.iter().all(|name| fixture.exists(name)));
}

/// Under whatever name it was read.
#[cfg(unix)]
#[tokio::test]
async fn a_folder_whose_file_was_read_by_another_name_is_kept_if_it_changed() {
    use std::os::unix::fs::symlink;
    let fixture = Fixture::with([("/d/a.txt", "a"), ("/target", "t")]);
    symlink("d", fixture.host("/by")).unwrap();
    symlink("../target", fixture.host("/d/link")).unwrap();
    for read in ["/by/a.txt", "/d/link"] {
        fixture.ok("read_file", path(read)).await;
    }
    // Of a link only the link goes.
    fixture.put("/target", "what a person saved");
    fixture.put("/d/a.txt", "what a person saved");
    let text = fixture.err("delete", path("/d")).await;
    assert!(text.contains(": '/by/a.txt' changed since"), "{text}");
    fixture.ok("read_file", path("/by/a.txt")).await;
    assert_eq!(fixture.ok("delete", path("/d")).await, "Deleted /d (2 files)");
}

/// Who saves between the look and the delete keeps that too.
#[tokio::test]
async fn what_is_saved_while_a_folder_goes_keeps_it() {
    let fixture = Fixture::with([("/d/a.txt", "a"), ("/d/b.txt", "b")]);
    fixture.ok("read_file", path("/d/a.txt")).await;
    let saving = Saving { saved: fixture.host("/d/a.txt"), inner: Arc::clone(&fixture.cx.backend) };
    let fixture = fixture.behind(Arc::new(saving));
    let text = fixture.err("delete", path("/d")).await;
    assert!(text.contains("'/d/a.txt' changed since it was read"), "{text}");
    assert!(fixture.exists("/d/b.txt") && fixture.witness.intended.lock().unwrap().is_empty());
    assert_eq!(fixture.text("/d/a.txt"), "what a person saved");
}

/// A backend beside which a person saves a file just before it deletes anything.
struct Saving {
    saved: std::path::PathBuf,
    inner: Arc<dyn Backend>,
}

impl Backend for Saving {
    hand_on!(inner: ls, names, stat, read, write, edit, grep, glob, upload, download, stamp, direct, resolve);

    fn deleter(&self) -> Option<&dyn Delete> {
        Some(self)
    }
}

impl Delete for Saving {
    fn delete<'a>(
        &'a self,
        path: &'a VirtualPath,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Vec<Change>, BackendError>> {
        std::fs::write(&self.saved, "what a person saved").unwrap();
        self.inner.deleter().unwrap().delete(path, expect, witness)
    }
}

#[tokio::test]
async fn a_preview_counts_what_would_go() {
    let fixture = Fixture::with([("/dir/a", "a"), ("/dir/sub/.b", "b"), ("/one", "o")]);
    fixture.ok("read_file", path("/one")).await;
    assert_eq!(
        fixture.preview("delete", path("/one")).await,
        Preview::Delete { path: "/one".into(), files: 1, counted_all: true, is_dir: false }
    );
    assert_eq!(
        fixture.preview("delete", path("dir")).await,
        Preview::Delete { path: "/dir".into(), files: 2, counted_all: true, is_dir: true }
    );
    for number in 0..super::MAX_COUNTED {
        std::fs::write(fixture.host("/dir").join(format!("f{number}")), "").unwrap();
    }
    assert_eq!(
        fixture.preview("delete", path("dir")).await,
        Preview::Delete { path: "/dir".into(), files: 1_000, counted_all: false, is_dir: true }
    );
    assert!(fixture.exists("/dir/a"));
}

#[test]
fn it_is_offered_only_where_something_can_be_deleted() {
    let fixture = Fixture::canned(Canned::default());
    assert!(fixture.tools.get("delete").is_none() && fixture.tools.get("execute").is_none());
}
