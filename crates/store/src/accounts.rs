use rusqlite::params;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Database, DatabaseError};

impl Database {
    /// The accounts at model providers that the user added or changed, in the order they were added. What they are is the
    /// caller's.
    pub async fn accounts<A: DeserializeOwned + Send + 'static>(&self) -> Result<Vec<A>, DatabaseError> {
        self.read(|connection| {
            let mut select = connection.prepare_cached("SELECT body FROM accounts ORDER BY position")?;
            let rows = select.query_map([], |row| row.get::<_, String>(0))?;
            let bodies: Vec<String> = rows.collect::<Result<_, _>>()?;
            bodies
                .iter()
                .map(|body| {
                    serde_json::from_str(body).map_err(|error| DatabaseError::Damaged { reason: error.to_string() })
                })
                .collect()
        })
        .await
    }

    /// Keeps the account `id`, without its key.
    pub async fn save_account<A: Serialize>(&self, id: &str, account: &A) -> Result<(), DatabaseError> {
        let id = id.to_owned();
        let body =
            serde_json::to_string(account).map_err(|error| DatabaseError::Unavailable { reason: error.to_string() })?;
        self.write(move |connection| {
            connection
                .prepare_cached(
                    "INSERT INTO accounts (id, position, body)
                     VALUES (?1, (SELECT coalesce(max(position), 0) + 1 FROM accounts), ?2)
                     ON CONFLICT (id) DO UPDATE SET body = excluded.body",
                )?
                .execute(params![id, body])?;
            Ok(())
        })
        .await
    }

    /// Returns whether there was one.
    pub async fn remove_account(&self, id: &str) -> Result<bool, DatabaseError> {
        let id = id.to_owned();
        self.write(move |connection| {
            Ok(connection.prepare_cached("DELETE FROM accounts WHERE id = ?1")?.execute([id])? > 0)
        })
        .await
    }
}
