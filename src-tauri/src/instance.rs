//! One app for each data folder: a start beside it hands over what it was given, and ends. One that comes while the app
//! ends waits until it has ended, and is the app then.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bosun_store::DesktopClaim;
use tauri::{AppHandle, Manager, Wry};
use tokio_util::task::TaskTracker;

use crate::launch::Launch;
#[cfg(target_os = "linux")]
use crate::launch::with_token;
use crate::{Shell, window};

/// How long a start waits for an app that ends. That stops turns, and then what still runs, each for seconds at most.
const ENDING: Duration = Duration::from_secs(20);

/// How long an app may take to say that it has a start. One that hangs counts as one that ends.
#[cfg(target_os = "linux")]
const ANSWER: Duration = Duration::from_secs(5);

/// So often it looks again.
const EVERY: Duration = Duration::from_millis(50);

/// Starts that were handed over while there was no window to take them: none was there yet, or it ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct Untaken(Arc<Mutex<Vec<Launch>>>);

impl Untaken {
    /// Shows what a start was given; keeps it where no window can.
    fn show(&self, app: &AppHandle, launch: Launch, tasks: &TaskTracker) {
        let mut untaken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let shell = app.try_state::<Arc<Shell>>().map(|shell| Arc::clone(&shell));
        // The person is back, before the window is: whoever takes it out of sight meanwhile sees that.
        match shell.filter(|shell| shell.closing.came_back()) {
            Some(shell) => {
                drop(untaken);
                show(app, &shell, launch, tasks);
            }
            None => untaken.push(launch),
        }
    }

    /// The window is there: it shows what came before it.
    pub(crate) fn show_all(&self, app: &AppHandle, tasks: &TaskTracker) {
        let launches = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        launches.into_iter().for_each(|launch| self.show(app, launch, tasks));
    }

    /// What came too late for the window: the last start that named something, else the last.
    pub(crate) fn last(&self) -> Option<Launch> {
        let mut untaken = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let named = untaken.iter().rposition(|launch| launch.folder.is_some() || launch.session.is_some());
        named.map(|at| untaken.swap_remove(at)).or_else(|| untaken.pop())
    }
}

fn show(app: &AppHandle, shell: &Arc<Shell>, launch: Launch, tasks: &TaskTracker) {
    let Launch { folder, session, token, .. } = launch;
    window::focus(app, token);
    if let Some(session) = session {
        shell.go_to(session);
    }
    let Some(folder) = folder else { return };
    let shell = Arc::clone(shell);
    let open = async move {
        if let Err(failure) = shell.open_beside(folder).await {
            tracing::warn!(message = failure.0.message, "a second start's folder was not opened");
            shell.refuse(failure);
        }
    };
    tasks.spawn_on(open, tauri::async_runtime::handle().inner());
}

/// A second start over the same data folder hands its folder to the first and ends.
pub(crate) fn only(folder: Option<&Path>, untaken: Untaken, tasks: TaskTracker) -> tauri::plugin::TauriPlugin<Wry> {
    let taken = move |app: &AppHandle, arguments: Vec<String>, here: String| {
        let arguments = arguments.into_iter().skip(1).map(Into::into);
        // One that makes no sense was refused before it came here.
        untaken.show(app, Launch::parse(arguments, Path::new(&here)).unwrap_or_default(), &tasks);
    };
    tauri_plugin_single_instance::Builder::new().callback(taken).dbus_id(bus_name(folder)).build()
}

/// Starts find this app no more, before it waits for what still runs. May block for a moment.
pub(crate) fn leave<R: tauri::Runtime>(app: &AppHandle<R>) {
    tauri_plugin_single_instance::destroy(app);
}

/// What became of handing a start over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handed {
    /// The app that is open has it.
    Over,
    /// None is open.
    Nobody,
    /// Whether one is open cannot be told here.
    Unknown,
}

/// This start's place as the one app of its data folder.
#[derive(Debug)]
pub(crate) enum Turn {
    /// It is: alone as long as the claim is held. None where nobody can be asked, or the folder takes no claim; what is wrong
    /// with that is said in the window.
    Ours(Option<DesktopClaim>),
    /// Another one has what this start was given.
    Taken,
}

/// Hands the start to the app that is open, or waits until one that ends has ended. Blocks for [`ENDING`] at most: an app
/// that hangs in its end keeps no other from its window.
pub(crate) fn turn(folder: Option<&Path>, hand_over: impl Fn() -> Handed) -> Turn {
    let begun = Instant::now();
    loop {
        match hand_over() {
            Handed::Over => return Turn::Taken,
            Handed::Unknown => return Turn::Ours(None),
            Handed::Nobody => {}
        }
        let Some(folder) = folder else { return Turn::Ours(None) };
        match DesktopClaim::take(folder) {
            Ok(Some(claim)) => return Turn::Ours(Some(claim)),
            Ok(None) if begun.elapsed() < ENDING => std::thread::sleep(EVERY),
            Ok(None) => {
                tracing::warn!("another app has not ended yet; this one no longer waits for it");
                return Turn::Ours(None);
            }
            Err(error) => {
                tracing::debug!(%error, "the data folder takes no claim");
                return Turn::Ours(None);
            }
        }
    }
}

/// One name per data folder, so that two profiles can be open beside each other.
fn bus_name(folder: Option<&Path>) -> String {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    folder.hash(&mut hasher);
    format!("app.bosun.desktop.p{:016x}", hasher.finish())
}

/// Hands this start to the app that is open, with the token by which its window may come to the front. The plugin would
/// hand over the arguments alone, and take an app that ends for one that failed.
#[cfg(target_os = "linux")]
pub(crate) fn hand_over(folder: Option<&Path>, token: Option<&str>) -> Handed {
    let name = format!("{}.SingleInstance", bus_name(folder));
    let path = format!("/{}", name.replace('.', "/"));
    let arguments = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let arguments = match token {
        Some(token) => with_token(arguments, token),
        None => arguments,
    };
    let here = std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned();
    let bus = zbus::blocking::connection::Builder::session();
    let Ok(bus) = bus.and_then(|bus| bus.method_timeout(ANSWER).build()) else { return Handed::Unknown };
    let interface = Some("org.SingleInstance.DBus");
    match bus.call_method(Some(name.as_str()), path.as_str(), interface, "ExecuteCallback", &(arguments, here)) {
        Ok(_) => Handed::Over,
        Err(error) => {
            tracing::debug!(%error, "no app is open that could be handed this start");
            Handed::Nobody
        }
    }
}

/// Elsewhere windows need no token, and the plugin alone knows of the other.
#[cfg(not(target_os = "linux"))]
pub(crate) fn hand_over(_: Option<&Path>, _: Option<&str>) -> Handed {
    Handed::Unknown
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

    #[test]
    fn a_start_waits_for_an_app_that_ends_and_is_handed_to_one_that_is_open() {
        let folder = tempfile::tempdir().unwrap();
        let turn = |handed: Handed| turn(Some(folder.path()), move || handed);
        let ends = DesktopClaim::take(folder.path()).unwrap().unwrap();
        assert!(matches!(turn(Handed::Over), Turn::Taken));
        assert!(matches!(turn(Handed::Unknown), Turn::Ours(None)), "without a bus nobody is waited for");
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| turn(Handed::Nobody));
            std::thread::sleep(EVERY * 4);
            assert!(!waits.is_finished(), "the folder is another's still");
            drop(ends);
            assert!(matches!(waits.join().unwrap(), Turn::Ours(Some(_))));
        });
        assert!(matches!(super::turn(None, || Handed::Nobody), Turn::Ours(None)));
    }

    #[test]
    fn of_starts_that_came_too_late_the_last_that_names_something_counts() {
        let untaken = Untaken::default();
        assert_eq!(untaken.last(), None);
        let named = Launch { folder: Some("/a".into()), ..Launch::default() };
        untaken.0.lock().unwrap().extend([Launch::default(), named.clone(), Launch::default()]);
        assert_eq!(untaken.last(), Some(named));
        assert_eq!(untaken.last(), None);
    }
}
