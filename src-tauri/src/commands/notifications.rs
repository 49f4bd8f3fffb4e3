use bosun_protocol::Goal;

use super::{Answer, Managed};
use crate::argument::Line;

/// Over the channel what comes from beside the window. Gives what came before the page was there.
#[tauri::command]
#[specta::specta]
pub async fn subscribe_goals(shell: Managed<'_>, channel: Line<Goal>) -> Answer<Option<Goal>> {
    Ok(shell.watch_goals(channel.0))
}
