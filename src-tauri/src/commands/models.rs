use bosun_protocol::{Effort, KeySource, ModelRef, ModelSettings, SessionId, SystemProxy, ThinkingLevels};

use super::{Answer, Managed};
use crate::argument::Arg;
use crate::check;
use crate::providers::ProviderBook;

/// What the person set about models, apart from accounts and keys.
#[tauri::command]
#[specta::specta]
pub async fn model_settings(shell: Managed<'_>) -> Answer<ModelSettings> {
    Ok(shell.core().await?.sessions.model_settings().await?)
}

/// Open sessions go by them from their next turn on, budgets from the next call on.
#[tauri::command]
#[specta::specta]
pub async fn save_model_settings(shell: Managed<'_>, settings: Arg<ModelSettings>) -> Answer<ModelSettings> {
    ProviderBook::check_network(&settings)?;
    let core = shell.core().await?;
    let before = core.providers.proxy().await?;
    let saved = core.sessions.save_model_settings(settings.0).await?;
    core.changed(core.providers.leave_proxy(before)).await?;
    Ok(saved)
}

/// Where the name and the password of the settings' proxy are.
#[tauri::command]
#[specta::specta]
pub async fn proxy_login(shell: Managed<'_>) -> Answer<KeySource> {
    shell.core().await?.providers.proxy_login_source().await
}

/// Keeps a name and a password for the settings' proxy; empty, those that are kept go. They only go in.
#[tauri::command]
#[specta::specta]
pub async fn set_proxy_login(shell: Managed<'_>, user: Arg<String>, password: Arg<String>) -> Answer<KeySource> {
    let core = shell.core().await?;
    core.changed(core.providers.set_proxy_login(&user, password.0.into())).await
}

/// Which proxy is asked where the settings name none.
#[tauri::command]
#[specta::specta]
pub async fn system_proxy(shell: Managed<'_>) -> Answer<SystemProxy> {
    Ok(shell.core().await?.providers.system_proxy().await)
}

/// What the levels of thinking come to for the model. Nothing is asked of its server.
#[tauri::command]
#[specta::specta]
pub async fn thinking_levels(shell: Managed<'_>, model: Arg<ModelRef>) -> Answer<ThinkingLevels> {
    shell.core().await?.providers.thinking_levels(&model).await
}

/// How much the session's model thinks from its next turn on; `null` is as the settings have it.
#[tauri::command]
#[specta::specta]
pub async fn set_session_effort(
    shell: Managed<'_>,
    session: Arg<SessionId>,
    effort: Arg<Option<Effort>>,
) -> Answer<()> {
    check::id(session.as_str())?;
    Ok(shell.core().await?.sessions.set_effort(&session, effort.0).await?)
}
