use bosun_agent::{DecisionError, JournalError};
use bosun_backend::BackendError;
use bosun_model::{ModelError, ModelErrorKind};
use bosun_protocol::ErrorCode;
use bosun_store::DatabaseError;

/// Why something that was asked of a session was not done. The message is a sentence for a person.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SessionError {
    pub code: ErrorCode,
    pub message: String,
}

impl SessionError {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    pub(crate) fn no_session() -> Self {
        Self::new(ErrorCode::NotFound, "this session does not exist any more")
    }
}

impl From<DatabaseError> for SessionError {
    fn from(error: DatabaseError) -> Self {
        let code = match error {
            DatabaseError::NotFound { .. } => ErrorCode::NotFound,
            _ => ErrorCode::StorageUnavailable,
        };
        Self::new(code, error.to_string())
    }
}

impl From<JournalError> for SessionError {
    fn from(error: JournalError) -> Self {
        let code = match error {
            JournalError::NotFound => ErrorCode::NotFound,
            _ => ErrorCode::StorageUnavailable,
        };
        Self::new(code, error.to_string())
    }
}

impl From<DecisionError> for SessionError {
    fn from(error: DecisionError) -> Self {
        let code = match error {
            DecisionError::NotPending { .. } | DecisionError::Stale { .. } => ErrorCode::AlreadyDecided,
            DecisionError::NotAllowed { .. } | DecisionError::BadArguments { .. } | DecisionError::EmptyResponse => {
                ErrorCode::Invalid
            }
            DecisionError::Journal(_) => ErrorCode::StorageUnavailable,
        };
        Self::new(code, error.to_string())
    }
}

impl From<BackendError> for SessionError {
    fn from(error: BackendError) -> Self {
        Self::new(ErrorCode::ProjectUnusable, error.to_string())
    }
}

impl From<ModelError> for SessionError {
    fn from(error: ModelError) -> Self {
        let code = match error.kind {
            ModelErrorKind::Unauthorized => ErrorCode::NoModel,
            _ => ErrorCode::Provider,
        };
        // The sentence names the host where it matters; the provider's id is nothing that people chose.
        Self::new(code, error.message)
    }
}
