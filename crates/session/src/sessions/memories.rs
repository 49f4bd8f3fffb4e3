use std::collections::HashMap;
use std::path::{Path, PathBuf};

use bosun_backend::{Bundle, StoreQuery, StoreScope, VirtualPath};
use bosun_protocol::{
    DeletedMemory, FindMemories, Imported, MemoryEntry, MemoryFile, MemoryList, MemoryRef, MemoryScope, MemoryShelf,
    Problem, ProjectId, SaveMemory, SessionId, WrittenBy,
};

use super::Sessions;
use super::bundles::ImportFrom;
use crate::search::snippet;
use crate::stored::{StoredFile, StoredFiles, data_of, path_of, shown, text_of};
use crate::writing::written_by;
use crate::{Explain, SessionError};

/// The file that the model reads with every request.
const ALWAYS_READ: &str = "/AGENTS.md";
/// Longest title, in characters.
const TITLE: usize = 80;
/// Most memories that a search gives.
const MOST_HITS: usize = 200;
/// How long something deleted can be brought back.
pub(super) const KEPT_MS: i64 = 30 * 24 * 60 * 60 * 1_000;

/// What is remembered for the person, and for each project.
impl Sessions {
    /// The memories of the person and, where one is named, of a project.
    pub async fn memories(&self, find: &FindMemories) -> Result<MemoryList, SessionError> {
        self.inner.database.purge_values(self.inner.clock.now_ms() - KEPT_MS).await?;
        let mut list = MemoryList::default();
        let mut scored = Vec::new();
        for shelf in shelves(find.project.as_ref()) {
            let files = self.memory_files(&shelf)?;
            let all = files.all().await?;
            let words = find.text.as_deref().map(str::trim).filter(|text| !text.is_empty());
            match words {
                None => scored.extend(all.iter().map(|file| (0.0, entry_of(&shelf, file, None)))),
                Some(words) => {
                    let scores = scores(&files, words).await?;
                    let hit = |file: &StoredFile| {
                        Some((*scores.get(file.path.as_str())?, entry_of(&shelf, file, Some(words))))
                    };
                    scored.extend(all.iter().filter_map(hit));
                }
            }
            for (path, version) in files.deleted().await? {
                let title = data_of(&version).and_then(|data| text_of(&data)).unwrap_or_default();
                list.deleted.push(DeletedMemory {
                    title: title_of(&title, &path),
                    memory: named(&shelf, &path),
                    number: version.number,
                    deleted_at: version.ended_at,
                });
            }
        }
        scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        list.entries = scored.into_iter().map(|(_, entry)| entry).collect();
        list.deleted.sort_by_key(|deleted| std::cmp::Reverse(deleted.deleted_at));
        Ok(list)
    }

    /// A memory, whole, with its earlier versions.
    pub async fn memory(&self, memory: &MemoryRef) -> Result<MemoryFile, SessionError> {
        let (files, path) = self.memory_at(memory)?;
        let file = files.get(&path).await?;
        let versions = files.versions(&path).await?;
        Ok(MemoryFile {
            entry: entry_of(&shelf_of(memory), &file, None),
            text: file.text(),
            revision: file.revision(),
            versions: shown(&versions),
        })
    }

    /// Keeps a memory as the person wants it.
    ///
    /// # Errors
    /// [`ErrorCode::Invalid`] where it was changed since, or is there already.
    pub async fn save_memory(&self, save: &SaveMemory) -> Result<MemoryFile, SessionError> {
        let (files, path) = self.memory_at(&save.memory)?;
        files.save(&path, save.text.clone().into_bytes(), save.base.as_deref()).await?;
        self.memory(&save.memory).await
    }

    /// Deletes a memory; for 30 days one of its versions brings it back.
    pub async fn delete_memory(&self, memory: &MemoryRef) -> Result<(), SessionError> {
        let (files, path) = self.memory_at(memory)?;
        files.delete(&path).await
    }

    /// The text of an earlier version of a memory; `None` where it was no text.
    pub async fn memory_version(&self, memory: &MemoryRef, number: i64) -> Result<Option<String>, SessionError> {
        let (files, path) = self.memory_at(memory)?;
        files.version_text(&path, number).await
    }

    /// Puts an earlier version of a memory in place, of a deleted one too.
    pub async fn restore_memory(&self, memory: &MemoryRef, number: i64) -> Result<MemoryFile, SessionError> {
        let (files, path) = self.memory_at(memory)?;
        files.restore(&path, number).await?;
        self.memory(memory).await
    }

    /// The call of an agent that wrote a memory, or an earlier version of it; `None` where the person did, or the session
    /// is not there any more.
    pub async fn memory_source(
        &self,
        memory: &MemoryRef,
        number: Option<i64>,
    ) -> Result<Option<WrittenBy>, SessionError> {
        let (files, path) = self.memory_at(memory)?;
        let (author, at) = match number {
            None => files.get(&path).await.map(|file| (file.author, file.updated_at))?,
            Some(number) => {
                let versions = files.versions(&path).await?;
                let version = versions.into_iter().find(|version| version.number == number);
                version.map(|version| (version.author, version.written_at)).unwrap_or_default()
            }
        };
        let Some(author) = author else { return Ok(None) };
        let agent_path = agent_path(&shelf_of(memory), &path);
        written_by(self, &SessionId::new(author), &agent_path, at).await
    }

    /// Writes memories as files into a new folder in `folder`; gives its path.
    pub async fn export_memories(&self, shelf: &MemoryShelf, folder: &Path) -> Result<PathBuf, SessionError> {
        let files = self.memory_files(shelf)?.all().await?;
        let files = files.iter().map(|file| (file.path.as_str().trim_start_matches('/').to_owned(), file.bytes()));
        let name = match shelf.scope {
            MemoryScope::User => "bosun-memories",
            MemoryScope::Project => "bosun-project-memories",
        };
        super::bundles::write(folder, name, Bundle { files: files.collect() }).await
    }

    /// Brings in the files of a folder or zip archive. What is there with other content is replaced and stays in its
    /// history.
    pub async fn import_memories(&self, shelf: &MemoryShelf, from: ImportFrom) -> Result<Imported, SessionError> {
        let bundle = super::bundles::read(from).await?;
        let files = self.memory_files(shelf)?;
        let there: HashMap<VirtualPath, Vec<u8>> =
            files.all().await?.into_iter().map(|file| (file.path.clone(), file.bytes())).collect();
        let mut imported = Imported::default();
        for (name, bytes) in bundle.files {
            let path = path_of(&format!("/{name}"))?;
            if String::from_utf8(bytes.clone()).is_err() {
                imported.left_out.push(Problem::NotText { path: name });
                continue;
            }
            match there.get(&path) {
                Some(known) if *known == bytes => {}
                Some(_) => {
                    files.replace(&path, bytes).await?;
                    imported.replaced.push(name);
                }
                None => {
                    files.replace(&path, bytes).await?;
                    imported.added.push(name);
                }
            }
        }
        Ok(imported)
    }

    fn memory_at(&self, memory: &MemoryRef) -> Result<(StoredFiles, VirtualPath), SessionError> {
        Ok((self.memory_files(&shelf_of(memory))?, path_of(&memory.path)?))
    }

    fn memory_files(&self, shelf: &MemoryShelf) -> Result<StoredFiles, SessionError> {
        let scope = match (shelf.scope, &shelf.project) {
            (MemoryScope::User, _) => StoreScope::User,
            (MemoryScope::Project, Some(project)) => StoreScope::Project(project.to_string()),
            (MemoryScope::Project, None) => {
                return Err(SessionError::invalid(Problem::MemoryWithoutProject));
            }
        };
        self.stored_files(&scope, "memories")
    }

    pub(crate) fn stored_files(&self, scope: &StoreScope, kind: &str) -> Result<StoredFiles, SessionError> {
        StoredFiles::new(self.database(), std::sync::Arc::clone(&self.inner.clock), scope, kind)
    }
}

async fn scores(files: &StoredFiles, words: &str) -> Result<HashMap<String, f64>, SessionError> {
    let query = StoreQuery {
        namespace: files.namespace().clone(),
        key_prefix: None,
        text: Some(words.to_owned()),
        limit: MOST_HITS,
        offset: 0,
    };
    let hits = files.store().search(query).await;
    let hits = hits.map_err(|error| SessionError::invalid(error.problem()))?;
    Ok(hits.into_iter().map(|hit| (hit.item.key, hit.score)).collect())
}

fn shelves(project: Option<&ProjectId>) -> Vec<MemoryShelf> {
    let user = MemoryShelf { scope: MemoryScope::User, project: None };
    let of = |project: &ProjectId| MemoryShelf { scope: MemoryScope::Project, project: Some(project.clone()) };
    std::iter::once(user).chain(project.map(of)).collect()
}

fn shelf_of(memory: &MemoryRef) -> MemoryShelf {
    MemoryShelf { scope: memory.scope, project: memory.project.clone() }
}

fn named(shelf: &MemoryShelf, path: &VirtualPath) -> MemoryRef {
    MemoryRef { scope: shelf.scope, project: shelf.project.clone(), path: path.to_string() }
}

/// A memory in the agent's paths.
fn agent_path(shelf: &MemoryShelf, path: &VirtualPath) -> String {
    match shelf.scope {
        MemoryScope::User => format!("/memories{path}"),
        MemoryScope::Project => format!("/memories/project{path}"),
    }
}

fn entry_of(shelf: &MemoryShelf, file: &StoredFile, words: Option<&str>) -> MemoryEntry {
    let text = file.text().unwrap_or_default();
    MemoryEntry {
        memory: named(shelf, &file.path),
        agent_path: agent_path(shelf, &file.path),
        title: title_of(&text, &file.path),
        snippet: words.map(|words| snippet(&text, words)).unwrap_or_default(),
        size: file.data.size(),
        always_read: file.path.as_str() == ALWAYS_READ,
        author: file.author.as_deref().map(SessionId::new),
        created_at: file.created_at,
        updated_at: file.updated_at,
    }
}

/// The first words of a text, or its file's name.
fn title_of(text: &str, path: &VirtualPath) -> String {
    let line = text
        .lines()
        .map(|line| line.trim().trim_start_matches(['#', '-', '*', '>', ' ']))
        .find(|line| !line.is_empty() && !line.starts_with("<!--"));
    match line {
        Some(line) => line.chars().take(TITLE).collect(),
        None => path.name().unwrap_or_default().to_owned(),
    }
}
