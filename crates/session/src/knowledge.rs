use std::collections::BTreeMap;
use std::sync::Arc;

use bosun_backend::{Backend, StoreScope, VirtualPath};
use bosun_harness::{MemoryOptions, MemorySearch, SkillSource, SkillsOptions, SubagentSpec};
use bosun_model::ChatModel;
use bosun_protocol::{ErrorCode, ModelRef};

use crate::SessionError;
use crate::actor::Actor;
use crate::space::{Places, Space};

/// What a session's agent knows besides its prompt and its conversation.
pub(crate) struct Known {
    pub memory: MemoryOptions,
    pub skills: SkillsOptions,
    pub subagents: Vec<SubagentSpec>,
}

impl Actor {
    /// What the person keeps for their agents. Nothing of a project that they did not trust.
    pub(crate) async fn knowledge(&self, space: &Space) -> Result<Known, SessionError> {
        Ok(Known {
            memory: self.memory(&space.places)?,
            skills: skills(&space.places)?,
            subagents: self.subagents(&*space.backend).await,
        })
    }

    fn memory(&self, places: &Places) -> Result<MemoryOptions, SessionError> {
        let Some(memories) = &places.memories else { return Ok(MemoryOptions::default()) };
        let project = StoreScope::Project(self.tree.project.to_string());
        let namespaces = [StoreScope::User, project].into_iter().map(|scope| scope.namespace("memories"));
        let namespaces = namespaces.collect::<Result<Vec<_>, _>>();
        let namespaces = namespaces.map_err(|error| SessionError::new(ErrorCode::Internal, error.to_string()))?;
        Ok(MemoryOptions {
            sources: vec![below(memories, "AGENTS.md")?, below(memories, "project/AGENTS.md")?],
            search: Some(MemorySearch::new(self.store(), namespaces)),
        })
    }

    async fn subagents(&self, _space: &dyn Backend) -> Vec<SubagentSpec> {
        Vec::new()
    }

    /// The models that `subagents` name as `provider:name`. One that cannot be had is left out: sending such a subagent
    /// says so.
    pub(crate) async fn models_of(&self, subagents: &[SubagentSpec]) -> BTreeMap<String, Arc<dyn ChatModel>> {
        let mut models = BTreeMap::new();
        for name in subagents.iter().filter_map(|spec| spec.model.as_ref()) {
            let Some((provider, model)) = name.split_once(':') else { continue };
            let model = ModelRef { provider: provider.to_owned(), name: model.to_owned() };
            match self.setting.models.connect(&model).await {
                Ok(model) => drop(models.insert(name.clone(), model)),
                Err(error) => tracing::warn!(%error, model = %name, "a subagent's model cannot be had"),
            }
        }
        models
    }
}

/// Bosun's own, the person's in the store, and those in their home folder.
fn skills(places: &Places) -> Result<SkillsOptions, SessionError> {
    let source = |path: VirtualPath, label: &str| SkillSource { path, label: Some(label.to_owned()) };
    let mut sources = Vec::new();
    if let Some(skills) = &places.skills {
        sources.push(source(below(skills, "user")?, "Your"));
    }
    if let Some(home) = &places.home_skills {
        sources.push(source(home.clone(), "Home"));
    }
    Ok(SkillsOptions { builtin: true, sources, ..SkillsOptions::default() })
}

fn below(folder: &VirtualPath, name: &str) -> Result<VirtualPath, SessionError> {
    folder.join(name).map_err(|error| SessionError::new(ErrorCode::Internal, error.to_string()))
}
