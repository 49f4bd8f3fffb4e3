use rusqlite::OptionalExtension;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Database, DatabaseError};

/// The name under which the settings of the whole app are kept.
pub const APP_SETTINGS: &str = "settings";

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

    pub async fn set_setting<T: Serialize>(&self, name: &'static str, value: &T) -> Result<(), DatabaseError> {
        let text =
            serde_json::to_string(value).map_err(|error| DatabaseError::Unavailable { reason: error.to_string() })?;
        self.write(move |connection| {
            connection
                .prepare_cached(
                    "INSERT INTO settings (name, value) VALUES (?1, ?2)
                     ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                )?
                .execute([name, &text])?;
            Ok(())
        })
        .await
    }
}
