//! A project folder held open. Every path that a tool names is opened below this handle in one step, by rules that
//! the kernel enforces at the moment of opening. Nothing is ever resolved, checked and then opened by its name: a link
//! swapped in between would lead out.

mod links;
#[cfg(target_os = "linux")]
mod openat2;
mod place;
mod stepwise;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::fault::{fault, io_fault};
use crate::{BackendError, VirtualPath};

pub(crate) use place::{FinalLink, Place};

/// What opening does with symbolic links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Links {
    /// Followed while they stay below the root.
    Follow,
    /// An error anywhere in the path, so that the object opened is the one of exactly this name.
    Refuse,
}

/// Whether other file systems mounted below the root belong to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mounts {
    /// They lead out of the root, as a link may.
    #[default]
    Refuse,
    Cross,
}

/// Flags for reading a file: never waits (a pipe without a writer), never takes a terminal.
pub(crate) const READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);
/// Flags for reading and syncing a folder.
pub(crate) const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// Flags for naming an object without opening it.
#[cfg(target_os = "linux")]
pub(crate) const NAME: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
pub(crate) const NAME: OFlags = READ;

#[derive(Debug)]
pub(crate) struct Root {
    dir: OwnedFd,
    /// As it was given, made absolute.
    host: PathBuf,
    /// With its links resolved.
    real: PathBuf,
    /// What else it is called, by somebody who came to it through a link.
    called: Vec<PathBuf>,
    device: u64,
    inode: u64,
    mounts: Mounts,
    opener: Opener,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opener {
    #[cfg(target_os = "linux")]
    Kernel,
    /// Kernels before 5.6, containers that forbid `openat2`, and other systems.
    Stepwise,
}

impl Root {
    pub(crate) fn open(host: &Path, mounts: Mounts) -> Result<Self, BackendError> {
        let at_root = |error: &std::io::Error| match fault_kind(error) {
            Errno::NOENT => BackendError::RootGone,
            _ => io_fault(error, &VirtualPath::root()),
        };
        let host = std::path::absolute(host).map_err(|error| at_root(&error))?;
        let dir = rustix::fs::open(&host, FOLDER, Mode::empty()).map_err(|errno| at_root(&errno.into()))?;
        let real = std::fs::canonicalize(&host).map_err(|error| at_root(&error))?;
        let stat = rustix::fs::fstat(&dir).map_err(|errno| at_root(&errno.into()))?;
        let (device, inode) = identity(&stat);
        let opener = Opener::choose(dir.as_fd());
        Ok(Self { dir, host, real, called: Vec::new(), device, inode, mounts, opener })
    }

    pub(crate) fn open_stepwise(host: &Path, mounts: Mounts) -> Result<Self, BackendError> {
        Ok(Self { opener: Opener::Stepwise, ..Self::open(host, mounts)? })
    }

    /// The same folder, whatever is called like it by now, with the file systems that are mounted below it.
    pub(crate) fn across_mounts(&self) -> Result<Self, BackendError> {
        let dir = self.dir.try_clone().map_err(|error| io_fault(&error, &VirtualPath::root()))?;
        let (host, real, called) = (self.host.clone(), self.real.clone(), self.called.clone());
        let (device, inode, opener) = (self.device, self.inode, self.opener);
        Ok(Self { dir, host, real, called, device, inode, mounts: Mounts::Cross, opener })
    }

    /// The same folder, called `names` too. They are only read in paths, and nothing is opened by them.
    pub(crate) fn called(self, names: &[PathBuf]) -> Self {
        let called = names.iter().filter_map(|name| std::path::absolute(name).ok()).collect();
        Self { called, ..self }
    }

    pub(crate) fn handle(&self) -> BorrowedFd<'_> {
        self.dir.as_fd()
    }

    pub(crate) fn host(&self) -> &Path {
        &self.host
    }

    /// With its links resolved.
    pub(crate) fn real(&self) -> &Path {
        &self.real
    }

    pub(crate) fn host_path(&self, path: &VirtualPath) -> PathBuf {
        if path.is_root() { self.host.clone() } else { self.host.join(path.relative()) }
    }

    /// Which folder this is, whatever it is called.
    pub(crate) fn identity(&self) -> (u64, u64) {
        (self.device, self.inode)
    }

    /// # Errors
    /// [`BackendError::RootGone`] when the folder was deleted, moved, unmounted or replaced: the handle would still
    /// work, on something that is no longer the project.
    pub(crate) fn check_alive(&self) -> Result<(), BackendError> {
        match rustix::fs::stat(&self.host) {
            Ok(stat) if identity(&stat) == self.identity() => Ok(()),
            Ok(_) | Err(Errno::NOENT | Errno::NOTDIR | Errno::STALE | Errno::NODEV) => Err(BackendError::RootGone),
            Err(errno) => Err(fault(errno, &VirtualPath::root())),
        }
    }

    /// Opens `path` below the root.
    pub(crate) fn open_path(&self, path: &VirtualPath, flags: OFlags, links: Links) -> Result<OwnedFd, Errno> {
        self.open_relative(path.relative(), flags, links)
    }

    pub(crate) fn open_relative(&self, relative: &str, flags: OFlags, links: Links) -> Result<OwnedFd, Errno> {
        let relative = if relative.is_empty() { "." } else { relative };
        match self.opener {
            #[cfg(target_os = "linux")]
            Opener::Kernel => match openat2::open(self.dir.as_fd(), relative, flags, links, self.mounts) {
                // The kernel refuses every absolute link, also one that comes back into the root.
                Err(Errno::XDEV) if links == Links::Follow => {
                    let direct = self.untangle(relative)?;
                    openat2::open(self.dir.as_fd(), or_dot(&direct), flags, Links::Refuse, self.mounts)
                }
                result => result,
            },
            Opener::Stepwise => {
                let direct = if links == Links::Follow { self.untangle(relative)? } else { relative.to_owned() };
                stepwise::open(self.dir.as_fd(), or_dot(&direct), flags, self.mounts)
            }
        }
    }

    /// Opens what is at `relative`, whatever bytes its names are, never through a link. With [`NAME`] and `NOFOLLOW` a
    /// link at its end is what is opened.
    pub(crate) fn open_direct(&self, relative: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        let relative = if relative.as_os_str().is_empty() { Path::new(".") } else { relative };
        self.open_child(self.dir.as_fd(), relative, flags)
    }

    /// Opens `name` in a folder of this root, never through a link.
    pub(crate) fn open_child(
        &self,
        folder: BorrowedFd<'_>,
        name: impl AsRef<Path>,
        flags: OFlags,
    ) -> Result<OwnedFd, Errno> {
        match self.opener {
            #[cfg(target_os = "linux")]
            Opener::Kernel => openat2::open(folder, name, flags, Links::Refuse, self.mounts),
            Opener::Stepwise => stepwise::open(folder, name, flags, self.mounts),
        }
    }

    /// Opens a regular file for reading and says what it is.
    pub(crate) fn open_file(&self, path: &VirtualPath) -> Result<(OwnedFd, Stat), BackendError> {
        let found = self.open_path(path, READ, Links::Follow).map_err(|errno| fault(errno, path))?;
        let stat = rustix::fs::fstat(&found).map_err(|errno| fault(errno, path))?;
        require_regular(&stat, path)?;
        Ok((found, stat))
    }
}

impl Opener {
    #[cfg(target_os = "linux")]
    fn choose(dir: BorrowedFd<'_>) -> Self {
        match openat2::open(dir, ".", NAME, Links::Refuse, Mounts::Refuse) {
            Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => Self::Stepwise,
            _ => Self::Kernel,
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn choose(_dir: BorrowedFd<'_>) -> Self {
        Self::Stepwise
    }
}

fn or_dot(relative: &str) -> &str {
    if relative.is_empty() { "." } else { relative }
}

fn fault_kind(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

#[allow(clippy::unnecessary_cast, clippy::useless_conversion, reason = "the fields' types differ between systems")]
pub(crate) fn identity(stat: &Stat) -> (u64, u64) {
    (stat.st_dev as u64, stat.st_ino as u64)
}

pub(crate) fn file_type(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// Bytes.
pub(crate) fn size(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

/// Nanoseconds since 1970.
#[allow(clippy::unnecessary_cast, reason = "the fields' types differ between systems")]
pub(crate) fn modified_ns(stat: &Stat) -> i64 {
    (stat.st_mtime as i64).saturating_mul(1_000_000_000).saturating_add(stat.st_mtime_nsec as i64)
}

pub(crate) fn require_regular(stat: &Stat, path: &VirtualPath) -> Result<(), BackendError> {
    let kind = match file_type(stat) {
        FileType::RegularFile => return Ok(()),
        FileType::Directory => return Err(BackendError::IsADirectory { path: path.clone() }),
        FileType::Fifo => "named pipe",
        FileType::Socket => "socket",
        FileType::CharacterDevice | FileType::BlockDevice => "device",
        FileType::Symlink => "link",
        FileType::Unknown => "special file",
    };
    Err(BackendError::NotRegular { path: path.clone(), kind })
}

#[cfg(test)]
#[path = "root_tests.rs"]
mod tests;
