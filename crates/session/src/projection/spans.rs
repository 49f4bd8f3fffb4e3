//! What a file was before and after changes of the agent, and what others made of it in between.

use bosun_backend::{ContentHash, VirtualPath};
use bosun_tools::ChangeRecord;

/// The permission bits that are looked after.
pub(crate) const RIGHTS: u32 = 0o777;

/// A file at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Form {
    /// `None`: there is no file.
    pub hash: Option<ContentHash>,
    /// Unix permission bits; `None` where they are not known, or there is no file.
    pub mode: Option<u32>,
}

impl Form {
    pub(crate) fn of(hash: Option<ContentHash>, mode: Option<u32>) -> Self {
        let mode = mode.filter(|_| hash.is_some()).map(|mode| mode & RIGHTS);
        Self { hash, mode }
    }

    pub(crate) fn before(record: &ChangeRecord) -> Self {
        Self::of(record.before.clone(), record.mode)
    }

    pub(crate) fn after(record: &ChangeRecord) -> Self {
        Self::of(record.after.clone(), record.mode_after)
    }

    /// Whether the two are the same, as far as rights are known.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.hash == other.hash && !matches!((self.mode, other.mode), (Some(one), Some(two)) if one != two)
    }
}

/// What rights become of `mode` by a change from `from` to `to`: the bits that it changed are those of `to`.
pub(crate) fn changed_rights(mode: u32, from: u32, to: u32) -> u32 {
    let changed = from ^ to;
    (mode & !changed) | (to & changed)
}

/// From a file's form before some changes to the one after them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub path: VirtualPath,
    pub before: Form,
    /// What was done in between and is none of them, in its order.
    pub between: Vec<Between>,
    pub after: Form,
}

impl Span {
    /// Whether something may be left of the changes.
    pub(crate) fn is_change(&self) -> bool {
        !self.before.is(&self.after) || !self.between.is_empty()
    }
}

/// What was made of a file between two changes of the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Between {
    pub from: Form,
    pub to: Form,
    pub how: How,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// By somebody else: a person, or another program.
    Edited,
    /// A person put it back.
    PutBack,
    /// A person put it back, and has it again.
    PutBackAndAgain,
}
