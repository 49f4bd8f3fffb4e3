use bosun_protocol::{FilePreview, FolderView, FoundFiles, SessionId, TextPlace};

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

/// A look at a file; of a text the rows from `from` on.
#[tauri::command]
#[specta::specta]
pub async fn preview_file(
    shell: Managed<'_>,
    session: Arg<SessionId>,
    path: Arg<String>,
    from: Arg<TextPlace>,
) -> Answer<FilePreview> {
    check::id(session.as_str())?;
    check::path(&path)?;
    Ok(shell.core().await?.sessions.file_preview(&session, &path, from.0).await?)
}

/// Files and folders of the session's path space whose names fit what was typed.
#[tauri::command]
#[specta::specta]
pub async fn find_files(shell: Managed<'_>, session: Arg<SessionId>, text: Arg<String>) -> Answer<FoundFiles> {
    check::id(session.as_str())?;
    check::text(&text)?;
    Ok(shell.core().await?.sessions.find_files(&session, &text).await?)
}

/// The next search for a file, or for what a message names, looks through all of it anew.
#[tauri::command]
#[specta::specta]
pub async fn look_anew(shell: Managed<'_>) -> Answer<()> {
    shell.core().await?.sessions.look_anew();
    Ok(())
}

/// A whole text, to be copied; refused where it is too large for that.
#[tauri::command]
#[specta::specta]
pub async fn file_text(shell: Managed<'_>, session: Arg<SessionId>, path: Arg<String>) -> Answer<String> {
    check::id(session.as_str())?;
    check::path(&path)?;
    Ok(shell.core().await?.sessions.file_text(&session, &path).await?)
}

/// Writes a whole file, wherever it is kept, into a folder that the system's own dialog asks for. Gives its path there;
/// `null` when the dialog was cancelled.
#[tauri::command]
#[specta::specta]
pub async fn save_file(shell: Managed<'_>, session: Arg<SessionId>, path: Arg<String>) -> Answer<Option<String>> {
    check::id(session.as_str())?;
    check::path(&path)?;
    let core = shell.core().await?;
    // Before anyone is asked for a folder in vain.
    let (name, bytes) = core.sessions.file_bytes(&session, &path).await?;
    let Some(folder) = shell.pick(|words| words.pick_save).await? else { return Ok(None) };
    let path = core.sessions.write_file(&folder, &name, bytes).await?;
    Ok(Some(path.to_string_lossy().into_owned()))
}

/// Opens a text in the person's editor, at a line where one is given, and any other file or folder in the system's own
/// program for it; never there one that may itself be a program.
#[tauri::command]
#[specta::specta]
pub async fn open_file(
    shell: Managed<'_>,
    session: Arg<SessionId>,
    path: Arg<String>,
    line: Arg<Option<u32>>,
) -> Answer<()> {
    check::id(session.as_str())?;
    check::path(&path)?;
    let core = shell.core().await?;
    let file = core.sessions.host_file(&session, &path).await?;
    opening::open(&shell, &file, line.0, &core.settings().await?.editor)
}

/// Shows a file or folder in the system's file manager.
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
