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
    let files = [("/a.txt", "one\n"), ("/dir/b.py", "")];
    for fixture in [Fixture::with(files), Fixture::behind_an_executor(files).await] {
        for (path, text) in [
            ("/nope", "No files found: '/nope' does not exist"),
            ("/nope/deeper", "No files found: '/nope/deeper' does not exist"),
            ("/a.txt", "No files found: '/a.txt' is a file, not a folder"),
            ("/dir", "No files found"),
            ("/", "No files found"),
        ] {
            assert_eq!(fixture.ok("glob", json!({"pattern": "*.rs", "path": path})).await, text);
        }
        assert_eq!(fixture.ok("glob", json!({"pattern": "*.txt", "path": "/a.txt"})).await, "/a.txt");
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

/// On this machine, and behind an executor.
#[tokio::test]
async fn host_paths_of_the_project_are_understood() {
    let files = [("/dir/b.py", "needle"), ("/c.py", "needle")];
    for fixture in [Fixture::with(files), Fixture::behind_an_executor(files).await] {
        let root = host_root(&fixture);
        for (pattern, path, found) in [
            ("/dir/*.py", None, "/dir/b.py"),
            ("/*.py", None, "/c.py"),
            ("/**/*.py", None, "/c.py\n/dir/b.py"),
            ("/{dir,other}/*.py", None, "/dir/b.py"),
            ("/*.py", Some(root.clone()), "/c.py"),
        ] {
            let pattern = format!("{root}{pattern}");
            let args = json!({"pattern": pattern, "path": path});
            assert_eq!(fixture.ok("glob", args).await, found, "{pattern}");
            assert_eq!(fixture.ok("grep", json!({"pattern": "needle", "glob": pattern})).await, found, "{pattern}");
        }
        let below = json!({"pattern": "/*.py", "path": format!("{root}/dir")});
        assert_eq!(fixture.ok("glob", below).await, "/dir/b.py");
    }
}

/// What a folder of the project is called wins, in patterns as in paths.
#[tokio::test]
async fn a_pattern_means_the_folder_that_a_path_means() {
    let fixture = Fixture::with([("/outer.py", "")]);
    let root = host_root(&fixture);
    let inner = format!("{root}/inner.py");
    fixture.put(&inner, "");
    for args in [json!({"pattern": "*.py", "path": root}), json!({"pattern": format!("{root}/*.py")})] {
        assert_eq!(fixture.ok("glob", args).await, inner);
    }
    let fixture = Fixture::behind_an_executor([("/outer.py", "")]).await;
    let root = host_root(&fixture);
    let inner = root.trim_start_matches('/').to_owned() + "/inner.py";
    fixture.ok("write_file", json!({"file_path": inner, "content": ""})).await;
    for args in [json!({"pattern": "*.py", "path": root}), json!({"pattern": format!("{root}/*.py")})] {
        let text = fixture.err("glob", args).await;
        assert!(text.contains("can be two things"), "{text}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_project_may_be_called_like_a_pattern() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("a [b] {c}");
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("x.py"), "").unwrap();
    let backend = bosun_backend::LocalShellBackend::open(&root, Default::default()).unwrap();
    let fixture = Fixture::of(std::sync::Arc::new(backend));
    let pattern = format!("{}/*.py", root.display());
    assert_eq!(fixture.ok("glob", json!({"pattern": pattern})).await, "/x.py");
}

fn host_root(fixture: &Fixture) -> String {
    let root = fixture.host("/").canonicalize().unwrap();
    root.to_str().unwrap().trim_end_matches('/').to_owned()
}

#[tokio::test]
async fn a_partial_result_says_so() {
    let paths = |count: usize| (0..count).map(|n| VirtualPath::parse(&format!("/{n:0>100}")).unwrap()).collect();
    for (why, token) in [(Truncation::Budget, "narrower"), (Truncation::Unreadable, "could not be read")] {
        let glob = GlobResult { paths: paths(1), truncated: Some(why), ..GlobResult::default() };
        let fixture = Fixture::canned(Canned { glob, ..Canned::default() });
        let output = fixture.run("glob", json!({"pattern": "*"})).await;
        let text = output.content[0].as_text().unwrap();
        assert!(text.lines().nth(1) == Some("") && text.lines().nth(2).unwrap().contains(token), "{text}");
        assert!(output.artifact.truncated);
    }
    let glob = GlobResult { paths: paths(2_000), truncated: Some(Truncation::Budget), ..GlobResult::default() };
    let fixture = Fixture::canned(Canned { glob, ..Canned::default() });
    let text = fixture.ok("glob", json!({"pattern": "*"})).await;
    assert!(text.chars().count() < RESULT_CHARS && text.contains("[The list is cut here"));
    let nothing = GlobResult { truncated: Some(Truncation::Budget), ..GlobResult::default() };
    let fixture = Fixture::canned(Canned { glob: nothing, ..Canned::default() });
    assert!(fixture.ok("glob", json!({"pattern": "*"})).await.starts_with("No files found\n\n["));
}
