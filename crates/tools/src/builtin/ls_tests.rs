use bosun_backend::{FileInfo, VirtualPath};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::fixture::{Canned, Fixture};
use crate::{Figure, RESULT_CHARS};

fn tree() -> Fixture {
    Fixture::with([
        ("/a.txt", "one\ntwo\nthree\n"),
        ("/e.txt", ""),
        ("/dir/b.py", "b"),
        ("/dir/sub/c.py", "c"),
        ("/.hid/x.yml", "x"),
        ("/two.txt", "foo bar foo\n"),
    ])
}

#[tokio::test]
async fn lists_one_path_per_line_with_folders_marked() {
    let fixture = tree();
    assert_eq!(fixture.ok("ls", json!({"path": "/"})).await, "/.hid/\n/a.txt\n/dir/\n/e.txt\n/two.txt");
    assert_eq!(fixture.ok("ls", json!({})).await, fixture.ok("ls", json!({"path": "/"})).await);
}

#[tokio::test]
async fn paths_may_be_written_in_many_ways() {
    let fixture = tree();
    let host = fixture.host("/dir").to_string_lossy().into_owned();
    for path in ["/dir", "/dir/", "dir", "./dir", "//dir", "/./dir", &host] {
        assert_eq!(fixture.ok("ls", json!({"path": path})).await, "/dir/b.py\n/dir/sub/", "{path}");
    }
    assert_eq!(fixture.ok("ls", json!({"path": "//dir//sub"})).await, "/dir/sub/c.py");
    for path in ["", "."] {
        assert!(fixture.ok("ls", json!({"path": path})).await.contains("/a.txt"));
    }
}

#[tokio::test]
async fn an_empty_folder_is_said() {
    let fixture = tree();
    std::fs::create_dir(fixture.host("/void")).unwrap();
    let output = fixture.run("ls", json!({"path": "/void"})).await;
    assert_eq!(output.content, ["No files found".into()]);
    assert_eq!(output.artifact.figures, [Figure::Entries(0)]);
    assert_eq!(fixture.run("ls", json!({"path": "/dir"})).await.artifact.figures, [Figure::Entries(2)]);
}

/// Else a folder would look empty that is not and cannot be deleted.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn names_that_are_not_text_are_said() {
    use std::os::unix::ffi::OsStrExt;
    let fixture = tree();
    std::fs::create_dir(fixture.host("/void")).unwrap();
    let odd = |name: &[u8]| fixture.host("/void").join(std::ffi::OsStr::from_bytes(name));
    std::fs::write(odd(b"\xff"), "needle").unwrap();
    let note = "[1 name that is not text is left out. Only a command can read, rename or delete what is called so.]";
    assert_eq!(fixture.ok("ls", json!({"path": "/void"})).await, format!("No files found\n\n{note}"));
    std::fs::write(odd(b"\xfe"), "needle").unwrap();
    std::fs::write(odd(b"a"), "needle").unwrap();
    let note = note.replace("1 name that is not text is", "2 names that are not text are");
    assert_eq!(fixture.ok("ls", json!({"path": "/void"})).await, format!("/void/a\n\n{note}"));
    assert_eq!(fixture.ok("glob", json!({"pattern": "void/*"})).await, format!("/void/a\n\n{note}"));
    let found = fixture.run("grep", json!({"pattern": "needle"})).await;
    assert_eq!(found.content, [format!("/void/a\n\n{note}").into()]);
    assert!(!found.artifact.truncated, "all that can be searched was");
    assert_eq!(fixture.ok("glob", json!({"pattern": "dir/*"})).await, "/dir/b.py");
}

#[tokio::test]
async fn what_cannot_be_listed_is_an_error() {
    let fixture = tree();
    for (path, text) in [
        ("/zz", "Error: Path '/zz': path_not_found"),
        ("/a.txt", "Error: Path '/a.txt': not_a_directory"),
        ("/etc", "Error: Path '/etc': path_not_found"),
    ] {
        let said = fixture.err("ls", json!({"path": path})).await;
        assert!(said.starts_with(&format!("{text}; ")), "{said}");
    }
    for path in ["/../x", "..", "a/../b", "~/x", "C:/x", "C:\\x", "\\\\host\\share", "..\\..\\x"] {
        let text = fixture.err("ls", json!({"path": path})).await;
        assert!(text.starts_with("Error:") && text.contains(path), "{text}");
    }
    assert!(fixture.err("ls", json!({"path": "C:/x"})).await.contains("Windows"));
}

#[tokio::test]
async fn a_very_long_list_is_cut() {
    let entry = |number: usize| FileInfo {
        path: VirtualPath::parse(&format!("/{number:0>100}")).unwrap(),
        is_link: false,
        is_dir: false,
        size: None,
        modified_ns: None,
    };
    let fixture = Fixture::canned(Canned { files: (0..2_000).map(entry).collect(), ..Canned::default() });
    let output = fixture.run("ls", json!({})).await;
    let text = output.content[0].as_text().unwrap();
    assert!(text.chars().count() < RESULT_CHARS);
    assert!(text.lines().last().unwrap().starts_with("[The list is cut here"), "{}", text.lines().last().unwrap());
    assert!(output.artifact.truncated);
    assert_eq!(output.artifact.figures, [Figure::Entries(2_000)]);
}

#[cfg(unix)]
#[tokio::test]
async fn one_name_cannot_pass_for_two() {
    let fixture = Fixture::empty();
    std::fs::write(fixture.host("/a\nb"), "").unwrap();
    assert_eq!(fixture.ok("ls", json!({})).await, "/a\\nb");
    assert_eq!(fixture.ok("glob", json!({"pattern": "*"})).await, "/a\\nb");
}
