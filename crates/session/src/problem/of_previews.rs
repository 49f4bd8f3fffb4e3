//! Calls that would fail as things stand.

use bosun_protocol::Problem;
use bosun_tools::PreviewFault;

use super::{Explain, number};

impl Explain for PreviewFault {
    fn problem(&self) -> Problem {
        match self.clone() {
            Self::PathLeaves { path } => Problem::PathLeaves { path },
            Self::PathOfHome { path } => Problem::PathOfHome { path },
            Self::PathOfWindows { path } => Problem::PathOfWindows { path },
            Self::NotFound { path } => Problem::FileNotFound { path },
            Self::IsAFolder { path } => Problem::IsAFolder { path },
            Self::NameTaken { path } => Problem::NameTaken { path },
            Self::NotRegular { path } => Problem::NotRegular { path },
            Self::OutsideRoot { path } => Problem::OutsideRoot { path },
            Self::Forbidden { path } => Problem::Forbidden { path },
            Self::ForbiddenByRule { path } => Problem::ForbiddenByRule { path },
            Self::Changed { path } => Problem::FileChanged { path },
            Self::NotRead { path } => Problem::NotReadYet { path },
            Self::NotText { path } => Problem::NotText { path },
            Self::Binary { path } => Problem::Binary { path },
            Self::TooLarge { path, size, limit } => {
                Problem::FileOverLimit { path, size: size.to_string(), limit: limit.to_string() }
            }
            Self::ReadOnly { path } => Problem::FileReadOnly { path },
            Self::CannotDelete { path } => Problem::CannotDelete { path },
            Self::ProtectedRoot { path } => Problem::RootProtected { path },
            Self::TextNotFound { path } => Problem::TextNotFound { path },
            Self::TextNotUnique { path, count } => Problem::TextNotUnique { path, count: number(count) },
            Self::TextEmpty { path } => Problem::TextEmpty { path },
            Self::NothingToChange { path } => Problem::NothingToChange { path },
            Self::NoShell => Problem::NoShell,
            Self::CommandEmpty => Problem::CommandEmpty,
            Self::CommandNul => Problem::CommandNul,
            Self::CommandTooLong { bytes, most } => {
                Problem::CommandTooLong { bytes: number(bytes), most: number(most) }
            }
            Self::BadTimeout { given, most } => Problem::BadTimeout { given: given.to_string(), most: number(most) },
        }
    }
}
