use bosun_protocol::{ConversationSummary, SessionId};

use super::{Answer, Managed};
use crate::argument::Arg;
use crate::check;

/// What stands for the beginning of a conversation when it is sent; null where everything is sent.
#[tauri::command]
#[specta::specta]
pub async fn session_summary(shell: Managed<'_>, session: Arg<SessionId>) -> Answer<Option<ConversationSummary>> {
    check::id(session.as_str())?;
    Ok(shell.core().await?.sessions.summary(&session).await?)
}

/// Sums the conversation up now; `guidance` is what the person wants to be minded in it, or empty.
#[tauri::command]
#[specta::specta]
pub async fn compact_session(
    shell: Managed<'_>,
    session: Arg<SessionId>,
    guidance: Arg<String>,
) -> Answer<ConversationSummary> {
    check::id(session.as_str())?;
    check::text(&guidance)?;
    Ok(shell.core().await?.sessions.compact(&session, Some(&guidance)).await?)
}

/// Gives the summary in force other words.
#[tauri::command]
#[specta::specta]
pub async fn edit_summary(
    shell: Managed<'_>,
    session: Arg<SessionId>,
    text: Arg<String>,
) -> Answer<ConversationSummary> {
    check::id(session.as_str())?;
    check::message(&text)?;
    Ok(shell.core().await?.sessions.edit_summary(&session, &text).await?)
}

/// Takes the summary in force back; gives the one before it, where there is one.
#[tauri::command]
#[specta::specta]
pub async fn undo_summary(shell: Managed<'_>, session: Arg<SessionId>) -> Answer<Option<ConversationSummary>> {
    check::id(session.as_str())?;
    Ok(shell.core().await?.sessions.undo_summary(&session).await?)
}
