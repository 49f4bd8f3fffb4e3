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
}
