use bosun_protocol::{ProjectId, SaveSubagent, SubagentContent, SubagentEntry, SubagentList, SubagentRef};

use super::memories::project;
use super::{Answer, Managed};
use crate::argument::Arg;
use crate::check;

/// All kinds of subagents, those of a project where one is named.
#[tauri::command]
#[specta::specta]
pub async fn list_subagents(shell: Managed<'_>, project: Arg<Option<ProjectId>>) -> Answer<SubagentList> {
    self::project(project.as_ref())?;
    Ok(shell.core().await?.sessions.subagents(project.as_ref()).await?)
}

/// Keeps one of the person's kinds of subagents; refused where it could not be used, or changed meanwhile.
#[tauri::command]
#[specta::specta]
pub async fn save_subagent(shell: Managed<'_>, save: Arg<SaveSubagent>) -> Answer<SubagentEntry> {
    check::path(&save.name)?;
    match &save.content {
        SubagentContent::Text { text } => check::text(text)?,
        SubagentContent::Form { form } => check::text(&form.prompt).and_then(|()| check::text(&form.description))?,
    }
    Ok(shell.core().await?.sessions.save_subagent(&save).await?)
}

/// Deletes one of the person's kinds of subagents; for 30 days its last version brings it back.
#[tauri::command]
#[specta::specta]
pub async fn delete_subagent(shell: Managed<'_>, name: Arg<String>) -> Answer<()> {
    check::path(&name)?;
    Ok(shell.core().await?.sessions.delete_subagent(&name).await?)
}

/// Puts an earlier version in place, of a deleted one too.
#[tauri::command]
#[specta::specta]
pub async fn restore_subagent(shell: Managed<'_>, name: Arg<String>, number: Arg<u32>) -> Answer<SubagentEntry> {
    check::path(&name)?;
    Ok(shell.core().await?.sessions.restore_subagent(&name, number.0.into()).await?)
}

/// The text of an earlier version.
#[tauri::command]
#[specta::specta]
pub async fn subagent_version(shell: Managed<'_>, name: Arg<String>, number: Arg<u32>) -> Answer<Option<String>> {
    check::path(&name)?;
    Ok(shell.core().await?.sessions.subagent_version(&name, number.0.into()).await?)
}

/// Switches a kind of subagent on or off.
#[tauri::command]
#[specta::specta]
pub async fn switch_subagent(shell: Managed<'_>, subagent: Arg<SubagentRef>, off: Arg<bool>) -> Answer<()> {
    project(subagent.project.as_ref())?;
    check::path(&subagent.name)?;
    Ok(shell.core().await?.sessions.switch_subagent(&subagent, off.0).await?)
}
