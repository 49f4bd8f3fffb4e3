use serde::{Deserialize, Serialize};
use specta::Type;

use crate::{CommandError, SessionId};

/// What comes to the window from beside it: a notification that was pressed, a link, a second start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "goal", rename_all = "snake_case")]
pub enum Goal {
    /// The person wants to see it.
    Session { session: SessionId },
    /// What they wanted cannot be opened.
    Refused { error: CommandError },
    /// The person wants to close the window, in which these sessions are at work: they are asked. Told again when others
    /// are at work; with none nothing is any more.
    Close { sessions: Vec<SessionId> },
    /// The question about closing was answered beside the page, or nobody asks any more.
    Stay,
}

/// What a person wants when they close the window while sessions are at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum CloseChoice {
    /// The window stays.
    Stay,
    /// It goes out of sight, and the app ends when nothing is at work any more.
    WhenDone,
    /// What is at work is stopped, and the app ends.
    Stop,
}
