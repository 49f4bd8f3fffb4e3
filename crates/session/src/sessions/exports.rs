use std::path::{Path, PathBuf};

use bosun_backend::{Backend, BackendError, Expect, LocalShellBackend, LocalShellOptions, Unwitnessed, VirtualPath};
use bosun_protocol::{ExportFormat, ExportPreview, Problem, SessionId};

use super::Sessions;
use crate::export::{Archive, Detail, Words, html, markdown};
use crate::{Explain, SessionError};

/// Most files of one name that are told apart by a number.
const MOST_OF_A_NAME: u32 = 1_000;
/// Longest name made from a title, in characters.
const LONGEST_NAME: usize = 60;
/// Bytes of an export that are shown before it is written.
const LONGEST_PREVIEW: usize = 64 * 1024;

/// Sessions as files, without keys: those that are known, and what looks like one.
impl Sessions {
    /// The whole session, with its subagents, diffs and outputs; for people, in the language of `words`.
    pub async fn export(
        &self,
        session: &SessionId,
        format: ExportFormat,
        words: &Words,
    ) -> Result<String, SessionError> {
        Ok(self.written(session, format, words).await?.0)
    }

    /// What [`Self::export_into`] would write, to be read before.
    pub async fn preview_export(
        &self,
        session: &SessionId,
        format: ExportFormat,
        words: &Words,
    ) -> Result<ExportPreview, SessionError> {
        let (whole, archive, redacted) = self.written(session, format, words).await?;
        let shown = match format {
            // The same in words, without what makes a page of it.
            ExportFormat::Html => markdown(&archive, &self.project_path(&archive).await?, Detail::Whole, words),
            ExportFormat::Markdown | ExportFormat::Json => whole.clone(),
        };
        let mut end = shown.len().min(LONGEST_PREVIEW);
        while !shown.is_char_boundary(end) {
            end -= 1;
        }
        let text = shown.get(..end).unwrap_or_default().to_owned();
        Ok(ExportPreview { cut: text.len() < shown.len(), text, bytes: whole.len() as u64, redacted })
    }

    /// Everything that a session shows, without keys, and the number of texts that held one.
    pub async fn whole(&self, session: &SessionId) -> Result<(Archive, u32), SessionError> {
        let models = &self.inner.models;
        self.know_keys().await;
        Archive::read(self, session).await?.redacted(&|text| models.redacted(text))
    }

    async fn written(
        &self,
        session: &SessionId,
        format: ExportFormat,
        words: &Words,
    ) -> Result<(String, Archive, u32), SessionError> {
        let (archive, redacted) = self.whole(session).await?;
        let text = match format {
            ExportFormat::Markdown => markdown(&archive, &self.project_path(&archive).await?, Detail::Whole, words),
            ExportFormat::Html => html(&archive, &self.project_path(&archive).await?, words),
            ExportFormat::Json => serde_json::to_string_pretty(&archive).map_err(SessionError::internal)?,
        };
        Ok((text, archive, redacted))
    }

    async fn project_path(&self, archive: &Archive) -> Result<String, SessionError> {
        let stored = self.inner.database.project(archive.session.project.as_str()).await?;
        Ok(stored.map(|project| project.path).unwrap_or_default())
    }

    /// Writes [`Self::export`] into `folder`, under a name made from the title that no file has yet.
    pub async fn export_into(
        &self,
        session: &SessionId,
        format: ExportFormat,
        words: &Words,
        folder: &Path,
    ) -> Result<PathBuf, SessionError> {
        let (text, archive, _) = self.written(session, format, words).await?;
        let (stem, ending) = (file_stem(&archive.session.title, words.file), ending(format));
        write_new(folder, &stem, &format!(".{ending}"), text.into_bytes()).await
    }
}

/// Writes a file into `folder` under a name that none there has yet: with a number behind its stem where one has.
pub(super) async fn write_new(
    folder: &Path,
    stem: &str,
    ending: &str,
    bytes: Vec<u8>,
) -> Result<PathBuf, SessionError> {
    let backend = LocalShellBackend::open(folder, LocalShellOptions::default())?;
    for number in 1..MOST_OF_A_NAME {
        let number = if number == 1 { String::new() } else { format!("-{number}") };
        let name = format!("{stem}{number}{ending}");
        let path = VirtualPath::parse(&format!("/{name}")).map_err(SessionError::internal)?;
        match backend.write(&path, bytes.clone(), Expect::Absent, &Unwitnessed).await {
            Ok(_) => return Ok(folder.join(name)),
            Err(BackendError::AlreadyExists { .. }) => {}
            Err(error) => return Err(SessionError::invalid(error.problem())),
        }
    }
    Err(SessionError::invalid(Problem::TooManyOfAName { name: stem.to_owned() }))
}

fn ending(format: ExportFormat) -> &'static str {
    match format {
        ExportFormat::Markdown => "md",
        ExportFormat::Json => "json",
        ExportFormat::Html => "html",
    }
}

/// Letters and digits of a title, with hyphens between them; `unnamed` where it has none.
fn file_stem(title: &str, unnamed: &str) -> String {
    let words = title.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let stem: String = words.collect::<Vec<_>>().join("-").chars().take(LONGEST_NAME).collect();
    let stem = stem.trim_matches('-');
    if stem.is_empty() { unnamed.to_owned() } else { stem.to_owned() }
}
