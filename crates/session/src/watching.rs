//! Telling an agent that files it has read are no longer as it read them.
//!
//! Looked at before every step: all that the agent knows with the first step of a turn, afterwards what the system
//! notices ([`FileWatch`]). What differs is journaled together with what the model is told of it, once for each file until
//! the agent reads or changes it again. Nothing of this begins a turn.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use bosun_agent::{
    AgentError, BoxFuture, EntryBody, FollowedFile, Middleware, OutsideChange, SessionId, State, TurnContext, TurnEnd,
};
use bosun_backend::{Backend, BackendError, Changed, ContentHash, FileWatch, ReadWindow, VirtualPath, looks_the_same};
use bosun_model::{ContentBlock, HumanMessage};
use bosun_protocol::{Notice, NoticeCode};
use bosun_tools::StateUpdate;

use crate::stream::{Stream, locked};

/// Files that are named to the model, and their characters; the rest are counted.
const NAMED: usize = 40;
const NAMES: usize = 6_000;
/// Files that are named to a person.
const SHOWN: usize = 5;

/// The watch over the files of a session's agents. What it keeps between steps is only what was looked at already.
pub(crate) struct Watching {
    /// Knows what the session's agents did to files themselves.
    stream: Arc<Stream>,
    watched: Arc<Mutex<Watched>>,
}

#[derive(Default)]
struct Watched {
    /// While any turn is under way and the system can tell.
    watch: Option<FileWatch>,
    /// Counts what was noticed, so that several agents hear of the same.
    noticed: u64,
    files: HashMap<VirtualPath, u64>,
    /// When any file may have changed.
    all: u64,
    /// Files that the system does not tell of: they are looked at in every step.
    unwatched: HashSet<VirtualPath>,
    /// Up to where each agent at work has looked.
    looked: HashMap<SessionId, Looked>,
}

/// What an agent has looked at: as many notices, and as many of its own readings.
#[derive(Clone, Copy)]
struct Looked {
    noticed: u64,
    met: usize,
}

/// What to look at, and how.
#[derive(Default)]
struct Due {
    /// Those of which the system is not asked to tell yet, or cannot; their figures are compared first.
    by_figures: Vec<FollowedFile>,
    /// Whose content is compared whatever their figures are.
    by_content: Vec<FollowedFile>,
}

impl Watched {
    /// What `agent` has to look at. Costs what is new, and with the first step of a turn all that it knows.
    fn due(&mut self, agent: &SessionId, state: &State) -> Due {
        self.take_noticed();
        let now = Looked { noticed: self.noticed, met: state.met() };
        let Some(looked) = self.looked.insert(agent.clone(), now).filter(|looked| self.all <= looked.noticed) else {
            return Due { by_figures: state.followed(), by_content: Vec::new() };
        };
        let noticed = self.files.iter().filter(|(_, noticed)| **noticed > looked.noticed);
        let by_content = noticed.filter_map(|(path, _)| state.followed_file(path)).collect();
        let mut by_figures = state.met_since(looked.met);
        by_figures.extend(self.unwatched.iter().filter_map(|path| state.followed_file(path)));
        Due { by_figures, by_content }
    }

    /// Has the system tell of `files` from now on, but for those that links lead to: what is saved where they lead is no
    /// news in the folder that was asked about.
    fn follow(&mut self, files: &[(FollowedFile, PathBuf)], led: &HashSet<VirtualPath>) {
        if self.watch.is_none() {
            self.watch = FileWatch::open().inspect_err(|error| tracing::debug!(%error, "files are not watched")).ok();
        }
        for (file, host) in files {
            let told = |watch: &mut FileWatch| {
                watch.follow(&file.path, host).inspect_err(|error| tracing::debug!(%error)).is_ok()
            };
            if led.contains(&file.path) || !self.watch.as_mut().is_some_and(told) {
                self.unwatched.insert(file.path.clone());
            } else {
                self.unwatched.remove(&file.path);
            }
        }
    }

    fn take_noticed(&mut self) {
        self.unwatched.extend(self.watch.iter().flat_map(FileWatch::astray));
        let Some(changed) = self.watch.as_ref().and_then(FileWatch::noticed) else { return };
        self.noticed += 1;
        match changed {
            Changed::Paths(paths) => self.files.extend(paths.into_iter().map(|path| (path, self.noticed))),
            Changed::Many => self.all = self.noticed,
        }
    }
}

impl Middleware for Watching {
    fn name(&self) -> &'static str {
        "Watching"
    }

    fn before_step<'a>(&'a self, cx: &'a TurnContext) -> BoxFuture<'a, Result<(), AgentError>> {
        Box::pin(async move {
            let mut changed = self.look(cx).await;
            if changed.is_empty() {
                return Ok(());
            }
            // Whoever is at work there, a checkout or a formatter, is let come to an end.
            let settled = locked(&self.watched).watch.as_ref().map(FileWatch::settled);
            if let Some(settled) = settled {
                settled.await;
                changed.extend(self.look(cx).await);
            }
            let record = |state: &State| {
                let heard = changed.into_iter().filter(|(path, _)| state.followed_file(path).is_some());
                let files: Vec<OutsideChange> = heard.map(|(path, gone)| OutsideChange { path, gone }).collect();
                let id = OutsideChange::message_id(state.messages.len());
                let message = HumanMessage { id, content: vec![ContentBlock::text(told(&files))] };
                if files.is_empty() { Vec::new() } else { vec![EntryBody::FilesChanged { files, message }] }
            };
            cx.log().record_of(record).await?;
            Ok(())
        })
    }

    fn after_turn<'a>(
        &'a self,
        cx: &'a TurnContext,
        _end: &'a TurnEnd,
    ) -> BoxFuture<'a, Result<StateUpdate, AgentError>> {
        Box::pin(async move {
            let mut watched = locked(&self.watched);
            watched.looked.remove(cx.log().session());
            if watched.looked.is_empty() {
                *watched = Watched::default();
            }
            Ok(StateUpdate::default())
        })
    }
}

impl Watching {
    pub(crate) fn new(stream: Arc<Stream>) -> Self {
        Self { stream, watched: Arc::default() }
    }

    /// The files that are no longer as the agent knows them, and whether they are gone.
    async fn look(&self, cx: &TurnContext) -> BTreeMap<VirtualPath, bool> {
        let backend = &cx.agent().backend;
        let agent = cx.log().session();
        let Due { by_figures, mut by_content } = cx.log().with_state(|state| locked(&self.watched).due(agent, state));
        let on_disk = |file: FollowedFile| backend.host_path(&file.path).map(|host| (file, host));
        let by_figures: Vec<(FollowedFile, PathBuf)> = by_figures.into_iter().filter_map(on_disk).collect();
        if !by_figures.is_empty() {
            let (watched, backend) = (Arc::clone(&self.watched), Arc::clone(backend));
            let differ = tokio::task::spawn_blocking(move || {
                // First followed, then looked at: what happens in between is told or seen.
                let paths = by_figures.iter().map(|(file, _)| &file.path);
                let led = paths.filter(|path| backend.direct(path) != **path).cloned().collect();
                locked(&watched).follow(&by_figures, &led);
                let differ = by_figures.into_iter().filter(|(file, host)| !looks_the_same(host, &file.stamp));
                differ.map(|(file, _)| file).collect::<Vec<_>>()
            });
            match differ.await {
                Ok(differ) => by_content.extend(differ),
                Err(error) => tracing::error!(%error, "files were not looked at"),
            }
        }
        let mut changed = BTreeMap::new();
        for file in by_content {
            if let Some(gone) = self.differs(&**backend, &file).await {
                changed.insert(file.path, gone);
            }
        }
        changed
    }

    /// Whether a file is gone, where it is neither as the agent knows it nor as the session's agents left it.
    async fn differs(&self, backend: &dyn Backend, file: &FollowedFile) -> Option<bool> {
        let made = || self.stream.read(|projection| projection.made(&file.path));
        match backend.read(&file.path, ReadWindow { offset: 0, limit: 1 }).await {
            Ok(now) if file.stamp.same_content(&now.stamp) => None,
            Ok(now) => (now.stamp.hash.is_none() || made() != Some(now.stamp.hash)).then_some(false),
            Err(BackendError::NotFound { .. } | BackendError::DirectoryNotFound { .. }) => {
                (made() != Some(None)).then_some(true)
            }
            // What is no text is known by its hash alone.
            Err(BackendError::NotText { .. } | BackendError::Binary { .. }) => {
                let bytes = backend.download(vec![file.path.clone()]).await.pop().and_then(Result::ok);
                let now = bytes.map(|bytes| ContentHash::of(&bytes));
                (now.is_none() || (now != file.stamp.hash && made() != Some(now))).then_some(false)
            }
            // Every tool says that by itself.
            Err(
                BackendError::RootGone
                | BackendError::FolderGone { .. }
                | BackendError::Unreachable { .. }
                | BackendError::Cancelled,
            ) => None,
            Err(_) => Some(false),
        }
    }
}

/// What the model reads. It is set apart from what people write, and no name can break out of it.
fn told(files: &[OutsideChange]) -> String {
    let mut text = String::from(
        "<files_changed>\nThis was written by Bosun, not by the user. These files are no longer as you last read or \
         wrote them:\n",
    );
    let mut named = 0;
    for file in files.iter().take(NAMED) {
        let row = format!("- {}{}\n", plain(file.path.as_str()), if file.gone { " (not there any more)" } else { "" });
        if text.len() + row.len() > NAMES {
            break;
        }
        text.push_str(&row);
        named += 1;
    }
    if named < files.len() {
        text.push_str(&format!("and {} more of those you have read.\n", files.len() - named));
    }
    text.push_str("Read them again before you rely on what they hold or change them.\n</files_changed>");
    text
}

/// A name on one line and without marks of its own.
fn plain(name: &str) -> String {
    let shown = name.chars().map(|c| if c.is_control() || c == '\u{202e}' { '\u{fffd}' } else { c });
    shown.collect::<String>().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// What a person reads.
pub(crate) fn notice(files: &[OutsideChange]) -> Notice {
    let mut detail: Vec<String> = files.iter().take(SHOWN).map(|file| file.path.to_string()).collect();
    if files.len() > SHOWN {
        detail.push(format!("+{}", files.len() - SHOWN));
    }
    Notice { code: NoticeCode::FilesChanged, detail: detail.join(", "), problem: None, model: None }
}
