/// Why a server or a call did not do what was asked. Reads as a sentence that goes on after the server's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Failure {
    #[error("could not be started: {reason}")]
    Start { reason: String },
    #[error("did not answer within {seconds} seconds of its start")]
    StartTimeout { seconds: u64 },
    #[error("{reason}")]
    Gone { reason: String },
    #[error("did not answer within {seconds} seconds; the call was given up and may still be at work")]
    CallTimeout { seconds: u64 },
    #[error("refused: {reason}")]
    Refused { reason: String },
    #[error("wants somebody to sign in first")]
    SignIn,
    #[error("cancelled")]
    Cancelled,
}

impl Failure {
    /// Whether the connection is of no use any more.
    pub(crate) fn ends_connection(&self) -> bool {
        matches!(self, Self::Gone { .. })
    }
}
