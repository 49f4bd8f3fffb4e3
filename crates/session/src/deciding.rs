use std::collections::HashSet;
use std::sync::Arc;

use bosun_agent::{DecisionSource, EntryBody, HeldLog, SessionLog};
use bosun_model::CallId;
use bosun_protocol::{Decide, Problem};
use serde_json::Value;

use crate::actor::{Actor, Start};
use crate::recording::{Batch, record};
use crate::summing::AfterSummary;
use crate::{SessionError, convert};

/// Takes decisions for any number of sessions and their subagents: all are checked before any is stored, all are stored
/// in one transaction, and then what rested goes on.
///
/// The turns of all of them are held meanwhile, so that of two who decide the same call exactly one does.
pub(crate) async fn decide(mut by_root: Vec<(Arc<Actor>, Vec<Decide>)>) -> Result<(), SessionError> {
    refuse_twins(&by_root)?;
    // Everyone who holds several turns takes them in this order.
    by_root.sort_by(|(a, _), (b, _)| a.log.session().cmp(b.log.session()));
    let mut turns = Vec::with_capacity(by_root.len());
    for (actor, _) in &by_root {
        turns.push(actor.turn().await);
    }
    let mut wanted = Vec::new();
    for (actor, decisions) in &by_root {
        for decide in decisions {
            wanted.push(Wanted { actor, log: actor.find(&decide.session).await?, decide });
        }
    }
    let logs = distinct(&wanted);
    let mut held = Vec::with_capacity(logs.len());
    for log in &logs {
        held.push(log.hold().await?);
    }
    let mut batches = Vec::with_capacity(held.len());
    for held in &held {
        batches.push(batch(held, &wanted).await?);
    }
    let resting: Vec<&Arc<Actor>> =
        by_root.iter().zip(&turns).filter(|(_, turn)| turn.is_resting()).map(|((actor, _), _)| actor).collect();
    resting.iter().for_each(|actor| actor.set_running(true));
    let entries: Vec<_> = batches.iter().map(|batch| batch.entries.clone()).collect();
    if let Err(error) = record(batches).await {
        resting.iter().for_each(|actor| actor.set_running(false));
        return Err(error.into());
    }
    held.into_iter().zip(entries).for_each(|(held, entries)| held.apply(&entries));
    for ((actor, _), turn) in by_root.iter().zip(&mut turns) {
        if turn.is_resting() {
            actor.run(turn, Start::ByItself(actor.prepare().await?));
        } else {
            actor.waits_for_summary(AfterSummary::Decided);
        }
    }
    Ok(())
}

impl Actor {
    /// Has a turn that rests ask anew what `decide` was to answer, where that is not stored as it was shown: only a turn
    /// can ask.
    pub(crate) async fn ask_anew(self: &Arc<Self>, decide: &Decide) -> Result<(), SessionError> {
        let mut turn = self.turn().await;
        let log = self.find(&decide.session).await?;
        let call_id = CallId::new(decide.call_id.as_str());
        let is_unfit = log
            .with_state(|state| state.open_call(&call_id).is_some_and(|open| open.is_waiting() && !open.is_as_shown()));
        if is_unfit && turn.is_resting() && self.log.with_state(|state| state.turn.is_some()) {
            let draft = self.prepare().await?;
            self.set_running(true);
            self.run(&mut turn, Start::ByItself(draft));
        }
        Ok(())
    }
}

/// A decision with the log that its call waits in.
struct Wanted<'a> {
    actor: &'a Arc<Actor>,
    log: Arc<SessionLog>,
    decide: &'a Decide,
}

fn refuse_twins(by_root: &[(Arc<Actor>, Vec<Decide>)]) -> Result<(), SessionError> {
    let mut seen = HashSet::new();
    for decide in by_root.iter().flat_map(|(_, decisions)| decisions) {
        if !seen.insert((&decide.session, &decide.call_id)) {
            return Err(SessionError::invalid(Problem::AnsweredTwice { call: decide.call_id.to_string() }));
        }
    }
    Ok(())
}

/// The logs, each once, in the order in which several are held.
fn distinct(wanted: &[Wanted<'_>]) -> Vec<Arc<SessionLog>> {
    let mut logs: Vec<Arc<SessionLog>> = wanted.iter().map(|wanted| Arc::clone(&wanted.log)).collect();
    logs.sort_by(|a, b| a.session().cmp(b.session()));
    logs.dedup_by(|a, b| a.session() == b.session());
    logs
}

/// The decisions for one log, checked.
async fn batch(held: &HeldLog<'_>, wanted: &[Wanted<'_>]) -> Result<Batch, SessionError> {
    let mut bodies = Vec::new();
    let mut place = None;
    for Wanted { actor, log, decide } in wanted.iter().filter(|wanted| wanted.log.session() == held.session()) {
        let agent = actor.agent().await?;
        let check = |name: &str, args: &Value| match agent.tools.get(name) {
            Some(tool) => tool.validate(args).map_err(|error| error.to_string()),
            None => Err(format!("there is no tool '{name}' any more")),
        };
        let call_id = CallId::new(decide.call_id.as_str());
        let decision = convert::decision(decide.decision.clone());
        let record = log.checked(&call_id, Some(&decide.digest), decision, DecisionSource::Person, &check)?;
        bodies.push(EntryBody::Decided { call_id, record });
        place = Some((Arc::clone(&actor.tree), actor.stream_of(log.session()).ok_or_else(SessionError::no_session)?));
    }
    let (tree, stream) = place.ok_or_else(SessionError::no_session)?;
    Ok(Batch { tree, stream, session: held.session().clone(), entries: held.stamped(bodies) })
}
