use super::Managed;
use crate::argument::Arg;

/// Something threw in the page: it is written to the log, cut to a bound, and not more often than the log has room for.
#[tauri::command]
#[specta::specta]
pub fn report_fault(shell: Managed<'_>, place: Arg<String>, message: Arg<String>, stack: Arg<String>) {
    shell.faults.note(&place, &message, &stack);
}
