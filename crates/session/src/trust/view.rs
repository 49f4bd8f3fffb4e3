use std::sync::Arc;

use bosun_backend::{Backend, BackendError, BoxFuture, Listed, ReadResult, ReadWindow, VirtualPath, hand_on};

use super::{Place, Trusted, files_of};

/// A path space in which those things of the project that are not trusted as they are now are not there. What the agent
/// goes by is read through it; its tools see the project as it is.
pub(crate) struct TrustedView {
    inner: Arc<dyn Backend>,
    trusted: Arc<Trusted>,
}

impl TrustedView {
    pub(crate) fn new(inner: Arc<dyn Backend>, trusted: Arc<Trusted>) -> Self {
        Self { inner, trusted }
    }

    async fn is_trusted_file(&self, path: &VirtualPath) -> bool {
        match self.inner.download(vec![path.clone()]).await.pop() {
            Some(Ok(bytes)) => self.trusted.allows(path, &bosun_backend::ContentHash::of(&bytes)),
            _ => false,
        }
    }

    async fn is_trusted_skill(&self, folder: &VirtualPath) -> bool {
        match files_of(&*self.inner, folder).await {
            Ok(files) => !files.is_empty() && files.iter().all(|file| self.trusted.allows(&file.path, &file.hash)),
            Err(_) => false,
        }
    }

    async fn admits(&self, path: &VirtualPath) -> bool {
        match Place::of(path) {
            Place::Ordinary | Place::SkillFolders | Place::SubagentFolder => true,
            Place::File => self.is_trusted_file(path).await,
            Place::Skill { folder } => self.is_trusted_skill(&folder).await,
        }
    }

    /// # Errors
    /// As for what is not there, where it is not trusted.
    async fn admit(&self, path: &VirtualPath) -> Result<(), BackendError> {
        if self.admits(path).await { Ok(()) } else { Err(BackendError::NotFound { path: path.clone() }) }
    }
}

impl Backend for TrustedView {
    hand_on!(inner: write, edit, grep, glob, upload);

    fn ls<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Listed, BackendError>> {
        Box::pin(async move {
            let entries = self.inner.ls(path).await?;
            if Place::of(path) == Place::Ordinary {
                return Ok(entries);
            }
            let mut admitted =
                Listed { rows: Vec::with_capacity(entries.len()), left_out: entries.left_out, cut: entries.cut };
            for entry in entries {
                if self.admits(&entry.path).await {
                    admitted.rows.push(entry);
                }
            }
            Ok(admitted)
        })
    }

    /// What is read is what was checked: a file that counts is read after its check only where it is still the same.
    fn read<'a>(
        &'a self,
        path: &'a VirtualPath,
        window: ReadWindow,
    ) -> BoxFuture<'a, Result<ReadResult, BackendError>> {
        Box::pin(async move {
            match Place::of(path) {
                Place::Ordinary => return self.inner.read(path, window).await,
                // A file of its own is judged by what was read.
                Place::File => {}
                Place::Skill { .. } | Place::SkillFolders | Place::SubagentFolder => self.admit(path).await?,
            }
            let read = self.inner.read(path, window).await?;
            let is_same = read.stamp.hash.as_ref().is_some_and(|hash| self.trusted.allows(path, hash));
            if is_same { Ok(read) } else { Err(BackendError::NotFound { path: path.clone() }) }
        })
    }

    fn download(&self, paths: Vec<VirtualPath>) -> BoxFuture<'_, Vec<Result<Vec<u8>, BackendError>>> {
        Box::pin(async move {
            let mut answers = Vec::with_capacity(paths.len());
            for path in paths {
                let answer = match self.admit(&path).await {
                    Ok(()) => self.inner.download(vec![path.clone()]).await.pop(),
                    Err(error) => Some(Err(error)),
                };
                let same = |bytes: &Vec<u8>| {
                    Place::of(&path) == Place::Ordinary
                        || self.trusted.allows(&path, &bosun_backend::ContentHash::of(bytes))
                };
                answers.push(match answer {
                    Some(Ok(bytes)) if same(&bytes) => Ok(bytes),
                    Some(Err(error)) => Err(error),
                    Some(Ok(_)) | None => Err(BackendError::NotFound { path }),
                });
            }
            answers
        })
    }
}
