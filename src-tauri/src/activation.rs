//! What lets a window come to the front that has not got the keyboard: a token that the desktop gives to whoever a person
//! pressed or started last. Wayland lets no window to the front without one, and GTK lets some window managers of X11 know.

/// The token that this start was given, where it was started from a desktop.
pub(crate) fn given(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    // The first is Wayland's; what a desktop of X11 sets is the second.
    ["XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID"]
        .iter()
        .find_map(|name| variable(name).filter(|token| is_sound(token)))
}

/// A token is no text of anybody's: letters, digits and marks, and not many.
pub(crate) fn is_sound(token: &str) -> bool {
    (1..=512).contains(&token.len()) && token.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(target_os = "linux")]
pub(crate) use linux::lend;

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::CString;

    use gtk::glib::object::ObjectType;
    use gtk::prelude::{GtkWindowExt, WidgetExt};
    use tauri::{Runtime, WebviewWindow};

    /// Has the window come to the front with this token when it next asks to.
    pub(crate) fn lend<R: Runtime>(window: &WebviewWindow<R>, token: String) {
        let lent = window.clone();
        let lent = window.run_on_main_thread(move || {
            let Ok(window) = lent.gtk_window() else { return };
            window.set_startup_id(&token);
            remember_on_wayland(&window.display(), token);
        });
        if let Err(error) = lent {
            tracing::debug!(%error, "the window comes to the front without its token");
        }
    }

    /// On Wayland GTK keeps the token with the display, until a window is brought to the front; what it keeps with the
    /// window is for X11 alone.
    #[allow(unsafe_code, reason = "GTK's bindings offer no safe way to hand over a token")]
    fn remember_on_wayland(display: &gtk::gdk::Display, token: String) {
        let Ok(token) = CString::new(token) else { return };
        if gtk::gdk::prelude::DisplayExtManual::backend(display).is_wayland() {
            // SAFETY: on the main thread; the display is one of Wayland, and GTK copies the text.
            unsafe {
                gdk_wayland_sys::gdk_wayland_display_set_startup_notification_id(
                    display.as_ptr().cast(),
                    token.as_ptr(),
                );
            }
        }
    }
}

/// Elsewhere windows need none.
#[cfg(not(target_os = "linux"))]
pub(crate) fn lend<R: tauri::Runtime>(_: &tauri::WebviewWindow<R>, _: String) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_is_waylands_and_else_what_x11_has() {
        let start = |variables: &'static [(&str, &str)]| {
            given(|name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
        };
        assert_eq!(start(&[("DESKTOP_STARTUP_ID", "x_TIME1"), ("XDG_ACTIVATION_TOKEN", "w")]).as_deref(), Some("w"));
        assert_eq!(
            start(&[("DESKTOP_STARTUP_ID", "x_TIME1"), ("XDG_ACTIVATION_TOKEN", "")]).as_deref(),
            Some("x_TIME1")
        );
        assert_eq!(start(&[("XDG_ACTIVATION_TOKEN", "a b")]), None);
        assert_eq!(start(&[]), None);
        assert!(!is_sound(&"x".repeat(513)) && !is_sound("a\0b") && is_sound("gnome-shell/x/1-2_TIME3"));
    }
}
