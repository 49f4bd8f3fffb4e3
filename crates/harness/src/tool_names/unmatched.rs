use std::collections::HashSet;
use std::sync::Arc;

use bosun_agent::{Limits, NoteAbout};
use bosun_backend::Backend;
use bosun_tools::SENDING_TOOLS;

use super::{is_own, missing};
use crate::stack::Blueprint;
use crate::{SubagentSpec, create};

/// Names of tools that the session's own agent is configured by.
#[derive(Clone, Copy)]
pub(crate) struct Named<'a> {
    /// The built-in tools that it is to have.
    pub built_in: &'a [String],
    /// Those that something is set for about asking.
    pub asking: &'a [String],
}

/// What is told of names that stand for no tool here, where the session's own agent works over `backend` with the tools
/// `has`. One of Bosun's own tools that somebody in its tree could have is no mistake.
pub(crate) fn unmatched(
    named: Named<'_>,
    has: HashSet<String>,
    blueprint: &Arc<Blueprint>,
    backend: &Arc<dyn Backend>,
    limits: &Limits,
) -> Vec<NoteAbout> {
    let sends = SENDING_TOOLS.iter().any(|tool| has.contains(*tool));
    let specs = if sends { &*blueprint.specs } else { &[] };
    let mut notes = Vec::new();
    notes.extend(missing(named.built_in, |name| has.contains(name)).map(|tools| NoteAbout::AgentLacks { tools }));
    let is_plain = |name: &String| is_own(name) || has.contains(name);
    let are_plain = |spec: &SubagentSpec| spec.tools.is_none() && spec.interrupt_on.keys().all(is_plain);
    if named.asking.iter().all(is_plain) && specs.iter().all(are_plain) {
        return notes;
    }
    // One that cannot be made says why when it is sent.
    let made = |spec| Some((spec, create::tools_of(spec, blueprint, backend, limits).ok()?));
    let made: Vec<(&SubagentSpec, HashSet<String>)> = specs.iter().filter_map(made).collect();
    let is_here = |name: &str| {
        is_own(name)
            || has.contains(name)
            || made.iter().any(|(_, tools)| tools.contains(name))
            || blueprint.ready.iter().any(|ready| ready.agent.tools.get(name).is_some())
    };
    notes.extend(missing(named.asking, is_here).map(|tools| NoteAbout::AskingUnknown { tools }));
    for (spec, tools) in &made {
        let name = || spec.name.clone();
        let lacks = missing(spec.tools.iter().flatten(), |name| tools.contains(name));
        notes.extend(lacks.map(|tools| NoteAbout::SubagentLacks { name: name(), tools }));
        let asking = missing(spec.interrupt_on.keys(), is_here);
        notes.extend(asking.map(|tools| NoteAbout::SubagentAskingUnknown { name: name(), tools }));
    }
    notes
}
