use bosun_agent::{EntryBody, JournalEntry, Recorded, State};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{Projection, Subject};

fn text(words: &str) -> Value {
    json!([{ "type": "text", "text": words }])
}

fn reply(id: &str, words: &str, calls: &[&str]) -> Value {
    let tool_calls = calls.iter().map(|call| json!({ "id": call, "name": "start_async_task", "args": {} }));
    let message = json!({
        "id": id, "content": text(words), "tool_calls": tool_calls.collect::<Vec<_>>(), "stop": "end_turn"
    });
    json!({ "entry": "ai", "message": message, "kinds": vec!["delegate"; calls.len()] })
}

/// What the call `id` began, and what came back from it.
fn sent(id: &str) -> [Value; 2] {
    let message =
        json!({ "role": "tool", "call_id": id, "name": "start_async_task", "status": "success", "content": text(id) });
    [
        json!({
            "entry": "subagent_started", "call_id": id, "child": id, "name": "scout", "description": id,
            "mode": "background"
        }),
        json!({ "entry": "tool_result", "call_id": id, "message": message, "outcome": "ran", "started_at": null }),
    ]
}

fn limit() -> Value {
    json!({ "end": "failed", "reason": "too long", "halt": { "halt": "limit_of_seconds", "limit": "60" } })
}

fn ended(child: &str, end: &Value) -> Value {
    let notice = json!({ "id": format!("notice-{child}-1"), "content": text("it has ended") });
    json!({ "entry": "subagent_ended", "child": child, "end": end, "notice": notice })
}

/// It forgets what was said before the last reply, and goes by the rest as the agent does.
#[test]
fn what_a_projection_knows_of_subagents_that_a_limit_ended_is_what_the_agent_knows() {
    let goes_on = || json!({ "entry": "turn_continued", "turn": 1 });
    let ends = |end: Value| json!({ "entry": "turn_ended", "turn": 1, "end": end });
    let done = json!({ "end": "done" });
    let mut bodies = vec![
        json!({ "entry": "turn_started", "turn": 1, "message": { "id": "h1", "content": text("go") } }),
        reply("m1", "", &["one", "two"]),
    ];
    bodies.extend(["one", "two"].into_iter().flat_map(sent));
    bodies.extend([reply("m2", "they are on their way", &[]), ends(done.clone()), ended("one", &limit())]);
    // The end of the one begins a turn, which has no limits of its own; that of the other comes behind it.
    bodies.extend([goes_on(), ends(limit()), ended("two", &limit())]);
    let taken_up = bodies.len();
    bodies.extend([goes_on(), reply("m3", "I wait", &[]), ends(done.clone())]);
    bodies.extend([ended("two", &done), ended("one", &done), goes_on(), reply("m4", "both are done", &[])]);

    let subject = Subject {
        id: "root".into(),
        project: "p".into(),
        parent: None,
        path: vec!["main".into()],
        task: None,
        created_at: 0,
        model: None,
    };
    let (mut projection, mut state) = (Projection::new(subject), State::default());
    for (at, body) in bodies.into_iter().enumerate() {
        let body: EntryBody = serde_json::from_value(body).unwrap();
        let recorded = Recorded { seq: at as u64 + 1, entry: JournalEntry { at: 0, body } };
        state.apply(&recorded.entry);
        projection.apply(&recorded);
        let mut known = state.clone();
        known.forget_messages();
        assert_eq!(projection.state, known, "after {:?}", recorded.entry.body);
        if at == taken_up {
            let at_work: Vec<_> = projection.state.at_work_beside().map(|sent| sent.child.as_str()).collect();
            assert_eq!(at_work, ["one", "two"]);
        }
    }
    assert_eq!(projection.state.at_work_beside().count(), 0);
}
