//! Members of a stack that are the user's own.

use std::fmt;
use std::sync::Arc;

use bosun_agent::Middleware;

/// Some of the user's own members, outermost first. One that carries the name of a built-in member stands in its place;
/// all others stand together at the place for them. Two lists are the same if they hold the very same members.
#[derive(Clone, Default)]
pub struct Members(Vec<Arc<dyn Middleware>>);

impl Members {
    /// `member`, or the last of these that carries its name.
    pub(crate) fn in_place_of(&self, member: Arc<dyn Middleware>) -> Arc<dyn Middleware> {
        self.0.iter().rev().find(|own| own.name() == member.name()).cloned().unwrap_or(member)
    }

    /// Those that stand for none of `stack`.
    pub(crate) fn beside(&self, stack: &[Arc<dyn Middleware>]) -> Vec<Arc<dyn Middleware>> {
        let is_own = |own: &&Arc<dyn Middleware>| stack.iter().all(|member| member.name() != own.name());
        self.0.iter().filter(is_own).cloned().collect()
    }

    /// These, and `more` behind them.
    pub(crate) fn and(&self, more: &Self) -> Self {
        self.0.iter().chain(&more.0).cloned().collect()
    }
}

impl FromIterator<Arc<dyn Middleware>> for Members {
    fn from_iter<I: IntoIterator<Item = Arc<dyn Middleware>>>(members: I) -> Self {
        Self(members.into_iter().collect())
    }
}

impl fmt::Debug for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|member| member.name())).finish()
    }
}

impl PartialEq for Members {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(|(ours, theirs)| Arc::ptr_eq(ours, theirs))
    }
}

impl Eq for Members {}
