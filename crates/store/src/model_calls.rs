use bosun_agent::SessionId;
use bosun_model::Usage;
use rusqlite::{Connection, Row, params};

use crate::{Database, DatabaseError};

/// What one model call used. Kept when its session is deleted: it was paid for.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredCall {
    /// The session at the root of the tree it was made for.
    pub session: SessionId,
    pub project: String,
    /// When it began, in milliseconds since 1970.
    pub at: i64,
    /// The day it began, `YYYY-MM-DD`, by the clock of the machine.
    pub day: String,
    pub provider: String,
    pub model: String,
    /// What it was for, in one word.
    pub purpose: String,
    pub milliseconds: u32,
    pub usage: Usage,
    /// US dollars; `None` where the price or the usage is not known.
    pub cost: Option<f64>,
    /// Who made it; `None` of calls that were stored before that was, and of those of no session.
    pub agent: Option<CallingAgent>,
}

/// An agent that makes calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallingAgent {
    /// Its own session, which may be a subagent's.
    pub session: SessionId,
    pub name: String,
}

/// What several calls came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallSum {
    /// What they have in common: a day, or nothing.
    pub day: String,
    pub provider: String,
    pub model: String,
    pub calls: u64,
    /// Tokens, as far as they were reported.
    pub usage: Usage,
    /// US dollars of the calls whose cost is known.
    pub cost: f64,
    /// Calls whose cost is not known.
    pub unpriced: u64,
}

impl Database {
    /// Takes a call in. It is stored with whatever is written next, since the journal soon has what came of it.
    pub fn note_call(&self, call: StoredCall) {
        self.ride(move |connection| insert(connection, &call));
    }

    /// Returns once every call taken in so far is stored.
    pub async fn calls_stored(&self) -> Result<(), DatabaseError> {
        self.write(|_| Ok(())).await
    }

    /// The calls made for a session and its subagents, last first.
    pub async fn calls_of_session(&self, session: &SessionId, limit: u32) -> Result<Vec<StoredCall>, DatabaseError> {
        let session = session.clone();
        self.read(move |connection| {
            let mut select = connection.prepare_cached(
                "SELECT session, project, at, day, provider, model, purpose, milliseconds, input, output, cache_read,
                        cache_write, reasoning, cost, agent_session, agent
                 FROM model_calls WHERE session = ?1 ORDER BY at DESC, id DESC LIMIT ?2",
            )?;
            let rows = select.query_map(params![session.as_str(), limit], call)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
        .await
    }

    /// Sums by day and model, last day first; from `day` on.
    pub async fn calls_by_day(&self, from: &str) -> Result<Vec<CallSum>, DatabaseError> {
        let from = from.to_owned();
        self.read(move |connection| {
            let mut select = connection.prepare_cached(
                "SELECT day, provider, model, count(*), sum(input), sum(output), sum(cache_read), sum(cache_write),
                        sum(reasoning), coalesce(sum(cost), 0.0), sum(cost IS NULL)
                 FROM model_calls WHERE day >= ?1 GROUP BY day, provider, model
                 ORDER BY day DESC, 10 DESC, provider, model",
            )?;
            let rows = select.query_map([from], sum)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
        .await
    }

    /// US dollars that a session and its subagents have cost, as far as they are known.
    pub async fn cost_of_session(&self, session: &SessionId) -> Result<f64, DatabaseError> {
        self.one_cost("SELECT coalesce(sum(cost), 0.0) FROM model_calls WHERE session = ?1", session.as_str()).await
    }

    /// US dollars that a day has cost, as far as they are known.
    pub async fn cost_of_day(&self, day: &str) -> Result<f64, DatabaseError> {
        self.one_cost("SELECT coalesce(sum(cost), 0.0) FROM model_calls WHERE day = ?1", day).await
    }

    async fn one_cost(&self, select: &'static str, of: &str) -> Result<f64, DatabaseError> {
        let of = of.to_owned();
        self.read(move |connection| Ok(connection.prepare_cached(select)?.query_row([of], |row| row.get(0))?)).await
    }
}

fn insert(connection: &Connection, call: &StoredCall) -> Result<(), DatabaseError> {
    let usage = &call.usage;
    connection
        .prepare_cached(
            "INSERT INTO model_calls (session, project, at, day, provider, model, purpose, milliseconds, input, output,
                                      cache_read, cache_write, reasoning, cost, agent_session, agent)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
        )?
        .execute(params![
            call.session.as_str(),
            call.project,
            call.at,
            call.day,
            call.provider,
            call.model,
            call.purpose,
            call.milliseconds,
            tokens(usage.input),
            tokens(usage.output),
            tokens(usage.cache_read),
            tokens(usage.cache_write),
            tokens(usage.reasoning),
            call.cost,
            call.agent.as_ref().map(|agent| agent.session.as_str()),
            call.agent.as_ref().map(|agent| agent.name.as_str()),
        ])?;
    Ok(())
}

fn call(row: &Row<'_>) -> rusqlite::Result<StoredCall> {
    Ok(StoredCall {
        session: SessionId::new(row.get::<_, String>(0)?),
        project: row.get(1)?,
        at: row.get(2)?,
        day: row.get(3)?,
        provider: row.get(4)?,
        model: row.get(5)?,
        purpose: row.get(6)?,
        milliseconds: row.get(7)?,
        usage: usage(row, 8)?,
        cost: row.get(13)?,
        agent: match (row.get::<_, Option<String>>(14)?, row.get(15)?) {
            (Some(session), Some(name)) => Some(CallingAgent { session: SessionId::new(session), name }),
            _ => None,
        },
    })
}

fn sum(row: &Row<'_>) -> rusqlite::Result<CallSum> {
    Ok(CallSum {
        day: row.get(0)?,
        provider: row.get(1)?,
        model: row.get(2)?,
        calls: count(row, 3)?.unwrap_or(0),
        usage: usage(row, 4)?,
        cost: row.get(9)?,
        unpriced: count(row, 10)?.unwrap_or(0),
    })
}

/// Five columns from `first` on.
fn usage(row: &Row<'_>, first: usize) -> rusqlite::Result<Usage> {
    Ok(Usage {
        input: count(row, first)?,
        output: count(row, first + 1)?,
        cache_read: count(row, first + 2)?,
        cache_write: count(row, first + 3)?,
        reasoning: count(row, first + 4)?,
        // Parts of the figures before, and what was charged: that stands in the cost of the call.
        ..Usage::default()
    })
}

fn count(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<u64>> {
    Ok(row.get::<_, Option<i64>>(at)?.and_then(|count| u64::try_from(count).ok()))
}

/// SQLite's integers have a sign.
fn tokens(count: Option<u64>) -> Option<i64> {
    count.map(|count| i64::try_from(count).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn made(session: &str, day: &str, model: &str, cost: Option<f64>) -> StoredCall {
        StoredCall {
            session: SessionId::new(session),
            project: "p".into(),
            at: 7,
            day: day.into(),
            provider: "anthropic".into(),
            model: model.into(),
            purpose: "answer".into(),
            milliseconds: 900,
            usage: Usage { input: Some(1_000), output: Some(10), cache_read: Some(600), ..Usage::default() },
            cost,
            agent: Some(CallingAgent { session: SessionId::new("child"), name: "scout".into() }),
        }
    }

    #[tokio::test]
    async fn calls_are_kept_as_they_were_and_summed_by_day_and_model() {
        let database = Database::in_memory().unwrap();
        let calls = [
            made("a", "2026-11-20", "big", Some(0.25)),
            made("a", "2026-11-21", "big", Some(0.5)),
            made("b", "2026-11-21", "big", None),
            made("b", "2026-11-21", "small", Some(0.125)),
        ];
        calls.iter().cloned().for_each(|call| database.note_call(call));
        database.calls_stored().await.unwrap();
        let of_a = database.calls_of_session(&SessionId::new("a"), 10).await.unwrap();
        assert_eq!(of_a, [calls[1].clone(), calls[0].clone()]);
        let sums = database.calls_by_day("2026-11-21").await.unwrap();
        let shown: Vec<_> = sums.iter().map(|sum| (sum.model.as_str(), sum.calls, sum.cost, sum.unpriced)).collect();
        assert_eq!(shown, [("big", 2, 0.5, 1), ("small", 1, 0.125, 0)]);
        assert_eq!(sums[0].usage.cache_read, Some(1_200));
        assert_eq!(sums[0].usage.reasoning, None);
        assert_eq!(database.cost_of_session(&SessionId::new("a")).await.unwrap(), 0.75);
        assert_eq!(database.cost_of_day("2026-11-21").await.unwrap(), 0.625);
        assert_eq!(database.cost_of_day("2026-11-22").await.unwrap(), 0.0);
    }

    #[tokio::test]
    async fn a_call_is_stored_with_the_next_write_and_with_the_one_after_where_that_fails() {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::open(folder.path()).unwrap();
        let stored =
            async |database: &Database| database.calls_of_session(&SessionId::new("a"), 10).await.unwrap().len();
        database.note_call(made("a", "2026-11-20", "big", None));
        assert_eq!(stored(&database).await, 0, "no write is made for it alone");
        let lost = database.write(|connection| Ok(connection.execute_batch("ROLLBACK")?)).await;
        assert!(lost.is_err());
        assert_eq!(stored(&database).await, 0);
        database.write(|_| Ok(())).await.unwrap();
        assert_eq!(stored(&database).await, 1);
        // A job that fails alone takes nothing of its neighbours with it.
        database.note_call(made("a", "2026-11-20", "big", None));
        let refused = database.write(|connection| Ok(connection.execute_batch("nonsense")?)).await;
        assert!(refused.is_err());
        assert_eq!(stored(&database).await, 2);
        // Whoever closes the database has everything in it.
        database.note_call(made("a", "2026-11-20", "big", None));
        drop(database);
        assert_eq!(stored(&Database::open(folder.path()).unwrap()).await, 3);
    }
}
