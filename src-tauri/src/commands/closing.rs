use bosun_protocol::CloseChoice;

use super::Managed;
use crate::argument::Arg;

/// The person sees the question whether to close while sessions are at work.
#[tauri::command]
#[specta::specta]
pub fn close_question_shown(shell: Managed<'_>) {
    shell.closing.shown();
}

/// Their answer. Where nothing was asked it means nothing.
#[tauri::command]
#[specta::specta]
pub fn answer_close_question(shell: Managed<'_>, choice: Arg<CloseChoice>) {
    shell.closing.answered(choice.0);
}
