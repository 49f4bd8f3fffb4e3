use rusqlite::{OptionalExtension, params};

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

fn from_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<StoredProject> {
    Ok(StoredProject { id: row.get(0)?, path: row.get(1)?, name: row.get(2)?, opened_at: row.get(3)? })
}
