use std::sync::Arc;

use bosun_agent::{EntryBody, Journal, JournalEntry, SessionId};
use bosun_model::CallId;
use bosun_protocol::{RowId, SessionId as WireId, TimelineList, TimelinePage, TimelineQuery, ToolState};
use bosun_store::{Database, NewSession, StoredProject};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{Chronicle, Costs, LastRead};

/// A session that sent two subagents, in a database of its own.
struct Told {
    database: Arc<Database>,
    _folder: tempfile::TempDir,
}

impl Told {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::open(folder.path()).unwrap();
        let project = StoredProject { id: "p".into(), path: "/p".into(), name: "p".into(), opened_at: 1 };
        database.remember_project(project).await.unwrap();
        for (id, parent) in [("root", None), ("one", Some("root")), ("two", Some("root"))] {
            let summary = json!({ "name": id });
            let parent = parent.map(|parent| (SessionId::new(parent), CallId::new(id)));
            let new = NewSession { id: SessionId::new(id), project: "p".into(), parent, created_at: 1, summary };
            database.create_session(new).await.unwrap();
        }
        Self { database, _folder: folder }
    }

    async fn record(&self, session: &str, at: i64, body: Value) {
        let body: EntryBody = serde_json::from_value(body).unwrap();
        self.database.journal(&session.into()).append(vec![JournalEntry { at, body }]).await.unwrap();
    }

    /// An agent calls `count` tools at once.
    async fn call(&self, session: &str, at: i64, count: usize) {
        let calls = (0..count).map(|nth| json!({ "id": format!("{at}-{nth}"), "name": "execute", "args": {} }));
        let message = json!({
            "id": format!("m{at}"), "content": [], "tool_calls": calls.collect::<Vec<_>>(), "stop": "end_turn"
        });
        self.record(session, at, json!({ "entry": "ai", "message": message, "kinds": vec!["execute"; count] })).await;
    }

    async fn page(&self, chronicle: &mut Chronicle, from: Option<RowId>, before: Option<RowId>) -> TimelinePage {
        let query = TimelineQuery { session: WireId::new("root"), list: TimelineList::Ledger, from, before, limit: 2 };
        chronicle.follow(&self.database).await.unwrap();
        chronicle.page(&query, &Costs::default(), &self.database).await.unwrap()
    }
}

fn rows(page: &TimelinePage) -> Vec<&str> {
    page.ledger.iter().map(|call| call.row.as_str()).collect()
}

#[tokio::test]
async fn what_subagents_call_at_the_same_time_stands_in_one_order_and_is_paged_by_rows() {
    let told = Told::new().await;
    let mut followed = Chronicle::of("root".into());
    told.call("root", 10, 2).await;
    // The second was quicker; what the first calls has the same time, or an earlier one.
    told.call("two", 20, 1).await;
    let last = told.page(&mut followed, None, None).await;
    assert_eq!((last.from, rows(&last)), (1, vec!["root/1/1", "two/1/0"]));
    told.call("one", 15, 1).await;
    told.call("one", 20, 1).await;
    told.call("root", 20, 1).await;

    let from = told.page(&mut followed, Some("two/1/0".into()), None).await;
    assert_eq!((from.from, from.total, rows(&from)), (5, 6, vec!["two/1/0"]), "three came before it");
    let before = told.page(&mut followed, None, Some("two/1/0".into())).await;
    assert_eq!((before.from, rows(&before)), (3, vec!["root/2/0", "one/2/0"]));
    let before = told.page(&mut followed, None, Some("root/2/0".into())).await;
    assert_eq!((before.from, rows(&before)), (1, vec!["root/1/1", "one/1/0"]));
    let mut anew = Chronicle::of("root".into());
    for row in ["root/1/0", "one/1/0", "one/2/0"].map(RowId::from) {
        let known = told.page(&mut followed, Some(row.clone()), None).await;
        assert_eq!(told.page(&mut anew, Some(row), None).await, known, "one that reads all at once says the same");
    }
}

#[tokio::test]
async fn a_call_says_whether_it_ever_ran() {
    let told = Told::new().await;
    told.call("root", 10, 3).await;
    let result = |nth: usize, outcome: &str, started_at: Option<i64>| {
        let id = format!("10-{nth}");
        let message = json!({ "role": "tool", "call_id": id, "name": "execute", "status": "error", "content": [] });
        json!({ "entry": "tool_result", "call_id": id, "message": message, "outcome": outcome, "started_at": started_at })
    };
    told.record("root", 12, result(0, "refused", None)).await;
    told.record("root", 13, json!({ "entry": "call_started", "call_id": "10-2" })).await;
    let mut chronicle = Chronicle::of("root".into());
    let said = async |chronicle: &mut Chronicle| {
        let page = told.page(chronicle, Some("root/1/1".into()), None).await;
        page.ledger.iter().map(|call| (call.state, call.started_at)).collect::<Vec<_>>()
    };
    assert_eq!(said(&mut chronicle).await, [(ToolState::Proposed, None), (ToolState::Running, Some(13))]);
    told.record("root", 15, result(1, "ran", Some(11))).await;
    // Nobody knew any more when it began: its start was recorded.
    told.record("root", 16, result(2, "cancelled", None)).await;
    assert_eq!(said(&mut chronicle).await, [(ToolState::Failed, Some(11)), (ToolState::Cancelled, Some(13))]);
    let first = told.page(&mut chronicle, None, Some("root/1/1".into())).await;
    assert_eq!((first.ledger[0].state, first.ledger[0].started_at), (ToolState::Failed, None));
    let query =
        TimelineQuery { session: WireId::new("root"), list: TimelineList::Places, from: None, before: None, limit: 1 };
    let places = chronicle.page(&query, &Costs::default(), &told.database).await.unwrap().checkpoints;
    let step: Vec<_> = places[0].calls.iter().map(|call| (call.state, call.started_at)).collect();
    assert_eq!(
        step,
        [(ToolState::Failed, None), (ToolState::Failed, Some(11)), (ToolState::Cancelled, Some(13))],
        "a step says it too"
    );
}

#[tokio::test]
async fn one_question_reads_on_from_another_that_is_under_way() {
    let last = LastRead::default();
    let asked = last.of(&"a".into());
    let _reading = asked.lock().await;
    assert!(Arc::ptr_eq(&asked, &last.of(&"a".into())), "who asks meanwhile waits for what is being read");
    let other = last.of(&"b".into());
    assert!(other.try_lock().is_ok(), "another session does not wait");
    assert!(!Arc::ptr_eq(&asked, &last.of(&"a".into())), "only the last is kept");
}
