//! Where summaries of what a model thinks were refused.
//!
//! OpenAI gives them to verified organizations only, and some models never do. A connection is made anew for every turn, and an organization stays what
//! it is for longer than that, so that it is remembered as long as the program runs.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use secrecy::{ExposeSecret, SecretString};

/// What is remembered of one account (its host and its key, which is all that tells organizations apart), or of one of its
/// models.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Summaries {
    account: u64,
}

/// Accounts that are remembered.
const MOST: usize = 64;

static REFUSED: Mutex<Vec<u64>> = Mutex::new(Vec::new());

impl Summaries {
    pub(crate) fn of(host: &str, key: Option<&SecretString>) -> Self {
        let mut hasher = DefaultHasher::new();
        (host, key.map(ExposeSecret::expose_secret)).hash(&mut hasher);
        Self { account: hasher.finish() }
    }

    /// Of one model of the account.
    pub(crate) fn at(self, model: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        (self.account, model).hash(&mut hasher);
        Self { account: hasher.finish() }
    }

    pub(crate) fn are_refused(self) -> bool {
        REFUSED.lock().unwrap_or_else(PoisonError::into_inner).contains(&self.account)
    }

    /// Remembers that they are. Gives whether that is news.
    pub(crate) fn refuse(self) -> bool {
        let mut refused = REFUSED.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.contains(&self.account) {
            return false;
        }
        if refused.len() >= MOST {
            refused.remove(0);
        }
        refused.push(self.account);
        true
    }
}
