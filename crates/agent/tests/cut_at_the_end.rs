//! A process that ended between a reply without calls and the end of its turn: what is recorded then says no more than
//! that the model spoke.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests may fail loudly")]

use std::sync::{Arc, Mutex};

use bosun_agent::{
    Activity, Agent, AgentError, AgentParts, BoxFuture, EntryBody, Halt, Limits, MemoryHost, Middleware, Policy,
    Recorded, SessionLog, State, SystemClock, TurnContext, TurnEnd, UuidSource, run_turn,
};
use bosun_model::{AiMessage, HumanMessage};
use bosun_testkit::{Scripted, ScriptedModel};
use bosun_tools::StateUpdate;
use pretty_assertions::assert_eq;
use tokio_util::sync::CancellationToken;

#[path = "turn/support.rs"]
mod support;

/// Says of every reply whether it may be the last, as a wanted final answer and hooks do.
#[derive(Default)]
struct Judge {
    refuses: Option<&'static str>,
    asked: Mutex<Vec<String>>,
}

impl Middleware for Judge {
    fn name(&self) -> &'static str {
        "Judge"
    }

    fn after_model<'a>(
        &'a self,
        _cx: &'a TurnContext,
        message: &'a AiMessage,
    ) -> BoxFuture<'a, Result<StateUpdate, AgentError>> {
        self.asked.lock().unwrap().push(message.text());
        let refused = self.refuses == Some(message.text().as_str());
        Box::pin(async move { if refused { Err(Halt::AnswerNotHandedIn.into()) } else { Ok(StateUpdate::default()) } })
    }
}

/// A start on what was recorded, whose model gives `replies` from there.
fn start(entries: &[Recorded], replies: Vec<Scripted>, judge: &Arc<Judge>) -> (TurnContext, Arc<MemoryHost>) {
    start_with(entries, ScriptedModel::new(replies), judge)
}

fn start_with(entries: &[Recorded], model: ScriptedModel, judge: &Arc<Judge>) -> (TurnContext, Arc<MemoryHost>) {
    let parts = AgentParts {
        name: "main".into(),
        model: Arc::new(model),
        middleware: vec![Arc::clone(judge) as _],
        tools: vec![],
        system: vec![],
        backend: Arc::new(support::NoFiles),
        blobs: None,
        subagents: None,
        limits: Limits::default(),
        ids: Arc::new(UuidSource),
        policy: Policy::default(),
    };
    let host = Arc::new(MemoryHost::with_entries("s".into(), entries.to_vec()));
    let log = Arc::new(SessionLog::open(Arc::clone(&host) as _, Arc::new(SystemClock), entries));
    let cx = TurnContext::new(Arc::new(Agent::new(parts).unwrap()), log, CancellationToken::new(), Activity::default());
    (cx, host)
}

/// The journal of a turn that ran to its end with `reply`, without that end.
async fn cut_after(reply: &'static str, judge: &Arc<Judge>) -> Vec<Recorded> {
    let (cx, host) = start(&[], vec![reply.into()], judge);
    let message = HumanMessage { id: "h".into(), content: vec!["go".into()] };
    cx.log().record(vec![EntryBody::TurnStarted { turn: 1, message }]).await.unwrap();
    run_turn(&cx).await.unwrap();
    let mut entries = host.entries();
    assert!(matches!(entries.pop().unwrap().entry.body, EntryBody::TurnEnded { .. }));
    assert!(matches!(entries.last().unwrap().entry.body, EntryBody::Ai { .. }), "{entries:?}");
    entries
}

#[tokio::test]
async fn a_reply_that_was_not_judged_yet_is_judged_and_ends_the_turn_as_it_would_have() {
    let (content, refusing) = (Arc::new(Judge::default()), Arc::new(Judge { refuses: Some("no"), ..Judge::default() }));
    let ends = [
        ("done", &content, TurnEnd::Done),
        (" ", &content, TurnEnd::Empty),
        (
            "no",
            &refusing,
            TurnEnd::Failed { reason: Halt::AnswerNotHandedIn.to_string(), halt: Some(Halt::AnswerNotHandedIn) },
        ),
    ];
    for (reply, judge, end) in ends {
        let entries = cut_after(reply, judge).await;
        judge.asked.lock().unwrap().clear();
        // Asking the model once more would fail: it has nothing to say.
        let (cx, host) = start(&entries, vec![], judge);
        assert_eq!(run_turn(&cx).await, Ok(end), "{reply}");
        assert_eq!(*judge.asked.lock().unwrap(), [reply]);
        let folded = State::fold(host.entries().iter().map(|recorded| &recorded.entry));
        cx.log().with_state(|live| assert_eq!(&folded, live));
    }
}

#[tokio::test]
async fn half_a_reply_that_a_stop_kept_is_not_the_end() {
    let judge = Arc::new(Judge::default());
    let (model, mut driver) = ScriptedModel::driven();
    let (cx, host) = start_with(&[], model, &judge);
    let message = HumanMessage { id: "h".into(), content: vec!["go".into()] };
    cx.log().record(vec![EntryBody::TurnStarted { turn: 1, message }]).await.unwrap();
    let speaking = async {
        let call = driver.next().await;
        call.text("I would");
        tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
        cx.cancel().cancel();
        call
    };
    tokio::time::pause();
    let (end, _call) = tokio::join!(run_turn(&cx), speaking);
    assert_eq!(end, Ok(TurnEnd::Stopped));
    let mut entries = host.entries();
    assert!(matches!(entries.pop().unwrap().entry.body, EntryBody::TurnEnded { .. }));
    assert!(
        matches!(&entries.last().unwrap().entry.body, EntryBody::Ai { message, .. } if message.text() == "I would")
    );

    let (cx, _) = start(&entries, vec!["I would go".into()], &judge);
    assert_eq!(run_turn(&cx).await, Ok(TurnEnd::Done));
    assert_eq!(*judge.asked.lock().unwrap(), ["I would go"]);
}
