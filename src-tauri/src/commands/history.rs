use bosun_protocol::{
    ChangeScope, FileAt, FileDiff, ForkedBefore, ItemId, RestoredFile, RewindPreview, RewindWhat, SessionId,
    SessionSummary, Snapshot, TimelinePage, TimelineQuery,
};

use super::{Answer, Managed};
use crate::argument::Arg;
use crate::check;

/// Undoes what the scope shows of a file; refused where it was changed since.
#[tauri::command]
#[specta::specta]
pub async fn undo_file(
    shell: Managed<'_>,
    session: Arg<SessionId>,
    path: Arg<String>,
    scope: Arg<ChangeScope>,
) -> Answer<RestoredFile> {
    check::id(session.as_str())?;
    check::path(&path)?;
    Ok(shell.core().await?.sessions.undo_file(&session, &path, scope.0).await?)
}

/// Undoes what the scope shows of every file; what was changed since is left, with the reason.
#[tauri::command]
#[specta::specta]
pub async fn undo_changes(
    shell: Managed<'_>,
    session: Arg<SessionId>,
    scope: Arg<ChangeScope>,
) -> Answer<Vec<RestoredFile>> {
    check::id(session.as_str())?;
    Ok(shell.core().await?.sessions.undo_changes(&session, scope.0).await?)
}

/// A part of the session's checkpoints, or of the ledger of its calls.
#[tauri::command]
#[specta::specta]
pub async fn timeline(shell: Managed<'_>, query: Arg<TimelineQuery>) -> Answer<TimelinePage> {
    check::id(query.session.as_str())?;
    let query = TimelineQuery { limit: check::page(query.limit), ..query.0 };
    Ok(shell.core().await?.sessions.timeline(&query).await?)
}

/// A session as it was at a checkpoint, with the last rows of then or those right before the row `before`; nothing in it
/// goes on.
#[tauri::command]
#[specta::specta]
pub async fn snapshot_at(
    shell: Managed<'_>,
    session: Arg<SessionId>,
    seq: Arg<u32>,
    before: Arg<Option<ItemId>>,
) -> Answer<Snapshot> {
    check::id(session.as_str())?;
    before.as_ref().map_or(Ok(()), check::item)?;
    Ok(shell.core().await?.sessions.snapshot_at(&session, seq.0, before.0.as_ref()).await?)
}

/// A file as it was at a checkpoint.
#[tauri::command]
#[specta::specta]
pub async fn file_at(shell: Managed<'_>, session: Arg<SessionId>, seq: Arg<u32>, path: Arg<String>) -> Answer<FileAt> {
    check::id(session.as_str())?;
    check::path(&path)?;
    Ok(shell.core().await?.sessions.file_at(&session, seq.0, &path).await?)
}

/// A new session that has everything up to a checkpoint.
#[tauri::command]
#[specta::specta]
pub async fn fork_session(shell: Managed<'_>, session: Arg<SessionId>, seq: Arg<u32>) -> Answer<SessionSummary> {
    check::id(session.as_str())?;
    Ok(shell.core().await?.sessions.fork(&session, seq.0).await?)
}

/// A new session that has everything before a message of the person's, or before the turn of a reply, and what was said
/// there.
#[tauri::command]
#[specta::specta]
pub async fn fork_before(shell: Managed<'_>, session: Arg<SessionId>, item: Arg<ItemId>) -> Answer<ForkedBefore> {
    check::id(session.as_str())?;
    check::item(&item)?;
    Ok(shell.core().await?.sessions.fork_before(&session, &item).await?)
}

/// The place to go back to before a message of the person's; before the last turn without one.
#[tauri::command]
#[specta::specta]
pub async fn place_before(shell: Managed<'_>, session: Arg<SessionId>, item: Arg<Option<ItemId>>) -> Answer<u32> {
    check::id(session.as_str())?;
    item.as_ref().map_or(Ok(()), check::item)?;
    Ok(shell.core().await?.sessions.place_before(&session, item.0.as_ref()).await?)
}

/// What going back to a checkpoint would do.
#[tauri::command]
#[specta::specta]
pub async fn preview_rewind(shell: Managed<'_>, session: Arg<SessionId>, seq: Arg<u32>) -> Answer<RewindPreview> {
    check::id(session.as_str())?;
    Ok(shell.core().await?.sessions.preview_rewind(&session, seq.0).await?)
}

/// What going back to a checkpoint would make of a file, or would if the file did not stand in the way.
#[tauri::command]
#[specta::specta]
pub async fn preview_rewind_file(
    shell: Managed<'_>,
    session: Arg<SessionId>,
    seq: Arg<u32>,
    path: Arg<String>,
) -> Answer<FileDiff> {
    check::id(session.as_str())?;
    check::path(&path)?;
    Ok(shell.core().await?.sessions.preview_rewind_file(&session, seq.0, &path).await?)
}

/// Goes back to a checkpoint: the conversation, the files without those of `leave`, or both.
#[tauri::command]
#[specta::specta]
pub async fn rewind(
    shell: Managed<'_>,
    session: Arg<SessionId>,
    seq: Arg<u32>,
    what: Arg<RewindWhat>,
    leave: Arg<Vec<String>>,
) -> Answer<()> {
    check::id(session.as_str())?;
    leave.iter().try_for_each(|path| check::path(path))?;
    Ok(shell.core().await?.sessions.rewind(&session, seq.0, what.0, &leave).await?)
}

/// Takes the last rewind back, as long as nothing has happened since.
#[tauri::command]
#[specta::specta]
pub async fn undo_rewind(shell: Managed<'_>, session: Arg<SessionId>) -> Answer<()> {
    check::id(session.as_str())?;
    Ok(shell.core().await?.sessions.undo_rewind(&session).await?)
}
