use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{fs, io};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use tokio::sync::Semaphore;

use crate::migrations::{APPLICATION_ID, FORMAT, MIGRATIONS};
#[cfg(unix)]
use crate::sessions::clear_claims;
use crate::sessions::wait_for_claim;
use crate::writer::Writer;
use crate::{DatabaseError, OpenError};

/// Oldest SQLite whose WAL does not lose a reset (fixed in 3.53.1).
const OLDEST_SQLITE: i32 = 3_053_001;
/// How long a second process may hold the write lock before it is an error.
const BUSY: Duration = Duration::from_secs(5);
/// Pages in the write-ahead log that make a commit carry them over into the file.
const WAL_PAGES: i64 = 1_000;
/// What is left of a write-ahead log that a long reader made grow, once it begins anew.
const WAL_BYTES: i64 = 4 << 20;
/// The most that SQLite can count.
const MOST_PAGES: i64 = 4_294_967_294;
/// What a reader keeps of the file, in KiB, once it has met as much.
const READ_CACHE_KIB: i64 = 8 * 1024;
/// The claim of who makes or changes the tables; no session has such a name.
const MIGRATING: &str = "bosun.db";
/// Readers side by side. Each is kept for the next question: opening one costs more than most of them.
const READERS: usize = 4;

/// Bosun's database in its data folder.
#[derive(Debug)]
pub struct Database {
    folder: PathBuf,
    file: PathBuf,
    writer: Writer,
    readers: Arc<Mutex<Vec<Connection>>>,
    reading: Arc<Semaphore>,
    /// The folder of a database in memory; gone with it.
    scratch: Option<tempfile::TempDir>,
}

impl Database {
    /// Opens `bosun.db` in `folder`, making both where they are missing. Blocks for a few milliseconds.
    ///
    /// # Errors
    /// [`OpenError`]; the file is as it was.
    pub fn open(folder: &Path) -> Result<Arc<Self>, OpenError> {
        make_private(folder).and_then(|()| tighten(folder)).map_err(|error| OpenError::folder(folder, &error))?;
        let file = folder.join("bosun.db");
        if file.is_dir() {
            return Err(OpenError::NotADatabase { path: file });
        }
        let unusable = |reason: String| OpenError::Unusable { path: file.clone(), reason };
        if rusqlite::version_number() < OLDEST_SQLITE {
            return Err(unusable(format!("SQLite {} is too old", rusqlite::version())));
        }
        let mut connection = Connection::open(&file).map_err(|error| named(&file, &error))?;
        private_file(&file).map_err(|error| OpenError::folder(folder, &error))?;
        prepare(&connection).map_err(|error| named(&file, &error))?;
        migrate(&mut connection, folder, &file)?;
        #[cfg(unix)]
        clear_claims(folder);
        let writer = Writer::start(connection).map_err(|error| unusable(error.to_string()))?;
        Ok(Arc::new(Self {
            folder: folder.to_owned(),
            file,
            writer,
            readers: Arc::default(),
            reading: places(),
            scratch: None,
        }))
    }

    /// As [`Self::open`], but `None` where there is no database yet: nothing is made.
    pub fn open_existing(folder: &Path) -> Result<Option<Arc<Self>>, OpenError> {
        if folder.join("bosun.db").exists() { Self::open(folder).map(Some) } else { Ok(None) }
    }

    /// Whether a database could be made in `folder`, where there is none yet. What is missing of the folder is made for
    /// a moment and taken away again.
    ///
    /// # Errors
    /// [`OpenError::Folder`].
    pub fn could_be_in(folder: &Path) -> Result<(), OpenError> {
        let missing: Vec<&Path> =
            folder.ancestors().take_while(|part| matches!(part.try_exists(), Ok(false))).collect();
        let tried = make_private(folder).and_then(|()| tempfile::tempfile_in(folder).map(drop));
        for made in missing {
            // What was not made is not there to be taken away, and what somebody uses by now stays.
            fs::remove_dir(made).ok();
        }
        tried.map_err(|error| OpenError::folder(folder, &error))
    }

    /// A database that lives as long as this value, for runs that are not to be stored. Its folder, for claims, is a
    /// temporary one.
    pub fn in_memory() -> Result<Arc<Self>, OpenError> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let file = PathBuf::from(format!("file:bosun-{}-{number}?mode=memory&cache=shared", std::process::id()));
        let unusable = |reason: String| OpenError::Unusable { path: file.clone(), reason };
        let folder = tempfile::tempdir().map_err(|error| unusable(error.to_string()))?;
        let mut connection = Connection::open(&file).map_err(|error| named(&file, &error))?;
        prepare(&connection).map_err(|error| named(&file, &error))?;
        migrate(&mut connection, folder.path(), &file)?;
        let writer = Writer::start(connection).map_err(|error| unusable(error.to_string()))?;
        let path = folder.path().to_owned();
        Ok(Arc::new(Self {
            folder: path,
            file,
            writer,
            readers: Arc::default(),
            reading: places(),
            scratch: Some(folder),
        }))
    }

    /// The data folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder of the bytes that are too large for rows: previous contents of files, long outputs.
    pub fn blobs_folder(&self) -> PathBuf {
        self.folder.join("blobs")
    }

    /// Keeps the database from growing beyond `bytes`, or beyond its size now where that is more: what does not fit is
    /// refused as on a full disk. Holds until it is opened again.
    pub async fn limit_size(&self, bytes: u64) -> Result<(), DatabaseError> {
        self.write(move |connection| {
            let page = connection.pragma_query_value(None, "page_size", |row| row.get::<_, i64>(0))?.unsigned_abs();
            let pages = i64::try_from(bytes / page.max(1)).unwrap_or(i64::MAX).clamp(1, MOST_PAGES);
            connection.pragma_update_and_check(None, "max_page_count", pages, |row| row.get::<_, i64>(0))?;
            Ok(())
        })
        .await
    }

    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, DatabaseError> + Send + 'static,
    ) -> Result<T, DatabaseError> {
        self.writer.write(work).await
    }

    /// As [`Self::write`], in whatever transaction is written next; see [`Writer::ride`].
    pub(crate) fn ride(&self, work: impl Fn(&Connection) -> Result<(), DatabaseError> + Send + 'static) {
        self.writer.ride(work);
    }

    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, DatabaseError> + Send + 'static,
    ) -> Result<T, DatabaseError> {
        let (readers, file) = (Arc::clone(&self.readers), self.file.clone());
        let shared = self.scratch.is_some();
        // No work waits for another question, so that each gets its turn.
        let place = Arc::clone(&self.reading).acquire_owned().await;
        let read = move || {
            let spare = readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let connection = spare.map_or_else(|| reader(&file, shared), Ok)?;
            let outcome = work(&connection);
            readers.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
            drop(place);
            outcome
        };
        tokio::task::spawn_blocking(read)
            .await
            .map_err(|error| DatabaseError::Unavailable { reason: error.to_string() })?
    }
}

impl Database {
    /// Takes the log before the file into the file, and what was written in it away. As far as nobody is reading what was
    /// before; then it goes with the next one.
    pub(crate) async fn empty_log(&self) -> Result<(), DatabaseError> {
        if self.scratch.is_some() {
            return Ok(());
        }
        let file = self.file.clone();
        let empty = move || {
            let connection = Connection::open(&file)?;
            prepare(&connection)?;
            connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")
        };
        let done = tokio::task::spawn_blocking(empty).await;
        Ok(done.map_err(|error| DatabaseError::Unavailable { reason: error.to_string() })??)
    }

    /// Writes the whole file anew, without its free pages. Writers wait meanwhile.
    pub(crate) async fn rewrite(&self) -> Result<(), DatabaseError> {
        if self.scratch.is_some() {
            return Ok(());
        }
        let file = self.file.clone();
        let rewrite = move || {
            let connection = Connection::open(&file)?;
            prepare(&connection)?;
            connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);")
        };
        let done = tokio::task::spawn_blocking(rewrite).await;
        Ok(done.map_err(|error| DatabaseError::Unavailable { reason: error.to_string() })??)
    }
}

fn places() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(READERS))
}

fn reader(file: &Path, shared: bool) -> Result<Connection, DatabaseError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(file, flags)?;
    ready(&connection)?;
    // What a search goes through in the order of names lies scattered: a common one meets more pages than fit by default,
    // so that each search would fetch all of them anew.
    connection.pragma_update(None, "cache_size", -READ_CACHE_KIB)?;
    if shared {
        // Connections that share one cache would otherwise be refused while the writer writes.
        connection.pragma_update(None, "read_uncommitted", true)?;
    }
    Ok(connection)
}

fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    ready(connection)?;
    connection.pragma_update(None, "foreign_keys", true)
}

/// What every connection is, whether it writes or reads.
fn ready(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY)?;
    // Plans that look at what is bound are made anew with every value of a range; ours do not depend on it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;")
}

fn migrate(connection: &mut Connection, folder: &Path, file: &Path) -> Result<(), OpenError> {
    let wrap = |error: rusqlite::Error| named(file, &error);
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(wrap);
    let marks = || Ok::<_, OpenError>((number("application_id")?, number("user_version")?));
    // Who comes while another makes or changes the tables waits for it, and finds them done.
    let _migrating = match marks()? {
        (APPLICATION_ID, FORMAT) => None,
        _ => Some(wait_for_claim(folder, MIGRATING).map_err(|error| OpenError::folder(folder, &error))?),
    };
    let (application, format) = marks()?;
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(wrap)?;
    if application != APPLICATION_ID && (application != 0 || tables > 0) {
        return Err(OpenError::OtherApplication { path: file.to_owned() });
    }
    if format > FORMAT {
        return Err(OpenError::Newer { path: file.to_owned(), found: format, known: FORMAT });
    }
    // Only now is it ours to change, even if only in its header.
    connection.pragma_update(None, "journal_mode", "WAL").map_err(wrap)?;
    // Nothing can be lost of an empty file: what is made in it goes to the disk with the first thing that is kept.
    let meanwhile = if tables == 0 { "NORMAL" } else { "FULL" };
    connection.pragma_update(None, "synchronous", meanwhile).map_err(wrap)?;
    connection.pragma_update(None, "wal_autocheckpoint", WAL_PAGES).map_err(wrap)?;
    let size = connection.pragma_update_and_check(None, "journal_size_limit", WAL_BYTES, |row| row.get::<_, i64>(0));
    size.map_err(wrap)?;
    if format == FORMAT {
        return Ok(());
    }
    if tables > 0 {
        let backup = folder.join(format!("bosun.db.format-{format}"));
        connection.backup("main", &backup, None).map_err(wrap)?;
        private_file(&backup).map_err(|error| OpenError::folder(folder, &error))?;
    }
    connection.pragma_update(None, "application_id", APPLICATION_ID).map_err(wrap)?;
    MIGRATIONS
        .to_latest(connection)
        .map_err(|error| OpenError::Unusable { path: file.to_owned(), reason: error.to_string() })?;
    connection.pragma_update(None, "synchronous", "FULL").map_err(wrap)
}

fn named(file: &Path, error: &rusqlite::Error) -> OpenError {
    let path = file.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => OpenError::NotADatabase { path },
        Some(ErrorCode::ReadOnly) => OpenError::ReadOnly { path },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => OpenError::Locked { path },
        _ => OpenError::Unusable { path, reason: error.to_string() },
    }
}

/// Makes a folder that only its owner can look into.
pub(crate) fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Closes a folder that was made before us, by hand or by a backup, to everyone but its owner. One that is shared on
/// purpose (`/tmp`) or another user's is left alone.
#[cfg(unix)]
fn tighten(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::metadata(folder)?.permissions().mode();
    if mode & 0o077 == 0 || mode & 0o1000 != 0 {
        return Ok(());
    }
    match fs::set_permissions(folder, fs::Permissions::from_mode(mode & 0o700)) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            tracing::warn!(folder = %folder.display(), "others may look into the data folder; it is not ours to close");
            Ok(())
        }
        outcome => outcome,
    }
}

#[cfg(not(unix))]
fn tighten(_folder: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn private_file(file: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let permissions = fs::metadata(file)?.permissions();
    if permissions.mode() & 0o077 != 0 {
        fs::set_permissions(file, fs::Permissions::from_mode(0o600))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn private_file(_file: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
#[path = "database_tests.rs"]
mod tests;
