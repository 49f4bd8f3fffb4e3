//! What a person may hand to somebody who helps them: versions, the system, counts, the end of the log. Read by the
//! person before it is written, without keys, without anything that was said in a session.

use std::fmt::Write;
use std::path::Path;
use std::sync::PoisonError;

use bosun_protocol::{KeySource, Settings};
use bosun_session::export::visible;

use crate::Shell;
use crate::core::Core;
use crate::error::Failure;
use crate::logs;

/// Lines of the log that are taken, from its end.
const LOG_LINES: usize = 200;
/// Bytes of the log that are looked at for them.
const LOG_BYTES: u64 = 64 * 1024;

/// The text, redacted, as `save` then writes it.
pub(crate) async fn preview(shell: &Shell) -> Result<String, Failure> {
    let text = text(shell).await?;
    *shell.read.lock().unwrap_or_else(PoisonError::into_inner) = Some(text.clone());
    Ok(text)
}

async fn text(shell: &Shell) -> Result<String, Failure> {
    let core = shell.core().await?;
    core.sessions.know_keys().await;
    let storage = core.sessions.storage().await?;
    let settings = core.settings().await?;
    let mut text = String::new();
    system(&mut text, &settings);
    heading(&mut text, "Providers");
    providers(&mut text, &core).await?;
    heading(&mut text, "Data");
    line(&mut text, "folder", &storage.folder);
    line(&mut text, "projects", &storage.projects.to_string());
    line(&mut text, "sessions", &storage.sessions.to_string());
    for part in &storage.parts {
        line(&mut text, &format!("{:?}", part.kind).to_lowercase(), &format!("{} bytes", part.bytes));
    }
    heading(&mut text, "Permissions");
    line(&mut text, "rules", &core.sessions.rules().await?.len().to_string());
    let sandboxed = core.sessions.sandboxed_projects().await?;
    let of = if sandboxed.all { "every project".to_owned() } else { format!("{} projects", sandboxed.projects.len()) };
    line(&mut text, "sandbox", &format!("for commands of {of}; each of them asks first, unless a rule allows it"));
    let additions = core.sessions.additions().await?;
    let named = |line: &&str| line.starts_with("[mcp.") || line.starts_with("[[hooks");
    line(&mut text, "servers and hooks", &additions.text.lines().filter(named).count().to_string());
    if let Some(problem) = additions.problem {
        line(&mut text, "problem with them", &problem.to_string());
    }
    heading(&mut text, "End of the log");
    text.push_str(&log(Path::new(&storage.folder)));
    Ok(shell.redacted(&without_home(&visible(&text), std::env::home_dir().as_deref())))
}

/// Asks for a folder and writes there what was read last: the log has grown since, and nobody saw by what.
pub(crate) async fn save(shell: &Shell) -> Result<Option<String>, Failure> {
    let Some(folder) = shell.pick(|words| words.pick_diagnostics).await? else { return Ok(None) };
    let read = shell.read.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let text = match read {
        Some(text) => text,
        None => preview(shell).await?,
    };
    let written = shell.core().await?.sessions.write_text(&folder, "bosun-diagnostics", &text).await?;
    Ok(Some(written.to_string_lossy().into_owned()))
}

fn heading(text: &mut String, title: &str) {
    text.push('\n');
    text.push_str(title);
    text.push('\n');
}

fn line(text: &mut String, name: &str, value: &str) {
    // Writing into a string does not fail.
    if writeln!(text, "  {name}: {value}").is_err() {
        tracing::debug!(name, "a line of the diagnostics is missing");
    }
}

fn system(text: &mut String, settings: &Settings) {
    text.push_str("Bosun\n");
    line(text, "version", env!("CARGO_PKG_VERSION"));
    line(text, "system", &format!("{} {}", std::env::consts::OS, std::env::consts::ARCH));
    line(text, "web engine", &tauri::webview_version().unwrap_or_else(|error| error.to_string()));
    for name in ["XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE", "LANG", "WEBKIT_DISABLE_DMABUF_RENDERER"] {
        line(text, name, &std::env::var(name).unwrap_or_else(|_| "not set".to_owned()));
    }
    line(text, "theme", &format!("{:?}", settings.theme));
    line(text, "language", &format!("{:?}", settings.language));
    let model = settings.model.as_ref().map(|model| format!("{} {}", model.provider, model.name));
    line(text, "model", model.as_deref().unwrap_or("none"));
}

async fn providers(text: &mut String, core: &Core) -> Result<(), Failure> {
    for provider in core.providers.list().await? {
        let key = match provider.key {
            KeySource::Missing => "no key",
            KeySource::Keyring => "key in the keyring",
            KeySource::Environment { .. } => "key from the environment",
            KeySource::Memory { .. } => "key for this run",
            KeySource::Cloud { .. } => "cloud credentials",
            KeySource::Locked { .. } => "keyring locked",
        };
        line(text, &provider.id, &format!("{:?}, {key}", provider.family));
    }
    Ok(())
}

/// The last lines of the log, or why there are none.
fn log(folder: &Path) -> String {
    match logs::end(&folder.join("logs"), LOG_BYTES) {
        Ok(text) => {
            let lines: Vec<&str> = text.lines().collect();
            let from = lines.len().saturating_sub(LOG_LINES);
            lines.get(from..).unwrap_or_default().join("\n") + "\n"
        }
        Err(error) => format!("  the log cannot be read: {error}\n"),
    }
}

/// Where a person's files are says who they are.
fn without_home(text: &str, home: Option<&Path>) -> String {
    match home.and_then(Path::to_str).filter(|home| home.len() > 1) {
        Some(home) => text.replace(home, "~"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_folder_is_not_named() {
        let home = Some(Path::new("/home/anna"));
        assert_eq!(without_home("in /home/anna/x and /home/anna", home), "in ~/x and ~");
        assert_eq!(without_home("in /x", None), "in /x");
    }
}
