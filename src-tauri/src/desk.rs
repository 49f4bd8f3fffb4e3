//! What only the desktop around the window can do: its own dialogs, which no script in the page can press, and opening links.

use std::path::{Path, PathBuf};

use bosun_backend::BoxFuture;
use tauri::{AppHandle, Manager, Runtime};
use tauri_plugin_dialog::DialogExt;
use tokio::sync::oneshot;

use crate::language::Spoken;
use crate::window::MAIN;

/// The desktop, as far as the commands need it. Tests have one of their own.
pub trait Desk: Send + Sync {
    /// Asks for a folder; `None` when the dialog was cancelled.
    fn pick_folder<'a>(&'a self, title: &'a str) -> BoxFuture<'a, Option<PathBuf>>;

    /// Hands an address to the system's browser or mail program.
    ///
    /// # Errors
    /// What the system said.
    fn open_link(&self, url: &str) -> Result<(), String>;

    /// Shows a folder in the system's file manager.
    ///
    /// # Errors
    /// What the system said.
    fn show_folder(&self, path: &Path) -> Result<(), String>;

    /// Opens a file in the program that the system has for it.
    ///
    /// # Errors
    /// What the system said.
    fn open_file(&self, _path: &Path) -> Result<(), String> {
        Err("there is no desktop around it".to_owned())
    }

    /// Shows a file, chosen, in the system's file manager.
    ///
    /// # Errors
    /// What the system said.
    fn reveal(&self, _path: &Path) -> Result<(), String> {
        Err("there is no desktop around it".to_owned())
    }
}

/// Words of the dialogs.
pub(crate) struct Words {
    pub pick_project: &'static str,
    pub pick_tour: &'static str,
    pub pick_export: &'static str,
    pub pick_files_in: &'static str,
    pub pick_files_out: &'static str,
    pub pick_diagnostics: &'static str,
    pub needs_you: &'static str,
    pub is_done: &'static str,
    pub has_failed: &'static str,
    pub untitled: &'static str,
}

pub(crate) fn words(spoken: Spoken) -> &'static Words {
    const ENGLISH: Words = Words {
        pick_project: "Choose a project folder",
        pick_tour: "Choose where the sample project goes",
        pick_export: "Choose where the session is written",
        pick_files_in: "Choose the folder to bring in",
        pick_files_out: "Choose where the files are written",
        pick_diagnostics: "Choose where the diagnostics are written",
        needs_you: "Needs you",
        is_done: "Done",
        has_failed: "Could not go on",
        untitled: "New session",
    };
    const CHINESE: Words = Words {
        pick_project: "选择项目文件夹",
        pick_tour: "选择存放示例项目的位置",
        pick_export: "选择导出会话的位置",
        pick_files_in: "选择要导入的文件夹",
        pick_files_out: "选择写入文件的位置",
        pick_diagnostics: "选择保存诊断信息的位置",
        needs_you: "需要你处理",
        is_done: "已完成",
        has_failed: "未能继续",
        untitled: "新会话",
    };
    match spoken {
        Spoken::English => &ENGLISH,
        Spoken::Chinese => &CHINESE,
    }
}

/// The real one.
pub(crate) struct SystemDesk<R: Runtime> {
    app: AppHandle<R>,
}

impl<R: Runtime> SystemDesk<R> {
    pub(crate) fn new(app: AppHandle<R>) -> Self {
        Self { app }
    }
}

impl<R: Runtime> Desk for SystemDesk<R> {
    fn pick_folder<'a>(&'a self, title: &'a str) -> BoxFuture<'a, Option<PathBuf>> {
        Box::pin(async move {
            if let Some(folder) = answered_by_a_test() {
                return Some(folder);
            }
            let mut dialog = self.app.dialog().file().set_title(title).set_can_create_directories(true);
            if let Some(window) = self.app.get_webview_window(MAIN) {
                dialog = dialog.set_parent(&window);
            }
            let (answer, answered) = oneshot::channel();
            dialog.pick_folder(move |picked| {
                if answer.send(picked).is_err() {
                    tracing::debug!("nobody waits for the folder any more");
                }
            });
            answered.await.ok().flatten()?.into_path().ok()
        })
    }

    fn open_link(&self, url: &str) -> Result<(), String> {
        tauri_plugin_opener::open_url(url, None::<&str>).map_err(|error| error.to_string())
    }

    fn show_folder(&self, path: &Path) -> Result<(), String> {
        tauri_plugin_opener::open_path(path, None::<&str>).map_err(|error| error.to_string())
    }

    fn open_file(&self, path: &Path) -> Result<(), String> {
        tauri_plugin_opener::open_path(path, None::<&str>).map_err(|error| error.to_string())
    }

    fn reveal(&self, path: &Path) -> Result<(), String> {
        tauri_plugin_opener::reveal_item_in_dir(path).map_err(|error| error.to_string())
    }
}

/// Tests of the real window cannot reach the system's dialog; in their builds a variable answers for the person.
fn answered_by_a_test() -> Option<PathBuf> {
    if cfg!(debug_assertions) { std::env::var_os("BOSUN_PICK_FOLDER").map(PathBuf::from) } else { None }
}
