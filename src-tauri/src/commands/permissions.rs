use bosun_protocol::{
    ApprovalMode, CallId, CommandPlace, Decide, Problem, ProjectId, ProjectMode, Rehearsal, Rule, RuleDraft, RuleOffer,
    SandboxedProjects, SessionId, SessionMode,
};

use super::{Answer, Managed};
use crate::argument::Arg;
use crate::check;

/// All standing rules, newest first.
#[tauri::command]
#[specta::specta]
pub async fn list_rules(shell: Managed<'_>) -> Answer<Vec<Rule>> {
    Ok(shell.core().await?.sessions.rules().await?)
}

/// Takes a rule back; from the next call on it does not hold.
#[tauri::command]
#[specta::specta]
pub async fn remove_rule(shell: Managed<'_>, id: Arg<String>) -> Answer<()> {
    check::id(&id)?;
    Ok(shell.core().await?.sessions.remove_rule(&id).await?)
}

/// Puts a rule back that was removed a moment ago, as it was.
#[tauri::command]
#[specta::specta]
pub async fn restore_rule(shell: Managed<'_>, id: Arg<String>) -> Answer<Rule> {
    check::id(&id)?;
    Ok(shell.core().await?.sessions.restore_rule(&id).await?)
}

/// What may be offered for a call that waits.
#[tauri::command]
#[specta::specta]
pub async fn rule_offer(shell: Managed<'_>, session: Arg<SessionId>, call: Arg<CallId>) -> Answer<RuleOffer> {
    check::id(session.as_str())?;
    Ok(shell.core().await?.sessions.rule_offer(&session, &call).await?)
}

/// What a pattern would have done with the calls that asked so far.
#[tauri::command]
#[specta::specta]
pub async fn rehearse_rule(shell: Managed<'_>, draft: Arg<RuleDraft>) -> Answer<Rehearsal> {
    check::draft(&draft)?;
    Ok(shell.core().await?.sessions.rehearse_rule(&draft).await?)
}

/// Gives answers, and lets calls such as those of `drafts`, which are approved among them, pass from now on.
#[tauri::command]
#[specta::specta]
pub async fn approve_always(
    shell: Managed<'_>,
    decisions: Arg<Vec<Decide>>,
    drafts: Arg<Vec<RuleDraft>>,
) -> Answer<Vec<Rule>> {
    check::decisions(&decisions)?;
    check::drafts(&drafts)?;
    let core = shell.core().await?;
    shell.confirm_grave(&core, &decisions, &drafts).await?;
    Ok(core.sessions.approve_always(decisions.0, drafts.0).await?)
}

#[tauri::command]
#[specta::specta]
pub async fn session_mode(shell: Managed<'_>, session: Arg<SessionId>) -> Answer<SessionMode> {
    check::id(session.as_str())?;
    Ok(shell.core().await?.sessions.mode(&session).await?)
}

/// Holds from the next call on; what waits for a person keeps waiting.
#[tauri::command]
#[specta::specta]
pub async fn set_session_mode(shell: Managed<'_>, session: Arg<SessionId>, mode: Arg<ApprovalMode>) -> Answer<()> {
    check::id(session.as_str())?;
    Ok(shell.core().await?.sessions.set_mode(&session, mode.0).await?)
}

/// The projects whose sessions begin with another mode than asking.
#[tauri::command]
#[specta::specta]
pub async fn project_modes(shell: Managed<'_>) -> Answer<Vec<ProjectMode>> {
    Ok(shell.core().await?.sessions.project_modes().await?)
}

#[tauri::command]
#[specta::specta]
pub async fn set_project_mode(shell: Managed<'_>, project: Arg<ProjectId>, mode: Arg<ApprovalMode>) -> Answer<()> {
    check::id(project.as_str())?;
    Ok(shell.core().await?.sessions.set_project_mode(&project, mode.0).await?)
}

/// The projects whose commands run in a sandbox.
#[tauri::command]
#[specta::specta]
pub async fn sandboxed_projects(shell: Managed<'_>) -> Answer<SandboxedProjects> {
    Ok(shell.core().await?.sessions.sandboxed_projects().await?)
}

/// Where commands of a project run, from the next one on.
#[tauri::command]
#[specta::specta]
pub async fn set_command_place(shell: Managed<'_>, project: Arg<ProjectId>, place: Arg<CommandPlace>) -> Answer<()> {
    check::id(project.as_str())?;
    Ok(shell.core().await?.sessions.set_command_place(&project, place.0).await?)
}

/// Why commands cannot run in a sandbox here.
#[tauri::command]
#[specta::specta]
pub async fn sandbox_problem(shell: Managed<'_>) -> Answer<Option<Problem>> {
    Ok(shell.core().await?.sessions.sandbox_problem().await)
}
