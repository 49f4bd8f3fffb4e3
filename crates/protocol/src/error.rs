use serde::{Deserialize, Serialize};
use specta::Type;

use crate::Problem;

/// Why a command did not do what was asked. `message` is the English sentence of `problem`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct CommandError {
    pub code: ErrorCode,
    pub message: String,
    pub problem: Problem,
}

/// Only what the UI branches on has a code of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    NotFound,
    /// The arguments are wrong; nothing was changed.
    Invalid,
    /// The approval is gone or was decided already.
    AlreadyDecided,
    /// No model is chosen, or its key is missing.
    NoModel,
    ProjectUnusable,
    StorageUnavailable,
    KeyringUnavailable,
    Provider,
    Internal,
}
