use bosun_protocol::{SendMessage, SessionId};

use super::{Answer, Managed};
use crate::argument::Arg;
use crate::check;

/// Takes a message out of the queue.
#[tauri::command]
#[specta::specta]
pub async fn unqueue_message(shell: Managed<'_>, session: Arg<SessionId>, id: Arg<String>) -> Answer<()> {
    check::id(session.as_str())?;
    check::id(&id)?;
    Ok(shell.core().await?.sessions.unqueue(&session, &id).await?)
}

/// Gives a message that waits other words.
#[tauri::command]
#[specta::specta]
pub async fn edit_queued(
    shell: Managed<'_>,
    session: Arg<SessionId>,
    id: Arg<String>,
    text: Arg<String>,
) -> Answer<()> {
    check::id(session.as_str())?;
    check::id(&id)?;
    check::message(&text)?;
    Ok(shell.core().await?.sessions.edit_queued(&session, &id, text.0).await?)
}

/// Puts a message that waits at the place `to` of the queue, from 0; beyond the end is the end.
#[tauri::command]
#[specta::specta]
pub async fn move_queued(shell: Managed<'_>, session: Arg<SessionId>, id: Arg<String>, to: Arg<u32>) -> Answer<()> {
    check::id(session.as_str())?;
    check::id(&id)?;
    Ok(shell.core().await?.sessions.move_queued(&session, &id, to.0).await?)
}

/// Stops the running turn and begins the next with a message out of the queue.
#[tauri::command]
#[specta::specta]
pub async fn send_queued_now(shell: Managed<'_>, session: Arg<SessionId>, id: Arg<String>) -> Answer<()> {
    check::id(session.as_str())?;
    check::id(&id)?;
    Ok(shell.core().await?.sessions.send_queued_now(&session, &id).await?)
}

/// Says something to the running turn, which the model reads at its next step. Without a running turn it is sent.
#[tauri::command]
#[specta::specta]
pub async fn steer_turn(shell: Managed<'_>, message: Arg<SendMessage>) -> Answer<()> {
    check::said(&message)?;
    Ok(shell.core().await?.sessions.steer_message(&message).await?)
}

/// As `steer_turn`, with a message out of the queue.
#[tauri::command]
#[specta::specta]
pub async fn steer_queued(shell: Managed<'_>, session: Arg<SessionId>, id: Arg<String>) -> Answer<()> {
    check::id(session.as_str())?;
    check::id(&id)?;
    Ok(shell.core().await?.sessions.steer_queued(&session, &id).await?)
}
