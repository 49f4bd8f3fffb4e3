use bosun_backend::{Backend, BackendError, ContentHash, Expect, Replacement, Unwitnessed};
use pretty_assertions::assert_eq;

use crate::support::{edit, given, path, stamp, text};

async fn edit_all(backend: &dyn Backend, name: &str, old: &str, new: &str) -> Result<usize, BackendError> {
    let replacement = Replacement { old, new, all: true };
    let change = backend.edit(&path(name), replacement, Expect::Anything, &Unwitnessed).await?;
    Ok(change.occurrences)
}

pub async fn once_or_all(backend: &dyn Backend) {
    given(backend, &[("/two.txt", "foo bar foo\n")]).await;
    let error = edit(backend, "/two.txt", "foo", "X").await.unwrap_err();
    let several = BackendError::StringNotUnique { path: path("/two.txt"), old: "foo".into(), count: 2 };
    assert_eq!(error, several);
    assert!(error.to_string().contains("replace_all") && error.to_string().contains('2'));
    let change = edit(backend, "/two.txt", "bar", "BAR").await.unwrap();
    assert_eq!((change.occurrences, change.before), (1, Some(ContentHash::of(b"foo bar foo\n"))));
    assert_eq!(edit_all(backend, "/two.txt", "foo", "X").await, Ok(2));
    assert_eq!(text(backend, "/two.txt").await, "X BAR X\n");
}

pub async fn text_is_literal_and_does_not_overlap(backend: &dyn Backend) {
    given(backend, &[("/a", "aaa"), ("/b", "x.y"), ("/c", "é😀é")]).await;
    assert_eq!(edit_all(backend, "/a", "aa", "b").await, Ok(1));
    assert_eq!(text(backend, "/a").await, "ba");
    edit(backend, "/b", ".", r"\1 $0").await.unwrap();
    assert_eq!(text(backend, "/b").await, r"x\1 $0y");
    edit(backend, "/c", "😀", "").await.unwrap();
    assert_eq!(text(backend, "/c").await, "éé");
}

pub async fn checks_come_in_order(backend: &dyn Backend) {
    given(backend, &[("/a", "text"), ("/dir/x", "x")]).await;
    backend.upload(vec![(path("/bin"), b"a\0b".to_vec())]).await.remove(0).unwrap();
    let cases = [
        ("/none", "", "", BackendError::NotFound { path: path("/none") }),
        ("/dir", "", "", BackendError::IsADirectory { path: path("/dir") }),
        ("/bin", "", "", BackendError::Binary { path: path("/bin") }),
        ("/a", "", "", BackendError::EmptyOldString { path: path("/a") }),
        ("/a", "nowhere", "nowhere", BackendError::NothingToChange { path: path("/a") }),
        (
            "/a",
            "nowhere",
            "",
            BackendError::StringNotFound { path: path("/a"), old: "nowhere".into(), hint: String::new() },
        ),
    ];
    for (name, old, new, expected) in cases {
        assert_eq!(edit(backend, name, old, new).await.unwrap_err(), expected);
    }
    assert_eq!(text(backend, "/a").await, "text");
}

pub async fn a_newline_too_many_gets_a_hint(backend: &dyn Backend) {
    given(backend, &[("/one", "abc\ndef"), ("/two", "q q"), ("/ends", "abc\n")]).await;
    let one = edit(backend, "/one", "def\n", "x").await.unwrap_err().to_string();
    assert!(one.starts_with("String not found in file: 'def\n'") && one.contains("ends with a newline"), "{one}");
    let two = edit(backend, "/two", "q\n", "x").await.unwrap_err().to_string();
    assert!(two.contains("ends with a newline") && two.contains("2 times"), "{two}");
    for (name, old) in [("/ends", "zzz\n"), ("/one", "zzz\n"), ("/one", "zzz")] {
        let plain = edit(backend, name, old, "x").await.unwrap_err().to_string();
        assert!(!plain.contains("ends with"), "{plain}");
    }
}

pub async fn line_ends_stay_what_they_are(backend: &dyn Backend) {
    let cases = [
        // (before, old, new, after)
        ("a\r\nb\r\nc", "a\nb", "x\ny\nz", "x\r\ny\r\nz\r\nc"),
        ("a\r\nb\r\nc", "a\r\nb", "x\r\ny", "x\r\ny\r\nc"),
        ("a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"),
        ("a\rb\rc", "a\nb", "x\ny", "x\ry\rc"),
        ("a\r\nb\nc\n", "b", "x\ny", "a\r\nx\ny\nc\n"),
        ("a\r\nb\nc\n", "a\nb\nc", "x\ny\nz", "x\r\ny\nz\n"),
        ("\u{feff}a\r\nb", "a", "x", "\u{feff}x\r\nb"),
        ("one line", "line", "two\r\nlines", "one two\r\nlines"),
        ("a\r\n\r\nb\r\n", "a\n\nb\n", "", ""),
    ];
    for (before, old, new, after) in cases {
        given(backend, &[("/f", before)]).await;
        edit(backend, "/f", old, new).await.unwrap_or_else(|error| panic!("{before:?}: {error}"));
        assert_eq!(text(backend, "/f").await, after, "{before:?}");
    }
}

pub async fn edits_expect_what_was_read(backend: &dyn Backend) {
    given(backend, &[("/a", "one")]).await;
    let seen = stamp(backend, "/a").await;
    given(backend, &[("/a", "one and more")]).await;
    let replacement = Replacement { old: "one", new: "two", all: false };
    let refused = backend.edit(&path("/a"), replacement, Expect::Unchanged(seen), &Unwitnessed).await;
    assert_eq!(refused.unwrap_err(), BackendError::Changed { path: path("/a") });
    assert_eq!(text(backend, "/a").await, "one and more");
}

pub async fn edits_in_call_order_meet_each_other(backend: &dyn Backend) {
    given(backend, &[("/a", "one")]).await;
    let mut known = stamp(backend, "/a").await;
    for (old, new) in [("one", "two"), ("two", "three"), ("three", "one")] {
        let replacement = Replacement { old, new, all: false };
        let change = backend.edit(&path("/a"), replacement, Expect::Unchanged(known), &Unwitnessed).await.unwrap();
        known = change.after.unwrap();
    }
    assert_eq!(text(backend, "/a").await, "one");
}
