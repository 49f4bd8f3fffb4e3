use bosun_protocol::Settings;

use super::{Answer, Managed};
use crate::argument::Arg;

/// Keeps the settings and gives them back as they are kept.
#[tauri::command]
#[specta::specta]
pub async fn save_settings(shell: Managed<'_>, settings: Arg<Settings>) -> Answer<Settings> {
    shell.core().await?.save_settings(settings.0).await
}
