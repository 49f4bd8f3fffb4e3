use bosun_protocol::Settings;

use super::{Answer, Managed};
use crate::argument::Arg;
use crate::opening;

/// Keeps the settings and gives them back as they are kept. Another editor is confirmed in the system's own dialog.
#[tauri::command]
#[specta::specta]
pub async fn save_settings(shell: Managed<'_>, settings: Arg<Settings>) -> Answer<Settings> {
    let core = shell.core().await?;
    let wanted = opening::editor(&settings.editor)?;
    let before = core.settings().await?;
    if wanted.is_none() || settings.editor == before.editor {
        return core.save_settings(settings.0).await;
    }
    shell.confirm_editor(&settings.editor).await?;
    let now = core.settings().await?;
    core.save_settings(confirmed(&before, settings.0, now)).await
}

/// What is kept of `wanted` after a dialog that was open for as long as it took from `before` to `now`: where something
/// else was kept meanwhile, the editor alone, as that is what was confirmed.
fn confirmed(before: &Settings, wanted: Settings, now: Settings) -> Settings {
    if now == *before { wanted } else { Settings { editor: wanted.editor, ..now } }
}

#[cfg(test)]
mod tests {
    use bosun_protocol::Theme;

    use super::*;

    #[test]
    fn what_was_kept_while_the_dialog_was_open_stays() {
        let before = Settings { editor: "vi {file}".into(), ..Settings::default() };
        let wanted = Settings { editor: "code {file}".into(), muted: true, ..before.clone() };
        assert_eq!(confirmed(&before, wanted.clone(), before.clone()), wanted);
        let now = Settings { theme: Theme::Dark, ..before.clone() };
        let kept = Settings { editor: wanted.editor.clone(), ..now.clone() };
        assert_eq!(confirmed(&before, wanted, now), kept);
    }
}
