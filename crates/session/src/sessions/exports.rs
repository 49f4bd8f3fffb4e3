use std::path::{Path, PathBuf};

use bosun_backend::{Backend, BackendError, Expect, LocalShellBackend, LocalShellOptions, Unwitnessed, VirtualPath};
use bosun_protocol::{ExportFormat, Problem, SessionId};

use super::Sessions;
use crate::export::{Archive, Detail, html, markdown};
use crate::{Explain, SessionError};

/// Most files of one name that are told apart by a number.
const MOST_OF_A_NAME: u32 = 1_000;
/// Longest name made from a title, in characters.
const LONGEST_NAME: usize = 60;

/// Sessions as files.
impl Sessions {
    /// The whole session, with its subagents, diffs and outputs.
    pub async fn export(&self, session: &SessionId, format: ExportFormat) -> Result<String, SessionError> {
        let archive = Archive::read(self, session).await?;
        let stored = self.inner.database.project(archive.session.project.as_str()).await?;
        let project = stored.map(|project| project.path).unwrap_or_default();
        match format {
            ExportFormat::Markdown => Ok(markdown(&archive, &project, Detail::Whole)),
            ExportFormat::Html => Ok(html(&archive, &project)),
            ExportFormat::Json => serde_json::to_string_pretty(&archive).map_err(SessionError::internal),
        }
    }

    /// Writes [`Self::export`] into `folder`, under a name made from the title that no file has yet.
    pub async fn export_into(
        &self,
        session: &SessionId,
        format: ExportFormat,
        folder: &Path,
    ) -> Result<PathBuf, SessionError> {
        let text = self.export(session, format).await?;
        let stored = self.stream(session).await?.read(|projection| projection.summary().title.clone());
        let (stem, ending) = (file_stem(&stored), ending(format));
        let backend = LocalShellBackend::open(folder, LocalShellOptions::default())?;
        for number in 1..MOST_OF_A_NAME {
            let number = if number == 1 { String::new() } else { format!("-{number}") };
            let name = format!("{stem}{number}.{ending}");
            let path = VirtualPath::parse(&format!("/{name}")).map_err(SessionError::internal)?;
            let written = backend.write(&path, text.clone().into_bytes(), Expect::Absent, &Unwitnessed).await;
            match written {
                Ok(_) => return Ok(folder.join(name)),
                Err(BackendError::AlreadyExists { .. }) => {}
                Err(error) => return Err(SessionError::invalid(error.problem())),
            }
        }
        Err(SessionError::invalid(Problem::TooManyOfAName { name: stem.to_owned() }))
    }
}

fn ending(format: ExportFormat) -> &'static str {
    match format {
        ExportFormat::Markdown => "md",
        ExportFormat::Json => "json",
        ExportFormat::Html => "html",
    }
}

/// Letters and digits of a title, with hyphens between them.
fn file_stem(title: &str) -> String {
    let words = title.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let stem: String = words.collect::<Vec<_>>().join("-").chars().take(LONGEST_NAME).collect();
    let stem = stem.trim_matches('-');
    if stem.is_empty() { "session".to_owned() } else { stem.to_owned() }
}
