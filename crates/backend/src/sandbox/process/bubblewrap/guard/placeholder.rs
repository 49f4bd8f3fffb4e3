use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::root::{FOLDER, Root, file_type, size};

/// What nobody else gives to something empty: by it a placeholder is known that was left behind by a crash.
const FOLDER_MODE: u32 = 0o1555;
const FILE_MODE: u32 = 0o1444;
/// Bytes that the text of one has at most.
const MAX_TEXT: u64 = 8;

/// Something that stands where there is nothing, to be mounted over while commands run.
///
/// Commands that run may turn any folder into a link at any moment: everything here is done to a name in a folder that
/// is held open.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) struct Placeholder(PathBuf);

/// What it is. Where it matters to nobody it is a folder, also where a file would be: git, copies and searches pass an
/// empty folder over, while they would take an empty file along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stand {
    Folder,
    /// A socket, which git passes over as well, with `/dev/null` in its place: programs that are run in the project read
    /// it, and have to find it empty.
    Unread,
    /// A file that git reads, in a folder of git's.
    File(&'static str),
}

impl Placeholder {
    pub(super) fn is_one(root: &Root, path: &Path, found: &Stat) -> bool {
        // What the umask takes, and what a folder gets from the one it is in, do not tell.
        let has = |mode: u32, inherited: u32| bits(found) & !(mode & 0o777) & !inherited == mode & 0o7000;
        match file_type(found) {
            FileType::Directory => has(FOLDER_MODE, 0o2000) && is_empty(root, path),
            FileType::Socket => has(FILE_MODE, 0),
            FileType::RegularFile => has(FILE_MODE, 0) && size(found) <= MAX_TEXT,
            _ => false,
        }
    }

    /// Makes it, and the folders on the way to it that are missing too. What was made is put into `made`.
    pub(super) fn make(root: &Root, path: &Path, stand: Stand, made: &mut Vec<Self>) -> Result<(), Errno> {
        let (above, name) = parts(path)?;
        let folder = Self::folder(root, above, made)?;
        let created = match stand {
            Stand::Folder => rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(FOLDER_MODE as _)),
            Stand::Unread => socket(&folder, name),
            Stand::File(text) => file(&folder, name, text),
        };
        match created {
            Ok(()) => made.push(Self(path.to_owned())),
            // Another command's, or one that was left behind.
            Err(Errno::EXIST) => {
                let found = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
                if Self::is_one(root, path, &found) {
                    made.push(Self(path.to_owned()));
                }
            }
            Err(errno) => return Err(errno),
        }
        Ok(())
    }

    /// A folder on the way, made where it is missing. The command may put other things into it, which then stay.
    fn folder(root: &Root, path: &Path, made: &mut Vec<Self>) -> Result<OwnedFd, Errno> {
        match root.open_direct(path, FOLDER) {
            Err(Errno::NOENT) => {
                let (above, name) = parts(path)?;
                rustix::fs::mkdirat(Self::folder(root, above, made)?, name, Mode::from_raw_mode(0o777))?;
                made.push(Self(path.to_owned()));
                root.open_direct(path, FOLDER)
            }
            opened => opened,
        }
    }

    /// Goes only where it is empty: what somebody else put there meanwhile stays.
    pub(in super::super) fn remove(&self, root: &Root) {
        if let Err(error) = self.taken_from(root) {
            tracing::debug!(%error, path = %self.0.display(), "a placeholder was gone or is one no more");
        }
    }

    fn taken_from(&self, root: &Root) -> io::Result<()> {
        let (above, name) = parts(&self.0)?;
        let folder = root.open_direct(above, FOLDER)?;
        let found = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let how = match file_type(&found) {
            FileType::Directory => AtFlags::REMOVEDIR,
            _ if Self::is_one(root, &self.0, &found) => AtFlags::empty(),
            _ => return Ok(()),
        };
        Ok(rustix::fs::unlinkat(&folder, name, how)?)
    }
}

/// The folder that a path is in, and its name there.
fn parts(path: &Path) -> Result<(&Path, &Path), Errno> {
    let name = path.file_name().ok_or(Errno::INVAL)?;
    Ok((path.parent().unwrap_or(Path::new("")), Path::new(name)))
}

#[allow(clippy::useless_conversion, reason = "the field's type differs between systems")]
fn bits(stat: &Stat) -> u32 {
    Mode::from_raw_mode(stat.st_mode).bits().into()
}

fn is_empty(root: &Root, path: &Path) -> bool {
    let entries = root.open_direct(path, FOLDER).and_then(|folder| Dir::read_from(&folder));
    entries.is_ok_and(|mut entries| {
        entries.all(|entry| entry.is_ok_and(|entry| matches!(entry.file_name().to_bytes(), b"." | b"..")))
    })
}

fn file(folder: &OwnedFd, name: &Path, text: &str) -> Result<(), Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(folder, name, flags, Mode::from_raw_mode(FILE_MODE as _))?;
    let written = File::from(file).write_all(text.as_bytes());
    written.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

#[cfg(target_os = "linux")]
fn socket(folder: &OwnedFd, name: &Path) -> Result<(), Errno> {
    rustix::fs::mknodat(folder, name, FileType::Socket, Mode::from_raw_mode(FILE_MODE), 0)
}

/// Bubblewrap is Linux's.
#[cfg(not(target_os = "linux"))]
fn socket(_folder: &OwnedFd, _name: &Path) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}
