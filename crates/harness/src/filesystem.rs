use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bosun_agent::{Agent, AgentError, AskPlace, BoxFuture, EntryBody, Middleware, NextModel, NextTool, TurnContext};
use bosun_backend::{Backend, Shell, VirtualPath};
use bosun_model::{AiMessage, ChatRequest, Message, ToolCall};
use bosun_tools::{BuiltinOptions, DynTool, ReadFormat, ToolOutput, file_tools_with};
use serde::{Deserialize, Serialize};

use crate::artifacts::Artifacts;
use crate::looked_at::Places;
use crate::rewrites::Rewrites;
use crate::{eviction, media, prompt};

/// What may be set about files and commands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FilesystemOptions {
    /// Stands in for the section of the prompt about files; empty leaves it out.
    pub prompt: Option<String>,
    pub read_format: ReadFormat,
    /// Matches of one `grep` that names no `max_count`.
    pub grep_max_count: u32,
    /// Longest time limit a call of `execute` may ask for, in seconds.
    pub max_execute_timeout: u64,
    /// Results over so many tokens are put into a file; 0 never does.
    pub evict_results_over: u32,
    /// The same for messages of the user.
    pub evict_messages_over: u32,
    /// Whether pictures and documents that tools bring are kept by their hash beside the session, and not in its journal.
    /// Takes a place for them ([`crate::DeepAgentConfig::blobs`]).
    pub offload_media: bool,
    /// Folders that are not the project's, for the prompt. Which there are is known when a session opens.
    #[serde(skip)]
    pub mounts: Vec<MountNote>,
    #[serde(skip)]
    pub root: RootPlace,
    /// What else than that has its own part of the path space, for a person who is asked.
    #[serde(skip)]
    pub places: Vec<(VirtualPath, AskPlace)>,
}

/// What is at `/`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RootPlace {
    /// The project's folder on this machine.
    #[default]
    Project,
    /// Files that are kept in the session.
    Session,
    /// A folder of another machine, as a person calls it. Commands run there.
    Machine { name: String },
    /// The work folder of a container, as a person calls it. Commands run there.
    Container { name: String },
}

impl RootPlace {
    /// What its files are part of.
    pub fn of_files(&self) -> AskPlace {
        match self {
            Self::Project => AskPlace::Project,
            Self::Session => AskPlace::Session,
            Self::Machine { .. } => AskPlace::Machine,
            Self::Container { .. } => AskPlace::Container,
        }
    }

    /// Where commands run, where that is not this machine.
    pub fn of_commands(&self) -> Option<AskPlace> {
        self.name().map(|_| self.of_files())
    }

    /// What a person calls it, where it is not on this machine.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Project | Self::Session => None,
            Self::Machine { name } | Self::Container { name } => Some(name),
        }
    }
}

/// A folder of the path space that is kept elsewhere than the rest of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountNote {
    pub path: VirtualPath,
    /// What is there, as the end of a sentence.
    pub holds: String,
    /// Where commands find it, if they do.
    pub host: Option<String>,
}

impl Default for FilesystemOptions {
    fn default() -> Self {
        Self {
            prompt: None,
            read_format: ReadFormat::default(),
            grep_max_count: 1_000,
            max_execute_timeout: 3_600,
            evict_results_over: 20_000,
            evict_messages_over: 50_000,
            offload_media: false,
            mounts: Vec::new(),
            root: RootPlace::default(),
            places: Vec::new(),
        }
    }
}

/// The tool that runs commands.
const SHELL_TOOL: &str = "execute";

/// The file tools over a backend, `execute` where it has a shell, and how paths and the shell hang together. Results
/// and messages that are too large for a conversation go into files; media that the model cannot take are named.
pub struct Filesystem {
    tools: Vec<Arc<dyn DynTool>>,
    options: FilesystemOptions,
    artifacts: Artifacts,
    messages: Rewrites,
    unsupported: Rewrites,
    refused: Rewrites,
    media: Mutex<Places>,
}

impl Filesystem {
    /// All file tools that `backend` can carry, or those of them that `allowed` names.
    pub fn new(backend: &dyn Backend, allowed: Option<&[String]>, options: FilesystemOptions) -> Self {
        let builtin = BuiltinOptions {
            read_format: options.read_format,
            grep_max_count: options.grep_max_count,
            max_execute_timeout: Duration::from_secs(options.max_execute_timeout),
            commands_in: options.root.name().map(str::to_owned),
            ..BuiltinOptions::default()
        };
        let mut tools = file_tools_with(backend, &builtin);
        tools.retain(|tool| allowed.is_none_or(|allowed| allowed.contains(&tool.spec().name)));
        Self {
            tools,
            options,
            artifacts: Artifacts::default(),
            messages: Rewrites::default(),
            unsupported: Rewrites::default(),
            refused: Rewrites::default(),
            media: Mutex::default(),
        }
    }

    /// Where large results and messages are put; without it they stay.
    pub fn with_artifacts(mut self, artifacts: Artifacts) -> Self {
        self.artifacts = artifacts;
        self
    }

    /// Speaks of the tools that the agent has in the end.
    fn add_prompt(&self, agent: &Agent, request: &mut ChatRequest) {
        let has = |tool: &str| agent.tools.get(tool).is_some();
        let files = prompt::files(has);
        let has_files = files.is_some();
        match self.options.prompt.as_deref() {
            Some(text) if text.trim().is_empty() => {}
            Some(text) => prompt::append(request, text),
            None => {
                if let Some(files) = files {
                    prompt::append(request, &format!("{}{files}", prompt::at_root(&self.options.root)));
                    if let Some(text) = mounted(&self.options.mounts, has(SHELL_TOOL)) {
                        prompt::append(request, &text);
                    }
                }
            }
        }
        if has(SHELL_TOOL) {
            prompt::append(request, &prompt::shell(has_files, self.options.root.name()));
            if let Some(sandbox) = agent.backend.shell().and_then(Shell::sandbox) {
                prompt::append(request, &prompt::held_back(sandbox));
            }
        }
    }

    fn has_media(&self, messages: &[Arc<Message>]) -> bool {
        let mut media = self.media.lock().unwrap_or_else(PoisonError::into_inner);
        !media.of(messages, media::has_media).is_empty()
    }

    /// Messages as the model may have them: large ones of the user as stubs, media by what it can take.
    /// Those of the first `refused` messages are named in any case. `has_media` tells whether there are any.
    fn rewrite(&self, cx: &TurnContext, request: &mut ChatRequest, refused: usize, has_media: bool) {
        let evicted: BTreeMap<String, String> = cx.log().with_state(|state| {
            let evicted = state.fields.get(eviction::MESSAGES_FIELD);
            evicted.and_then(|value| serde_json::from_value(value.clone()).ok()).unwrap_or_default()
        });
        // A long conversation is not walked over for nothing in each of its steps.
        if evicted.is_empty() && !has_media {
            return;
        }
        let finding = eviction::finding(cx);
        let abilities = cx.agent().model.info().abilities;
        for (index, message) in request.messages.iter_mut().enumerate() {
            if let Message::Human(human) = &**message
                && let Some(path) = evicted.get(human.id.as_str())
            {
                *message = self.messages.of(message, |_| Some(eviction::message(human, path, finding)));
            }
            if !media::has_media(message) {
                continue;
            }
            if index < refused {
                *message = self.refused.of(message, media::refused);
            }
            if !media::takes_all(abilities) {
                *message = self.unsupported.of(message, |message| media::without_unsupported(message, abilities));
            }
        }
    }
}

impl Middleware for Filesystem {
    fn name(&self) -> &'static str {
        "Filesystem"
    }

    fn tools(&self) -> Vec<Arc<dyn DynTool>> {
        self.tools.clone()
    }

    /// A person may speak at any step of a turn.
    fn before_step<'a>(&'a self, cx: &'a TurnContext) -> BoxFuture<'a, Result<(), AgentError>> {
        Box::pin(async move {
            let limit = limit(self.options.evict_messages_over);
            let update = eviction::last_messages(cx, &self.artifacts, limit).await;
            if !update.is_empty() {
                cx.log().record(vec![EntryBody::Updated { by: self.name().to_owned(), update }]).await?;
            }
            Ok(())
        })
    }

    fn wrap_model_call<'a>(
        &'a self,
        cx: &'a TurnContext,
        mut request: ChatRequest,
        next: NextModel<'a>,
    ) -> BoxFuture<'a, Result<AiMessage, AgentError>> {
        self.add_prompt(cx.agent(), &mut request);
        Box::pin(async move {
            let model = cx.agent().model.info().asked();
            let refused = cx.log().with_state(|state| media::refused_before(state, &model));
            let has_media = self.has_media(&request.messages);
            let with_media = has_media.then(|| request.clone());
            self.rewrite(cx, &mut request, refused, has_media);
            let sent = if has_media { media::kinds(&request.messages) } else { Vec::new() };
            match (next.run(request).await, with_media) {
                // The provider did not want a picture: the request is made again with it named instead. Only its answer to
                // that says that it was the picture, which is then left out for this model from now on.
                (Err(error), Some(mut request)) if media::is_refusal(&error, &sent) => {
                    tracing::warn!(%error, "the provider seems to refuse media; it is asked again without");
                    let refuser = cx.asked().asked();
                    let all = cx.log().with_state(|state| state.messages.len());
                    self.rewrite(cx, &mut request, all, true);
                    let answer = next.run(request).await?;
                    if answer.asked.as_ref() == Some(&refuser) {
                        media::refuse(cx, &refuser, all).await?;
                    }
                    Ok(answer)
                }
                (answer, _) => answer,
            }
        })
    }

    fn wrap_tool_call<'a>(
        &'a self,
        cx: &'a TurnContext,
        call: ToolCall,
        next: NextTool<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, AgentError>> {
        Box::pin(async move {
            let (id, name) = (call.id.clone(), call.name.clone());
            let mut output = next.run(call).await?;
            if self.options.offload_media {
                media::offload(cx, &mut output.content).await;
            }
            let most = limit(self.options.evict_results_over);
            Ok(eviction::result(cx, &self.artifacts, most, &name, &id, output).await)
        })
    }
}

/// The section about mounts: the file tools see them, a shell does not, or by another name (behaviour.md A26).
fn mounted(mounts: &[MountNote], has_shell: bool) -> Option<String> {
    let row = |mount: &MountNote| match &mount.host {
        Some(host) if has_shell => format!("- `{}/`: {} (in commands: `{host}`)", mount.path, mount.holds),
        _ => format!("- `{}/`: {}", mount.path, mount.holds),
    };
    let rows: Vec<String> = mounts.iter().map(row).collect();
    let shell = match (has_shell, mounts.iter().any(|mount| mount.host.is_some())) {
        (false, _) => "",
        (true, false) => "Commands do not see them: only the file tools do.",
        (true, true) => "Commands do not see them under these names: only the file tools do.",
    };
    let text = format!("These folders are kept apart from the other files:\n{}\n{shell}", rows.join("\n"));
    (!rows.is_empty()).then(|| text.trim_end().to_owned())
}

fn limit(tokens: u32) -> Option<u32> {
    Some(tokens).filter(|tokens| *tokens > 0)
}
