//! What the tests of real and of hostile servers have in common.

use std::path::Path;
use std::sync::Arc;

use bosun_backend::{FileStamp, FilesystemBackend, FilesystemOptions, OutputSink, Unwitnessed, VirtualPath};
use bosun_mcp::{Health, McpServers, PinStore, ServerConfig, ServerConfigs, Unkept};
use bosun_model::{Abilities, CallId, ContentBlock};
use bosun_tools::{DynTool, StateView, Todo, ToolContext, ToolError, ToolOutput};
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// One server in a folder of its own.
pub struct Stage {
    pub servers: McpServers,
    pub pins: Arc<Unkept>,
    pub folder: TempDir,
    pub cancel: CancellationToken,
}

impl Stage {
    /// The server called `s`, started.
    pub async fn started(config: ServerConfig) -> Self {
        let stage = Self::new(config, Arc::new(Unkept::default()));
        stage.servers.start().await;
        stage
    }

    pub fn new(config: ServerConfig, pins: Arc<Unkept>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let configs = ServerConfigs::from([("s".to_owned(), config)]);
        let kept: Arc<dyn PinStore> = Arc::<Unkept>::clone(&pins);
        let servers = McpServers::new(configs, folder.path(), kept).unwrap();
        Self { servers, pins, folder, cancel: CancellationToken::new() }
    }

    pub fn health(&self) -> Health {
        self.servers.views().remove(0).health
    }

    /// Why it failed.
    pub fn reason(&self) -> String {
        match self.health() {
            Health::Failed { failure } => failure.to_string(),
            other => panic!("it did not fail: {other:?}"),
        }
    }

    pub fn names(&self) -> Vec<String> {
        self.servers.tools().iter().map(|tool| tool.spec().name.clone()).collect()
    }

    pub fn tool(&self, name: &str) -> Arc<dyn DynTool> {
        let found = self.servers.tools().into_iter().find(|tool| tool.spec().name == name);
        found.unwrap_or_else(|| panic!("there is no {name}; there are {:?}; {:?}", self.names(), self.servers.views()))
    }

    pub async fn call(&self, name: &str, args: Value) -> Result<ToolOutput, ToolError> {
        self.run(&*self.tool(name), args).await
    }

    pub async fn run(&self, tool: &dyn DynTool, args: Value) -> Result<ToolOutput, ToolError> {
        let args = tool.validate(&args).map_err(|error| ToolError::Model(error.to_string()))?;
        tool.call(&context(self.folder.path(), &self.cancel), args).await
    }

    /// The text of an answer that has to be there.
    pub async fn text(&self, name: &str, args: Value) -> String {
        text_of(&self.call(name, args).await.unwrap())
    }

    /// The sentence of a failure that has to be there.
    pub async fn refusal(&self, name: &str, args: Value) -> String {
        self.call(name, args).await.unwrap_err().to_string()
    }
}

pub fn text_of(output: &ToolOutput) -> String {
    output.content.iter().filter_map(ContentBlock::as_text).collect::<Vec<_>>().join("\n")
}

pub fn program(command: &str, args: &[&str]) -> ServerConfig {
    let args = args.iter().map(|argument| (*argument).to_owned()).collect();
    ServerConfig { command: Some(command.to_owned()), args, ..ServerConfig::default() }
}

fn context(folder: &Path, cancel: &CancellationToken) -> ToolContext {
    let backend = FilesystemBackend::open(folder, FilesystemOptions::default()).unwrap();
    ToolContext {
        call_id: CallId::new("call"),
        backend: Arc::new(backend),
        state: Arc::new(Nothing),
        witness: Arc::new(Unwitnessed),
        output: Arc::new(Nothing),
        cancel: cancel.clone(),
        held: false,
        abilities: Abilities { images: true, ..Abilities::default() },
        delegate: None,
    }
}

struct Nothing;

impl StateView for Nothing {
    fn read_stamp(&self, _path: &VirtualPath) -> Option<FileStamp> {
        None
    }

    fn reads(&self) -> Vec<(VirtualPath, FileStamp)> {
        Vec::new()
    }

    fn todos(&self) -> Vec<Todo> {
        Vec::new()
    }
}

impl OutputSink for Nothing {
    fn output(&self, _bytes: &[u8]) {}
}
