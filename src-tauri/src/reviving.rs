//! A page whose process ended, by a fault of its own or because the system needed its memory. The core goes on meanwhile; the
//! page is loaded again and begins with what is.

use tauri::{Runtime, WebviewWindow};

/// Loads the page again whenever its process ends.
#[cfg(target_os = "linux")]
pub(crate) fn keep<R: Runtime>(window: &WebviewWindow<R>) {
    use std::cell::Cell;
    use std::time::{Duration, Instant};

    use webkit2gtk::WebViewExt;

    /// A page that cannot live is not begun anew more often than this.
    const A_WHILE: Duration = Duration::from_secs(5);

    let kept = window.with_webview(|webview| {
        let last = Cell::new(None::<Instant>);
        webview.inner().connect_web_process_terminated(move |view, reason| {
            let is_soon = last.replace(Some(Instant::now())).is_some_and(|last| last.elapsed() < A_WHILE);
            tracing::error!(?reason, is_soon, "the page's process ended; the page is loaded again");
            if is_soon {
                let view = view.clone();
                gtk::glib::timeout_add_local_once(A_WHILE, move || view.reload());
            } else {
                view.reload();
            }
        });
    });
    if let Err(error) = kept {
        tracing::warn!(%error, "a page whose process ends stays blank");
    }
}

/// On other systems it is left to the engine.
#[cfg(not(target_os = "linux"))]
pub(crate) fn keep<R: Runtime>(_: &WebviewWindow<R>) {}
