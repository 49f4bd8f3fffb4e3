use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
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

/// Work that no transaction is begun for.
type Rider = Box<dyn Fn(&Connection) -> Result<(), DatabaseError> + Send>;
type Riders = Arc<Mutex<Vec<Rider>>>;

/// Whether others wrote into the transaction before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Neighbours {
    None,
    Some,
}

/// The only connection that writes, on its own thread, so that callers never block on the disk and never meet
/// "database is locked" among themselves.
pub(crate) struct Writer {
    jobs: Option<mpsc::Sender<Job>>,
    riders: Riders,
    thread: Option<thread::JoinHandle<()>>,
}

impl Writer {
    pub(crate) fn start(connection: Connection) -> std::io::Result<Self> {
        let (jobs, queue) = mpsc::channel();
        let riders = Riders::default();
        let waiting = Arc::clone(&riders);
        let work = move || run(&connection, &queue, &waiting);
        let thread = thread::Builder::new().name("bosun-writer".into()).spawn(work)?;
        Ok(Self { jobs: Some(jobs), riders, thread: Some(thread) })
    }

    /// Does `work` in the next transaction that somebody else writes, at the latest when the database is closed, and again
    /// where that transaction fails. What cannot be written itself is told to the log and left out.
    pub(crate) fn ride(&self, work: impl Fn(&Connection) -> Result<(), DatabaseError> + Send + 'static) {
        waiting(&self.riders).push(Box::new(work));
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

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").finish_non_exhaustive()
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

fn waiting(riders: &Riders) -> MutexGuard<'_, Vec<Rider>> {
    riders.lock().unwrap_or_else(PoisonError::into_inner)
}

fn run(connection: &Connection, queue: &mpsc::Receiver<Job>, riders: &Riders) {
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
        transaction(connection, Some(first), queue, riders);
    }
    if !waiting(riders).is_empty() {
        transaction(connection, None, queue, riders);
        let lost = waiting(riders).len();
        if lost > 0 {
            tracing::error!(lost, "what was to be written along could not be written before the end");
        }
    }
    // The next start then finds everything in one file; a reader elsewhere is not waited for.
    if let Err(error) = connection.busy_timeout(Duration::ZERO) {
        tracing::debug!(%error, "could not set the time to wait");
    }
    checkpoint(connection, "TRUNCATE");
}

/// Does `first`, what piled up behind it and what rides along, and tells everyone how it went.
fn transaction(connection: &Connection, first: Option<Job>, queue: &mpsc::Receiver<Job>, riders: &Riders) {
    let mut answers = Vec::new();
    let mut riding = Vec::new();
    let committed = match plain(connection, "BEGIN IMMEDIATE") {
        Ok(()) => {
            answers.extend(first.map(|first| first(Ok((connection, Neighbours::None)))));
            while answers.len() < MOST_PER_COMMIT
                && !connection.is_autocommit()
                && let Ok(job) = queue.try_recv()
            {
                answers.push(job(Ok((connection, Neighbours::Some))));
            }
            riding = std::mem::take(&mut *waiting(riders));
            riding.retain(|rider| connection.is_autocommit() || is_written(connection, rider));
            // After some errors (a full disk) SQLite rolls the whole transaction back by itself.
            if connection.is_autocommit() {
                Err(DatabaseError::Unavailable { reason: "a write beside this one failed".into() })
            } else {
                plain(connection, "COMMIT")
            }
        }
        Err(error) => {
            answers.extend(first.map(|first| first(Err(error.clone()))));
            Err(error)
        }
    };
    if committed.is_err() {
        waiting(riders).splice(0..0, riding);
        if !connection.is_autocommit()
            && let Err(error) = connection.execute_batch("ROLLBACK")
        {
            tracing::warn!(%error, "could not roll back");
        }
    }
    for answer in answers {
        answer(committed.clone());
    }
}

/// Whether a rider's work was done, or is to be tried again because the whole transaction is gone.
fn is_written(connection: &Connection, rider: &Rider) -> bool {
    let outcome = in_savepoint(connection, rider);
    if let Err(error) = &outcome {
        tracing::error!(%error, "something could not be written along");
    }
    outcome.is_ok() || connection.is_autocommit()
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
