//! Where turns begin and go on: queues, finished turns, a journal that cannot be written.

use bosun_agent::{EntryBody, Journal, JournalEntry, SessionId as CoreId};
use bosun_model::ChatRequest;
use bosun_protocol::{ErrorCode, ItemBody, NoticeCode, SessionId, SessionStatus};
use bosun_testkit::{Ending, Reply};
use pretty_assertions::assert_eq;

use super::sessions::progress;
use super::stage::Stage;

/// Says what it was told last; "fail" is cut, "long" is answered at length.
fn echo(request: &ChatRequest) -> Reply {
    let (text, _) = progress(request);
    match text.as_str() {
        "fail" => Reply { ending: Ending::CutAfterBytes(20), ..Reply::text("I beg") },
        "long" => Reply::text("word ".repeat(40_000)),
        text => Reply::text(format!("You said {text}.")),
    }
}

/// What was said, by the person and by the model.
async fn said(stage: &Stage, session: &SessionId) -> Vec<String> {
    let items = stage.snapshot(session).await.items;
    let texts = items.into_iter().filter_map(|item| match item.body {
        ItemBody::Human { text, .. } | ItemBody::Ai { text, .. } => Some(text),
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
        let body = EntryBody::Queued { id: format!("q-{text}"), text: (*text).to_owned() };
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
    assert_eq!(finished.message, "the last turn is finished; send a message to go on");
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
    assert_eq!(notice.code, NoticeCode::Failed);
    assert!(notice.detail.starts_with("the disk is full") && notice.detail.contains("continue"), "{}", notice.detail);
    assert_eq!(halted.session.status, SessionStatus::Interrupted);
    stage.database.limit_size(u64::MAX).await.unwrap();
    stage.sessions.continue_turn(&session).await.unwrap();
    assert_eq!(stage.sessions.quiet(&session).await.unwrap().summary.status, SessionStatus::Idle);
}
