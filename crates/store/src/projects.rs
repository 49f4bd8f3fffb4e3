use bosun_agent::SessionId;
use bosun_backend::{StoreError, StoreScope};
use rusqlite::{Connection, OptionalExtension, params};

use crate::key_value::tail_of;
use crate::{Database, DatabaseError};

/// A folder that was opened as a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredProject {
    pub id: String,
    /// The absolute path, links resolved.
    pub path: String,
    pub name: String,
    /// Milliseconds since 1970.
    pub opened_at: i64,
}

/// What came of a project that was to be at another folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProjectMove {
    /// It is there, with everything that is kept under its id. Another one that was there is gone.
    Done { project: StoredProject, gone: Option<String> },
    /// Nothing was changed: another project is there, which has sessions or files of its own.
    Taken { by: StoredProject },
}

impl Database {
    /// The projects, last opened first.
    pub async fn projects(&self) -> Result<Vec<StoredProject>, DatabaseError> {
        self.read(|connection| {
            let mut select = connection.prepare_cached(
                "SELECT id, path, name, opened_at FROM projects WHERE opened_at > 0 ORDER BY opened_at DESC",
            )?;
            let rows = select.query_map([], from_row)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
        .await
    }

    /// Remembers that a folder was opened. One that is known keeps its id.
    pub async fn remember_project(&self, project: StoredProject) -> Result<StoredProject, DatabaseError> {
        self.write(move |connection| {
            connection
                .prepare_cached(
                    "INSERT INTO projects (id, path, name, opened_at) VALUES (?1, ?2, ?3, ?4)
                     ON CONFLICT (path) DO UPDATE SET name = excluded.name, opened_at = excluded.opened_at",
                )?
                .execute(params![project.id, project.path, project.name, project.opened_at])?;
            Ok(connection
                .prepare_cached("SELECT id, path, name, opened_at FROM projects WHERE path = ?1")?
                .query_row([&project.path], from_row)?)
        })
        .await
    }

    pub async fn project(&self, id: &str) -> Result<Option<StoredProject>, DatabaseError> {
        let id = id.to_owned();
        self.read(move |connection| {
            let mut select =
                connection.prepare_cached("SELECT id, path, name, opened_at FROM projects WHERE id = ?1")?;
            Ok(select.query_row([id], from_row).optional()?)
        })
        .await
    }

    /// The project of a folder, listed or not.
    pub async fn project_at(&self, path: &str) -> Result<Option<StoredProject>, DatabaseError> {
        let path = path.to_owned();
        self.read(move |connection| at(connection, &path)).await
    }

    /// Gives the project `moved.id` another folder and name, and with that everything that is kept under its id. Another
    /// project that was only opened there gives way to it, with what was decided about its files. So does one with no sessions
    /// but those in `deleted`, and no files but deleted ones: these are the moved one's from then on.
    pub async fn move_project(
        &self,
        moved: StoredProject,
        deleted: Vec<SessionId>,
    ) -> Result<ProjectMove, DatabaseError> {
        self.write(move |connection| {
            let there = at(connection, &moved.path)?.filter(|there| there.id != moved.id);
            if let Some(there) = &there
                && !give_way(connection, there, &moved.id, &deleted)?
            {
                return Ok(ProjectMove::Taken { by: there.clone() });
            }
            let changed = connection
                .prepare_cached("UPDATE projects SET path = ?2, name = ?3, opened_at = ?4 WHERE id = ?1")?
                .execute(params![moved.id, moved.path, moved.name, moved.opened_at])?;
            if changed == 0 {
                return Err(DatabaseError::NotFound { what: format!("project {}", moved.id) });
            }
            Ok(ProjectMove::Done { project: moved, gone: there.map(|there| there.id) })
        })
        .await
    }

    /// Takes a project off the list. Its sessions stay and are there again when the folder is opened again.
    pub async fn forget_project(&self, id: &str) -> Result<(), DatabaseError> {
        let id = id.to_owned();
        self.write(move |connection| {
            connection.prepare_cached("UPDATE projects SET opened_at = 0 WHERE id = ?1")?.execute([id])?;
            Ok(())
        })
        .await
    }
}

fn at(connection: &Connection, path: &str) -> Result<Option<StoredProject>, DatabaseError> {
    let mut select = connection.prepare_cached("SELECT id, path, name, opened_at FROM projects WHERE path = ?1")?;
    Ok(select.query_row([path], from_row).optional()?)
}

/// Removes a project in which nothing is but what was deleted, to whose folder another one comes; whether it was so. What was
/// deleted can be brought back in that one.
fn give_way(
    connection: &Connection,
    there: &StoredProject,
    coming: &str,
    deleted: &[SessionId],
) -> Result<bool, DatabaseError> {
    let tail = |project: &str| {
        let namespace = StoreScope::Project(project.to_owned()).namespace("any");
        let unreadable = |error: StoreError| DatabaseError::Damaged { reason: error.to_string() };
        namespace.map(|namespace| tail_of(&namespace)).map_err(unreadable)
    };
    let (files, theirs) = (tail(&there.id)?, tail(coming)?);
    let has_files: bool = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM key_values WHERE substr(namespace, -length(?1)) = ?1)")?
        .query_row([&files], |row| row.get(0))?;
    let mut sessions = connection.prepare_cached("SELECT id FROM sessions WHERE project = ?1 AND parent IS NULL")?;
    let sessions = sessions.query_map([&there.id], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    if has_files || !sessions.iter().all(|id| deleted.iter().any(|gone| gone.as_str() == id)) {
        return Ok(false);
    }
    // What was spent there stays counted, in sessions that are gone by now too.
    for table in ["model_calls", "sessions"] {
        connection.execute(&format!("UPDATE {table} SET project = ?2 WHERE project = ?1"), [&there.id, coming])?;
    }
    connection.execute(
        "UPDATE key_value_versions SET namespace = substr(namespace, 1, length(namespace) - length(?1)) || ?2
         WHERE substr(namespace, -length(?1)) = ?1",
        [&files, &theirs],
    )?;
    connection.execute("DELETE FROM trusted_files WHERE project = ?1", [&there.id])?;
    connection.execute("DELETE FROM projects WHERE id = ?1", [&there.id])?;
    Ok(true)
}

fn from_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<StoredProject> {
    Ok(StoredProject { id: row.get(0)?, path: row.get(1)?, name: row.get(2)?, opened_at: row.get(3)? })
}

#[cfg(test)]
#[path = "projects_tests.rs"]
mod tests;
