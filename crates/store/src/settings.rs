use rusqlite::{Connection, OptionalExtension};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Database, DatabaseError};

/// The name under which the settings of the whole app are kept.
pub const APP_SETTINGS: &str = "settings";

/// What the user set about models, apart from accounts and keys.
pub const MODEL_SETTINGS: &str = "model_settings";

/// What servers said of their models in their lists.
pub const LISTED_MODELS: &str = "listed_models";

impl Database {
    /// The setting `name`; `None` where it was never set or was written in a shape that is no longer read.
    pub async fn setting<T: DeserializeOwned + Send + 'static>(
        &self,
        name: &'static str,
    ) -> Result<Option<T>, DatabaseError> {
        self.read(move |connection| {
            let text: Option<String> = connection
                .prepare_cached("SELECT value FROM settings WHERE name = ?1")?
                .query_row([name], |row| row.get(0))
                .optional()?;
            Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
        })
        .await
    }

    /// Changes the setting `name` in one piece, beginning with its default where it was never set or cannot be read. What
    /// `change` refuses is not written; the answer is the setting as it is afterwards.
    pub async fn change_setting<T, E>(
        &self,
        name: &'static str,
        change: impl FnOnce(&mut T) -> Result<(), E> + Send + 'static,
    ) -> Result<Result<T, E>, DatabaseError>
    where
        T: Serialize + DeserializeOwned + Default + Send + 'static,
        E: Send + 'static,
    {
        self.write(move |connection| {
            let text: Option<String> = connection
                .prepare_cached("SELECT value FROM settings WHERE name = ?1")?
                .query_row([name], |row| row.get(0))
                .optional()?;
            let mut value: T = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
            if let Err(refused) = change(&mut value) {
                return Ok(Err(refused));
            }
            let text = serde_json::to_string(&value)
                .map_err(|error| DatabaseError::Unavailable { reason: error.to_string() })?;
            put(connection, name, &text)?;
            Ok(Ok(value))
        })
        .await
    }

    pub async fn set_setting<T: Serialize>(&self, name: &'static str, value: &T) -> Result<(), DatabaseError> {
        let text =
            serde_json::to_string(value).map_err(|error| DatabaseError::Unavailable { reason: error.to_string() })?;
        self.write(move |connection| {
            put(connection, name, &text)?;
            Ok(())
        })
        .await
    }

    /// As [`Database::set_setting`], and nothing of what the setting was is left in the file or in the log before it: it held
    /// what is kept elsewhere now.
    pub async fn overwrite_setting<T: Serialize>(&self, name: &'static str, value: &T) -> Result<(), DatabaseError> {
        let text =
            serde_json::to_string(value).map_err(|error| DatabaseError::Unavailable { reason: error.to_string() })?;
        self.write(move |connection| {
            connection.execute_batch("PRAGMA secure_delete = ON")?;
            let done = put(connection, name, &text);
            connection.execute_batch("PRAGMA secure_delete = OFF")?;
            done
        })
        .await?;
        self.empty_log().await
    }
}

fn put(connection: &Connection, name: &str, text: &str) -> Result<(), DatabaseError> {
    connection
        .prepare_cached(
            "INSERT INTO settings (name, value) VALUES (?1, ?2)
             ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        )?
        .execute([name, text])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[tokio::test]
    async fn a_setting_changes_in_one_piece_or_not_at_all() {
        let database = Database::in_memory().unwrap();
        let add = |number: u32| {
            move |list: &mut Vec<u32>| {
                if number == 0 {
                    Err("no")
                } else {
                    list.push(number);
                    Ok(())
                }
            }
        };
        assert_eq!(database.change_setting("list", add(1)).await.unwrap(), Ok(vec![1]));
        assert_eq!(database.change_setting("list", add(0)).await.unwrap(), Err("no"));
        assert_eq!(database.change_setting("list", add(2)).await.unwrap(), Ok(vec![1, 2]));
        assert_eq!(database.setting::<Vec<u32>>("list").await.unwrap(), Some(vec![1, 2]));
    }

    #[tokio::test]
    #[allow(clippy::disallowed_methods, reason = "tests look at the files that are kept")]
    async fn of_a_setting_that_was_overwritten_nothing_is_left_in_any_file() {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::open(folder.path()).unwrap();
        let holders = || {
            let files = std::fs::read_dir(folder.path()).unwrap().flatten().filter(|file| file.path().is_file());
            let holds = |path: &std::path::Path| std::fs::read(path).unwrap().windows(6).any(|part| part == b"canary");
            files.map(|file| file.path()).filter(|path| holds(path)).count()
        };
        for length in [10, 1_000, 20_000] {
            database.set_setting("text", &format!("{}canary", "x".repeat(length))).await.unwrap();
            assert_ne!(holders(), 0);
            database.overwrite_setting("text", &"y".repeat(length / 2)).await.unwrap();
            assert_eq!(holders(), 0, "{length}");
        }
        assert_eq!(database.setting::<String>("text").await.unwrap(), Some("y".repeat(10_000)));
    }
}
