//! One app for each data folder: a start beside it hands over what it was given, and ends.

use std::path::Path;
use std::sync::Arc;

use tauri::{AppHandle, Manager, Wry};
use tokio_util::task::TaskTracker;

use crate::launch::Launch;
#[cfg(target_os = "linux")]
use crate::launch::with_token;
use crate::{Shell, window};

/// A second start over the same data folder hands its folder to the first and ends.
pub(crate) fn only(folder: Option<&Path>, tasks: TaskTracker) -> tauri::plugin::TauriPlugin<Wry> {
    let taken = move |app: &AppHandle, arguments: Vec<String>, here: String| {
        let arguments = arguments.into_iter().skip(1).map(Into::into);
        // One that makes no sense was refused before it came here.
        let launch = Launch::parse(arguments, Path::new(&here)).unwrap_or_default();
        let Launch { folder, session, token, .. } = launch;
        let Some(shell) = app.try_state::<Arc<Shell>>().map(|shell| Arc::clone(&shell)) else { return };
        // The person is back, before the window is: whoever takes it out of sight meanwhile sees that.
        shell.closing.came_back();
        window::focus(app, token);
        if let Some(session) = session {
            shell.go_to(session);
        }
        let Some(folder) = folder else { return };
        let open = async move {
            if let Err(failure) = shell.open_beside(folder).await {
                tracing::warn!(message = failure.0.message, "a second start's folder was not opened");
                shell.refuse(failure);
            }
        };
        tasks.spawn_on(open, tauri::async_runtime::handle().inner());
    };
    tauri_plugin_single_instance::Builder::new().callback(taken).dbus_id(bus_name(folder)).build()
}

/// One name per data folder, so that two profiles can be open beside each other.
fn bus_name(folder: Option<&Path>) -> String {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    folder.hash(&mut hasher);
    format!("app.bosun.desktop.p{:016x}", hasher.finish())
}

/// Hands this start to the app that is open, with the token by which its window may come to the front; `false` where none
/// is open. The plugin would hand over the arguments alone.
#[cfg(target_os = "linux")]
pub(crate) fn hand_over(folder: Option<&Path>, token: &str) -> bool {
    let name = format!("{}.SingleInstance", bus_name(folder));
    let path = format!("/{}", name.replace('.', "/"));
    let arguments: Vec<String> = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let here = std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned();
    let handed = zbus::blocking::Connection::session().and_then(|bus| {
        let given = (with_token(arguments, token), here);
        bus.call_method(Some(name.as_str()), path.as_str(), Some("org.SingleInstance.DBus"), "ExecuteCallback", &given)
    });
    match handed {
        Ok(_) => true,
        Err(error) => {
            tracing::debug!(%error, "no app is open that could be handed this start");
            false
        }
    }
}

/// Elsewhere windows need no token.
#[cfg(not(target_os = "linux"))]
pub(crate) fn hand_over(_: Option<&Path>, _: &str) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_data_folder_has_a_bus_name_of_its_own_and_keeps_it() {
        let name = |folder: &str| bus_name(Some(Path::new(folder)));
        assert_eq!(name("/a"), name("/a"));
        assert_ne!(name("/a"), name("/b"));
        assert_ne!(name("/a"), bus_name(None));
        assert!(name("/a").split('.').all(|part| part.starts_with(|c: char| c.is_ascii_alphabetic())));
    }
}
