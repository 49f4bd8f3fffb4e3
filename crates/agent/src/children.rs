use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{Host, Recorded, SessionId, SessionLog};

/// The logs of a session's subagents, for as long as they are at work or somebody looks at them. There is never more than
/// one log over a journal: one that somebody holds is not let go.
#[derive(Default)]
pub(crate) struct Children {
    open: HashMap<SessionId, Arc<SessionLog>>,
    /// Those to be let go once nobody holds them any more.
    ended: HashSet<SessionId>,
    /// How many open a log at this moment.
    openers: usize,
    /// Those that were let go while somebody did.
    gone: Vec<SessionId>,
}

impl Children {
    pub(crate) fn get(&self, child: &SessionId) -> Option<Arc<SessionLog>> {
        self.open.get(child).cloned()
    }

    pub(crate) fn all(&self) -> Vec<Arc<SessionLog>> {
        self.open.values().cloned().collect()
    }

    pub(crate) fn let_go(&mut self, child: &SessionId) {
        self.ended.insert(child.clone());
        let ended = std::mem::take(&mut self.ended);
        for child in ended {
            match self.open.get(&child) {
                // Logs are given out under this lock, and by those who hold them. What is on its way into the journal of one
                // whose work was dropped is settled by whoever comes next.
                Some(log) if Arc::strong_count(log) > 1 || !log.is_settled() => {
                    self.ended.insert(child);
                }
                Some(_) => {
                    self.open.remove(&child);
                    if self.openers > 0 {
                        self.gone.push(child);
                    }
                }
                None => {}
            }
        }
    }
}

/// Somebody opens the log of a subagent.
pub(crate) struct Opening<'a> {
    children: &'a Mutex<Children>,
    /// How many were gone when its journal was about to be read.
    gone: usize,
}

impl<'a> Opening<'a> {
    pub(crate) fn of(children: &'a Mutex<Children>) -> Self {
        let mut all = locked(children);
        all.openers += 1;
        let gone = all.gone.len();
        drop(all);
        Self { children, gone }
    }

    /// The log that there is, or the one that `open` makes of what was read; `None` where one was let go while it was read:
    /// that one may have recorded more since.
    pub(crate) fn child(
        &mut self,
        host: Arc<dyn Host>,
        entries: &[Recorded],
        open: impl FnOnce(Arc<dyn Host>, &[Recorded]) -> Arc<SessionLog>,
    ) -> Option<Arc<SessionLog>> {
        let id = host.session().clone();
        let mut all = locked(self.children);
        all.ended.remove(&id);
        if let Some(log) = all.open.get(&id) {
            return Some(Arc::clone(log));
        }
        if all.gone.iter().skip(self.gone).any(|gone| *gone == id) {
            self.gone = all.gone.len();
            return None;
        }
        let log = open(host, entries);
        all.open.insert(id, Arc::clone(&log));
        Some(log)
    }
}

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        let mut all = locked(self.children);
        all.openers -= 1;
        if all.openers == 0 {
            all.gone.clear();
        }
    }
}

fn locked(children: &Mutex<Children>) -> MutexGuard<'_, Children> {
    children.lock().unwrap_or_else(PoisonError::into_inner)
}
