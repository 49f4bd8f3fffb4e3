use std::sync::Arc;
use std::sync::atomic::Ordering;

use bosun_agent::{Agent, NoteAbout};
use bosun_harness::{DeclaredAgent, DeepAgentConfig, Extras, Summarization, create_deep_agent};
use bosun_model::ModelInfo;

use crate::actor::Actor;
use crate::calls::Calls;
use crate::definitions::Definitions;
use crate::stream::locked;
use crate::watching::Watching;
use crate::{Explain, SessionError};

/// What a session's agent is built from, but for its servers of tools: those may take their time.
pub(crate) struct Draft {
    config: DeepAgentConfig,
    calls: Calls,
    info: ModelInfo,
    /// What is wrong with the definitions of subagents.
    problems: Vec<String>,
    /// What of the project is not used, for those who are to be told.
    unused: Vec<NoteAbout>,
    /// What the project brings and the person trusts.
    of_project: Option<Extras>,
    /// [`Actor::rebuilds`] before any of this was looked at.
    rebuilds: u64,
}

impl Actor {
    /// The session's agent: built once, and anew after something it is built from has changed.
    pub(crate) async fn agent(&self) -> Result<Arc<Agent>, SessionError> {
        match self.prepare().await? {
            Some(draft) => self.built(draft).await,
            // Taken away between the two looks.
            None => match self.built_already() {
                Some(agent) => Ok(agent),
                None => self.built(self.draft().await?).await,
            },
        }
    }

    /// What the agent is to be built from; `None` where it is built. Waits for no server, so that what keeps a turn from
    /// running is known before its message is recorded.
    pub(crate) async fn prepare(&self) -> Result<Option<Draft>, SessionError> {
        match self.built_already() {
            Some(_) => Ok(None),
            None => self.draft().await.map(Some),
        }
    }

    /// The agent of a turn that is recorded already, with the servers that come up.
    pub(crate) async fn agent_of(&self, draft: Option<Draft>) -> Result<Arc<Agent>, SessionError> {
        match (self.built_already(), draft) {
            (Some(agent), _) => Ok(agent),
            (None, Some(draft)) => self.built(draft).await,
            (None, None) => self.agent().await,
        }
    }

    /// An agent without servers, for a turn that was stopped while they were waited for: it does nothing but end it.
    pub(crate) async fn agent_to_end(&self) -> Result<Arc<Agent>, SessionError> {
        if let Some(agent) = self.built_already() {
            return Ok(agent);
        }
        let Draft { config, .. } = self.draft().await?;
        let agent = create_deep_agent(config).map_err(|error| SessionError::invalid(error.problem()))?;
        Ok(Arc::new(agent))
    }

    pub(crate) fn built_already(&self) -> Option<Arc<Agent>> {
        locked(&self.agent).clone()
    }

    async fn draft(&self) -> Result<Draft, SessionError> {
        let rebuilds = self.rebuilds.load(Ordering::Relaxed);
        let calls = self.calls().await?;
        let info = calls.info.clone();
        let space = self.space().await?;
        let known = self.knowledge(&space).await?;
        let unused = self.unused(&*space.backend).await?;
        let mut config = DeepAgentConfig::new(Arc::clone(&calls.model), space.backend);
        config.blobs.clone_from(&self.setting.blobs);
        config.policy = self.setting.policy.clone();
        config.limits = self.setting.limits;
        config.ids = Arc::clone(&self.tree.ids);
        config.background_subagents = true;
        config.filesystem.offload_media = true;
        config.artifacts = space.places.artifacts();
        config.memory = known.memory;
        config.skills = known.skills;
        config.context = Some(known.context);
        config.subagents = known.subagents.specs;
        if let Some(added) = &self.setting.added {
            added.extras().limit(&mut config);
        }
        if let Some(declared) = &self.setting.declared {
            DeclaredAgent::clone(declared).apply(&mut config);
        }
        // Whatever is declared of the file tools, these are as the session is.
        config.filesystem.mounts = space.notes;
        config.filesystem.places = space.reach;
        config.filesystem.root = self.root().place();
        let of_project = self.project_extras().await?;
        self.check_extras(of_project.as_ref())?;
        Ok(Draft { config, calls, info, problems: known.subagents.problems, unused, of_project, rebuilds })
    }

    async fn built(&self, draft: Draft) -> Result<Arc<Agent>, SessionError> {
        let Draft { mut config, calls, info, mut problems, unused, of_project, rebuilds } = draft;
        self.extend(&mut config, of_project).await?;
        let (models, unusable) = self.models_of(&config.subagents).await;
        config.models = models;
        problems.extend(unusable);
        calls.put_into(&mut config);
        config.everywhere.push(Arc::new(Definitions::new(problems, unused)));
        config.everywhere.push(Arc::new(Watching::new(Arc::clone(&self.stream))));
        let summarization = Summarization::new(config.summarization.clone(), config.artifacts.clone());
        let agent = create_deep_agent(config).map_err(|error| SessionError::invalid(error.problem()))?;
        *locked(&self.tree.model) = Some(info.clone());
        self.stream.update(|projection| projection.set_model(info));
        let agent = Arc::new(agent);
        *locked(&self.summarization) = Some(Arc::new(summarization));
        // What was changed while servers were waited for is not in it: this turn has it, the next one another.
        let mut kept = locked(&self.agent);
        if self.rebuilds.load(Ordering::Relaxed) == rebuilds {
            *kept = Some(Arc::clone(&agent));
        }
        drop(kept);
        Ok(agent)
    }
}
