use bosun_protocol::StartInfo;

use super::{Answer, Managed};

/// What the page needs before its first frame.
#[tauri::command]
#[specta::specta]
pub async fn start(shell: Managed<'_>) -> Answer<StartInfo> {
    Ok(shell.start().await)
}

/// The first frame was drawn.
#[tauri::command]
#[specta::specta]
pub fn ui_ready(shell: Managed<'_>) {
    shell.page_is_ready();
}
