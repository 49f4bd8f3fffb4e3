use bosun_protocol::{
    FindMemories, Imported, MemoryFile, MemoryList, MemoryRef, MemoryShelf, ProjectId, SaveMemory, WrittenBy,
};
use bosun_session::ImportFrom;

use super::{Answer, Managed};
use crate::argument::Arg;
use crate::check;

/// The person's memories and, where one is named, those of a project.
#[tauri::command]
#[specta::specta]
pub async fn list_memories(shell: Managed<'_>, find: Arg<FindMemories>) -> Answer<MemoryList> {
    project(find.project.as_ref())?;
    check::text(find.text.as_deref().unwrap_or_default())?;
    Ok(shell.core().await?.sessions.memories(&find).await?)
}

/// A memory, whole, with its earlier versions.
#[tauri::command]
#[specta::specta]
pub async fn load_memory(shell: Managed<'_>, memory: Arg<MemoryRef>) -> Answer<MemoryFile> {
    named(&memory)?;
    Ok(shell.core().await?.sessions.memory(&memory).await?)
}

/// Keeps a memory; refused where something else is there than what it was edited from.
#[tauri::command]
#[specta::specta]
pub async fn save_memory(shell: Managed<'_>, save: Arg<SaveMemory>) -> Answer<MemoryFile> {
    named(&save.memory)?;
    check::text(&save.text)?;
    Ok(shell.core().await?.sessions.save_memory(&save).await?)
}

/// Deletes a memory; for 30 days `restore_memory` brings it back.
#[tauri::command]
#[specta::specta]
pub async fn delete_memory(shell: Managed<'_>, memory: Arg<MemoryRef>) -> Answer<()> {
    named(&memory)?;
    Ok(shell.core().await?.sessions.delete_memory(&memory).await?)
}

/// The text of an earlier version; `null` where it was no text.
#[tauri::command]
#[specta::specta]
pub async fn memory_version(shell: Managed<'_>, memory: Arg<MemoryRef>, number: Arg<u32>) -> Answer<Option<String>> {
    named(&memory)?;
    Ok(shell.core().await?.sessions.memory_version(&memory, number.0.into()).await?)
}

/// Puts an earlier version in place, of a deleted memory too.
#[tauri::command]
#[specta::specta]
pub async fn restore_memory(shell: Managed<'_>, memory: Arg<MemoryRef>, number: Arg<u32>) -> Answer<MemoryFile> {
    named(&memory)?;
    Ok(shell.core().await?.sessions.restore_memory(&memory, number.0.into()).await?)
}

/// The call that wrote a memory, or an earlier version of it; `null` where the person did.
#[tauri::command]
#[specta::specta]
pub async fn memory_source(
    shell: Managed<'_>,
    memory: Arg<MemoryRef>,
    number: Arg<Option<u32>>,
) -> Answer<Option<WrittenBy>> {
    named(&memory)?;
    let number = number.0.map(i64::from);
    Ok(shell.core().await?.sessions.memory_source(&memory, number).await?)
}

/// Writes memories as files into a folder that the system's dialog asks for; gives its path, `null` when cancelled.
#[tauri::command]
#[specta::specta]
pub async fn export_memories(shell: Managed<'_>, shelf: Arg<MemoryShelf>) -> Answer<Option<String>> {
    project(shelf.project.as_ref())?;
    let core = shell.core().await?;
    let Some(folder) = shell.pick(|words| words.pick_files_out).await? else { return Ok(None) };
    let path = core.sessions.export_memories(&shelf, &folder).await?;
    Ok(Some(path.to_string_lossy().into_owned()))
}

/// Brings in the files of a zip archive (in base64) or, without one, of a folder that the system's dialog asks for; `null`
/// when it was cancelled.
#[tauri::command]
#[specta::specta]
pub async fn import_memories(
    shell: Managed<'_>,
    shelf: Arg<MemoryShelf>,
    archive: Arg<Option<String>>,
) -> Answer<Option<Imported>> {
    project(shelf.project.as_ref())?;
    let core = shell.core().await?;
    let Some(from) = from(&shell, archive.0).await? else { return Ok(None) };
    Ok(Some(core.sessions.import_memories(&shelf, from).await?))
}

/// What is brought in: the archive that the page has, or a folder that the person picks.
pub(crate) async fn from(shell: &crate::Shell, archive: Option<String>) -> Answer<Option<ImportFrom>> {
    match archive {
        Some(archive) => {
            check::archive(&archive)?;
            Ok(Some(ImportFrom::Archive(archive)))
        }
        None => Ok(shell.pick(|words| words.pick_files_in).await?.map(ImportFrom::Path)),
    }
}

fn named(memory: &MemoryRef) -> Answer<()> {
    project(memory.project.as_ref())?;
    check::path(&memory.path)
}

pub(crate) fn project(project: Option<&ProjectId>) -> Answer<()> {
    project.map_or(Ok(()), |project| check::id(project.as_str()))
}
