use bosun_protocol::{PlanChange, SessionId};

use super::{Answer, Managed};
use crate::argument::Arg;
use crate::check;

/// Changes the plan for the person; the agent is told at its next step.
#[tauri::command]
#[specta::specta]
pub async fn change_plan(shell: Managed<'_>, session: Arg<SessionId>, change: Arg<PlanChange>) -> Answer<()> {
    check::id(session.as_str())?;
    check::plan(&change)?;
    Ok(shell.core().await?.sessions.change_plan(&session, change.0).await?)
}
