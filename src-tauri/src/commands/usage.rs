use bosun_protocol::{SessionId, SessionUsage, UsageReport};

use super::{Answer, Managed};
use crate::argument::Arg;
use crate::check;

/// What model calls used and cost in the last `days` days, today among them.
#[tauri::command]
#[specta::specta]
pub async fn usage_report(shell: Managed<'_>, days: Arg<u32>) -> Answer<UsageReport> {
    Ok(shell.core().await?.sessions.usage(days.0).await?)
}

/// What a session and its subagents used, call by call.
#[tauri::command]
#[specta::specta]
pub async fn session_usage(shell: Managed<'_>, session: Arg<SessionId>) -> Answer<SessionUsage> {
    check::id(session.as_str())?;
    Ok(shell.core().await?.sessions.session_usage(&session).await?)
}
