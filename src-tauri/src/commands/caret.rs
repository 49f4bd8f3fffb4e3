use super::Managed;

/// Lets the caret stand still that the page has begin anew within a moment.
#[tauri::command]
#[specta::specta]
pub fn rest_caret(shell: Managed<'_>) {
    shell.rest_caret();
}
