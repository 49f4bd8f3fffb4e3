//! The project with its covers on, as the sandbox shall have it, put together before bubblewrap starts.
//!
//! Bubblewrap mounts by names, and those inside the project are in the hands of the commands that run meanwhile: a
//! folder that becomes a link at the right moment leads what is mounted, and the folders made for it, to anywhere on
//! this machine. So the new process takes a view of the file systems of its own first and puts the project there at
//! [`STAGE`], which no command can reach: every mount goes from a handle to a handle, one name at a time and never
//! through a link, and only where the object is still the one that was found. Bubblewrap then has one name to mount, with
//! all that is mounted below it.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount_change, move_mount, open_tree};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use tokio::process::Command;

use super::guard::{Cover, CoverKind};
use crate::root::{Root, identity};

/// Where the project is for bubblewrap. Every system has it, nothing of it is in the sandbox, and only this machine's
/// owner changes what it is.
pub(super) const STAGE: &str = "/run";
/// What says that something is not what it was when it was looked at.
pub(super) const REPLACED: Errno = Errno::STALE;

const BY_HANDLE: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const CLONE: OpenTreeFlags = OpenTreeFlags::OPEN_TREE_CLONE
    .union(OpenTreeFlags::OPEN_TREE_CLOEXEC)
    .union(OpenTreeFlags::AT_RECURSIVE)
    .union(OpenTreeFlags::AT_SYMLINK_NOFOLLOW);
const ONTO: MoveMountFlags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH.union(MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH);

/// All that the new process needs, so that it allocates nothing.
struct Stage {
    root: CString,
    identity: (u64, u64),
    user: CString,
    group: CString,
    covers: Vec<Step>,
    /// The trees on the way to the last one that was mounted.
    way: Vec<OwnedFd>,
}

struct Step {
    /// Folders between it and the root.
    depth: usize,
    name: CString,
    identity: (u64, u64),
    kind: CoverKind,
}

/// Makes `program` start with the project at [`STAGE`] in a view of its own, with `covers` on it, each behind those
/// above it.
///
/// # Errors
/// For a name with a NUL in it, which there is none.
#[allow(unsafe_code, reason = "the only way to do something between fork and exec")]
pub(super) fn stage(program: &mut Command, root: &Root, covers: &[Cover]) -> io::Result<()> {
    let step = |cover: &Cover| -> io::Result<Step> {
        let name = cover.path.file_name().unwrap_or_default();
        let depth = cover.path.components().count().saturating_sub(1);
        let name = CString::new(name.as_bytes())?;
        Ok(Step { depth, name, identity: cover.identity, kind: cover.kind })
    };
    let covers: Vec<Step> = covers.iter().map(step).collect::<io::Result<_>>()?;
    let deepest = covers.iter().map(|step| step.depth).max().unwrap_or_default();
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let mut stage = Stage {
        root: CString::new(root.host().as_os_str().as_bytes())?,
        identity: root.identity(),
        user: CString::new(format!("{user} {user} 1"))?,
        group: CString::new(format!("{group} {group} 1"))?,
        covers,
        way: Vec::with_capacity(deepest + 2),
    };
    // SAFETY: the closure runs in the forked child of a process with many threads. It makes system calls with what was
    // made before, and closes handles; it allocates nothing and takes no lock.
    unsafe { program.pre_exec(move || Ok(stage.set()?)) };
    Ok(())
}

impl Stage {
    #[allow(unsafe_code, reason = "for a view of its own")]
    fn set(&mut self) -> Result<(), Errno> {
        // SAFETY: handles stay shared with nobody: the table of them is not taken apart.
        unsafe { unshare_unsafe(UnshareFlags::NEWUSER | UnshareFlags::NEWNS)? };
        said(c"/proc/self/setgroups", c"deny")?;
        said(c"/proc/self/uid_map", &self.user)?;
        said(c"/proc/self/gid_map", &self.group)?;
        mount_change(c"/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
        let folder = opened(CWD, &self.root, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, self.identity)?;
        let project = open_tree(&folder, c"", CLONE | OpenTreeFlags::AT_EMPTY_PATH)?;
        set_attributes(&project, libc::MOUNT_ATTR_NODEV | libc::MOUNT_ATTR_NOSUID)?;
        let place = rustix::fs::open(STAGE, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        move_mount(&project, c"", &place, c"", ONTO)?;
        self.way.push(project);
        for at in 0..self.covers.len() {
            let Some(step) = self.covers.get(at) else { break };
            self.way.truncate(step.depth + 1);
            // One above it is gone, and it with that.
            let Some(above) = self.way.get(step.depth) else { return Err(REPLACED) };
            let tree = covered(above.as_fd(), step)?;
            self.way.push(tree);
        }
        self.way.clear();
        Ok(())
    }
}

/// Mounts the cover of `step` in the folder `above`, and gives the tree that is there now.
fn covered(above: BorrowedFd<'_>, step: &Step) -> Result<OwnedFd, Errno> {
    let place = opened(above, &step.name, BY_HANDLE, step.identity)?;
    let tree = match step.kind {
        CoverKind::Empty => open_tree(CWD, c"/dev/null", CLONE)?,
        CoverKind::InPlace | CoverKind::ReadOnly => open_tree(&place, c"", CLONE | OpenTreeFlags::AT_EMPTY_PATH)?,
    };
    if step.kind == CoverKind::ReadOnly {
        set_attributes(&tree, libc::MOUNT_ATTR_RDONLY)?;
    }
    match move_mount(&tree, c"", &place, c"", ONTO) {
        // It was taken away after it was opened.
        Err(Errno::NOENT) => Err(REPLACED),
        moved => moved.map(|()| tree),
    }
}

/// Opens `name`, which has to be the object that `expected` tells.
fn opened(above: BorrowedFd<'_>, name: &CStr, flags: OFlags, expected: (u64, u64)) -> Result<OwnedFd, Errno> {
    let handle = rustix::fs::openat(above, name, flags, Mode::empty()).map_err(|errno| match errno {
        Errno::NOENT | Errno::NOTDIR => REPLACED,
        errno => errno,
    })?;
    let found = identity(&rustix::fs::fstat(&handle)?);
    if expected == found { Ok(handle) } else { Err(REPLACED) }
}

/// Writes into a file of the system's.
fn said(file: &CStr, words: &CStr) -> Result<(), Errno> {
    let file = rustix::fs::open(file, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, words.to_bytes()).map(drop)
}

/// Adds to what holds for a tree and all that is mounted in it.
#[allow(unsafe_code, reason = "there is no safe way to this system call")]
fn set_attributes(tree: &OwnedFd, attributes: u64) -> Result<(), Errno> {
    let set = libc::mount_attr { attr_set: attributes, attr_clr: 0, propagation: 0, userns_fd: 0 };
    let flags = libc::AT_EMPTY_PATH | libc::AT_RECURSIVE;
    // SAFETY: the handle is open, the path is empty, and the structure is of the size that is said.
    let done = unsafe {
        let size = size_of::<libc::mount_attr>();
        libc::syscall(libc::SYS_mount_setattr, tree.as_raw_fd(), c"".as_ptr(), flags, &raw const set, size)
    };
    if done == 0 { Ok(()) } else { Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)) }
}
