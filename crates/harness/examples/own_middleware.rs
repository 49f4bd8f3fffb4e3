//! A deep agent as a library, with a middleware and a tool of one's own.
//!
//! `cargo run -p bosun-harness --example own_middleware`
//!
//! The model is a scripted one, so that this runs without an account; `bosun_providers::connect` makes a real one. The
//! middleware shows the three things most of them do: it adds to the prompt, it looks at calls on their way to the tool,
//! and it remembers in the state, never in `self`, so that a session opened again goes on as it was.
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "an example makes its own folder and prints")]

use std::borrow::Cow;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use bosun_agent::{
    Activity, AgentError, BoxFuture, EntryBody, MemoryHost, Middleware, NextModel, NextTool, PermissionRule,
    SessionLog, SystemClock, TurnContext, TurnEnd, run_turn,
};
use bosun_backend::{LocalShellBackend, LocalShellOptions};
use bosun_harness::{DeclaredAgent, DeepAgentConfig, create_deep_agent};
use bosun_model::{AiMessage, ChatRequest, HumanMessage, SystemBlock, ToolCall};
use bosun_testkit::{Reply, ScriptedModel};
use bosun_tools::{DynTool, StateUpdate, Tool, ToolContext, ToolError, ToolKind, ToolOutput, erase};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

/// Counts the calls of a session and tells the model when they become many.
struct CallCounter {
    many: u64,
}

const FIELD: &str = "call_counter";

impl CallCounter {
    fn calls(cx: &TurnContext) -> u64 {
        cx.log().with_state(|state| state.fields.get(FIELD).and_then(serde_json::Value::as_u64).unwrap_or(0))
    }
}

impl Middleware for CallCounter {
    fn name(&self) -> &'static str {
        "CallCounter"
    }

    fn tools(&self) -> Vec<Arc<dyn DynTool>> {
        vec![erase(WordCount)]
    }

    fn wrap_model_call<'a>(
        &'a self,
        cx: &'a TurnContext,
        mut request: ChatRequest,
        next: NextModel<'a>,
    ) -> BoxFuture<'a, Result<AiMessage, AgentError>> {
        if Self::calls(cx) >= self.many {
            request.system.push(SystemBlock::new("You have called many tools by now. Come to an end."));
        }
        next.run(request)
    }

    fn wrap_tool_call<'a>(
        &'a self,
        cx: &'a TurnContext,
        call: ToolCall,
        next: NextTool<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, AgentError>> {
        Box::pin(async move {
            let mut output = next.run(call).await?;
            // What a tool call changes in the state is recorded together with its result.
            let fields = vec![(FIELD.to_owned(), (Self::calls(cx) + 1).into())];
            output.update.fields.extend(StateUpdate { fields, ..StateUpdate::default() }.fields);
            Ok(output)
        })
    }
}

/// A tool that comes with the middleware. What the model reads of it are these doc comments.
struct WordCount;

#[derive(Deserialize, JsonSchema)]
struct WordCountInput {
    /// The text to count.
    text: String,
}

impl Tool for WordCount {
    const NAME: &'static str = "word_count";
    type Input = WordCountInput;

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn description(&self) -> Cow<'_, str> {
        "Counts the words of a text.".into()
    }

    async fn call(&self, _cx: &ToolContext, input: Self::Input) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(input.text.split_whitespace().count().to_string()))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let (end, cx) = turn_in(folder.path()).await?;
    let said = cx.log().with_state(|state| state.last_text()).unwrap_or_default();
    println!("{end:?} after {} calls: {said}", CallCounter::calls(&cx));
    println!("count.txt: {}", std::fs::read_to_string(folder.path().join("count.txt"))?.trim());
    Ok(())
}

/// One turn of the agent in `folder`, to its end.
async fn turn_in(folder: &Path) -> Result<(TurnEnd, TurnContext), Box<dyn Error>> {
    let model = ScriptedModel::new([
        Reply::call("word_count", serde_json::json!({ "text": "one two three" })),
        Reply::call("write_file", serde_json::json!({ "file_path": "/count.txt", "content": "3\n" })),
        Reply::text("The text has three words; I wrote the figure to /count.txt."),
    ]);
    let backend = LocalShellBackend::open(folder, LocalShellOptions::default())?;
    let mut config = DeepAgentConfig::new(Arc::new(model), Arc::new(backend));
    config.middleware.push(Arc::new(CallCounter { many: 50 }));
    config.policy.edits = PermissionRule::Allow { name: "edits of the example".into() };
    // What is no code can stand in a file.
    DeclaredAgent::parse("system_prompt = 'You count words.'\nguards.max_steps = 20")?.apply(&mut config);
    let agent = Arc::new(create_deep_agent(config)?);

    // A session in memory; `bosun_store` has the one that survives.
    let host = Arc::new(MemoryHost::new("example".into()));
    let log = Arc::new(SessionLog::open(host, Arc::new(SystemClock), &[]));
    let message = HumanMessage { id: "1".into(), content: vec!["How many words has 'one two three'?".into()] };
    log.record(vec![EntryBody::TurnStarted { turn: 1, message }]).await?;
    let cx = TurnContext::new(agent, log, CancellationToken::new(), Activity::default());
    let end = run_turn(&cx).await?;
    Ok((end, cx))
}

#[cfg(test)]
mod tests {
    use bosun_model::Message;

    use super::*;

    #[tokio::test]
    async fn the_tool_counts_the_words_and_the_middleware_the_calls() -> Result<(), Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        let (end, cx) = turn_in(folder.path()).await?;
        assert_eq!((end, CallCounter::calls(&cx)), (TurnEnd::Done, 2));
        let is_counted = |message: &Message| matches!(message, Message::Tool(result) if result.text() == "3");
        assert!(cx.log().with_state(|state| state.messages.iter().any(|message| is_counted(message))));
        assert_eq!(std::fs::read_to_string(folder.path().join("count.txt"))?, "3\n");
        Ok(())
    }
}
