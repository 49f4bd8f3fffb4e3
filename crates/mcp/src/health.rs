use serde::{Deserialize, Serialize};

use crate::Failure;

/// How a server is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "health", rename_all = "snake_case")]
pub enum Health {
    /// Not started yet, or ended with its session.
    #[default]
    Stopped,
    Starting,
    Ready {
        /// Tools that can be called.
        tools: usize,
    },
    /// Wants a person to sign in first; until then it has no tools.
    NeedsSignIn,
    /// Does not work. The next turn tries it again, and so does a call of a tool that it had.
    Failed {
        #[serde(flatten)]
        failure: Failure,
    },
}
