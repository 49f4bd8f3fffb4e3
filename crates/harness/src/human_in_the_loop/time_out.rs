use std::time::Duration;

use bosun_agent::{Decision, DecisionRecord, DecisionSource, TurnContext};
use bosun_model::ToolCall;
use serde_json::Value;

/// Says no in the person's place once `timeout` is over since it was asked, also where the app was closed meanwhile, and gives
/// what was decided. Never ends without a time-out, nor where a person may not say no: the clock approves nothing.
pub(super) async fn after(timeout: Option<Duration>, cx: &TurnContext, call: &ToolCall) -> DecisionRecord {
    let Some(timeout) = timeout else { return std::future::pending().await };
    let asked_at = cx.log().with_state(|state| state.open_call(&call.id)?.asked_at);
    let now = cx.log().now_ms();
    let waited = u64::try_from(now.saturating_sub(asked_at.unwrap_or(now))).unwrap_or(0);
    tokio::time::sleep(timeout.saturating_sub(Duration::from_millis(waited))).await;
    let words = format!("nobody answered within {} seconds", timeout.as_secs());
    let refusals = [
        Decision::Reject { reason: Some(words.clone()) },
        Decision::Respond { text: format!("Not run: {words}. Go on without it, or end with what is missing.") },
    ];
    for refusal in refusals {
        let by = DecisionSource::Rule { rule: "time-out".to_owned() };
        // A refusal has no arguments to check.
        let check = |_: &str, args: &Value| Ok(args.clone());
        match cx.log().decide(&call.id, None, refusal, by, &check).await {
            Ok(()) => return cx.log().decision(&call.id).await,
            Err(error) => tracing::debug!(%error, call = %call.id, "a time-out could not decide"),
        }
    }
    // Decided meanwhile, or only approving is allowed: the one who waits for the decision goes on.
    std::future::pending().await
}
