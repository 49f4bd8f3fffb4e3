use std::sync::Arc;

use bosun_agent::{BoxFuture, EntryBody, Journal, JournalEntry, JournalError, Recorded, Seq, SessionId};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::Value;

use crate::body::{StoredBody, read_body};
use crate::search::insert_text;
use crate::{Database, DatabaseError};

/// The journal of one session in the database.
#[derive(Clone, Debug)]
pub struct SessionJournal {
    database: Arc<Database>,
    session: SessionId,
}

impl Database {
    /// The journal of `session`, which exists.
    pub fn journal(self: &Arc<Self>, session: &SessionId) -> SessionJournal {
        SessionJournal { database: Arc::clone(self), session: session.clone() }
    }

    /// The entries of `session` after `after`, in order.
    ///
    /// # Errors
    /// [`DatabaseError::CorruptEntry`] for one that this version cannot read; nothing is skipped over.
    pub async fn entries(&self, session: &SessionId, after: Seq) -> Result<Vec<Recorded>, DatabaseError> {
        let session = session.clone();
        self.read(move |connection| read_entries(connection, &session, after)).await
    }

    /// The entries of `session` at these places, in that order; a place without one is left out.
    ///
    /// # Errors
    /// As [`Self::entries`].
    pub async fn entries_at(&self, session: &SessionId, places: Vec<Seq>) -> Result<Vec<Recorded>, DatabaseError> {
        let session = session.clone();
        self.read(move |connection| {
            let key = key_of(connection, &session)?;
            let mut select =
                connection.prepare_cached("SELECT seq, at, body FROM entries WHERE session = ?1 AND seq = ?2")?;
            let mut entries = Vec::with_capacity(places.len());
            for place in places {
                let mut rows = select.query(params![key, i64::try_from(place).unwrap_or(i64::MAX)])?;
                if let Some(row) = rows.next()? {
                    entries.push(read_entry(row)?);
                }
            }
            Ok(entries)
        })
        .await
    }

    /// The last entry of `session` before `seq` that is as `wanted` says.
    ///
    /// # Errors
    /// As [`Self::entries`], of those that are looked at.
    pub async fn entry_before(
        &self,
        session: &SessionId,
        seq: Seq,
        wanted: impl Fn(&EntryBody) -> bool + Send + 'static,
    ) -> Result<Option<Recorded>, DatabaseError> {
        let session = session.clone();
        self.read(move |connection| {
            let key = key_of(connection, &session)?;
            let sql = "SELECT seq, at, body FROM entries WHERE session = ?1 AND seq < ?2 ORDER BY seq DESC";
            let mut select = connection.prepare_cached(sql)?;
            let mut rows = select.query(params![key, i64::try_from(seq).unwrap_or(i64::MAX)])?;
            while let Some(row) = rows.next()? {
                let entry = read_entry(row)?;
                if wanted(&entry.entry.body) {
                    return Ok(Some(entry));
                }
            }
            Ok(None)
        })
        .await
    }

    /// The last entries of `session`, at most `most`, in order. Takes as long as these are, however many there are before.
    ///
    /// # Errors
    /// As [`Self::entries`].
    pub async fn last_entries(&self, session: &SessionId, most: u32) -> Result<Vec<Recorded>, DatabaseError> {
        let session = session.clone();
        self.read(move |connection| {
            let key = key_of(connection, &session)?;
            let last: i64 = connection
                .prepare_cached("SELECT coalesce(max(seq), 0) FROM entries WHERE session = ?1")?
                .query_row([key], |row| row.get(0))?;
            read_entries(connection, &session, last.unsigned_abs().saturating_sub(most.into()))
        })
        .await
    }
}

/// Entries for one session's journal, and what lists show of it from then on.
#[derive(Clone, Debug, PartialEq)]
pub struct Append {
    pub session: SessionId,
    pub entries: Vec<JournalEntry>,
    pub listed: Option<Listed>,
    /// What can be searched of the entries, by their place among these.
    pub texts: Vec<(usize, String)>,
}

/// What lists show of a session, and by when they order it.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    pub summary: Value,
    /// Milliseconds since 1970.
    pub updated_at: i64,
}

impl Database {
    /// Appends to several journals in one transaction: everything is durable when it returns, or nothing is stored.
    /// Gives the place of the last entry of each.
    pub async fn append_all(&self, appends: Vec<Append>) -> Result<Vec<Seq>, DatabaseError> {
        let rows = appends.into_iter().map(Rows::of).collect::<Result<Vec<_>, _>>()?;
        self.write(move |connection| rows.iter().map(|rows| append(connection, rows)).collect()).await
    }
}

impl SessionJournal {
    /// Appends `entries` and, in the same transaction, replaces what lists show of the session.
    pub async fn append_with(&self, entries: Vec<JournalEntry>, summary: Option<Value>) -> Result<Seq, DatabaseError> {
        let updated_at = entries.last().map_or(0, |entry| entry.at);
        let listed = summary.map(|summary| Listed { summary, updated_at });
        let append = Append { session: self.session.clone(), entries, listed, texts: Vec::new() };
        Ok(self.database.append_all(vec![append]).await?.into_iter().next().unwrap_or_default())
    }
}

/// An [`Append`] as it is written.
struct Rows {
    session: SessionId,
    /// Time and body of each entry.
    entries: Vec<(i64, StoredBody)>,
    listed: Option<Listed>,
    texts: Vec<(usize, String)>,
}

impl Rows {
    fn of(append: Append) -> Result<Self, DatabaseError> {
        let mut entries = Vec::with_capacity(append.entries.len());
        for entry in &append.entries {
            let body = StoredBody::of(&entry.body)
                .map_err(|error| DatabaseError::Unavailable { reason: error.to_string() })?;
            entries.push((entry.at, body));
        }
        Ok(Self { session: append.session, entries, listed: append.listed, texts: append.texts })
    }
}

impl Journal for SessionJournal {
    fn append(&self, entries: Vec<JournalEntry>) -> BoxFuture<'_, Result<Seq, JournalError>> {
        Box::pin(async move { Ok(self.append_with(entries, None).await?) })
    }
}

fn append(connection: &Connection, rows: &Rows) -> Result<Seq, DatabaseError> {
    let (key, indexed) = indexed_key_of(connection, &rows.session)?;
    let mut seq: i64 = connection
        .prepare_cached("SELECT coalesce(max(seq), 0) FROM entries WHERE session = ?1")?
        .query_row([key], |row| row.get(0))?;
    if indexed {
        for (place, text) in &rows.texts {
            insert_text(connection, key, seq.unsigned_abs() + *place as Seq + 1, text)?;
        }
    }
    let mut insert =
        connection.prepare_cached("INSERT INTO entries (session, seq, at, body) VALUES (?1, ?2, ?3, ?4)")?;
    for (at, body) in &rows.entries {
        seq += 1;
        insert.execute(params![key, seq, at, body])?;
    }
    if let Some(listed) = &rows.listed {
        connection
            .prepare_cached("UPDATE sessions SET summary = ?2, updated_at = ?3 WHERE key = ?1")?
            .execute(params![key, listed.summary.to_string(), listed.updated_at])?;
    }
    Ok(seq.unsigned_abs())
}

fn read_entries(connection: &Connection, session: &SessionId, after: Seq) -> Result<Vec<Recorded>, DatabaseError> {
    let key = key_of(connection, session)?;
    let mut select =
        connection.prepare_cached("SELECT seq, at, body FROM entries WHERE session = ?1 AND seq > ?2 ORDER BY seq")?;
    let mut rows = select.query(params![key, i64::try_from(after).unwrap_or(i64::MAX)])?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next()? {
        entries.push(read_entry(row)?);
    }
    Ok(entries)
}

/// A row of `seq, at, body`.
fn read_entry(row: &Row<'_>) -> Result<Recorded, DatabaseError> {
    let seq = row.get::<_, i64>(0)?.unsigned_abs();
    let at = row.get(1)?;
    let body = read_body(row.get_ref(2)?).map_err(|reason| DatabaseError::CorruptEntry { seq, reason })?;
    Ok(Recorded { seq, entry: JournalEntry { at, body } })
}

pub(crate) fn key_of(connection: &Connection, session: &SessionId) -> Result<i64, DatabaseError> {
    Ok(indexed_key_of(connection, session)?.0)
}

/// A session's key, and whether its entries are in the index.
fn indexed_key_of(connection: &Connection, session: &SessionId) -> Result<(i64, bool), DatabaseError> {
    connection
        .prepare_cached("SELECT key, indexed FROM sessions WHERE id = ?1")?
        .query_row([session.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?
        .ok_or_else(|| DatabaseError::NotFound { what: format!("session {session}") })
}
