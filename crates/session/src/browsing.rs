//! A person looks at the files of a session as its agent sees them: the project, and what is mounted over it.

use std::path::PathBuf;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bosun_backend::{Backend, BackendError, FileInfo, FolderWatch, Listed, VirtualPath};
use bosun_protocol::{FileEntry, FilePreview, FolderView, MountKind, MountView, PreviewBody, Problem, TextPlace};

use crate::SessionError;
use crate::actor::Actor;
use crate::reviewing::{image_type, parsed};
use crate::space::Places;

mod paths;
mod text;

pub(crate) use paths::{Paths, Spot};

/// Entries of one folder that are listed.
const LISTED: usize = 5_000;
/// Largest text that is copied, in megabytes.
const COPIED: u32 = 4;
/// Folders that are watched for one person.
const WATCHED: usize = 256;

/// The path space as it is looked at.
struct Looked {
    backend: Arc<dyn Backend>,
    places: Places,
}

impl Looked {
    /// What the file or folder at `path` is kept in.
    fn mount(&self, path: &VirtualPath) -> MountView {
        let places = &self.places;
        let mounts = [
            (&places.memories, MountKind::Memory, false),
            (&places.skills, MountKind::Skill, false),
            (&places.builtin_skills, MountKind::Skill, true),
            (&places.home_skills, MountKind::Skill, true),
            (&places.results, MountKind::Results, false),
            (&places.history, MountKind::History, false),
        ];
        let mounts = mounts
            .into_iter()
            .filter_map(|(place, kind, read_only)| Some((place.as_ref()?, MountView { kind, read_only })));
        // Where one of the person's is in the place of a mount, it is theirs.
        let all = mounts.chain(places.taken.iter().map(|(prefix, taken)| (prefix, taken.mount)));
        let around = all.filter(|(prefix, _)| path.starts_with(prefix));
        let root = || match (places.root, self.backend.host_path(path)) {
            (Some(elsewhere), _) => elsewhere,
            (None, Some(_)) => MountKind::Project,
            (None, None) => MountKind::Session,
        };
        let nearest = around.max_by_key(|(prefix, _)| prefix.as_str().len()).map(|(_, mount)| mount);
        nearest.unwrap_or_else(|| MountView { kind: root(), read_only: false })
    }

    fn entry(&self, info: FileInfo) -> FileEntry {
        let mount = self.mount(&info.path);
        FileEntry {
            name: info.path.name().unwrap_or_default().to_owned(),
            on_disk: self.backend.host_path(&info.path).is_some(),
            path: info.path.to_string(),
            is_folder: info.is_dir,
            size: info.size,
            modified_at: info.modified_ns.map(|ns| ns / 1_000_000),
            mount: (mount.kind != MountKind::Project).then_some(mount),
        }
    }
}

impl Actor {
    async fn looked(&self) -> Result<Looked, SessionError> {
        let space = self.space().await?;
        // While a turn is under way the agent's own files are ahead of the journal's.
        Ok(Looked { backend: self.backend().await?, places: space.places })
    }

    /// What is in a folder.
    pub(crate) async fn folder(&self, path: &str) -> Result<FolderView, SessionError> {
        let path = parsed(path)?;
        let looked = self.looked().await?;
        let found = match looked.backend.ls(&path).await {
            // A place of the app's that nothing was put into yet.
            Err(BackendError::NotFound { .. } | BackendError::DirectoryNotFound { .. })
                if looked.mount(&path).kind != MountKind::Project =>
            {
                Listed::default()
            }
            found => found?,
        };
        let mut entries: Vec<FileEntry> = found.into_iter().map(|info| looked.entry(info)).collect();
        entries.sort_by_cached_key(|entry| (!entry.is_folder, entry.name.to_lowercase(), entry.name.clone()));
        let more = u32::try_from(entries.len().saturating_sub(LISTED)).unwrap_or(u32::MAX);
        entries.truncate(LISTED);
        Ok(FolderView { path: path.to_string(), entries, more })
    }

    /// A look at a file; of a text the rows from `from` on.
    pub(crate) async fn file_preview(&self, path: &str, from: TextPlace) -> Result<FilePreview, SessionError> {
        let path = parsed(path)?;
        let looked = self.looked().await?;
        let size = match path.parent() {
            Some(parent) => {
                let siblings = looked.backend.ls(&parent).await?;
                siblings.into_iter().find(|info| info.path == path).and_then(|info| info.size)
            }
            None => None,
        };
        let body = match image_type(&path, size.unwrap_or_default()) {
            Some(mime) => image(&*looked.backend, &path, mime).await?,
            None if is_pdf(&path) => PreviewBody::Pdf,
            None => text::look(&*looked.backend, &path, from).await?,
        };
        let mount = looked.mount(&path);
        let on_disk = looked.backend.host_path(&path).is_some();
        Ok(FilePreview { path: path.to_string(), size, mount, body, on_disk })
    }

    /// A whole text, to be copied.
    ///
    /// # Errors
    /// Where it is too large for that, or not text.
    pub(crate) async fn file_text(&self, path: &str) -> Result<String, SessionError> {
        let path = parsed(path)?;
        let most = u64::from(COPIED) * 1024 * 1024;
        let too_large = || {
            let name = path.name().unwrap_or_default().to_owned();
            SessionError::invalid(Problem::TooLargeToCopy { name, megabytes: COPIED })
        };
        let backend = self.backend().await?;
        if backend.stat(&path).await?.size.is_some_and(|size| size > most) {
            return Err(too_large());
        }
        let bytes = whole(&*backend, &path).await?;
        if bytes.len() as u64 > most {
            return Err(too_large());
        }
        let text =
            String::from_utf8(bytes).map_err(|error| BackendError::NotText { path, reason: error.to_string() })?;
        Ok(text.strip_prefix('\u{feff}').map(ToOwned::to_owned).unwrap_or(text))
    }

    /// A file's name and all its bytes.
    ///
    /// # Errors
    /// Where it is not there, no file, or larger than what can be handed on.
    pub(crate) async fn file_bytes(&self, path: &str) -> Result<(String, Vec<u8>), SessionError> {
        let path = parsed(path)?;
        let bytes = whole(&*self.backend().await?, &path).await?;
        Ok((path.name().unwrap_or_default().to_owned(), bytes))
    }

    /// Where a file is on this machine, for other programs.
    ///
    /// # Errors
    /// Where it is not on disk, or not there.
    pub(crate) async fn host_file(&self, path: &str) -> Result<PathBuf, SessionError> {
        let path = parsed(path)?;
        let backend = self.backend().await?;
        if let Some(parent) = path.parent() {
            let siblings = backend.ls(&parent).await?;
            if !siblings.iter().any(|info| info.path == path) {
                return Err(BackendError::NotFound { path }.into());
            }
        }
        backend.host_path(&path).ok_or_else(|| SessionError::invalid(Problem::KeptByBosun { path: path.to_string() }))
    }

    /// Notices what changes in folders on this machine's disk; the others are passed over.
    pub(crate) async fn watch_folders(&self, folders: &[String]) -> Result<FolderWatch, SessionError> {
        let backend = self.backend().await?;
        let mut places = Vec::new();
        for folder in folders.iter().take(WATCHED) {
            let path = parsed(folder)?;
            places.extend(backend.host_path(&path).map(|host| (path, host)));
        }
        let watch = tokio::task::spawn_blocking(move || FolderWatch::open(places)).await;
        let unavailable = |detail: String| SessionError::invalid(Problem::NotWatched { detail });
        watch.map_err(|error| unavailable(error.to_string()))?.map_err(|error| unavailable(error.to_string()))
    }
}

async fn image(backend: &dyn Backend, path: &VirtualPath, mime: &str) -> Result<PreviewBody, SessionError> {
    match backend.download(vec![path.clone()]).await.pop() {
        Some(Ok(bytes)) => {
            let data = tokio::task::spawn_blocking(move || STANDARD.encode(bytes)).await.unwrap_or_default();
            Ok(PreviewBody::Image { mime: mime.to_owned(), data })
        }
        Some(Err(BackendError::TooLarge { .. })) => Ok(PreviewBody::TooLarge),
        Some(Err(error)) => Err(error.into()),
        None => Err(BackendError::NotFound { path: path.clone() }.into()),
    }
}

async fn whole(backend: &dyn Backend, path: &VirtualPath) -> Result<Vec<u8>, SessionError> {
    let found = backend.download(vec![path.clone()]).await.pop();
    Ok(found.ok_or_else(|| BackendError::NotFound { path: path.clone() })??)
}

fn is_pdf(path: &VirtualPath) -> bool {
    path.name().and_then(|name| name.rsplit_once('.')).is_some_and(|(_, ending)| ending.eq_ignore_ascii_case("pdf"))
}
