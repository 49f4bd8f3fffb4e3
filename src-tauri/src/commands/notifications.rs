use bosun_protocol::SessionId;

use super::{Answer, Managed};
use crate::argument::Line;

/// Over the channel the session that the person wants to see: they pressed a notification, or followed a link. Gives the
/// one that they wanted before the page was there.
#[tauri::command]
#[specta::specta]
pub async fn subscribe_goals(shell: Managed<'_>, channel: Line<SessionId>) -> Answer<Option<SessionId>> {
    Ok(shell.watch_goals(channel.0))
}
