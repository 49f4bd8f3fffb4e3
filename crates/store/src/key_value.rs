use std::sync::Arc;

use bosun_agent::{BoxFuture, Clock};
use bosun_backend::{
    ChildRows, FileInfo, FilesByKey, Held, Namespace, NextKey, Store, StoreError, StoreHit, StoreItem, StoreQuery, Swap,
};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::Value;

use crate::{Database, DatabaseError, versions};

/// Long-term memory in the database, with full-text search. Memories, skills and subagents keep their earlier versions.
#[derive(Clone)]
pub struct KeyValueStore {
    database: Arc<Database>,
    clock: Arc<dyn Clock>,
    author: Option<String>,
}

impl KeyValueStore {
    /// What is written belongs to the person.
    pub fn new(database: Arc<Database>, clock: Arc<dyn Clock>) -> Self {
        Self { database, clock, author: None }
    }

    /// The same values, written by the agent of the session `author`.
    #[must_use]
    pub fn by(&self, author: &str) -> Self {
        Self { author: Some(author.to_owned()), ..self.clone() }
    }
}

impl From<DatabaseError> for StoreError {
    fn from(error: DatabaseError) -> Self {
        Self::Unavailable { reason: error.to_string() }
    }
}

impl Store for KeyValueStore {
    fn get<'a>(
        &'a self,
        namespace: &'a Namespace,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<StoreItem>, StoreError>> {
        let (namespace, key) = (joined(namespace.parts()), key.to_owned());
        Box::pin(async move {
            let read = move |connection: &Connection| {
                let sql = "SELECT name, value, created_at, updated_at, 0.0 FROM key_values
                           WHERE namespace = ?1 AND name = ?2";
                Ok(connection.prepare_cached(sql)?.query_row(params![namespace, key], hit).optional()?)
            };
            Ok(self.database.read(read).await?.map(|hit| hit.item))
        })
    }

    fn put<'a>(
        &'a self,
        namespace: &'a Namespace,
        key: &'a str,
        value: Value,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let (namespace, key) = (joined(namespace.parts()), key.to_owned());
        let (text, now, author) = (value.to_string(), self.clock.now_ms(), self.author.clone());
        Box::pin(async move {
            let write = move |connection: &Connection| put(connection, &namespace, &key, &text, now, author.as_deref());
            Ok(self.database.write(write).await?)
        })
    }

    fn delete<'a>(&'a self, namespace: &'a Namespace, key: &'a str) -> BoxFuture<'a, Result<bool, StoreError>> {
        let (namespace, key, now) = (joined(namespace.parts()), key.to_owned(), self.clock.now_ms());
        Box::pin(async move {
            let write = move |connection: &Connection| delete(connection, &namespace, &key, now);
            Ok(self.database.write(write).await?)
        })
    }

    fn compare_and_swap<'a>(
        &'a self,
        namespace: &'a Namespace,
        key: &'a str,
        current: Option<Value>,
        next: Option<Value>,
    ) -> BoxFuture<'a, Result<Swap, StoreError>> {
        let (namespace, key) = (joined(namespace.parts()), key.to_owned());
        let (next, now, author) = (next.map(|next| next.to_string()), self.clock.now_ms(), self.author.clone());
        Box::pin(async move {
            // A write transaction has the file's lock from its beginning: no other process is between the look and the write.
            let write = move |connection: &Connection| {
                if standing(connection, &namespace, &key)? != current {
                    return Ok(Swap::Changed);
                }
                match next {
                    Some(next) => put(connection, &namespace, &key, &next, now, author.as_deref())?,
                    None => {
                        delete(connection, &namespace, &key, now)?;
                    }
                }
                Ok(Swap::Done)
            };
            Ok(self.database.write(write).await?)
        })
    }

    fn search(&self, query: StoreQuery) -> BoxFuture<'_, Result<Vec<StoreHit>, StoreError>> {
        Box::pin(async move { Ok(self.database.read(move |connection| search(connection, &query)).await?) })
    }

    fn keys<'a>(
        &'a self,
        namespace: &'a Namespace,
        prefix: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<String>, StoreError>> {
        let (namespace, prefix) = (joined(namespace.parts()), prefix.to_owned());
        Box::pin(async move {
            let read = move |connection: &Connection| {
                let sql = "SELECT name FROM key_values
                           WHERE namespace = ?1 AND name >= ?2 AND name < ?3 ORDER BY name LIMIT ?4";
                let mut select = connection.prepare_cached(sql)?;
                let rows =
                    select.query_map(params![namespace, prefix, beyond(&prefix), clamped(limit)], |row| row.get(0))?;
                Ok(rows.collect::<Result<_, _>>()?)
            };
            Ok(self.database.read(read).await?)
        })
    }

    fn children<'a>(
        &'a self,
        namespace: &'a Namespace,
        prefix: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<FileInfo>, StoreError>> {
        let (namespace, prefix) = (joined(namespace.parts()), prefix.to_owned());
        Box::pin(async move {
            Ok(self.database.read(move |connection| children(connection, &namespace, &prefix, limit)).await?)
        })
    }

    fn get_many<'a>(
        &'a self,
        namespace: &'a Namespace,
        keys: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<StoreItem>, StoreError>> {
        let (namespace, keys) = (joined(namespace.parts()), keys.to_vec());
        Box::pin(async move {
            // Key by key: a statement over a list of them is prepared anew each time, which costs more than the look-ups.
            let read = move |connection: &Connection| {
                let sql = "SELECT name, value, created_at, updated_at, 0.0 FROM key_values
                           WHERE namespace = ?1 AND name = ?2";
                let mut items = Vec::with_capacity(keys.len());
                for key in &keys {
                    items.extend(hits(connection, sql, params![namespace, key])?.into_iter().map(|hit| hit.item));
                }
                Ok(items)
            };
            Ok(self.database.read(read).await?)
        })
    }

    fn page<'a>(
        &'a self,
        namespace: &'a Namespace,
        prefix: &'a str,
        after: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<StoreItem>, StoreError>> {
        let (namespace, prefix, after) = (joined(namespace.parts()), prefix.to_owned(), after.to_owned());
        Box::pin(async move {
            let read = move |connection: &Connection| {
                let sql = page_of("name, value, created_at, updated_at, 0.0", &prefix, &after);
                let end = beyond(&prefix);
                hits(connection, &sql, params![namespace, after.max(prefix), end, clamped(limit)])
            };
            Ok(self.database.read(read).await?.into_iter().map(|hit| hit.item).collect())
        })
    }

    fn files<'a>(
        &'a self,
        namespace: &'a Namespace,
        prefix: &'a str,
        after: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<FilesByKey, StoreError>> {
        let (namespace, prefix, after) = (joined(namespace.parts()), prefix.to_owned(), after.to_owned());
        Box::pin(async move {
            let read = move |connection: &Connection| {
                let sql = page_of("name, value", &prefix, &after);
                let end = beyond(&prefix);
                let mut select = connection.prepare_cached(&sql)?;
                let mut rows = select.query(params![namespace, after.max(prefix), end, clamped(limit)])?;
                let mut files = Vec::new();
                while let Some(row) = rows.next()? {
                    let data = row.get_ref(1)?.as_str().ok().and_then(|text| serde_json::from_str(text).ok());
                    files.push((row.get(0)?, data));
                }
                Ok(files)
            };
            Ok(self.database.read(read).await?)
        })
    }

    fn holding<'a>(
        &'a self,
        namespace: &'a Namespace,
        prefix: &'a str,
        run: &'a str,
        most: usize,
    ) -> BoxFuture<'a, Result<Held<Vec<StoreItem>>, StoreError>> {
        let (namespace, prefix, run) = (joined(namespace.parts()), prefix.to_owned(), run.to_owned());
        Box::pin(async move {
            let read = move |connection: &Connection| {
                let runs = match runs_of(connection, &run, most)? {
                    Held::These(runs) => runs,
                    Held::Many => return Ok(Held::Many),
                    Held::Unknown => return Ok(Held::Unknown),
                };
                let asked = format!("words : {runs}");
                if more_than(connection, &asked, most)? {
                    return Ok(Held::Many);
                }
                let found = hits(connection, HOLDING, params![namespace, prefix, beyond(&prefix), asked])?;
                Ok(Held::These(found.into_iter().map(|hit| hit.item).collect()))
            };
            Ok(self.database.read(read).await?)
        })
    }

    fn named<'a>(
        &'a self,
        namespace: &'a Namespace,
        prefix: &'a str,
        run: &'a str,
        most: usize,
    ) -> BoxFuture<'a, Result<Held<Vec<String>>, StoreError>> {
        let (namespace, prefix, run) = (joined(namespace.parts()), prefix.to_owned(), run.to_owned());
        Box::pin(async move {
            let read = move |connection: &Connection| {
                let runs = match runs_of(connection, &run, most)? {
                    Held::These(runs) => runs,
                    Held::Many => return Ok(Held::Many),
                    Held::Unknown => return Ok(Held::Unknown),
                };
                let asked = format!("name : {runs}");
                if more_than(connection, &asked, most)? {
                    return Ok(Held::Many);
                }
                let mut select = connection.prepare_cached(NAMED)?;
                let rows = select.query_map(params![namespace, prefix, beyond(&prefix), asked], |row| row.get(0))?;
                Ok(Held::These(rows.collect::<Result<_, _>>()?))
            };
            Ok(self.database.read(read).await?)
        })
    }

    fn list_namespaces<'a>(&'a self, prefix: &'a [String]) -> BoxFuture<'a, Result<Vec<Namespace>, StoreError>> {
        let prefix = joined(prefix);
        Box::pin(async move {
            let read = move |connection: &Connection| {
                let sql = "SELECT DISTINCT namespace FROM key_values
                           WHERE ?1 = '' OR namespace = ?1 OR substr(namespace, 1, length(?1) + 1) = ?1 || char(31)
                           ORDER BY namespace";
                let mut select = connection.prepare_cached(sql)?;
                let rows = select.query_map([prefix], |row| row.get::<_, String>(0))?;
                Ok(rows.collect::<Result<Vec<_>, _>>()?)
            };
            self.database.read(read).await?.iter().map(|name| Namespace::new(name.split(SEPARATOR))).collect()
        })
    }
}

/// What may hold a run of characters: what the index says, and what it knows nothing of. The cross join keeps the index
/// outermost; the planner would ask it once for every file there is, and read each of these for the second part.
const HOLDING: &str = "
    SELECT kv.name, kv.value, kv.created_at, kv.updated_at, 0.0
    FROM key_values_runs AS found CROSS JOIN key_values AS kv ON kv.key = found.rowid
    WHERE found.key_values_runs MATCH ?4 AND kv.namespace = ?1 AND kv.name >= ?2 AND kv.name < ?3
    UNION
    SELECT name, value, created_at, updated_at, 0.0 FROM key_values INDEXED BY key_values_unindexed
    WHERE namespace = ?1 AND name >= ?2 AND name < ?3
      AND (json_type(value, '$.content') IS NOT 'text' OR value ->> '$.encoding' IS NOT 'utf-8')";

/// The names that hold a run of characters, as in [`HOLDING`]: every name is in the index.
const NAMED: &str = "
    SELECT kv.name FROM key_values_runs AS found CROSS JOIN key_values AS kv ON kv.key = found.rowid
    WHERE found.key_values_runs MATCH ?4 AND kv.namespace = ?1 AND kv.name >= ?2 AND kv.name < ?3 ORDER BY kv.name";

/// What the index of runs is asked for a run of characters. It takes letters of either case for one, character by
/// character whatever the script, in what it holds as in what it is asked: what has the run has that of the index too.
/// Its own runs are of three; for less it is asked for all of those that begin so, and not at all once one of them alone is
/// in more than `most`.
fn runs_of(connection: &Connection, run: &str, most: usize) -> Result<Held<String>, DatabaseError> {
    if run.contains('\0') {
        return Ok(Held::Unknown);
    }
    if run.chars().nth(2).is_some() {
        return Ok(Held::These(quoted(run)));
    }
    let Some(begin) = folded(run) else { return Ok(Held::Unknown) };
    let sql = "SELECT term, doc FROM key_values_known_runs WHERE term >= ?1 AND term < ?2 LIMIT ?3";
    let mut select = connection.prepare_cached(sql)?;
    let mut rows = select.query(params![begin, beyond(&begin), clamped(MOST_RUNS + 1)])?;
    let mut known = Vec::new();
    while let Some(row) = rows.next()? {
        if row.get::<_, i64>(1)? > clamped(most) {
            return Ok(Held::Many);
        }
        known.push(quoted(row.get_ref(0)?.as_str().unwrap_or_default()));
    }
    Ok(match known.len() {
        // The empty phrase, which nothing has.
        0 => Held::These(quoted("")),
        1..=MOST_RUNS => Held::These(format!("({})", known.join(" OR "))),
        _ => Held::Unknown,
    })
}

/// More than these are dearer to ask for than the files are to read.
const MOST_RUNS: usize = 1_000;

/// As the index writes it; `None` where that is not certain.
fn folded(run: &str) -> Option<String> {
    // Nor has a letter that stands at the head of a title, which is neither.
    let is_itself = |mut other: std::char::ToLowercase, letter| other.len() == 1 && other.next() == Some(letter);
    let has_no_case =
        |letter: char| is_itself(letter.to_lowercase(), letter) && letter.to_uppercase().eq(std::iter::once(letter));
    let is_known = !run.is_empty() && run.chars().all(|letter| letter.is_ascii() || has_no_case(letter));
    is_known.then(|| run.to_ascii_lowercase())
}

/// Whether the index has more than `most` for `run`. Their number costs next to nothing; to fetch them does not.
fn more_than(connection: &Connection, run: &str, most: usize) -> Result<bool, DatabaseError> {
    let sql = "SELECT count(*) FROM (SELECT 1 FROM key_values_runs WHERE key_values_runs MATCH ?1 LIMIT ?2)";
    let limit = clamped(most.saturating_add(1));
    let number: i64 = connection.prepare_cached(sql)?.query_row(params![run, limit], |row| row.get(0))?;
    Ok(number > clamped(most))
}

/// Cannot be in a part of a namespace.
const SEPARATOR: char = '\u{1f}';

pub(crate) fn joined(parts: &[String]) -> String {
    parts.join("\u{1f}")
}

/// How every namespace ends that belongs to the same as `namespace`, of whatever kind its files are.
pub(crate) fn tail_of(namespace: &Namespace) -> String {
    namespace.parts().iter().skip(1).fold(String::new(), |tail, part| tail + "\u{1f}" + part)
}

/// What stands under a name.
fn standing(connection: &Connection, namespace: &str, name: &str) -> Result<Option<Value>, DatabaseError> {
    let sql = "SELECT value FROM key_values WHERE namespace = ?1 AND name = ?2";
    let mut select = connection.prepare_cached(sql)?;
    let text: Option<String> = select.query_row(params![namespace, name], |row| row.get(0)).optional()?;
    Ok(text.map(|text| serde_json::from_str(&text).unwrap_or_default()))
}

fn put(
    connection: &Connection,
    namespace: &str,
    name: &str,
    value: &str,
    now: i64,
    author: Option<&str>,
) -> Result<(), DatabaseError> {
    versions::keep(connection, namespace, name, Some(value), now)?;
    let sql = "INSERT INTO key_values (namespace, name, value, created_at, updated_at, author)
               VALUES (?1, ?2, ?3, ?4, ?4, ?5)
               ON CONFLICT (namespace, name) DO UPDATE
               SET value = excluded.value, updated_at = excluded.updated_at, author = excluded.author";
    connection.prepare_cached(sql)?.execute(params![namespace, name, value, now, author])?;
    Ok(())
}

/// Whether there was something to delete.
fn delete(connection: &Connection, namespace: &str, name: &str, now: i64) -> Result<bool, DatabaseError> {
    versions::keep(connection, namespace, name, None, now)?;
    let sql = "DELETE FROM key_values WHERE namespace = ?1 AND name = ?2";
    Ok(connection.prepare_cached(sql)?.execute(params![namespace, name])? > 0)
}

/// One row at a time; a folder is stepped over once it is known.
fn children(
    connection: &Connection,
    namespace: &str,
    prefix: &str,
    limit: usize,
) -> Result<Vec<FileInfo>, DatabaseError> {
    let sql = "SELECT name, value FROM key_values WHERE namespace = ?1 AND name >= ?2 AND name < ?3 ORDER BY name";
    let mut select = connection.prepare_cached(sql)?;
    let (mut children, end) = (ChildRows::new(prefix, limit), beyond(prefix));
    let mut from = Some(prefix.to_owned());
    while let Some(begin) = from.take() {
        let mut rows = select.query(params![namespace, begin, end])?;
        while let Some(row) = rows.next()? {
            let name = row.get_ref(0)?.as_str().unwrap_or_default();
            let data = || serde_json::from_str(row.get_ref(1).ok()?.as_str().ok()?).ok();
            match children.take(name, data) {
                NextKey::Following => {}
                NextKey::From(next) => {
                    from = Some(next);
                    break;
                }
                NextKey::None => break,
            }
        }
    }
    Ok(children.finish())
}

fn search(connection: &Connection, query: &StoreQuery) -> Result<Vec<StoreHit>, DatabaseError> {
    let namespace = joined(query.namespace.parts());
    let prefix = query.key_prefix.clone().unwrap_or_default();
    let (limit, offset) = (clamped(query.limit), clamped(query.offset));
    let Some(text) = query.text.as_deref().map(str::trim).filter(|text| !text.is_empty()) else {
        let sql = "SELECT name, value, created_at, updated_at, 0.0 FROM key_values
                   WHERE namespace = ?1 AND name >= ?2 AND name < ?5 ORDER BY name LIMIT ?3 OFFSET ?4";
        return hits(connection, sql, params![namespace, prefix, limit, offset, beyond(&prefix)]);
    };
    let found = |table: &str, pattern: String, limit: i64, offset: i64| {
        // As in `holding`, the index must be what is walked.
        let sql = format!(
            "SELECT kv.name, kv.value, kv.created_at, kv.updated_at, -found.rank
             FROM {table} AS found CROSS JOIN key_values AS kv ON kv.key = found.rowid
             WHERE found.{table} MATCH ?5 AND kv.namespace = ?1 AND substr(kv.name, 1, length(?2)) = ?2
             ORDER BY found.rank, kv.name LIMIT ?3 OFFSET ?4"
        );
        hits(connection, &sql, params![namespace, prefix, limit, offset, pattern])
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    // In scripts without spaces a word is no word to the index of words.
    if text.is_ascii() {
        let hits = found("key_values_words", words_of(&words), limit, offset)?;
        if !hits.is_empty() || !found("key_values_words", words_of(&words), 1, 0)?.is_empty() {
            return Ok(hits);
        }
    }
    let runs = words.iter().map(|word| match runs_of(connection, word, usize::MAX)? {
        Held::These(runs) => Ok(Some(runs)),
        Held::Many | Held::Unknown => Ok(None),
    });
    match runs.collect::<Result<Option<Vec<_>>, DatabaseError>>()? {
        Some(runs) => found("key_values_runs", runs.join(" AND "), limit, offset),
        None => found("key_values_words", words_of(&words), limit, offset),
    }
}

/// Columns of the rows behind `after`, with one lower bound, so that the walk of the index begins where the last one ended.
fn page_of(columns: &str, prefix: &str, after: &str) -> String {
    let from = if after < prefix { ">=" } else { ">" };
    format!(
        "SELECT {columns} FROM key_values WHERE namespace = ?1 AND name {from} ?2 AND name < ?3 ORDER BY name LIMIT ?4"
    )
}

/// Behind every name that begins with `prefix`. An index can be walked between the two, which it cannot for `substr`.
fn beyond(prefix: &str) -> String {
    format!("{prefix}\u{10ffff}")
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// Every word may go on. All are quoted, so that nothing in them is query syntax.
fn words_of(words: &[&str]) -> String {
    words.iter().map(|word| format!("{}*", quoted(word))).collect::<Vec<_>>().join(" ")
}

fn hits(connection: &Connection, sql: &str, values: impl rusqlite::Params) -> Result<Vec<StoreHit>, DatabaseError> {
    let mut select = connection.prepare_cached(sql)?;
    let rows = select.query_map(values, hit)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn hit(row: &Row<'_>) -> rusqlite::Result<StoreHit> {
    let value = serde_json::from_str(&row.get::<_, String>(1)?).unwrap_or_default();
    let item = StoreItem { key: row.get(0)?, value, created_at: row.get(2)?, updated_at: row.get(3)? };
    Ok(StoreHit { item, score: row.get(4)? })
}

fn clamped(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
#[path = "key_value_tests.rs"]
mod tests;
