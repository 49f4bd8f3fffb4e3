//! Tells the desktop when a session needs the person or is done and is not in view: the window is not in front, or shows
//! another. A press on the notice brings the window to the front, at that session. What was answered elsewhere is told no
//! longer.

mod bus;

use std::collections::HashMap;
use std::sync::Arc;

use bosun_protocol::{SessionId, SessionStatus, SessionSummary};
use bosun_session::export::one_line;
use tauri::{AppHandle, Manager, Runtime, UserAttentionType};

use crate::core::Core;
use crate::desk::{Words, words};
use crate::window::{self, MAIN};
use crate::{Shell, herald::bus::Bus};

/// Longest title in a notice, in characters.
const LONGEST_TITLE: usize = 120;

/// What is worth a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum News {
    NeedsYou,
    Done,
    Failed,
}

/// What was known of each session when it was last heard of.
#[derive(Default)]
struct Known(HashMap<SessionId, (SessionStatus, u32)>);

impl Known {
    /// What is new about a session, for the person.
    fn learn(&mut self, session: &SessionSummary) -> Option<News> {
        // What a subagent waits for counts with its session.
        let is_own = session.parent.is_none() && session.deleted_at.is_none();
        let waiting = if is_own { session.waiting } else { 0 };
        // A summary that was made is not the end of a turn.
        let status = if session.summing_up { SessionStatus::Idle } else { session.status };
        let (before, waited) = self.0.insert(session.id.clone(), (status, waiting))?;
        if !is_own {
            return None;
        }
        let worked = matches!(before, SessionStatus::Running | SessionStatus::Waiting);
        match session.status {
            _ if session.waiting > waited => Some(News::NeedsYou),
            SessionStatus::Idle if worked => Some(News::Done),
            SessionStatus::Failed if worked => Some(News::Failed),
            _ => None,
        }
    }

    /// Requests that wait in all sessions.
    fn waiting(&self) -> i64 {
        self.0.values().map(|(_, waiting)| i64::from(*waiting)).sum()
    }
}

/// Listens to the sessions until the app ends.
pub(crate) async fn run<R: Runtime>(app: AppHandle<R>, shell: Arc<Shell>) {
    let Ok(core) = shell.core().await else { return };
    let (sessions, mut changes) = match core.sessions.watch_summaries().await {
        Ok(watched) => watched,
        Err(error) => return tracing::warn!(%error, "the desktop will not be told of sessions"),
    };
    let mut known = Known::default();
    for session in &sessions {
        known.learn(session);
    }
    let bus = Bus::default();
    // What waited when the app was closed counts from the start.
    let mut badge = known.waiting();
    if badge > 0 {
        bus.count(&app, &shell, badge).await;
    }
    loop {
        for session in changes.next().await {
            let news = known.learn(&session);
            if known.waiting() != badge {
                badge = known.waiting();
                bus.count(&app, &shell, badge).await;
            }
            let is_told = match news {
                Some(news) => tell(&app, &shell, &core, &bus, news, &session).await,
                None => false,
            };
            if !is_told && session.waiting == 0 {
                bus.withdraw(&session.id).await;
            }
        }
    }
}

/// Tells the person, unless they see it or want no notices; whether they were told.
async fn tell<R: Runtime>(
    app: &AppHandle<R>,
    shell: &Arc<Shell>,
    core: &Core,
    bus: &Bus,
    news: News,
    session: &SessionSummary,
) -> bool {
    if window::is_in_front(app) && shell.forwarders.shows(&session.id) {
        return false;
    }
    let is_muted = core.settings().await.is_ok_and(|settings| settings.muted);
    let mut is_told = false;
    if !is_muted {
        if news == News::NeedsYou {
            ask_for_attention(app);
        }
        let spoken = words(shell.spoken().await);
        is_told = bus.tell(app, shell, notice(spoken, news, session)).await;
    }
    if news == News::NeedsYou && is_told {
        shell.closing.told(&session.id);
    }
    // Out of sight and untold, it would wait for ever.
    if news == News::NeedsYou && !is_told && shell.closing.is_hidden() {
        bring_back(app, shell, None);
    }
    is_told
}

/// Brings the window to the front, also one that was to go when all is done: the person is back.
fn bring_back<R: Runtime>(app: &AppHandle<R>, shell: &Shell, token: Option<String>) {
    shell.closing.came_back();
    window::focus(app, token);
}

/// What the desktop shows.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Notice {
    session: SessionId,
    news: News,
    title: String,
    text: String,
}

fn notice(words: &Words, news: News, session: &SessionSummary) -> Notice {
    let title = one_line(&session.title);
    let title = if title.is_empty() { words.untitled.to_owned() } else { title.chars().take(LONGEST_TITLE).collect() };
    let said = match news {
        News::NeedsYou => words.needs_you,
        News::Done => words.is_done,
        News::Failed => words.has_failed,
    };
    Notice { session: session.id.clone(), news, title: said.to_owned(), text: title }
}

fn ask_for_attention<R: Runtime>(app: &AppHandle<R>) {
    let Some(window) = app.get_webview_window(MAIN) else { return };
    if let Err(error) = window.request_user_attention(Some(UserAttentionType::Informational)) {
        tracing::debug!(%error, "the window does not ask for attention");
    }
}

/// The person pressed a notice; with the press came a token.
fn pressed<R: Runtime>(app: &AppHandle<R>, shell: &Shell, session: SessionId, token: Option<String>) {
    bring_back(app, shell, token);
    shell.go_to(session);
}

#[cfg(test)]
#[path = "herald_tests.rs"]
pub(crate) mod tests;
