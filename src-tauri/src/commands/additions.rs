use bosun_protocol::{Additions, Problem, ServerView, SessionId};

use super::{Answer, Managed};
use crate::argument::Arg;
use crate::check;

/// The person's own servers of tools and hooks, as text.
#[tauri::command]
#[specta::specta]
pub async fn additions(shell: Managed<'_>) -> Answer<Additions> {
    Ok(shell.core().await?.sessions.additions().await?)
}

/// What is wrong with a text of servers and hooks; nothing is kept or started.
#[tauri::command]
#[specta::specta]
pub async fn check_additions(shell: Managed<'_>, text: Arg<String>) -> Answer<Option<Problem>> {
    check::text(&text)?;
    Ok(shell.core().await?.sessions.check_additions(&text))
}

/// Keeps them; they hold for sessions that are opened from now on.
#[tauri::command]
#[specta::specta]
pub async fn save_additions(shell: Managed<'_>, text: Arg<String>) -> Answer<()> {
    check::text(&text)?;
    let core = shell.core().await?;
    if core.sessions.check_additions(&text).is_none() && !text.trim().is_empty() {
        shell.confirm_programs(&text).await?;
    }
    Ok(core.sessions.save_additions(&text).await?)
}

/// How the servers of a session are.
#[tauri::command]
#[specta::specta]
pub async fn session_servers(shell: Managed<'_>, session: Arg<SessionId>) -> Answer<Vec<ServerView>> {
    check::id(session.as_str())?;
    Ok(shell.core().await?.sessions.server_views(&session).await?)
}

/// The person has looked at a tool that changed.
#[tauri::command]
#[specta::specta]
pub async fn accept_changed_tool(shell: Managed<'_>, session: Arg<SessionId>, hash: Arg<String>) -> Answer<()> {
    check::id(session.as_str())?;
    check::id(&hash)?;
    Ok(shell.core().await?.sessions.accept_changed(&session, &hash).await?)
}
