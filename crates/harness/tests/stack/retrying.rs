use std::time::Duration;

use bosun_agent::TurnEnd;
use bosun_model::{ModelError, ModelErrorKind, ModelEvent};
use bosun_testkit::{Ending, Project, Reply, Scripted, ScriptedModel};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::scene::{Scene, scene};

fn busy(seconds: u64) -> Scripted {
    let error = ModelError::new(ModelErrorKind::RateLimited, "scripted", "slow down");
    Scripted::Error(error.with_retry_after(Some(Duration::from_secs(seconds))))
}

fn refused() -> Scripted {
    Scripted::Error(ModelError::new(ModelErrorKind::Unauthorized, "scripted", "no such key"))
}

#[tokio::test(start_paused = true)]
async fn a_busy_provider_is_asked_again_when_it_says_so() {
    let look = Reply::new().and_call("ls", json!({ "path": "/" }));
    let scene = scene(vec![busy(7), look.into(), busy(3), busy(3), "done".into()], |_| {});
    let started = tokio::time::Instant::now();
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    assert!(started.elapsed() >= Duration::from_secs(13), "{:?}", started.elapsed());
    assert_eq!(scene.model.requests().len(), 5);
}

#[tokio::test(start_paused = true)]
async fn patience_ends_and_other_failures_are_told_at_once() {
    let scene = scene(vec![busy(1), busy(1), busy(1), busy(1), busy(1), "never asked".into()], |_| {});
    assert!(matches!(scene.say("go").await, TurnEnd::Failed { reason, .. } if reason.contains("slow down")));
    assert_eq!(scene.model.requests().len(), 5);

    for first in [refused(), Reply { ending: Ending::CutInCall, ..Reply::call("ls", json!({ "path": "/" })) }.into()] {
        let scene = self::scene(vec![first, "never asked".into()], |_| {});
        assert!(matches!(scene.say("go").await, TurnEnd::Failed { .. }));
        assert_eq!(scene.model.requests().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn waiting_can_be_stopped() {
    let scene = scene(vec![busy(50), "never asked".into()], |_| {});
    let cx = scene.context();
    let stop = cx.cancel().clone();
    let message = bosun_model::HumanMessage { id: "h1".into(), content: vec!["go".into()] };
    scene.log.record(vec![bosun_agent::EntryBody::TurnStarted { turn: 1, message }]).await.unwrap();
    let (end, ()) = tokio::join!(bosun_agent::run_turn(&cx), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        stop.cancel();
    });
    assert_eq!(end, Ok(TurnEnd::Stopped));
    assert_eq!(scene.model.requests().len(), 1);
}

/// What a person has seen of a reply was paid for: it is theirs to say whether it is paid for again.
#[tokio::test(start_paused = true)]
async fn a_reply_of_which_something_was_shown_is_not_asked_for_again_by_itself() {
    let text = |text: &str| ModelEvent::TextDelta { text: text.into() };
    let call = ModelEvent::ToolCallStarted { index: 0, id: "c".into(), name: "ls".into() };
    let cases = [
        (text("Let me"), 1),
        (ModelEvent::ReasoningDelta { text: "They want".into() }, 1),
        (call, 1),
        (text("  "), 2),
        (ModelEvent::Started { model: None }, 2),
    ];
    let kinds = [
        ModelErrorKind::Timeout,
        ModelErrorKind::Network,
        ModelErrorKind::RateLimited,
        ModelErrorKind::Unavailable,
        ModelErrorKind::StreamCut,
    ];
    for kind in kinds {
        for (event, calls) in &cases {
            // Such a reply is never asked for again: it had begun.
            let calls = if kind == ModelErrorKind::StreamCut { 1 } else { *calls };
            let (model, mut driver) = ScriptedModel::driven();
            let scene = Scene::build(Project::new(), model, vec![], |_| {});
            let served = async {
                for _ in 1..calls {
                    let call = driver.next().await;
                    call.send(event.clone());
                    call.fail(ModelError::new(kind, "scripted", "sent nothing more"));
                }
                let call = driver.next().await;
                call.send(event.clone());
                // What nobody would wait for ends the patience that some kinds have.
                let error = ModelError::new(kind, "scripted", "sent nothing more");
                let last = if calls == 1 { error } else { error.with_retry_after(Some(Duration::from_secs(600))) };
                call.fail(last);
            };
            let (end, ()) = tokio::join!(scene.say("go"), served);
            assert!(
                matches!(&end, TurnEnd::Failed { reason, .. } if reason.contains("nothing more")),
                "{kind:?} {event:?}: {end:?}"
            );
            assert_eq!(scene.model.requests().len(), calls, "{kind:?} {event:?}");
        }
    }
}
