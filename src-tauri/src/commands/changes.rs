use bosun_protocol::{ChangeScope, ChangedFiles, FileReview, Problem, RestoredFile, SessionId};

use super::{Answer, Managed};
use crate::argument::Arg;
use crate::check;

/// The files that the session changed, with what the person made of them.
#[tauri::command]
#[specta::specta]
pub async fn changed_files(
    shell: Managed<'_>,
    session: Arg<SessionId>,
    scope: Arg<ChangeScope>,
) -> Answer<ChangedFiles> {
    check::id(session.as_str())?;
    Ok(shell.core().await?.sessions.changed_files(&session, scope.0).await?)
}

/// What happened to one file: by the session, and since.
#[tauri::command]
#[specta::specta]
pub async fn file_review(
    shell: Managed<'_>,
    session: Arg<SessionId>,
    path: Arg<String>,
    scope: Arg<ChangeScope>,
) -> Answer<FileReview> {
    check::id(session.as_str())?;
    check::path(&path)?;
    Ok(shell.core().await?.sessions.file_review(&session, &path, scope.0).await?)
}

/// Undoes one hunk of a review; the person's own edits stay.
#[tauri::command]
#[specta::specta]
pub async fn undo_hunk(
    shell: Managed<'_>,
    session: Arg<SessionId>,
    path: Arg<String>,
    scope: Arg<ChangeScope>,
    version: Arg<String>,
    hunk: Arg<u32>,
) -> Answer<RestoredFile> {
    check::id(session.as_str())?;
    check::path(&path)?;
    Ok(shell.core().await?.sessions.undo_hunk(&session, &path, scope.0, &version, hunk.0).await?)
}

/// Keeps one hunk of a whole session's review: it is no longer open.
#[tauri::command]
#[specta::specta]
pub async fn keep_hunk(
    shell: Managed<'_>,
    session: Arg<SessionId>,
    path: Arg<String>,
    version: Arg<String>,
    hunk: Arg<u32>,
) -> Answer<()> {
    check::id(session.as_str())?;
    check::path(&path)?;
    Ok(shell.core().await?.sessions.keep_hunk(&session, &path, &version, hunk.0).await?)
}

/// Keeps what the scope shows of a file; without a path of every file. Gives why some of it cannot be kept.
#[tauri::command]
#[specta::specta]
pub async fn keep_changes(
    shell: Managed<'_>,
    session: Arg<SessionId>,
    path: Arg<Option<String>>,
    scope: Arg<ChangeScope>,
) -> Answer<Vec<Problem>> {
    check::id(session.as_str())?;
    path.0.as_deref().map_or(Ok(()), check::path)?;
    Ok(shell.core().await?.sessions.keep_changes(&session, path.0.as_deref(), scope.0).await?)
}

/// Opens what the scope shows of a kept file again.
#[tauri::command]
#[specta::specta]
pub async fn reopen_change(
    shell: Managed<'_>,
    session: Arg<SessionId>,
    path: Arg<String>,
    scope: Arg<ChangeScope>,
) -> Answer<()> {
    check::id(session.as_str())?;
    check::path(&path)?;
    Ok(shell.core().await?.sessions.reopen_change(&session, &path, scope.0).await?)
}

/// Brings back what was undone.
#[tauri::command]
#[specta::specta]
pub async fn redo_undone(shell: Managed<'_>, session: Arg<SessionId>, seq: Arg<u32>) -> Answer<Vec<RestoredFile>> {
    check::id(session.as_str())?;
    Ok(shell.core().await?.sessions.redo_undone(&session, seq.0).await?)
}

/// Makes a file again what the session left, over what was done to it since.
#[tauri::command]
#[specta::specta]
pub async fn restore_version(shell: Managed<'_>, session: Arg<SessionId>, path: Arg<String>) -> Answer<RestoredFile> {
    check::id(session.as_str())?;
    check::path(&path)?;
    Ok(shell.core().await?.sessions.restore_version(&session, &path).await?)
}

/// One side of a changed image, by its hash, as an address that an image element takes.
#[tauri::command]
#[specta::specta]
pub async fn changed_image(
    shell: Managed<'_>,
    session: Arg<SessionId>,
    path: Arg<String>,
    hash: Arg<String>,
) -> Answer<String> {
    check::id(session.as_str())?;
    check::path(&path)?;
    Ok(shell.core().await?.sessions.changed_image(&session, &path, &hash).await?)
}
