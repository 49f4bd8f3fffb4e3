use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::DatabaseError;

/// Jobs that piled up while a commit synced share the next one; more than this waits for the one after.
const MOST_PER_COMMIT: usize = 256;

/// A pause in writing this long is used to carry the write-ahead log over, so that a busy time rarely has to.
const PAUSE: Duration = Duration::from_secs(1);

/// Tells a job's caller how it went, once the commit is known.
type Answer = Box<dyn FnOnce(Result<(), DatabaseError>) + Send>;
/// Does its work in the transaction that was begun, or hears why none was.
type Job = Box<dyn FnOnce(Result<(&Connection, Neighbours), DatabaseError>) -> Answer + Send>;

/// Whether others wrote into the transaction before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Neighbours {
    None,
    Some,
}

/// The only connection that writes, on its own thread, so that callers never block on the disk and never meet
/// "database is locked" among themselves.
#[derive(Debug)]
pub(crate) struct Writer {
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Writer {
    pub(crate) fn start(connection: Connection) -> std::io::Result<Self> {
        let (jobs, queue) = mpsc::channel();
        let thread = thread::Builder::new().name("bosun-writer".into()).spawn(move || run(&connection, &queue))?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread) })
    }

    /// Runs `work` in a transaction; on stable storage when it returns. A failing job takes nothing of its neighbours
    /// with it.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, DatabaseError> + Send + 'static,
    ) -> Result<T, DatabaseError> {
        let (reply, answered) = oneshot::channel();
        let job: Job = Box::new(move |begun| {
            let outcome = begun.and_then(|(connection, neighbours)| match neighbours {
                Neighbours::None => at_first(connection, work),
                Neighbours::Some => in_savepoint(connection, work),
            });
            Box::new(move |committed: Result<(), DatabaseError>| {
                let outcome = outcome.and_then(|value| committed.map(|()| value));
                if reply.send(outcome).is_err() {
                    tracing::debug!("the caller of a write went away before its answer");
                }
            })
        });
        let gone = || DatabaseError::Unavailable { reason: "its writer has ended".into() };
        self.jobs.as_ref().ok_or_else(gone)?.send(job).map_err(|_closed| gone())?;
        answered.await.map_err(|_closed| gone())?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the writer of the database ended in a panic");
        }
    }
}

fn run(connection: &Connection, queue: &mpsc::Receiver<Job>) {
    let mut carried = Carried::All;
    loop {
        let first = match carried {
            Carried::All => queue.recv().map_err(|_closed| mpsc::RecvTimeoutError::Disconnected),
            Carried::NotAll => queue.recv_timeout(PAUSE),
        };
        let first = match first {
            Ok(first) => first,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                checkpoint(connection, "PASSIVE");
                carried = Carried::All;
                continue;
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        };
        carried = Carried::NotAll;
        let mut answers = Vec::new();
        let committed = match plain(connection, "BEGIN IMMEDIATE") {
            Ok(()) => {
                answers.push(first(Ok((connection, Neighbours::None))));
                while answers.len() < MOST_PER_COMMIT
                    && !connection.is_autocommit()
                    && let Ok(job) = queue.try_recv()
                {
                    answers.push(job(Ok((connection, Neighbours::Some))));
                }
                // After some errors (a full disk) SQLite rolls the whole transaction back by itself.
                if connection.is_autocommit() {
                    Err(DatabaseError::Unavailable { reason: "a write beside this one failed".into() })
                } else {
                    plain(connection, "COMMIT")
                }
            }
            Err(error) => {
                answers.push(first(Err(error.clone())));
                Err(error)
            }
        };
        if committed.is_err()
            && !connection.is_autocommit()
            && let Err(error) = connection.execute_batch("ROLLBACK")
        {
            tracing::warn!(%error, "could not roll back");
        }
        for answer in answers {
            answer(committed.clone());
        }
    }
    // The next start then finds everything in one file; a reader elsewhere is not waited for.
    if let Err(error) = connection.busy_timeout(Duration::ZERO) {
        tracing::debug!(%error, "could not set the time to wait");
    }
    checkpoint(connection, "TRUNCATE");
}

/// Runs a statement of every commit, which is prepared once.
fn plain(connection: &Connection, statement: &str) -> Result<(), DatabaseError> {
    connection.prepare_cached(statement)?.execute([])?;
    Ok(())
}

/// Whether the file has everything that the write-ahead log has.
enum Carried {
    All,
    NotAll,
}

/// Carries the write-ahead log over into the file. What a reader still needs stays for the next time.
fn checkpoint(connection: &Connection, how: &str) {
    let outcome = connection.query_row(&format!("PRAGMA wal_checkpoint({how})"), [], |row| row.get::<_, i64>(0));
    if let Err(error) = outcome {
        tracing::debug!(%error, "the write-ahead log was not carried over");
    }
}

/// The first of a transaction needs no savepoint: what it wrote is all that there is to take back.
fn at_first<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, DatabaseError>,
) -> Result<T, DatabaseError> {
    let outcome = work(connection);
    if outcome.is_err() && !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK; BEGIN IMMEDIATE")?;
    }
    outcome
}

fn in_savepoint<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, DatabaseError>,
) -> Result<T, DatabaseError> {
    plain(connection, "SAVEPOINT job")?;
    match work(connection) {
        Ok(value) => {
            plain(connection, "RELEASE job")?;
            Ok(value)
        }
        Err(error) => {
            if !connection.is_autocommit() {
                connection.execute_batch("ROLLBACK TO job; RELEASE job")?;
            }
            Err(error)
        }
    }
}
