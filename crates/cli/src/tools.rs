//! `bosun tools`: single tools over a project, one JSON object per line in, one per line out.

mod kind;
mod lines;
mod memory;
mod request;

use std::io;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;

use bosun_backend::{Backend, OutputSink, Unwitnessed};
use bosun_model::{Abilities, CallId, ContentBlock};
use bosun_tools::{BuiltinOptions, ToolContext, ToolError, ToolOutput, ToolRegistry, builtin_tools};
use clap::Args;
use futures_util::FutureExt;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use self::kind::{Kind, RouteTo};
use self::lines::{LONGEST, Line, Lines};
use self::memory::Memory;
use self::request::{Answer, Request};
use crate::Exit;
use crate::failure::Failure;
use crate::line::write_line;

#[derive(Debug, Args)]
#[command(after_help = "\
One JSON object per line on standard input:
  {\"id\": 1, \"tool\": \"read_file\", \"args\": {\"file_path\": \"/README.md\"}}
One per line, in the same order, on standard output:
  {\"id\": 1, \"status\": \"success\", \"content\": \"…\", \"artifact\": {…}}
Nothing asks: whoever writes the lines approves them.")]
pub(crate) struct ToolsArgs {
    /// The project folder; `/` in paths is this folder. Kinds that keep their files elsewhere need none.
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// What the tools work on: shell, filesystem, state, store[:NAMESPACE], composite (the project with the app's own
    /// mounts), sandbox, ssh:HOST[:FOLDER], container:NAME or container-copy:IMAGE.
    #[arg(long, value_name = "KIND[:ARG]", default_value = "shell")]
    backend: Kind,
    /// Another backend below a folder: `/notes=store:notes/mine`, `/old=filesystem:/srv/old`. May be given several
    /// times; the longest prefix counts.
    #[arg(long = "route", value_name = "PREFIX=KIND[:ARG]")]
    routes: Vec<RouteTo>,
    /// For `ssh`: another configuration of OpenSSH than your own, as `ssh -F` takes it.
    #[arg(long, value_name = "FILE")]
    ssh_config: Option<PathBuf>,
}

/// Answers lines until standard input ends. A call that fails is an answer too, so the exit code is about the program.
pub(crate) async fn serve(args: ToolsArgs) -> Result<Exit, Failure> {
    let mut bench = Bench::open(args).await?;
    let mut lines = Lines::of(tokio::io::stdin(), LONGEST);
    loop {
        let line = tokio::select! {
            line = lines.next() => line?,
            interrupt = tokio::signal::ctrl_c() => { interrupt?; return Ok(Exit::Interrupted) }
        };
        let answer = match line {
            Line::End => return Ok(Exit::Done),
            Line::TooLong(number) => Some(Answer::too_long(number)),
            Line::Whole(bytes, _) if bytes.iter().all(u8::is_ascii_whitespace) => continue,
            Line::Whole(bytes, number) => match Request::parse(bytes, number) {
                Ok(request) => bench.answer(request).await?,
                Err(answer) => Some(*answer),
            },
        };
        let Some(answer) = answer else { return Ok(Exit::Interrupted) };
        let mut out = io::stdout().lock();
        write_line(&mut out, &answer)?;
        io::Write::flush(&mut out)?;
    }
}

/// The tools over one project, with what was read so far.
struct Bench {
    tools: ToolRegistry,
    backend: Arc<dyn Backend>,
    memory: Arc<Memory>,
    calls: u64,
}

impl Bench {
    async fn open(args: ToolsArgs) -> Result<Self, Failure> {
        let backend = kind::open(args).await?;
        let tools = ToolRegistry::new(builtin_tools(&*backend, BuiltinOptions::default()))?;
        Ok(Self { tools, backend, memory: Arc::default(), calls: 0 })
    }

    /// Runs one call; `None` when the person stopped it.
    async fn answer(&mut self, request: Request) -> Result<Option<Answer>, Failure> {
        self.calls += 1;
        let cancel = CancellationToken::new();
        let mut call = Box::pin(self.call(&request.tool, request.args, cancel.clone()));
        let output = tokio::select! {
            output = &mut call => output,
            interrupt = tokio::signal::ctrl_c() => {
                interrupt?;
                cancel.cancel();
                // Until the processes of the call have ended.
                call.await;
                return Ok(None);
            }
        };
        drop(call);
        self.memory.apply(&output.update);
        let status = output.status();
        Ok(Some(Answer { id: request.id, status, content: content_of(output.content), artifact: output.artifact }))
    }

    /// The call as the agent would make it, with the same words where it cannot be made.
    async fn call(&self, name: &str, args: Value, cancel: CancellationToken) -> ToolOutput {
        let Some(tool) = self.tools.get(name) else { return ToolOutput::error(self.tools.unknown(name)) };
        let args = match tool.validate(&args) {
            Ok(args) => args,
            Err(error) => return ToolOutput::error(error.to_string()),
        };
        let cx = self.context(cancel);
        match AssertUnwindSafe(tool.call(&cx, args)).catch_unwind().await {
            Ok(Ok(output)) => output,
            Ok(Err(ToolError::Model(text) | ToolError::Fatal(text))) => ToolOutput::error(text),
            Ok(Err(ToolError::Cancelled)) => ToolOutput::error("Cancelled by the user while it ran."),
            Err(_panic) => {
                ToolOutput::error(format!("Error: the tool {name} broke inside and did not finish; try another way"))
            }
        }
    }

    fn context(&self, cancel: CancellationToken) -> ToolContext {
        ToolContext {
            call_id: CallId::new(format!("call_{}", self.calls)),
            backend: Arc::clone(&self.backend),
            state: Arc::clone(&self.memory) as Arc<dyn bosun_tools::StateView>,
            witness: Arc::new(Unwitnessed),
            output: Arc::new(Unwatched),
            cancel,
            // Who reads the answers is not known, so nothing is kept from them.
            held: false,
            abilities: Abilities { images: true, documents: true, audio: true, video: true, reasoning: true },
            delegate: None,
        }
    }
}

/// Text as one string; with media among it, the blocks as they are.
fn content_of(blocks: Vec<ContentBlock>) -> Value {
    if blocks.iter().all(|block| block.as_text().is_some()) {
        return Value::String(bosun_model::text_of(&blocks));
    }
    serde_json::to_value(blocks).unwrap_or_default()
}

/// The answer has the whole output; nobody looks on while it grows.
struct Unwatched;

impl OutputSink for Unwatched {
    fn output(&self, _bytes: &[u8]) {}
}
