use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{AtFlags, Gid, Mode, OFlags, RenameFlags, Stat, Uid, XattrFlags};
use rustix::io::Errno;

use super::aside::{Kept, keep_beside, unsupported};
use super::leftovers::{aside_name, fresh_name};
use super::read::content_figures;
use crate::ContentHash;
use crate::root::identity;

/// The new content of a file: complete, synced, with the attributes of the file it is to replace, and not yet under
/// its name. Dropped before that, it leaves nothing behind.
#[derive(Debug)]
pub(super) struct Staged {
    /// Where the content waits; the same file system as its destination.
    dir: Arc<OwnedFd>,
    file: File,
    /// `None` while it is nameless: then not even a crash leaves anything behind.
    name: Option<String>,
    /// As [`Change::stripped`](crate::Change::stripped).
    stripped: bool,
}

/// The file to be replaced, as it was when it was read.
#[derive(Clone, Copy)]
pub(super) struct Replaced<'a> {
    pub(super) file: &'a File,
    pub(super) stat: &'a Stat,
}

impl Staged {
    pub(super) fn write(dir: &Arc<OwnedFd>, bytes: &[u8], replaced: Option<Replaced<'_>>) -> std::io::Result<Self> {
        // A new file takes the usual mode; one that replaces stays private until it has the mode of the other.
        let mode = Mode::from_raw_mode(if replaced.is_some() { 0o600 } else { 0o666 });
        let mut staged = match nameless(dir.as_fd(), mode) {
            Some(file) => Self { dir: Arc::clone(dir), file, name: None, stripped: false },
            None => Self::named(dir, mode)?,
        };
        staged.file.write_all(bytes)?;
        if let Some(replaced) = replaced {
            staged.stripped = !keep_attributes(replaced, &staged.file)?;
        }
        staged.file.sync_all()?;
        Ok(staged)
    }

    fn named(dir: &Arc<OwnedFd>, mode: Mode) -> std::io::Result<Self> {
        let name = fresh_name();
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::openat(dir, &*name, flags, mode)?);
        Ok(Self { dir: Arc::clone(dir), file, name: Some(name), stripped: false })
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// As [`Change::stripped`](crate::Change::stripped).
    pub(super) fn is_stripped(&self) -> bool {
        self.stripped
    }

    /// Gives the content its name where nothing has that name.
    pub(super) fn create(&mut self, dir: BorrowedFd<'_>, name: &str) -> Result<(), Errno> {
        let Some(waiting) = self.name.as_deref() else { return link(&self.file, dir, name) };
        match rustix::fs::renameat_with(&self.dir, waiting, dir, name, RenameFlags::NOREPLACE) {
            Err(errno) if unsupported(errno) => {
                // The waiting name goes when this is dropped.
                rustix::fs::linkat(&self.dir, waiting, dir, name, AtFlags::empty())
            }
            result => {
                result?;
                self.name = None;
                Ok(())
            }
        }
    }

    /// Puts the content in the place of `name`, which has to be `old` still.
    ///
    /// Where the file system can, the two change places in one step and what came out is looked at afterwards, so
    /// that a file that somebody else saved a moment ago is put back, not lost. `recorded` are the bytes of both: of
    /// anything else nobody knows what to do after a crash.
    pub(super) fn replace(
        &mut self,
        dir: BorrowedFd<'_>,
        name: &str,
        old: Replaced<'_>,
        recorded: &[&ContentHash],
    ) -> Result<(), Outdated> {
        let waiting = self.wait_as(aside_name(name, recorded))?;
        match rustix::fs::renameat_with(&self.dir, &*waiting, dir, name, RenameFlags::EXCHANGE) {
            Ok(()) => {}
            Err(errno) if unsupported(errno) => {
                rustix::fs::renameat(&self.dir, &*waiting, dir, name)?;
                self.name = None;
                return Ok(());
            }
            Err(Errno::NOENT) => return Err(Outdated::Changed),
            Err(errno) => return Err(errno.into()),
        }
        self.settle(dir, name, &waiting, old)
    }

    /// Looks at what came out and has the waiting name now. The old file goes with this value; what is not that is put
    /// back, and where that cannot be, it stays.
    fn settle(&mut self, dir: BorrowedFd<'_>, name: &str, waiting: &str, old: Replaced<'_>) -> Result<(), Outdated> {
        let is_old = || -> Result<bool, Errno> {
            let came_out = rustix::fs::statat(&self.dir, waiting, AtFlags::SYMLINK_NOFOLLOW)?;
            let written = rustix::fs::fstat(old.file)?;
            let is_same_file = identity(&came_out) == identity(old.stat);
            Ok(is_same_file && content_figures(&written) == content_figures(old.stat))
        };
        let put_back = || rustix::fs::renameat_with(&self.dir, waiting, dir, name, RenameFlags::EXCHANGE);
        match is_old() {
            Ok(true) => Ok(()),
            Ok(false) => match put_back() {
                Ok(()) => Err(Outdated::Changed),
                Err(errno) => Err(Outdated::Kept(self.keep_apart(dir, name, waiting, errno))),
            },
            Err(errno) => Err(Outdated::Unknown(self.keep_apart(dir, name, waiting, errno))),
        }
    }

    /// Lets what has the waiting name be.
    fn keep_apart(&mut self, dir: BorrowedFd<'_>, name: &str, waiting: &str, errno: Errno) -> Kept {
        self.name = None;
        Kept { name: keep_beside(dir, name, waiting), errno }
    }

    fn wait_as(&mut self, name: String) -> Result<String, Errno> {
        match &self.name {
            None => link(&self.file, self.dir.as_fd(), &name)?,
            Some(waiting) => rustix::fs::renameat(&self.dir, &**waiting, &self.dir, &*name)?,
        }
        self.name = Some(name.clone());
        Ok(name)
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if let Some(name) = &self.name
            && let Err(errno) = rustix::fs::unlinkat(&self.dir, &**name, AtFlags::empty())
            && errno != Errno::NOENT
        {
            tracing::warn!(%name, %errno, "a temporary file stays behind");
        }
    }
}

/// Why a replacement did not happen.
#[derive(Debug)]
pub(super) enum Outdated {
    /// The file is not the one that was read.
    Changed,
    /// It was somebody else's file that came out, and it could not be put back.
    Kept(Kept),
    /// Whose file it was that came out could not be told, so that it was let be.
    Unknown(Kept),
    Fault(Errno),
}

impl From<Errno> for Outdated {
    fn from(errno: Errno) -> Self {
        Self::Fault(errno)
    }
}

/// A file without a name, where the file system has such and they can be named later.
#[cfg(target_os = "linux")]
fn nameless(dir: BorrowedFd<'_>, mode: Mode) -> Option<File> {
    static NAMEABLE: std::sync::LazyLock<bool> = std::sync::LazyLock::new(|| rustix::fs::stat("/proc/self/fd").is_ok());
    if !*NAMEABLE {
        return None;
    }
    rustix::fs::openat(dir, ".", OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, mode).ok().map(File::from)
}

#[cfg(not(target_os = "linux"))]
fn nameless(_dir: BorrowedFd<'_>, _mode: Mode) -> Option<File> {
    None
}

fn link(file: &File, dir: BorrowedFd<'_>, name: &str) -> Result<(), Errno> {
    let held = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
    rustix::fs::linkat(rustix::fs::CWD, held, dir, name, AtFlags::SYMLINK_FOLLOW)
}

/// Gives the new file the owner, the extended attributes (access lists among them) and the mode of the old one. Owner
/// and attributes that this user may not set are left out, and of the owner it is said ([`Change::handed_over`]); the
/// mode is not left out, but for the bits that would let others act as whoever owns it now. Returns whether all attributes
/// came along.
///
/// [`Change::handed_over`]: crate::Change::handed_over
fn keep_attributes(from: Replaced<'_>, to: &File) -> Result<bool, Errno> {
    // A label that every file gets by the rules of its folder.
    const LABEL: &[u8] = b"security.selinux";
    let mut own = rustix::fs::fstat(to)?;
    if (own.st_uid, own.st_gid) != (from.stat.st_uid, from.stat.st_gid) {
        let (owner, group) = (Uid::from_raw(from.stat.st_uid), Gid::from_raw(from.stat.st_gid));
        if let Err(errno) = rustix::fs::fchown(to, Some(owner), Some(group))
            && let Err(group_errno) = rustix::fs::fchown(to, None, Some(group))
        {
            tracing::debug!(%errno, %group_errno, "the owner of a file could not be kept");
        }
        own = rustix::fs::fstat(to)?;
    }
    let mut all = true;
    for (name, value) in extended_attributes(from.file) {
        if let Err(errno) = rustix::fs::fsetxattr(to, &*name, &value, XattrFlags::empty()) {
            all &= name == LABEL;
            tracing::debug!(%errno, ?name, "an extended attribute could not be kept");
        }
    }
    let mut mode = Mode::from_raw_mode(from.stat.st_mode);
    mode.set(Mode::SUID, mode.contains(Mode::SUID) && own.st_uid == from.stat.st_uid);
    mode.set(Mode::SGID, mode.contains(Mode::SGID) && own.st_gid == from.stat.st_gid);
    rustix::fs::fchmod(to, mode)?;
    Ok(all)
}

fn extended_attributes(file: &File) -> Vec<(Vec<u8>, Vec<u8>)> {
    let Ok(length) = rustix::fs::flistxattr_query(file) else { return Vec::new() };
    let mut list = vec![0_u8; length];
    let Ok(length) = rustix::fs::flistxattr(file, &mut *list) else { return Vec::new() };
    list.truncate(length);
    list.split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
        .filter_map(|name| {
            let length = rustix::fs::fgetxattr_query(file, name).ok()?;
            let mut value = vec![0_u8; length];
            let length = rustix::fs::fgetxattr(file, name, &mut *value).ok()?;
            value.truncate(length);
            Some((name.to_vec(), value))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pretty_assertions::assert_eq;

    use super::*;

    /// Somebody saved the file at the moment of the exchange, and took the new one away before it could be undone.
    #[test]
    fn what_came_out_and_cannot_be_put_back_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        fs::write(&path, "read").unwrap();
        let file = File::open(&path).unwrap();
        let stat = rustix::fs::fstat(&file).unwrap();
        let old = Replaced { file: &file, stat: &stat };
        let dir = Arc::new(OwnedFd::from(File::open(folder.path()).unwrap()));
        let mut staged = Staged::write(&dir, b"mine", Some(old)).unwrap();
        fs::remove_file(&path).unwrap();
        fs::write(&path, "saved by somebody").unwrap();
        let waiting = staged.wait_as(aside_name("a.txt", &[])).unwrap();
        rustix::fs::renameat_with(&dir, &*waiting, &dir, "a.txt", RenameFlags::EXCHANGE).unwrap();
        fs::remove_file(&path).unwrap();
        let settled = staged.settle(dir.as_fd(), "a.txt", &waiting, old);
        let Err(Outdated::Kept(Kept { name, errno })) = settled else { panic!() };
        drop(staged);
        assert_eq!(errno, Errno::NOENT);
        assert!(name.starts_with("a.txt.bosun-"), "no crash is thought to have left it: {name}");
        let names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, [name.as_str()]);
        assert_eq!(fs::read_to_string(folder.path().join(name)).unwrap(), "saved by somebody");
    }

    /// Nothing was put back then, and nobody tried: the new content is in its place.
    #[test]
    fn what_came_out_and_cannot_be_looked_at_is_not_said_to_have_been_put_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        fs::write(&path, "read").unwrap();
        let file = File::open(&path).unwrap();
        let stat = rustix::fs::fstat(&file).unwrap();
        let old = Replaced { file: &file, stat: &stat };
        let dir = Arc::new(OwnedFd::from(File::open(folder.path()).unwrap()));
        let mut staged = Staged::write(&dir, b"mine", Some(old)).unwrap();
        let waiting = staged.wait_as(aside_name("a.txt", &[])).unwrap();
        rustix::fs::renameat_with(&dir, &*waiting, &dir, "a.txt", RenameFlags::EXCHANGE).unwrap();
        fs::remove_file(folder.path().join(&waiting)).unwrap();
        let settled = staged.settle(dir.as_fd(), "a.txt", &waiting, old);
        assert!(matches!(settled, Err(Outdated::Unknown(Kept { errno: Errno::NOENT, .. }))), "{settled:?}");
        assert_eq!(fs::read_to_string(path).unwrap(), "mine");
    }
}
