use bosun_backend::{Backend, ContentHash, StoreScope, VirtualPath};
use bosun_harness::{
    InterruptOn, PathMode, PathOperation, PathPattern, PathRule, SUBAGENT_TOOLS, SkillSource, SubagentSpec,
    can_be_of_server, is_own_tool, read_subagent, write_subagent,
};
use bosun_protocol::{
    DeletedSubagent, PathRuleMode, PathRuleOperation, Problem, ProjectId, SaveSubagent, SubagentContent, SubagentEntry,
    SubagentForm, SubagentHidden, SubagentList, SubagentOrigin, SubagentPathRule, SubagentRef, TrustKind,
};

use super::Sessions;
use super::memories::KEPT_MS;
use crate::choices::{Choices, subagent_key};
use crate::stored::{StoredFiles, path_of, shown, text_of};
use crate::trust::brought;
use crate::{Explain, SessionError, convert};

/// The kinds of subagents: Bosun's own, the person's, and the projects'.
impl Sessions {
    /// All kinds of subagents, those of a project where one is named.
    pub async fn subagents(&self, project: Option<&ProjectId>) -> Result<SubagentList, SessionError> {
        self.inner.database.purge_values(self.inner.clock.now_ms() - KEPT_MS).await?;
        let choices = Choices::read(&self.inner.database).await?;
        let general = SubagentSpec::general_purpose();
        let named = SubagentRef { origin: SubagentOrigin::Builtin, project: None, name: general.name.clone() };
        let mut entries = vec![entry(named, &write_subagent(&general, None))];
        let files = self.own_subagents()?;
        for file in files.all().await? {
            let Some(name) = name_of(&file.path) else { continue };
            let named = SubagentRef { origin: SubagentOrigin::User, project: None, name };
            let versions = files.versions(&file.path).await?;
            let entry = entry(named, &file.text().unwrap_or_default());
            entries.push(SubagentEntry { versions: shown(&versions), ..entry });
        }
        if let Some(project) = project {
            entries.extend(self.subagents_of(project).await?);
        }
        for entry in entries.iter_mut().filter(|entry| choices.subagents_off.contains(&subagent_key(&entry.subagent))) {
            entry.hidden = Some(SubagentHidden::Off);
        }
        hide_replaced(&mut entries);
        let mut deleted = Vec::new();
        for (path, version) in files.deleted().await? {
            let Some(name) = name_of(&path) else { continue };
            deleted.push(DeletedSubagent { name, number: version.number, deleted_at: version.ended_at });
        }
        Ok(SubagentList { entries, deleted })
    }

    /// Keeps one of the person's kinds of subagents. One that could not be used is refused.
    pub async fn save_subagent(&self, save: &SaveSubagent) -> Result<SubagentEntry, SessionError> {
        let path = own_path(&save.name)?;
        let files = self.own_subagents()?;
        let known = files.find(&path).await?;
        let text = match &save.content {
            SubagentContent::Text { text } => text.clone(),
            SubagentContent::Form { form } => {
                let over = known.as_ref().and_then(|file| text_of(&file.data));
                write_subagent(&spec_of(form)?, over.as_deref())
            }
        };
        let (spec, _) =
            read_subagent(&text).map_err(|error| invalid(Problem::NoSubagent { why: Box::new(error.problem()) }))?;
        if spec.name != save.name {
            return Err(invalid(Problem::SubagentTwoNames { declared: spec.name, called: save.name.clone() }));
        }
        files.save(&path, text.into_bytes(), save.base.as_deref()).await?;
        self.rebuild(None).await;
        self.own_subagent(&save.name).await
    }

    /// Deletes one of the person's kinds of subagents; for 30 days its last version brings it back.
    pub async fn delete_subagent(&self, name: &str) -> Result<(), SessionError> {
        self.own_subagents()?.delete(&own_path(name)?).await?;
        self.rebuild(None).await;
        Ok(())
    }

    /// Puts an earlier version in place, of a deleted one too.
    pub async fn restore_subagent(&self, name: &str, number: i64) -> Result<SubagentEntry, SessionError> {
        self.own_subagents()?.restore(&own_path(name)?, number).await?;
        self.rebuild(None).await;
        self.own_subagent(name).await
    }

    /// The text of an earlier version.
    pub async fn subagent_version(&self, name: &str, number: i64) -> Result<Option<String>, SessionError> {
        self.own_subagents()?.version_text(&own_path(name)?, number).await
    }

    /// Switches a kind of subagent on or off. The one that comes with Bosun stays.
    pub async fn switch_subagent(&self, subagent: &SubagentRef, off: bool) -> Result<(), SessionError> {
        if subagent.origin == SubagentOrigin::Builtin {
            return Err(invalid(Problem::SubagentStays));
        }
        let key = subagent_key(subagent);
        Choices::change(&self.inner.database, move |choices| {
            if off {
                choices.subagents_off.insert(key)
            } else {
                choices.subagents_off.remove(&key)
            };
        })
        .await?;
        self.rebuild(subagent.project.as_ref()).await;
        Ok(())
    }

    fn own_subagents(&self) -> Result<StoredFiles, SessionError> {
        self.stored_files(&StoreScope::User, "agents")
    }

    async fn own_subagent(&self, name: &str) -> Result<SubagentEntry, SessionError> {
        let list = self.subagents(None).await?;
        let own = |entry: &SubagentEntry| entry.subagent.origin == SubagentOrigin::User && entry.subagent.name == name;
        list.entries.into_iter().find(own).ok_or_else(gone)
    }

    async fn subagents_of(&self, project: &ProjectId) -> Result<Vec<SubagentEntry>, SessionError> {
        let files = self.project_files(project).await?;
        let trusted = self.trust().of(project.as_str()).await?;
        let found = brought(&*files as &dyn Backend).await;
        let mut entries = Vec::new();
        for item in found.items.into_iter().filter(|item| item.kind == TrustKind::Subagent) {
            let named =
                SubagentRef { origin: SubagentOrigin::Project, project: Some(project.clone()), name: item.name };
            let Some(file) = item.files.first() else { continue };
            let mut entry = entry(named, &String::from_utf8_lossy(&file.bytes));
            if !trusted.allows(&file.path, &file.hash) {
                entry.hidden = entry.hidden.or(Some(SubagentHidden::Untrusted));
            }
            entries.push(entry);
        }
        Ok(entries)
    }
}

fn entry(subagent: SubagentRef, text: &str) -> SubagentEntry {
    let (spec, warnings, problem) = match read_subagent(text) {
        Ok((spec, warnings)) => (spec, warnings, None),
        Err(error) => {
            let none = SubagentSpec { name: subagent.name.clone(), ..SubagentSpec::default() };
            (none, Vec::new(), Some(error.problem()))
        }
    };
    SubagentEntry {
        subagent,
        form: form_of(&spec),
        hidden: problem.is_some().then_some(SubagentHidden::Broken),
        warnings: warnings.iter().map(Explain::problem).chain(unknown_tools(&spec)).collect(),
        problem,
        text: text.to_owned(),
        revision: ContentHash::of(text.as_bytes()).to_string(),
        versions: Vec::new(),
    }
}

/// The tools that it names and that are nowhere. Those of servers have `__` in their names; which of them are there is
/// known, and said, when a turn begins.
fn unknown_tools(spec: &SubagentSpec) -> impl Iterator<Item = Problem> {
    let named = spec.tools.iter().flatten().chain(spec.interrupt_on.keys());
    let unknown = named.filter(|name| !is_own_tool(name) && !can_be_of_server(name));
    unknown.map(|name| Problem::ToolUnknown { name: name.clone(), known: SUBAGENT_TOOLS.join(", ") })
}

/// Of several with one name, the last that is offered counts.
fn hide_replaced(entries: &mut [SubagentEntry]) {
    for index in 0..entries.len() {
        let Some((entry, later)) = entries.get_mut(index..).and_then(<[_]>::split_first_mut) else { return };
        let is_replaced = later.iter().any(|other| other.hidden.is_none() && other.form.name == entry.form.name);
        if entry.hidden.is_none() && is_replaced {
            entry.hidden = Some(SubagentHidden::Replaced);
        }
    }
}

/// The tools that ask.
fn asking(spec: &SubagentSpec) -> impl Iterator<Item = &String> {
    spec.interrupt_on.iter().filter(|(_, interrupt)| **interrupt != InterruptOn::Never).map(|(tool, _)| tool)
}

fn form_of(spec: &SubagentSpec) -> SubagentForm {
    SubagentForm {
        name: spec.name.clone(),
        description: spec.description.clone(),
        prompt: spec.prompt.clone(),
        tools: spec.tools.clone(),
        model: spec.model.clone(),
        effort: spec.effort.map(convert::effort_view),
        skills: spec.skills.iter().map(|source| source.path.to_string()).collect(),
        interrupt_on: asking(spec).cloned().collect(),
        permissions: spec.permissions.iter().map(rule_form_of).collect(),
        max_steps: spec.max_steps,
    }
}

fn rule_form_of(rule: &PathRule) -> SubagentPathRule {
    let operation = |operation: &PathOperation| match operation {
        PathOperation::Read => PathRuleOperation::Read,
        PathOperation::Write => PathRuleOperation::Write,
    };
    SubagentPathRule {
        mode: match rule.mode {
            PathMode::Allow => PathRuleMode::Allow,
            PathMode::Interrupt => PathRuleMode::Interrupt,
            PathMode::Deny => PathRuleMode::Deny,
        },
        operations: rule.operations.iter().map(operation).collect(),
        paths: rule.paths.iter().cloned().map(String::from).collect(),
    }
}

fn rule_of(form: &SubagentPathRule) -> Result<PathRule, SessionError> {
    let operation = |operation: &PathRuleOperation| match operation {
        PathRuleOperation::Read => PathOperation::Read,
        PathRuleOperation::Write => PathOperation::Write,
    };
    let pattern = |path: &String| PathPattern::try_from(path.clone()).map_err(|error| invalid(error.problem()));
    Ok(PathRule {
        mode: match form.mode {
            PathRuleMode::Allow => PathMode::Allow,
            PathRuleMode::Interrupt => PathMode::Interrupt,
            PathRuleMode::Deny => PathMode::Deny,
        },
        operations: form.operations.iter().map(operation).collect(),
        paths: form.paths.iter().map(pattern).collect::<Result<_, SessionError>>()?,
    })
}

fn spec_of(form: &SubagentForm) -> Result<SubagentSpec, SessionError> {
    let source = |path: &String| {
        let path = VirtualPath::parse(path).map_err(|error| invalid(error.problem()))?;
        Ok(SkillSource { path, label: None })
    };
    Ok(SubagentSpec {
        name: form.name.clone(),
        description: form.description.clone(),
        prompt: form.prompt.clone(),
        tools: form.tools.clone(),
        model: form.model.clone(),
        effort: form.effort.map(convert::effort),
        skills: form.skills.iter().map(source).collect::<Result<_, SessionError>>()?,
        interrupt_on: form.interrupt_on.iter().map(|tool| (tool.clone(), Default::default())).collect(),
        permissions: form.permissions.iter().map(rule_of).collect::<Result<_, SessionError>>()?,
        max_steps: form.max_steps,
        ..SubagentSpec::default()
    })
}

fn own_path(name: &str) -> Result<VirtualPath, SessionError> {
    if name.is_empty() || name.contains('/') {
        return Err(invalid(Problem::SubagentName));
    }
    path_of(&format!("/{name}.md"))
}

fn name_of(path: &VirtualPath) -> Option<String> {
    path.as_str().strip_prefix('/')?.strip_suffix(".md").filter(|name| !name.contains('/')).map(str::to_owned)
}

fn invalid(problem: Problem) -> SessionError {
    SessionError::invalid(problem)
}

fn gone() -> SessionError {
    SessionError::not_found(Problem::SubagentGone)
}
