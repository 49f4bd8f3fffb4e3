use std::collections::BTreeMap;
use std::sync::Arc;

use bosun_backend::{Backend, StoreBackend, StoreScope, VirtualPath};
use bosun_harness::{
    LoadedSubagents, MemoryOptions, MemorySearch, SearchedShelf, SkillSource, SkillsOptions, SubagentSpec,
    load_subagents,
};
use bosun_model::ChatModel;
use bosun_protocol::{ModelRef, SubagentOrigin, SubagentRef};

use crate::SessionError;
use crate::actor::Actor;
use crate::choices::{Choices, subagent_key};
use crate::space::{Places, Space};
use crate::trust::{INSTRUCTIONS, SKILLS, SUBAGENTS, TrustedView};

/// What a session's agent knows besides its prompt and its conversation.
pub(crate) struct Known {
    /// What memory and skills are read through: the session's paths without what is not trusted.
    pub context: Arc<dyn Backend>,
    pub memory: MemoryOptions,
    pub skills: SkillsOptions,
    pub subagents: LoadedSubagents,
}

impl Actor {
    /// What the person keeps for their agents, and what of the project they trusted.
    pub(crate) async fn knowledge(&self, space: &Space) -> Result<Known, SessionError> {
        let project = self.tree.project.as_str();
        let trusted = self.setting.trust.of(project).await?;
        let context: Arc<dyn Backend> = Arc::new(TrustedView::new(Arc::clone(&space.backend), trusted));
        let choices = Choices::read(&self.tree.database).await?;
        Ok(Known {
            memory: self.memory(&space.places)?,
            skills: skills(project, &space.places, &choices)?,
            subagents: self.subagents(&*context, &choices).await?,
            context,
        })
    }

    fn memory(&self, places: &Places) -> Result<MemoryOptions, SessionError> {
        let Some(memories) = &places.memories else { return Ok(MemoryOptions::default()) };
        let project = StoreScope::Project(self.tree.project.to_string());
        let mut shelves = Vec::new();
        for (scope, mount) in [(StoreScope::User, memories.clone()), (project, below(memories, "project")?)] {
            if !places.taken.contains_key(&mount) {
                let namespace = scope.namespace("memories").map_err(SessionError::internal)?;
                shelves.push(SearchedShelf { namespace, mount });
            }
        }
        // What the person put there may be of the store, too.
        let mut elsewhere = Vec::new();
        for (mount, taken) in places.taken.iter().filter(|(mount, _)| mount.starts_with(memories)) {
            match &taken.shown {
                Some(namespace) => {
                    shelves.push(SearchedShelf { namespace: namespace.clone(), mount: mount.clone() });
                }
                None => elsewhere.push(mount.clone()),
            }
        }
        let mut sources = vec![below(memories, "AGENTS.md")?, below(memories, "project/AGENTS.md")?];
        for path in INSTRUCTIONS {
            sources.push(parsed(path)?);
        }
        Ok(MemoryOptions { sources, search: Some(MemorySearch::new(self.store(), shelves).but_not(elsewhere)) })
    }

    /// The person's subagents, and the project's where they are trusted.
    async fn subagents(&self, context: &dyn Backend, choices: &Choices) -> Result<LoadedSubagents, SessionError> {
        let namespace = StoreScope::User.namespace("agents");
        let namespace = namespace.map_err(SessionError::internal)?;
        let own = StoreBackend::new(self.store(), namespace);
        let own_place = (SubagentOrigin::User, None, &own as &dyn Backend, VirtualPath::root());
        let project = Some(self.tree.project.clone());
        let mut found = LoadedSubagents::default();
        for (origin, project, backend, folder) in
            [own_place, (SubagentOrigin::Project, project, context, parsed(SUBAGENTS)?)]
        {
            let is_off = |name: &str| {
                let named = SubagentRef { origin, project: project.clone(), name: name.to_owned() };
                choices.subagents_off.contains(&subagent_key(&named))
            };
            let loaded = load_subagents(backend, &[folder], &is_off).await;
            found.problems.extend(loaded.problems);
            for spec in loaded.specs {
                found.specs.retain(|known| known.name != spec.name);
                found.specs.push(spec);
            }
        }
        Ok(found)
    }

    /// The models that `subagents` name as `provider:name`, and which of them cannot be had. Those are left out: sending
    /// such a subagent says so too.
    pub(crate) async fn models_of(
        &self,
        subagents: &[SubagentSpec],
    ) -> (BTreeMap<String, Arc<dyn ChatModel>>, Vec<String>) {
        let (mut models, mut problems) = (BTreeMap::new(), Vec::new());
        for spec in subagents {
            let Some(name) = spec.model.as_ref().filter(|name| !models.contains_key(*name)) else { continue };
            let Some((provider, model)) = name.split_once(':') else { continue };
            let model = ModelRef { provider: provider.to_owned(), name: model.to_owned() };
            match self.setting.models.connect(&model).await {
                Ok(model) => drop(models.insert(name.clone(), model)),
                Err(error) => problems.push(format!(
                    "'{}' cannot be sent: its model {name} is not available ({error}); set the model up, or remove it \
                     from the subagent",
                    spec.name
                )),
            }
        }
        (models, problems)
    }
}

/// Bosun's own, the person's in the store, those in their home folder, and the project's.
fn skills(project: &str, places: &Places, choices: &Choices) -> Result<SkillsOptions, SessionError> {
    let source = |path: VirtualPath, label: &str| SkillSource { path, label: Some(label.to_owned()) };
    let mut sources = Vec::new();
    if let Some(skills) = &places.skills {
        sources.push(source(below(skills, "user")?, "Your"));
    }
    if let Some(home) = &places.home_skills {
        sources.push(source(home.clone(), "Home"));
    }
    for (path, label) in SKILLS.into_iter().zip(["Project's shared", "Project's"]) {
        sources.push(source(parsed(path)?, label));
    }
    let pinned = choices.pinned_in(project, places);
    let builtin_at = places.builtin_skills.clone();
    Ok(SkillsOptions {
        builtin: builtin_at.is_some(),
        builtin_at,
        sources,
        pinned,
        off: choices.off_in(project, places),
    })
}

fn parsed(path: &str) -> Result<VirtualPath, SessionError> {
    VirtualPath::parse(path).map_err(SessionError::internal)
}

fn below(folder: &VirtualPath, name: &str) -> Result<VirtualPath, SessionError> {
    folder.join(name).map_err(SessionError::internal)
}
