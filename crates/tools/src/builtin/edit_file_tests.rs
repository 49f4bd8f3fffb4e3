use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::fixture::Fixture;
use crate::{DiffLineKind, Figure, Preview};

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({"file_path": path, "old_string": old, "new_string": new})
}

fn edit_all(path: &str, old: &str, new: &str) -> Value {
    json!({"file_path": path, "old_string": old, "new_string": new, "replace_all": true})
}

/// A file that has been read.
async fn known(content: impl AsRef<[u8]>) -> Fixture {
    let fixture = Fixture::empty();
    fixture.put("/f", content);
    fixture.ok("read_file", json!({"file_path": "/f"})).await;
    fixture
}

#[tokio::test]
async fn text_is_replaced_and_the_rest_kept() {
    for (before, call, text, after) in [
        ("foo bar\n", edit("/f", "foo", "X"), 1, "X bar\n"),
        ("foo bar foo\n", edit_all("/f", "foo", "X"), 2, "X bar X\n"),
        ("aaa", edit_all("/f", "aa", "b"), 1, "ba"),
        ("one x", edit("/f", "one", r"\1 $0"), 1, r"\1 $0 x"),
        ("a\r\nb\r\nc", edit("/f", "a\nb", "x\ny"), 1, "x\r\ny\r\nc"),
        ("a\r\nb\r\n", edit("/f", "a\r\nb", "z"), 1, "z\r\n"),
        ("\u{feff}a\n", edit("/f", "a", "b"), 1, "\u{feff}b\n"),
    ] {
        let fixture = known(before).await;
        let output = fixture.run("edit_file", call).await;
        let said = format!("Successfully replaced {text} instance(s) of the string in '/f'");
        assert_eq!(output.content, [said.into()]);
        assert_eq!(fixture.text("/f"), after);
    }
}

#[tokio::test]
async fn the_row_gets_the_diff() {
    let fixture = known("a\nb\nc\n").await;
    let output = fixture.run("edit_file", edit("/f", "b\n", "x\ny\n")).await;
    assert_eq!(output.artifact.figures, [Figure::Added(2), Figure::Removed(1)]);
    assert_eq!(output.artifact.diff.unwrap().hunks.len(), 1);
    let [change] = &output.artifact.changes[..] else { panic!() };
    assert_eq!(change.path.as_str(), "/f");
    assert!(change.before.is_some() && change.after.is_some() && change.before != change.after);
}

#[tokio::test]
async fn what_does_not_fit_is_refused_alike_in_the_preview() {
    for (before, call, tokens) in [
        ("foo\n", edit("/f", "zzz", "X"), &["String not found in file: 'zzz'"][..]),
        ("foo foo\n", edit("/f", "foo", "X"), &["'foo'", "2", "replace_all"]),
        ("foo\n", edit("/f", "", "X"), &["old_string", "empty"]),
        ("q", edit("/f", "q\n", "X"), &["ends with a newline"]),
        ("q q", edit("/f", "q\n", "X"), &["ends with a newline", "2"]),
        ("foo\n", edit("/f", "foo", "foo"), &["same"]),
        ("foo\nbar\n", edit("/f", "     1\tfoo\n     2\tbar", "X"), &["not found in file", "line numbers"]),
    ] {
        let fixture = known(before).await;
        let problem = fixture.problem("edit_file", call.clone()).await;
        let text = fixture.err("edit_file", call).await;
        assert_eq!(text, format!("Error: {problem}"));
        for token in tokens {
            assert!(text.contains(token), "{text}");
        }
        assert_eq!(fixture.text("/f"), before);
        assert!(fixture.witness.intended.lock().unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_file_is_read_before_it_is_edited() {
    let fixture = Fixture::with([("/f", "foo\n"), ("/dir/a", "")]);
    for (path, token) in [
        ("/f", "'/f' has not been read yet; read it"),
        ("/none", "File '/none' not found"),
        ("/dir", "File '/dir' not found"),
        ("/../f", "/../f"),
    ] {
        let text = fixture.err("edit_file", edit(path, "foo", "bar")).await;
        assert!(text.starts_with("Error: ") && text.contains(token), "{text}");
        assert!(fixture.problem("edit_file", edit(path, "foo", "bar")).await.contains(token));
    }
    assert_eq!(fixture.text("/f"), "foo\n");
}

#[tokio::test]
async fn a_file_that_changed_since_is_refused() {
    let fixture = known("foo\n").await;
    fixture.put("/f", "foo!\n");
    assert!(fixture.problem("edit_file", edit("/f", "foo", "bar")).await.contains("changed since it was read"));
    assert!(fixture.err("edit_file", edit("/f", "foo", "bar")).await.contains("changed since it was read"));
    assert_eq!(fixture.text("/f"), "foo!\n");
    std::fs::remove_file(fixture.host("/f")).unwrap();
    assert!(fixture.err("edit_file", edit("/f", "foo", "bar")).await.starts_with("Error: "));
    assert!(!fixture.problem("edit_file", edit("/f", "foo", "bar")).await.is_empty());
}

#[tokio::test]
async fn one_edit_after_the_other_needs_no_new_reading() {
    let fixture = known("1\n").await;
    for number in 1..5 {
        fixture.ok("edit_file", edit("/f", &number.to_string(), &(number + 1).to_string())).await;
    }
    assert_eq!(fixture.text("/f"), "5\n");
}

#[tokio::test]
async fn bytes_that_are_no_text_are_refused() {
    for (bytes, token) in [(&b"a\0b"[..], "binary"), (b"caf\xe9", "not UTF-8"), (b"\xff\xfea\0", "binary")] {
        let fixture = Fixture::empty();
        fixture.put("/f", bytes);
        fixture.err("read_file", json!({"file_path": "/f"})).await;
        let text = fixture.err("edit_file", edit("/f", "a", "b")).await;
        assert!(text.contains(token), "{text}");
        assert_eq!(fixture.bytes("/f"), bytes);
    }
}

#[tokio::test]
async fn a_preview_shows_what_the_edit_then_does() {
    let fixture = known("fn a() {}\r\nfn b() {}\r\n").await;
    let call = edit("/f", "fn a() {}\nfn b", "fn a() {}\nfn c");
    let Preview::Diff { diff } = fixture.preview("edit_file", call.clone()).await else { panic!() };
    assert_eq!(fixture.text("/f"), "fn a() {}\r\nfn b() {}\r\n");
    let listed = std::fs::read_dir(fixture.host("/")).unwrap().count();
    assert_eq!(listed, 1, "a preview leaves nothing behind");
    let kinds: Vec<_> = diff.hunks[0].lines.iter().map(|line| line.kind).collect();
    assert_eq!(kinds, [DiffLineKind::Context, DiffLineKind::Removed, DiffLineKind::Added]);
    let output = fixture.run("edit_file", call).await;
    assert_eq!(output.artifact.diff, Some(diff));
}

#[tokio::test]
async fn arguments_are_checked_by_name() {
    let fixture = known("x").await;
    let text = fixture.err("edit_file", json!({"file_path": "/f", "old_string": "x"})).await;
    assert!(text.starts_with("Error invoking tool 'edit_file': 'new_string' is missing"), "{text}");
    let text = fixture.problem("edit_file", json!({"file_path": "/f", "old_string": 5, "new_string": "x"})).await;
    assert!(text.contains("'old_string' must be text"), "{text}");
}

#[cfg(unix)]
#[tokio::test]
async fn rights_of_a_file_are_kept_and_respected() {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;
    let fixture = known("a\r\nb").await;
    let set = |mode| std::fs::set_permissions(fixture.host("/f"), Permissions::from_mode(mode)).unwrap();
    let mode = || std::fs::metadata(fixture.host("/f")).unwrap().permissions().mode() & 0o777;
    set(0o751);
    fixture.ok("edit_file", edit("/f", "b", "c")).await;
    assert_eq!((mode(), &*fixture.text("/f")), (0o751, "a\r\nc"));
    set(0o444);
    let text = fixture.err("edit_file", edit("/f", "c", "d")).await;
    assert!(text.starts_with("Error: '/f' is read-only"), "{text}");
    assert_eq!((mode(), &*fixture.text("/f")), (0o444, "a\r\nc"));
    let text = fixture.err("write_file", json!({"file_path": "/f", "content": "x", "overwrite": true})).await;
    assert!(text.contains("read-only"), "{text}");
}

#[cfg(unix)]
#[tokio::test]
async fn links_are_followed_inside_and_refused_outside() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "secret\n").unwrap();
    let fixture = Fixture::with([("/real", "foo\n")]);
    symlink("real", fixture.host("/inside")).unwrap();
    symlink(outside.path().join("secret"), fixture.host("/leak")).unwrap();
    symlink(outside.path(), fixture.host("/away")).unwrap();
    fixture.ok("read_file", json!({"file_path": "/inside"})).await;
    fixture.ok("edit_file", edit("/inside", "foo", "bar")).await;
    assert_eq!(fixture.text("/real"), "bar\n");
    for path in ["/leak", "/away/secret"] {
        for text in [
            fixture.err("read_file", json!({"file_path": path})).await,
            fixture.err("edit_file", edit(path, "secret", "x")).await,
            fixture.err("write_file", json!({"file_path": path, "content": "x", "overwrite": true})).await,
        ] {
            assert!(text.starts_with("Error: ") && !text.contains("secret\n"), "{text}");
        }
    }
    fixture.err("write_file", json!({"file_path": "/away/new/deep", "content": "x"})).await;
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
    assert_eq!(std::fs::read_to_string(outside.path().join("secret")).unwrap(), "secret\n");
}

/// P15: the name outside keeps what it held, and both the agent and the row say so.
#[cfg(unix)]
#[tokio::test]
async fn a_hard_link_is_broken_and_said() {
    let fixture = known("outside\n").await;
    std::fs::hard_link(fixture.host("/f"), fixture.host("/other")).unwrap();
    let output = fixture.run("edit_file", edit("/f", "outside", "inside")).await;
    let text = bosun_model::text_of(&output.content);
    assert!(text.contains("its other names keep what it held before"), "{text}");
    assert_eq!(output.artifact.figures, [Figure::Added(1), Figure::Removed(1), Figure::LinkBroken]);
    assert_eq!((fixture.text("/f").as_str(), fixture.text("/other").as_str()), ("inside\n", "outside\n"));
    let again = fixture.run("edit_file", edit("/f", "inside", "mine")).await;
    assert!(!again.artifact.figures.contains(&Figure::LinkBroken), "by then it is a file of its own");
}
