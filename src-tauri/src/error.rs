use bosun_model::ModelError;
use bosun_protocol::{CommandError, ErrorCode, Problem};
use bosun_session::{Explain, SessionError};
use bosun_store::{DatabaseError, KeyError, OpenError};
use serde::Serialize;
use specta::{Type, Types, datatype::DataType};

/// A [`CommandError`] on its way to the page; `?` makes one of every error that commands meet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Failure(pub CommandError);

impl Failure {
    pub(crate) fn new(code: ErrorCode, problem: Problem) -> Self {
        Self(CommandError { code, message: problem.to_string(), problem })
    }
}

/// The page knows it as [`CommandError`].
impl Type for Failure {
    fn definition(types: &mut Types) -> DataType {
        CommandError::definition(types)
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        Self::new(error.code, error.problem)
    }
}

impl From<Failure> for SessionError {
    fn from(failure: Failure) -> Self {
        Self::new(failure.0.code, failure.0.problem)
    }
}

impl From<DatabaseError> for Failure {
    fn from(error: DatabaseError) -> Self {
        SessionError::from(error).into()
    }
}

impl From<KeyError> for Failure {
    fn from(error: KeyError) -> Self {
        SessionError::from(error).into()
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        SessionError::from(error).into()
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        Self::new(ErrorCode::StorageUnavailable, error.problem())
    }
}
