use bosun_protocol::{Imported, ProjectId, SaveSkillFile, SkillDetails, SkillFile, SkillList, SkillRef};

use super::memories::{from, project};
use super::{Answer, Managed};
use crate::argument::Arg;
use crate::check;

/// All skills, those of a project where one is named.
#[tauri::command]
#[specta::specta]
pub async fn list_skills(shell: Managed<'_>, project: Arg<Option<ProjectId>>) -> Answer<SkillList> {
    self::project(project.as_ref())?;
    Ok(shell.core().await?.sessions.skills(project.as_ref()).await?)
}

/// A skill with the files it consists of.
#[tauri::command]
#[specta::specta]
pub async fn load_skill(shell: Managed<'_>, skill: Arg<SkillRef>) -> Answer<SkillDetails> {
    named(&skill)?;
    Ok(shell.core().await?.sessions.skill(&skill).await?)
}

/// One file of a skill, whole.
#[tauri::command]
#[specta::specta]
pub async fn load_skill_file(shell: Managed<'_>, skill: Arg<SkillRef>, path: Arg<String>) -> Answer<SkillFile> {
    named(&skill)?;
    check::path(&path)?;
    Ok(shell.core().await?.sessions.skill_file(&skill, &path).await?)
}

/// Makes a skill of the person's from a template.
#[tauri::command]
#[specta::specta]
pub async fn create_skill(shell: Managed<'_>, name: Arg<String>, description: Arg<String>) -> Answer<SkillDetails> {
    check::path(&name)?;
    check::text(&description)?;
    Ok(shell.core().await?.sessions.create_skill(&name, &description).await?)
}

/// Keeps a file of one of the person's skills; refused where it would be no skill, or changed meanwhile.
#[tauri::command]
#[specta::specta]
pub async fn save_skill_file(shell: Managed<'_>, save: Arg<SaveSkillFile>) -> Answer<SkillFile> {
    check::path(&save.folder)?;
    check::path(&save.path)?;
    check::text(&save.text)?;
    Ok(shell.core().await?.sessions.save_skill_file(&save).await?)
}

/// Deletes a file beside a skill's `SKILL.md`; the number of the version that brings it back.
#[tauri::command]
#[specta::specta]
pub async fn delete_skill_file(shell: Managed<'_>, folder: Arg<String>, path: Arg<String>) -> Answer<u32> {
    check::path(&folder)?;
    check::path(&path)?;
    let version = shell.core().await?.sessions.delete_skill_file(&folder, &path).await?;
    Ok(u32::try_from(version).unwrap_or(u32::MAX))
}

/// The text of an earlier version of a skill's file; `null` where it was no text.
#[tauri::command]
#[specta::specta]
pub async fn skill_version(
    shell: Managed<'_>,
    folder: Arg<String>,
    path: Arg<String>,
    number: Arg<u32>,
) -> Answer<Option<String>> {
    check::path(&folder)?;
    check::path(&path)?;
    Ok(shell.core().await?.sessions.skill_version(&folder, &path, number.0.into()).await?)
}

/// Puts an earlier version of a skill's file in place.
#[tauri::command]
#[specta::specta]
pub async fn restore_skill_file(
    shell: Managed<'_>,
    folder: Arg<String>,
    path: Arg<String>,
    number: Arg<u32>,
) -> Answer<SkillFile> {
    check::path(&folder)?;
    check::path(&path)?;
    Ok(shell.core().await?.sessions.restore_skill_file(&folder, &path, number.0.into()).await?)
}

/// Deletes one of the person's skills; for 30 days `restore_skill` brings it back.
#[tauri::command]
#[specta::specta]
pub async fn delete_skill(shell: Managed<'_>, folder: Arg<String>) -> Answer<()> {
    check::path(&folder)?;
    Ok(shell.core().await?.sessions.delete_skill(&folder).await?)
}

#[tauri::command]
#[specta::specta]
pub async fn restore_skill(shell: Managed<'_>, folder: Arg<String>) -> Answer<SkillDetails> {
    check::path(&folder)?;
    Ok(shell.core().await?.sessions.restore_skill(&folder).await?)
}

/// Switches a skill on or off, whoever's it is.
#[tauri::command]
#[specta::specta]
pub async fn switch_skill(shell: Managed<'_>, skill: Arg<SkillRef>, off: Arg<bool>) -> Answer<()> {
    named(&skill)?;
    Ok(shell.core().await?.sessions.switch_skill(&skill, off.0).await?)
}

/// Pins a skill: its whole text stands in the prompt from the beginning.
#[tauri::command]
#[specta::specta]
pub async fn pin_skill(shell: Managed<'_>, skill: Arg<SkillRef>, pinned: Arg<bool>) -> Answer<()> {
    named(&skill)?;
    Ok(shell.core().await?.sessions.pin_skill(&skill, pinned.0).await?)
}

/// Writes a skill's files into a folder that the system's dialog asks for; gives its path, `null` when cancelled.
#[tauri::command]
#[specta::specta]
pub async fn export_skill(shell: Managed<'_>, skill: Arg<SkillRef>) -> Answer<Option<String>> {
    named(&skill)?;
    let core = shell.core().await?;
    let Some(folder) = shell.pick(|words| words.pick_files_out).await? else { return Ok(None) };
    let path = core.sessions.export_skill(&skill, &folder).await?;
    Ok(Some(path.to_string_lossy().into_owned()))
}

/// Brings in the skills of a zip archive (in base64) or, without one, of a folder that the system's dialog asks for;
/// `null` when it was cancelled.
#[tauri::command]
#[specta::specta]
pub async fn import_skills(shell: Managed<'_>, archive: Arg<Option<String>>) -> Answer<Option<Imported>> {
    let core = shell.core().await?;
    let Some(from) = from(&shell, archive.0).await? else { return Ok(None) };
    Ok(Some(core.sessions.import_skills(from).await?))
}

fn named(skill: &SkillRef) -> Answer<()> {
    project(skill.project.as_ref())?;
    check::path(&skill.folder)
}
