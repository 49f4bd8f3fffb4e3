//! What agents' last calls read from their providers' caches: the next is likely to find as much there.

use std::collections::HashMap;
use std::sync::Mutex;

use bosun_model::ModelInfo;
use bosun_store::StoredCall;

use crate::stream::locked;

/// Agents of which it is kept.
const MOST: usize = 500;

#[derive(Default)]
pub(super) struct LastCached(Mutex<Agents>);

#[derive(Default)]
struct Agents {
    /// By the session of the agent.
    last: HashMap<String, Last>,
    calls: u64,
}

struct Last {
    provider: String,
    model: String,
    tokens: u64,
    /// Which of all calls it was.
    call: u64,
}

impl LastCached {
    /// Takes in a call that is over. Summaries and titles read something else.
    pub(super) fn note(&self, call: &StoredCall) {
        let Some(agent) = call.agent.as_ref().filter(|_| call.purpose == "answer") else { return };
        let agent = agent.session.to_string();
        let Agents { last, calls } = &mut *locked(&self.0);
        *calls += 1;
        if last.len() >= MOST && !last.contains_key(&agent) {
            let longest_ago = last.iter().min_by_key(|(_, last)| last.call).map(|(agent, _)| agent.clone());
            longest_ago.and_then(|agent| last.remove(&agent));
        }
        let tokens = call.usage.cache_read.unwrap_or(0);
        let (provider, model) = (call.provider.clone(), call.model.clone());
        last.insert(agent, Last { provider, model, tokens, call: *calls });
    }

    /// None of another model than the last: each has a cache of its own.
    pub(super) fn of(&self, agent: &str, model: &ModelInfo) -> u64 {
        let agents = locked(&self.0);
        let is_same = |last: &&Last| (&last.provider, &last.model) == (&model.provider, &model.name);
        agents.last.get(agent).filter(is_same).map_or(0, |last| last.tokens)
    }
}

#[cfg(test)]
mod tests {
    use bosun_model::{ChatModel, Usage};
    use bosun_store::CallingAgent;
    use bosun_testkit::ScriptedModel;
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn of_too_many_agents_the_one_that_called_longest_ago_is_let_go() {
        let model = ScriptedModel::new([""; 0]).info().clone();
        let call = |agent: usize| StoredCall {
            session: "root".into(),
            project: "p".into(),
            at: 0,
            day: "2026-11-27".into(),
            provider: model.provider.clone(),
            model: model.name.clone(),
            purpose: "answer".into(),
            milliseconds: 1,
            usage: Usage { cache_read: Some(7), ..Usage::default() },
            cost: None,
            agent: Some(CallingAgent { session: agent.to_string().as_str().into(), name: "scout".into() }),
        };
        let cached = LastCached::default();
        (0..MOST).chain([0, MOST]).for_each(|agent| cached.note(&call(agent)));
        let known = |agent: usize| cached.of(&agent.to_string(), &model);
        assert_eq!(([0, 1, 2, MOST].map(known), locked(&cached.0).last.len()), ([7, 0, 7, 7], MOST));
    }
}
