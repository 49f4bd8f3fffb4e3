//! `bosun run`: one task to its end, or on with a session.

mod agent;
mod agents;
mod attached;
pub(crate) mod begin;
mod choices;
pub(crate) mod config;
mod follow;
mod limits;
mod mode;
mod printer;
mod prompt;
mod remembered;
pub(crate) mod resumed;
mod said;
mod stopping;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bosun_protocol::{SessionId, TurnOutcome};
use bosun_providers::EnvironmentKeys;
use bosun_session::{Limits, ModelSource, Sessions};
use clap::Args;

use self::begin::Begun;
use self::follow::{Ended, Follower, Reason};
use self::mode::Mode;
use self::printer::Printer;
use crate::core::{Stored, keyring, open_sessions};
use crate::failure::Failure;
use crate::models::{Models, parse_model};
use crate::{Exit, tell, terminal};

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 done, 1 failed, 2 a call needs an approval that nobody could give (go on with --session), 130 Ctrl-C.
Keys come from the keyring, where the settings put them, else from ANTHROPIC_API_KEY, OPENAI_API_KEY and the like.")]
pub(crate) struct RunArgs {
    /// The project folder; the agent's files are those below it. Without it, the folder you are in.
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// The model, for example anthropic:claude-sonnet-4-6; without it, the one chosen in Bosun's settings.
    #[arg(long, value_name = "PROVIDER:NAME")]
    model: Option<String>,
    #[command(flatten)]
    choices: choices::Choices,
    /// Another address for the model's provider, and for no other: without /v1 for anthropic, with /v1 for openai.
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// What happens to calls that change something.
    #[arg(long, value_enum, default_value_t = Mode::Ask, value_name = "MODE")]
    approve: Mode,
    /// Commands run in a sandbox: they can change the project and nothing else, and have no network. A session goes on
    /// with it.
    #[arg(long)]
    sandbox: bool,
    /// One event per line as JSON (docs/cli.md) instead of the model's text.
    #[arg(long)]
    json: bool,
    /// Keep nothing: no session, no copies of changed files.
    #[arg(long, conflicts_with = "session")]
    no_store: bool,
    #[command(flatten)]
    limits: limits::TurnLimits,
    /// The agent, as a TOML file declares it (docs/cli.md); a session goes on with the one it was begun with.
    #[arg(long, value_name = "FILE")]
    agent: Option<PathBuf>,
    /// Servers of tools, hooks and more folders for this run, as TOML (docs/cli.md).
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// A tool that changed, as the run before named it, is on again as it was shown there; may be repeated.
    #[arg(long, value_name = "MARK")]
    accept_tool: Vec<String>,
    /// A picture, a PDF or a text that goes along with the task; may be repeated.
    #[arg(long, value_name = "FILE", requires = "task")]
    attach: Vec<PathBuf>,
    /// Go on with this session: with what is open in it, or with a new TASK.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// What to do.
    #[arg(value_name = "TASK", required_unless_present = "session")]
    task: Option<String>,
}

impl RunArgs {
    /// The project of a new session.
    fn folder(&self) -> &Path {
        self.project.as_deref().unwrap_or(Path::new("."))
    }
}

pub(crate) async fn run(args: RunArgs, keys: EnvironmentKeys) -> Result<Exit, Failure> {
    if args.task.as_deref().is_some_and(|task| task.trim().is_empty()) {
        return Err(Failure::NoTask);
    }
    let model = args.model.as_deref().map(parse_model).transpose()?;
    if args.session.is_none() || args.project.is_some() {
        bosun_backend::project_root(args.folder(), bosun_store::data_folder().as_deref())?;
    }
    if let Some(url) = &args.base_url {
        bosun_providers::host_of(url).map_err(|error| Failure::BaseUrl { reason: error.message })?;
    }
    let extras = args.config.as_deref().map(config::read).transpose()?;
    let stored = if args.no_store { None } else { Some(Stored::open()?) };
    let database = stored.as_ref().map(|stored| Arc::clone(&stored.database));
    let agent = agent::file(args.agent.as_deref(), args.session.as_deref(), database.as_deref()).await?;
    let models = Arc::new(Models::new(database.clone(), keys));
    if let (None, Some(id), Some(database)) = (&args.base_url, &args.session, &database) {
        models.ask_at(remembered::address(database, id).await?);
    }
    let source = Arc::clone(&models) as Arc<dyn ModelSource>;
    let sessions = open_sessions(stored.as_ref(), source, args.approve.policy(), Limits::default()).await?;
    let mut declared = agent.as_deref().map(agent::read).transpose()?.unwrap_or_default();
    args.limits.put_into(&mut declared);
    sessions.declare(declared);
    if let Some(database) = &database {
        sessions.keep_sign_ins(keyring(database));
    }
    match extras {
        Some(extras) => sessions.add(extras, args.accept_tool.clone()).await?,
        // The person's own, as the window has them.
        None => sessions.load_additions(args.accept_tool.clone()).await?,
    }
    let is_sandboxed = match (&args.session, &database) {
        (Some(id), Some(database)) if !args.sandbox => {
            remembered::recall(database, remembered::SANDBOX, id).await?.is_some()
        }
        _ => args.sandbox,
    };
    if is_sandboxed {
        sessions.sandbox_commands().await?;
    }
    sessions.name_no_sessions();
    sessions.tell_of_untrusted();
    args.choices.begin(&sessions)?;
    let begun = match &args.session {
        Some(id) => begin::resume(&sessions, &models, database.as_deref(), id, &args, model).await?,
        None => begin::begin(&sessions, &models, database.as_deref(), &args, model).await?,
    };
    if let (Some(_), Some(address), Some(database)) = (&args.base_url, models.address(), &database) {
        remembered::keep_address(database, begun.session.as_str(), address).await?;
    }
    if let (Some(agent), Some(database)) = (&agent, &database) {
        remembered::keep(database, remembered::AGENT, begun.session.as_str(), &agent.to_string_lossy()).await?;
    }
    config::tell_of_servers(&sessions, &begun.session, args.config.as_deref()).await?;
    let outcome = go_along(&sessions, &models, begun, &args).await;
    sessions.shut_down().await;
    outcome
}

async fn go_along(sessions: &Sessions, models: &Models, begun: Begun, args: &RunArgs) -> Result<Exit, Failure> {
    let session = begun.session.clone();
    let printer = Printer::new(args.json);
    let mut follower = Follower::new(sessions.clone(), begun, printer, args.approve);
    let ended = follower.follow_to_end().await?;
    let again = Again { session: &session, stored: !args.no_store };
    match ended {
        Ended::Turn { outcome: TurnOutcome::Done, .. } => Ok(Exit::Done),
        Ended::Turn { outcome: TurnOutcome::Stopped, .. } | Ended::Interrupted => {
            let beside = match sessions.working_beside(&session).await? {
                0 => "",
                1 => "; a subagent was still at work and goes on with the session",
                _ => "; subagents were still at work and go on with the session",
            };
            again.tell(&format!("stopped{beside}"));
            Ok(Exit::Interrupted)
        }
        Ended::Turn { reason: Reason { limit: Some(limit), .. }, .. } => {
            let saved = if args.no_store { "" } else { "; everything is saved" };
            again.tell(&format!("the task was not done within {limit}{saved}"));
            Ok(Exit::Failed)
        }
        Ended::Turn { outcome: TurnOutcome::StepLimit | TurnOutcome::Failed, reason } => {
            let way_out = if reason.is_about_the_key { models.about_the_key() } else { String::new() };
            again.tell(&format!("{}{way_out}", reason.words));
            Ok(Exit::Failed)
        }
        Ended::Waiting { approvals } => {
            for approval in &approvals {
                tell(&format!("waits for an approval: {}", prompt::call_line(approval)));
            }
            let what = if approvals.len() == 1 { "a call needs" } else { "calls need" };
            again.tell(&format!("{what} an approval that nobody could give here"));
            Ok(Exit::NeedsApproval)
        }
        Ended::Unrecorded { why } => {
            again.tell(&why);
            Ok(Exit::Failed)
        }
    }
}

/// How to go on with a session, for the person at the terminal.
struct Again<'a> {
    session: &'a SessionId,
    stored: bool,
}

impl Again<'_> {
    /// What happened, then the way on.
    fn tell(&self, what: &str) {
        let what = terminal::one_line(what);
        if self.stored {
            tell(&format!("bosun: {what}"));
            tell(&format!("go on with: bosun run --session {}", self.session));
        } else {
            tell(&format!("bosun: {what}; nothing was stored (--no-store), so it cannot go on"));
        }
    }
}
