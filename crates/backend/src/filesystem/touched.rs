use std::time::SystemTime;

use rustix::fs::Stat;

use crate::VirtualPath;
use crate::root::{Links, NAME, Root, identity};

use super::read::{RECENT_NS, figures};

/// What tells, without reading it, whether a file is the one that it was: which it is, how large, and when it and anything
/// about it was changed last. The last of these nobody can set back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileMark(Option<Figures>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Figures {
    identity: (u64, u64),
    size: u64,
    modified: i64,
    changed: i64,
}

impl FileMark {
    /// What is at `path`, also nothing.
    pub(super) fn of(root: &Root, path: &VirtualPath) -> Self {
        let found = root.open_path(path, NAME, Links::Follow);
        Self(found.and_then(rustix::fs::fstat).ok().map(|stat| Figures::of(&stat)))
    }

    /// Whether it was touched so long ago that every later change shows.
    pub fn is_settled(&self) -> bool {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
        let now = i64::try_from(now).unwrap_or(i64::MAX);
        self.0.is_none_or(|figures| figures.changed.max(figures.modified) < now.saturating_sub(RECENT_NS))
    }
}

impl Figures {
    fn of(stat: &Stat) -> Self {
        let (size, modified, changed, changed_ns) = figures(stat);
        let changed = changed.saturating_mul(1_000_000_000).saturating_add(changed_ns);
        Self { identity: identity(stat), size, modified, changed }
    }
}
