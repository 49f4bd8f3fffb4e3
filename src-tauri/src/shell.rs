use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bosun_protocol::{ErrorCode, Goal, Problem, ProjectView, SessionId, Settings, StartInfo};
use bosun_providers::KnownSecrets;
use tauri::ipc::Channel;
use tokio::sync::Mutex as AsyncMutex;
use tokio::sync::Notify;

use crate::closing::Closing;
use crate::core::{Core, CoreParts};
use crate::desk::{Desk, Words, words};
use crate::error::Failure;
use crate::events::Forwarders;
use crate::faults::Faults;
use crate::language::{Spoken, spoken, system_language};
use crate::providers::ProviderNews;

/// How long an end of the app waits for what still runs. The journal has everything that matters already.
const FAREWELL: Duration = Duration::from_secs(2);

/// Longer than the core is held by whoever only asks for it.
const A_MOMENT: Duration = Duration::from_millis(500);

/// What the commands work on: the core behind them, the desktop around them, the page in front of them.
pub struct Shell {
    parts: CoreParts,
    secrets: KnownSecrets,
    core: AsyncMutex<Option<Result<Arc<Core>, Failure>>>,
    desk: Box<dyn Desk>,
    /// Held while a dialog of the system is open: one at a time.
    dialog: AsyncMutex<()>,
    pub(crate) forwarders: Forwarders,
    /// Who is told when a folder was opened from outside the page.
    projects: Mutex<Option<Channel<Vec<ProjectView>>>>,
    /// Who is told which session the person wants to see, and the one that nobody was told of yet.
    goals: Mutex<Goals>,
    pub(crate) news: ProviderNews,
    /// What went wrong in the page.
    pub(crate) faults: Faults,
    /// How it stands with closing the window.
    pub(crate) closing: Closing,
    /// A folder named on the command line that is not open yet.
    folder: Mutex<Option<PathBuf>>,
    /// The diagnostics as the person read them: these are written, and none made since.
    pub(crate) read: Mutex<Option<String>>,
    ready: Notify,
    blank: AtomicBool,
    born: Instant,
}

#[derive(Default)]
struct Goals {
    channel: Option<Channel<Goal>>,
    waiting: Option<Goal>,
}

impl Shell {
    pub fn new(parts: CoreParts, desk: impl Desk + 'static) -> Self {
        Self::with_secrets(parts, desk, KnownSecrets::default())
    }

    pub(crate) fn with_secrets(parts: CoreParts, desk: impl Desk + 'static, secrets: KnownSecrets) -> Self {
        Self {
            parts,
            secrets,
            core: AsyncMutex::default(),
            desk: Box::new(desk),
            dialog: AsyncMutex::default(),
            forwarders: Forwarders::default(),
            projects: Mutex::default(),
            goals: Mutex::default(),
            news: ProviderNews::default(),
            faults: Faults::default(),
            closing: Closing::default(),
            folder: Mutex::default(),
            read: Mutex::default(),
            ready: Notify::new(),
            blank: AtomicBool::new(false),
            born: Instant::now(),
        }
    }

    /// The core, opened when it is first asked for.
    ///
    /// # Errors
    /// Why the data folder could not be opened, each time the same sentence until [`Shell::start`] tries again.
    pub(crate) async fn core(&self) -> Result<Arc<Core>, Failure> {
        let mut core = self.core.lock().await;
        match &*core {
            Some(opened) => opened.clone(),
            None => self.open(&mut core).await,
        }
    }

    /// The core, where it is open: in one that is being opened, which may take long, nothing is at work.
    pub(crate) async fn opened(&self) -> Option<Arc<Core>> {
        let core = tokio::time::timeout(A_MOMENT, self.core.lock()).await.ok()?;
        core.as_ref().and_then(|opened| opened.as_ref().ok().cloned())
    }

    /// What the page needs for its first frame. A data folder that could not be opened is tried again.
    pub(crate) async fn start(&self) -> StartInfo {
        let opened = {
            let mut core = self.core.lock().await;
            match &*core {
                Some(Ok(opened)) => Ok(Arc::clone(opened)),
                _ => self.open(&mut core).await,
            }
        };
        let (settings, problem) = match opened {
            Ok(core) => self.begin(&core).await,
            Err(failure) => (self.parts.defaults.clone(), Some(failure.0.problem)),
        };
        let system_language = system_language(|name| std::env::var(name).ok());
        StartInfo { version: env!("CARGO_PKG_VERSION").to_owned(), settings, system_language, problem }
    }

    async fn open(&self, core: &mut Option<Result<Arc<Core>, Failure>>) -> Result<Arc<Core>, Failure> {
        let opened = Core::open(self.parts.clone(), self.secrets.clone(), self.news.clone()).await.map(Arc::new);
        if let Err(failure) = &opened {
            tracing::error!(message = failure.0.message, "the data folder is not open");
        }
        core.insert(opened).clone()
    }

    /// The settings, and what is wrong with the folder that the command line named.
    async fn begin(&self, core: &Core) -> (Settings, Option<Problem>) {
        let folder = self.folder.lock().unwrap_or_else(PoisonError::into_inner).take();
        let opened = match folder {
            Some(folder) => core.sessions.open_project(&folder).await.err().map(|error| error.problem),
            None => None,
        };
        match core.settings().await {
            Ok(settings) => (settings, opened.or_else(|| core.problem.clone())),
            Err(failure) => (self.parts.defaults.clone(), Some(failure.0.problem)),
        }
    }

    /// Opens `folder` when the page starts.
    pub(crate) fn open_at_start(&self, folder: PathBuf) {
        *self.folder.lock().unwrap_or_else(PoisonError::into_inner) = Some(folder);
    }

    /// Opens `folder` now, for a second start of the app, and tells the page.
    pub(crate) async fn open_beside(&self, folder: PathBuf) -> Result<(), Failure> {
        let core = self.core().await?;
        core.sessions.open_project(&folder).await?;
        let projects = core.sessions.projects().await?;
        let channel = self.projects.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match channel {
            Some(channel) => channel
                .send(projects)
                .map_err(|error| Failure::new(ErrorCode::Internal, Problem::PageNotTold { detail: error.to_string() })),
            None => Ok(()),
        }
    }

    pub(crate) fn watch_projects(&self, channel: Channel<Vec<ProjectView>>) {
        *self.projects.lock().unwrap_or_else(PoisonError::into_inner) = Some(channel);
    }

    /// Gives what was wanted of the page before it was there.
    pub(crate) fn watch_goals(&self, channel: Channel<Goal>) -> Option<Goal> {
        let mut goals = self.goals.lock().unwrap_or_else(PoisonError::into_inner);
        goals.channel = Some(channel);
        goals.waiting.take()
    }

    /// The person wants to see a session: the page goes there, now or when it is there.
    pub(crate) fn go_to(&self, session: SessionId) {
        self.want(Goal::Session { session });
    }

    /// What came from beside the window cannot be done, and the page says why.
    pub(crate) fn refuse(&self, failure: Failure) {
        self.want(Goal::Refused { error: failure.0 });
    }

    /// Has the page ask whether to close while these sessions are at work; `false` where there is no page to ask.
    pub(crate) fn ask_to_close(&self, sessions: Vec<SessionId>) -> bool {
        self.tell(Goal::Close { sessions })
    }

    /// The question about closing is over.
    pub(crate) fn stay(&self) {
        self.tell(Goal::Stay);
    }

    fn want(&self, goal: Goal) {
        if !self.tell(goal.clone()) {
            self.goals.lock().unwrap_or_else(PoisonError::into_inner).waiting = Some(goal);
        }
    }

    fn tell(&self, goal: Goal) -> bool {
        let goals = self.goals.lock().unwrap_or_else(PoisonError::into_inner);
        goals.channel.as_ref().is_some_and(|channel| channel.send(goal).is_ok())
    }

    /// Held by whoever opens a dialog of the system.
    pub(crate) fn dialog(&self) -> &AsyncMutex<()> {
        &self.dialog
    }

    /// The desktop around the window.
    pub(crate) fn desk(&self) -> &dyn Desk {
        &*self.desk
    }

    /// Shows the data folder in the system's file manager.
    pub(crate) fn show_data_folder(&self) -> Result<(), Failure> {
        let none = || Failure::new(ErrorCode::StorageUnavailable, Problem::NoDataFolder);
        let folder = self.parts.folder.as_deref().ok_or_else(none)?;
        self.desk.show_folder(folder).map_err(|detail| {
            Failure::new(ErrorCode::Internal, Problem::NoFileManager { path: folder.display().to_string(), detail })
        })
    }

    /// A text without any key that this run has met.
    pub(crate) fn redacted(&self, text: &str) -> String {
        self.secrets.redact(text)
    }

    /// Ends what the page before this one listened to.
    pub(crate) fn page_begins(&self) {
        self.closing.page_begins();
        self.goals.lock().unwrap_or_else(PoisonError::into_inner).channel = None;
        self.forwarders.stop_all();
        self.news.leave();
        self.projects.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// The page has drawn its first frame.
    pub(crate) fn page_is_ready(&self) {
        tracing::info!(milliseconds = self.born.elapsed().as_millis(), "the page is ready");
        self.ready.notify_one();
    }

    pub(crate) fn rest_caret(&self) {
        self.desk.rest_caret();
    }

    /// Whether the page drew something within `patience`.
    pub(crate) async fn drew_within(&self, patience: Duration) -> bool {
        tokio::time::timeout(patience, self.ready.notified()).await.is_ok()
    }

    /// The window stays blank: end, and start once more in safe drawing.
    pub(crate) fn give_up_drawing(&self) {
        self.blank.store(true, Ordering::Release);
    }

    pub(crate) fn gave_up_drawing(&self) -> bool {
        self.blank.load(Ordering::Acquire)
    }

    /// Asks for a folder, in the user's language.
    pub(crate) async fn pick(&self, title: impl Fn(&Words) -> &'static str) -> Result<Option<PathBuf>, Failure> {
        let busy = |_| Failure::new(ErrorCode::Invalid, Problem::DialogOpen);
        let _open = self.dialog.try_lock().map_err(busy)?;
        Ok(self.desk.pick_folder(title(words(self.spoken().await))).await)
    }

    /// Hands a checked address to the system. The page has asked the user about it before.
    pub(crate) fn follow(&self, url: &tauri::Url) -> Result<(), Failure> {
        self.desk.open_link(url.as_str()).map_err(|detail| {
            Failure::new(ErrorCode::Internal, Problem::NoProgramFor { name: format!("{}:", url.scheme()), detail })
        })
    }

    /// The language that the window speaks.
    pub(crate) async fn spoken(&self) -> Spoken {
        let settings = match self.core().await {
            Ok(core) => core.settings().await.unwrap_or_default(),
            Err(_) => self.parts.defaults.clone(),
        };
        spoken(settings.language, &system_language(|name| std::env::var(name).ok()))
    }

    /// Ends everything that runs, without ending the turns: the journal goes on later.
    pub async fn close(&self) {
        let core = self.opened().await;
        let all = async {
            if let Some(core) = core {
                core.sessions.shut_down().await;
            }
            self.forwarders.closed().await;
        };
        if tokio::time::timeout(FAREWELL, all).await.is_err() {
            tracing::warn!("something still ran when the app ended");
        }
    }
}
