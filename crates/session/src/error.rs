use bosun_agent::{DecisionError, JournalError};
use bosun_backend::BackendError;
use bosun_model::{ModelError, ModelErrorKind};
use bosun_protocol::{ErrorCode, Problem};
use bosun_store::{DatabaseError, KeyError};

use crate::Explain;

/// Why something that was asked of a session was not done. The message is the English sentence of the problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct SessionError {
    pub code: ErrorCode,
    pub problem: Problem,
}

impl SessionError {
    pub fn new(code: ErrorCode, problem: Problem) -> Self {
        Self { code, problem }
    }

    /// Another room's error under a code.
    pub fn of(code: ErrorCode, error: &impl Explain) -> Self {
        Self::new(code, error.problem())
    }

    /// A defect of Bosun, or a task that broke off.
    pub(crate) fn internal(error: impl std::fmt::Display) -> Self {
        Self::new(ErrorCode::Internal, Problem::Internal { detail: error.to_string() })
    }

    pub(crate) fn invalid(problem: Problem) -> Self {
        Self::new(ErrorCode::Invalid, problem)
    }

    pub(crate) fn not_found(problem: Problem) -> Self {
        Self::new(ErrorCode::NotFound, problem)
    }

    pub(crate) fn no_session() -> Self {
        Self::not_found(Problem::SessionGone)
    }
}

impl From<DatabaseError> for SessionError {
    fn from(error: DatabaseError) -> Self {
        let code = match error {
            DatabaseError::NotFound { .. } => ErrorCode::NotFound,
            _ => ErrorCode::StorageUnavailable,
        };
        Self::of(code, &error)
    }
}

impl From<KeyError> for SessionError {
    fn from(error: KeyError) -> Self {
        match error {
            KeyError::Stays(_) | KeyError::Left(_) => Self::of(ErrorCode::KeyringUnavailable, &error),
            KeyError::Database(error) => error.into(),
        }
    }
}

impl From<JournalError> for SessionError {
    fn from(error: JournalError) -> Self {
        let code = match error {
            JournalError::NotFound => ErrorCode::NotFound,
            _ => ErrorCode::StorageUnavailable,
        };
        Self::of(code, &error)
    }
}

impl From<DecisionError> for SessionError {
    fn from(error: DecisionError) -> Self {
        let code = match error {
            DecisionError::NotPending { .. } | DecisionError::Stale { .. } | DecisionError::Altered { .. } => {
                ErrorCode::AlreadyDecided
            }
            DecisionError::NotAllowed { .. } | DecisionError::BadArguments { .. } | DecisionError::EmptyResponse => {
                ErrorCode::Invalid
            }
            DecisionError::Journal(_) => ErrorCode::StorageUnavailable,
        };
        Self::of(code, &error)
    }
}

impl From<BackendError> for SessionError {
    fn from(error: BackendError) -> Self {
        Self::of(ErrorCode::ProjectUnusable, &error)
    }
}

impl From<ModelError> for SessionError {
    fn from(error: ModelError) -> Self {
        let code = match error.kind {
            ModelErrorKind::Unauthorized => ErrorCode::NoModel,
            _ => ErrorCode::Provider,
        };
        Self::of(code, &error)
    }
}
