use serde::{Deserialize, Serialize};
use specta::Type;

/// What a person changes in the plan. The agent is told at its next step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum PlanChange {
    /// A new line at the end, still to be done.
    Add {
        content: String,
    },
    /// Other words for the line `id`.
    Reword {
        id: String,
        content: String,
    },
    /// The line `id` at the place `to`, from 0; beyond the end is the end.
    Move {
        id: String,
        to: u32,
    },
    Drop {
        id: String,
    },
    /// A line that is in the plan no more, as it was and where it stood.
    Restore {
        id: String,
    },
}
