use std::collections::HashMap;

use bosun_model::CallId;
use tokio::sync::watch;

/// The calls of a step that are on their way to the gate and may turn out to ask, so that a person is asked in call
/// order. A call that waits for another one of its step is not among them yet, so nobody waits for what waits for them.
#[derive(Default)]
pub(crate) struct AskOrder {
    /// By place in the step.
    coming: watch::Sender<HashMap<CallId, usize>>,
}

impl AskOrder {
    pub(crate) fn enter(&self, call_id: &CallId, place: usize) {
        self.coming.send_modify(|coming| {
            coming.insert(call_id.clone(), place);
        });
    }

    /// The call is asked for, runs without asking, or is at its end.
    pub(crate) fn leave(&self, call_id: &CallId) {
        self.coming.send_if_modified(|coming| coming.remove(call_id).is_some());
    }

    /// Returns once no call before this one may still ask.
    pub(crate) async fn turn(&self, call_id: &CallId) {
        let is_first = |coming: &HashMap<CallId, usize>| match coming.get(call_id) {
            Some(mine) => coming.values().all(|place| place >= mine),
            None => true,
        };
        // The sender lives in `self`, so waiting cannot fail.
        if self.coming.subscribe().wait_for(is_first).await.is_err() {
            tracing::debug!("a step ended while a call waited to ask");
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::AskOrder;

    #[tokio::test]
    async fn a_call_waits_for_those_before_it_that_may_ask_and_for_no_other() {
        let order = AskOrder::default();
        let (a, b, c) = ("a".into(), "b".into(), "c".into());
        order.enter(&a, 0);
        order.enter(&c, 2);
        assert!(order.turn(&a).now_or_never().is_some() && order.turn(&c).now_or_never().is_none());
        order.leave(&a);
        assert!(order.turn(&c).now_or_never().is_some(), "b does not run yet");
        order.enter(&b, 1);
        assert!(order.turn(&c).now_or_never().is_none());
        let (_, ()) = tokio::join!(order.turn(&c), async { order.leave(&b) });
        order.leave(&c);
        assert!(order.turn(&c).now_or_never().is_some(), "nobody waits for a call that is through");
    }
}
