//! From the first instruction to the open window, and from the closed window to the last one.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bosun_protocol::{Language, Settings, Theme};
use bosun_providers::{EnvironmentKeys, KnownSecrets};
use bosun_store::KeyringSecrets;
use tauri::{App, AppHandle, Manager, WindowEvent};
use tauri_plugin_window_state::StateFlags;
use tokio_util::task::TaskTracker;

use crate::commands;
use crate::context::context;
use crate::core::CoreParts;
use crate::desk::SystemDesk;
use crate::environment;
use crate::graphics::{self, Facts};
use crate::instance::Untaken;
use crate::launch::{Launch, SAFE_GRAPHICS, Said};
use crate::logs;
use crate::{Shell, activation, closing, display, herald, instance, memory, providers, reviving, window};

/// How long the page may take to its first frame.
const PATIENCE: Duration = Duration::from_secs(10);

/// The exit codes.
const DONE: u8 = 0;
const FAILED: u8 = 1;

/// The desktop app, from its command line to its exit code. The first thing `main` does, and the only one: before there is
/// any other thread it takes the keys out of the environment and sets the switches of drawing.
pub fn main() -> u8 {
    let here = std::env::current_dir().unwrap_or_default();
    let launch = match Launch::parse(std::env::args_os().skip(1), &here) {
        Ok(launch) => launch,
        Err(Said::Answer(answer)) => {
            println!("{answer}");
            return DONE;
        }
        Err(Said::Refusal(refusal)) => return refuse(&refusal),
    };
    let variable = |name: &str| std::env::var(name).ok();
    bosun_backend::forbid_core_dumps();
    bosun_backend::keep_little();
    let keys = EnvironmentKeys::take(providers::key_variables());
    let folder = bosun_store::data_folder();
    let safe = launch.safe_graphics || graphics::remembered(folder.as_deref());
    let facts = Facts::gather(safe, variable);
    // Without a card there is nothing safer to start again with.
    let facts = Facts { render_node: facts.render_node || blank().is_some(), ..facts };
    let switches = graphics::switches(facts, |name| std::env::var_os(name).is_some());
    environment::set(&switches.set);
    environment::set(&memory::switches(|name| std::env::var_os(name).is_some()));
    // GTK takes it out of the environment.
    let token = activation::given(variable);
    if let Some(problem) = display::problem(variable) {
        return refuse(&problem);
    }
    let secrets = KnownSecrets::default();
    keys.secrets().for_each(|key| secrets.learn(key));
    let log = logs::start(folder.as_deref(), secrets.clone());
    let handed = || instance::hand_over(folder.as_deref(), token.as_deref());
    // Held until the process ends: whoever starts meanwhile waits for that.
    let _claim = match instance::turn(folder.as_deref(), handed) {
        instance::Turn::Ours(claim) => claim,
        instance::Turn::Taken => return DONE,
    };
    let start = Start { launch, keys: keys.clone(), folder, safest: switches.safest, secrets };
    match start.run() {
        Ok(Ending::Closed) => DONE,
        Ok(Ending::Failed(reason)) => refuse(&reason),
        Ok(Ending::Again(env)) => {
            drop(log);
            keys.give_back();
            tauri::process::restart(&env)
        }
        Err(error) => refuse(&format!("Bosun cannot open its window: {error}")),
    }
}

fn refuse(sentence: &str) -> u8 {
    tracing::error!(sentence, "the app ends");
    eprintln!("{sentence}");
    FAILED
}

/// How a run ended.
enum Ending {
    Closed,
    Failed(String),
    /// The window stayed blank, and this is a start in safe drawing; or it is one that came too late for the window.
    Again(tauri::Env),
}

/// A start that can go ahead.
struct Start {
    launch: Launch,
    keys: EnvironmentKeys,
    folder: Option<PathBuf>,
    /// Whether nothing safer is left to draw with.
    safest: bool,
    secrets: KnownSecrets,
}

impl Start {
    /// Opens the window and returns when it is closed.
    fn run(self) -> tauri::Result<Ending> {
        let untaken = Untaken::default();
        let (others, late) = (untaken.clone(), untaken.clone());
        let tasks = TaskTracker::new();
        let (folder, again) = (self.folder.clone(), tasks.clone());
        let state = tauri_plugin_window_state::Builder::new()
            .with_state_flags(StateFlags::SIZE | StateFlags::POSITION | StateFlags::MAXIMIZED);
        let state = match &folder {
            Some(folder) => state.with_filename(folder.join("window.json").to_string_lossy()),
            None => state,
        };
        let app = tauri::Builder::default()
            .plugin(instance::only(folder.as_deref(), others, again))
            .plugin(tauri_plugin_dialog::init())
            .plugin(state.build())
            .on_window_event(|window, event| {
                if let WindowEvent::CloseRequested { api, .. } = event
                    && let Some(shell) = window.try_state::<Arc<Shell>>()
                {
                    closing::requested(window.app_handle(), &shell, api);
                }
            })
            .invoke_handler(commands::handler())
            .setup(move |app| {
                if let Err(error) = self.set_up(app, &tasks) {
                    app.manage(FailedToOpen(error.to_string()));
                    app.handle().exit(1);
                    return Ok(());
                }
                untaken.show_all(app.handle(), &tasks);
                Ok(())
            })
            .build(context())?;
        let (handle, env) = (app.handle().clone(), app.env());
        let code = app.run_return(|_, _| {});
        Ok(end(&handle, env, code, &late))
    }

    /// Makes the shell and opens the window. The data folder opens meanwhile.
    fn set_up(self, app: &App, tasks: &TaskTracker) -> tauri::Result<()> {
        let parts = CoreParts {
            folder: self.folder.clone(),
            keyring: Arc::new(KeyringSecrets),
            environment: self.keys,
            defaults: defaults(),
        };
        let shell = Arc::new(Shell::with_secrets(parts, SystemDesk::new(app.handle().clone()), self.secrets));
        if let Some(folder) = self.launch.folder {
            shell.open_at_start(folder);
        }
        if let Some(session) = self.launch.session {
            shell.go_to(session);
        }
        app.manage(Arc::clone(&shell));
        let runtime = tauri::async_runtime::handle();
        let opening = Arc::clone(&shell);
        let opened = async move {
            let Ok(core) = opening.core().await else { return };
            if let Err(error) = core.sessions.move_values().await {
                tracing::warn!(%error, "what servers and hooks are given stays in the settings");
            }
        };
        tasks.spawn_on(opened, runtime.inner());
        let page = Arc::clone(&shell);
        reviving::keep(&window::open(app, self.folder.as_deref(), move || page.page_begins())?);
        tasks.spawn_on(herald::run(app.handle().clone(), Arc::clone(&shell)), runtime.inner());
        let watch = watch(app.handle().clone(), shell, self.folder, self.safest);
        tasks.spawn_on(watch, runtime.inner());
        tasks.spawn_on(memory::give_back(), runtime.inner());
        Ok(())
    }
}

/// Why there is no window.
struct FailedToOpen(String);

fn end(app: &AppHandle, mut env: tauri::Env, code: i32, late: &Untaken) -> Ending {
    let shell = app.try_state::<Arc<Shell>>().map(|shell| Arc::clone(&shell));
    let blank = shell.as_ref().is_some_and(|shell| shell.gave_up_drawing());
    if let Some(shell) = shell {
        shell.closing.ends();
        tauri::async_runtime::block_on(shell.close());
    }
    let late = late.last();
    if let Some(launch) = &late {
        env.args_os = launch.arguments(env.args_os.first().cloned().unwrap_or_default());
    }
    if blank {
        // In front: behind `--` it would be a folder.
        env.args_os.insert(1.min(env.args_os.len()), SAFE_GRAPHICS.into());
    }
    if blank || late.is_some() {
        return Ending::Again(env);
    }
    let failed = app.try_state::<FailedToOpen>().map(|failed| failed.0.clone());
    match failed {
        Some(reason) => Ending::Failed(format!("Bosun cannot open its window: {reason}")),
        None if code != 0 => Ending::Failed(format!("Bosun's window ended with code {code}")),
        None => Ending::Closed,
    }
}

/// Restarts in safe drawing when the page does not come up. Once: a start that draws safely only says so in the log.
async fn watch(app: AppHandle, shell: Arc<Shell>, folder: Option<PathBuf>, safest: bool) {
    let patience = match blank() {
        Some(patience) => {
            tokio::time::sleep(patience).await;
            patience
        }
        None if shell.drew_within(PATIENCE).await => return,
        None => PATIENCE,
    };
    if safest {
        tracing::error!("the page drew nothing within {patience:?}, in safe drawing too");
        return;
    }
    tracing::error!("the page drew nothing within {patience:?}; starting again in safe drawing");
    if let Some(Err(error)) = folder.as_deref().map(graphics::remember) {
        tracing::warn!(%error, "the next start will try the graphics card again");
    }
    shell.give_up_drawing();
    shell.closing.ends();
    app.exit(0);
}

/// By these tests of the real window choose how it is, in their builds only.
fn of_tests(variable: &str) -> Option<String> {
    if cfg!(debug_assertions) { std::env::var(variable).ok() } else { None }
}

/// The page counts as one that draws nothing, and is waited for so long, on a machine with a graphics card.
fn blank() -> Option<Duration> {
    of_tests("BOSUN_BLANK")?.parse().ok().map(Duration::from_millis)
}

/// What stops before an app ends takes so much longer.
pub(crate) fn lingers() -> Option<Duration> {
    of_tests("BOSUN_LINGERS")?.parse().ok().map(Duration::from_millis)
}

/// The settings until some are saved.
fn defaults() -> Settings {
    let theme = match of_tests("BOSUN_THEME").as_deref() {
        Some("light") => Theme::Light,
        Some("dark") => Theme::Dark,
        _ => Theme::System,
    };
    let language = match of_tests("BOSUN_LANG").as_deref() {
        Some("en") => Language::English,
        Some("zh-CN") => Language::SimplifiedChinese,
        _ => Language::System,
    };
    Settings { theme, language, ..Settings::default() }
}
