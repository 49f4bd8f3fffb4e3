//! What a project brings for the agent to go by (instructions, skills, subagents, hooks and servers of tools) is used
//! only where a person trusted exactly its content. [`TrustBook`] knows what they trusted, `brought` finds what there
//! is, [`TrustedView`] is a path space in which everything else is not there.

mod brought;
mod place;
mod view;
mod vouching;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use bosun_agent::Clock;
use bosun_backend::{ContentHash, VirtualPath};
use bosun_store::{Database, StoredVerdict, Verdict};
use tokio::sync::Mutex as AsyncMutex;

use crate::SessionError;
use crate::stream::locked;
pub(crate) use brought::{Brought, BroughtFile, BroughtItem, brought, brought_config, files_of};
pub use place::CONFIG as PROJECT_CONFIG;
pub(crate) use place::{INSTRUCTIONS, Place, SKILLS, SUBAGENTS};
pub(crate) use view::TrustedView;
pub(crate) use vouching::StillTrusted;

/// What is trusted, in every project that was asked about so far.
pub(crate) struct TrustBook {
    database: Arc<Database>,
    clock: Arc<dyn Clock>,
    projects: AsyncMutex<HashMap<String, Arc<Trusted>>>,
    /// Whether sessions say what they do not use: where no window shows it.
    tells: AtomicBool,
}

/// What is trusted in one project; changes at once when the person decides.
#[derive(Default)]
pub(crate) struct Trusted {
    files: Mutex<HashMap<String, Known>>,
}

/// What was decided about a file.
#[derive(Clone, Debug, Default)]
struct Known {
    trusted: Option<Arc<Kept>>,
    /// The hash of the content that was set aside.
    set_aside: Option<String>,
}

/// A content that was trusted.
#[derive(Debug)]
pub(crate) struct Kept {
    hash: String,
    pub content: Option<Vec<u8>>,
}

/// How a content stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    New,
    Changed,
    Trusted,
    SetAside,
}

impl TrustBook {
    pub(crate) fn new(database: Arc<Database>, clock: Arc<dyn Clock>) -> Self {
        Self { database, clock, projects: AsyncMutex::default(), tells: AtomicBool::default() }
    }

    pub(crate) fn tell(&self) {
        self.tells.store(true, Ordering::Relaxed);
    }

    pub(crate) fn tells(&self) -> bool {
        self.tells.load(Ordering::Relaxed)
    }

    /// What is trusted in the project with this id.
    pub(crate) async fn of(&self, project: &str) -> Result<Arc<Trusted>, SessionError> {
        let mut projects = self.projects.lock().await;
        if let Some(trusted) = projects.get(project) {
            return Ok(Arc::clone(trusted));
        }
        let trusted = Arc::new(Trusted::default());
        for verdict in self.database.verdicts(project).await? {
            trusted.learn(verdict);
        }
        projects.insert(project.to_owned(), Arc::clone(&trusted));
        Ok(trusted)
    }

    /// Keeps a decision about these contents.
    pub(crate) async fn decide(
        &self,
        project: &str,
        verdict: Verdict,
        files: &[BroughtFile],
    ) -> Result<(), SessionError> {
        let trusted = self.of(project).await?;
        let decided_at = self.clock.now_ms();
        let stored = |file: &BroughtFile| StoredVerdict {
            path: file.path.to_string(),
            verdict,
            hash: file.hash.to_string(),
            content: (verdict == Verdict::Trusted).then(|| file.bytes.clone()),
            decided_at,
        };
        let verdicts: Vec<StoredVerdict> = files.iter().map(stored).collect();
        self.database.decide_trust(project, verdicts.clone()).await?;
        verdicts.into_iter().for_each(|verdict| trusted.learn(verdict));
        Ok(())
    }
}

impl Trusted {
    /// Whether this content of a file may be used.
    pub(crate) fn allows(&self, path: &VirtualPath, hash: &ContentHash) -> bool {
        self.standing(path, hash) == Standing::Trusted
    }

    pub(crate) fn standing(&self, path: &VirtualPath, hash: &ContentHash) -> Standing {
        let files = locked(&self.files);
        let known = files.get(path.as_str()).cloned().unwrap_or_default();
        match known {
            Known { trusted: Some(kept), .. } if kept.hash == hash.as_str() => Standing::Trusted,
            Known { set_aside: Some(aside), .. } if aside == hash.as_str() => Standing::SetAside,
            Known { trusted: Some(_), .. } => Standing::Changed,
            Known { trusted: None, .. } => Standing::New,
        }
    }

    /// The content of a file that was trusted last.
    pub(crate) fn kept(&self, path: &VirtualPath) -> Option<Arc<Kept>> {
        locked(&self.files).get(path.as_str())?.trusted.clone()
    }

    fn learn(&self, given: StoredVerdict) {
        let mut files = locked(&self.files);
        let known = files.entry(given.path).or_default();
        match given.verdict {
            Verdict::Trusted => {
                known.set_aside = None;
                known.trusted = Some(Arc::new(Kept { hash: given.hash, content: given.content }));
            }
            Verdict::SetAside => {
                known.trusted.take_if(|kept| kept.hash == given.hash);
                known.set_aside = Some(given.hash);
            }
        }
    }
}

#[cfg(test)]
#[path = "trust_tests.rs"]
mod tests;
