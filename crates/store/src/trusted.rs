use rusqlite::params;

use crate::{Database, DatabaseError};

/// What a person decided about one content of a file that a project brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredVerdict {
    /// The file, as the agent's path space names it.
    pub path: String,
    pub verdict: Verdict,
    /// Of the content that it is about.
    pub hash: String,
    /// The content itself, where it is trusted.
    pub content: Option<Vec<u8>>,
    /// Milliseconds since 1970.
    pub decided_at: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    Trusted,
    /// "Not now": not used, and not asked about again until it changes.
    SetAside,
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Self::Trusted => "trusted",
            Self::SetAside => "set_aside",
        }
    }
}

impl Database {
    /// Everything that was decided about the files of a project.
    pub async fn verdicts(&self, project: &str) -> Result<Vec<StoredVerdict>, DatabaseError> {
        let project = project.to_owned();
        self.read(move |connection| {
            let sql = "SELECT path, verdict = 'trusted', hash, content, decided_at FROM trusted_files
                       WHERE project = ?1 ORDER BY path, verdict DESC";
            let mut select = connection.prepare_cached(sql)?;
            let rows = select.query_map([project], |row| {
                let verdict = if row.get(1)? { Verdict::Trusted } else { Verdict::SetAside };
                Ok(StoredVerdict {
                    path: row.get(0)?,
                    verdict,
                    hash: row.get(2)?,
                    content: row.get(3)?,
                    decided_at: row.get(4)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
        .await
    }

    /// Takes decisions, all or none. A content that is trusted is not set aside any more, and one that is set aside is
    /// not trusted; what was trusted of another content stays, to compare with.
    pub async fn decide_trust(&self, project: &str, verdicts: Vec<StoredVerdict>) -> Result<(), DatabaseError> {
        let project = project.to_owned();
        self.write(move |connection| {
            for given in &verdicts {
                let sql = "DELETE FROM trusted_files WHERE project = ?1 AND path = ?2 AND (verdict = ?3 OR hash = ?4
                               OR verdict = 'set_aside')";
                let mut delete = connection.prepare_cached(sql)?;
                delete.execute(params![project, given.path, given.verdict.word(), given.hash])?;
                let sql = "INSERT INTO trusted_files (project, path, verdict, hash, content, decided_at)
                           VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
                connection.prepare_cached(sql)?.execute(params![
                    project,
                    given.path,
                    given.verdict.word(),
                    given.hash,
                    given.content,
                    given.decided_at
                ])?;
            }
            Ok(())
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn verdict(verdict: Verdict, hash: &str) -> StoredVerdict {
        let content = (verdict == Verdict::Trusted).then(|| hash.as_bytes().to_vec());
        StoredVerdict { path: "/AGENTS.md".into(), verdict, hash: hash.into(), content, decided_at: 7 }
    }

    #[tokio::test]
    async fn a_decision_is_about_one_content_and_the_last_one_counts() {
        let database = Database::in_memory().unwrap();
        let decide = |given: StoredVerdict| database.decide_trust("p", vec![given]);
        let known = || async { database.verdicts("p").await.unwrap() };
        decide(verdict(Verdict::Trusted, "a")).await.unwrap();
        decide(verdict(Verdict::SetAside, "b")).await.unwrap();
        assert_eq!(known().await, [verdict(Verdict::Trusted, "a"), verdict(Verdict::SetAside, "b")]);
        decide(verdict(Verdict::SetAside, "a")).await.unwrap();
        assert_eq!(known().await, [verdict(Verdict::SetAside, "a")]);
        decide(verdict(Verdict::Trusted, "a")).await.unwrap();
        assert_eq!(known().await, [verdict(Verdict::Trusted, "a")]);
        assert_eq!(database.verdicts("other").await.unwrap(), []);
    }
}
