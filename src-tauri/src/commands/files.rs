use bosun_protocol::{FilePreview, FolderView, SessionId};

use super::{Answer, Managed};
use crate::argument::{Arg, Line};
use crate::{check, opening};

/// What is in a folder of the session's path space.
#[tauri::command]
#[specta::specta]
pub async fn list_folder(shell: Managed<'_>, session: Arg<SessionId>, path: Arg<String>) -> Answer<FolderView> {
    check::id(session.as_str())?;
    check::path(&path)?;
    Ok(shell.core().await?.sessions.folder(&session, &path).await?)
}

/// A look at a file; of a text the lines from `first` on, 1-based.
#[tauri::command]
#[specta::specta]
pub async fn preview_file(
    shell: Managed<'_>,
    session: Arg<SessionId>,
    path: Arg<String>,
    first: Arg<u32>,
) -> Answer<FilePreview> {
    check::id(session.as_str())?;
    check::path(&path)?;
    Ok(shell.core().await?.sessions.file_preview(&session, &path, first.0).await?)
}

/// Opens a file in the system's own program for it; never one that may itself be a program.
#[tauri::command]
#[specta::specta]
pub async fn open_file(shell: Managed<'_>, session: Arg<SessionId>, path: Arg<String>) -> Answer<()> {
    check::id(session.as_str())?;
    check::path(&path)?;
    opening::open(&shell, &shell.core().await?.sessions.host_file(&session, &path).await?)
}

/// Shows a file in the system's file manager.
#[tauri::command]
#[specta::specta]
pub async fn reveal_file(shell: Managed<'_>, session: Arg<SessionId>, path: Arg<String>) -> Answer<()> {
    check::id(session.as_str())?;
    check::path(&path)?;
    opening::reveal(&shell, &shell.core().await?.sessions.host_file(&session, &path).await?)
}

/// Tells over the channel in which of these folders something changed on disk. Ended like a session's subscription.
#[tauri::command]
#[specta::specta]
pub async fn watch_folders(
    shell: Managed<'_>,
    session: Arg<SessionId>,
    folders: Arg<Vec<String>>,
    channel: Line<Vec<String>>,
) -> Answer<()> {
    check::id(session.as_str())?;
    for folder in &*folders {
        check::path(folder)?;
    }
    let watch = shell.core().await?.sessions.watch_folders(&session, &folders).await?;
    shell.forwarders.start(watch, channel.0, None)
}
