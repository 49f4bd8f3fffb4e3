//! Sessions as they are after weeks of work, written straight into the store.

use std::path::Path;

use bosun_store::{Append, Database, Listed, NewSession, StoredProject};
use serde_json::{Value, json};

/// Calls in each turn. With the words before each, the task and the answer a turn has twice as many rows and two.
const CALLS: u32 = 9;

/// A session to be stored.
#[derive(Clone, Copy)]
pub struct Long {
    pub id: &'static str,
    pub title: &'static str,
    pub turns: u32,
}

impl Long {
    pub fn rows(&self) -> u32 {
        self.turns * (2 * CALLS + 2)
    }

    /// What its last row says and no other.
    pub fn last(&self) -> String {
        format!("Turn {} of {} is done", self.turns, self.id)
    }
}

/// Stores `sessions` as those of the project `folder`, the first one last worked on.
pub fn store(data: &Path, folder: &Path, sessions: &[Long]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let database = Database::open(data).unwrap();
        let path = folder.canonicalize().unwrap().to_string_lossy().into_owned();
        let project = StoredProject { id: "project".into(), path, name: "project".into(), opened_at: 1 };
        let project = database.remember_project(project).await.unwrap().id;
        for (place, long) in sessions.iter().enumerate() {
            let at = 1_700_000_000_000 - i64::try_from(place).unwrap() * 60_000;
            let summary = summary(long, &project, at);
            let id: Value = json!(long.id);
            let session = NewSession {
                id: serde_json::from_value(id.clone()).unwrap(),
                project: project.clone(),
                parent: None,
                created_at: at,
                summary: summary.clone(),
            };
            database.create_session(session).await.unwrap();
            for turn in 1..=long.turns {
                let entries = turn_of(long, turn, at);
                let append = Append {
                    session: serde_json::from_value(id.clone()).unwrap(),
                    entries: entries.into_iter().map(|entry| serde_json::from_value(entry).unwrap()).collect(),
                    listed: Some(Listed { summary: summary.clone(), updated_at: at }),
                    texts: Vec::new(),
                };
                database.append_all(vec![append]).await.unwrap();
            }
        }
    });
}

fn summary(long: &Long, project: &str, at: i64) -> Value {
    json!({
        "id": long.id, "project": project, "parent": null, "title": long.title, "status": "idle",
        "model": {"provider": "desk", "name": "test-model"}, "created_at": at, "updated_at": at, "waiting": 0,
        "pinned": false, "archived": false, "deleted_at": null,
        "usage": bosun_protocol::UsageSummary::default(),
    })
}

fn turn_of(long: &Long, turn: u32, at: i64) -> Vec<Value> {
    let text = |text: String| json!([{"type": "text", "text": text}]);
    let reply = |number: u32, words: String, calls: Value| {
        json!({"at": at, "entry": "ai", "kinds": vec!["read"; calls.as_array().map_or(0, Vec::len)], "message": {
            "id": format!("ai-{turn}-{number}"), "content": text(words), "tool_calls": calls, "stop": "end_turn",
            "usage": {"input": 4_000, "output": 90},
        }})
    };
    let task = format!("Turn {turn}: look at the modules around number {turn} and tell what they have in common.");
    let mut entries = vec![
        json!({"at": at, "entry": "turn_started", "turn": turn, "message": {"id": format!("h-{turn}"), "content": text(task)}}),
    ];
    for number in 1..=CALLS {
        let call = format!("call-{turn}-{number}");
        let words = format!("Module **{number}** next: `src/module_{number}.rs` is where `halyard()` is made.");
        let calls =
            json!([{"id": call, "name": "read_file", "args": {"file_path": format!("/src/module_{number}.rs")}}]);
        entries.push(reply(number, words, calls));
        let lines: String =
            (1..=12).map(|line| format!("{line:6}\tlet halyard_{line} = rig({number}, {turn});\n")).collect();
        entries.push(json!({"at": at, "entry": "tool_result", "call_id": call, "outcome": "ran", "started_at": at,
            "message": {"role": "tool", "call_id": call, "name": "read_file", "status": "success", "content": text(lines)}}));
    }
    let done = format!(
        "Turn {turn} of {} is done: they share `rig`.\n\n- one\n- two\n\n```rust\nlet x = {turn};\n```\n",
        long.id
    );
    entries.push(reply(0, done, json!([])));
    entries.push(json!({"at": at, "entry": "turn_ended", "turn": turn, "end": {"end": "done"}}));
    entries
}
