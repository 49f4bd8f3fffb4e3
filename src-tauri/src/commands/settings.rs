use bosun_protocol::Settings;

use super::{Answer, Managed};
use crate::argument::Arg;
use crate::opening;

/// Keeps the settings and gives them back as they are kept. Another editor is confirmed in the system's own dialog.
#[tauri::command]
#[specta::specta]
pub async fn save_settings(shell: Managed<'_>, settings: Arg<Settings>) -> Answer<Settings> {
    let core = shell.core().await?;
    let wanted = opening::editor(&settings.editor)?;
    if wanted.is_some() && settings.editor != core.settings().await?.editor {
        shell.confirm_editor(&settings.editor).await?;
    }
    core.save_settings(settings.0).await
}
