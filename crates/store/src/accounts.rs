use rusqlite::params;
use serde::{Deserialize, Serialize};

use crate::{Database, DatabaseError};

/// An account at a model provider, without its key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderAccount {
    pub id: String,
    pub label: String,
    /// `anthropic` or `openai_chat`.
    pub family: String,
    pub base_url: String,
    /// Whether the person chose the family, so that the address has no say in it.
    #[serde(default)]
    pub chosen: bool,
}

impl Database {
    /// The accounts the user added or changed, in the order they were added.
    pub async fn accounts(&self) -> Result<Vec<ProviderAccount>, DatabaseError> {
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

    pub async fn save_account(&self, account: ProviderAccount) -> Result<(), DatabaseError> {
        let body = serde_json::to_string(&account)
            .map_err(|error| DatabaseError::Unavailable { reason: error.to_string() })?;
        self.write(move |connection| {
            connection
                .prepare_cached(
                    "INSERT INTO accounts (id, position, body)
                     VALUES (?1, (SELECT coalesce(max(position), 0) + 1 FROM accounts), ?2)
                     ON CONFLICT (id) DO UPDATE SET body = excluded.body",
                )?
                .execute(params![account.id, body])?;
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
