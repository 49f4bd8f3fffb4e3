//! What `memories`, `skills` and `trust` share: where it is kept, of which project, and in which form it is told.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use bosun_backend::real_path;
use bosun_protocol::{Imported, ProjectId};
use bosun_providers::EnvironmentKeys;
use bosun_session::{Limits, Policy, Sessions};
use bosun_store::Database;
use clap::ValueEnum;

use crate::core::{Stored, open_sessions};
use crate::failure::Failure;
use crate::line::write_line;
use crate::models::Models;
use crate::terminal::visible;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// For programs (docs/cli.md).
    Json,
}

/// What is kept between sessions, opened.
pub(crate) struct Shelves {
    pub sessions: Sessions,
    database: Option<Arc<Database>>,
}

impl Shelves {
    /// To look: where nothing was ever stored, nothing is made.
    pub(crate) async fn to_look() -> Result<Self, Failure> {
        let folder = bosun_store::data_folder().ok_or(Failure::NoDataFolder)?;
        let stored = if Database::open_existing(&folder)?.is_some() { Some(Stored::open()?) } else { None };
        Self::over(stored).await
    }

    /// To change something: the data folder is made where it is missing.
    pub(crate) async fn to_change() -> Result<Self, Failure> {
        Self::over(Some(Stored::open()?)).await
    }

    async fn over(stored: Option<Stored>) -> Result<Self, Failure> {
        let database = stored.as_ref().map(|stored| Arc::clone(&stored.database));
        let models = Arc::new(Models::new(database.clone(), EnvironmentKeys::default()));
        let sessions = open_sessions(stored.as_ref(), models, Policy::default(), Limits::default()).await?;
        Ok(Self { sessions, database })
    }

    /// The project in `folder`, where one was named and Bosun has it. It is not put first in anybody's list.
    pub(crate) async fn known(&self, folder: Option<&Path>) -> Result<Option<ProjectId>, Failure> {
        let (Some(folder), Some(database)) = (folder, &self.database) else { return Ok(None) };
        let path = real_path(folder);
        let projects = database.projects().await?;
        let found = projects.into_iter().find(|project| Path::new(&project.path) == path);
        Ok(found.map(|project| ProjectId::new(project.id)))
    }

    /// The project in `folder`, which Bosun has from now on.
    pub(crate) async fn project(&self, folder: &Path) -> Result<ProjectId, Failure> {
        match self.known(Some(folder)).await? {
            Some(project) => Ok(project),
            None => Ok(self.sessions.open_project(folder).await?.id),
        }
    }
}

/// What bringing files in did: names on standard output, what was left out on standard error.
pub(crate) fn tell_imported(imported: &Imported, format: Format) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match format {
        Format::Json => write_line(&mut out, imported)?,
        Format::Text => {
            for (word, names) in [("new", &imported.added), ("replaced", &imported.replaced)] {
                names.iter().try_for_each(|name| writeln!(out, "{word}  {}", visible(name)))?;
            }
            let none = imported.added.is_empty() && imported.replaced.is_empty();
            if none && imported.left_out.is_empty() {
                writeln!(out, "Everything was there already.")?;
            }
            imported.left_out.iter().for_each(|what| crate::tell(&format!("left out: {}", visible(&what.to_string()))));
        }
    }
    Ok(out.flush()?)
}
