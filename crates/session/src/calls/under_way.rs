//! What calls that have begun will cost, as long as nobody knows what they did.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use bosun_agent::SessionId;
use tokio::sync::Notify;

use crate::stream::locked;

/// The calls of all sessions that are under way.
#[derive(Default)]
pub(super) struct CallsUnderWay {
    begun: Mutex<Begun>,
    /// Held by whoever decides whether one more may begin: two that decide at once would not see each other.
    pub(super) entrance: tokio::sync::Mutex<()>,
    /// Told of each that ends, and of other budgets.
    pub(super) ended: Notify,
}

#[derive(Default)]
struct Begun {
    last: u64,
    /// By number: the session at the root of the tree, and the dollars that it costs at least.
    calls: HashMap<u64, (SessionId, f64)>,
}

/// A call that counts as long as this is kept.
pub(crate) struct UnderWay {
    all: Arc<CallsUnderWay>,
    number: u64,
}

impl CallsUnderWay {
    /// What those of `session` cost at least, and all of them.
    pub(super) fn sums(&self, session: &SessionId) -> (f64, f64) {
        let begun = locked(&self.begun);
        let calls = begun.calls.values();
        calls.fold((0.0, 0.0), |(own, all), (of, least)| (if of == session { own + least } else { own }, all + least))
    }

    pub(super) fn begun(self: &Arc<Self>, session: &SessionId, least: f64) -> UnderWay {
        let mut begun = locked(&self.begun);
        begun.last += 1;
        let number = begun.last;
        begun.calls.insert(number, (session.clone(), least));
        UnderWay { all: Arc::clone(self), number }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        locked(&self.all.begun).calls.remove(&self.number);
        self.all.ended.notify_waiters();
    }
}
