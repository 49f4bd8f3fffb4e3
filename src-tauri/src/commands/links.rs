use super::{Answer, Managed};
use crate::argument::Arg;
use crate::links;

/// Opens a web or mail address in the system's own program. Nothing else is opened, whatever the page asks.
#[tauri::command]
#[specta::specta]
pub async fn open_link(shell: Managed<'_>, url: Arg<String>) -> Answer<()> {
    shell.follow(&links::checked(&url)?)
}
