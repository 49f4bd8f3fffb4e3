use bosun_protocol::TourStart;

use super::{Answer, Managed};
use crate::tour;

/// Asks for a folder, puts the sample project into a new folder in it and begins a session with the scripted model; `null`
/// when the dialog was cancelled.
#[tauri::command]
#[specta::specta]
pub async fn start_tour(shell: Managed<'_>) -> Answer<Option<TourStart>> {
    let core = shell.core().await?;
    match shell.pick(|words| words.pick_tour).await? {
        Some(folder) => Ok(Some(tour::begin(&core, folder, shell.spoken().await).await?)),
        None => Ok(None),
    }
}
