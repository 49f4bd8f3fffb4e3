use bosun_model::{ChatModel, ChatRequest, ModelError, ModelErrorKind, ModelEvent, StopReason};
use futures_util::StreamExt;
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::{Ending, Reply, Scripted, ScriptedModel, message_of};

#[tokio::test]
async fn replies_come_in_order_and_then_run_out() {
    let refused = ModelError::new(ModelErrorKind::RateLimited, "scripted", "slow down");
    let model = ScriptedModel::new([
        Scripted::from(Reply::text("one").and_call("ls", json!({ "path": "/" }))),
        Scripted::from(refused.clone()),
        Scripted::from("two"),
    ]);
    let first = message_of(&model, ChatRequest::default()).await.unwrap();
    assert_eq!((first.text().as_str(), first.stop), ("one", StopReason::ToolUse));
    assert_eq!(first.tool_calls[0].args, json!({ "path": "/" }));
    assert_eq!(message_of(&model, ChatRequest::default()).await, Err(refused));
    assert_eq!(message_of(&model, ChatRequest::default()).await.unwrap().text(), "two");
    assert!(message_of(&model, ChatRequest::default()).await.is_err());
    assert_eq!(model.requests().len(), 4);
}

#[tokio::test]
async fn a_cut_reply_never_finishes() {
    let cut = Reply::call("ls", json!({ "path": "/" })).ending(Ending::CutInCall);
    let error = message_of(&ScriptedModel::new([cut]), ChatRequest::default()).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::StreamCut);
}

#[tokio::test]
async fn a_driven_model_is_played_event_by_event_and_sees_the_cancel() {
    let (model, mut driver) = ScriptedModel::driven();
    let mut stream = model.stream(ChatRequest::default()).await.unwrap();
    let call = driver.next().await;
    assert!(call.text("hel"));
    assert_eq!(stream.next().await, Some(Ok(ModelEvent::TextDelta { text: "hel".into() })));
    drop(stream);
    call.cancelled().await;
    assert!(!call.text("lo"));
}
