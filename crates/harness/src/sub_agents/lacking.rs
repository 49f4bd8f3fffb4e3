//! Tools that declared subagents name and that are not there. They work without them, and the person is told.

use std::collections::HashSet;
use std::sync::Arc;

use bosun_agent::{AgentError, EntryBody, Limits, NoteAbout, NoteKind, State, TurnContext};
use bosun_backend::Backend;
use bosun_tools::StateUpdate;
use serde_json::Value;

use crate::create;
use crate::stack::Blueprint;

/// The state field with what was told already.
const FIELD: &str = "subagents_lack";
/// Most that is told at once.
const MOST: usize = 20;
/// Longest list of tools in what is told, in characters.
const LONGEST: usize = 1_000;

/// The built-in tools that a subagent may name: all that there are where files can be deleted and commands run.
pub const SUBAGENT_TOOLS: [&str; 11] = [
    "ls",
    "read_file",
    "write_file",
    "edit_file",
    "delete",
    "glob",
    "grep",
    "execute",
    "write_todos",
    "task",
    "compact_conversation",
];

/// What the subagents lack that an agent over `backend` may send. One that cannot be made says why when it is sent.
pub(crate) fn all(blueprint: &Arc<Blueprint>, backend: &Arc<dyn Backend>, limits: &Limits) -> Vec<NoteAbout> {
    let lacking = blueprint.specs.iter().filter_map(|spec| {
        let named = spec.tools.as_deref()?;
        let has: HashSet<String> = create::tools_of(spec, blueprint, backend, limits).ok()?;
        let mut missing: Vec<&str> = Vec::new();
        for name in named.iter().filter(|name| !has.contains(*name)) {
            if !missing.contains(&name.as_str()) {
                missing.push(name);
            }
        }
        let tools: String = missing.join(", ").chars().take(LONGEST).collect();
        (!missing.is_empty()).then(|| NoteAbout::SubagentLacks { name: spec.name.clone(), tools })
    });
    lacking.take(MOST).collect()
}

/// Tells what was not told before in this session.
pub(super) async fn tell(cx: &TurnContext, lacking: &[NoteAbout]) -> Result<(), AgentError> {
    let told = cx.log().with_state(told);
    let sentences: Vec<String> = lacking.iter().map(ToString::to_string).collect();
    if sentences == told {
        return Ok(());
    }
    let fresh = lacking.iter().filter(|about| !told.contains(&about.to_string())).cloned();
    let mut entries: Vec<_> = fresh.map(|about| EntryBody::noted(NoteKind::DefinitionWrong, about)).collect();
    let update = StateUpdate { fields: vec![(FIELD.to_owned(), sentences.into())], ..StateUpdate::default() };
    entries.push(EntryBody::Updated { by: "SubAgents".to_owned(), update });
    Ok(cx.log().record(entries).await?)
}

fn told(state: &State) -> Vec<String> {
    let told = state.fields.get(FIELD).and_then(Value::as_array);
    told.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}
