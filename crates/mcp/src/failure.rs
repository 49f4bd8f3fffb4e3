use bosun_backend::ProgramExit;
use serde::{Deserialize, Serialize};

/// Why a server or a call did not do what was asked. Reads as a sentence that goes on after the server's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "failure", rename_all = "snake_case")]
pub enum Failure {
    /// In the words of the system or of the protocol's own crate.
    #[error("could not be started: {reason}")]
    Start { reason: String },
    /// It ended before it had shaken hands.
    #[error("could not be started: {end}")]
    StartEnded { end: Ending },
    #[error("did not answer within {seconds} seconds of starting")]
    StartTimeout { seconds: u64 },
    #[error("{end}")]
    Gone { end: Ending },
    #[error("did not answer within {seconds} seconds, so Bosun stopped waiting; the call may still be running")]
    CallTimeout { seconds: u64 },
    /// In the server's words.
    #[error("refused: {reason}")]
    Refused { reason: String },
    /// A header that is sent with every request, and whose value is not where it was kept.
    #[error("the value of its header '{header}' is not in the keyring; enter it again")]
    HeaderMissing { header: String },
    /// A variable of its program, likewise.
    #[error("the value of its variable '{variable}' is not in the keyring; enter it again")]
    VariableMissing { variable: String },
    /// What it was reached with is not kept any more, although it was before.
    #[error(
        "was removed from the settings or changed there since this session began; start a new session to use it as it \
         is there now"
    )]
    Withdrawn,
    /// It is of the project, and is not what a person trusted.
    #[error(
        "is of the project and is not what you trusted as this session began; review what the project brings, or start a new session"
    )]
    Untrusted,
    #[error("needs someone to sign in first")]
    SignIn,
    #[error("cancelled")]
    Cancelled,
}

/// How the connection to a server came to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum Ending {
    #[error("was ended with its session")]
    Session,
    /// It is of the project, and a person changed their mind.
    #[error("was ended, because it is of the project and you do not trust it any more")]
    Untrusted,
    /// The program ended; `words` is what it said last.
    #[error("{}", of_program(*code, *signal, words.as_deref()))]
    Program { code: Option<i32>, signal: Option<i32>, words: Option<String> },
    #[error("closed its pipes and was ended")]
    Pipes,
    #[error("sent a message of more than {megabytes} MB and was ended")]
    MessageTooLarge { megabytes: u64 },
    #[error("wrote more than {megabytes} MB without an answer and was ended")]
    TooMuch { megabytes: u64 },
    #[error("could not be reached: {reason}")]
    Unreachable { reason: String },
}

impl Failure {
    /// The same with what a server or a program said put through `mask`.
    pub(crate) fn masked(self, mask: impl Fn(&str) -> String) -> Self {
        match self {
            Self::Start { reason } => Self::Start { reason: mask(&reason) },
            Self::StartEnded { end } => Self::StartEnded { end: end.masked(mask) },
            Self::Gone { end } => Self::Gone { end: end.masked(mask) },
            Self::Refused { reason } => Self::Refused { reason: mask(&reason) },
            failure @ (Self::StartTimeout { .. }
            | Self::CallTimeout { .. }
            | Self::HeaderMissing { .. }
            | Self::VariableMissing { .. }
            | Self::Withdrawn
            | Self::Untrusted
            | Self::SignIn
            | Self::Cancelled) => failure,
        }
    }

    /// Whether the connection is of no use any more.
    pub(crate) fn ends_connection(&self) -> bool {
        matches!(self, Self::Gone { .. })
    }
}

impl Ending {
    fn masked(self, mask: impl Fn(&str) -> String) -> Self {
        match self {
            Self::Program { code, signal, words } => {
                Self::Program { code, signal, words: words.map(|words| mask(&words)) }
            }
            Self::Unreachable { reason } => Self::Unreachable { reason: mask(&reason) },
            end @ (Self::Session
            | Self::Untrusted
            | Self::Pipes
            | Self::MessageTooLarge { .. }
            | Self::TooMuch { .. }) => end,
        }
    }
}

fn of_program(code: Option<i32>, signal: Option<i32>, words: Option<&str>) -> String {
    let exit = ProgramExit { code, signal };
    match words {
        Some(words) => format!("{exit}; it last said: {words}"),
        None => exit.to_string(),
    }
}
