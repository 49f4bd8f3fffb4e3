use std::collections::BTreeSet;

use bosun_agent::SessionId;
use rusqlite::{Connection, OptionalExtension, params};

use crate::body::text_of_body;
use crate::search::remove_texts;
use crate::{Database, DatabaseError};

/// The setting: content that sessions named which are gone, until it was looked for everywhere else.
const UNSWEPT: &str = "unswept_content";
/// Letters of a content hash.
const HASH: usize = 64;
/// Free pages that are worth writing the whole file anew, of a file up to so many bytes.
const MOST_FREE: i64 = 4;
const LARGEST_REWRITTEN: i64 = 256 << 20;

impl Database {
    /// Removes a session and its subagents' for good. What content they named is remembered for [`Self::unnamed_content`].
    pub async fn purge_session(&self, id: &SessionId) -> Result<(), DatabaseError> {
        let id = id.clone();
        self.write(move |connection| {
            let tree = "WITH RECURSIVE tree (key, id) AS (
                            SELECT key, id FROM sessions WHERE id = ?1
                            UNION ALL SELECT s.key, s.id FROM sessions AS s JOIN tree ON s.parent = tree.id)";
            let keys = connection
                .prepare_cached(&format!("{tree} SELECT key FROM tree"))?
                .query_map([id.as_str()], |row| row.get::<_, i64>(0))?
                .collect::<Result<Vec<_>, _>>()?;
            let mut named = unswept(connection)?;
            for key in keys {
                each_body(connection, Some(key), |text| named.extend(hashes(text).map(str::to_owned)))?;
                remove_texts(connection, key)?;
                connection.prepare_cached("DELETE FROM entries WHERE session = ?1")?.execute([key])?;
                connection.prepare_cached("DELETE FROM sessions WHERE key = ?1")?.execute([key])?;
            }
            set_unswept(connection, &named)
        })
        .await
    }

    /// The content that only purged sessions named: nothing that is stored names it. Reads everything there is, where a
    /// session was purged since [`Self::content_swept`].
    pub async fn unnamed_content(&self) -> Result<Vec<String>, DatabaseError> {
        self.read(|connection| {
            let mut unnamed = unswept(connection)?;
            if unnamed.is_empty() {
                return Ok(Vec::new());
            }
            each_body(connection, None, |text| take_named(&mut unnamed, text))?;
            for column in [
                "value FROM key_values",
                "value FROM key_value_versions",
                "summary FROM sessions",
                "value FROM settings WHERE name <> ?1",
            ] {
                let mut select = connection.prepare(&format!("SELECT {column}"))?;
                let mut rows = if column.contains('?') { select.query([UNSWEPT])? } else { select.query([])? };
                while let Some(row) = rows.next()? {
                    let text = row.get_ref(0)?.as_bytes().unwrap_or_default();
                    take_named(&mut unnamed, text);
                }
            }
            Ok(unnamed.into_iter().collect())
        })
        .await
    }

    /// What purged sessions named was looked for, and removed but for `left`. Where they left much room in the file, it is
    /// given back.
    pub async fn content_swept(&self, left: Vec<String>) -> Result<(), DatabaseError> {
        let (known, now) = (self.read(unswept).await?, left.into_iter().collect());
        if known == now {
            return Ok(());
        }
        self.write(move |connection| set_unswept(connection, &now)).await?;
        let number =
            |connection: &Connection, name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let wasteful = self
            .read(move |connection| {
                let (free, pages) = (number(connection, "freelist_count")?, number(connection, "page_count")?);
                let bytes = pages.saturating_mul(number(connection, "page_size")?);
                Ok(free.saturating_mul(MOST_FREE) > pages && bytes <= LARGEST_REWRITTEN)
            })
            .await?;
        if wasteful { self.rewrite().await } else { Ok(()) }
    }
}

fn unswept(connection: &Connection) -> Result<BTreeSet<String>, DatabaseError> {
    let text: Option<String> = connection
        .prepare_cached("SELECT value FROM settings WHERE name = ?1")?
        .query_row([UNSWEPT], |row| row.get(0))
        .optional()?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

fn set_unswept(connection: &Connection, named: &BTreeSet<String>) -> Result<(), DatabaseError> {
    if named.is_empty() {
        connection.prepare_cached("DELETE FROM settings WHERE name = ?1")?.execute([UNSWEPT])?;
        return Ok(());
    }
    let text =
        serde_json::to_string(named).map_err(|error| DatabaseError::Unavailable { reason: error.to_string() })?;
    connection
        .prepare_cached(
            "INSERT INTO settings (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2",
        )?
        .execute(params![UNSWEPT, text])?;
    Ok(())
}

/// Gives the JSON of every entry, of one session or of all.
fn each_body(connection: &Connection, session: Option<i64>, mut take: impl FnMut(&[u8])) -> Result<(), DatabaseError> {
    let mut select = connection.prepare_cached("SELECT seq, body FROM entries WHERE ?1 IS NULL OR session = ?1")?;
    let mut rows = select.query([session])?;
    while let Some(row) = rows.next()? {
        // What cannot be read may name anything: then nothing is unnamed.
        let seq = row.get::<_, i64>(0)?.unsigned_abs();
        let text = text_of_body(row.get_ref(1)?).map_err(|reason| DatabaseError::CorruptEntry { seq, reason })?;
        take(&text);
    }
    Ok(())
}

fn take_named(unnamed: &mut BTreeSet<String>, text: &[u8]) {
    for hash in hashes(text) {
        unnamed.remove(hash);
    }
}

/// Everything in a text that may be the name of content.
fn hashes(text: &[u8]) -> impl Iterator<Item = &str> {
    let words = text.split(|byte| !matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    words.filter(|word| word.len() == HASH).filter_map(|word| std::str::from_utf8(word).ok())
}

#[cfg(test)]
#[path = "garbage_tests.rs"]
mod tests;
