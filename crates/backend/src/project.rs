//! Whether a folder can be a project.

use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD};

/// A folder that can be a project, and what a person should know about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectRoot {
    /// Absolute, links resolved.
    pub path: PathBuf,
    /// As it was given, made absolute, where that is another name, as a link is.
    pub called: Option<PathBuf>,
    pub notes: Vec<RootNote>,
}

/// Something about a project folder that is no reason against it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RootNote {
    /// Files can be read and searched, not changed.
    ReadOnly,
    /// Changes elsewhere may be seen late and durability is the server's; the name is that of the protocol.
    NetworkFileSystem(&'static str),
}

/// Why a folder cannot be a project. Each is a sentence with the way out.
#[derive(Debug, thiserror::Error)]
pub enum RootError {
    #[error("the folder {} does not exist; choose another, or create it first", path.display())]
    Missing { path: PathBuf },
    #[error("{} is a file, not a folder; choose the folder it is in", path.display())]
    NotAFolder { path: PathBuf },
    #[error("you have no permission to read the folder {}; ask its owner for access, or choose another", path.display())]
    Unreadable { path: PathBuf },
    #[error("{} is your home folder, with your keys and settings in it; choose or create a folder inside it", path.display())]
    Home { path: PathBuf },
    #[error("{} contains your home folder, with your keys and settings in it; choose or create a folder inside your home", path.display())]
    AboveHome { path: PathBuf },
    #[error("{} contains Bosun's own data ({}), which no agent may change; choose a folder with one project in it", path.display(), data.display())]
    HoldsData { path: PathBuf, data: PathBuf },
    #[error("{} is in Bosun's own data folder {}, which no agent may change; choose a folder elsewhere", path.display(), data.display())]
    InData { path: PathBuf, data: PathBuf },
    #[error("{} is the whole machine; choose a folder with one project in it", path.display())]
    FileSystemRoot { path: PathBuf },
    #[error("the folder {} cannot be used: {source}; choose another", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// Looks at the folder that a person chose; `data` is where the app keeps what it knows, which is no project of anyone's.
/// Blocks on the disk for a moment.
pub fn project_root(path: &Path, data: Option<&Path>) -> Result<ProjectRoot, RootError> {
    check(path, std::env::home_dir().as_deref(), data)
}

/// Where a folder is, with links resolved as far as they lead somewhere: what is gone still has its name.
pub fn real_path(given: &Path) -> PathBuf {
    let path = std::path::absolute(given).unwrap_or_else(|_| given.to_owned());
    let there = |part: &Path| Some(part.canonicalize().ok()?.join(path.strip_prefix(part).ok()?));
    path.ancestors().find_map(there).unwrap_or_else(|| path.clone()).components().collect()
}

fn check(given: &Path, home: Option<&Path>, data: Option<&Path>) -> Result<ProjectRoot, RootError> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => RootError::Missing { path: given.to_owned() },
        io::ErrorKind::NotADirectory => RootError::NotAFolder { path: given.to_owned() },
        io::ErrorKind::PermissionDenied => RootError::Unreadable { path: given.to_owned() },
        _ => RootError::Io { path: given.to_owned(), source: error },
    };
    let path = given.canonicalize().map_err(failed)?;
    if !path.metadata().map_err(failed)?.is_dir() {
        return Err(RootError::NotAFolder { path });
    }
    if path.parent().is_none() {
        return Err(RootError::FileSystemRoot { path });
    }
    if let Some(home) = home.and_then(|home| home.canonicalize().ok()) {
        if home == path {
            return Err(RootError::Home { path });
        }
        if home.starts_with(&path) {
            return Err(RootError::AboveHome { path });
        }
    }
    if let Some(data) = data.and_then(|data| data.canonicalize().ok()) {
        if data.starts_with(&path) {
            return Err(RootError::HoldsData { path, data });
        }
        if path.starts_with(&data) {
            return Err(RootError::InData { path, data });
        }
    }
    // Rights to list and to enter.
    path.read_dir().map_err(failed)?;
    rustix::fs::accessat(CWD, &path, Access::EXEC_OK, AtFlags::EACCESS).map_err(|errno| failed(errno.into()))?;
    let mut notes = Vec::new();
    if rustix::fs::accessat(CWD, &path, Access::WRITE_OK, AtFlags::EACCESS).is_err() {
        notes.push(RootNote::ReadOnly);
    }
    notes.extend(network(&path).map(RootNote::NetworkFileSystem));
    let called = std::path::absolute(given).ok().filter(|name| *name != path);
    Ok(ProjectRoot { path, called, notes })
}

#[cfg(target_os = "linux")]
fn network(path: &Path) -> Option<&'static str> {
    // Numbers of the kernel's `statfs`, linux/magic.h.
    #[allow(clippy::unnecessary_cast, clippy::cast_sign_loss, reason = "the field's type differs between machines")]
    match rustix::fs::statfs(path).ok()?.f_type as u32 {
        0x6969 => Some("NFS"),
        0x517B | 0xFF53_4D42 | 0xFE53_4D42 => Some("SMB"),
        0x0102_1997 => Some("9P"),
        0x5346_414F | 0x6B41_4653 => Some("AFS"),
        0x00C3_6400 => Some("Ceph"),
        0x7375_7245 => Some("Coda"),
        _ => None,
    }
}

#[cfg(not(target_os = "linux"))]
fn network(_path: &Path) -> Option<&'static str> {
    None
}

#[cfg(test)]
#[path = "project_tests.rs"]
mod tests;
