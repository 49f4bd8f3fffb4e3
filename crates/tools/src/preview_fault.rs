use bosun_backend::{BackendError, PathError};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};

/// Why a call would fail, for windows that say it in a language of their own. What is not in here is said in the words
/// that the model would get.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum PreviewFault {
    PathLeaves { path: String },
    PathOfHome { path: String },
    PathOfWindows { path: String },
    NotFound { path: String },
    IsAFolder { path: String },
    NameTaken { path: String },
    NotRegular { path: String },
    OutsideRoot { path: String },
    Forbidden { path: String },
    ForbiddenByRule { path: String },
    Changed { path: String },
    NotRead { path: String },
    NotText { path: String },
    Binary { path: String },
    TooLarge { path: String, size: u64, limit: u64 },
    ReadOnly { path: String },
    CannotDelete { path: String },
    ProtectedRoot { path: String },
    TextNotFound { path: String },
    TextNotUnique { path: String, count: usize },
    TextEmpty { path: String },
    NothingToChange { path: String },
    NoShell,
    CommandEmpty,
    CommandNul,
    CommandTooLong { bytes: usize, most: usize },
    BadTimeout { given: i64, most: u64 },
}

impl PreviewFault {
    pub(crate) fn of(error: &BackendError) -> Option<Self> {
        if let BackendError::Path(error) = error {
            return Self::of_path(error);
        }
        if let BackendError::ChangedBelow { files, .. } = error {
            return files.first().map(|path| Self::Changed { path: path.to_string() });
        }
        let path = error.clone().path_mut().map(|path| path.to_string()).unwrap_or_default();
        Some(match error {
            BackendError::NotFound { .. } | BackendError::DirectoryNotFound { .. } => Self::NotFound { path },
            BackendError::IsADirectory { .. } | BackendError::DirectoryInTheWay { .. } => Self::IsAFolder { path },
            BackendError::AlreadyExists { .. } => Self::NameTaken { path },
            BackendError::NotRegular { .. } => Self::NotRegular { path },
            BackendError::OutsideRoot { .. } => Self::OutsideRoot { path },
            BackendError::PermissionDenied { .. } => Self::Forbidden { path },
            BackendError::Forbidden { .. } => Self::ForbiddenByRule { path },
            BackendError::Changed { .. } => Self::Changed { path },
            BackendError::NotRead { .. } => Self::NotRead { path },
            BackendError::NotText { .. } => Self::NotText { path },
            BackendError::Binary { .. } => Self::Binary { path },
            BackendError::TooLarge { size, limit, .. } => Self::TooLarge { path, size: *size, limit: *limit },
            BackendError::ReadOnly { .. } => Self::ReadOnly { path },
            BackendError::CannotDelete { .. } => Self::CannotDelete { path },
            BackendError::ProtectedRoot { .. } => Self::ProtectedRoot { path },
            BackendError::StringNotFound { .. } => Self::TextNotFound { path },
            BackendError::StringNotUnique { count, .. } => Self::TextNotUnique { path, count: *count },
            BackendError::EmptyOldString { .. } => Self::TextEmpty { path },
            BackendError::NothingToChange { .. } => Self::NothingToChange { path },
            _ => return None,
        })
    }

    fn of_path(error: &PathError) -> Option<Self> {
        match error.clone() {
            PathError::Traversal { given } => Some(Self::PathLeaves { path: given }),
            PathError::Home { given } => Some(Self::PathOfHome { path: given }),
            PathError::Windows { given } => Some(Self::PathOfWindows { path: given }),
            PathError::Device { .. } | PathError::Nul { .. } | PathError::TooLong { .. } => None,
        }
    }
}

/// As it was stored; what a newer Bosun had to say is left to the words beside it.
pub(crate) fn known<'de, D: Deserializer<'de>>(stored: D) -> Result<Option<PreviewFault>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Stored {
        Known(PreviewFault),
        Unknown(IgnoredAny),
    }
    Ok(match Option::<Stored>::deserialize(stored)? {
        Some(Stored::Known(fault)) => Some(fault),
        Some(Stored::Unknown(_)) | None => None,
    })
}
