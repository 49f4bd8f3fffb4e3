use bosun_protocol::{
    Decide, Envelope, Item, ItemId, ModelRef, Opening, ProjectId, Reach, SendMessage, SessionId, SessionSummary,
};
use bosun_session::Subscription;

use super::{Answer, Managed};
use crate::argument::{Arg, Line};
use crate::check;

/// The sessions of every project; over the channel those that changed since, each as it is then.
#[tauri::command]
#[specta::specta]
pub async fn subscribe_sessions(shell: Managed<'_>, channel: Line<Vec<SessionSummary>>) -> Answer<Vec<SessionSummary>> {
    let (sessions, changed) = shell.core().await?.sessions.watch_summaries().await?;
    shell.forwarders.start(changed, channel.0, None)?;
    Ok(sessions)
}

/// A new session; without a model it takes the one of the settings.
#[tauri::command]
#[specta::specta]
pub async fn create_session(
    shell: Managed<'_>,
    project: Arg<ProjectId>,
    model: Arg<Option<ModelRef>>,
) -> Answer<SessionSummary> {
    check::id(project.as_str())?;
    shell.core().await?.create_session(&project, model.0).await
}

/// A session as it is or, for a page that knows it up to the event `known`, what is new in it; over the channel what
/// happens to it from now on, in arrays.
#[tauri::command]
#[specta::specta]
pub async fn subscribe_session(
    shell: Managed<'_>,
    session: Arg<SessionId>,
    known: Arg<Option<u32>>,
    channel: Line<Vec<Envelope>>,
) -> Answer<Opening> {
    check::id(session.as_str())?;
    let Subscription { snapshot, since, events } = shell.core().await?.sessions.look(&session, known.0).await?;
    shell.forwarders.start(events, channel.0, Some(session.0))?;
    Ok(Opening { snapshot, since })
}

/// Ends the subscription over the channel with this number.
#[tauri::command]
#[specta::specta]
pub fn unsubscribe_session(shell: Managed<'_>, channel: Arg<u32>) {
    shell.forwarders.stop(channel.0);
}

/// At most `limit` rows before the row `before`, oldest first.
#[tauri::command]
#[specta::specta]
pub async fn load_items(
    shell: Managed<'_>,
    session: Arg<SessionId>,
    before: Arg<ItemId>,
    limit: Arg<u32>,
) -> Answer<Vec<Item>> {
    check::id(session.as_str())?;
    check::item(&before)?;
    Ok(shell.core().await?.sessions.items_before(&session, &before, check::page(limit.0)).await?)
}

/// Says something. It is on the disk when this returns; while a turn runs it waits in the queue.
#[tauri::command]
#[specta::specta]
pub async fn send_message(shell: Managed<'_>, message: Arg<SendMessage>) -> Answer<()> {
    check::said(&message)?;
    Ok(shell.core().await?.sessions.send_message(&message).await?)
}

#[tauri::command]
#[specta::specta]
pub async fn stop_turn(shell: Managed<'_>, session: Arg<SessionId>) -> Answer<()> {
    check::id(session.as_str())?;
    Ok(shell.core().await?.sessions.stop(&session).await?)
}

/// Goes on after a failure, the step limit or an end of the app in the middle of a turn.
#[tauri::command]
#[specta::specta]
pub async fn continue_turn(shell: Managed<'_>, session: Arg<SessionId>) -> Answer<()> {
    check::id(session.as_str())?;
    Ok(shell.core().await?.sessions.continue_turn(&session).await?)
}

/// Answers requests. All are checked before any is stored.
#[tauri::command]
#[specta::specta]
pub async fn decide(shell: Managed<'_>, decisions: Arg<Vec<Decide>>) -> Answer<()> {
    check::decisions(&decisions)?;
    let core = shell.core().await?;
    shell.confirm_grave(&core, &decisions, &[]).await?;
    Ok(core.sessions.decide(decisions.0).await?)
}

/// How far a call that waits would reach as the decision lets it run. Nothing is decided.
#[tauri::command]
#[specta::specta]
pub async fn decided_reach(shell: Managed<'_>, decide: Arg<Decide>) -> Answer<Reach> {
    check::decisions(std::slice::from_ref(&decide.0))?;
    Ok(shell.core().await?.sessions.decided_reach(&decide).await?)
}

#[tauri::command]
#[specta::specta]
pub async fn set_session_model(shell: Managed<'_>, session: Arg<SessionId>, model: Arg<ModelRef>) -> Answer<()> {
    check::id(session.as_str())?;
    check::model(&model)?;
    Ok(shell.core().await?.sessions.set_model(&session, model.0).await?)
}
