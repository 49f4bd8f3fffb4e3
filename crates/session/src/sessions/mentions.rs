use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bosun_backend::{
    AppMounts, Backend, BackendError, FileInfo, GlobQuery, LocalShellBackend, LocalShellOptions, Store, VirtualPath,
};
use bosun_model::{Media, Origin};
use bosun_protocol::{
    ErrorCode, FindMentions, ItemBody, Mention, MentionHit, MentionKind, Problem, SessionSummary, Snapshot,
};
use bosun_store::KeyValueStore;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Sessions;
use crate::actor::Actor;
use crate::space::Places;
use crate::stream::locked;
use crate::{Explain, SessionError};

pub(super) mod ranking;

use ranking::score;

/// Most hits of one search.
const MOST_HITS: usize = 50;
/// Files of one project that can be found by typing; of a larger one the first.
const MOST_FILES: usize = 100_000;
/// How long the list of a project's files is taken as it was.
const FRESH: Duration = Duration::from_secs(5);
/// Names of a folder that a mention tells.
const LISTED: usize = 200;
/// Largest file that a mention carries whole, in bytes; of a larger one the model is told how large it is.
const CARRIED: u64 = 64 * 1024;
/// Characters of another session that a mention carries: its last ones.
const SAID: usize = 24_000;

/// The files of the projects that were looked at last, so that a letter typed costs no walk.
#[derive(Default)]
pub(super) struct FileIndex {
    known: Mutex<HashMap<String, Walk>>,
    /// Grows when somebody wants all to be looked through anew: a walk that began before tells nothing of it.
    age: AtomicU64,
}

impl FileIndex {
    pub(super) fn forget(&self) {
        let mut known = locked(&self.known);
        self.age.fetch_add(1, Ordering::AcqRel);
        known.clear();
    }
}

/// What a project has, and when it was walked.
type Walk = (Instant, Arc<Vec<Named>>);

/// A file or folder under the name that it is typed by.
struct Named {
    name: String,
    kind: MentionKind,
    path: VirtualPath,
}

/// What a message can name: files, folders, memories and other sessions.
impl Sessions {
    /// What fits the letters of `query`, best first.
    pub async fn find_mentions(&self, query: &FindMentions) -> Result<Vec<MentionHit>, SessionError> {
        let limit = usize::try_from(query.limit).unwrap_or(MOST_HITS).clamp(1, MOST_HITS);
        let names = self.names(query.project.as_str()).await?;
        let sessions = self.list(&query.project).await?;
        let typed = query.text.clone();
        // Thousands of names are ranked: not on a thread that others wait for.
        let ranked = tokio::task::spawn_blocking(move || {
            let mut found: Vec<(i64, MentionHit)> = names
                .iter()
                .filter_map(|named| Some((score(&typed, &named.name)?, hit(named))))
                .chain(sessions.iter().filter_map(|session| Some((score(&typed, &session.title)?, said_in(session)))))
                .collect();
            found.sort_by(|(a, one), (b, other)| b.cmp(a).then_with(|| one.name.cmp(&other.name)));
            found.truncate(limit);
            found.into_iter().map(|(_, hit)| hit).collect()
        });
        ranked.await.map_err(SessionError::internal)
    }

    /// A thing that a message names, as it is now.
    pub(super) async fn mentioned(&self, actor: &Actor, mention: &Mention) -> Result<Media, SessionError> {
        let (name, bytes) = match mention {
            Mention::Path { path } => content_at(&*actor.backend().await?, path).await?,
            Mention::Session { session } => {
                let snapshot = self.subscribe(session).await?.snapshot;
                (format!("session {}", snapshot.session.title), words_of(&snapshot).into_bytes())
            }
        };
        self.kept(&name, bytes, Origin::Mentioned).await
    }

    /// Knows no names of a project any more: its files are elsewhere.
    pub(super) fn forget_names(&self, project: &str) {
        locked(&self.inner.files.known).remove(project);
    }

    async fn names(&self, project: &str) -> Result<Arc<Vec<Named>>, SessionError> {
        let known = locked(&self.inner.files.known).get(project).cloned();
        if let Some((at, names)) = known
            && at.elapsed() < FRESH
        {
            return Ok(names);
        }
        let age = self.inner.files.age.load(Ordering::Acquire);
        let names = Arc::new(self.walked(project).await?);
        let mut known = locked(&self.inner.files.known);
        if self.inner.files.age.load(Ordering::Acquire) == age {
            known.insert(project.to_owned(), (Instant::now(), Arc::clone(&names)));
        }
        Ok(names)
    }

    /// The project's files with their folders (what is ignored left out), and the memories.
    async fn walked(&self, project: &str) -> Result<Vec<Named>, SessionError> {
        let root = self.root_path(project).await?;
        let files: Arc<dyn Backend> = Arc::new(LocalShellBackend::open(&root, LocalShellOptions::default())?);
        let store: Arc<dyn Store> =
            Arc::new(KeyValueStore::new(Arc::clone(&self.inner.database), Arc::clone(&self.inner.clock)));
        let mounts = AppMounts {
            project: Arc::clone(&files),
            store: Some(store),
            project_id: project.to_owned(),
            files: Default::default(),
            blobs: None,
            routes: Vec::new(),
        };
        let mounted = mounts.mount().await;
        let mounted = mounted.map_err(|error| SessionError::of(ErrorCode::ProjectUnusable, &error))?;
        let mut names = below(&*files, VirtualPath::root(), MentionKind::File).await?;
        let folders: BTreeSet<VirtualPath> = names.iter().filter_map(|named| named.path.parent()).collect();
        let folders = folders.into_iter().filter(|folder| !folder.is_root());
        names.extend(folders.map(|path| Named {
            name: format!("{}/", path.as_str().trim_start_matches('/')),
            kind: MentionKind::Folder,
            path,
        }));
        if let Some(memories) = Places::of(&mounted).memories {
            names.extend(below(&mounted, memories, MentionKind::Memory).await?);
        }
        Ok(names)
    }
}

async fn below(backend: &dyn Backend, folder: VirtualPath, kind: MentionKind) -> Result<Vec<Named>, SessionError> {
    let cancel = CancellationToken::new();
    let query = GlobQuery { pattern: "**/*".into(), path: folder, include_ignored: false, cancel };
    let found = match backend.glob(query).await {
        Ok(found) => found.paths,
        Err(BackendError::NotFound { .. } | BackendError::DirectoryNotFound { .. }) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    let named = |path: VirtualPath| {
        let shown = if kind == MentionKind::File { path.as_str().trim_start_matches('/') } else { path.as_str() };
        Named { name: shown.to_owned(), kind, path }
    };
    Ok(found.into_iter().take(MOST_FILES).map(named).collect())
}

fn hit(named: &Named) -> MentionHit {
    MentionHit {
        kind: named.kind,
        name: named.name.clone(),
        detail: named.path.parent().map(|parent| parent.to_string()).unwrap_or_default(),
        mention: Mention::Path { path: named.path.to_string() },
    }
}

fn said_in(session: &SessionSummary) -> MentionHit {
    MentionHit {
        kind: MentionKind::Session,
        name: session.title.clone(),
        detail: crate::export::time(session.updated_at, &crate::export::ENGLISH),
        mention: Mention::Session { session: session.id.clone() },
    }
}

/// What is at a path of the agent's: a file whole where it is small enough to stand in a message, a folder's names.
async fn content_at(backend: &dyn Backend, text: &str) -> Result<(String, Vec<u8>), SessionError> {
    let path = VirtualPath::parse(text).map_err(|error| SessionError::invalid(error.problem()))?;
    let gone = || SessionError::not_found(Problem::MentionGone { path: path.to_string() });
    let folder = path.parent().ok_or_else(gone)?;
    let around = backend.ls(&folder).await.map_err(|_missing| gone())?;
    let found = around.into_iter().find(|info| info.path == path).ok_or_else(gone)?;
    let name = path.to_string();
    if found.is_dir {
        return Ok((format!("{name}/"), listing(&backend.ls(&path).await?).into_bytes()));
    }
    let size = found.size.unwrap_or(u64::MAX);
    let told = |what: &str| format!("{name} is {what}; look at the parts that matter with your tools.").into_bytes();
    if size > CARRIED {
        return Ok((name.clone(), told(&format!("a file of {size} bytes, too long to stand here"))));
    }
    let bytes = backend.download(vec![path.clone()]).await.pop().ok_or_else(gone)??;
    if bytes.is_empty() {
        return Ok((name.clone(), told("an empty file")));
    }
    match bosun_tools::attachable(&name, &bytes) {
        Ok(_) => Ok((name, bytes)),
        Err(_) => Ok((name.clone(), told("not text"))),
    }
}

fn listing(infos: &[FileInfo]) -> String {
    let mut lines: Vec<String> = infos
        .iter()
        .take(LISTED)
        .map(|info| if info.is_dir { format!("{}/", info.path) } else { info.path.to_string() })
        .collect();
    if infos.is_empty() {
        lines.push("(nothing is in it)".into());
    } else if infos.len() > LISTED {
        lines.push(format!("(and {} more)", infos.len() - LISTED));
    }
    lines.join("\n")
}

/// What was said last in a session, without what its tools gave.
fn words_of(snapshot: &Snapshot) -> String {
    let said = snapshot.items.iter().filter_map(|item| match &item.body {
        ItemBody::Human { text, .. } => Some(format!("Person: {text}")),
        ItemBody::Ai { text, .. } if !text.trim().is_empty() => Some(format!("Agent: {text}")),
        ItemBody::Ai { .. } | ItemBody::Tool(_) | ItemBody::Notice(_) => None,
    });
    let all = said.collect::<Vec<_>>().join("\n\n");
    let count = all.chars().count();
    if count == 0 {
        return "(nothing was said in it yet)".into();
    }
    if count <= SAID {
        return all;
    }
    format!("(its beginning is left out)\n{}", all.chars().skip(count - SAID).collect::<String>())
}
