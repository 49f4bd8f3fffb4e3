use bosun_backend::{GrepMatch, GrepResult, Truncation, Unread, VirtualPath};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::fixture::{Canned, Fixture};
use crate::{Figure, RESULT_CHARS};

fn tree() -> Fixture {
    Fixture::with([
        ("/a.py", "TODO one\nx\nTODO two\n"),
        ("/b/c.py", "TODO three\n"),
        ("/b/d.txt", "a.b TODO\naxb\n"),
        ("/r.txt", "foo|bar\nfoo\n"),
        ("/.gitignore", "out/\n"),
        ("/out/gen.py", "TODO generated\n"),
    ])
}

#[tokio::test]
async fn the_three_forms_of_a_result() {
    let fixture = tree();
    let find = |mode: Value| json!({"pattern": "TODO", "output_mode": mode});
    assert_eq!(fixture.ok("grep", json!({"pattern": "TODO"})).await, "/a.py\n/b/c.py\n/b/d.txt");
    assert_eq!(fixture.ok("grep", find(json!(null))).await, "/a.py\n/b/c.py\n/b/d.txt");
    assert_eq!(
        fixture.ok("grep", find(json!("content"))).await,
        "/a.py:\n  1: TODO one\n  3: TODO two\n/b/c.py:\n  1: TODO three\n/b/d.txt:\n  1: a.b TODO"
    );
    let output = fixture.run("grep", find(json!("count"))).await;
    assert_eq!(output.content, ["/a.py: 2\n/b/c.py: 1\n/b/d.txt: 1".into()]);
    assert_eq!(output.artifact.figures, [Figure::Matches(4), Figure::Files(3)]);
}

#[tokio::test]
async fn the_search_can_be_narrowed() {
    let fixture = tree();
    for (glob, found) in [("*.py", "/a.py\n/b/c.py"), ("b/*.py", "/b/c.py"), ("/*.py", "/a.py")] {
        assert_eq!(fixture.ok("grep", json!({"pattern": "TODO", "glob": glob})).await, found, "{glob}");
    }
    assert_eq!(fixture.ok("grep", json!({"pattern": "TODO", "path": "/b"})).await, "/b/c.py\n/b/d.txt");
    assert_eq!(
        fixture.ok("grep", json!({"pattern": "TODO", "path": "/b/c.py", "output_mode": "content"})).await,
        "/b/c.py:\n  1: TODO three"
    );
    let all = fixture.ok("grep", json!({"pattern": "TODO gen", "include_ignored": true})).await;
    assert_eq!(all, "/out/gen.py");
}

#[tokio::test]
async fn patterns_are_literal_unless_said_otherwise() {
    let fixture = tree();
    assert_eq!(fixture.ok("grep", json!({"pattern": "a.b"})).await, "/b/d.txt");
    assert_eq!(fixture.ok("grep", json!({"pattern": "a.b", "output_mode": "count"})).await, "/b/d.txt: 1");
    let regex = json!({"pattern": "^a.b", "output_mode": "count", "regex": true});
    assert_eq!(fixture.ok("grep", regex).await, "/b/d.txt: 2");
    assert_eq!(fixture.ok("grep", json!({"pattern": "foo|bar"})).await, "/r.txt");
    for pattern in ["zz|yy", "zz.*", "\\bzz\\d", "zz\\."] {
        let text = fixture.ok("grep", json!({"pattern": pattern})).await;
        assert!(text.starts_with("No matches found") && text.contains("regex: true"), "{text}");
    }
    for args in [json!({"pattern": "zz"}), json!({"pattern": "zz|yy", "regex": true}), json!({"pattern": "c:\\zz"})] {
        let text = fixture.ok("grep", args).await;
        assert_eq!(text, "No matches found");
    }
    let text = fixture.err("grep", json!({"pattern": "(", "regex": true})).await;
    let reason = "unclosed group; correct it, or search for the text as it stands";
    assert_eq!(text, format!("Error: the pattern '(' is not usable: {reason}"));
}

#[tokio::test]
async fn why_nothing_was_found_is_said() {
    let fixture = Fixture::with([("/a.txt", "one\ntwo\n"), ("/b.bin", "one\0\n")]);
    for pattern in ["one\ntwo", "two\n", "one\r\ntwo"] {
        let text = fixture.ok("grep", json!({"pattern": pattern})).await;
        assert!(text.starts_with("No matches found. Lines are searched one by one"), "{text}");
    }
    for pattern in ["one", "two"] {
        let text = fixture.ok("grep", json!({"pattern": pattern, "path": "/b.bin"})).await;
        assert_eq!(text, "No matches found: '/b.bin' is a binary file, and only text is searched.");
    }
}

#[tokio::test]
async fn a_limit_on_matches_is_said() {
    let fixture = tree();
    let text = fixture.ok("grep", json!({"pattern": "TODO", "output_mode": "content", "max_count": 2})).await;
    assert!(text.starts_with("/a.py:\n  1: TODO one\n  3: TODO two\n\n["), "{text}");
    assert!(text.contains("maximum match count") && text.contains("max_count"), "{text}");
    let exact = fixture.ok("grep", json!({"pattern": "TODO", "max_count": "4"})).await;
    assert_eq!(exact, "/a.py\n/b/c.py\n/b/d.txt");
}

#[tokio::test]
async fn what_could_not_be_read_is_named_with_its_reason() {
    let one = |path: &str, reason: &str| Unread { path: VirtualPath::parse(path).unwrap(), reason: reason.into() };
    let unread = vec![one("/a\nb", "permission denied"), one("/big", "searched only up to a line of over 16 MiB")];
    let grep = GrepResult { truncated: Some(Truncation::Unreadable), unread, ..GrepResult::default() };
    let fixture = Fixture::canned(Canned { grep, ..Canned::default() });
    assert_eq!(
        fixture.ok("grep", json!({"pattern": "x"})).await,
        "No matches found\n\n[Some files could not be read, so there may be more. A narrower search will not show \
         them.]\n\n[Among what could not be read: '/a\\nb' (permission denied), '/big' (searched only up to a line of \
         over 16 MiB).]"
    );
}

#[tokio::test]
async fn a_file_with_a_line_that_is_too_long_is_named() {
    let fixture = Fixture::with([("/small.txt", "needle\n")]);
    fixture.put("/one-line.txt", "x".repeat(17 << 20));
    let text = fixture.ok("grep", json!({"pattern": "needle"})).await;
    assert!(text.starts_with("/small.txt\n\n[Some files"), "{text}");
    assert!(text.ends_with("'/one-line.txt' (searched only up to a line of over 16 MiB).]"), "{text}");
}

#[tokio::test]
async fn arguments_are_checked_by_name() {
    let fixture = tree();
    for (args, token) in [
        (json!({"pattern": "x", "max_count": 0}), "'max_count' must be at least 1"),
        (
            json!({"pattern": "x", "output_mode": "lines"}),
            "'output_mode' must be one of files_with_matches, content, count",
        ),
        (json!({"path": "/"}), "'pattern' is missing"),
    ] {
        let text = fixture.err("grep", args).await;
        assert!(text.starts_with("Error invoking tool 'grep': ") && text.contains(token), "{text}");
    }
}

#[tokio::test]
async fn what_is_not_there_holds_nothing_and_what_is_outside_is_refused() {
    let fixture = tree();
    for (path, pattern, text) in [
        ("/zz", "x", "No matches found: '/zz' does not exist"),
        ("/zz", "a|b", "No matches found: '/zz' does not exist"),
        ("/a.py/x", "x", "No matches found: '/a.py/x' does not exist"),
        ("/a.py", "zz", "No matches found"),
        ("/b", "zz", "No matches found"),
    ] {
        assert_eq!(fixture.ok("grep", json!({"pattern": pattern, "path": path})).await, text);
    }
    let text = fixture.err("grep", json!({"pattern": "x", "path": "/../zz"})).await;
    assert!(text.starts_with("Error:") && text.contains("/../zz"), "{text}");
}

fn hits(count: usize, text: &str) -> GrepResult {
    let hit = |number: usize| GrepMatch {
        path: VirtualPath::parse(&format!("/file{number:0>6}")).unwrap(),
        line: 1,
        text: text.to_owned(),
    };
    GrepResult { matches: (0..count).map(hit).collect(), truncated: Some(Truncation::Count), ..GrepResult::default() }
}

#[tokio::test]
async fn a_large_result_is_cut_and_says_how_to_narrow_it() {
    let fixture = Fixture::canned(Canned { grep: hits(1_000, &"x".repeat(200)), ..Canned::default() });
    let output = fixture.run("grep", json!({"pattern": "x", "output_mode": "content"})).await;
    let text = output.content[0].as_text().unwrap();
    assert!(text.chars().count() < RESULT_CHARS && output.artifact.truncated);
    let end: Vec<&str> = text.lines().rev().take(3).collect();
    assert!(end[0].contains("maximum match count") && end[1].is_empty(), "{end:?}");
    assert!(end[2].starts_with("[The result is cut here"), "{end:?}");
}

#[tokio::test]
async fn a_very_long_line_is_shown_around_its_match() {
    let line = format!("{}needle{}", "a".repeat(10_000), "b".repeat(10_000));
    let fixture =
        Fixture::canned(Canned { grep: GrepResult { truncated: None, ..hits(1, &line) }, ..Canned::default() });
    let text = fixture.ok("grep", json!({"pattern": "needle", "output_mode": "content"})).await;
    assert!(text.contains("needle") && text.chars().count() < 600, "{text}");
}
