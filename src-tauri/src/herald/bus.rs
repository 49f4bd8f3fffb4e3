//! The desktop's notification service on the session bus. Where there is none nothing is shown, and the log says so once.

#[cfg(target_os = "linux")]
pub(super) use linux::Bus;

#[cfg(not(target_os = "linux"))]
pub(super) use other::Bus;

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::HashMap;
    use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

    use bosun_protocol::SessionId;
    use futures_util::StreamExt;
    use tauri::{AppHandle, Runtime};
    use tokio::sync::OnceCell;
    use tokio_util::task::TaskTracker;
    use zbus::zvariant::Value;

    use crate::Shell;
    use crate::activation::is_sound;
    use crate::herald::{News, Notice, pressed};

    #[zbus::proxy(
        interface = "org.freedesktop.Notifications",
        default_service = "org.freedesktop.Notifications",
        default_path = "/org/freedesktop/Notifications"
    )]
    trait Notifications {
        #[expect(clippy::too_many_arguments, reason = "the service's own signature")]
        fn notify(
            &self,
            app_name: &str,
            replaces_id: u32,
            app_icon: &str,
            summary: &str,
            body: &str,
            actions: &[&str],
            hints: HashMap<&str, Value<'_>>,
            expire_timeout: i32,
        ) -> zbus::Result<u32>;

        fn close_notification(&self, id: u32) -> zbus::Result<()>;
    }

    /// Of the service's signals: what comes right before a press, for the window to come to the front with, and the press.
    const TOKEN: &str = "ActivationToken";
    const PRESSED: &str = "ActionInvoked";

    /// The name of the desktop entry, for the icon and the settings of the desktop.
    const ENTRY: &str = "Bosun";
    const ICON: &str = "bosun-desktop";
    /// What a press on the notice itself is called.
    const PRESS: &str = "default";
    /// The service's own time.
    const ITS_TIME: i32 = -1;

    /// Where launchers listen for what they show beside an app (Unity's launcher API, which the docks of KDE and GNOME's
    /// extensions follow).
    const LAUNCHERS: &str = "/app/bosun/desktop/launcher";
    const LAUNCHER: &str = "com.canonical.Unity.LauncherEntry";

    /// Notices by their number, the newest of each session.
    type Shown = Arc<Mutex<HashMap<u32, (SessionId, News)>>>;

    /// The connection, made with the first thing to be told.
    #[derive(Default)]
    pub(in crate::herald) struct Bus {
        proxy: OnceCell<Option<NotificationsProxy<'static>>>,
        shown: Shown,
        tasks: TaskTracker,
    }

    impl Bus {
        /// Whether the desktop took it.
        pub(in crate::herald) async fn tell<R: Runtime>(
            &self,
            app: &AppHandle<R>,
            shell: &Arc<Shell>,
            notice: Notice,
        ) -> bool {
            let connected = self.proxy.get_or_init(|| self.connect(app, shell)).await;
            let Some(proxy) = connected else { return false };
            let last = self.number_of(&notice.session);
            let hints =
                HashMap::from([("desktop-entry", Value::from(ENTRY)), ("category", Value::from("im.received"))]);
            let text = escaped(&notice.text);
            let told =
                proxy.notify("Bosun", last, ICON, &notice.title, &text, &[PRESS, &notice.title], hints, ITS_TIME).await;
            match told {
                Ok(number) => {
                    let mut shown = self.shown();
                    shown.retain(|_, (session, _)| *session != notice.session);
                    shown.insert(number, (notice.session, notice.news));
                    true
                }
                Err(error) => {
                    tracing::warn!(%error, "the desktop shows no notification");
                    false
                }
            }
        }

        /// Takes back the notice that a session needs the person, where one is shown: it does not any more.
        pub(in crate::herald) async fn withdraw(&self, session: &SessionId) {
            let Some(Some(proxy)) = self.proxy.get() else { return };
            let number = {
                let mut shown = self.shown();
                let asks = |known: &(SessionId, News)| known.0 == *session && known.1 == News::NeedsYou;
                let number = shown.iter().find_map(|(number, known)| asks(known).then_some(*number));
                number.inspect(|number| drop(shown.remove(number)))
            };
            if let Some(number) = number
                && let Err(error) = proxy.close_notification(number).await
            {
                tracing::debug!(%error, "the notification was gone already");
            }
        }

        /// What the app's entry in the launcher counts; nothing is shown at 0.
        pub(in crate::herald) async fn count<R: Runtime>(&self, app: &AppHandle<R>, shell: &Arc<Shell>, count: i64) {
            let connected = self.proxy.get_or_init(|| self.connect(app, shell)).await;
            let Some(proxy) = connected else { return };
            let shown = HashMap::from([("count", Value::from(count)), ("count-visible", Value::from(count > 0))]);
            let entry = (format!("application://{ENTRY}.desktop"), shown);
            let connection = proxy.inner().connection();
            if let Err(error) = connection.emit_signal(None::<&str>, LAUNCHERS, LAUNCHER, "Update", &entry).await {
                tracing::debug!(%error, "the launcher is not told");
            }
        }

        /// The number of the notice that a session's new one takes the place of; 0 for none.
        fn number_of(&self, session: &SessionId) -> u32 {
            self.shown().iter().find(|(_, (known, _))| known == session).map_or(0, |(number, _)| *number)
        }

        fn shown(&self) -> MutexGuard<'_, HashMap<u32, (SessionId, News)>> {
            self.shown.lock().unwrap_or_else(PoisonError::into_inner)
        }

        async fn connect<R: Runtime>(
            &self,
            app: &AppHandle<R>,
            shell: &Arc<Shell>,
        ) -> Option<NotificationsProxy<'static>> {
            let connected = async {
                let connection = zbus::Connection::session().await?;
                let proxy = NotificationsProxy::new(&connection).await?;
                // One stream of both, in which a token stands before its press.
                let signals = proxy.inner().receive_all_signals().await?;
                Ok::<_, zbus::Error>((proxy, signals))
            };
            let (proxy, mut signals) = match connected.await {
                Ok(connected) => connected,
                Err(error) => {
                    tracing::warn!(%error, "the desktop has no notifications");
                    return None;
                }
            };
            let (app, shell, shown) = (app.clone(), Arc::clone(shell), Arc::clone(&self.shown));
            self.tasks.spawn(async move {
                let mut lent: Option<(u32, String)> = None;
                while let Some(signal) = signals.next().await {
                    let name = signal.header().member().map(ToString::to_string);
                    let Ok((id, said)) = signal.body().deserialize::<(u32, String)>() else { continue };
                    match name.as_deref() {
                        Some(TOKEN) => lent = Some((id, said)).filter(|(_, token)| is_sound(token)),
                        Some(PRESSED) => {
                            let token = lent.take().filter(|(of, _)| *of == id).map(|(_, token)| token);
                            let known = shown.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
                            if let Some((session, _)) = known.filter(|_| said == PRESS) {
                                pressed(&app, &shell, session, token);
                            }
                        }
                        Some(_) | None => {}
                    }
                }
            });
            Some(proxy)
        }
    }

    /// The service reads a little markup.
    fn escaped(text: &str) -> String {
        text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
    }

    #[cfg(test)]
    mod tests {
        #[test]
        fn a_title_is_no_markup() {
            assert_eq!(super::escaped("<a href='x'>&"), "&lt;a href='x'&gt;&amp;");
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use std::sync::Arc;

    use bosun_protocol::SessionId;
    use tauri::{AppHandle, Manager, Runtime};

    use crate::Shell;
    use crate::herald::Notice;
    use crate::window::MAIN;

    /// Here the window asks for attention and the badge counts; there is no notice to press.
    #[derive(Default)]
    pub(in crate::herald) struct Bus;

    impl Bus {
        /// Where the platform has a badge for the app, it counts what waits.
        pub(in crate::herald) async fn count<R: Runtime>(&self, app: &AppHandle<R>, _: &Arc<Shell>, count: i64) {
            let Some(window) = app.get_webview_window(MAIN) else { return };
            if let Err(error) = window.set_badge_count((count > 0).then_some(count)) {
                tracing::debug!(%error, "the app has no badge here");
            }
        }

        /// Whether the desktop took it.
        pub(in crate::herald) async fn tell<R: Runtime>(
            &self,
            _: &AppHandle<R>,
            _: &Arc<Shell>,
            notice: Notice,
        ) -> bool {
            let Notice { session, news, title, text } = notice;
            tracing::debug!(title, %session, text, ?news, "worth a notice");
            false
        }

        pub(in crate::herald) async fn withdraw(&self, _: &SessionId) {}
    }
}
