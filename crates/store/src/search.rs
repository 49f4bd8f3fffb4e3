use bosun_agent::{JournalEntry, Recorded, Seq, SessionId};
use rusqlite::{Connection, params};

use crate::body::read_body;
use crate::journal::key_of;
use crate::{Database, DatabaseError};

/// An entry with the words that were looked for.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundEntry {
    pub session: SessionId,
    pub recorded: Recorded,
}

impl Database {
    /// The entries whose text has all words of `text` (see [`words_of`]; the last letters of each may be missing), best
    /// first; of one project, or of all. Chinese, Japanese and Korean are found by any run of characters.
    ///
    /// # Errors
    /// [`DatabaseError`]. Nothing in `text` is query syntax.
    pub async fn search_entries(
        &self,
        text: &str,
        project: Option<&str>,
        limit: u32,
    ) -> Result<Vec<FoundEntry>, DatabaseError> {
        let Some(pattern) = pattern_of(text) else { return Ok(Vec::new()) };
        let project = project.map(str::to_owned);
        self.read(move |connection| found(connection, &pattern, project.as_deref(), limit)).await
    }

    /// The sessions that were stored before there was an index.
    pub async fn unindexed_sessions(&self) -> Result<Vec<SessionId>, DatabaseError> {
        self.read(|connection| {
            let mut select = connection.prepare_cached("SELECT id FROM sessions WHERE indexed = 0")?;
            let ids = select.query_map([], |row| Ok(SessionId::new(row.get::<_, String>(0)?)))?;
            Ok(ids.collect::<Result<_, _>>()?)
        })
        .await
    }

    /// Indexes a session from before: the text of the entries at these places. Its later entries bring theirs along.
    pub async fn index_session(&self, session: &SessionId, texts: Vec<(Seq, String)>) -> Result<(), DatabaseError> {
        let session = session.clone();
        self.write(move |connection| {
            let key = key_of(connection, &session)?;
            remove_texts(connection, key)?;
            for (seq, text) in &texts {
                insert_text(connection, key, *seq, text)?;
            }
            connection.prepare_cached("UPDATE sessions SET indexed = 1 WHERE key = ?1")?.execute([key])?;
            Ok(())
        })
        .await
    }
}

pub(crate) fn insert_text(connection: &Connection, key: i64, seq: Seq, text: &str) -> Result<(), DatabaseError> {
    connection
        .prepare_cached("INSERT INTO session_words (rowid, text) VALUES (?1, ?2)")?
        .execute(params![number_of(key, seq), apart(text)])?;
    Ok(())
}

pub(crate) fn remove_texts(connection: &Connection, key: i64) -> Result<(), DatabaseError> {
    connection
        .prepare_cached("DELETE FROM session_words WHERE rowid BETWEEN ?1 AND ?2")?
        .execute([number_of(key, 0), number_of(key, u64::from(u32::MAX))])?;
    Ok(())
}

fn found(
    connection: &Connection,
    pattern: &str,
    project: Option<&str>,
    limit: u32,
) -> Result<Vec<FoundEntry>, DatabaseError> {
    let sql = "SELECT sessions.id, entries.seq, entries.at, entries.body
               FROM session_words
               CROSS JOIN sessions ON sessions.key = session_words.rowid >> 32
               CROSS JOIN entries ON entries.session = sessions.key AND entries.seq = session_words.rowid & 4294967295
               WHERE session_words MATCH ?1 AND (?2 IS NULL OR sessions.project = ?2)
               ORDER BY session_words.rank, entries.at DESC LIMIT ?3";
    let mut select = connection.prepare_cached(sql)?;
    let mut rows = select.query(params![pattern, project, limit])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let seq = row.get::<_, i64>(1)?.unsigned_abs();
        // An entry of a newer version is not shown; its session says so when it is opened.
        let Ok(body) = read_body(row.get_ref(3)?) else { continue };
        let entry = JournalEntry { at: row.get(2)?, body };
        found.push(FoundEntry { session: SessionId::new(row.get::<_, String>(0)?), recorded: Recorded { seq, entry } });
    }
    Ok(found)
}

fn number_of(key: i64, seq: Seq) -> i64 {
    (key << 32) | i64::from(u32::try_from(seq).unwrap_or(u32::MAX))
}

/// The words of what is looked for; what stands in quotes stays together, to the end where they are not closed.
#[must_use]
pub fn words_of(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let space = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (word, behind) = quoted(rest).unwrap_or_else(|| rest.split_at(space));
        words.extend(Some(word.trim()).filter(|word| !word.is_empty()));
        rest = behind.trim_start();
    }
    words
}

/// What stands in the quotes that `text` begins with, and what follows them.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix(['"', '“'])?;
    let Some(end) = inner.find(['"', '“', '”']) else { return Some((inner, "")) };
    let (phrase, behind) = inner.split_at(end);
    let behind = behind.strip_prefix(['"', '”'])?;
    let is_closed = behind.is_empty() || behind.starts_with(char::is_whitespace);
    (is_closed && !phrase.is_empty()).then_some((phrase, behind))
}

/// Every word as a phrase of its own; `None` where there is no letter or digit to look for.
fn pattern_of(text: &str) -> Option<String> {
    let words = words_of(text).into_iter().filter(|word| word.chars().any(char::is_alphanumeric));
    let phrases: Vec<String> = words.map(|word| format!("\"{}\" *", apart(word).replace('"', " "))).collect();
    (!phrases.is_empty()).then(|| phrases.join(" AND "))
}

/// Characters of scripts that are written without spaces stand apart, so that each is a word to the index.
fn apart(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_unspaced(character) {
            out.extend([' ', character, ' ']);
        } else {
            out.push(character);
        }
    }
    out
}

fn is_unspaced(character: char) -> bool {
    matches!(u32::from(character), 0x2E80..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_typed_is_query_syntax() {
        assert_eq!(pattern_of("foo AND \"b*"), Some("\"foo\" * AND \"AND\" * AND \"b*\" *".into()));
        assert_eq!(pattern_of(" -- ** "), None);
        assert_eq!(pattern_of("整理a"), Some("\" 整  理 a\" *".into()));
        assert_eq!(pattern_of("a\"b"), Some("\"a b\" *".into()));
    }

    #[test]
    fn what_stands_in_quotes_is_one_word() {
        assert_eq!(words_of("  one \"two  three\" four "), ["one", "two  three", "four"]);
        assert_eq!(words_of("“新建 会话” 导出"), ["新建 会话", "导出"]);
        assert_eq!(words_of("say \"not closed yet"), ["say", "not closed yet"]);
        assert_eq!(words_of("\"\" say\"so\"now \"a\"b"), ["\"\"", "say\"so\"now", "\"a\"b"]);
        assert_eq!(words_of(" \" "), Vec::<&str>::new());
    }
}
