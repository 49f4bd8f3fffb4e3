use bosun_backend::Namespace;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::Value;

use crate::key_value::joined;
use crate::{Database, DatabaseError};

/// What is edited by hand and by agents: the first part of the namespaces whose values keep their earlier versions.
const VERSIONED: [&str; 3] = ["memories", "skills", "agents"];

/// Most earlier versions of one value.
const MOST_VERSIONS: i64 = 100;

/// A value as it was before it was replaced or deleted.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredVersion {
    /// Grows with time; no two versions share it.
    pub number: i64,
    pub name: String,
    pub value: Value,
    /// The session whose agent wrote it; `None`: the person.
    pub author: Option<String>,
    /// Milliseconds since 1970, also `ended_at`, when something else took its place or it was deleted.
    pub written_at: i64,
    pub ended_at: i64,
}

/// A value as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredValue {
    pub name: String,
    pub value: Value,
    pub author: Option<String>,
    pub created_at: i64,
    pub updated_at: i64,
}

impl Database {
    /// Everything in a namespace, by name.
    pub async fn values(&self, namespace: &Namespace) -> Result<Vec<StoredValue>, DatabaseError> {
        let namespace = joined(namespace.parts());
        self.read(move |connection| {
            let sql = "SELECT name, value, author, created_at, updated_at FROM key_values
                       WHERE namespace = ?1 ORDER BY name";
            let mut select = connection.prepare_cached(sql)?;
            let rows = select.query_map([namespace], |row| {
                Ok(StoredValue {
                    name: row.get(0)?,
                    value: json(&row.get::<_, String>(1)?),
                    author: row.get(2)?,
                    created_at: row.get(3)?,
                    updated_at: row.get(4)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
        .await
    }

    /// The earlier versions of a value, newest first; of a deleted one too.
    pub async fn versions(&self, namespace: &Namespace, name: &str) -> Result<Vec<StoredVersion>, DatabaseError> {
        let (namespace, name) = (joined(namespace.parts()), name.to_owned());
        self.read(move |connection| {
            let sql = "SELECT key, name, value, author, written_at, ended_at FROM key_value_versions
                       WHERE namespace = ?1 AND name = ?2 ORDER BY key DESC";
            let mut select = connection.prepare_cached(sql)?;
            let rows = select.query_map([namespace, name], version)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
        .await
    }

    /// The last version of everything that was deleted from a namespace, the last deleted first.
    pub async fn deleted_values(&self, namespace: &Namespace) -> Result<Vec<StoredVersion>, DatabaseError> {
        let namespace = joined(namespace.parts());
        self.read(move |connection| {
            let sql = "SELECT max(key), name, value, author, written_at, ended_at FROM key_value_versions AS gone
                       WHERE namespace = ?1 AND NOT EXISTS
                           (SELECT 1 FROM key_values AS kv WHERE kv.namespace = gone.namespace AND kv.name = gone.name)
                       GROUP BY name ORDER BY ended_at DESC, name";
            let mut select = connection.prepare_cached(sql)?;
            let rows = select.query_map([namespace], version)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
        .await
    }

    /// Deletes everything whose name begins with `prefix`, all at one time; gives how many there were. Their last
    /// versions are kept.
    pub async fn delete_values(&self, namespace: &Namespace, prefix: &str, now: i64) -> Result<usize, DatabaseError> {
        let (namespace, prefix) = (joined(namespace.parts()), prefix.to_owned());
        self.write(move |connection| {
            let sql = "SELECT name FROM key_values WHERE namespace = ?1 AND substr(name, 1, length(?2)) = ?2";
            let mut select = connection.prepare_cached(sql)?;
            let names = select.query_map([&namespace, &prefix], |row| row.get::<_, String>(0))?;
            let names = names.collect::<Result<Vec<_>, _>>()?;
            for name in &names {
                keep(connection, &namespace, name, None, now)?;
                let sql = "DELETE FROM key_values WHERE namespace = ?1 AND name = ?2";
                connection.prepare_cached(sql)?.execute([&namespace, name])?;
            }
            Ok(names.len())
        })
        .await
    }

    /// Forgets for good what was deleted before `before` (milliseconds since 1970) and is not there again.
    pub async fn purge_values(&self, before: i64) -> Result<(), DatabaseError> {
        self.write(move |connection| {
            let sql = "DELETE FROM key_value_versions AS gone
                       WHERE NOT EXISTS
                           (SELECT 1 FROM key_values AS kv WHERE kv.namespace = gone.namespace AND kv.name = gone.name)
                       AND (SELECT max(last.ended_at) FROM key_value_versions AS last
                            WHERE last.namespace = gone.namespace AND last.name = gone.name) < ?1";
            connection.prepare_cached(sql)?.execute([before])?;
            Ok(())
        })
        .await
    }
}

/// Keeps what stands under a name, before it is replaced by `next` or, without one, deleted.
pub(crate) fn keep(
    connection: &Connection,
    namespace: &str,
    name: &str,
    next: Option<&str>,
    now: i64,
) -> Result<(), DatabaseError> {
    if !is_versioned(namespace) {
        return Ok(());
    }
    let sql = "INSERT INTO key_value_versions (namespace, name, value, author, written_at, ended_at)
               SELECT namespace, name, value, author, updated_at, ?4 FROM key_values
               WHERE namespace = ?1 AND name = ?2 AND value IS NOT ?3";
    if connection.prepare_cached(sql)?.execute(params![namespace, name, next, now])? == 0 {
        return Ok(());
    }
    let sql = "SELECT key FROM key_value_versions WHERE namespace = ?1 AND name = ?2
               ORDER BY key DESC LIMIT 1 OFFSET ?3";
    let mut select = connection.prepare_cached(sql)?;
    let last: Option<i64> = select.query_row(params![namespace, name, MOST_VERSIONS], |row| row.get(0)).optional()?;
    if let Some(last) = last {
        let sql = "DELETE FROM key_value_versions WHERE namespace = ?1 AND name = ?2 AND key <= ?3";
        connection.prepare_cached(sql)?.execute(params![namespace, name, last])?;
    }
    Ok(())
}

fn is_versioned(namespace: &str) -> bool {
    let first = namespace.split('\u{1f}').next().unwrap_or_default();
    VERSIONED.contains(&first)
}

fn version(row: &Row<'_>) -> rusqlite::Result<StoredVersion> {
    Ok(StoredVersion {
        number: row.get(0)?,
        name: row.get(1)?,
        value: json(&row.get::<_, String>(2)?),
        author: row.get(3)?,
        written_at: row.get(4)?,
        ended_at: row.get(5)?,
    })
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicI64, Ordering};

    use bosun_agent::Clock;
    use bosun_backend::Store;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;
    use crate::KeyValueStore;

    /// A second passes with every look.
    #[derive(Default)]
    struct Ticking(AtomicI64);

    impl Clock for Ticking {
        fn now_ms(&self) -> i64 {
            self.0.fetch_add(1_000, Ordering::Relaxed)
        }
    }

    fn space(first: &str) -> Namespace {
        Namespace::new([first, "user"]).unwrap()
    }

    fn told(versions: &[StoredVersion]) -> Vec<(&str, Option<&str>, i64, i64)> {
        fn row(version: &StoredVersion) -> (&str, Option<&str>, i64, i64) {
            let StoredVersion { value, author, written_at, ended_at, .. } = version;
            (value.as_str().unwrap(), author.as_deref(), *written_at, *ended_at)
        }
        versions.iter().map(row).collect()
    }

    #[tokio::test]
    async fn every_version_is_kept_with_who_wrote_it() {
        let database = Database::in_memory().unwrap();
        let clock = Arc::new(Ticking::default());
        let person = KeyValueStore::new(Arc::clone(&database), clock);
        let agent = person.by("s1");
        let memories = space("memories");
        person.put(&memories, "/a.md", json!("one")).await.unwrap();
        agent.put(&memories, "/a.md", json!("two")).await.unwrap();
        agent.put(&memories, "/a.md", json!("two")).await.unwrap();
        person.delete(&memories, "/a.md").await.unwrap();
        let versions = database.versions(&memories, "/a.md").await.unwrap();
        assert_eq!(told(&versions), [("two", Some("s1"), 2_000, 3_000), ("one", None, 0, 1_000)]);
        assert_eq!(told(&database.deleted_values(&memories).await.unwrap()), [("two", Some("s1"), 2_000, 3_000)]);
        assert_eq!(database.values(&memories).await.unwrap(), []);

        // Brought back, it is not deleted any more and its past stays.
        person.put(&memories, "/a.md", json!("two")).await.unwrap();
        assert_eq!(database.deleted_values(&memories).await.unwrap(), []);
        assert_eq!(database.versions(&memories, "/a.md").await.unwrap().len(), 2);
        assert_eq!(database.values(&memories).await.unwrap()[0].author, None);
    }

    #[tokio::test]
    async fn versions_are_bounded_and_only_of_what_is_edited() {
        let database = Database::in_memory().unwrap();
        let store = KeyValueStore::new(Arc::clone(&database), Arc::new(Ticking::default()));
        for n in 0..=MOST_VERSIONS + 5 {
            store.put(&space("skills"), "/x", json!(n.to_string())).await.unwrap();
            store.put(&space("other"), "/x", json!(n.to_string())).await.unwrap();
        }
        let kept = database.versions(&space("skills"), "/x").await.unwrap();
        assert_eq!((kept.len(), &kept[0].value, &kept[99].value), (100, &json!("104"), &json!("5")));
        assert_eq!(database.versions(&space("other"), "/x").await.unwrap(), []);
    }

    #[tokio::test]
    async fn what_was_deleted_long_ago_is_forgotten() {
        let database = Database::in_memory().unwrap();
        let store = KeyValueStore::new(Arc::clone(&database), Arc::new(Ticking::default()));
        for name in ["/gone", "/back"] {
            store.put(&space("memories"), name, json!("x")).await.unwrap();
            store.delete(&space("memories"), name).await.unwrap();
        }
        store.put(&space("memories"), "/back", json!("y")).await.unwrap();
        database.purge_values(1_000_000).await.unwrap();
        assert_eq!(database.versions(&space("memories"), "/gone").await.unwrap(), []);
        assert_eq!(database.versions(&space("memories"), "/back").await.unwrap().len(), 1);
    }
}
