//! What a search met and could not read.

use std::collections::BTreeSet;
use std::fmt;
use std::io;

use rustix::io::Errno;

use crate::{Unread, VirtualPath};

pub(crate) const OTHER_FILE_SYSTEM: &str = "it is another file system, and not searched";

/// Why something that was met was not searched to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    Failed(Errno),
    /// Something is mounted there.
    OtherFileSystem,
    /// A line is more than is held in memory.
    LongLine {
        /// Bytes.
        most: usize,
    },
}

impl From<Errno> for Why {
    fn from(errno: Errno) -> Self {
        Self::Failed(errno)
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(Errno::ACCESS | Errno::PERM) => f.write_str("permission denied"),
            Self::Failed(errno) => io::Error::from(*errno).fmt(f),
            Self::OtherFileSystem => f.write_str(OTHER_FILE_SYSTEM),
            Self::LongLine { most } => write!(f, "searched only up to a line of over {} MiB", most >> 20),
        }
    }
}

/// The first few in the order of paths, whichever thread met them first.
#[derive(Debug, Default)]
pub(super) struct FirstUnread(BTreeSet<Unread>);

impl FirstUnread {
    pub(super) fn add(&mut self, path: VirtualPath, reason: String) {
        self.0.insert(Unread { path, reason });
        if self.0.len() > Unread::MOST {
            self.0.pop_last();
        }
    }

    pub(super) fn into_sorted(self) -> Vec<Unread> {
        self.0.into_iter().collect()
    }
}
