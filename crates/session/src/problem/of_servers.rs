//! Servers of tools: how they are set up, signed in at, and what became of them.

use bosun_harness::mcp::{ConfigError, ConfigFault, Ending, Failure, LeftOut, SignInError, ToolFault};
use bosun_protocol::Problem;

use super::{Explain, number};

impl Explain for Failure {
    /// Stands beside the server's name.
    fn problem(&self) -> Problem {
        match self.clone() {
            Self::Start { reason } => Problem::ServerNotStarted { detail: reason },
            Self::StartEnded { end } => Problem::ServerEndedAtStart { why: Box::new(of_end(end)) },
            Self::StartTimeout { seconds } => Problem::ServerSilentAtStart { seconds: seconds.to_string() },
            Self::Gone { end } => of_end(end),
            Self::CallTimeout { seconds } => Problem::ServerSilent { seconds: seconds.to_string() },
            Self::Refused { reason } => Problem::ServerRefused { detail: reason },
            Self::HeaderMissing { header } => Problem::ServerHeaderMissing { header },
            Self::VariableMissing { variable } => Problem::VariableMissing { variable },
            Self::Withdrawn => Problem::ServerWithdrawn,
            Self::Untrusted => Problem::ServerUntrusted,
            Self::SignIn => Problem::ServerWantsSignIn,
            Self::Cancelled => Problem::Stopped,
        }
    }
}

fn of_end(end: Ending) -> Problem {
    match end {
        Ending::Session => Problem::ServerSessionEnded,
        Ending::Untrusted => Problem::ServerUntrusted,
        Ending::Program { code, signal, words } => {
            let ended = match (code, signal) {
                (Some(code), _) => Problem::ServerEndedWith { code },
                (None, Some(signal)) => Problem::ServerEndedBy { signal },
                (None, None) => Problem::ServerEnded,
            };
            match words {
                Some(detail) => Problem::ServerLastSaid { why: Box::new(ended), detail },
                None => ended,
            }
        }
        Ending::Pipes => Problem::ServerPipes,
        Ending::MessageTooLarge { megabytes } => Problem::ServerMessageTooLarge { megabytes: number(megabytes) },
        Ending::TooMuch { megabytes } => Problem::ServerTooMuch { megabytes: number(megabytes) },
        Ending::Unreachable { reason } => Problem::ServerUnreachable { detail: reason },
    }
}

impl Explain for LeftOut {
    fn problem(&self) -> Problem {
        match self.clone() {
            Self::Twice { tool } => Problem::ServerToolTwice { tool },
            Self::Unusable { tool, fault } => Problem::ServerToolUnusable { tool, why: Box::new(of_fault(fault)) },
            Self::TooMany { more, most } => Problem::ServerTools { more: number(more), most: number(most) },
        }
    }
}

fn of_fault(fault: ToolFault) -> Problem {
    match fault {
        ToolFault::Name { bytes } => Problem::ServerToolName { bytes: number(bytes) },
        ToolFault::TooLarge { bytes, most } => Problem::ServerToolLong { bytes: number(bytes), most: number(most) },
        ToolFault::Argument { name } => Problem::ServerToolArgument { name },
        ToolFault::TooDeep { most } => Problem::ServerToolDeep { most: number(most) },
        ToolFault::NoObject { found } => Problem::ServerToolNoObject { detail: found },
    }
}

impl Explain for SignInError {
    fn problem(&self) -> Problem {
        match self.clone() {
            Self::Unknown { name } => Problem::SignInUnknown { server: name },
            Self::NoAddress { name } => Problem::SignInNoAddress { server: name },
            Self::Unsupported { reason } => Problem::SignInUnsupported { detail: reason },
            Self::Unsafe { url } => Problem::SignInUnsafe { url },
            Self::Port { reason } => Problem::SignInNoPort { detail: reason },
            Self::Refused { reason } => Problem::SignInRefused { detail: reason },
            Self::TooLate { minutes } => Problem::SignInTooLate { minutes: number(minutes) },
            Self::NotKept { reason } => Problem::SignInNotKept { detail: reason },
            Self::NotForgotten { reason } => Problem::SignInNotForgotten { detail: reason },
        }
    }
}

pub(super) fn of_server(error: ConfigError) -> Problem {
    match error {
        ConfigError::Name { name, reason } => Problem::ServerName { name, why: of_value(reason) },
        ConfigError::Twice { name } => Problem::ServerTwice { name },
        ConfigError::NoReach { server } => Problem::ServerNoReach { server },
        ConfigError::TwoReaches { server } => Problem::ServerTwoReaches { server },
        ConfigError::Misplaced { server, field, with } => {
            Problem::ServerMisplaced { server, field: field.to_owned(), with: with.to_owned() }
        }
        ConfigError::Url { server, reason } => Problem::ServerUrl { server, why: of_value(reason) },
        ConfigError::Value { server, field, given, reason } => {
            Problem::ServerValue { server, field: field.to_owned(), given, why: of_value(reason) }
        }
        ConfigError::Seconds { server, field, given, most } => {
            Problem::ServerSeconds { server, field: field.to_owned(), given: given.to_string(), most: number(most) }
        }
    }
}

fn of_value(fault: ConfigFault) -> Box<Problem> {
    Box::new(match fault {
        ConfigFault::NameLetters => Problem::ServerNameLetters,
        ConfigFault::NameLong { most } => Problem::ServerNameLong { most: number(most) },
        ConfigFault::NoProgram => Problem::NoProgram,
        ConfigFault::Nul => Problem::NulInArgument,
        ConfigFault::NoVariable => Problem::NoVariable,
        ConfigFault::NoHeader => Problem::NoHeader,
        ConfigFault::NoAddress => Problem::NoAddress,
        ConfigFault::SecretInAddress => Problem::SecretInAddress,
        ConfigFault::NotSafe => Problem::AddressNotSafe,
        ConfigFault::OtherScheme => Problem::AddressScheme,
    })
}
