use std::sync::atomic::Ordering;

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::fixture::Fixture;
use crate::{Figure, Preview, ToolError};

#[tokio::test]
async fn a_new_file_is_made_with_its_folders() {
    let fixture = Fixture::empty();
    assert_eq!(fixture.ok("write_file", json!({"file_path": "/n.txt", "content": "1"})).await, "Updated file /n.txt");
    assert_eq!(fixture.ok("write_file", json!({"file_path": "n2.txt", "content": "2"})).await, "Updated file /n2.txt");
    let content = "a\r\nb";
    let output = fixture.run("write_file", json!({"file_path": "/x/y//z.txt", "content": content})).await;
    assert_eq!(output.content, ["Updated file /x/y/z.txt".into()]);
    assert_eq!(fixture.text("/x/y/z.txt"), content);
    assert_eq!(output.artifact.figures, [Figure::Added(2)]);
    let diff = output.artifact.diff.unwrap();
    assert!(diff.created && diff.path == "/x/y/z.txt");
    assert_eq!((output.artifact.changes.len(), &output.artifact.changes[0].before), (1, &None));
    assert_eq!(*fixture.witness.intended.lock().unwrap(), ["/n.txt", "/n2.txt", "/x/y/z.txt"]);
}

#[tokio::test]
async fn a_file_that_is_there_is_not_replaced() {
    let fixture = Fixture::with([("/a.txt", "old\n")]);
    let write = |overwrite: bool| json!({"file_path": "/a.txt", "content": "new\n", "overwrite": overwrite});
    let text = fixture.err("write_file", write(false)).await;
    assert!(text.starts_with("Error: '/a.txt' already exists") && text.contains("edit_file"), "{text}");
    let text = fixture.err("write_file", write(true)).await;
    assert!(text.contains("has not been read"), "{text}");
    fixture.ok("read_file", json!({"file_path": "/a.txt"})).await;
    assert!(fixture.err("write_file", write(false)).await.contains("already exists"));
    assert_eq!(fixture.text("/a.txt"), "old\n");

    let output = fixture.run("write_file", write(true)).await;
    assert_eq!(output.content, ["Updated file /a.txt".into()]);
    assert_eq!(fixture.text("/a.txt"), "new\n");
    assert_eq!(output.artifact.figures, [Figure::Added(1), Figure::Removed(1)]);
}

#[tokio::test]
async fn a_file_that_changed_since_it_was_read_is_not_replaced() {
    let fixture = Fixture::with([("/a.txt", "old\n")]);
    fixture.ok("read_file", json!({"file_path": "/a.txt"})).await;
    fixture.put("/a.txt", "the user's\n");
    let write = json!({"file_path": "/a.txt", "content": "new\n", "overwrite": true});
    assert!(fixture.err("write_file", write.clone()).await.contains("changed since it was read"));
    assert!(fixture.problem("write_file", write.clone()).await.contains("changed since it was read"));
    assert_eq!(fixture.text("/a.txt"), "the user's\n");
    fixture.ok("read_file", json!({"file_path": "/a.txt"})).await;
    fixture.ok("write_file", write).await;
}

/// Nobody can read it first.
#[tokio::test]
async fn a_file_whose_content_is_lost_is_replaced_where_that_is_asked_for() {
    let fixture = Fixture::with_lost_content().await;
    let text = fixture.err("read_file", json!({"file_path": "/a/log"})).await;
    assert!(text.contains("is no longer there"), "{text}");
    let write = |overwrite: bool| json!({"file_path": "/a/log", "content": "new\n", "overwrite": overwrite});
    assert!(fixture.problem("write_file", write(false)).await.contains("already exists"));
    assert!(fixture.err("write_file", write(false)).await.contains("already exists"));
    assert!(matches!(fixture.preview("write_file", write(true)).await, Preview::Diff { .. }));
    assert_eq!(fixture.ok("write_file", write(true)).await, "Updated file /a/log");
    assert!(fixture.ok("read_file", json!({"file_path": "/a/log"})).await.contains("new"));
}

#[tokio::test]
async fn overwriting_what_is_not_there_makes_it() {
    let fixture = Fixture::empty();
    fixture.ok("write_file", json!({"file_path": "/n", "content": "x", "overwrite": true})).await;
    fixture.ok("write_file", json!({"file_path": "/n", "content": "y", "overwrite": true})).await;
    assert_eq!(fixture.text("/n"), "y");
}

#[tokio::test]
async fn what_was_written_is_known_and_may_be_edited() {
    let fixture = Fixture::empty();
    fixture.ok("write_file", json!({"file_path": "/n", "content": "1"})).await;
    fixture.ok("edit_file", json!({"file_path": "/n", "old_string": "1", "new_string": "2"})).await;
    assert_eq!(fixture.text("/n"), "2");
}

#[tokio::test]
async fn what_cannot_be_written_is_an_error_and_changes_nothing() {
    let fixture = Fixture::with([("/dir/a", "a"), ("/file", "f")]);
    for (path, token) in [
        ("/dir", "'/dir' is a directory"),
        ("", "'/' is a directory"),
        ("/", "'/' is a directory"),
        ("/file/below", "/file/below"),
        ("/../evil", "/../evil"),
        ("C:\\evil", "Windows"),
    ] {
        let args = json!({"file_path": path, "content": "x"});
        let text = fixture.err("write_file", args.clone()).await;
        assert!(text.starts_with("Error: ") && text.contains(token), "{path}: {text}");
        // It was not looked for.
        assert!(!text.contains("not found"), "{path}: {text}");
        let text = fixture.problem("write_file", args).await;
        assert!(text.contains(token) && !text.starts_with("Error"), "{path}: {text}");
    }
    let huge = json!({"file_path": "/huge", "content": "x".repeat(super::MAX_CONTENT + 1)});
    assert!(fixture.err("write_file", huge).await.contains("over the limit"));
    assert!(!fixture.exists("/huge"));
    assert!(fixture.witness.intended.lock().unwrap().is_empty());
}

#[tokio::test]
async fn an_intent_that_cannot_be_recorded_ends_the_turn_and_changes_nothing() {
    let fixture = Fixture::empty();
    fixture.witness.broken.store(true, Ordering::Relaxed);
    let error = fixture.try_run("write_file", json!({"file_path": "/n", "content": "x"})).await;
    assert!(matches!(error, Err(ToolError::Fatal(_))), "{error:?}");
    assert!(!fixture.exists("/n"));
}

#[tokio::test]
async fn a_preview_shows_the_change_and_makes_none() {
    let fixture = Fixture::with([("/a.txt", "one\ntwo\n")]);
    let Preview::Diff { diff } = fixture.preview("write_file", json!({"file_path": "/n", "content": "x\n"})).await
    else {
        panic!()
    };
    assert!(diff.created && diff.added == 1);
    let write = json!({"file_path": "/a.txt", "content": "one\nthree\n", "overwrite": true});
    assert!(fixture.problem("write_file", write.clone()).await.contains("has not been read"));
    fixture.ok("read_file", json!({"file_path": "/a.txt"})).await;
    let Preview::Diff { diff } = fixture.preview("write_file", write).await else { panic!() };
    assert_eq!((diff.added, diff.removed, diff.created), (1, 1, false));
    assert_eq!((fixture.exists("/n"), &*fixture.text("/a.txt")), (false, "one\ntwo\n"));
    let problem = fixture.problem("write_file", json!({"file_path": "/a.txt", "content": "x"})).await;
    assert!(problem.contains("already exists"), "{problem}");
}

#[tokio::test]
async fn it_says_which_file_it_changes() {
    let fixture = Fixture::empty();
    let target = |path: &str| {
        let args = json!({"file_path": path, "content": "x"});
        fixture.tools.get("write_file").unwrap().mutates(&fixture.cx, &args).map(|path| path.to_string())
    };
    assert_eq!(target("a//b/../c"), None);
    assert_eq!(target("a//./b"), Some("/a/b".into()));
}
