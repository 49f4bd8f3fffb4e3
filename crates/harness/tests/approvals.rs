//! A deep agent over a real folder with a scripted model: asks, the four answers, restarts in between, subagents.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests may touch files and fail loudly")]

use std::sync::Arc;

use bosun_agent::{
    Activity, Agent, Decision, DecisionError, DecisionKind, DecisionSource, EntryBody, InterruptConfig, MemoryHost,
    PermissionRule, Policy, Recorded, SessionLog, SystemClock, ToolOutcome, TurnContext, TurnEnd, run_turn,
};
use bosun_backend::{Backend, BlobStore, LocalShellBackend, LocalShellOptions};
use bosun_harness::{DeepAgentConfig, SubagentSpec, create_deep_agent};
use bosun_model::{CallId, HumanMessage, Message};
use bosun_testkit::{Project, Reply, Scripted, ScriptedModel};
use bosun_tools::Preview;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

#[path = "approvals/order.rs"]
mod order;
#[path = "approvals/repointed.rs"]
mod repointed;
#[path = "approvals/scripts.rs"]
mod scripts;

struct Scene {
    project: Project,
    host: Arc<MemoryHost>,
    agent: Arc<Agent>,
    log: Arc<SessionLog>,
    activity: Activity,
    _blobs: tempfile::TempDir,
}

fn scene(policy: Policy, replies: Vec<Scripted>) -> Scene {
    let project = Project::new().file("a.txt", "one\ntwo\n");
    from(project, policy, replies, vec![], vec![])
}

fn from(
    project: Project,
    policy: Policy,
    replies: Vec<Scripted>,
    entries: Vec<Recorded>,
    subagents: Vec<SubagentSpec>,
) -> Scene {
    let backend = LocalShellBackend::open(project.root(), LocalShellOptions::default()).unwrap();
    behind(Arc::new(backend), project, policy, replies, entries, subagents)
}

/// Over a backend of one's own.
fn behind(
    backend: Arc<dyn Backend>,
    project: Project,
    policy: Policy,
    replies: Vec<Scripted>,
    entries: Vec<Recorded>,
    subagents: Vec<SubagentSpec>,
) -> Scene {
    let blobs = tempfile::tempdir().unwrap();
    let mut config = DeepAgentConfig::new(Arc::new(ScriptedModel::new(replies)), backend);
    config.blobs = Some(Arc::new(BlobStore::open(blobs.path()).unwrap()));
    config.policy = policy;
    config.subagents = subagents;
    let agent = Arc::new(create_deep_agent(config).unwrap());
    let host = Arc::new(MemoryHost::with_entries("s".into(), entries.clone()));
    let log = Arc::new(SessionLog::open(Arc::clone(&host) as _, Arc::new(SystemClock), &entries));
    Scene { project, host, agent, log, activity: Activity::default(), _blobs: blobs }
}

impl Scene {
    async fn begin(&self) {
        let message = HumanMessage { id: "h".into(), content: vec!["go".into()] };
        self.log.record(vec![EntryBody::TurnStarted { turn: 1, message }]).await.unwrap();
    }

    fn context(&self) -> TurnContext {
        TurnContext::new(
            Arc::clone(&self.agent),
            Arc::clone(&self.log),
            CancellationToken::new(),
            self.activity.clone(),
        )
    }

    /// Runs until only a person can move it, then lets it go, as a closing window does.
    async fn run_until_quiet(&self) -> Option<TurnEnd> {
        let cx = self.context();
        let turn = run_turn(&cx);
        tokio::pin!(turn);
        loop {
            tokio::select! {
                end = &mut turn => return Some(end.unwrap()),
                () = tokio::time::sleep(std::time::Duration::from_millis(30)) => {
                    // Waiting for quiet here would keep the turn from getting there.
                    let waits = self.log.with_state(|state| state.waiting().count()) > 0 || self.child_waits();
                    if waits && self.activity.is_quiet() {
                        return None;
                    }
                }
            }
        }
    }

    fn child_waits(&self) -> bool {
        self.child().is_some_and(|child| child.with_state(|state| state.waiting().count()) > 0)
    }

    fn child(&self) -> Option<Arc<SessionLog>> {
        self.log.find(&"s/t1".into())
    }

    async fn decide(&self, log: &SessionLog, id: &str, decision: Decision) -> Result<(), DecisionError> {
        let check = |name: &str, args: &Value| {
            let tool = self.agent.tools.get(name).ok_or("no such tool")?;
            tool.validate(args).map_err(|error| error.to_string())
        };
        log.decide(&CallId::from(id), None, decision, DecisionSource::Person, &check).await
    }

    fn result(&self, id: &str) -> (ToolOutcome, String) {
        let found = self.host.entries().into_iter().find_map(|recorded| match recorded.entry.body {
            EntryBody::ToolResult { call_id, outcome, message, .. } if call_id.as_str() == id => {
                let Message::Tool(message) = &*message else { return None };
                Some((outcome, message.text()))
            }
            _ => None,
        });
        found.unwrap_or_else(|| panic!("no result of {id}"))
    }
}

fn read_then_edit() -> Vec<Scripted> {
    vec![
        Reply::default().and_call_with_id("r", "read_file", json!({"file_path": "/a.txt"})).into(),
        edit("e", "one", "1").into(),
        "done".into(),
    ]
}

fn edit(id: &str, old: &str, new: &str) -> Reply {
    let args = json!({"file_path": "/a.txt", "old_string": old, "new_string": new});
    Reply::default().and_call_with_id(id, "edit_file", args)
}

#[tokio::test]
async fn an_edit_asks_with_its_diff_and_runs_when_approved() {
    let scene = scene(Policy::default(), read_then_edit());
    scene.begin().await;
    assert_eq!(scene.run_until_quiet().await, None);
    let ask = scene.log.with_state(|state| state.waiting().next().and_then(|call| call.ask.clone())).unwrap();
    assert!(
        matches!(&ask.preview, Preview::Diff { diff } if (diff.added, diff.removed) == (1, 1)),
        "{:?}",
        ask.preview
    );
    assert_eq!(scene.project.read("a.txt"), "one\ntwo\n");
    scene.decide(&scene.log, "e", Decision::Approve).await.unwrap();
    assert_eq!(scene.run_until_quiet().await, Some(TurnEnd::Done));
    assert_eq!(scene.project.read("a.txt"), "1\ntwo\n");
}

#[tokio::test]
async fn an_edited_call_runs_as_edited_and_the_result_says_so() {
    let scene = scene(Policy::default(), read_then_edit());
    scene.begin().await;
    scene.run_until_quiet().await;
    let args = json!({"file_path": "/a.txt", "old_string": "two", "new_string": "2"});
    scene.decide(&scene.log, "e", Decision::Edit { args }).await.unwrap();
    assert_eq!(scene.run_until_quiet().await, Some(TurnEnd::Done));
    assert_eq!(scene.project.read("a.txt"), "one\n2\n");
    assert!(scene.result("e").1.contains("The user changed this call"), "{}", scene.result("e").1);
}

#[tokio::test]
async fn an_answer_and_a_rejection_run_nothing() {
    for (decision, outcome, words) in [
        (Decision::Respond { text: "leave it".into() }, ToolOutcome::Answered, "leave it"),
        (Decision::Reject { reason: Some("not now".into()) }, ToolOutcome::Rejected, "not now"),
        (Decision::Reject { reason: None }, ToolOutcome::Rejected, "rejected"),
    ] {
        let scene = scene(Policy::default(), read_then_edit());
        scene.begin().await;
        scene.run_until_quiet().await;
        scene.decide(&scene.log, "e", decision).await.unwrap();
        assert_eq!(scene.run_until_quiet().await, Some(TurnEnd::Done));
        let (found, text) = scene.result("e");
        assert_eq!(found, outcome);
        assert!(text.contains(words), "{text}");
        assert_eq!(scene.project.read("a.txt"), "one\ntwo\n");
    }
}

/// A25: a model that asks for the same again is not heard again, until the person has spoken.
#[tokio::test]
async fn what_was_refused_is_not_asked_again_before_the_person_speaks() {
    let replies = vec![
        Reply::default().and_call_with_id("r", "read_file", json!({"file_path": "/a.txt"})).into(),
        edit("e1", "one", "1").into(),
        edit("e2", "one", "1").into(),
        edit("e3", "one", "uno").into(),
        "done".into(),
        edit("e4", "one", "1").into(),
        "done".into(),
    ];
    let scene = scene(Policy::default(), replies);
    scene.begin().await;
    assert_eq!(scene.run_until_quiet().await, None);
    scene.decide(&scene.log, "e1", Decision::Reject { reason: None }).await.unwrap();
    let asks = async || {
        assert_eq!(scene.run_until_quiet().await, None);
        scene.log.with_state(|state| state.waiting().map(|call| call.call.id.to_string()).collect::<Vec<_>>())
    };
    assert_eq!(asks().await, ["e3"], "the same call was asked about again, or another one was not");
    let (outcome, text) = scene.result("e2");
    assert_eq!(outcome, ToolOutcome::Rejected);
    assert!(text.contains("refused exactly this call before"), "{text}");
    scene.decide(&scene.log, "e3", Decision::Reject { reason: None }).await.unwrap();
    assert_eq!(scene.run_until_quiet().await, Some(TurnEnd::Done));

    let message = HumanMessage { id: "h2".into(), content: vec!["do it after all".into()] };
    scene.log.record(vec![EntryBody::TurnStarted { turn: 2, message }]).await.unwrap();
    assert_eq!(asks().await, ["e4"]);
    scene.decide(&scene.log, "e4", Decision::Approve).await.unwrap();
    assert_eq!(scene.run_until_quiet().await, Some(TurnEnd::Done));
    assert_eq!(scene.project.read("a.txt"), "1\ntwo\n");
}

#[tokio::test]
async fn a_wrong_decision_changes_nothing_and_a_right_one_still_works() {
    let config = InterruptConfig { allowed: vec![DecisionKind::Respond], description: None };
    let policy = Policy { interrupt_on: [("edit_file".to_owned(), Some(config))].into(), ..Policy::default() };
    let scene = scene(policy, read_then_edit());
    scene.begin().await;
    scene.run_until_quiet().await;
    let before = scene.host.entries().len();
    let refused = scene.decide(&scene.log, "e", Decision::Approve).await;
    assert!(matches!(refused, Err(DecisionError::NotAllowed { .. })), "{refused:?}");
    let unknown = scene.decide(&scene.log, "nope", Decision::Approve).await;
    assert!(matches!(unknown, Err(DecisionError::NotPending { .. })), "{unknown:?}");
    assert_eq!(scene.host.entries().len(), before);
    scene.decide(&scene.log, "e", Decision::Respond { text: "do it by hand".into() }).await.unwrap();
    let twice = scene.decide(&scene.log, "e", Decision::Respond { text: "again".into() }).await;
    assert!(matches!(twice, Err(DecisionError::NotPending { .. })), "{twice:?}");
    assert_eq!(scene.run_until_quiet().await, Some(TurnEnd::Done));
}

#[tokio::test]
async fn a_pending_ask_survives_a_restart_exactly_as_it_was() {
    let first = scene(Policy::default(), read_then_edit());
    first.begin().await;
    first.run_until_quiet().await;
    let entries = first.host.entries();
    let again = from(first.project, Policy::default(), vec!["done".into()], entries.clone(), vec![]);
    assert_eq!(again.run_until_quiet().await, None);
    assert_eq!(again.host.entries(), entries, "asking again must record nothing");
    again.decide(&again.log, "e", Decision::Approve).await.unwrap();
    assert_eq!(again.run_until_quiet().await, Some(TurnEnd::Done));
    assert_eq!(again.project.read("a.txt"), "1\ntwo\n");
}

#[tokio::test]
async fn what_was_approved_is_not_done_to_a_file_that_changed_since() {
    let scene = scene(Policy::default(), read_then_edit());
    scene.begin().await;
    scene.run_until_quiet().await;
    std::fs::write(scene.project.root().join("a.txt"), "one and more\n").unwrap();
    scene.decide(&scene.log, "e", Decision::Approve).await.unwrap();
    assert_eq!(scene.run_until_quiet().await, Some(TurnEnd::Done));
    assert!(scene.result("e").1.contains("changed since it was read"), "{}", scene.result("e").1);
    assert_eq!(scene.project.read("a.txt"), "one and more\n");
}

#[tokio::test]
async fn rules_answer_without_a_person() {
    let policy = Policy {
        edits: PermissionRule::Allow { name: "edits pass".into() },
        commands: PermissionRule::Reject { name: "no commands".into() },
        ..Policy::default()
    };
    let mut replies = read_then_edit();
    replies.insert(1, Reply::default().and_call_with_id("x", "execute", json!({"command": "touch made"})).into());
    let scene = scene(policy, replies);
    scene.begin().await;
    assert_eq!(scene.run_until_quiet().await, Some(TurnEnd::Done));
    assert_eq!(scene.result("x").0, ToolOutcome::Rejected);
    assert!(!scene.project.root().join("made").exists());
    assert_eq!(scene.project.read("a.txt"), "1\ntwo\n");
}

#[tokio::test]
async fn a_subagent_asks_for_itself_and_goes_on_after_a_restart() {
    let replies = || -> Vec<Scripted> {
        vec![
            Reply::default()
                .and_call_with_id(
                    "t1",
                    "task",
                    json!({"description": "tidy a.txt", "subagent_type": "general-purpose"}),
                )
                .into(),
            Reply::default().and_call_with_id("r", "read_file", json!({"file_path": "/a.txt"})).into(),
            edit("e", "one", "1").into(),
            "tidied".into(),
            "all done".into(),
        ]
    };
    let scene = scene(Policy::default(), replies());
    scene.begin().await;
    assert_eq!(scene.run_until_quiet().await, None);
    let child = scene.child().unwrap();
    scene.decide(&child, "e", Decision::Approve).await.unwrap();
    assert_eq!(scene.run_until_quiet().await, Some(TurnEnd::Done));
    assert_eq!(scene.project.read("a.txt"), "1\ntwo\n");
    assert_eq!(scene.result("t1"), (ToolOutcome::Ran, "tidied".into()));
}

#[tokio::test]
async fn two_plans_in_one_step_are_both_refused() {
    let todos = json!({"todos": [{"content": "one", "status": "pending"}]});
    let reply = Reply::default().and_call_with_id("p1", "write_todos", todos.clone()).and_call_with_id(
        "p2",
        "write_todos",
        todos,
    );
    let scene = scene(Policy::default(), vec![reply.into(), "done".into()]);
    scene.begin().await;
    assert_eq!(scene.run_until_quiet().await, Some(TurnEnd::Done));
    assert_eq!(scene.log.with_state(|state| state.todos.len()), 0);
}
