//! What subagents cost: CPU and memory of many at once, each with a few tool turns, as one line of JSON.
//!
//! `cargo run --release -p bosun-harness --example bench_subagents -- [COUNT] [TURNS] [DELAY_MS] [LARGE]`
//!
//! `COUNT` subagents (200) are sent in one step and work side by side with the whole stack; each makes `TURNS` tool calls
//! (3) and answers. The model takes `DELAY_MS` (0) per request. Journals are kept in memory here. `LARGE` (0) results
//! of each are too large for its conversation, under ids that are the same in every one, as some providers count them; they
//! are read back from where each was told that they are.
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "it reads its own figures and prints them")]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bosun_agent::{
    Activity, EntryBody, MemoryHost, PermissionRule, SessionLog, SystemClock, TurnContext, TurnEnd, run_turn,
};
use bosun_backend::{LocalShellBackend, LocalShellOptions};
use bosun_harness::{Artifacts, DeepAgentConfig, create_deep_agent};
use bosun_model::{
    BoxFuture, ChatModel, ChatRequest, HumanMessage, Message, ModelError, ModelInfo, ModelStream, text_of,
};
use bosun_testkit::{Reply, ScriptedModel};
use bosun_tools::{Tool, ToolContext, ToolError, ToolKind, ToolOutput, erase};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// The ticks of `/proc`: a hundredth of a second, on every Linux that people run.
const TICKS_PER_SECOND: f64 = 100.0;

/// A model that takes its time.
struct Slow {
    model: ScriptedModel,
    delay: Duration,
}

impl ChatModel for Slow {
    fn info(&self) -> &ModelInfo {
        self.model.info()
    }

    fn stream(&self, request: ChatRequest) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        Box::pin(async move {
            if !self.delay.is_zero() {
                tokio::time::sleep(self.delay).await;
            }
            self.model.stream(request).await
        })
    }
}

/// Says something so often that it is too large for a conversation.
struct Recite;

#[derive(Deserialize, JsonSchema)]
struct ReciteInput {
    text: String,
}

impl Tool for Recite {
    const NAME: &'static str = "recite";
    type Input = ReciteInput;

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn description(&self) -> std::borrow::Cow<'_, str> {
        "Says it many times.".into()
    }

    async fn call(&self, _cx: &ToolContext, input: ReciteInput) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(recited(&input.text)))
    }
}

/// Results over so many tokens leave the conversation, where there are such.
const LARGEST: u32 = 100;

fn recited(text: &str) -> String {
    format!("{text}\n").repeat(100)
}

/// The session's agent sends them all, and each works and tells whose work it did and where its large results are.
fn answer(request: &ChatRequest, count: usize, turns: usize, large: usize) -> Reply {
    let task = request.messages.first().map(|message| text_of(message.content())).unwrap_or_default();
    let results = request.messages.iter().filter(|message| matches!(&***message, Message::Tool(_))).count();
    if task != "go" {
        return match results {
            results if results < turns => Reply::new().and_call("read_file", json!({"file_path": "/notes.txt"})),
            results if results < turns + large => {
                let id = format!("functions.recite:{}", results - turns);
                Reply::new().and_call_with_id(id, Recite::NAME, json!({"text": format!("{task}, {results}")}))
            }
            _ => Reply::text(
                std::iter::once(format!("did {task}")).chain(places(request)).collect::<Vec<_>>().join("\n"),
            ),
        };
    }
    if results > 0 {
        return Reply::text("done");
    }
    (0..count).fold(Reply::new(), |reply, n| {
        let args = json!({"description": format!("work {n}"), "subagent_type": "general-purpose"});
        reply.and_call_with_id(format!("t{n}"), "task", args)
    })
}

/// Where the large results of a conversation are.
fn places(request: &ChatRequest) -> impl Iterator<Item = String> {
    let place = |text: String| Some(text.split_once(" in the file ")?.1.split_once(".\n")?.0.to_owned());
    request.messages.iter().filter_map(move |message| place(text_of(message.content())))
}

/// Whether `answer` is that of the subagent `n`, and its large results are where it says.
fn is_right(folder: &Path, n: &str, answer: &str, (turns, large): (usize, usize)) -> bool {
    let mut lines = answer.lines();
    let done = lines.next() == Some(&format!("did work {n}"));
    let kept: Vec<String> = lines
        .map(|place| std::fs::read_to_string(folder.join(place.trim_start_matches('/'))).unwrap_or_default())
        .collect();
    let expected: Vec<String> = (turns..turns + large).map(|place| recited(&format!("work {n}, {place}"))).collect();
    done && kept == expected
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = std::env::args().skip(1).map(|number| number.parse::<usize>());
    let mut next = |usual: usize| numbers.next().unwrap_or(Ok(usual));
    let (count, turns, delay, large) = (next(200)?, next(3)?, next(0)?, next(0)?);
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("notes.txt"), "something to read\n".repeat(40))?;
    let model = ScriptedModel::by(move |request| answer(request, count, turns, large)).forgetful();
    let model = Arc::new(Slow { model, delay: Duration::from_millis(delay as u64) });
    let backend = Arc::new(LocalShellBackend::open(folder.path(), LocalShellOptions::default())?);
    let mut config = DeepAgentConfig::new(model, backend);
    config.limits.max_subagents = count.max(1);
    config.policy.edits = PermissionRule::AllowAll { name: "nobody is here".into() };
    if large > 0 {
        config.tools = vec![erase(Recite)];
        config.artifacts = Artifacts::at_root();
        config.filesystem.evict_results_over = LARGEST;
    }
    let agent = Arc::new(create_deep_agent(config)?);
    let host = Arc::new(MemoryHost::new("bench".into()));
    let log = Arc::new(SessionLog::open(host, Arc::new(SystemClock), &[]));
    let message = HumanMessage { id: "h".into(), content: vec!["go".into()] };
    log.record(vec![EntryBody::TurnStarted { turn: 1, message }]).await?;

    let (memory, cpu, begun) = (memory("VmRSS:")?, cpu_ms()?, Instant::now());
    let cx = TurnContext::new(agent, Arc::clone(&log), CancellationToken::new(), Activity::default());
    let end = run_turn(&cx).await?;
    let (seconds, cpu) = (begun.elapsed().as_secs_f64(), cpu_ms()? - cpu);
    if end != TurnEnd::Done {
        return Err(format!("the turn ended otherwise: {end:?}").into());
    }
    let wrong = log.with_state(|state| {
        let results = state.messages.iter().filter_map(|message| match &**message {
            Message::Tool(result) => Some((result.call_id.to_string(), text_of(&result.content))),
            _ => None,
        });
        let right = results.filter(|(id, text)| {
            id.strip_prefix('t').is_some_and(|n| is_right(folder.path(), n, text, (turns, large)))
        });
        count.saturating_sub(right.count())
    });
    let figures = json!({
        "subagents": count,
        "tool_turns": turns,
        "large_results": large,
        "delay_ms": delay,
        "seconds": seconds,
        "cpu_ms": cpu,
        "cpu_ms_per_subagent": cpu / count.max(1) as f64,
        "more_memory_kb": self::memory("VmHWM:")?.saturating_sub(memory),
        "peak_memory_kb": self::memory("VmHWM:")?,
        "lost_or_crossed": wrong,
    });
    println!("{figures}");
    Ok(())
}

/// CPU time of the process so far, user and system.
fn cpu_ms() -> Result<f64, Box<dyn std::error::Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // The name of the program, in brackets, may hold anything.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|ticks| ticks.parse::<f64>().ok()).unwrap_or(0.0);
    Ok((ticks(11) + ticks(12)) * 1_000.0 / TICKS_PER_SECOND)
}

/// A figure of `/proc/self/status`, in KB.
fn memory(name: &str) -> Result<u64, Box<dyn std::error::Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("0");
    Ok(line.trim().trim_end_matches("kB").trim().parse()?)
}
