use bosun_protocol::{ExportFormat, ExportPreview, SearchHit, SearchSessions, SessionId, SessionSummary};
use bosun_session::export::{CHINESE, ENGLISH, Words};

use super::{Answer, Managed};
use crate::argument::Arg;
use crate::check;
use crate::language::Spoken;

/// Gives a session a title of the person's own.
#[tauri::command]
#[specta::specta]
pub async fn rename_session(shell: Managed<'_>, session: Arg<SessionId>, title: Arg<String>) -> Answer<()> {
    check::id(session.as_str())?;
    check::text(&title)?;
    Ok(shell.core().await?.sessions.rename(&session, &title).await?)
}

/// Puts a session at the top of lists, or back into its place.
#[tauri::command]
#[specta::specta]
pub async fn pin_session(shell: Managed<'_>, session: Arg<SessionId>, pinned: Arg<bool>) -> Answer<()> {
    check::id(session.as_str())?;
    Ok(shell.core().await?.sessions.pin(&session, pinned.0).await?)
}

/// Takes a session out of sight, or brings it back.
#[tauri::command]
#[specta::specta]
pub async fn archive_session(shell: Managed<'_>, session: Arg<SessionId>, archived: Arg<bool>) -> Answer<()> {
    check::id(session.as_str())?;
    Ok(shell.core().await?.sessions.archive(&session, archived.0).await?)
}

/// Deletes a session; a turn that runs in it is stopped. For 30 days `restore_session` brings it back.
#[tauri::command]
#[specta::specta]
pub async fn delete_session(shell: Managed<'_>, session: Arg<SessionId>) -> Answer<()> {
    check::id(session.as_str())?;
    Ok(shell.core().await?.sessions.delete(&session).await?)
}

/// Brings a deleted session back as it was.
#[tauri::command]
#[specta::specta]
pub async fn restore_session(shell: Managed<'_>, session: Arg<SessionId>) -> Answer<()> {
    check::id(session.as_str())?;
    Ok(shell.core().await?.sessions.restore(&session).await?)
}

/// The sessions of every project that were deleted and can still be brought back, the last deleted first.
#[tauri::command]
#[specta::specta]
pub async fn list_deleted(shell: Managed<'_>) -> Answer<Vec<SessionSummary>> {
    Ok(shell.core().await?.sessions.deleted().await?)
}

/// Where words were said in the sessions, best first.
#[tauri::command]
#[specta::specta]
pub async fn search_sessions(shell: Managed<'_>, query: Arg<SearchSessions>) -> Answer<Vec<SearchHit>> {
    check::text(&query.text)?;
    if let Some(project) = &query.project {
        check::id(project.as_str())?;
    }
    Ok(shell.core().await?.sessions.search(&query).await?)
}

/// What `export_session` would write, without keys, for the person to read first.
#[tauri::command]
#[specta::specta]
pub async fn preview_export(
    shell: Managed<'_>,
    session: Arg<SessionId>,
    format: Arg<ExportFormat>,
) -> Answer<ExportPreview> {
    check::id(session.as_str())?;
    let words = export_words(shell.spoken().await);
    Ok(shell.core().await?.sessions.preview_export(&session, format.0, words).await?)
}

/// Writes a session, without keys, into a file in a folder that the system's own dialog asks for. Gives the file's path; `null` when
/// the dialog was cancelled.
#[tauri::command]
#[specta::specta]
pub async fn export_session(
    shell: Managed<'_>,
    session: Arg<SessionId>,
    format: Arg<ExportFormat>,
) -> Answer<Option<String>> {
    check::id(session.as_str())?;
    let core = shell.core().await?;
    // Before anyone is asked for a folder in vain.
    core.sessions.subscribe(&session).await?;
    let Some(folder) = shell.pick(|words| words.pick_export).await? else { return Ok(None) };
    let words = export_words(shell.spoken().await);
    let path = core.sessions.export_into(&session, format.0, words, &folder).await?;
    Ok(Some(path.to_string_lossy().into_owned()))
}

/// What is written for people speaks as the window does.
fn export_words(spoken: Spoken) -> &'static Words {
    match spoken {
        Spoken::English => &ENGLISH,
        Spoken::Chinese => &CHINESE,
    }
}
