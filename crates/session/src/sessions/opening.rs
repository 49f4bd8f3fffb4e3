use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use bosun_agent::{Recorded, SessionId as CoreId, SessionLog, effective};
use bosun_backend::Commands;
use bosun_harness::DeclaredCommands;
use bosun_protocol::{ErrorCode, Problem, ProjectId};
use bosun_store::StoredSession;
use tokio::sync::{Mutex as AsyncMutex, OnceCell};

use super::Sessions;
use super::lists::summary_of;
use crate::actor::{Actor, ProjectFolder, Setting};
use crate::host::{SessionHost, Tree};
use crate::permissions::Place;
use crate::projection::{Projection, Subject};
use crate::restoring::settle_restoring;
use crate::stream::{Stream, locked};
use crate::{SessionError, declared};

/// The open sessions. Each is opened once, however many ask for it, and none waits for another.
#[derive(Default)]
pub(super) struct Actors {
    known: Mutex<HashMap<CoreId, Arc<OnceCell<Arc<Actor>>>>>,
}

impl Actors {
    pub(super) async fn find_or_open<F>(
        &self,
        id: &CoreId,
        open: impl FnOnce() -> F,
    ) -> Result<Arc<Actor>, SessionError>
    where
        F: Future<Output = Result<Arc<Actor>, SessionError>>,
    {
        let cell = Arc::clone(locked(&self.known).entry(id.clone()).or_default());
        cell.get_or_try_init(open).await.cloned()
    }

    /// The actor of a session that is open.
    pub(super) fn get(&self, id: &CoreId) -> Option<Arc<Actor>> {
        locked(&self.known).get(id)?.get().cloned()
    }

    pub(super) fn all(&self) -> Vec<Arc<Actor>> {
        locked(&self.known).values().filter_map(|cell| cell.get().cloned()).collect()
    }

    /// Knows one of them no more; it is opened anew when somebody asks for it again.
    pub(super) fn forget(&self, id: &CoreId) {
        locked(&self.known).remove(id);
    }

    /// Knows none of them any more.
    pub(super) fn take(&self) -> Vec<Arc<Actor>> {
        let known = std::mem::take(&mut *locked(&self.known));
        known.into_values().filter_map(|cell| cell.get().cloned()).collect()
    }
}

/// What a journal makes, as far as it takes no more than the entries.
struct Read {
    entries: Vec<Recorded>,
    projection: Projection,
    /// Some of the entries were rewound.
    is_rewound: bool,
}

impl Sessions {
    pub(super) async fn open_actor(&self, stored: &StoredSession) -> Result<Arc<Actor>, SessionError> {
        let inner = &self.inner;
        // A project that is being moved has two folders until that is done.
        let _staying = inner.moving.read().await;
        let claim = inner
            .database
            .claim(&stored.id)?
            .ok_or_else(|| SessionError::new(ErrorCode::StorageUnavailable, Problem::SessionElsewhere))?;
        let agent = locked(&inner.declared).clone();
        let Read { entries, projection, is_rewound } = self.read_journal(stored).await?;
        let tree = Arc::new(Tree {
            database: Arc::clone(&inner.database),
            clock: Arc::clone(&inner.clock),
            ids: Arc::clone(&inner.ids),
            project: ProjectId::new(stored.project.clone()),
            summaries: Arc::clone(&inner.summaries),
            blobs: inner.blobs.clone(),
            streams: Mutex::default(),
            summary_order: AsyncMutex::default(),
            model: Mutex::default(),
        });
        let stream = Arc::new(Stream::new(projection, None, Arc::clone(&inner.summaries)));
        let host = || SessionHost { tree: Arc::clone(&tree), session: stored.id.clone(), stream: Arc::clone(&stream) };
        let (log_host, clock) = (Arc::new(host()), Arc::clone(&inner.clock));
        let log = apart(move || SessionLog::open(log_host, clock, &entries)).await?;
        let place = Place { session: stored.id.as_str().to_owned(), project: stored.project.clone() };
        // What a declaration wants of commands is no person's to take back.
        let commands = match agent.as_ref().and_then(|agent| agent.backend.commands) {
            Some(DeclaredCommands::Sandbox) => Commands::Sandbox.into(),
            None => inner.permissions.commands(&stored.project).await?,
        };
        let folder = self.folder_of(&stored.project).await?;
        let setting = Setting {
            commands,
            models: Arc::clone(&inner.models),
            blobs: inner.blobs.clone(),
            policy: bosun_agent::Policy { standing: inner.permissions.standing(place).await?, ..inner.policy.clone() },
            limits: inner.limits,
            book: Arc::clone(&inner.book),
            trust: Arc::clone(&inner.trust),
            added: locked(&inner.added).clone(),
            sign_ins: Arc::clone(&inner.sign_ins),
            declared: agent,
        };
        let actor = Actor::new(host(), log, setting, folder, inner.tasks.clone(), claim);
        actor.open_children().await?;
        if is_rewound || !locked(&actor.tree.streams).is_empty() {
            actor.replay_changes().await?;
        } else if let Some(blobs) = &inner.blobs {
            actor.stream.count_changes(blobs).await;
        }
        if actor.log.with_state(|state| state.restoring.is_some()) {
            settle_restoring(&actor.log, &*actor.backend().await?).await?;
        }
        Ok(actor)
    }

    /// Where a project is, for its sessions at work.
    pub(super) async fn folder_of(&self, project: &str) -> Result<ProjectFolder, SessionError> {
        let root = self.root_path(project).await?;
        let sightings = self.inner.blobs.as_ref().map(|blobs| self.inner.sightings.of(&root, blobs));
        Ok(ProjectFolder { called: self.called(project), root, sightings })
    }

    /// Reads all that a session's journal holds. A long one takes a while, in which others go on.
    async fn read_journal(&self, stored: &StoredSession) -> Result<Read, SessionError> {
        let entries = self.inner.database.entries(&stored.id, 0).await?;
        let mut projection = Projection::new(self.subject_of(stored));
        if self.inner.blobs.is_some() {
            projection.compare_changes();
        }
        let usage = summary_of(stored.summary.clone()).map(|summary| summary.usage);
        apart(move || {
            let live = effective(&entries);
            let is_rewound = live.len() < entries.len();
            projection.read(live);
            if let Some(usage) = &usage {
                projection.recall_usage(usage);
            }
            projection.settle();
            projection.drain();
            Read { entries, projection, is_rewound }
        })
        .await
    }

    /// What a session at the root of its tree is shown as.
    pub(super) fn subject_of(&self, stored: &StoredSession) -> Subject {
        let agent = locked(&self.inner.declared).clone();
        Subject {
            id: stored.id.clone(),
            project: ProjectId::new(stored.project.clone()),
            parent: None,
            path: vec![declared::name_of(agent.as_deref())],
            task: None,
            created_at: stored.created_at,
            model: summary_of(stored.summary.clone()).and_then(|summary| summary.model),
        }
    }
}

/// Does what keeps a processor busy where nobody waits for its thread.
async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, SessionError> {
    tokio::task::spawn_blocking(work).await.map_err(SessionError::internal)
}
