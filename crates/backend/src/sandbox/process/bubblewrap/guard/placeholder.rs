use std::fs::{self, DirBuilder, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// What nobody else gives to something empty: by it a placeholder is known that was left behind by a crash.
const FOLDER_MODE: u32 = 0o1555;
const SOCKET_MODE: u32 = 0o1444;

/// Something empty that stands where there is nothing, to be mounted over while commands run.
///
/// It is a folder, also where a file would be: git, copies and searches pass an empty folder over, while they would take
/// an empty file along. Only what ordinary programs read is none, but a socket, which git passes over as well, with
/// `/dev/null` in its place.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) struct Placeholder(PathBuf);

impl Placeholder {
    /// Whether programs that are run in a project read it, and have to find it empty.
    pub(super) fn is_read(path: &Path) -> bool {
        path.file_name().is_some_and(|name| name == "config" || name == ".npmrc")
    }

    pub(super) fn is_one(path: &Path, found: &Metadata) -> bool {
        let mode = found.mode() & 0o7777;
        match found.is_dir() {
            true => mode == FOLDER_MODE && fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none()),
            false => found.file_type().is_socket() && mode == SOCKET_MODE,
        }
    }

    /// Makes it, and a folder on the way to it that is missing too. What was made is put into `made`.
    pub(super) fn make(root: &Path, path: &Path, made: &mut Vec<Self>) -> io::Result<()> {
        let above = path.parent().filter(|above| *above != root && above.starts_with(root));
        if let Some(above) = above
            && fs::symlink_metadata(above).is_err_and(|error| error.kind() == ErrorKind::NotFound)
        {
            // The command may put other things into it, which then stay.
            fs::create_dir(above)?;
            made.push(Self(above.to_owned()));
        }
        let created = if Self::is_read(path) { socket(path) } else { DirBuilder::new().mode(FOLDER_MODE).create(path) };
        match created {
            // The umask took from it.
            Ok(()) => {
                made.push(Self(path.to_owned()));
                let mode = if Self::is_read(path) { SOCKET_MODE } else { FOLDER_MODE };
                fs::set_permissions(path, fs::Permissions::from_mode(mode))
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                // Another command's, or one that was left behind.
                if fs::symlink_metadata(path).is_ok_and(|found| Self::is_one(path, &found)) {
                    made.push(Self(path.to_owned()));
                }
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Goes only where it is empty: what somebody else put there meanwhile stays.
    pub(in super::super) fn remove(&self) {
        let path = &self.0;
        let removed = match fs::symlink_metadata(path) {
            Ok(found) if found.is_dir() => fs::remove_dir(path),
            Ok(found) if Self::is_one(path, &found) => fs::remove_file(path),
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = removed {
            tracing::debug!(%error, path = %path.display(), "a placeholder was gone or is one no more");
        }
    }
}

#[cfg(target_os = "linux")]
fn socket(path: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    Ok(mknodat(CWD, path, FileType::Socket, Mode::from_raw_mode(SOCKET_MODE), 0)?)
}

/// Bubblewrap is Linux's.
#[cfg(not(target_os = "linux"))]
fn socket(_path: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}
