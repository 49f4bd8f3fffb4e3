use bosun_protocol::{DecideTrust, ProjectId, ProjectTrust, SeenFile, TrustText, TrustVerdict};

use super::{Answer, Managed};
use crate::argument::Arg;
use crate::check;

/// What a project brings for the agent to go by, and what of it is trusted.
#[tauri::command]
#[specta::specta]
pub async fn project_trust(shell: Managed<'_>, project: Arg<ProjectId>) -> Answer<ProjectTrust> {
    check::id(project.as_str())?;
    Ok(shell.core().await?.sessions.project_trust(&project).await?)
}

/// The words of a file that a project brings, and what changed in them since they were trusted.
#[tauri::command]
#[specta::specta]
pub async fn trust_text(shell: Managed<'_>, project: Arg<ProjectId>, path: Arg<String>) -> Answer<TrustText> {
    check::id(project.as_str())?;
    check::path(&path)?;
    Ok(shell.core().await?.sessions.trust_text(&project, &path).await?)
}

/// Trusts contents that the person has seen, or sets them aside; nothing where one of them changed meanwhile.
#[tauri::command]
#[specta::specta]
pub async fn decide_trust(shell: Managed<'_>, project: Arg<ProjectId>, decision: Arg<DecideTrust>) -> Answer<()> {
    check::id(project.as_str())?;
    for file in &decision.files {
        check::path(&file.path)?;
        check::id(&file.hash)?;
    }
    let core = shell.core().await?;
    for file in decision.files.iter().filter(|file| starts_programs(&decision, file)) {
        let text = core.sessions.trust_text(&project, &file.path).await?;
        shell.confirm_programs(&text.text.unwrap_or_default()).await?;
    }
    Ok(core.sessions.decide_trust(&project, &decision).await?)
}

/// Whether it is the project's own hooks and servers that would be trusted.
fn starts_programs(decision: &DecideTrust, file: &SeenFile) -> bool {
    decision.verdict == TrustVerdict::Trust && file.path == bosun_session::PROJECT_CONFIG
}
