use bosun_model::ModelError;

use crate::{Halt, JournalError};

/// Why a turn cannot go on. Failures of tools, files and subagents are results for the model, never this.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AgentError {
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A limit was reached.
    #[error(transparent)]
    Halted(#[from] Halt),
    #[error("stopped")]
    Cancelled,
    /// A middleware or tool says that the harness cannot go on.
    #[error("{0}")]
    Fatal(String),
}
