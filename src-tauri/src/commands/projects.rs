use bosun_protocol::{ProjectId, ProjectView};

use super::{Answer, Managed};
use crate::argument::{Arg, Line};
use crate::check;

/// The folders that were opened, the last one first; over the channel the list again when a second start of the app
/// opened one, which is then the first and opened last, and when one of them goes or comes back.
#[tauri::command]
#[specta::specta]
pub async fn subscribe_projects(shell: Managed<'_>, channel: Line<Vec<ProjectView>>) -> Answer<Vec<ProjectView>> {
    let core = shell.core().await?;
    // First: one that is opened while the list is read is told, if it is not in it.
    shell.watch_projects(channel.0.clone());
    let (projects, watch) = core.sessions.watch_projects().await?;
    shell.forwarders.start(watch, channel.0, None)?;
    Ok(projects)
}

/// Asks for a folder in the system's dialog and opens it; `null` when the dialog was cancelled.
#[tauri::command]
#[specta::specta]
pub async fn pick_project(shell: Managed<'_>) -> Answer<Option<ProjectView>> {
    let core = shell.core().await?;
    match shell.pick(|words| words.pick_project).await? {
        Some(folder) => Ok(Some(core.sessions.open_project(&folder).await?)),
        None => Ok(None),
    }
}

/// Asks where the folder of a project is now, in the system's dialog, and has the project with everything that is its own
/// there from then on; `null` when the dialog was cancelled.
#[tauri::command]
#[specta::specta]
pub async fn move_project(shell: Managed<'_>, id: Arg<ProjectId>) -> Answer<Option<ProjectView>> {
    check::id(id.as_str())?;
    let core = shell.core().await?;
    match shell.pick(|words| words.pick_moved).await? {
        Some(folder) => Ok(Some(core.sessions.move_project(&id, &folder).await?)),
        None => Ok(None),
    }
}

/// Takes a folder off the list. Its sessions stay and are there again when it is opened again.
#[tauri::command]
#[specta::specta]
pub async fn forget_project(shell: Managed<'_>, id: Arg<ProjectId>) -> Answer<()> {
    check::id(id.as_str())?;
    Ok(shell.core().await?.sessions.forget_project(&id).await?)
}
