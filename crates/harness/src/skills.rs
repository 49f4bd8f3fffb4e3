mod builtin;
mod disclosed;
mod load;
mod skill;
mod text;

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use bosun_agent::{AgentError, BoxFuture, Middleware, NextModel, NextTool, NoteAbout, State, TurnContext};
use bosun_backend::{Backend, VirtualPath};
use bosun_model::{AiMessage, ChatRequest, ToolCall};
use bosun_tools::{StateField, StateUpdate, ToolKind, ToolOutput};
use serde::{Deserialize, Serialize};

use crate::offered::Offered;
use crate::{fitting, prompt, told};
pub use builtin::{BuiltinSkill, builtin_skill_files, builtin_skills};
pub use skill::{PinnedSkill, Skill, SkillError, SkillWarning};

/// The state field with the [`SkillSet`] in force.
pub const SKILLS_FIELD: &str = "skills";

/// What may be set about skills.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SkillsOptions {
    /// Bosun's own skills, below all other sources.
    pub builtin: bool,
    /// Where their files are mounted ([`builtin_skill_files`]). Without a place `read_file` finds them at
    /// `/skills/builtin`, and nothing else does.
    #[serde(skip)]
    pub builtin_at: Option<VirtualPath>,
    /// Folders of skills, low to high: of two skills with one name the later one counts. A project's own belong here
    /// only if the person trusts the project.
    pub sources: Vec<SkillSource>,
    /// Skills whose whole text stands in the prompt from the beginning, as far as the model's window has room for it.
    pub pinned: Vec<String>,
    /// Folders of skills that are left out, as if they were not there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub off: Vec<VirtualPath>,
}

impl SkillsOptions {
    pub fn is_empty(&self) -> bool {
        !self.builtin && self.sources.is_empty()
    }
}

/// A folder of skills: `<path>/<name>/SKILL.md`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkillSource {
    pub path: VirtualPath,
    /// How the source is called; made from the path where it is missing.
    #[serde(default)]
    pub label: Option<String>,
}

/// The skills of a session as they were found last. The state says nothing of them while there are only those that
/// come with Bosun.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SkillSet {
    pub skills: Vec<Skill>,
    pub pinned: Vec<PinnedSkill>,
    /// What could not be loaded, one sentence each.
    pub problems: Vec<String>,
    /// What is wrong with those that are used all the same, for the person alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl SkillSet {
    /// What a session's state holds.
    pub fn of(state: &State) -> Self {
        let value = state.fields.get(SKILLS_FIELD);
        value.and_then(|value| serde_json::from_value(value.clone()).ok()).unwrap_or_default()
    }
}

/// Reads the text of a `SKILL.md` that lies, or is to lie, in the folder `folder`; gives what is wrong with it too.
///
/// # Errors
/// Why it is no skill.
pub fn read_skill(text: &str, folder: &str) -> Result<(Skill, Vec<SkillWarning>), SkillError> {
    let (skill, _, warnings) = Skill::parse(text, &VirtualPath::root(), folder, "")?;
    Ok((skill, warnings))
}

/// Looks up the skills that `options` name, as a session would.
pub async fn find_skills(backend: &dyn Backend, options: &SkillsOptions) -> SkillSet {
    load::all(backend, options, &load::own(options)).await
}

/// Names and descriptions of skills in the prompt; the model reads a skill's file when it needs it. They are looked up
/// when a turn begins and after every call that may have changed one.
pub struct Skills {
    options: SkillsOptions,
    context: Option<Arc<dyn Backend>>,
    /// Bosun's own, read once for all sessions.
    own: load::Loaded,
    /// What there is where the state says nothing else: Bosun's own. They are not worth an entry in every journal.
    stock: SkillSet,
    /// What the prompt says of these.
    stock_section: Option<String>,
    /// Tools that a skill may keep out of view.
    hidable: HashSet<String>,
    offered: Offered,
}

impl Skills {
    pub fn new(options: SkillsOptions) -> Self {
        let own = load::own(&options);
        let stock = load::stock(&options, &own);
        let stock_section = text::section(&stock, &options);
        Self { options, context: None, own, stock, stock_section, hidable: HashSet::new(), offered: Offered::default() }
    }

    /// Reads through `context` instead of the agent's own path space.
    #[must_use]
    pub fn through(self, context: Option<Arc<dyn Backend>>) -> Self {
        Self { context, ..self }
    }

    fn known(&self, cx: &TurnContext) -> Cow<'_, SkillSet> {
        let said = |state: &State| state.fields.contains_key(SKILLS_FIELD).then(|| SkillSet::of(state));
        cx.log().with_state(said).map_or(Cow::Borrowed(&self.stock), Cow::Owned)
    }

    /// The skills as they are now, where that is not what the state says.
    async fn news(&self, cx: &TurnContext) -> StateUpdate {
        let backend = self.context.as_ref().unwrap_or(&cx.agent().backend);
        let found = load::all(&**backend, &self.options, &self.own).await;
        if found == *self.known(cx) {
            return StateUpdate::default();
        }
        let value = serde_json::to_value(&found).unwrap_or_default();
        StateUpdate { fields: vec![(SKILLS_FIELD.to_owned(), value)], ..StateUpdate::default() }
    }

    /// Whether a call of this kind on `path` may have changed a skill.
    fn may_change(&self, kind: ToolKind, path: Option<&VirtualPath>) -> bool {
        match kind {
            ToolKind::Edit => path.is_none_or(|path| {
                self.options
                    .sources
                    .iter()
                    .any(|source| path.starts_with(&source.path) || source.path.starts_with(path))
            }),
            ToolKind::Execute | ToolKind::Other | ToolKind::Delegate => !self.options.sources.is_empty(),
            ToolKind::Read | ToolKind::Plan => false,
        }
    }
}

impl Middleware for Skills {
    fn name(&self) -> &'static str {
        "Skills"
    }

    fn fields(&self) -> Vec<StateField> {
        vec![disclosed::field()]
    }

    fn before_turn<'a>(&'a self, cx: &'a TurnContext) -> BoxFuture<'a, Result<StateUpdate, AgentError>> {
        Box::pin(async move { Ok(self.news(cx).await) })
    }

    fn wrap_model_call<'a>(
        &'a self,
        cx: &'a TurnContext,
        mut request: ChatRequest,
        next: NextModel<'a>,
    ) -> BoxFuture<'a, Result<AiMessage, AgentError>> {
        let set = self.known(cx);
        if cx.agent().tools.get(builtin::READER).is_some() {
            let section = match &set {
                Cow::Borrowed(_) => self.stock_section.as_deref().map(Cow::Borrowed),
                Cow::Owned(found) => text::section(found, &self.options).map(Cow::Owned),
            };
            section.iter().for_each(|text| prompt::append(&mut request, text));
        }
        let pinned = text::pinned(&set.pinned, fitting::room(cx.agent().model.info()));
        pinned.blocks.iter().for_each(|block| prompt::append(&mut request, block));
        self.disclose(&set, &cx.log().with_state(disclosed::read), &mut request);
        if pinned.cut.is_empty() {
            return next.run(request);
        }
        Box::pin(async move {
            let notes: Vec<NoteAbout> = pinned.cut.into_iter().map(|path| NoteAbout::MemoryCut { path }).collect();
            told::tell(cx, self.name(), &notes).await?;
            next.run(request).await
        })
    }

    fn wrap_tool_call<'a>(
        &'a self,
        cx: &'a TurnContext,
        call: ToolCall,
        next: NextTool<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, AgentError>> {
        if self.options.builtin
            && self.options.builtin_at.is_none()
            && let Some(output) = builtin::read(&call, &self.options.off)
        {
            return Box::pin(async move { Ok(output) });
        }
        if next.tool().kind() == ToolKind::Read {
            let noted = self.noted(&self.known(cx), &*cx.agent().backend, &call);
            return Box::pin(async move {
                let mut output = next.run(call).await?;
                output.update.fields.extend(noted.filter(|_| !output.is_error));
                Ok(output)
            });
        }
        let path = next.tool().mutates(&cx.tool_context(&call.id), &call.args);
        if !self.may_change(next.tool().kind(), path.as_ref()) {
            return next.run(call);
        }
        Box::pin(async move {
            let mut output = next.run(call).await?;
            output.update.fields.extend(self.news(cx).await.fields);
            Ok(output)
        })
    }
}
