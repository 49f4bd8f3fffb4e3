use bosun_protocol::Storage;

use super::{Answer, Managed};
use crate::diagnostics;

/// What is kept on this machine.
#[tauri::command]
#[specta::specta]
pub async fn storage(shell: Managed<'_>) -> Answer<Storage> {
    Ok(shell.core().await?.sessions.storage().await?)
}

/// Shows the data folder in the system's file manager.
#[tauri::command]
#[specta::specta]
pub async fn open_data_folder(shell: Managed<'_>) -> Answer<()> {
    shell.show_data_folder()
}

/// What `save_diagnostics` will write: redacted, for the person to read first.
#[tauri::command]
#[specta::specta]
pub async fn diagnostics(shell: Managed<'_>) -> Answer<String> {
    diagnostics::preview(&shell).await
}

/// Asks for a folder and writes there what `diagnostics` gave last; its path, `null` when the dialog was cancelled.
#[tauri::command]
#[specta::specta]
pub async fn save_diagnostics(shell: Managed<'_>) -> Answer<Option<String>> {
    diagnostics::save(&shell).await
}
