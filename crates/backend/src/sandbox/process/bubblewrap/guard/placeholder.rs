use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, Stat};
use rustix::io::Errno;

use crate::root::{FOLDER, Root, file_type};

/// What nobody else gives to something empty: by it a placeholder is known that was left behind by a crash.
const FOLDER_MODE: u32 = 0o1555;
const SOCKET_MODE: u32 = 0o1444;

/// Something empty that stands where there is nothing, to be mounted over while commands run.
///
/// It is a folder, also where a file would be: git, copies and searches pass an empty folder over, while they would take
/// an empty file along. Only what ordinary programs read is none, but a socket, which git passes over as well, with
/// `/dev/null` in its place.
///
/// Commands that run may turn any folder into a link at any moment: everything here is done to a name in a folder that
/// is held open.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) struct Placeholder(PathBuf);

impl Placeholder {
    /// Whether programs that are run in a project read it, and have to find it empty.
    pub(super) fn is_read(path: &Path) -> bool {
        path.file_name().is_some_and(|name| name == "config" || name == ".npmrc")
    }

    pub(super) fn is_one(root: &Root, path: &Path, found: &Stat) -> bool {
        // What the umask takes, and what a folder gets from the one it is in, do not tell.
        let has = |mode: u32, inherited: u32| bits(found) & !(mode & 0o777) & !inherited == mode & 0o7000;
        match file_type(found) {
            FileType::Directory => has(FOLDER_MODE, 0o2000) && is_empty(root, path),
            FileType::Socket => has(SOCKET_MODE, 0),
            _ => false,
        }
    }

    /// Makes it, and a folder on the way to it that is missing too. What was made is put into `made`.
    pub(super) fn make(root: &Root, path: &Path, made: &mut Vec<Self>) -> Result<(), Errno> {
        let (above, name) = parts(path)?;
        let folder = match root.open_direct(above, FOLDER) {
            Err(Errno::NOENT) => {
                let (outer, inner) = parts(above)?;
                // The command may put other things into it, which then stay.
                rustix::fs::mkdirat(root.open_direct(outer, FOLDER)?, inner, Mode::from_raw_mode(0o777))?;
                made.push(Self(above.to_owned()));
                root.open_direct(above, FOLDER)?
            }
            opened => opened?,
        };
        let created = if Self::is_read(path) {
            socket(&folder, name)
        } else {
            rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(FOLDER_MODE as _))
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

#[cfg(target_os = "linux")]
fn socket(folder: &OwnedFd, name: &Path) -> Result<(), Errno> {
    rustix::fs::mknodat(folder, name, FileType::Socket, Mode::from_raw_mode(SOCKET_MODE), 0)
}

/// Bubblewrap is Linux's.
#[cfg(not(target_os = "linux"))]
fn socket(_folder: &OwnedFd, _name: &Path) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}
