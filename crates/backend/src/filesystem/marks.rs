//! The marks of `chattr`. They stand above the mode bits, and for the superuser too.

use std::os::fd::AsFd;

use crate::{BackendError, VirtualPath};

/// Refuses a file, or a folder to change something in (`"."`), that is marked as one that nobody may change: before
/// anything is prepared or recorded, because such a folder would keep what was put into it.
pub(super) fn require_unmarked(dir: impl AsFd, name: &str, path: &VirtualPath) -> Result<(), BackendError> {
    if is_marked(dir, name) { Err(BackendError::Immutable { path: path.clone() }) } else { Ok(()) }
}

/// Where nothing can be told of marks, the system refuses the act itself.
#[cfg(target_os = "linux")]
fn is_marked(dir: impl AsFd, name: &str) -> bool {
    use rustix::fs::{AtFlags, StatxAttributes, StatxFlags, statx};
    let kept = StatxAttributes::IMMUTABLE | StatxAttributes::APPEND;
    let found = statx(dir, name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::empty());
    found.is_ok_and(|found| found.stx_attributes.intersects(kept))
}

#[cfg(not(target_os = "linux"))]
fn is_marked(_dir: impl AsFd, _name: &str) -> bool {
    false
}

#[cfg(test)]
#[path = "marks_tests.rs"]
mod tests;
