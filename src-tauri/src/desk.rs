//! What only the desktop around the window can do: its own dialogs, which no script in the page can press, and opening links.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use bosun_backend::{BoxFuture, EditorCommand};
use tauri::{AppHandle, Manager, Runtime};
use tauri_plugin_dialog::{DialogExt, MessageDialogButtons, MessageDialogKind};
use tokio::sync::oneshot;

use crate::language::Spoken;
use crate::window::MAIN;

/// The desktop, as far as the commands need it. Tests have one of their own.
pub trait Desk: Send + Sync {
    /// Asks for a folder; `None` when the dialog was cancelled.
    fn pick_folder<'a>(&'a self, title: &'a str) -> BoxFuture<'a, Option<PathBuf>>;

    /// Asks in a dialog of the system, which nothing in the page can press. Where there is none, the answer is no.
    fn confirm(&self, _question: Question) -> BoxFuture<'_, bool> {
        Box::pin(async { false })
    }

    /// Whether a key or a click that was meant for something else may reach its dialogs.
    fn can_be_pressed_by_mistake(&self) -> bool {
        false
    }

    /// Has carets that begin within the next moment stand still.
    fn rest_caret(&self) {}

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

    /// Opens a file in the person's own editor.
    ///
    /// # Errors
    /// What the system said.
    fn open_in_editor(&self, _editor: &EditorCommand, _path: &Path, _line: u32) -> Result<(), String> {
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

/// A question with two answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub title: &'static str,
    pub text: String,
    pub yes: &'static str,
    pub no: &'static str,
}

/// Words of the dialogs. `{}` stands for what is named.
pub(crate) struct Words {
    /// Why there can be no window.
    pub display_not_set: &'static str,
    pub display_closed: &'static str,
    pub confirm_title: &'static str,
    pub confirm_command: &'static str,
    pub confirm_change: &'static str,
    pub confirm_delete: &'static str,
    pub confirm_run: &'static str,
    pub confirm_keep: &'static str,
    pub confirm_not: &'static str,
    pub confirm_rule: &'static str,
    pub confirm_programs: &'static str,
    pub confirm_editor: &'static str,
    pub confirm_long: &'static str,
    pub close_title: &'static str,
    pub close_one: &'static str,
    pub close_many: &'static str,
    pub close_more: &'static str,
    pub close_kept: &'static str,
    pub close_stop: &'static str,
    pub close_stay: &'static str,
    pub grave_unsandboxed: &'static str,
    pub grave_unsandboxed_later: &'static str,
    pub grave_other_program: &'static str,
    pub grave_outside: &'static str,
    pub grave_protected: &'static str,
    pub grave_folder: &'static str,
    pub grave_destroys: &'static str,
    pub pick_project: &'static str,
    pub pick_moved: &'static str,
    pub pick_tour: &'static str,
    pub pick_export: &'static str,
    pub pick_save: &'static str,
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
        display_not_set: "Bosun needs a display, and neither DISPLAY nor WAYLAND_DISPLAY is set. Start it from a desktop session, or work without a window: bosun run --help",
        display_closed: "Bosun cannot open the display ({}). Start it from a desktop session, or work without a window: bosun run --help",
        confirm_title: "Bosun asks you to confirm",
        confirm_command: "Run a command",
        confirm_change: "Change a file",
        confirm_delete: "Delete",
        confirm_run: "Let it run",
        confirm_keep: "Keep them",
        confirm_not: "Cancel",
        confirm_rule: "And from now on, without asking, calls like:",
        confirm_programs: "Servers and hooks start programs on this machine on their own, and agents can use these folders:",
        confirm_editor: "From now on, files that you open as text are opened with this command, which can do anything you can do:",
        confirm_long: "{} characters in all; only the beginning and the end are shown here, the whole text is in the window",
        close_title: "Close Bosun?",
        close_one: "A session is still working.",
        close_many: "{} sessions are still working.",
        close_more: "and {} more",
        close_kept: "What was done is kept, and you can continue it at the next start.",
        close_stop: "Stop and close",
        close_stay: "Keep working",
        grave_unsandboxed: "It runs without a sandbox: it can do anything you can do.",
        grave_unsandboxed_later: "From now on, commands like this run without asking, also outside a sandbox, where they can do anything you can do.",
        grave_other_program: "Another program carries it out, and can reach whatever that program can reach.",
        grave_outside: "It names a place outside the project, or an address.",
        grave_protected: "It can change {}, which runs code later, holds settings, or is a device on Windows.",
        grave_folder: "It deletes the folder {} with everything in it.",
        grave_destroys: "What this removes cannot be recovered: {}",
        pick_project: "Choose a project folder",
        pick_moved: "Choose the folder where the project is now",
        pick_tour: "Choose where to put the sample project",
        pick_export: "Choose where to export the session",
        pick_save: "Choose where to save the file",
        pick_files_in: "Choose the folder to import",
        pick_files_out: "Choose where to export the files",
        pick_diagnostics: "Choose where to save the diagnostics",
        needs_you: "Needs you",
        is_done: "Done",
        has_failed: "Could not continue",
        untitled: "New session",
    };
    const CHINESE: Words = Words {
        display_not_set: "Bosun 需要显示环境，但 DISPLAY 和 WAYLAND_DISPLAY 都没有设置。请从桌面会话中启动，或不开窗口运行：bosun run --help",
        display_closed: "Bosun 无法打开显示环境（{}）。请从桌面会话中启动，或不开窗口运行：bosun run --help",
        confirm_title: "Bosun 请你确认",
        confirm_command: "运行命令",
        confirm_change: "修改文件",
        confirm_delete: "删除",
        confirm_run: "允许运行",
        confirm_keep: "保留",
        confirm_not: "取消",
        confirm_rule: "并且今后不再询问，直接允许此类调用：",
        confirm_programs: "服务器和钩子会自行在本机启动程序，智能体可使用以下文件夹：",
        confirm_editor: "今后，你以文本打开的文件会由以下命令打开；凡是你能做的，它都能做：",
        confirm_long: "共 {} 个字符；此处显示开头和结尾，完整内容见窗口",
        close_title: "关闭 Bosun？",
        close_one: "还有一个会话正在工作。",
        close_many: "还有 {} 个会话正在工作。",
        close_more: "以及另外 {} 个",
        close_kept: "已完成的部分会保留，下次启动后可以继续。",
        close_stop: "停止并关闭",
        close_stay: "继续工作",
        grave_unsandboxed: "它在沙箱之外运行：凡是你能做的，它都能做。",
        grave_unsandboxed_later: "今后这类命令会直接运行，不再询问，没有沙箱时也是如此；那时凡是你能做的，它们都能做。",
        grave_other_program: "由另一个程序执行；该程序能访问的一切，它都能访问。",
        grave_outside: "它涉及项目之外的位置，或某个网络地址。",
        grave_protected: "它可能会修改 {}，而其中的内容之后会作为代码运行、保存着设置，或在 Windows 上是设备。",
        grave_folder: "它会删除文件夹 {} 及其中的一切。",
        grave_destroys: "此操作删除的内容无法恢复：{}",
        pick_project: "选择项目文件夹",
        pick_moved: "选择项目现在所在的文件夹",
        pick_tour: "选择示例项目的存放位置",
        pick_export: "选择导出会话的位置",
        pick_save: "选择保存文件的位置",
        pick_files_in: "选择要导入的文件夹",
        pick_files_out: "选择导出文件的位置",
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

    fn confirm(&self, question: Question) -> BoxFuture<'_, bool> {
        Box::pin(async move {
            if let Some(answer) = confirmed_by_a_test() {
                return answer;
            }
            let buttons = MessageDialogButtons::OkCancelCustom(question.yes.to_owned(), question.no.to_owned());
            let dialog = self.app.dialog().message(question.text).title(question.title);
            let mut dialog = dialog.kind(MessageDialogKind::Warning).buttons(buttons);
            if let Some(window) = self.app.get_webview_window(MAIN) {
                dialog = dialog.parent(&window);
            }
            let (answer, answered) = oneshot::channel();
            dialog.show(move |yes| {
                if answer.send(yes).is_err() {
                    tracing::debug!("nobody waits for the answer any more");
                }
            });
            answered.await.unwrap_or(false)
        })
    }

    fn can_be_pressed_by_mistake(&self) -> bool {
        confirmed_by_a_test().is_none()
    }

    fn rest_caret(&self) {
        crate::caret::rest(&self.app);
    }

    fn open_link(&self, url: &str) -> Result<(), String> {
        opened(url.as_ref())
    }

    fn show_folder(&self, path: &Path) -> Result<(), String> {
        opened(path.as_ref())
    }

    fn open_file(&self, path: &Path) -> Result<(), String> {
        opened(path.as_ref())
    }

    fn open_in_editor(&self, editor: &EditorCommand, path: &Path, line: u32) -> Result<(), String> {
        editor.open(path, line, &crate::environment::names()).map_err(|error| error.to_string())
    }

    fn reveal(&self, path: &Path) -> Result<(), String> {
        tauri_plugin_opener::reveal_item_in_dir(path).map_err(|error| error.to_string())
    }
}

/// The system's own way to open something, without what was set for this window alone.
#[cfg(target_os = "linux")]
fn opened(target: &OsStr) -> Result<(), String> {
    bosun_backend::hand_to_desktop(target, &crate::environment::names()).map_err(|error| error.to_string())
}

#[cfg(not(target_os = "linux"))]
fn opened(target: &OsStr) -> Result<(), String> {
    tauri_plugin_opener::open_url(target.to_string_lossy(), None::<&str>).map_err(|error| error.to_string())
}

/// Whether a test drives this window by WebDriver, which then holds the whole page anyway. Only builds for development can
/// be driven.
fn is_driven_by_a_test() -> bool {
    cfg!(debug_assertions) && std::env::var("TAURI_WEBVIEW_AUTOMATION").is_ok_and(|on| on == "true")
}

/// WebDriver does not reach the system's dialog; a variable answers for the person. Empty, the dialog is there.
fn answered_by_a_test() -> Option<PathBuf> {
    let answer = if is_driven_by_a_test() { std::env::var_os("BOSUN_PICK_FOLDER") } else { None };
    answer.filter(|folder| !folder.is_empty()).map(PathBuf::from)
}

/// The same for questions: `yes` or `no`; with anything else the system's own dialog is there.
fn confirmed_by_a_test() -> Option<bool> {
    let answer = if is_driven_by_a_test() { std::env::var("BOSUN_CONFIRM").ok() } else { None };
    match answer.as_deref() {
        Some("yes") => Some(true),
        Some("no") => Some(false),
        _ => None,
    }
}
