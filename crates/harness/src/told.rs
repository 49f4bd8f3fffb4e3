//! What a person is told once in a session: that something they set up, or a file of theirs, is not used as it is.

use bosun_agent::{AgentError, EntryBody, NoteAbout, NoteKind, State, TurnContext};
use bosun_tools::StateUpdate;
use serde_json::Value;

/// The state field with what was told already.
const FIELD: &str = "told_once";
/// Most that is told at once.
const MOST: usize = 20;

/// Tells what was not told before in this session. A subagent has its parent's settings, and nothing to tell.
pub(crate) async fn tell(cx: &TurnContext, by: &str, notes: &[NoteAbout]) -> Result<(), AgentError> {
    if notes.is_empty() || cx.depth() > 0 {
        return Ok(());
    }
    let mut told = cx.log().with_state(told);
    let is_fresh = |about: &&NoteAbout| !told.contains(&about.to_string());
    let fresh: Vec<NoteAbout> = notes.iter().filter(is_fresh).take(MOST).cloned().collect();
    if fresh.is_empty() {
        return Ok(());
    }
    told.extend(fresh.iter().map(ToString::to_string));
    let update = StateUpdate { fields: vec![(FIELD.to_owned(), told.into())], ..StateUpdate::default() };
    let mut entries = vec![EntryBody::Updated { by: by.to_owned(), update }];
    entries.extend(fresh.into_iter().map(|about| EntryBody::noted(kind(&about), about)));
    Ok(cx.log().record(entries).await?)
}

fn kind(about: &NoteAbout) -> NoteKind {
    match about {
        NoteAbout::SubagentLacks { .. } => NoteKind::DefinitionWrong,
        _ => NoteKind::NotUsed,
    }
}

fn told(state: &State) -> Vec<String> {
    let told = state.fields.get(FIELD).and_then(Value::as_array);
    told.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}
