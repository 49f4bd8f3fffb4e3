use std::fs::{File, TryLockError};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bosun_agent::SessionId;
use bosun_model::CallId;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::Value;

use crate::database::make_private;
use crate::{Database, DatabaseError};

/// A session to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct NewSession {
    pub id: SessionId,
    pub project: String,
    /// The parent and the call that started it, for a subagent's session.
    pub parent: Option<(SessionId, CallId)>,
    /// Milliseconds since 1970.
    pub created_at: i64,
    pub summary: Value,
}

/// A session as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredSession {
    pub id: SessionId,
    pub project: String,
    pub parent: Option<(SessionId, CallId)>,
    pub created_at: i64,
    pub updated_at: i64,
    /// What lists show; written and read by the session room alone.
    pub summary: Value,
}

/// The right to run a session, held by one process at a time. Given back when dropped or when the process ends.
#[derive(Debug)]
pub struct SessionClaim {
    _lock: File,
}

/// The claim of the desktop app over a data folder: one at a time, held until the value goes or the process ends.
#[derive(Debug)]
pub struct DesktopClaim {
    _claim: SessionClaim,
}

/// No session has such a name.
const DESKTOP: &str = "desktop.app";

impl DesktopClaim {
    /// Claims `folder`, made where it is missing; `None` while another app holds it. Does not wait.
    ///
    /// # Errors
    /// Where nothing can be locked there.
    pub fn take(folder: &Path) -> std::io::Result<Option<Self>> {
        make_private(folder)?;
        Ok(try_claim(folder, DESKTOP)?.map(|claim| Self { _claim: claim }))
    }
}

/// The folder of the locks that are the claims, one file a session.
const CLAIMS: &str = "running";
const CLAIM_ATTEMPTS: u32 = 10;
const CLAIM_PAUSE: Duration = Duration::from_millis(20);

impl Database {
    /// Makes a session, or finds the one that the same parent's call made before.
    pub async fn create_session(&self, new: NewSession) -> Result<StoredSession, DatabaseError> {
        self.write(move |connection| {
            if let Some((parent, call)) = &new.parent
                && let Some(found) = child(connection, parent, call)?
            {
                return Ok(found);
            }
            let (parent, call) = new.parent.as_ref().map(|(parent, call)| (parent.as_str(), call.as_str())).unzip();
            connection
                .prepare_cached(
                    "INSERT INTO sessions (id, project, parent, parent_call, created_at, updated_at, summary, indexed)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, 1)",
                )?
                .execute(params![
                    new.id.as_str(),
                    new.project,
                    parent,
                    call,
                    new.created_at,
                    new.summary.to_string()
                ])?;
            Ok(StoredSession {
                id: new.id,
                project: new.project,
                parent: new.parent,
                created_at: new.created_at,
                updated_at: new.created_at,
                summary: new.summary,
            })
        })
        .await
    }

    pub async fn session(&self, id: &SessionId) -> Result<Option<StoredSession>, DatabaseError> {
        let id = id.clone();
        self.read(move |connection| one(connection, &format!("{SELECT} WHERE id = ?1"), params![id.as_str()])).await
    }

    /// The sessions of a project without the subagents', last changed first.
    pub async fn sessions(&self, project: &str) -> Result<Vec<StoredSession>, DatabaseError> {
        let project = project.to_owned();
        let sql = format!("{SELECT} WHERE project = ?1 AND parent IS NULL ORDER BY updated_at DESC, key DESC");
        self.read(move |connection| many(connection, &sql, params![project])).await
    }

    /// The sessions of every project without the subagents', last changed first.
    pub async fn all_sessions(&self) -> Result<Vec<StoredSession>, DatabaseError> {
        let sql = format!("{SELECT} WHERE parent IS NULL ORDER BY updated_at DESC, key DESC");
        self.read(move |connection| many(connection, &sql, [])).await
    }

    /// The subagents' sessions that `parent` started, oldest first.
    pub async fn children(&self, parent: &SessionId) -> Result<Vec<StoredSession>, DatabaseError> {
        let parent = parent.clone();
        let sql = format!("{SELECT} WHERE parent = ?1 ORDER BY key");
        self.read(move |connection| many(connection, &sql, params![parent.as_str()])).await
    }

    /// Claims a session for this process; `None` while another one runs it. Blocks for up to a fifth of a second then: a
    /// process that was killed while it started a command leaves its locks to the child until that has become the command.
    pub fn claim(self: &Arc<Self>, session: &SessionId) -> Result<Option<SessionClaim>, DatabaseError> {
        let unavailable = |error: std::io::Error| DatabaseError::Unavailable { reason: error.to_string() };
        for _ in 0..CLAIM_ATTEMPTS {
            if let Some(claim) = try_claim(self.folder(), session.as_str()).map_err(unavailable)? {
                return Ok(Some(claim));
            }
            std::thread::sleep(CLAIM_PAUSE);
        }
        Ok(None)
    }

    /// Whether a process holds the claim of a session, which is this one or another. Does not wait.
    pub fn is_claimed(&self, session: &SessionId) -> bool {
        let lock = File::options().read(true).open(self.folder().join(CLAIMS).join(session.as_str()));
        lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }
}

/// The claim of `name` in a data folder, as soon as nobody else holds it.
pub(crate) fn wait_for_claim(folder: &Path, name: &str) -> std::io::Result<SessionClaim> {
    loop {
        let lock = claim_file(folder, name)?;
        lock.lock()?;
        if is_linked(&lock)? {
            return Ok(SessionClaim { _lock: lock });
        }
    }
}

/// The claim of `name` in a data folder; `None` while somebody else holds it.
fn try_claim(folder: &Path, name: &str) -> std::io::Result<Option<SessionClaim>> {
    loop {
        let lock = claim_file(folder, name)?;
        match lock.try_lock() {
            Ok(()) if is_linked(&lock)? => return Ok(Some(SessionClaim { _lock: lock })),
            // One that was cleared away in the meantime keeps nobody out: the next try makes it again.
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

fn claim_file(folder: &Path, name: &str) -> std::io::Result<File> {
    let folder = folder.join(CLAIMS);
    make_private(&folder)?;
    File::options().create(true).truncate(false).write(true).open(folder.join(name))
}

/// Removes the locks that nobody holds: a claim ends with its process, its file stays.
#[cfg(unix)]
pub(crate) fn clear_claims(folder: &Path) {
    let Ok(files) = std::fs::read_dir(folder.join(CLAIMS)) else { return };
    for path in files.flatten().map(|file| file.path()) {
        let Ok(lock) = File::options().write(true).open(&path) else { continue };
        // Removed while it is held, so that who opened it before sees that it is gone.
        if lock.try_lock().is_ok()
            && let Err(error) = std::fs::remove_file(&path)
        {
            tracing::debug!(%error, "a lock that nobody holds stays");
        }
    }
}

#[cfg(unix)]
fn is_linked(lock: &File) -> std::io::Result<bool> {
    Ok(std::os::unix::fs::MetadataExt::nlink(&lock.metadata()?) > 0)
}

/// Locks are never cleared away here.
#[cfg(not(unix))]
fn is_linked(_lock: &File) -> std::io::Result<bool> {
    Ok(true)
}

const SELECT: &str = "SELECT id, project, parent, parent_call, created_at, updated_at, summary FROM sessions";

fn child(connection: &Connection, parent: &SessionId, call: &CallId) -> Result<Option<StoredSession>, DatabaseError> {
    let sql = format!("{SELECT} WHERE parent = ?1 AND parent_call = ?2");
    one(connection, &sql, params![parent.as_str(), call.as_str()])
}

fn one(
    connection: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
) -> Result<Option<StoredSession>, DatabaseError> {
    Ok(connection.prepare_cached(sql)?.query_row(values, from_row).optional()?)
}

fn many(
    connection: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
) -> Result<Vec<StoredSession>, DatabaseError> {
    let mut select = connection.prepare_cached(sql)?;
    let rows = select.query_map(values, from_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<StoredSession> {
    let parent: Option<String> = row.get(2)?;
    let call: Option<String> = row.get(3)?;
    Ok(StoredSession {
        id: SessionId::new(row.get::<_, String>(0)?),
        project: row.get(1)?,
        parent: parent.zip(call).map(|(parent, call)| (SessionId::new(parent), CallId::new(call))),
        created_at: row.get(4)?,
        updated_at: row.get(5)?,
        summary: serde_json::from_str(&row.get::<_, String>(6)?).unwrap_or_default(),
    })
}
