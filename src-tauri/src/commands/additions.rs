use bosun_protocol::{
    AdditionChange, AdditionForms, Additions, HookTrial, Problem, ProjectId, ServerView, SessionId, SignInPage,
};

use super::{Answer, Managed};
use crate::argument::Arg;
use crate::check;

/// The person's own servers of tools, hooks and places, as text.
#[tauri::command]
#[specta::specta]
pub async fn additions(shell: Managed<'_>) -> Answer<Additions> {
    Ok(shell.core().await?.sessions.additions().await?)
}

/// What is wrong with a text of servers and hooks; nothing is kept or started.
#[tauri::command]
#[specta::specta]
pub async fn check_additions(shell: Managed<'_>, text: Arg<String>) -> Answer<Option<Problem>> {
    check::text(&text)?;
    Ok(shell.core().await?.sessions.check_additions(&text))
}

/// Keeps them; they hold for sessions that are opened from now on.
#[tauri::command]
#[specta::specta]
pub async fn save_additions(shell: Managed<'_>, text: Arg<String>) -> Answer<()> {
    check::text(&text)?;
    let core = shell.core().await?;
    if core.sessions.check_additions(&text).is_none() && !text.trim().is_empty() {
        shell.confirm_programs(&text).await?;
    }
    Ok(core.sessions.save_additions(&text).await?)
}

/// The person's own servers and hooks, as forms show them.
#[tauri::command]
#[specta::specta]
pub async fn addition_forms(shell: Managed<'_>) -> Answer<AdditionForms> {
    Ok(shell.core().await?.sessions.addition_forms().await?)
}

/// Changes one server or hook; gives the id that brings back what was removed. What begins to work with it is asked for
/// before, as with a text.
#[tauri::command]
#[specta::specta]
pub async fn change_additions(shell: Managed<'_>, change: Arg<AdditionChange>) -> Answer<Option<String>> {
    check::addition(&change)?;
    let core = shell.core().await?;
    let begun = core.sessions.begun_by(&change).await?;
    if !begun.is_empty() {
        shell.confirm_programs(&begun).await?;
    }
    Ok(core.sessions.change_additions(change.0, &begun).await?)
}

/// Starts one of the person's own servers for a moment and says how it is.
#[tauri::command]
#[specta::specta]
pub async fn check_server(
    shell: Managed<'_>,
    project: Arg<Option<ProjectId>>,
    server: Arg<String>,
) -> Answer<ServerView> {
    project.iter().try_for_each(|project| check::id(project.as_str()))?;
    check::name(&server)?;
    Ok(shell.core().await?.sessions.check_server(project.as_ref(), &server).await?)
}

/// Runs one of the person's own hooks that are on once, told of something that did not happen.
#[tauri::command]
#[specta::specta]
pub async fn try_hook(shell: Managed<'_>, project: Arg<Option<ProjectId>>, hook: Arg<String>) -> Answer<HookTrial> {
    project.iter().try_for_each(|project| check::id(project.as_str()))?;
    check::name(&hook)?;
    Ok(shell.core().await?.sessions.try_hook(project.as_ref(), &hook).await?)
}

/// How the servers of a session are.
#[tauri::command]
#[specta::specta]
pub async fn session_servers(shell: Managed<'_>, session: Arg<SessionId>) -> Answer<Vec<ServerView>> {
    check::id(session.as_str())?;
    Ok(shell.core().await?.sessions.server_views(&session).await?)
}

/// The person has looked at a tool that changed.
#[tauri::command]
#[specta::specta]
pub async fn accept_changed_tool(shell: Managed<'_>, session: Arg<SessionId>, hash: Arg<String>) -> Answer<()> {
    check::id(session.as_str())?;
    check::id(&hash)?;
    Ok(shell.core().await?.sessions.accept_changed(&session, &hash).await?)
}

/// Connects a server that does not work again.
#[tauri::command]
#[specta::specta]
pub async fn try_server_again(shell: Managed<'_>, session: Arg<SessionId>, server: Arg<String>) -> Answer<()> {
    check::id(session.as_str())?;
    check::name(&server)?;
    Ok(shell.core().await?.sessions.try_server_again(&session, &server).await?)
}

/// Begins a sign-in at a server of a session, or at one of the person's own. The page is opened by the person, who sees whose it is before.
#[tauri::command]
#[specta::specta]
pub async fn begin_sign_in(
    shell: Managed<'_>,
    session: Arg<Option<SessionId>>,
    server: Arg<String>,
) -> Answer<SignInPage> {
    session.iter().try_for_each(|session| check::id(session.as_str()))?;
    check::name(&server)?;
    Ok(shell.core().await?.sessions.begin_sign_in(session.as_ref(), &server).await?)
}

/// Answers when the person has signed in, or says why they have not; five minutes at most.
#[tauri::command]
#[specta::specta]
pub async fn finish_sign_in(shell: Managed<'_>, id: Arg<String>) -> Answer<()> {
    check::id(&id)?;
    Ok(shell.core().await?.sessions.finish_sign_in(&id).await?)
}

/// Gives a sign-in up.
#[tauri::command]
#[specta::specta]
pub async fn cancel_sign_in(shell: Managed<'_>, id: Arg<String>) -> Answer<()> {
    check::id(&id)?;
    shell.core().await?.sessions.cancel_sign_in(&id);
    Ok(())
}

/// Forgets the sign-in at a server, in all sessions.
#[tauri::command]
#[specta::specta]
pub async fn sign_out(shell: Managed<'_>, session: Arg<Option<SessionId>>, server: Arg<String>) -> Answer<()> {
    session.iter().try_for_each(|session| check::id(session.as_str()))?;
    check::name(&server)?;
    Ok(shell.core().await?.sessions.sign_out(session.as_ref(), &server).await?)
}
