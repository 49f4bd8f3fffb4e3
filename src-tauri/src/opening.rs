//! Files of a project in other programs of this system, when a person asks for it.

use std::path::Path;

use bosun_backend::{EditorCommand, FolderWatch, is_text, may_start};
use bosun_protocol::{ErrorCode, Problem};

use crate::Shell;
use crate::error::Failure;
use crate::events::Feed;

/// Opens a text in the person's `editor`, at a line where one is known, and all else in the system's own program for it.
/// Without an editor that has the texts, too.
///
/// # Errors
/// For what may itself be a program and no editor is there for: a project's author must not get to run something by a
/// click of another person.
pub(crate) fn open(shell: &Shell, file: &Path, line: Option<u32>, editor: &str) -> Result<(), Failure> {
    let may_start = may_start(file);
    if let Some(editor) = self::editor(editor)?.filter(|_| is_text(file)) {
        let told = |reason: String| Problem::EditorFailed { name: name(file), detail: reason };
        return shell
            .desk()
            .open_in_editor(&editor, file, line.unwrap_or(1))
            .map_err(|reason| Failure::new(ErrorCode::Internal, told(reason)));
    }
    if may_start {
        return Err(Failure::new(ErrorCode::Invalid, Problem::MayBeProgram { name: name(file) }));
    }
    shell.desk().open_file(file).map_err(|reason| failed(file, &reason))
}

/// The editor that a person set, where they did.
///
/// # Errors
/// Where it cannot be started as it is written.
pub(crate) fn editor(text: &str) -> Result<Option<EditorCommand>, Failure> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let unusable = |_| Failure::new(ErrorCode::Invalid, Problem::EditorUnusable);
    EditorCommand::parse(text).map(Some).map_err(unusable)
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
