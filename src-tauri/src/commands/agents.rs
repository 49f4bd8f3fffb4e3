use bosun_protocol::SessionId;

use super::{Answer, Managed};
use crate::argument::Arg;
use crate::check;

/// Stops one subagent of a session with everything below it; its parent and the others go on.
#[tauri::command]
#[specta::specta]
pub async fn stop_subagent(shell: Managed<'_>, session: Arg<SessionId>, child: Arg<SessionId>) -> Answer<()> {
    check::id(session.as_str())?;
    check::id(child.as_str())?;
    Ok(shell.core().await?.sessions.stop_subagent(&session, &child).await?)
}
