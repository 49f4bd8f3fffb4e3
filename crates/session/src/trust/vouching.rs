use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use bosun_agent::BoxFuture;
use bosun_backend::{FileMark, FilesystemBackend, FilesystemOptions, VirtualPath};
use bosun_harness::Extras;
use bosun_harness::mcp::{BroughtItem as Asked, Voucher};
use bosun_protocol::{ProjectId, TrustState};

use super::place::CONFIG;
use super::{BroughtItem, TrustBook, brought_config};
use crate::SessionError;
use crate::sessions::trust_state;
use crate::stream::locked;

/// Vouches for each thing a project brought as long as its person trusts what the project brings now, and that thing is as
/// the session began with it. It is asked before each run of each hook: files that were not touched since they were read
/// are not read again.
pub(crate) struct StillTrusted {
    root: PathBuf,
    trust: Arc<TrustBook>,
    project: ProjectId,
    extras: Extras,
    looked: Mutex<Option<Arc<Look>>>,
}

/// What the project brought when it was looked at last.
struct Look {
    /// Every file that counts, and what would count if it were there.
    paths: Vec<VirtualPath>,
    marks: Vec<FileMark>,
    config: BroughtItem,
    extras: Option<Extras>,
}

impl StillTrusted {
    pub(crate) fn new(root: PathBuf, trust: Arc<TrustBook>, project: ProjectId, extras: Extras) -> Self {
        Self { root, trust, project, extras, looked: Mutex::default() }
    }

    async fn is_as_begun(&self, asked: Asked<'_>) -> Result<bool, SessionError> {
        let trusted = self.trust.of(self.project.as_str()).await?;
        let Some(look) = self.look().await? else { return Ok(false) };
        if trust_state(&look.config, &trusted) != TrustState::Trusted {
            return Ok(false);
        }
        let hook = |extras: &Extras, name: &str| extras.hooks.iter().find(|hook| hook.name == name).cloned();
        Ok(look.extras.as_ref().is_some_and(|now| match asked {
            Asked::Server(name) => now.mcp.get(name) == self.extras.mcp.get(name),
            Asked::Hook(name) => hook(now, name) == hook(&self.extras, name),
        }))
    }

    /// What the project brings now; `None` where it brings no configuration any more.
    async fn look(&self) -> Result<Option<Arc<Look>>, SessionError> {
        let files = FilesystemBackend::open(&self.root, FilesystemOptions::default())?;
        let last = locked(&self.looked).clone();
        if let Some(last) = last
            && files.marks(last.paths.clone()).await? == last.marks
        {
            return Ok(Some(last));
        }
        let Some(found) = read(&files).await else {
            *locked(&self.looked) = None;
            return Ok(None);
        };
        // Kept is what nobody touched while it was read, nor so shortly before that its marks might not tell.
        let marks = files.marks(found.paths).await?;
        let Some(look) = read(&files).await else { return Ok(None) };
        let look = Arc::new(Look { marks, ..look });
        let after = files.marks(look.paths.clone()).await?;
        let is_settled = after == look.marks && after.iter().all(FileMark::is_settled);
        *locked(&self.looked) = is_settled.then(|| Arc::clone(&look));
        Ok(Some(look))
    }
}

async fn read(files: &FilesystemBackend) -> Option<Look> {
    let mut config = brought_config(files).await?;
    let extras = config.extras();
    // What is asked about a file from now on is its hash.
    config.files.iter_mut().for_each(|file| file.bytes = Vec::new());
    let started = extras.iter().flat_map(|extras| extras.started(Path::new("")));
    let paths = VirtualPath::parse(CONFIG).into_iter().chain(started).collect();
    Some(Look { paths, marks: Vec::new(), config, extras })
}

impl Voucher for StillTrusted {
    fn vouches<'a>(&'a self, item: Asked<'a>) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            self.is_as_begun(item).await.unwrap_or_else(|error| {
                tracing::warn!(%error, "whether a project's hooks and servers are trusted could not be looked up");
                false
            })
        })
    }
}

#[cfg(test)]
#[path = "vouching_tests.rs"]
mod tests;
