//! Where turns begin and go on: queues, finished turns, a journal that cannot be written.

use bosun_agent::{EntryBody, Journal, JournalEntry, SessionId as CoreId};
use bosun_model::ChatRequest;
use bosun_protocol::{AgentStatus, ErrorCode, ItemBody, NoticeCode, Problem, SessionId, SessionStatus, ToolState};
use bosun_testkit::{Ending, Reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::sessions::progress;
use super::stage::{Stage, noise};

/// Says what it was told last; "fail" is cut, "long" is answered at length.
fn echo(request: &ChatRequest) -> Reply {
    let (text, _) = progress(request);
    match text.as_str() {
        "fail" => Reply { ending: Ending::CutAfterBytes(20), ..Reply::text("I beg") },
        "long" => Reply::text(noise(200_000)),
        text => Reply::text(format!("You said {text}.")),
    }
}

/// What was said, by the person and by the model.
async fn said(stage: &Stage, session: &SessionId) -> Vec<String> {
    let items = stage.snapshot(session).await.items;
    let texts = items.into_iter().filter_map(|item| match item.body {
        ItemBody::Human { text, .. } | ItemBody::Ai { text, .. } => Some(text.to_string()),
        ItemBody::Tool(_) | ItemBody::Notice(_) => None,
    });
    texts.collect()
}

async fn all_done(stage: &Stage, session: &SessionId) {
    let mut events = stage.sessions.subscribe(session).await.unwrap().events;
    loop {
        let snapshot = stage.snapshot(session).await;
        if snapshot.queue.is_empty() && snapshot.session.status == SessionStatus::Idle {
            return;
        }
        events.next().await;
    }
}

/// As a crash right behind the end of a turn leaves it: the queue is in the journal and no turn is open.
async fn left_waiting(texts: &[&str]) -> (Stage, SessionId) {
    let stage = Stage::new(echo).await;
    let session = stage.session().await;
    stage.sessions.send(&session, "first".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    stage.sessions.shut_down().await;
    let journal = stage.database.journal(&CoreId::new(session.as_str()));
    for text in texts {
        let body = EntryBody::Queued { id: format!("q-{text}"), text: (*text).to_owned(), media: Vec::new() };
        journal.append(vec![JournalEntry { at: 1, body }]).await.unwrap();
    }
    (stage.restarted(echo).await, session)
}

#[tokio::test]
async fn a_queue_that_a_crash_left_is_shown_and_goes_on_when_the_person_continues() {
    let (stage, session) = left_waiting(&["second", "third"]).await;
    let queue = stage.snapshot(&session).await.queue;
    assert_eq!(queue.iter().map(|message| message.text.as_str()).collect::<Vec<_>>(), ["second", "third"]);
    stage.sessions.continue_turn(&session).await.unwrap();
    all_done(&stage, &session).await;
    let wanted = ["first", "You said first.", "second", "You said second.", "third", "You said third."];
    assert_eq!(said(&stage, &session).await, wanted);
}

#[tokio::test]
async fn a_queue_that_a_crash_left_goes_before_what_is_sent_next() {
    let (stage, session) = left_waiting(&["second"]).await;
    stage.sessions.send(&session, "third".into()).await.unwrap();
    all_done(&stage, &session).await;
    let wanted = ["first", "You said first.", "second", "You said second.", "third", "You said third."];
    assert_eq!(said(&stage, &session).await, wanted);
}

#[tokio::test]
async fn a_finished_turn_is_not_gone_on_with() {
    let stage = Stage::new(echo).await;
    let session = stage.session().await;
    let nothing = stage.sessions.continue_turn(&session).await.unwrap_err();
    assert_eq!(nothing.code, ErrorCode::Invalid);
    stage.sessions.send(&session, "hello".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let finished = stage.sessions.continue_turn(&session).await.unwrap_err();
    assert_eq!(finished.to_string(), "the last turn is finished; send a message to continue");
    assert_eq!(said(&stage, &session).await, ["hello", "You said hello."]);
    let stage = stage.restarted(echo).await;
    assert!(stage.sessions.continue_turn(&session).await.is_err());
    stage.sessions.send(&session, "fail".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    stage.sessions.continue_turn(&session).await.unwrap();
}

#[tokio::test]
async fn a_turn_that_cannot_be_recorded_says_why_and_goes_on_afterwards() {
    let stage = Stage::new(echo).await;
    let session = stage.session().await;
    stage.database.limit_size(0).await.unwrap();
    stage.sessions.send(&session, "long".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let halted = stage.snapshot(&session).await;
    let Some(ItemBody::Notice(notice)) = halted.items.last().map(|item| &item.body) else { panic!("{halted:?}") };
    assert_eq!(notice.code, NoticeCode::NotRecorded);
    assert_eq!(notice.problem, Some(Problem::NotRecorded { why: Box::new(Problem::DiskFull) }));
    assert!(notice.detail.starts_with("the disk is full") && notice.detail.contains("continue"), "{}", notice.detail);
    assert_eq!(halted.session.status, SessionStatus::Interrupted);
    stage.database.limit_size(u64::MAX).await.unwrap();
    stage.sessions.continue_turn(&session).await.unwrap();
    assert_eq!(stage.sessions.quiet(&session).await.unwrap().summary.status, SessionStatus::Idle);
}

#[tokio::test]
async fn a_turn_in_which_something_panics_is_over_and_the_session_goes_on() {
    let breaking = |request: &ChatRequest| match super::sessions::progress(request) {
        (text, _) if text == "break" => panic!("a member of the stack broke"),
        (text, _) => Reply::text(format!("You said {text}.")),
    };
    let stage = Stage::new(breaking).await;
    let session = stage.session().await;
    stage.sessions.send(&session, "break".into()).await.unwrap();
    let quiet = stage.sessions.quiet(&session).await.unwrap();
    assert_eq!(quiet.summary.status, SessionStatus::Failed);
    stage.sessions.send(&session, "hello".into()).await.unwrap();
    all_done(&stage, &session).await;
    assert_eq!(said(&stage, &session).await, ["break", "hello", "You said hello."]);
}

/// A session whose turn waits for an approval, with messages behind it.
async fn busy_with(texts: &[&str]) -> (Stage, SessionId, Vec<String>) {
    let stage = Stage::new(super::sessions::editing).await;
    let session = stage.session().await;
    stage.sessions.send(&session, "edit a.txt".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    for text in texts {
        stage.sessions.send(&session, (*text).to_owned()).await.unwrap();
    }
    let ids = stage.snapshot(&session).await.queue.into_iter().map(|message| message.id).collect();
    (stage, session, ids)
}

async fn queue(stage: &Stage, session: &SessionId) -> Vec<String> {
    stage.snapshot(session).await.queue.into_iter().map(|message| message.text).collect()
}

#[tokio::test]
async fn what_waits_is_edited_moved_and_taken_out_and_stays_so_over_a_stop_and_a_restart() {
    let (stage, session, ids) = busy_with(&["first", "second", "third", "fourth"]).await;
    let sessions = &stage.sessions;
    sessions.edit_queued(&session, &ids[1], "second, better".into()).await.unwrap();
    sessions.move_queued(&session, &ids[2], 0).await.unwrap();
    sessions.move_queued(&session, &ids[0], 99).await.unwrap();
    sessions.unqueue(&session, &ids[3]).await.unwrap();
    let wanted = ["third", "second, better", "first"];
    assert_eq!(queue(&stage, &session).await, wanted);
    for refused in [
        sessions.edit_queued(&session, &ids[3], "gone".into()).await,
        sessions.move_queued(&session, "no such id", 0).await,
        sessions.unqueue(&session, &ids[3]).await,
    ] {
        assert_eq!(refused.unwrap_err().code, ErrorCode::NotFound);
    }
    assert_eq!(sessions.edit_queued(&session, &ids[0], " ".into()).await.unwrap_err().code, ErrorCode::Invalid);
    sessions.stop(&session).await.unwrap();
    assert_eq!(queue(&stage, &session).await, wanted);
    let stage = stage.restarted(super::sessions::editing).await;
    assert_eq!(queue(&stage, &session).await, wanted);
}

#[tokio::test]
async fn a_message_sent_now_stops_the_turn_and_leaves_the_others_waiting() {
    let (stage, session, ids) = busy_with(&["first", "edit now"]).await;
    stage.sessions.send_queued_now(&session, &ids[1]).await.unwrap();
    assert_eq!(stage.sessions.quiet(&session).await.unwrap().waiting, 1);
    assert_eq!(queue(&stage, &session).await, ["first"]);
    assert_eq!(said(&stage, &session).await, ["edit a.txt", "Reading.", "edit now", "Reading."]);
}

/// Answers what was said last; an edit is made first.
fn steered(request: &ChatRequest) -> Reply {
    match progress(request) {
        (text, 0 | 1) if text.contains("edit") => super::sessions::editing(request),
        (text, _) => Reply::text(format!("You said {text}.")),
    }
}

#[tokio::test]
async fn a_running_turn_is_steered_at_its_next_step() {
    let stage = Stage::new(steered).await;
    let session = stage.session().await;
    stage.sessions.send(&session, "edit a.txt".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    stage.sessions.send(&session, "be brief".into()).await.unwrap();
    let waiting = stage.snapshot(&session).await.queue.remove(0).id;
    stage.sessions.steer(&session, "mind the tests".into()).await.unwrap();
    stage.sessions.steer_queued(&session, &waiting).await.unwrap();
    let shown = said(&stage, &session).await;
    assert_eq!(shown, ["edit a.txt", "Reading.", "mind the tests", "be brief"], "shown at once");
    let stage = stage.restarted(steered).await;
    assert_eq!(said(&stage, &session).await, shown);
    stage.decide(&session, "e", bosun_protocol::Decision::Approve).await.unwrap();
    assert_eq!(stage.sessions.quiet(&session).await.unwrap().summary.status, SessionStatus::Idle);
    assert_eq!(said(&stage, &session).await.last().unwrap(), "You said be brief.");
    let turns: Vec<u32> = stage.snapshot(&session).await.items.iter().map(|item| item.turn).collect();
    assert!(turns.iter().all(|turn| *turn == 1), "{turns:?}");
    // Nothing runs: it is sent.
    stage.sessions.steer(&session, "thanks".into()).await.unwrap();
    all_done(&stage, &session).await;
    assert_eq!(said(&stage, &session).await.last().unwrap(), "You said thanks.");
}

/// Sends a subagent, which looks around first.
fn sending(request: &ChatRequest) -> Reply {
    let (text, done) = progress(request);
    match (text.as_str(), done) {
        ("go", 0) => Reply::call("task", json!({"description": "look", "subagent_type": "general-purpose"})),
        ("go", _) => Reply::text("done"),
        ("look", 0) => Reply::call("ls", json!({"path": "/"})),
        _ => Reply::text("looked"),
    }
}

/// The rows of calls, with what they say.
async fn calls(stage: &Stage, session: &SessionId) -> Vec<(ToolState, String)> {
    let items = stage.snapshot(session).await.items;
    let rows = items.into_iter().filter_map(|item| match item.body {
        ItemBody::Tool(tool) => Some((tool.state, tool.output)),
        ItemBody::Human { .. } | ItemBody::Ai { .. } | ItemBody::Notice(_) => None,
    });
    rows.collect()
}

#[tokio::test]
async fn a_turn_that_a_limit_of_its_tree_ended_goes_on_with_its_subagent_in_the_same_row() {
    let stage = Stage::new(sending).await;
    stage.sessions.declare(crate::DeclaredAgent::parse("guards.max_steps = 2").unwrap());
    let session = stage.session().await;
    stage.sessions.send(&session, "go".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let paused = calls(&stage, &session).await;
    let [(ToolState::Failed, said)] = &paused[..] else { panic!("{paused:?}") };
    assert!(said.contains("its limit of 2 model calls"), "{said}");
    stage.sessions.continue_turn(&session).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    assert_eq!(calls(&stage, &session).await, [(ToolState::Done, "looked".to_owned())]);
    assert_eq!(said_last(&stage, &session).await, "done");
    let agents = stage.snapshot(&session).await.agents;
    assert_eq!(agents.iter().map(|agent| agent.status).collect::<Vec<_>>(), [AgentStatus::Done; 2]);
    // Read anew it is the same.
    let shown = stage.snapshot(&session).await.items;
    let stage = stage.restarted(sending).await;
    assert_eq!(stage.snapshot(&session).await.items, shown);
}

/// The same with a subagent that writes a file once it goes on, for which it has to ask.
fn asking(request: &ChatRequest) -> Reply {
    let (text, done) = progress(request);
    match (text.as_str(), done) {
        ("look", 1) => Reply::call("write_file", json!({"file_path": "/new.txt", "content": "new\n"})),
        _ => sending(request),
    }
}

#[tokio::test]
async fn the_row_of_a_subagent_that_goes_on_after_a_limit_says_that_it_works() {
    let stage = Stage::new(asking).await;
    stage.sessions.declare(crate::DeclaredAgent::parse("guards.max_steps = 2").unwrap());
    let session = stage.session().await;
    stage.sessions.send(&session, "go".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    stage.sessions.continue_turn(&session).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let shown = stage.snapshot(&session).await;
    assert_eq!(calls(&stage, &session).await, [(ToolState::Running, String::new())]);
    assert_eq!(shown.agents[1].status, AgentStatus::Waiting, "{:?}", shown.agents);
    stage.sessions.stop(&session).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
}

async fn said_last(stage: &Stage, session: &SessionId) -> String {
    said(stage, session).await.pop().unwrap_or_default()
}
