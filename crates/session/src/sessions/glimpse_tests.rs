#![allow(clippy::disallowed_methods, reason = "tests keep their own files")]

use bosun_agent::{JournalEntry, SessionId as CoreId};
use bosun_protocol::{Envelope, ItemBody, SessionEvent, SessionId, SessionStatus, Snapshot};
use bosun_store::{Append, Listed};
use bosun_testkit::Reply;
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::tests::stage::Stage;

const TURNS: u32 = 600;

fn entry(body: serde_json::Value) -> JournalEntry {
    serde_json::from_value(body).unwrap()
}

/// A turn with one call, as a journal has it.
fn turn(number: u32) -> Vec<JournalEntry> {
    let at = i64::from(number) * 1_000;
    let text = |text: String| json!([{"type": "text", "text": text}]);
    let call = format!("call-{number}");
    vec![
        entry(json!({"at": at, "entry": "turn_started", "turn": number,
            "message": {"id": format!("h-{number}"), "content": text(format!("Look {number}"))}})),
        entry(json!({"at": at, "entry": "ai", "kinds": ["read"], "message": {"id": format!("a-{number}"),
            "content": text("Looking.".into()), "stop": "end_turn", "usage": {"input": 10, "output": 1},
            "tool_calls": [{"id": call, "name": "read_file", "args": {"file_path": "/a.txt"}}]}})),
        entry(json!({"at": at, "entry": "tool_result", "call_id": call, "outcome": "ran", "started_at": at,
            "message": {"role": "tool", "call_id": call, "name": "read_file", "status": "success",
                "content": text("one".into())}})),
        entry(json!({"at": at, "entry": "turn_ended", "turn": number, "end": {"end": "done"}})),
    ]
}

/// Stores what weeks of work leave, and `more` at its end. The session is not open afterwards.
async fn long(stage: Stage, more: Vec<JournalEntry>) -> (Stage, SessionId) {
    let session = stage.session().await;
    let core = CoreId::new(session.as_str());
    let mut summary = stage.database.session(&core).await.unwrap().unwrap().summary;
    summary["title"] = json!("Look 1");
    summary["usage"]["input_tokens"] = json!(10 * TURNS);
    summary["usage"]["output_tokens"] = json!(TURNS);
    summary["usage"]["context_tokens"] = json!(11);
    let listed = Some(Listed { summary, updated_at: i64::from(TURNS) * 1_000 });
    let entries = (1..=TURNS).flat_map(turn).chain(more).collect();
    let append = Append { session: core, entries, listed, texts: Vec::new() };
    stage.database.append_all(vec![append]).await.unwrap();
    (stage, session)
}

fn quiet(_: &bosun_model::ChatRequest) -> Reply {
    Reply::text("Done.")
}

async fn reset(events: &mut crate::EventStream) -> Snapshot {
    let first = events.next().await.swap_remove(0);
    match first.event {
        SessionEvent::Reset { snapshot } => *snapshot,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_end_of_a_long_session_is_there_before_the_session_is() {
    let (stage, session) = long(Stage::new(quiet).await, Vec::new()).await;
    let mut looked = stage.sessions.look(&session, None).await.unwrap();
    assert_eq!(looked.snapshot.seq, 0, "not the session's own");
    let all = reset(&mut looked.events).await;
    assert_eq!(looked.snapshot.items, all.items, "turns and times too");
    assert_eq!(all.items_before, 3 * TURNS - 200);
    assert_eq!(looked.snapshot.session.usage, all.session.usage);
    assert_eq!((&*looked.snapshot.session.title, looked.snapshot.session.status), ("Look 1", SessionStatus::Idle));
    assert_eq!(stage.snapshot(&session).await, all);
    // Open now, all of it is at hand at once.
    assert_eq!(stage.sessions.look(&session, None).await.unwrap().snapshot, all);
}

#[tokio::test]
async fn an_earlier_state_of_a_long_session_comes_by_page() {
    let (stage, session) = long(Stage::new(quiet).await, Vec::new()).await;
    let seq = 4 * 300;
    let end = stage.sessions.snapshot_at(&session, seq, None).await.unwrap();
    assert_eq!((end.items.len(), end.items_before, end.items[199].id.as_str()), (200, 700, "a-300.0"));
    let earlier = stage.sessions.snapshot_at(&session, seq, Some(&end.items[0].id)).await.unwrap();
    assert_eq!((earlier.items.len(), earlier.items_before), (200, 500));
    let rows = [earlier.items, end.items].concat();
    let turns: Vec<u32> = rows.iter().map(|item| item.turn).collect();
    assert!(turns.is_sorted() && turns.first() == Some(&167) && rows[200].id != rows[199].id, "{turns:?}");
    let none = stage.sessions.snapshot_at(&session, seq, Some(&"nobody".into())).await.unwrap();
    assert_eq!((none.items.len(), none.items_before), (0, 0));
}

#[tokio::test]
async fn what_happens_meanwhile_follows_in_order() {
    let (stage, session) = long(Stage::new(quiet).await, Vec::new()).await;
    let mut looked = stage.sessions.look(&session, None).await.unwrap();
    let (sent, all) = tokio::join!(stage.sessions.send(&session, "one more".into()), reset(&mut looked.events));
    sent.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let mut seq = all.seq;
    let mut items = all.items;
    for Envelope { seq: next, event } in looked.events.now() {
        assert!(next > seq, "{next} after {seq}");
        seq = next;
        if let SessionEvent::ItemCompleted { item } = event {
            items.retain(|known| known.id != item.id);
            items.push(item);
        }
    }
    let now = stage.snapshot(&session).await;
    assert_eq!(seq, now.seq);
    assert_eq!(items[items.len() - 2..], now.items[now.items.len() - 2..]);
}

#[tokio::test]
async fn a_turn_longer_than_what_is_looked_at_has_its_number() {
    let mut more = vec![turn(TURNS + 1).swap_remove(0)];
    more.extend((0..600).flat_map(|number| turn(10_000 + number).drain(1..3).collect::<Vec<_>>()));
    more.push(entry(json!({"at": 1, "entry": "turn_ended", "turn": TURNS + 1, "end": {"end": "done"}})));
    let (stage, session) = long(Stage::new(quiet).await, more).await;
    let mut looked = stage.sessions.look(&session, None).await.unwrap();
    assert!(looked.snapshot.items.iter().all(|item| item.turn == TURNS + 1));
    assert_eq!(looked.snapshot.items, reset(&mut looked.events).await.items);
}

#[tokio::test]
async fn a_session_that_waits_was_rewound_or_is_short_is_shown_whole() {
    let rewound = entry(json!({"at": 1, "entry": "rewound", "to": 8, "conversation": true, "files": []}));
    let (stage, session) = long(Stage::new(quiet).await, vec![rewound]).await;
    let snapshot = stage.sessions.look(&session, None).await.unwrap().snapshot;
    assert_eq!((snapshot.items.len(), snapshot.items_before), (6, 0));
    let short = stage.session().await;
    stage.sessions.send(&short, "hello".into()).await.unwrap();
    stage.sessions.quiet(&short).await.unwrap();
    let stage = stage.restarted(quiet).await;
    assert_ne!(stage.sessions.look(&short, None).await.unwrap().snapshot.seq, 0);
    let (stage, cut) = long(Stage::new(quiet).await, turn(TURNS + 1).drain(..2).collect()).await;
    let core = CoreId::new(cut.as_str());
    let mut summary = stage.database.session(&core).await.unwrap().unwrap().summary;
    summary["status"] = json!("running");
    let listed = Some(Listed { summary, updated_at: 1 });
    stage.database.append_all(vec![Append { session: core, entries: vec![], listed, texts: vec![] }]).await.unwrap();
    let snapshot = stage.sessions.look(&cut, None).await.unwrap().snapshot;
    assert_eq!(snapshot.session.status, SessionStatus::Interrupted);
}

#[tokio::test]
async fn one_that_cannot_be_opened_says_why() {
    let (stage, session) = long(Stage::new(quiet).await, Vec::new()).await;
    let claims = stage.data.path().join("running");
    std::fs::remove_dir_all(&claims).ok();
    std::fs::write(&claims, "no folder").unwrap();
    let mut looked = stage.sessions.look(&session, None).await.unwrap();
    assert_eq!(looked.snapshot.items.len(), 200);
    let said = looked.events.next().await;
    let [Envelope { seq: 1, event: SessionEvent::ItemCompleted { item } }] = &said[..] else { panic!("{said:?}") };
    let ItemBody::Notice(notice) = &item.body else { panic!("{item:?}") };
    assert!(!notice.detail.is_empty());
}

#[tokio::test]
async fn nobody_waits_while_another_session_is_opened() {
    let (stage, session) = long(Stage::new(quiet).await, Vec::new()).await;
    let opening = stage.sessions.look(&session, None).await.unwrap();
    let other = stage.session().await;
    stage.sessions.send(&other, "hello".into()).await.unwrap();
    assert_eq!(stage.sessions.list(&stage.project_id).await.unwrap().len(), 2);
    drop(opening);
}
