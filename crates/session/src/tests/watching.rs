//! Files that somebody else changes after the agent has read them.
#![allow(clippy::disallowed_methods, reason = "tests change files behind the agent's back")]

use std::path::{Path, PathBuf};

use bosun_agent::{EntryBody, OutsideChange};
use bosun_model::{ChatRequest, Message, text_of};
use bosun_protocol::{ChangeScope, ItemBody, NoticeCode, SessionId};
use bosun_testkit::{Reply, missing};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::sessions::progress;
use super::stage::Stage;

/// What was told of files, in order.
fn told(request: &ChatRequest) -> Vec<String> {
    let said = request.messages.iter().filter_map(|message| match &**message {
        Message::Human(human) if OutsideChange::is_told_by(human) => Some(text_of(&human.content)),
        _ => None,
    });
    said.collect()
}

fn reads(names: impl IntoIterator<Item = String>) -> Reply {
    let calls = names.into_iter().enumerate();
    calls.fold(Reply::default(), |reply, (at, name)| {
        reply.and_call_with_id(format!("r{at}-{}", name.replace('/', "_")), "read_file", json!({ "file_path": name }))
    })
}

/// The file behind a message that ends with its name on this machine.
fn behind(text: &str) -> PathBuf {
    PathBuf::from(text.rsplit_once(' ').unwrap().1)
}

/// `read NAME`, `many N`, `command`, `delegate`, `meanwhile HOSTPATH`; ends with what it was told of files.
fn script(request: &ChatRequest) -> Reply {
    let (text, results) = progress(request);
    let all = told(request);
    match (text.split(' ').next().unwrap(), results) {
        ("read", 0) => reads([text.rsplit_once(' ').unwrap().1.to_owned()]),
        ("edit", 0) => {
            let args = json!({"file_path": "/a.txt", "old_string": "one", "new_string": "1"});
            Reply::default().and_call_with_id("own-edit", "edit_file", args)
        }
        ("command", 0) => {
            let args = json!({"command": "echo more >> a.txt; rm gone.txt"});
            Reply::default().and_call_with_id("own-command", "execute", args)
        }
        ("many", 0) => reads((0..60).map(|at| format!("/tree/f{at}.txt"))),
        // Reads, is overtaken by somebody else, and goes on until it hears of it.
        ("meanwhile", 0) => reads(["/a.txt".to_owned()]),
        ("meanwhile", step) if all.is_empty() && step < 500 => {
            if step == 1 {
                std::fs::write(behind(&text), "somebody else's\n").unwrap();
            }
            Reply::default().and_call("ls", json!({ "path": "/" }))
        }
        ("meanwhile", step) if step < 500 && !all.is_empty() && !request_reads_again(request) => {
            reads(["/a.txt".to_owned()])
        }
        // Has the folder of a file it knows renamed, reads it again once it heard of it and it is back, and goes on.
        ("moves", 0) => Reply::default().and_call("ls", json!({ "path": "/" })),
        ("moves", step) if all.is_empty() && step < 500 => {
            if step == 1 {
                std::fs::rename(behind(&text), behind(&text).with_extension("old")).unwrap();
            }
            Reply::default().and_call("ls", json!({ "path": "/" }))
        }
        ("moves", step) if all.len() == 1 && step < 500 => {
            let file = behind(&text).join("sub/a.txt");
            if !file.exists() {
                std::fs::create_dir_all(file.parent().unwrap()).unwrap();
                std::fs::write(&file, "another's\n").unwrap();
                return reads(["/docs/sub/a.txt".to_owned()]);
            }
            std::fs::write(&file, "somebody else's\n").unwrap();
            Reply::default().and_call("ls", json!({ "path": "/" }))
        }
        ("delegate", 0) => {
            let task = if text.ends_with("edit") { "edit it" } else { "look around" };
            let args = json!({"description": task, "subagent_type": "general-purpose"});
            Reply::default().and_call_with_id("sent", "task", args)
        }
        _ => Reply::text(format!("told {} times: {}", all.len(), all.join("|"))),
    }
}

/// Whether a call of reading stands behind what was told.
fn request_reads_again(request: &ChatRequest) -> bool {
    let behind = request
        .messages
        .iter()
        .rev()
        .take_while(|message| !matches!(&***message, Message::Human(human) if OutsideChange::is_told_by(human)));
    behind.into_iter().any(|message| matches!(&**message, Message::Ai(reply) if !reply.tool_calls.is_empty()))
}

async fn said(stage: &Stage, session: &SessionId, text: &str) -> String {
    stage.sessions.send(session, text.into()).await.unwrap();
    stage.sessions.quiet(session).await.unwrap();
    let snapshot = stage.snapshot(session).await;
    let texts = snapshot.items.into_iter().rev().find_map(|item| match item.body {
        ItemBody::Ai { text, .. } => Some(text.to_string()),
        _ => None,
    });
    texts.unwrap()
}

async fn notices(stage: &Stage, session: &SessionId) -> Vec<String> {
    let items = stage.snapshot(session).await.items.into_iter();
    let notices = items.filter_map(|item| match item.body {
        ItemBody::Notice(notice) if notice.code == NoticeCode::FilesChanged => Some(notice.detail),
        _ => None,
    });
    notices.collect()
}

async fn entries(stage: &Stage, session: &SessionId) -> Vec<Vec<OutsideChange>> {
    let id = bosun_agent::SessionId::new(session.as_str());
    let entries = stage.database.entries(&id, 0).await.unwrap().into_iter();
    let changed = entries.filter_map(|recorded| match recorded.entry.body {
        EntryBody::FilesChanged { files, .. } => Some(files),
        _ => None,
    });
    changed.collect()
}

/// A place whose files go by a sandbox is a folder of this machine still.
#[tokio::test]
async fn what_changes_in_a_mounted_sandbox_is_told_of() {
    let stage = Stage::allowing_everything(script).await;
    if let Some(problem) = stage.sessions.sandbox_problem().await {
        return missing(&problem.to_string(), "apt-get install bubblewrap").unwrap_or_default();
    }
    let shelf = tempfile::tempdir().unwrap();
    std::fs::write(shelf.path().join("a.txt"), "one\n").unwrap();
    let route = format!("[[routes]]\nprefix = \"/box\"\nkind = \"sandbox\"\nfolder = \"{}\"\n", shelf.path().display());
    stage.sessions.save_additions(&route).await.unwrap();
    let session = stage.session().await;
    assert_eq!(said(&stage, &session, "read /box/a.txt").await, "told 0 times: ");
    assert_eq!(said(&stage, &session, "go on").await, "told 0 times: ");
    std::fs::write(shelf.path().join("a.txt"), "somebody else's\n").unwrap();
    let told = said(&stage, &session, "go on").await;
    assert!(told.starts_with("told 1 times: ") && told.contains("- /box/a.txt"), "{told}");
    assert_eq!(notices(&stage, &session).await, ["/box/a.txt"]);
}

#[tokio::test]
async fn bytes_that_are_no_text_are_told_of_when_they_change_and_not_before() {
    let stage = Stage::new(script).await;
    let session = stage.session().await;
    stage.project.write("logo.bin", b"\x00\x01");
    for text in ["read /logo.bin", "go on"] {
        let heard = said(&stage, &session, text).await;
        assert!(heard.starts_with("told 0"), "{heard}");
    }
    stage.project.write("logo.bin", b"\x00\x02");
    let heard = said(&stage, &session, "go on").await;
    assert!(heard.starts_with("told 1 times") && heard.contains("- /logo.bin\n"), "{heard}");
}

#[tokio::test]
async fn what_somebody_else_changed_since_it_was_read_is_told_once_with_the_next_step() {
    let stage = Stage::new(script).await;
    let session = stage.session().await;
    assert!(said(&stage, &session, "read /a.txt").await.starts_with("told 0"));
    assert!(said(&stage, &session, "read /src/b.txt").await.starts_with("told 0"));
    stage.project.write("a.txt", "somebody else's\n");
    stage.project.write("never-read.txt", "x");
    let rows = stage.snapshot(&session).await.items.len();
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    assert_eq!(stage.snapshot(&session).await.items.len(), rows, "it begins nothing");
    let heard = said(&stage, &session, "go on").await;
    assert!(heard.starts_with("told 1 times"), "{heard}");
    assert!(heard.contains("- /a.txt\n") && !heard.contains("b.txt") && !heard.contains("never-read"), "{heard}");
    // Changed once more, unread: it knows already.
    stage.project.write("a.txt", "again\n");
    assert!(said(&stage, &session, "go on").await.starts_with("told 1 times"));
    assert_eq!(notices(&stage, &session).await, ["/a.txt"]);
    // What was told and to whom is there after a restart, and so is what it is still to be told.
    let stage = stage.restarted(script).await;
    assert!(said(&stage, &session, "go on").await.starts_with("told 1 times"));
    std::fs::remove_file(stage.project.root().join("src/b.txt")).unwrap();
    let stage = stage.restarted(script).await;
    let heard = said(&stage, &session, "go on").await;
    assert!(heard.starts_with("told 2 times") && heard.contains("- /src/b.txt (not there any more)"), "{heard}");
    // Once it has read it again, the next change is news again.
    assert!(said(&stage, &session, "read /a.txt").await.starts_with("told 2 times"));
    stage.project.write("a.txt", "and again\n");
    assert!(said(&stage, &session, "go on").await.starts_with("told 3 times"));
}

#[tokio::test]
async fn what_the_agent_does_itself_is_no_news_to_it() {
    let stage = Stage::allowing_everything(script).await;
    stage.project.write("gone.txt", "x");
    let session = stage.session().await;
    for text in ["read /a.txt", "read /gone.txt", "edit it", "command", "go on"] {
        let heard = said(&stage, &session, text).await;
        assert!(heard.starts_with("told 0"), "{text}: {heard}");
    }
    assert_eq!(stage.project.read("a.txt"), "1\ntwo\nmore\n");
    // The same bytes written again are no change.
    let bytes = stage.project.read("a.txt");
    stage.project.write("a.txt", bytes);
    assert!(said(&stage, &session, "go on").await.starts_with("told 0"));
    stage.project.write("a.txt", "not its own\n");
    assert!(said(&stage, &session, "go on").await.starts_with("told 1"));
}

/// In the middle of a turn it is the system that says so.
#[tokio::test]
async fn what_changes_in_the_middle_of_a_turn_is_told_in_it_and_cleared_by_reading_again() {
    let stage = Stage::new(script).await;
    let session = stage.session().await;
    let host = stage.project.root().join("a.txt");
    let heard = said(&stage, &session, &format!("meanwhile {}", host.display())).await;
    assert!(heard.starts_with("told 1 times") && heard.contains("- /a.txt\n"), "{heard}");
    assert_eq!(entries(&stage, &session).await.len(), 1);
    assert!(said(&stage, &session, "go on").await.starts_with("told 1 times"));
}

/// A save reaches the file, not the link, and no folder of the link's is told of it.
#[tokio::test]
async fn a_file_that_is_read_through_a_link_and_changes_within_a_turn_is_told() {
    for (link, target, real) in [("a.txt", "docs/real.txt", "docs/real.txt"), ("led", "docs", "docs/a.txt")] {
        let stage = Stage::allowing_everything(script).await;
        let session = stage.session().await;
        stage.project.write(real, "as it was\n");
        let root = stage.project.root();
        if link == "a.txt" {
            std::fs::remove_file(root.join(link)).unwrap();
        }
        std::os::unix::fs::symlink(target, root.join(link)).unwrap();
        let name = if link == "led" { "/led/a.txt" } else { "/a.txt" };
        assert!(said(&stage, &session, &format!("read {name}")).await.starts_with("told 0"), "{link}");
        let heard = said(&stage, &session, &format!("meanwhile {}", root.join(real).display())).await;
        assert!(heard.starts_with("told 1 times") && heard.contains(&format!("- {name}\n")), "{link}: {heard}");
    }
}

/// Nor is the folder of a file told that one above it is renamed, nor who saves at its old name afterwards.
#[tokio::test]
async fn a_file_that_goes_with_a_folder_above_it_and_comes_back_is_told_within_the_turn() {
    let stage = Stage::allowing_everything(script).await;
    let session = stage.session().await;
    stage.project.write("docs/sub/a.txt", "as it was\n");
    let docs = stage.project.root().join("docs");
    assert!(said(&stage, &session, "read /docs/sub/a.txt").await.starts_with("told 0"));
    let heard = said(&stage, &session, &format!("moves {}", docs.display())).await;
    assert!(heard.contains("- /docs/sub/a.txt (not there any more)\n"), "{heard}");
    assert!(heard.starts_with("told 2 times") && heard.contains("- /docs/sub/a.txt\n"), "{heard}");
}

/// F08: 2,000 files by default, 100,000 with `BOSUN_LONG=1`.
#[tokio::test]
async fn a_flood_is_one_bounded_notice_with_a_count() {
    let stage = Stage::new(script).await;
    let tree = stage.project.root().join("tree");
    let checkout = |tree: &Path, text: &str| {
        std::fs::create_dir_all(tree).unwrap();
        let files = if std::env::var_os("BOSUN_LONG").is_some() { 100_000 } else { 2_000 };
        (0..files).for_each(|at| std::fs::write(tree.join(format!("f{at}.txt")), text).unwrap());
    };
    checkout(&tree, "one branch\n");
    let session = stage.session().await;
    assert!(said(&stage, &session, "many files").await.starts_with("told 0"));
    checkout(&tree, "another branch\n");
    let heard = said(&stage, &session, "go on").await;
    assert!(heard.starts_with("told 1 times"), "{heard}");
    assert_eq!(heard.matches("\n- /tree/f").count(), 40);
    assert!(heard.contains("and 20 more of those you have read") && heard.len() < 8_000, "{heard}");
    assert!(said(&stage, &session, "go on").await.starts_with("told 1 times"));
    let told = entries(&stage, &session).await;
    assert_eq!(told.iter().map(Vec::len).collect::<Vec<_>>(), [60]);
    assert_eq!(notices(&stage, &session).await.len(), 1);
}

#[tokio::test]
async fn what_a_subagent_changed_is_no_news_to_its_parent_even_after_a_restart() {
    let stage = Stage::allowing_everything(script).await;
    let session = stage.session().await;
    said(&stage, &session, "read /a.txt").await;
    let heard = said(&stage, &session, "delegate an edit").await;
    assert!(heard.starts_with("told 0") && stage.project.read("a.txt") == "1\ntwo\n", "{heard}");
    let stage = stage.restarted(script).await;
    assert!(said(&stage, &session, "go on").await.starts_with("told 0"));
}

#[tokio::test]
async fn a_subagent_is_not_told_of_what_only_its_parent_has_read() {
    let stage = Stage::allowing_everything(script).await;
    let session = stage.session().await;
    said(&stage, &session, "read /a.txt").await;
    stage.project.write("a.txt", "somebody else's\n");
    let heard = said(&stage, &session, "delegate").await;
    assert!(heard.starts_with("told 1 times"), "{heard}");
    let snapshot = stage.snapshot(&session).await;
    let results: Vec<String> = snapshot.items.iter().map(|item| format!("{:?}", item.body)).collect();
    assert!(results.iter().any(|row| row.contains("told 0 times")), "{results:?}");
}

/// What a person puts back is their doing.
#[tokio::test]
async fn what_a_person_undoes_is_told() {
    let stage = Stage::allowing_everything(script).await;
    let session = stage.session().await;
    said(&stage, &session, "read /a.txt").await;
    assert!(said(&stage, &session, "edit it").await.starts_with("told 0"));
    stage.sessions.undo_file(&session, "/a.txt", ChangeScope::Session).await.unwrap();
    let heard = said(&stage, &session, "go on").await;
    assert!(heard.starts_with("told 1 times") && heard.contains("- /a.txt\n"), "{heard}");
}

/// F02: an editor that still had the old text saves it over the agent's edit. The agent hears of it and reads what is
/// there; nothing is put back over what the person saved.
#[tokio::test]
async fn an_old_buffer_saved_over_an_edit_is_told_and_read_and_stays() {
    let stage = Stage::allowing_everything(script).await;
    let session = stage.session().await;
    let old = stage.project.read("a.txt");
    said(&stage, &session, "read /a.txt").await;
    said(&stage, &session, "edit it").await;
    let edited = stage.project.read("a.txt");
    assert_ne!(edited, old);
    stage.project.write("a.txt", &old);
    let heard = said(&stage, &session, "go on").await;
    assert!(heard.starts_with("told 1 times") && heard.contains("- /a.txt\n"), "{heard}");
    said(&stage, &session, "read /a.txt").await;
    let items = stage.snapshot(&session).await.items;
    let read = items.iter().rev().find_map(|item| match &item.body {
        ItemBody::Tool(tool) => Some(serde_json::to_string(tool).unwrap()),
        _ => None,
    });
    assert!(read.is_some_and(|read| read.contains("one")), "the next reading shows what is there");
    let undone = stage.sessions.undo_file(&session, "/a.txt", ChangeScope::Session).await.unwrap();
    assert_eq!((undone.added, undone.removed), (0, 0), "it is already as before");
    assert_eq!(stage.project.read("a.txt"), old);
}
