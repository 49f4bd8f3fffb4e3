//! The one window: its size, and what it refuses. The page may go nowhere but to itself.

use std::path::{Path, PathBuf};

use tauri::webview::{NewWindowResponse, PageLoadEvent};
use tauri::{AppHandle, Manager, Runtime, Url, WebviewUrl, WebviewWindow, WebviewWindowBuilder};

use crate::activation;

/// The window's label, which the capability names.
pub(crate) const MAIN: &str = "main";

const SIZE: (f64, f64) = (1_440.0, 900.0);
const SMALLEST: (f64, f64) = (640.0, 480.0);

/// Opens the window. The page's own storage goes into `data`, or stays in memory where nothing can be made there: what is
/// wrong with the folder is then said in the window. `reloaded` is called whenever a page begins anew.
pub(crate) fn open<R: Runtime, M: Manager<R>>(
    app: &M,
    data: Option<&Path>,
    reloaded: impl Fn() + Send + Sync + 'static,
) -> tauri::Result<WebviewWindow<R>> {
    let (width, height) = fitting(app);
    let dev = app.config().build.dev_url.clone().filter(|_| tauri::is_dev());
    let builder = WebviewWindowBuilder::new(app, MAIN, WebviewUrl::default())
        .title("Bosun")
        .inner_size(width, height)
        .min_inner_size(SMALLEST.0.min(width), SMALLEST.1.min(height))
        .devtools(cfg!(debug_assertions))
        // The page takes files that are dropped on it; with the handler of the shell it would never hear of them.
        .disable_drag_drop_handler()
        .on_navigation(move |url| allowed(url, dev.as_ref()))
        .on_new_window(|url, _| {
            tracing::warn!(scheme = url.scheme(), "the page wanted a new window");
            NewWindowResponse::Deny
        })
        .on_page_load(move |_, page| {
            if page.event() == PageLoadEvent::Started {
                reloaded();
            }
        });
    let builder = without_network(builder);
    match data.and_then(storage) {
        Some(folder) => builder.data_directory(folder),
        None => builder.incognito(true),
    }
    .build()
}

/// The folder of the page's own storage in `data`, made if it was missing.
#[allow(clippy::disallowed_methods, reason = "the app's own folder, not the agent's")]
fn storage(data: &Path) -> Option<PathBuf> {
    let folder = data.join("webview");
    match std::fs::create_dir_all(&folder) {
        Ok(()) => Some(folder),
        Err(error) => {
            tracing::warn!(%error, "what the page stores stays in memory");
            None
        }
    }
}

/// Brings the window to the front, with the token that a desktop gave for it.
pub(crate) fn focus<R: Runtime, M: Manager<R>>(app: &M, token: Option<String>) {
    let Some(window) = app.get_webview_window(MAIN) else { return };
    if let Some(token) = token {
        activation::lend(&window, token);
    }
    for done in [window.unminimize(), window.show(), window.set_focus()] {
        if let Err(error) = done {
            tracing::warn!(%error, "the window does not come to the front");
        }
    }
}

/// Takes the window out of sight. Unlike one that is only minimised it can be brought back on every desktop: showing it is
/// opening it anew.
pub(crate) fn hide<R: Runtime, M: Manager<R>>(app: &M) {
    let Some(window) = app.get_webview_window(MAIN) else { return };
    if let Err(error) = window.hide() {
        tracing::warn!(%error, "the window stays in sight");
    }
}

/// Whether the person looks at the window.
pub(crate) fn is_in_front<R: Runtime, M: Manager<R>>(app: &M) -> bool {
    app.get_webview_window(MAIN).is_some_and(|window| {
        window.is_focused().unwrap_or(true)
            && window.is_visible().unwrap_or(true)
            && !window.is_minimized().unwrap_or(false)
    })
}

/// Closes the window without asking, and with it the app.
pub(crate) fn end<R: Runtime>(app: &AppHandle<R>) {
    let closed = app.get_webview_window(MAIN).map(|window| window.destroy());
    if !matches!(closed, Some(Ok(()))) {
        app.exit(0);
    }
}

/// The usual size, or the screen's where that is smaller.
fn fitting<R: Runtime, M: Manager<R>>(app: &M) -> (f64, f64) {
    let monitor = app.app_handle().primary_monitor().ok().flatten();
    let Some(monitor) = monitor else { return SIZE };
    let screen = monitor.work_area().size.to_logical::<f64>(monitor.scale_factor());
    (SIZE.0.min(screen.width), SIZE.1.min(screen.height))
}

/// The page is fetched from the program itself and needs no network. What the content policy does not cover (WebKit
/// connects ahead for `<link rel="preconnect">`, whatever the policy says) ends at a proxy that cannot be there: nothing
/// can listen at port 0.
#[cfg(target_os = "linux")]
fn without_network<R: Runtime, M: Manager<R>>(
    builder: WebviewWindowBuilder<'_, R, M>,
) -> WebviewWindowBuilder<'_, R, M> {
    match Url::parse("http://127.0.0.1:0") {
        // The page of the development server is on the network.
        Ok(nowhere) if !tauri::is_dev() => builder.proxy_url(nowhere),
        Ok(_) | Err(_) => builder,
    }
}

#[cfg(not(target_os = "linux"))]
fn without_network<R: Runtime, M: Manager<R>>(
    builder: WebviewWindowBuilder<'_, R, M>,
) -> WebviewWindowBuilder<'_, R, M> {
    builder
}

/// Whether the page may go to `url`: only to a page of its own bundle, or of the development server in a build for that.
fn allowed(url: &Url, dev: Option<&Url>) -> bool {
    let bundled = match url.scheme() {
        "tauri" => url.host_str() == Some("localhost"),
        "http" | "https" if cfg!(any(windows, target_os = "android")) => url.host_str() == Some("tauri.localhost"),
        _ => false,
    };
    let own = bundled || dev.is_some_and(|dev| dev.origin() == url.origin());
    if !own {
        // The rest of the address may hold what the page wanted to carry out.
        tracing::warn!(scheme = url.scheme(), "the page wanted to leave");
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_goes_nowhere_but_to_itself() {
        let dev = Url::parse("http://localhost:5173").unwrap();
        let go = |url: &str, dev: Option<&Url>| allowed(&Url::parse(url).unwrap(), dev);
        assert!(go("tauri://localhost", None) && go("tauri://localhost/index.html#x", None));
        assert!(go("http://localhost:5173/x", Some(&dev)) && !go("http://localhost:5173/x", None));
        let refused = [
            "https://example.org",
            "http://localhost:5174/",
            "https://localhost:5173/",
            "tauri://evil",
            "tauri://localhost.evil/",
            "file:///etc/passwd",
            "data:text/html,x",
            "javascript:alert(1)",
            "about:blank",
            "blob:tauri://localhost/1",
            "ipc://localhost/start",
        ];
        for url in refused {
            assert!(!go(url, Some(&dev)), "{url}");
        }
    }
}
