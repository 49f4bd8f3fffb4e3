//! Files of a project in other programs of this system, when a person asks for it.

use std::path::Path;

use bosun_backend::{FolderWatch, may_start};
use bosun_protocol::{ErrorCode, Problem};

use crate::Shell;
use crate::error::Failure;
use crate::events::Feed;

/// Opens a file in the system's own program for it.
///
/// # Errors
/// For what may itself be a program: a project's author must not get to run something by a click of another person.
pub(crate) fn open(shell: &Shell, file: &Path) -> Result<(), Failure> {
    if may_start(file) {
        return Err(Failure::new(ErrorCode::Invalid, Problem::MayBeProgram { name: name(file) }));
    }
    shell.desk().open_file(file).map_err(|reason| failed(file, &reason))
}

/// Shows a file in the system's file manager.
pub(crate) fn reveal(shell: &Shell, file: &Path) -> Result<(), Failure> {
    shell.desk().reveal(file).map_err(|reason| failed(file, &reason))
}

fn failed(file: &Path, reason: &str) -> Failure {
    Failure::new(ErrorCode::Internal, Problem::NoProgramFor { name: name(file), detail: reason.to_owned() })
}

fn name(file: &Path) -> String {
    file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

impl Feed for FolderWatch {
    type Message = Vec<String>;

    async fn next(&mut self) -> Option<Self::Message> {
        Some(self.changed().await.into_iter().map(|path| path.to_string()).collect())
    }
}
