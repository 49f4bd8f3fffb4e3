//! Before a message: going back there, and going another way from there, also where it was said to a turn under way.

use bosun_model::ChatRequest;
use bosun_protocol::{
    CheckpointKind, Decision, ErrorCode, Item, ItemBody, ItemId, RewindWhat, SessionId, SessionStatus, ToolState,
};
use bosun_testkit::Reply;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::sessions::{editing, progress};
use super::stage::Stage;
use crate::view::WINDOW;

/// Edits where it was asked to; writes at once with "now"; looks around a lot with "look". Then answers what was said last.
fn steered(request: &ChatRequest) -> Reply {
    match progress(request) {
        (text, 0) if text.contains("now") => {
            Reply::default().and_call_with_id("w", "write_file", json!({"file_path": "/new.txt", "content": "new\n"}))
        }
        (text, 0 | 1) if text.contains("edit") && !text.contains("now") => editing(request),
        (text, done) if text.contains("look") && done <= WINDOW => {
            (0..20).fold(Reply::default(), |reply, _| reply.and_call("ls", json!({"path": "/"})))
        }
        (text, _) => Reply::text(format!("You said {text}.")),
    }
}

/// A turn that waits for a person's decision about a file, and was told two things meanwhile.
async fn told(first: &str) -> (Stage, SessionId) {
    let stage = Stage::new(steered).await;
    let session = stage.session().await;
    stage.sessions.send(&session, first.into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    for said in ["mind the tests", "be brief"] {
        stage.sessions.steer(&session, said.into()).await.unwrap();
    }
    (stage, session)
}

async fn answered(stage: &Stage, session: &SessionId) {
    // A call that was rewound keeps its id, so that the same call has another when it is made again.
    let waiting = stage.snapshot(session).await.approvals.remove(0).call_id;
    stage.decide(session, waiting.as_str(), Decision::Approve).await.unwrap();
    assert_eq!(stage.sessions.quiet(session).await.unwrap().summary.status, SessionStatus::Idle);
}

async fn row(stage: &Stage, session: &SessionId, words: &str) -> ItemId {
    let items = stage.snapshot(session).await.items;
    let found = items.into_iter().find(|item| match &item.body {
        ItemBody::Human { text, .. } | ItemBody::Ai { text, .. } => **text == words,
        ItemBody::Tool(_) | ItemBody::Notice(_) => false,
    });
    found.unwrap().id
}

fn words(items: &[Item]) -> Vec<&str> {
    let words = items.iter().filter_map(|item| match &item.body {
        ItemBody::Human { text, .. } => Some(text.as_str()),
        ItemBody::Tool(tool) if tool.state == ToolState::Done => Some(tool.name.as_str()),
        ItemBody::Ai { .. } | ItemBody::Tool(_) | ItemBody::Notice(_) => None,
    });
    words.collect()
}

/// What a session has that begins before `item`, and what was said there.
async fn forked(stage: &Stage, session: &SessionId, item: &str) -> (Vec<String>, Vec<String>) {
    let item = row(stage, session, item).await;
    let made = stage.sessions.fork_before(session, &item).await.unwrap();
    let has = stage.snapshot(&made.session.id).await.items;
    let owned = |items: &[Item]| words(items).into_iter().map(str::to_owned).collect();
    (owned(&has), owned(&made.said))
}

#[tokio::test]
async fn a_session_that_begins_before_a_steered_message_has_all_that_the_model_read_before_it() {
    let (stage, session) = told("edit a.txt").await;
    answered(&stage, &session).await;
    let (has, said) = forked(&stage, &session, "mind the tests").await;
    assert_eq!(has, ["edit a.txt", "read_file", "edit_file"], "with the step that was under way");
    assert_eq!(said, ["mind the tests"]);
    let (has, said) = forked(&stage, &session, "be brief").await;
    assert_eq!(has, ["edit a.txt", "read_file", "edit_file", "mind the tests"]);
    assert_eq!(said, ["be brief"]);
    let (has, said) = forked(&stage, &session, "edit a.txt").await;
    assert_eq!((has.len(), said), (0, vec!["edit a.txt".to_owned()]));

    let item = row(&stage, &session, "be brief").await;
    let made = stage.sessions.fork_before(&session, &item).await.unwrap().session;
    assert_eq!(made.status, SessionStatus::Stopped);
    stage.sessions.send(&made.id, "be long".into()).await.unwrap();
    stage.sessions.quiet(&made.id).await.unwrap();
    let shown = stage.snapshot(&made.id).await.items;
    let ItemBody::Ai { text, .. } = &shown.last().unwrap().body else { panic!() };
    assert_eq!(**text, "You said be long.");
    assert_eq!(words(&shown).last(), Some(&"be long"));
    let first = stage.snapshot(&session).await.items;
    assert_eq!(words(&first), ["edit a.txt", "read_file", "edit_file", "mind the tests", "be brief"]);
}

#[tokio::test]
async fn what_was_said_is_never_left_out_where_the_step_is_still_open() {
    // The first step of all waits: the turn's own message stays.
    let (stage, session) = told("now").await;
    let (has, _) = forked(&stage, &session, "mind the tests").await;
    assert_eq!(has, ["now"]);
    let (has, _) = forked(&stage, &session, "be brief").await;
    assert_eq!(has, ["now", "mind the tests"]);
}

#[tokio::test]
async fn going_back_to_before_a_steered_message_is_to_before_the_step_that_was_under_way() {
    let (stage, session) = told("edit a.txt").await;
    answered(&stage, &session).await;
    let message = row(&stage, &session, "mind the tests").await;
    let place = stage.sessions.place_before(&session, Some(&message)).await.unwrap();
    let places = stage.timeline(&session).await.checkpoints;
    assert_eq!(places.iter().find(|one| one.label == "read_file").unwrap().seq, place);
    let preview = stage.sessions.preview_rewind(&session, place).await.unwrap();
    assert_eq!(preview.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["/a.txt"]);
    stage.sessions.rewind(&session, place, RewindWhat::Both, &[]).await.unwrap();
    assert_eq!(words(&stage.snapshot(&session).await.items), ["edit a.txt", "read_file"]);
    assert_eq!(stage.project.read("a.txt"), "one\ntwo\n");
    stage.sessions.undo_rewind(&session).await.unwrap();
    assert_eq!(words(&stage.snapshot(&session).await.items).len(), 5);
}

#[tokio::test]
async fn going_back_within_the_first_step_keeps_the_message_that_began_the_turn() {
    let (stage, session) = told("now").await;
    answered(&stage, &session).await;
    let message = row(&stage, &session, "mind the tests").await;
    let place = stage.sessions.place_before(&session, Some(&message)).await.unwrap();
    let places = stage.timeline(&session).await.checkpoints;
    assert!(places.iter().all(|one| one.seq != place), "it is none of the timeline's own");
    assert_eq!(words(&stage.sessions.snapshot_at(&session, place, None).await.unwrap().items), ["now"]);
    stage.sessions.rewind(&session, place, RewindWhat::Both, &[]).await.unwrap();
    assert_eq!(words(&stage.snapshot(&session).await.items), ["now"]);
    let stage = stage.restarted(steered).await;
    stage.sessions.continue_turn(&session).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    answered(&stage, &session).await;
    assert_eq!(words(&stage.snapshot(&session).await.items), ["now", "write_file"]);
}

#[tokio::test]
async fn what_a_reply_answers_is_said_again_with_what_was_said_to_its_turn() {
    let (stage, session) = told("edit a.txt").await;
    answered(&stage, &session).await;
    let (has, said) = forked(&stage, &session, "You said be brief.").await;
    assert_eq!((has.len(), said), (0, ["edit a.txt", "mind the tests", "be brief"].map(str::to_owned).to_vec()));
    let (_, said) = forked(&stage, &session, "Reading.").await;
    assert_eq!(said, ["edit a.txt"], "what was said behind it is not part of the question");
    stage.sessions.send(&session, "thanks".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let (has, said) = forked(&stage, &session, "You said thanks.").await;
    assert_eq!(has, ["edit a.txt", "read_file", "edit_file", "mind the tests", "be brief"]);
    assert_eq!(said, ["thanks"]);
}

#[tokio::test]
async fn a_turn_longer_than_what_is_shown_first_is_asked_again_whole() {
    let stage = Stage::new(steered).await;
    let session = stage.session().await;
    stage.sessions.send(&session, "look around".into()).await.unwrap();
    assert_eq!(stage.sessions.quiet(&session).await.unwrap().summary.status, SessionStatus::Idle);
    let stage = stage.restarted(steered).await;
    let shown = stage.snapshot(&session).await;
    assert!(shown.items_before > 0 && shown.items.iter().all(|item| !matches!(item.body, ItemBody::Human { .. })));
    let (has, said) = forked(&stage, &session, "You said look around.").await;
    assert_eq!((has.len(), said), (0, vec!["look around".to_owned()]));
}

#[tokio::test]
async fn without_a_message_it_is_the_last_turn_and_what_is_gone_is_refused() {
    let (stage, session) = told("edit a.txt").await;
    answered(&stage, &session).await;
    stage.sessions.send(&session, "thanks".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let mut places = stage.timeline(&session).await.checkpoints.into_iter();
    let last = places.rfind(|place| place.kind == CheckpointKind::TurnStart).unwrap();
    assert_eq!(stage.sessions.place_before(&session, None).await.unwrap(), last.seq);
    let message = row(&stage, &session, "thanks").await;
    assert_eq!(stage.sessions.place_before(&session, Some(&message)).await.unwrap(), last.seq);
    stage.sessions.rewind(&session, last.seq, RewindWhat::Conversation, &[]).await.unwrap();
    let gone = stage.sessions.place_before(&session, Some(&message)).await.unwrap_err();
    assert_eq!(gone.code, ErrorCode::NotFound);
    assert_eq!(stage.sessions.fork_before(&session, &message).await.unwrap_err().code, ErrorCode::NotFound);
    let empty = stage.session().await;
    assert_eq!(stage.sessions.place_before(&empty, None).await.unwrap_err().code, ErrorCode::NotFound);
}
