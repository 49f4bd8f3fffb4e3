use std::sync::Arc;
use std::time::Duration;

use bosun_model::{CallId, MessageId, ModelError, ModelInfo};

/// News while something runs. Provisional: the journal entry that follows is what counts.
#[derive(Clone, Debug, PartialEq)]
pub enum LiveEvent {
    /// A model call was sent; its reply will have this id.
    ReplyStarted {
        message: MessageId,
        /// Who is asked for it.
        model: Arc<ModelInfo>,
    },
    TextDelta {
        message: MessageId,
        text: String,
    },
    ReasoningDelta {
        message: MessageId,
        text: String,
    },
    /// The model began to write a call.
    CallProposed {
        message: MessageId,
        call_id: CallId,
        name: String,
    },
    /// The reply came to nothing (it failed or was stopped) and its rows go away or stay as a notice.
    ReplyDropped {
        message: MessageId,
    },
    /// A model call failed and is made again after `wait`, unless the turn is stopped before.
    AskingAgain {
        error: ModelError,
        wait: Duration,
    },
    /// A model call waits until another has ended: together they may use up a budget.
    AwaitingBudget,
    /// The wait before a call is over where no [`Self::ReplyStarted`] says so, as before one for a summary.
    AskingNow,
    /// A call began to run, after any approval. Milliseconds since 1970.
    CallRunning {
        call_id: CallId,
        at: i64,
    },
    Output {
        call_id: CallId,
        text: String,
    },
}
