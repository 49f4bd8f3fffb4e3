use bosun_backend::{GlobResult, Truncation, VirtualPath};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::fixture::{Canned, Fixture};
use crate::{Figure, RESULT_CHARS};

fn tree() -> Fixture {
    Fixture::with([
        ("/a.txt", ""),
        ("/two.txt", ""),
        ("/dir/b.py", ""),
        ("/dir/sub/c.py", ""),
        ("/.hid/x.yml", ""),
        ("/.env", ""),
        ("/noeol.txt", "abc\ndef"),
        ("/data_01.csv", ""),
        ("/x.ts", ""),
        ("/y.tsx", ""),
        ("/.gitignore", "out/\n"),
        ("/out/gen.py", ""),
    ])
}

#[tokio::test]
async fn patterns_find_files_by_name_and_place() {
    let fixture = tree();
    let both = "/dir/b.py\n/dir/sub/c.py";
    for (pattern, path, found) in [
        ("*.py", "/", both),
        ("**/*.py", "/", both),
        ("/dir/**/*.py", "/", both),
        ("dir/**", "/", both),
        ("dir/*.py", "/", "/dir/b.py"),
        ("/*.txt", "/", "/a.txt\n/noeol.txt\n/two.txt"),
        ("*.{ts,tsx}", "/", "/x.ts\n/y.tsx"),
        ("*.py", "/dir", both),
        ("/*.py", "/dir", "/dir/b.py"),
        ("data_??.csv", "/", "/data_01.csv"),
        ("*.PY", "/", "No files found"),
        (".env", "/", "/.env"),
        ("**/*.yml", "/", "No files found"),
        (".hid/*.yml", "/", "/.hid/x.yml"),
    ] {
        assert_eq!(fixture.ok("glob", json!({"pattern": pattern, "path": path})).await, found, "{pattern} in {path}");
    }
    let output = fixture.run("glob", json!({"pattern": "*.py", "path": null})).await;
    assert_eq!(output.content, [both.into()]);
    assert_eq!(output.artifact.figures, [Figure::Files(2)]);
}

#[tokio::test]
async fn ignored_files_are_found_when_asked_for() {
    let fixture = tree();
    let all = fixture.ok("glob", json!({"pattern": "*.py", "include_ignored": true})).await;
    assert_eq!(all, "/dir/b.py\n/dir/sub/c.py\n/out/gen.py");
}

#[tokio::test]
async fn a_folder_that_is_not_there_holds_nothing() {
    let fixture = tree();
    for path in ["/nope", "/a.txt"] {
        let text = fixture.ok("glob", json!({"pattern": "*.py", "path": path})).await;
        assert!(text.starts_with("No files found"), "{text}");
    }
}

#[tokio::test]
async fn what_cannot_be_searched_is_an_error() {
    let fixture = tree();
    for args in [
        json!({"pattern": "*", "path": "/../x"}),
        json!({"pattern": "../*.py"}),
        json!({"pattern": "{a,b}".repeat(12)}),
    ] {
        let text = fixture.err("glob", args).await;
        assert!(text.starts_with("Error: "), "{text}");
    }
    assert!(fixture.err("glob", json!({"path": "/"})).await.contains("'pattern' is missing"));
}

#[tokio::test]
async fn host_paths_of_the_project_are_understood() {
    let fixture = tree();
    let root = fixture.host("/").to_string_lossy().into_owned();
    let pattern = format!("{}/dir/*.py", root.trim_end_matches('/'));
    assert_eq!(fixture.ok("glob", json!({"pattern": pattern})).await, "/dir/b.py");
    let path = fixture.host("/dir").to_string_lossy().into_owned();
    assert_eq!(fixture.ok("glob", json!({"pattern": "/*.py", "path": path})).await, "/dir/b.py");
}

#[tokio::test]
async fn a_partial_result_says_so() {
    let paths = |count: usize| (0..count).map(|n| VirtualPath::parse(&format!("/{n:0>100}")).unwrap()).collect();
    for (why, token) in [(Truncation::Budget, "narrower"), (Truncation::Unreadable, "could not be read")] {
        let glob = GlobResult { paths: paths(1), truncated: Some(why), left_out: 0, failed: Vec::new() };
        let fixture = Fixture::canned(Canned { glob, ..Canned::default() });
        let output = fixture.run("glob", json!({"pattern": "*"})).await;
        let text = output.content[0].as_text().unwrap();
        assert!(text.lines().nth(1) == Some("") && text.lines().nth(2).unwrap().contains(token), "{text}");
        assert!(output.artifact.truncated);
    }
    let glob = GlobResult { paths: paths(2_000), truncated: Some(Truncation::Budget), left_out: 0, failed: Vec::new() };
    let fixture = Fixture::canned(Canned { glob, ..Canned::default() });
    let text = fixture.ok("glob", json!({"pattern": "*"})).await;
    assert!(text.chars().count() < RESULT_CHARS && text.contains("[The list is cut here"));
    let nothing =
        GlobResult { paths: Vec::new(), truncated: Some(Truncation::Budget), left_out: 0, failed: Vec::new() };
    let fixture = Fixture::canned(Canned { glob: nothing, ..Canned::default() });
    assert!(fixture.ok("glob", json!({"pattern": "*"})).await.starts_with("No files found\n\n["));
}
