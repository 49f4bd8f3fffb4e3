use bosun_agent::{AgentError, BoxFuture, EntryBody, Middleware, NoteAbout, NoteKind, State, TurnContext};
use bosun_harness::SkillSet;
use bosun_tools::StateUpdate;
use serde_json::Value;

/// The state field with what was said already.
const FIELD: &str = "definitions_wrong";
/// Most that is said at once, and characters of one sentence.
const MOST: usize = 20;
const LONGEST: usize = 1_000;

/// Tells the person what is wrong with the files of skills and subagents, and what of the project is not used, when a turn
/// begins that is the first to find it so: the agent goes without them, or not by all of what they say.
pub(crate) struct Definitions {
    /// Of subagents; what skills there are is in the state.
    subagents: Vec<String>,
    /// What of the project is not used.
    unused: Vec<NoteAbout>,
}

impl Definitions {
    pub(crate) fn new(subagents: Vec<String>, unused: Vec<NoteAbout>) -> Self {
        Self { subagents, unused }
    }

    fn wrong(&self, skills: SkillSet) -> Vec<NoteAbout> {
        let skills = skills.problems.into_iter().chain(skills.warnings);
        let skills = skills.map(|detail| NoteAbout::SkillWrong { detail: cut(&detail) });
        let subagents = self.subagents.iter().map(|detail| NoteAbout::SubagentWrong { detail: cut(detail) });
        self.unused.iter().cloned().chain(skills).chain(subagents).take(MOST).collect()
    }

    async fn tell(&self, cx: &TurnContext) -> Result<(), AgentError> {
        let (skills, told) = cx.log().with_state(|state| (SkillSet::of(state), told(state)));
        let wrong = self.wrong(skills);
        let sentences: Vec<String> = wrong.iter().map(ToString::to_string).collect();
        if sentences == told {
            return Ok(());
        }
        let fields = vec![(FIELD.to_owned(), sentences.into())];
        let update = StateUpdate { fields, ..StateUpdate::default() };
        let mut entries = vec![EntryBody::Updated { by: self.name().into(), update }];
        let fresh = wrong.into_iter().filter(|about| !told.contains(&about.to_string()));
        entries.extend(fresh.map(|about| EntryBody::noted(kind(&about), about)));
        Ok(cx.log().record(entries).await?)
    }
}

fn kind(about: &NoteAbout) -> NoteKind {
    match about {
        NoteAbout::SkillWrong { .. } | NoteAbout::SubagentWrong { .. } => NoteKind::DefinitionWrong,
        _ => NoteKind::NotUsed,
    }
}

fn told(state: &State) -> Vec<String> {
    let told = state.fields.get(FIELD).and_then(Value::as_array);
    told.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn cut(sentence: &str) -> String {
    match sentence.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", sentence.get(..end).unwrap_or_default()),
        None => sentence.to_owned(),
    }
}

impl Middleware for Definitions {
    fn name(&self) -> &'static str {
        "Definitions"
    }

    fn before_turn<'a>(&'a self, cx: &'a TurnContext) -> BoxFuture<'a, Result<StateUpdate, AgentError>> {
        Box::pin(async move {
            if cx.depth() == 0 {
                self.tell(cx).await?;
            }
            Ok(StateUpdate::default())
        })
    }
}
