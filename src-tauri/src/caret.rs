//! The caret at rest. GTK lets one blink for ten seconds after the last key and then stand still. WebKit lets it blink for
//! as long as the window is open, and paints for each blink, without a graphics card by the processor.

use tauri::{AppHandle, Runtime};

/// From now on, for a moment, carets that begin stand still; they do for as long as they stay where they are. The page makes
/// its own begin anew meanwhile. Those that begin later blink.
#[cfg(target_os = "linux")]
pub(crate) fn rest<R: Runtime>(app: &AppHandle<R>) {
    use std::time::Duration;

    use gtk::prelude::GtkSettingsExt;

    /// The setting, in milliseconds, which WebKit reads whenever a caret begins or has blinked.
    const BLINK_TIME: &str = "gtk-cursor-blink-time";
    /// Longer than the page takes to hear of it and to act.
    const A_MOMENT: Duration = Duration::from_secs(2);

    let asked = app.run_on_main_thread(|| {
        let Some(settings) = gtk::Settings::default() else { return };
        settings.set_gtk_cursor_blink_time(i32::MAX);
        gtk::glib::timeout_add_local_once(A_MOMENT, move || settings.reset_property(BLINK_TIME));
    });
    if let Err(error) = asked {
        tracing::debug!(%error, "the caret goes on blinking");
    }
}

/// Elsewhere the page's engine goes by the system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn rest<R: Runtime>(_: &AppHandle<R>) {}
