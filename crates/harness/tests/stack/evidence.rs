use std::collections::BTreeMap;
use std::sync::Arc;

use bosun_agent::{EntryBody, JournalEntry, MemoryHost, Recorded, State, TurnEnd};
use bosun_harness::{EvidenceBook, TodoEvidence};
use bosun_model::{ChatModel as _, ChatRequest, Message, ModelInfo, Price, Usage};
use bosun_testkit::{Project, Reply, Scripted, ScriptedModel};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::scene::{Scene, scene, texts};

fn plan(id: &str, states: [&str; 2]) -> Scripted {
    let todos = json!({"todos": [{"content": "look", "status": states[0]}, {"content": "write", "status": states[1]}]});
    call(id, "write_todos", todos)
}

fn call(id: &str, name: &str, args: Value) -> Scripted {
    let usage = Usage { input: Some(100), output: Some(10), ..Usage::default() };
    Reply::new().and_call_with_id(id, name, args).usage(usage).into()
}

fn write(id: &str, path: &str) -> Scripted {
    call(id, "write_file", json!({"file_path": path, "content": "x"}))
}

/// Reads what a subagent recorded, and those below it.
fn read_below(book: &mut EvidenceBook, host: &Arc<MemoryHost>) {
    for recorded in host.entries() {
        if let EntryBody::SubagentStarted { call_id, child, .. } = &recorded.entry.body {
            let below = host.child_of(call_id).unwrap();
            for recorded in below.entries() {
                book.read_subagent(child, &recorded);
            }
            read_below(book, &below);
        }
    }
}

fn evidence(scene: &Scene) -> BTreeMap<String, TodoEvidence> {
    let (mut book, mut state) = (EvidenceBook::default(), State::default());
    for recorded in scene.host.entries() {
        book.read(&"s".into(), &state, &recorded);
        state.apply(&recorded.entry);
    }
    read_below(&mut book, &scene.host);
    assert_eq!(book.take_changed().len(), book.iter().count());
    book.iter().map(|(todo, evidence)| (todo.to_owned(), evidence.clone())).collect()
}

fn tools(evidence: &TodoEvidence) -> Vec<(&str, bool)> {
    evidence.calls.iter().map(|call| (call.tool.as_str(), call.succeeded)).collect()
}

#[tokio::test]
async fn calls_belong_to_what_was_in_progress_when_they_were_proposed() {
    let replies = vec![
        call("a", "ls", json!({"path": "/"})),
        plan("p1", ["in_progress", "pending"]),
        call("b", "ls", json!({"path": "/nowhere"})),
        plan("p2", ["completed", "in_progress"]),
        write("c", "/c.txt"),
        plan("p3", ["in_progress", "in_progress"]),
        write("d", "/d.txt"),
        "done".into(),
    ];
    let scene = scene(replies, |_| {});
    scene.say("go").await;
    let evidence = evidence(&scene);
    let (look, write) = (&evidence["todo-1"], &evidence["todo-2"]);
    assert_eq!(tools(look), [("ls", false), ("write_file", true)]);
    assert_eq!(tools(write), [("write_file", true), ("write_file", true)]);
    assert_eq!(write.files.iter().map(|path| path.as_str()).collect::<Vec<_>>(), ["/c.txt", "/d.txt"]);
    // The reply that set it out and one more of its own, half of the two that both share, and half of the last one, which
    // has the usual usage.
    assert_eq!((look.usage.input, look.usage.output), (Some(100 + 100 + 50 + 50 + 5), Some(10 + 10 + 5 + 5 + 2)));
    assert_eq!((write.added, write.agents.len(), write.cost), (2, 0, None));
}

#[tokio::test]
async fn calls_beside_a_plan_belong_to_what_it_begins() {
    let plan_and = |id: &str, states: [&str; 2], path: &str| {
        let todos =
            json!({"todos": [{"content": "look", "status": states[0]}, {"content": "write", "status": states[1]}]});
        let call = Reply::new().and_call_with_id(id, "write_todos", todos);
        Scripted::from(call.and_call_with_id(
            format!("w{id}"),
            "write_file",
            json!({"file_path": path, "content": "x"}),
        ))
    };
    let first = plan_and("1", ["in_progress", "pending"], "/look.txt");
    let second = plan_and("2", ["completed", "in_progress"], "/write.txt");
    let scene = scene(vec![first, second, "done".into()], |_| {});
    scene.say("go").await;
    let evidence = evidence(&scene);
    let files = |todo: &str| evidence[todo].files.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!((files("todo-1"), files("todo-2")), (vec!["/look.txt".to_owned()], vec!["/write.txt".to_owned()]));
}

#[tokio::test]
async fn what_replies_cost_is_shared_out_by_their_price_then() {
    let price = Price { input: 1.0, output: 10.0, ..Price::FREE };
    let replies = vec![plan("p", ["in_progress", "in_progress"]), write("w", "/a.txt"), "done".into()];
    let model = ScriptedModel::new(replies);
    let info = ModelInfo { price: Some(price), ..model.info().clone() };
    let scene = Scene::build(Project::new(), model.with_info(info), vec![], |_| {});
    scene.say("go").await;
    let evidence = evidence(&scene);
    // 100 tokens in and 10 out are $0.0002; the last reply has the usual usage. Half of each is theirs.
    let shares = ["todo-1", "todo-2"].map(|todo| evidence[todo].cost.unwrap());
    assert!(shares[0] > 0.0001 && (shares[0] - shares[1]).abs() < 1e-12, "{shares:?}");
}

#[tokio::test]
async fn what_subagents_did_belongs_to_the_todo_they_were_sent_for() {
    let task = |id: &str| call(id, "task", json!({"description": "do it", "subagent_type": "general-purpose"}));
    let replies = vec![
        plan("p1", ["in_progress", "pending"]),
        task("t1"),
        task("t2"),
        write("w", "/deep.txt"),
        "written".into(),
        "delegated".into(),
        "done".into(),
    ];
    let scene = scene(replies, |_| {});
    scene.say("go").await;
    let evidence = evidence(&scene);
    assert_eq!(evidence.keys().collect::<Vec<_>>(), ["todo-1"]);
    assert_eq!(evidence["todo-1"].files.iter().map(|path| path.as_str()).collect::<Vec<_>>(), ["/deep.txt"]);
    assert_eq!(tools(&evidence["todo-1"]), [("task", true), ("task", true), ("write_file", true)]);
    assert_eq!(evidence["todo-1"].agents.iter().collect::<Vec<_>>(), ["general-purpose"]);
}

/// A model whose agent has its subagent dig for the first line of the plan and dig deeper for the second.
fn digging(request: &ChatRequest) -> Reply {
    let said = texts(request);
    let results = request.messages.iter().filter(|message| matches!(&***message, Message::Tool(_))).count();
    let says = |words: &str| said.iter().any(|text| text == words);
    let reply = |id: &str, name: &str, args: Value| Reply::new().and_call_with_id(id, name, args);
    let plan = |id: &str, states: [&str; 2]| {
        let todos =
            json!({"todos": [{"content": "look", "status": states[0]}, {"content": "write", "status": states[1]}]});
        reply(id, "write_todos", todos)
    };
    let write = |id: &str, path: &str| reply(id, "write_file", json!({"file_path": path, "content": "x"}));
    if says("dig") {
        return match (results, says("deeper")) {
            (0, _) => write("w1", "/first.txt"),
            (1, true) => write("w2", "/second.txt"),
            _ => Reply::text("dug"),
        };
    }
    match (results, says("more")) {
        (0, _) => plan("p1", ["in_progress", "pending"]),
        (1, _) => reply("b", "start_async_task", json!({"description": "dig", "subagent_type": "general-purpose"})),
        (2, true) => plan("p2", ["completed", "in_progress"]),
        (3, _) => reply("u", "update_async_task", json!({"task_id": "s/b", "message": "deeper"})),
        _ => Reply::text("so far"),
    }
}

/// Also where the subagent's journal is read behind its parent's, as when a session is opened again.
#[tokio::test]
async fn what_a_subagent_does_when_it_is_asked_again_belongs_to_the_todo_it_was_asked_for() {
    let scene = Scene::build(Project::new(), ScriptedModel::by(digging), vec![], |config| {
        config.background_subagents = true;
    });
    for words in ["go", "more"] {
        assert_eq!(scene.say(words).await, TurnEnd::Done);
        scene.log.background().idle().await;
    }
    let evidence = evidence(&scene);
    let files = |todo: &str| evidence[todo].files.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!((files("todo-1"), files("todo-2")), (vec!["/first.txt".to_owned()], vec!["/second.txt".to_owned()]));
    assert_eq!(tools(&evidence["todo-2"]), [("update_async_task", true), ("write_file", true)]);
    assert_eq!(evidence["todo-2"].agents.iter().collect::<Vec<_>>(), ["general-purpose"]);
}

#[tokio::test]
async fn what_a_summary_costs_is_shared_among_the_todos_in_progress() {
    let replies = vec![
        plan("p", ["in_progress", "in_progress"]),
        call("t", "task", json!({"description": "do it", "subagent_type": "general-purpose"})),
        "done".into(),
        "done too".into(),
    ];
    let scene = scene(replies, |_| {});
    scene.say("go").await;
    let (mut book, mut state) = (EvidenceBook::default(), State::default());
    for recorded in scene.host.entries() {
        book.read(&"s".into(), &state, &recorded);
        state.apply(&recorded.entry);
    }
    let side_call = |input| {
        let usage = Usage { input: Some(input), output: Some(10), ..Usage::default() };
        let body = EntryBody::SideCall { by: "Summarization".into(), usage, cost: Some(0.5) };
        Recorded { seq: 1_000, entry: JournalEntry { at: 0, body } }
    };
    let of = |book: &EvidenceBook| {
        ["todo-1", "todo-2"].map(|todo| {
            let evidence = book.of(todo).unwrap();
            (evidence.usage.input.unwrap(), evidence.cost.unwrap_or(0.0))
        })
    };
    let [before, _] = of(&book);
    book.read(&"s".into(), &state, &side_call(1_000));
    assert_eq!(of(&book), [(before.0 + 500, 0.25); 2]);
    book.read_subagent(&"s/t".into(), &side_call(200));
    assert_eq!(of(&book), [(before.0 + 600, 0.5); 2]);
}
