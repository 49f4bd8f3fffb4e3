//! What agents' last calls read from their providers' caches: the next is likely to find as much there.

use std::collections::HashMap;
use std::sync::Mutex;

use bosun_model::ModelInfo;
use bosun_store::StoredCall;

use crate::stream::locked;

/// Agents of which it is kept.
const MOST: usize = 500;

/// By the session of the agent: the provider, the model, and tokens.
#[derive(Default)]
pub(super) struct LastCached(Mutex<HashMap<String, (String, String, u64)>>);

impl LastCached {
    /// Takes in a call that is over. Summaries and titles read something else.
    pub(super) fn note(&self, call: &StoredCall) {
        let Some(agent) = call.agent.as_ref().filter(|_| call.purpose == "answer") else { return };
        let mut last = locked(&self.0);
        if last.len() >= MOST {
            last.clear();
        }
        let tokens = call.usage.cache_read.unwrap_or(0);
        last.insert(agent.session.to_string(), (call.provider.clone(), call.model.clone(), tokens));
    }

    /// None of another model than the last: each has a cache of its own.
    pub(super) fn of(&self, agent: &str, model: &ModelInfo) -> u64 {
        let last = locked(&self.0);
        let same = last.get(agent).filter(|(provider, name, _)| (provider, name) == (&model.provider, &model.name));
        same.map_or(0, |(_, _, tokens)| *tokens)
    }
}
