use std::sync::Arc;

use bosun_agent::Agent;
use bosun_harness::{DeclaredAgent, DeclaredDefault, DeepAgentConfig, Summarization, create_deep_agent};

use crate::actor::Actor;
use crate::definitions::Definitions;
use crate::stream::locked;
use crate::watching::Watching;
use crate::{Explain, SessionError};

impl Actor {
    /// The session's agent: built once, and anew after something it is built from has changed.
    pub(crate) async fn agent(&self) -> Result<Arc<Agent>, SessionError> {
        if let Some(agent) = locked(&self.agent).clone() {
            return Ok(agent);
        }
        let calls = self.calls().await?;
        let info = calls.info.clone();
        let space = self.space().await?;
        let known = self.knowledge(&space).await?;
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
        config.filesystem.in_session = self.default_backend() == DeclaredDefault::State;
        self.extend(&mut config).await?;
        config.models = self.models_of(&config.subagents).await;
        calls.put_into(&mut config);
        config.everywhere.push(Arc::new(Definitions::new(known.subagents.problems)));
        config.everywhere.push(Arc::new(Watching::new(Arc::clone(&self.stream))));
        let summarization = Summarization::new(config.summarization.clone(), config.artifacts.clone());
        let agent = create_deep_agent(config).map_err(|error| SessionError::invalid(error.problem()))?;
        *locked(&self.tree.model) = Some(info.clone());
        self.stream.update(|projection| projection.set_model(info));
        let agent = Arc::new(agent);
        *locked(&self.summarization) = Some(Arc::new(summarization));
        *locked(&self.agent) = Some(Arc::clone(&agent));
        Ok(agent)
    }
}
