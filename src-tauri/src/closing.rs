//! What closing the window comes to while sessions are at work: the person is asked first, by the page, and by a dialog of
//! the system where the page does not ask. A page that hangs keeps no window open.
//!
//! [`Closing`] holds how it stands and decides; [`requested`] and what follows it ask, look and act.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bosun_protocol::{CloseChoice, SessionId, SessionSummary};
use tauri::{AppHandle, CloseRequestApi, Runtime};
use tokio::sync::{Mutex as AsyncMutex, Notify};
use tokio_util::task::TaskTracker;

use crate::{Shell, instance, start, window};

/// How long the page may take until it shows the question, and the core until it says what is at work.
const PATIENCE: Duration = Duration::from_secs(3);

/// A second request that comes sooner is the second half of a double click.
const DOUBLE_CLICK: Duration = Duration::from_secs(1);

/// So often it is looked what is at work. The end of a subagent beside its session is told to nobody.
const EVERY: Duration = Duration::from_millis(500);

/// So often in a row nothing has to be at work: between a turn and the next of the queue nothing is, for a moment.
const LOOKS: u32 = 2;

/// How long an end waits for turns to stop. Their journals have everything already.
const STOPPING: Duration = Duration::from_secs(5);

/// How it stands with closing the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stand {
    #[default]
    Open,
    /// It is looked what is at work.
    Looking { since: Instant },
    /// The page has the question, and the person may see it.
    Asked { since: Instant, shown: bool },
    /// The dialog of the system has it.
    Dialog,
    /// Out of sight, until nothing is at work.
    Hidden,
    /// What is at work is stopped.
    Stopping,
    /// The app ends.
    Ending,
}

/// What a request to close means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    /// Whoever takes it looks what is at work, and asks.
    New,
    /// It changed what is going on already, or nothing.
    Taken,
    /// Nobody answers: the window closes.
    Unheard,
}

/// How it stands with closing the window, and who waits to hear of it.
#[derive(Debug, Default)]
pub(crate) struct Closing {
    stand: Mutex<Stand>,
    news: Notify,
    /// The sessions of which the person was told, since it is hidden, that they wait.
    told: Mutex<HashSet<SessionId>>,
    /// Held by whoever goes from stand to stand.
    settling: AsyncMutex<()>,
    tasks: TaskTracker,
}

impl Closing {
    /// The page shows the question.
    pub(crate) fn shown(&self) {
        self.change(|stand| match stand {
            Stand::Asked { since, .. } => Some(Stand::Asked { since, shown: true }),
            _ => None,
        });
    }

    /// The person answered in the page.
    pub(crate) fn answered(&self, choice: CloseChoice) {
        self.change(|stand| matches!(stand, Stand::Asked { .. }).then_some(after(choice)));
    }

    /// The page that asked is gone.
    pub(crate) fn page_begins(&self) {
        self.change(|stand| matches!(stand, Stand::Asked { .. }).then_some(Stand::Open));
    }

    /// The person wants the window in sight again: it stays. `false` where the app ends already.
    pub(crate) fn came_back(&self) -> bool {
        let mut stand = self.stand();
        match *stand {
            Stand::Stopping | Stand::Ending => return false,
            Stand::Hidden | Stand::Looking { .. } => *stand = Stand::Open,
            Stand::Open | Stand::Asked { .. } | Stand::Dialog => {}
        }
        drop(stand);
        self.news.notify_one();
        true
    }

    /// The app ends, whatever was asked.
    pub(crate) fn ends(&self) {
        self.change(|_| Some(Stand::Ending));
    }

    /// The person was told that a session waits for them.
    pub(crate) fn told(&self, session: &SessionId) {
        self.told_of().insert(session.clone());
    }

    fn told_of(&self) -> MutexGuard<'_, HashSet<SessionId>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_hidden(&self) -> bool {
        *self.stand() == Stand::Hidden
    }

    fn requested(&self, now: Instant) -> Request {
        let mut stand = self.stand();
        let (next, request) = match *stand {
            Stand::Open | Stand::Hidden => (Stand::Looking { since: now }, Request::New),
            Stand::Looking { since } if now.duration_since(since) > PATIENCE * 2 => (Stand::Ending, Request::Unheard),
            Stand::Asked { since, .. } if now.duration_since(since) > DOUBLE_CLICK => (Stand::Dialog, Request::Taken),
            same => (same, Request::Taken),
        };
        *stand = next;
        drop(stand);
        self.news.notify_one();
        request
    }

    /// What is at work was looked for.
    fn looked(&self, is_any_at_work: bool, now: Instant) {
        self.change(|stand| match stand {
            Stand::Looking { .. } if is_any_at_work => Some(Stand::Asked { since: now, shown: false }),
            Stand::Looking { .. } => Some(Stand::Ending),
            _ => None,
        });
    }

    /// The page has not shown the question, or there is none.
    fn not_shown(&self) {
        self.change(|stand| matches!(stand, Stand::Asked { shown: false, .. }).then_some(Stand::Dialog));
    }

    /// The person answered in the dialog of the system.
    fn confirmed(&self, choice: CloseChoice) {
        self.change(|stand| (stand == Stand::Dialog).then_some(after(choice)));
    }

    /// Nothing is at work any more.
    fn done(&self) {
        self.change(|stand| matches!(stand, Stand::Hidden | Stand::Stopping).then_some(Stand::Ending));
    }

    fn change(&self, change: impl FnOnce(Stand) -> Option<Stand>) {
        let mut stand = self.stand();
        if let Some(next) = change(*stand) {
            *stand = next;
            drop(stand);
            self.news.notify_one();
        }
    }

    /// Returns when there may be something new, or it is time to look again.
    async fn news(&self) {
        // Either is a reason to go on.
        tokio::time::timeout(EVERY, self.news.notified()).await.ok();
    }

    fn stand(&self) -> MutexGuard<'_, Stand> {
        self.stand.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn after(choice: CloseChoice) -> Stand {
    match choice {
        CloseChoice::Stay => Stand::Open,
        CloseChoice::WhenDone => Stand::Hidden,
        CloseChoice::Stop => Stand::Stopping,
    }
}

/// The person wants to close the window. It closes by itself as soon as that is settled.
pub(crate) fn requested<R: Runtime>(app: &AppHandle<R>, shell: &Arc<Shell>, api: &CloseRequestApi) {
    match shell.closing.requested(Instant::now()) {
        Request::New => {
            api.prevent_close();
            let (app, shell, tasks) = (app.clone(), Arc::clone(shell), &shell.closing.tasks);
            let settled = async move { settle(&app, &shell).await };
            tasks.spawn_on(settled, tauri::async_runtime::handle().inner());
        }
        Request::Taken => api.prevent_close(),
        Request::Unheard => tracing::error!("nobody answers a request to close the window; it closes"),
    }
}

/// Goes from stand to stand until the window stays or the app ends.
async fn settle<R: Runtime>(app: &AppHandle<R>, shell: &Arc<Shell>) {
    let closing = &shell.closing;
    let _settling = closing.settling.lock().await;
    // What the page was told, and what is waited for where the window is out of sight.
    let (mut told, mut awaited) = (None, None);
    loop {
        let stand = *closing.stand();
        match stand {
            Stand::Open => {
                if told.is_some() {
                    shell.stay();
                }
                return;
            }
            Stand::Looking { .. } => {
                // Whatever was asked or waited for before is over.
                (told, awaited) = (None, None);
                // A core that does not answer keeps no window open.
                let sessions = at_work(shell).await.unwrap_or_default();
                closing.looked(!sessions.is_empty(), Instant::now());
            }
            Stand::Asked { since, shown } => {
                // A person who cannot see the page does not see its question.
                if told.is_none() && !window::is_in_front(app) {
                    window::focus(app, None);
                }
                let sessions = at_work(shell).await.map(|sessions| ids(&sessions)).or_else(|| told.clone());
                let is_told = told == sessions || shell.ask_to_close(sessions.clone().unwrap_or_default());
                told = sessions;
                if !is_told || (!shown && since.elapsed() > PATIENCE) {
                    closing.not_shown();
                } else {
                    closing.news().await;
                }
            }
            Stand::Dialog => {
                shell.stay();
                told = None;
                closing.confirmed(shell.confirm_close(&at_work(shell).await.unwrap_or_default()).await);
            }
            Stand::Hidden => {
                let awaited: &mut Awaited = awaited.get_or_insert_with(|| {
                    window::hide(app);
                    closing.told_of().clear();
                    Awaited::default()
                });
                // Whoever brought it back meanwhile was too early.
                if !closing.is_hidden() {
                    window::focus(app, None);
                } else {
                    match rest(shell, awaited).await {
                        Rest::Over => closing.done(),
                        // It asked before, in sight, and nobody is told of it twice.
                        Rest::WaitsUntold => {
                            closing.came_back();
                            window::focus(app, None);
                        }
                        Rest::Works | Rest::WaitsTold => closing.news().await,
                    }
                }
            }
            Stand::Stopping => {
                leave(app).await;
                if tokio::time::timeout(STOPPING, stop_all(shell)).await.is_err() {
                    tracing::warn!("turns did not stop in time; they are shown as interrupted");
                }
                closing.done();
            }
            Stand::Ending => {
                leave(app).await;
                return window::end(app);
            }
        }
    }
}

/// Has starts find this app no more, off the threads that must not block.
async fn leave<R: Runtime>(app: &AppHandle<R>) {
    let app = app.clone();
    if let Err(error) = tokio::task::spawn_blocking(move || instance::leave(&app)).await {
        tracing::warn!(%error, "starts may still find the app that ends");
    }
}

/// The sessions at work, none where none can be; `None` where the core does not say.
async fn at_work(shell: &Shell) -> Option<Vec<SessionSummary>> {
    let Some(core) = shell.opened().await else { return Some(Vec::new()) };
    tokio::time::timeout(PATIENCE, core.sessions.at_work()).await.ok()
}

async fn rest(shell: &Shell, awaited: &mut Awaited) -> Rest {
    let Some(core) = shell.opened().await else { return Rest::Over };
    let Some(sessions) = at_work(shell).await else { return Rest::Works };
    let told = shell.closing.told_of().clone();
    awaited.rest(&sessions, |session| core.sessions.waits(session), &told)
}

/// Stops what is at work, as a person stops a turn, and then what began behind it.
async fn stop_all(shell: &Shell) {
    let Some(core) = shell.opened().await else { return };
    for _ in 0..2 {
        core.sessions.stop_all(&ids(&core.sessions.at_work().await)).await;
    }
    if let Some(time) = start::lingers() {
        tokio::time::sleep(time).await;
    }
}

fn ids(sessions: &[SessionSummary]) -> Vec<SessionId> {
    let mut ids: Vec<SessionId> = sessions.iter().map(|session| session.id.clone()).collect();
    ids.sort();
    ids
}

/// What an app out of sight waits for.
#[derive(Default)]
struct Awaited {
    /// The sessions that were at work since then. A request of another waited before, and waits for the next start.
    sessions: HashSet<SessionId>,
    /// So often in a row nothing was at work.
    looks: u32,
}

/// What is left to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    Works,
    /// Nothing is at work, and what was waits for the person, who was told of it.
    WaitsTold,
    /// The same, and the person was not told of all of it.
    WaitsUntold,
    Over,
}

impl Awaited {
    fn rest(
        &mut self,
        at_work: &[SessionSummary],
        waits: impl Fn(&SessionId) -> bool,
        told: &HashSet<SessionId>,
    ) -> Rest {
        self.sessions.extend(at_work.iter().map(|session| session.id.clone()));
        self.looks = if at_work.is_empty() { self.looks + 1 } else { 0 };
        if self.looks < LOOKS {
            return Rest::Works;
        }
        let waiting: Vec<&SessionId> = self.sessions.iter().filter(|session| waits(session)).collect();
        if waiting.is_empty() {
            return Rest::Over;
        }
        if waiting.into_iter().all(|session| told.contains(session)) { Rest::WaitsTold } else { Rest::WaitsUntold }
    }
}

#[cfg(test)]
#[path = "closing_tests.rs"]
mod tests;
