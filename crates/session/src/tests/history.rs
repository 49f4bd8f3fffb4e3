//! Undoing changes, looking back, forking, going back and forth.
#![allow(clippy::disallowed_methods, reason = "tests look at files")]

use bosun_model::ChatRequest;
use bosun_protocol::{
    ChangeKind, ChangeScope, CheckpointKind, DecisionSource, DiffLineKind, ErrorCode, ExportFormat, ItemBody,
    RewindWhat, SessionId, SessionStatus, TimelineList, ToolState,
};
use bosun_testkit::Reply;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::changes::{counts, rewriting};
use super::sessions::{editing, progress};
use super::stage::Stage;
use crate::export::{CHINESE, ENGLISH};

/// As `rewriting`; "make" writes a file, "remove" deletes one.
fn working(request: &ChatRequest) -> Reply {
    match progress(request) {
        (text, 0) if text == "make" => {
            Reply::default().and_call_with_id("w", "write_file", json!({"file_path": "/new.txt", "content": "new\n"}))
        }
        (text, 0) if text == "remove" => {
            Reply::default().and_call_with_id("l", "read_file", json!({"file_path": "/src/b.txt"}))
        }
        (text, 1) if text == "remove" => {
            Reply::default().and_call_with_id("d", "delete", json!({"file_path": "/src/b.txt"}))
        }
        _ => rewriting(request),
    }
}

async fn worked(texts: &[&str]) -> (Stage, SessionId) {
    let stage = Stage::allowing_edits(working).await;
    let session = stage.session().await;
    for text in texts {
        stage.sessions.send(&session, (*text).to_owned()).await.unwrap();
        let quiet = stage.sessions.quiet(&session).await.unwrap();
        assert_eq!(quiet.summary.status, SessionStatus::Idle, "{text}");
    }
    (stage, session)
}

async fn said(stage: &Stage, session: &SessionId) -> Vec<String> {
    texts(stage.snapshot(session).await.items)
}

fn texts(items: Vec<bosun_protocol::Item>) -> Vec<String> {
    let texts = items.into_iter().filter_map(|item| match item.body {
        ItemBody::Human { text, .. } => Some(text.to_string()),
        ItemBody::Ai { .. } | ItemBody::Tool(_) | ItemBody::Notice(_) => None,
    });
    texts.collect()
}

/// The place right before the message `label`.
async fn before(stage: &Stage, session: &SessionId, label: &str) -> u32 {
    let timeline = stage.timeline(session).await;
    let mut starts = timeline.checkpoints.into_iter().filter(|place| place.kind == CheckpointKind::TurnStart);
    starts.find(|place| place.label == label).unwrap().seq
}

#[tokio::test]
async fn a_changed_a_made_and_a_deleted_file_are_put_back_by_one_and_all_together() {
    let (stage, session) = worked(&["rewrite one 1", "make", "remove"]).await;
    let undone = stage.sessions.undo_file(&session, "/a.txt", ChangeScope::Session).await.unwrap();
    assert_eq!((undone.change, undone.added, undone.removed), (ChangeKind::Changed, 1, 1));
    assert_eq!(stage.project.read("a.txt"), "one\ntwo\n");
    let again = stage.sessions.undo_file(&session, "/a.txt", ChangeScope::Session).await.unwrap_err();
    assert_eq!(again.code, ErrorCode::NotFound);
    let undone = stage.sessions.undo_changes(&session, ChangeScope::Session).await.unwrap();
    let kinds: Vec<_> = undone.iter().map(|file| (file.path.as_str(), file.change, file.problem.is_none())).collect();
    assert_eq!(kinds, [("/new.txt", ChangeKind::Deleted, true), ("/src/b.txt", ChangeKind::Created, true)]);
    assert_eq!(stage.project.read("src/b.txt"), "TODO b\n");
    assert!(!stage.project.root().join("new.txt").exists());
    let zero = |path: &str| (path.to_owned(), ChangeKind::Changed, 0, 0);
    let mut left = counts(&stage, &session).await;
    left.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(left, [zero("/a.txt"), zero("/new.txt"), zero("/src/b.txt")]);
    let stage = stage.restarted(working).await;
    assert_eq!(stage.sessions.undo_changes(&session, ChangeScope::Session).await.unwrap(), []);
}

#[tokio::test]
async fn what_the_person_changed_since_is_never_put_back() {
    let (stage, session) = worked(&["rewrite one 1", "make"]).await;
    stage.project.write("a.txt", "mine\n");
    let refused = stage.sessions.undo_file(&session, "/a.txt", ChangeScope::Session).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::Invalid);
    assert!(refused.to_string().contains("/a.txt") && refused.to_string().contains("changed since"), "{refused}");
    let files = stage.sessions.undo_changes(&session, ChangeScope::Session).await.unwrap();
    let problems: Vec<_> = files.iter().map(|file| (file.path.as_str(), file.problem.is_some())).collect();
    assert_eq!(problems, [("/a.txt", true), ("/new.txt", false)]);
    assert_eq!(stage.project.read("a.txt"), "mine\n");
    assert!(!stage.project.root().join("new.txt").exists());
}

#[tokio::test]
async fn nothing_is_put_back_while_a_turn_is_under_way() {
    let stage = Stage::new(editing).await;
    let session = stage.session().await;
    stage.sessions.send(&session, "edit a.txt".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let refused = stage.sessions.undo_changes(&session, ChangeScope::Session).await.unwrap_err();
    assert!(refused.to_string().contains("stop it first"), "{refused}");
    assert!(stage.sessions.rewind(&session, 0, RewindWhat::Both, &[]).await.is_err());
}

#[tokio::test]
async fn a_restore_that_a_crash_cut_is_settled_by_what_is_on_disk() {
    let (stage, session) = worked(&["rewrite one 1"]).await;
    stage.sessions.shut_down().await;
    let journal = stage.database.journal(&bosun_agent::SessionId::new(session.as_str()));
    let entries = stage.database.entries(&bosun_agent::SessionId::new(session.as_str()), 0).await.unwrap();
    let made = entries.iter().find_map(|recorded| match &recorded.entry.body {
        bosun_agent::EntryBody::ToolResult { artifact, .. } => artifact.changes.first().cloned(),
        _ => None,
    });
    let made = made.unwrap();
    let back = bosun_tools::ChangeRecord {
        path: made.path,
        before: made.after,
        after: made.before,
        mode: made.mode_after,
        mode_after: made.mode,
    };
    let body = bosun_agent::EntryBody::RestoreIntended { changes: vec![back], opened: Vec::new() };
    bosun_agent::Journal::append(&journal, vec![bosun_agent::JournalEntry { at: i64::MAX, body }]).await.unwrap();
    // The file was put back, and only that was not recorded any more.
    stage.project.write("a.txt", "one\ntwo\n");
    let stage = stage.restarted(working).await;
    assert_eq!(counts(&stage, &session).await, [("/a.txt".to_owned(), ChangeKind::Changed, 0, 0)]);
}

#[tokio::test]
async fn the_timeline_names_turns_steps_files_and_who_decided() {
    let (stage, session) = worked(&["rewrite one 1", "send rewrite two 2"]).await;
    let timeline = stage.timeline(&session).await;
    let places: Vec<_> =
        timeline.checkpoints.iter().map(|place| (place.kind, place.turn, place.label.as_str())).collect();
    assert_eq!(
        places,
        [
            (CheckpointKind::TurnStart, 1, "rewrite one 1"),
            (CheckpointKind::Step, 1, "read_file"),
            (CheckpointKind::Step, 1, "edit_file"),
            (CheckpointKind::TurnEnd, 1, "Done."),
            (CheckpointKind::TurnStart, 2, "send rewrite two 2"),
            (CheckpointKind::Step, 2, "task"),
            (CheckpointKind::TurnEnd, 2, "Done."),
        ]
    );
    assert_eq!(timeline.checkpoints[2].files, ["/a.txt"]);
    let read = &timeline.checkpoints[1];
    assert_eq!(read.calls_count, 1);
    assert_eq!((read.calls[0].tool.as_str(), &read.calls[0].args["file_path"]), ("read_file", &"/a.txt".into()));
    let calls: Vec<_> = timeline.ledger.iter().map(|call| (call.agent.len(), call.tool.as_str(), call.state)).collect();
    let done = ToolState::Done;
    let wanted = [
        (1, "read_file", done),
        (1, "edit_file", done),
        (1, "task", done),
        (2, "read_file", done),
        (2, "edit_file", done),
    ];
    assert_eq!(calls, wanted);
    let by = timeline.ledger[4].decision.clone().unwrap().by;
    assert_eq!(
        (by, timeline.ledger[4].files.as_slice()),
        (DecisionSource::Rule { rule: "test".into() }, ["/a.txt".to_owned()].as_slice())
    );
    let then = timeline.checkpoints[3].seq;
    assert_eq!(texts(stage.sessions.snapshot_at(&session, then, None).await.unwrap().items), ["rewrite one 1"]);
    let file = stage.sessions.file_at(&session, then, "/a.txt").await.unwrap();
    assert_eq!((file.text.as_deref(), file.exists), (Some("1\ntwo\n"), true));
    let elsewhere = stage.sessions.snapshot_at(&session, then - 1, None).await.unwrap_err();
    assert_eq!(elsewhere.code, ErrorCode::NotFound);
}

#[tokio::test]
async fn a_timeline_comes_by_page_and_goes_on_with_what_is_recorded_later() {
    let (stage, session) = worked(&["rewrite one 1", "make"]).await;
    let whole = stage.timeline(&session).await;
    let last = stage.page(&session, TimelineList::Places, None, None, 2).await;
    assert_eq!((last.from, last.total, last.checkpoints.as_slice()), (5, 7, &whole.checkpoints[5..]));
    let row = |at: usize| Some(&whole.checkpoints[at].row);
    let earlier = stage.page(&session, TimelineList::Places, None, row(5), 3).await;
    assert_eq!((earlier.from, earlier.checkpoints.as_slice()), (2, &whole.checkpoints[2..5]));
    let first = stage.page(&session, TimelineList::Places, None, row(2), 3).await;
    assert_eq!((first.from, first.checkpoints.as_slice()), (0, &whole.checkpoints[..2]));
    let gone = stage.page(&session, TimelineList::Ledger, Some(&"gone".into()), None, 2).await;
    assert_eq!((gone.from, gone.total, gone.ledger.as_slice()), (1, 3, &whole.ledger[1..]), "the end of the list");

    stage.sessions.send(&session, "send rewrite two 2".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let more = stage.page(&session, TimelineList::Places, row(6), None, 99).await;
    let labels: Vec<&str> = more.checkpoints.iter().map(|place| place.label.as_str()).collect();
    assert_eq!((more.from, more.total, labels), (6, 10, vec!["Done.", "send rewrite two 2", "task", "Done."]));
    let calls = stage.page(&session, TimelineList::Ledger, Some(&whole.ledger[2].row), None, 99).await.ledger;
    assert_eq!(
        (calls.len(), calls[3].tool.as_str(), &calls[3].proposed["file_path"]),
        (4, "edit_file", &"/a.txt".into())
    );
    let read_on = stage.timeline(&session).await;

    let stage = stage.restarted(working).await;
    let read_anew = stage.timeline(&session).await;
    assert_eq!((read_on.checkpoints, read_on.ledger), (read_anew.checkpoints, read_anew.ledger));
    let place = before(&stage, &session, "make").await;
    stage.sessions.rewind(&session, place, RewindWhat::Conversation, &[]).await.unwrap();
    let back = stage.page(&session, TimelineList::Places, None, None, 99).await;
    assert_eq!((back.rewinds, back.total, back.can_undo_rewind), (1, 4, true));
    stage.sessions.undo_rewind(&session).await.unwrap();
    let again = stage.page(&session, TimelineList::Places, None, None, 99).await;
    assert_eq!((again.rewinds, again.total, again.can_undo_rewind), (2, 10, false));
}

#[tokio::test]
async fn a_fork_goes_its_own_way_and_leaves_the_first_alone() {
    let (stage, session) = worked(&["rewrite one 1", "make"]).await;
    let place = before(&stage, &session, "make").await;
    let fork = stage.sessions.fork(&session, place).await.unwrap();
    assert_eq!((fork.title.as_str(), fork.status), ("rewrite one 1 (2)", SessionStatus::Idle));
    let again = stage.sessions.fork(&session, place).await.unwrap();
    assert_eq!(again.title, "rewrite one 1 (3)", "two sessions of a list are told apart");
    stage.sessions.send(&fork.id, "rewrite two 2".into()).await.unwrap();
    stage.sessions.quiet(&fork.id).await.unwrap();
    assert_eq!(said(&stage, &fork.id).await, ["rewrite one 1", "rewrite two 2"]);
    assert_eq!(said(&stage, &session).await, ["rewrite one 1", "make"]);
    assert_eq!(stage.project.read("a.txt"), "1\n2\n");
    let middle = stage.timeline(&session).await.checkpoints[1].seq;
    let stopped = stage.sessions.fork(&session, middle).await.unwrap();
    assert_eq!(stopped.status, SessionStatus::Stopped, "a turn that was under way is stopped there");
    let stage = stage.restarted(working).await;
    assert_eq!(stage.sessions.list(&stage.project_id).await.unwrap().len(), 4);
    assert_eq!(said(&stage, &fork.id).await, ["rewrite one 1", "rewrite two 2"]);
}

#[tokio::test]
async fn conversation_and_files_go_back_and_forth_again() {
    let (stage, session) = worked(&["rewrite one 1", "send rewrite two 2", "make"]).await;
    let whole = stage.snapshot(&session).await;
    let place = before(&stage, &session, "send rewrite two 2").await;
    let preview = stage.sessions.preview_rewind(&session, place).await.unwrap();
    let files: Vec<_> =
        preview.files.iter().map(|file| (file.path.as_str(), file.change, file.added, file.removed)).collect();
    assert_eq!(files, [("/a.txt", ChangeKind::Changed, 1, 1), ("/new.txt", ChangeKind::Deleted, 0, 1)]);
    assert_eq!(preview.rows, 6, "two messages, two calls, two replies");
    assert_eq!((preview.place.kind, preview.place.label.as_str()), (CheckpointKind::TurnStart, "send rewrite two 2"));
    assert_eq!(preview.first.as_deref(), Some("send rewrite two 2"));
    let middle = stage.timeline(&session).await.checkpoints[1].seq;
    let preview = stage.sessions.preview_rewind(&session, middle).await.unwrap();
    assert_eq!((preview.place.kind, preview.first.as_deref()), (CheckpointKind::Step, Some("send rewrite two 2")));
    let end = stage.timeline(&session).await.checkpoints.last().unwrap().seq;
    let preview = stage.sessions.preview_rewind(&session, end).await.unwrap();
    assert_eq!((preview.place.kind, preview.rows, preview.first), (CheckpointKind::TurnEnd, 0, None));
    let mut watching = stage.sessions.subscribe(&session).await.unwrap();
    stage.sessions.rewind(&session, place, RewindWhat::Both, &[]).await.unwrap();
    assert_eq!(said(&stage, &session).await, ["rewrite one 1"]);
    assert_eq!(stage.project.read("a.txt"), "1\ntwo\n");
    assert!(!stage.project.root().join("new.txt").exists());
    let told = watching.events.now();
    let reset = told.iter().find_map(|envelope| match &envelope.event {
        bosun_protocol::SessionEvent::Reset { snapshot } => Some((envelope.seq, snapshot)),
        _ => None,
    });
    let (seq, snapshot) = reset.expect("those who watch are told");
    assert!(seq == snapshot.seq && texts(snapshot.items.clone()) == ["rewrite one 1"]);
    assert!(stage.timeline(&session).await.can_undo_rewind);
    let stage = stage.restarted(working).await;
    assert_eq!(said(&stage, &session).await, ["rewrite one 1"]);
    stage.sessions.undo_rewind(&session).await.unwrap();
    let back = stage.snapshot(&session).await;
    assert_eq!(back.items, whole.items);
    assert_eq!((stage.project.read("a.txt").as_str(), stage.project.read("new.txt").as_str()), ("1\n2\n", "new\n"));
    assert!(stage.sessions.undo_rewind(&session).await.is_err(), "there is nothing left to undo");
}

#[tokio::test]
async fn a_rewound_conversation_is_what_the_model_reads_and_its_changes_can_still_be_undone() {
    let (stage, session) = worked(&["rewrite one 1", "make"]).await;
    let place = before(&stage, &session, "make").await;
    stage.sessions.rewind(&session, place, RewindWhat::Conversation, &[]).await.unwrap();
    assert_eq!(stage.project.read("new.txt"), "new\n");
    stage.sessions.send(&session, "rewrite two 2".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    assert_eq!(said(&stage, &session).await, ["rewrite one 1", "rewrite two 2"]);
    assert!(stage.sessions.undo_rewind(&session).await.is_err(), "something has happened since");
    let undone = stage.sessions.undo_changes(&session, ChangeScope::Session).await.unwrap();
    assert_eq!(undone.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["/a.txt", "/new.txt"]);
    let first = before(&stage, &session, "rewrite one 1").await;
    stage.sessions.rewind(&session, first, RewindWhat::Conversation, &[]).await.unwrap();
    assert_eq!(stage.snapshot(&session).await.items, []);
}

#[tokio::test]
async fn files_alone_go_back_and_a_file_of_the_persons_refuses_it_all() {
    let (stage, session) = worked(&["rewrite one 1", "make"]).await;
    let first = before(&stage, &session, "rewrite one 1").await;
    stage.project.write("new.txt", "mine\n");
    let refused = stage.sessions.rewind(&session, first, RewindWhat::Both, &[]).await.unwrap_err();
    assert!(
        refused.to_string().starts_with("nothing was undone") && refused.to_string().contains("/new.txt"),
        "{refused}"
    );
    assert_eq!((stage.project.read("a.txt").as_str(), said(&stage, &session).await.len()), ("1\ntwo\n", 2));
    stage.project.write("new.txt", "new\n");
    stage.sessions.rewind(&session, first, RewindWhat::Files, &[]).await.unwrap();
    assert_eq!((stage.project.read("a.txt").as_str(), said(&stage, &session).await.len()), ("one\ntwo\n", 2));
    stage.sessions.undo_rewind(&session).await.unwrap();
    assert_eq!(stage.project.read("a.txt"), "1\ntwo\n");
}

#[tokio::test]
async fn each_file_of_a_rewind_is_shown_as_it_is_against_what_it_would_be() {
    let (stage, session) = worked(&["rewrite one 1", "make", "rewrite two 2"]).await;
    let seq = before(&stage, &session, "make").await;
    let diff = async |path: &str| stage.sessions.preview_rewind_file(&session, seq, path).await;
    let lines = |diff: bosun_protocol::FileDiff| {
        let lines = diff.hunks.into_iter().flat_map(|hunk| hunk.lines);
        let lines = lines.map(|line| (line.kind, line.segments.into_iter().map(|segment| segment.text).collect()));
        lines.collect::<Vec<(DiffLineKind, String)>>()
    };
    let (same, added, removed) = (DiffLineKind::Context, DiffLineKind::Added, DiffLineKind::Removed);
    let line = |kind, text: &str| (kind, text.to_owned());
    let wanted = [line(same, "1"), line(removed, "2"), line(added, "two")];
    assert_eq!(lines(diff("/a.txt").await.unwrap()), wanted);
    let gone = diff("/new.txt").await.unwrap();
    assert_eq!((gone.deleted, lines(gone)), (true, vec![line(removed, "new")]));

    stage.project.write("a.txt", "mine\n");
    let wanted = [line(removed, "mine"), line(added, "1"), line(added, "two")];
    assert_eq!(lines(diff("/a.txt").await.unwrap()), wanted, "of what stands in the way, too");
    assert_eq!(diff("/src/b.txt").await.unwrap_err().code, ErrorCode::NotFound);
}

#[tokio::test]
async fn a_rewind_leaves_the_files_that_are_named_and_its_undoing_brings_the_others_forth() {
    let (stage, session) = worked(&["rewrite one 1", "make", "remove"]).await;
    let first = before(&stage, &session, "rewrite one 1").await;
    let read = |stage: &Stage| (stage.project.read("a.txt"), stage.project.read("new.txt"));
    let mine = ["/new.txt".to_owned()];
    stage.project.write("new.txt", "mine\n");
    stage.project.write("src/b.txt", "mine, too\n");
    for leave in [&mine, &["/src/b.txt".to_owned()]] {
        let refused = stage.sessions.rewind(&session, first, RewindWhat::Both, leave).await.unwrap_err();
        assert!(refused.to_string().starts_with("nothing was undone"), "the other is in the way: {refused}");
    }
    std::fs::remove_file(stage.project.root().join("src/b.txt")).unwrap();

    stage.sessions.rewind(&session, first, RewindWhat::Both, &mine).await.unwrap();
    assert_eq!((read(&stage), said(&stage, &session).await.len()), (("one\ntwo\n".into(), "mine\n".into()), 0));
    assert_eq!(stage.project.read("src/b.txt"), "TODO b\n");
    let left: Vec<_> = counts(&stage, &session).await.into_iter().map(|(path, kind, ..)| (path, kind)).collect();
    assert!(left.contains(&("/new.txt".to_owned(), ChangeKind::Created)), "it is still the session's: {left:?}");

    let stage = stage.restarted(working).await;
    stage.project.write("new.txt", "mine once more\n");
    stage.sessions.undo_rewind(&session).await.unwrap();
    assert_eq!(read(&stage), ("1\ntwo\n".into(), "mine once more\n".into()));
    assert!(!stage.project.root().join("src/b.txt").exists());
    assert_eq!(said(&stage, &session).await, ["rewrite one 1", "make", "remove"]);
    stage.sessions.rewind(&session, first, RewindWhat::Files, &mine).await.unwrap();
    let stage = stage.restarted(working).await;
    assert_eq!(
        (read(&stage), said(&stage, &session).await.len()),
        (("one\ntwo\n".into(), "mine once more\n".into()), 3)
    );
    let elsewhere = stage.sessions.rewind(&session, first, RewindWhat::Files, &["../up".to_owned()]).await.unwrap_err();
    assert_eq!(elsewhere.code, ErrorCode::Invalid);
}

#[tokio::test]
async fn an_export_has_everything_and_its_page_is_inert() {
    let (stage, session) = worked(&["rewrite one 1", "send rewrite two 2"]).await;
    let hostile = "<script>alert(1)</script> <img src=x onerror=alert(2)> ```js\nlet a = '<b>';\n``` \u{202e}evil";
    stage.sessions.send(&session, hostile.into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    stage.sessions.rename(&session, "Fix: the \"<b>\" parser/..").await.unwrap();
    let page = stage.sessions.export(&session, ExportFormat::Html, &ENGLISH).await.unwrap();
    assert!(page.contains("&lt;script&gt;alert(1)") && page.contains("let a = &#39;&lt;b&gt;&#39;;"), "{page}");
    assert!(page.contains("&quot;subagent_type&quot;"), "what a call was given is there: {page}");
    for active in ["<script", "<img", "<a ", "<link", "<iframe", "src=\"", "href=", "url(", "\u{202e}"] {
        assert!(!page.contains(active), "{active}");
    }
    assert!(
        page.contains("default-src 'none'") && page.contains("edit_file /a.txt") && page.contains("class=\"subagent\"")
    );
    let chinese = stage.sessions.export(&session, ExportFormat::Html, &CHINESE).await.unwrap();
    assert!(chinese.contains("<h2 class=\"speaker\">你</h2>"), "{chinese}");
    let json: serde_json::Value =
        serde_json::from_str(&stage.sessions.export(&session, ExportFormat::Json, &ENGLISH).await.unwrap()).unwrap();
    assert_eq!(json["subagents"][0]["items"].as_array().unwrap().len(), 4);
    let folder = tempfile::tempdir().unwrap();
    let export =
        async || stage.sessions.export_into(&session, ExportFormat::Markdown, &ENGLISH, folder.path()).await.unwrap();
    let [one, two] = [export().await, export().await];
    let text = std::fs::read_to_string(&one).unwrap();
    assert!(text.starts_with("# Fix: the \"\\<b>\" parser") && text.contains("\\<script>alert(1)"), "{text}");
    assert!(!text.replace("\\<", "").contains("<script") && text.contains("\\<img src=x"), "{text}");
    assert_eq!((one, two), (folder.path().join("Fix-the-b-parser.md"), folder.path().join("Fix-the-b-parser-2.md")));
}
