use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bosun_backend::{FileStamp, VirtualPath};
use bosun_tools::{StateUpdate, StateView, Todo};

/// What an agent would know at this point: the files as they were last read or written, and the plan. It lives as long
/// as the process.
#[derive(Debug, Default)]
pub(super) struct Memory {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    reads: HashMap<VirtualPath, FileStamp>,
    todos: Vec<Todo>,
}

impl Memory {
    /// Takes what a call changes, as the agent's reducers would.
    pub(super) fn apply(&self, update: &StateUpdate) {
        let mut known = self.known();
        if let Some(todos) = &update.todos {
            known.todos.clone_from(todos);
        }
        for (path, stamp) in &update.reads {
            match stamp {
                Some(stamp) => known.reads.insert(path.clone(), stamp.clone()),
                None => known.reads.remove(path),
            };
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StateView for Memory {
    fn read_stamp(&self, path: &VirtualPath) -> Option<FileStamp> {
        self.known().reads.get(path).cloned()
    }

    fn reads(&self) -> Vec<(VirtualPath, FileStamp)> {
        self.known().reads.iter().map(|(path, stamp)| (path.clone(), stamp.clone())).collect()
    }

    fn todos(&self) -> Vec<Todo> {
        self.known().todos.clone()
    }
}
