use std::sync::Arc;

use bosun_agent::{
    Activity, Agent, EntryBody, MemoryHost, PermissionRule, Policy, Recorded, SessionLog, SystemClock, TurnContext,
    TurnEnd, run_turn,
};
use bosun_backend::{LocalShellBackend, LocalShellOptions};
use bosun_harness::{Artifacts, DeepAgentConfig, create_deep_agent};
use bosun_model::{ChatRequest, HumanMessage, Message, ModelInfo, Stays, text_of};
use bosun_testkit::{Project, Scripted, ScriptedModel};
use bosun_tools::{Tool, ToolContext, ToolError, ToolKind, ToolOutput};
use tokio_util::sync::CancellationToken;

/// An agent at work in a folder, with a model that follows its script.
pub struct Scene {
    pub project: Project,
    pub model: Arc<ScriptedModel>,
    pub host: Arc<MemoryHost>,
    pub log: Arc<SessionLog>,
    pub agent: Arc<Agent>,
}

/// An agent that asks nobody and keeps what is large in the project, so that tests can read it.
pub fn scene(replies: Vec<Scripted>, configure: impl FnOnce(&mut DeepAgentConfig)) -> Scene {
    Scene::build(Project::new(), ScriptedModel::new(replies), vec![], configure)
}

impl Scene {
    pub fn build(
        project: Project,
        model: ScriptedModel,
        entries: Vec<Recorded>,
        configure: impl FnOnce(&mut DeepAgentConfig),
    ) -> Self {
        let model = Arc::new(model);
        let backend = LocalShellBackend::open(project.root(), LocalShellOptions::default()).unwrap();
        let mut config = DeepAgentConfig::new(Arc::clone(&model) as _, Arc::new(backend));
        config.policy = everything_passes();
        config.artifacts = Artifacts::at_root();
        configure(&mut config);
        let agent = Arc::new(create_deep_agent(config).unwrap());
        let host = Arc::new(MemoryHost::with_entries("s".into(), entries.clone()));
        let log = Arc::new(SessionLog::open(Arc::clone(&host) as _, Arc::new(SystemClock), &entries));
        Self { project, model, host, log, agent }
    }

    pub fn context(&self) -> TurnContext {
        let (agent, log) = (Arc::clone(&self.agent), Arc::clone(&self.log));
        TurnContext::new(agent, log, CancellationToken::new(), Activity::default())
    }

    /// One turn for what a person says, to its end.
    pub async fn say(&self, text: &str) -> TurnEnd {
        let turn = self.log.with_state(|state| state.turns) + 1;
        let message = HumanMessage { id: format!("h{turn}").as_str().into(), content: vec![text.into()] };
        self.log.record(vec![EntryBody::TurnStarted { turn, message }]).await.unwrap();
        run_turn(&self.context()).await.unwrap()
    }

    /// The request number `index` from 0, side calls included.
    pub fn request(&self, index: usize) -> ChatRequest {
        self.model.requests().into_iter().nth(index).unwrap()
    }

    pub fn last_request(&self) -> ChatRequest {
        self.model.requests().into_iter().last().unwrap()
    }

    /// The log of the subagent that the call `id` sent, from its journal.
    pub fn child(&self, id: &str) -> SessionLog {
        opened(&self.host.child_of(&id.into()).unwrap())
    }

    /// What came back from the call `id`.
    pub fn result(&self, id: &str) -> String {
        let message =
            self.log.with_state(|state| state.messages.iter().rev().find(|message| is_result(message, id)).cloned());
        text_of(message.unwrap_or_else(|| panic!("no result of {id}")).content())
    }
}

/// A log over the journal of `host`.
pub fn opened(host: &Arc<MemoryHost>) -> SessionLog {
    SessionLog::open(Arc::clone(host) as _, Arc::new(SystemClock), &host.entries())
}

fn is_result(message: &Message, id: &str) -> bool {
    matches!(message, Message::Tool(result) if result.call_id.as_str() == id)
}

pub fn everything_passes() -> Policy {
    let rule = |name: &str| PermissionRule::AllowAll { name: name.into() };
    Policy { edits: rule("edits pass"), commands: rule("commands pass"), ..Policy::default() }
}

/// The texts of a request's messages.
pub fn texts(request: &ChatRequest) -> Vec<String> {
    request.messages.iter().map(|message| text_of(message.content())).collect()
}

/// All of a request's standing prompt.
pub fn prompt(request: &ChatRequest) -> String {
    request.system.iter().map(|block| block.text.as_str()).collect::<Vec<_>>().join("\n\n")
}

/// A model of this window.
pub fn small(replies: Vec<Scripted>, window: u32) -> ScriptedModel {
    let info = ModelInfo {
        provider: "scripted".into(),
        name: "small-model".into(),
        context_window: Some(window),
        max_output: Some(1_000),
        abilities: Default::default(),
        price: None,
        steps: Vec::new(),
        scripted: false,
        stays: Stays::No,
    };
    ScriptedModel::new(replies).with_info(info)
}

/// A tool that hears of no stop.
pub struct Deaf;

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct Nothing {}

impl Tool for Deaf {
    const NAME: &'static str = "deaf";
    type Input = Nothing;

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn description(&self) -> std::borrow::Cow<'_, str> {
        "Never ends.".into()
    }

    async fn call(&self, _cx: &ToolContext, _input: Nothing) -> Result<ToolOutput, ToolError> {
        std::future::pending().await
    }
}

/// A command that takes a while to be ended.
pub struct Stubborn;

impl Tool for Stubborn {
    const NAME: &'static str = "stubborn";
    type Input = Nothing;

    fn kind(&self) -> ToolKind {
        ToolKind::Execute
    }

    fn description(&self) -> std::borrow::Cow<'_, str> {
        "Ends late.".into()
    }

    async fn call(&self, cx: &ToolContext, _input: Nothing) -> Result<ToolOutput, ToolError> {
        cx.cancel.cancelled().await;
        tokio::time::sleep(std::time::Duration::from_secs(3)).await;
        Ok(ToolOutput::text("ended at last"))
    }
}
