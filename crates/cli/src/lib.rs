//! `bosun`: the same core without a window, for scripts, terminals and measurements.
//!
//! **Owns** the command line: its flags, what is printed where, exit codes, prompts on a terminal, and where this
//! program takes models and keys from. **Must not** hold rules of its own: what may run is `session`'s policy, what a
//! tool does is `tools`', and files and processes are `backend`'s.
//!
//! Standard output carries what was asked for (the model's words, or JSON lines); everything else goes to standard
//! error. Start reading at [`main`], then `run`, then `run/follow`, which goes along with a turn.

mod core;
mod failure;
mod generate;
mod knowledge;
mod line;
mod mcp;
mod memories;
mod models;
mod preview;
mod row;
mod run;
mod sessions;
mod skills;
mod terminal;
mod tools;
mod trust;
mod usage;

use std::io::Write;

use anyhow::Context;
use bosun_providers::{EnvironmentKeys, KnownSecrets, Redacting};
use clap::{Parser, Subcommand};
use tokio_util::task::TaskTracker;

use crate::failure::Failure;

/// A deep agent that works in your project folder, without a window.
#[derive(Debug, Parser)]
#[command(name = "bosun", version, propagate_version = true, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Give the agent a task in a project folder, or go on with a session.
    Run(run::RunArgs),
    /// Run single tools: one JSON object per line in, one per line out.
    Tools(tools::ToolsArgs),
    /// Look at stored sessions, or sum one up.
    Sessions(sessions::SessionsArgs),
    /// What is remembered from one session to the next.
    Memories(memories::MemoriesArgs),
    /// What the agent can look up how to do.
    Skills(skills::SkillsArgs),
    /// What a project brings for the agent to go by, and what of it is trusted.
    Trust(trust::TrustArgs),
    /// The providers and models that could be named, and where requests to them go.
    Models(models::ModelsArgs),
    /// Providers of your own, and headers that a gateway wants.
    Providers(models::ProvidersArgs),
    /// The keys of providers: where they come from, putting one into the keyring and taking it out.
    Keys(models::KeysArgs),
    /// What model calls used and cost, by day and model, or in a session.
    Usage(usage::UsageArgs),
    /// Your servers of tools: which there are, and signing in at them.
    Mcp(mcp::McpArgs),
    /// Write the completions for a shell to standard output.
    Completions(generate::CompletionsArgs),
    /// Write the manual pages into a folder; packages do this once.
    #[command(hide = true)]
    Manual(generate::ManualArgs),
}

/// How a command ended, as an exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exit {
    Done = 0,
    Failed = 1,
    /// A call waits for an approval that nobody could give.
    NeedsApproval = 2,
    /// Ctrl-C, as shells count it.
    Interrupted = 130,
}

/// The whole program: reads its arguments and environment, does what they say, and returns its exit code.
pub fn main() -> u8 {
    bosun_backend::forbid_core_dumps();
    bosun_backend::keep_little();
    bosun_backend::forbid_looking_in();
    // Before anything that could start a thread.
    let keys = EnvironmentKeys::take(models::key_variables());
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let exit = start(cli.command, keys).unwrap_or_else(|error| {
        tell(&format!("bosun: {}", terminal::one_line(&format!("{error:#}"))));
        Exit::Failed
    });
    exit as u8
}

/// Help and versions are answers; anything else is a failure with code 1, because 2 means that an approval is missing.
fn usage(error: &clap::Error) -> u8 {
    // Nothing is left to say it to where even this cannot be printed.
    error.print().ok();
    if error.use_stderr() { Exit::Failed as u8 } else { Exit::Done as u8 }
}

fn start(command: Command, keys: EnvironmentKeys) -> anyhow::Result<Exit> {
    log_where_asked(&keys);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the program could not set itself up")?;
    let outcome = runtime.block_on(async {
        match command {
            Command::Run(args) => as_a_task(run::run(args, keys)).await,
            Command::Tools(args) => tools::serve(args).await,
            Command::Sessions(args) => sessions::sessions(args, keys).await,
            Command::Memories(args) => memories::memories(args).await,
            Command::Skills(args) => skills::skills(args).await,
            Command::Trust(args) => trust::trust(args).await,
            Command::Models(args) => models::models(args, keys).await,
            Command::Providers(args) => models::providers(args, keys).await,
            Command::Keys(args) => models::keys(args, keys).await,
            Command::Usage(args) => usage::usage(args).await,
            Command::Mcp(args) => mcp::mcp(args).await,
            Command::Completions(args) => generate::completions(&args),
            Command::Manual(args) => generate::manual(&args),
        }
    });
    // A prompt may still be reading a line that nobody will write.
    runtime.shutdown_background();
    match outcome {
        // Whoever read our output has gone; there is nobody to tell.
        Err(Failure::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(Exit::Failed),
        outcome => Ok(outcome?),
    }
}

/// Does `work` beside what the runtime itself waits for, which is woken with a call of the system each time.
async fn as_a_task<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
    // Nobody has its handle but this, so that only a panic ends it early.
    let tasks = TaskTracker::new();
    tasks.spawn(work).await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

/// Traces go to standard error, and only where `RUST_LOG` asks for them. They hold no key of `keys`, and nothing that looks
/// like one.
fn log_where_asked(keys: &EnvironmentKeys) {
    if std::env::var_os("RUST_LOG").is_some_and(|value| !value.is_empty()) {
        let secrets = KnownSecrets::default();
        keys.secrets().for_each(|key| secrets.learn(key));
        let filter = tracing_subscriber::EnvFilter::from_default_env();
        let writer = move || Redacting::new(std::io::stderr(), secrets.clone());
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).init();
    }
}

/// One line on standard error. That it cannot be written is nothing that anybody could be told.
fn tell(line: &str) {
    // In one piece, so that no line of another program comes in between.
    std::io::stderr().write_all(format!("{line}\n").as_bytes()).ok();
}
