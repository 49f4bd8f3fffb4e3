use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::guard::Placeholder;
use crate::root::Root;

/// What commands that run have placeholders for. They go with the last command: one that is taken away from under a
/// running one would take its cover with it.
#[derive(Default)]
pub(super) struct Covering {
    pub(super) commands: usize,
    placeholders: Vec<Placeholder>,
}

/// One for all sandboxes of a folder, by device and inode: several sessions may work in it.
static COVERINGS: Mutex<Coverings> = Mutex::new(BTreeMap::new());

type Coverings = BTreeMap<(u64, u64), Weak<Mutex<Covering>>>;

impl Covering {
    pub(super) fn of(root: &Root) -> Arc<Mutex<Self>> {
        let mut known = COVERINGS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(covering) = known.get(&root.identity()).and_then(Weak::upgrade) {
            return covering;
        }
        known.retain(|_, covering| covering.strong_count() > 0);
        let covering = Arc::default();
        known.insert(root.identity(), Arc::downgrade(&covering));
        covering
    }

    pub(super) fn add(&mut self, made: Vec<Placeholder>) {
        for placeholder in made {
            if !self.placeholders.contains(&placeholder) {
                self.placeholders.push(placeholder);
            }
        }
    }

    pub(super) fn clear_where_idle(&mut self, root: &Root) {
        if self.commands == 0 {
            // What is in a folder goes before it.
            self.placeholders.drain(..).rev().for_each(|placeholder| placeholder.remove(root));
        }
    }
}
