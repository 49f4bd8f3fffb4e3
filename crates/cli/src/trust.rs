//! `bosun trust`: what a project brings for the agent to go by, looked at and decided about by its content.

use std::io::Write;
use std::path::PathBuf;

use bosun_protocol::{
    DecideTrust, ErrorCode, ProjectId, ProjectTrust, SeenFile, TrustFile, TrustItem, TrustKind, TrustState,
    TrustVerdict,
};
use clap::{Args, Subcommand};

use crate::Exit;
use crate::failure::Failure;
use crate::knowledge::{Format, Shelves};
use crate::line::write_line;
use crate::terminal::{one_line, visible};

/// Characters of a hash in a mark: enough that nobody finds another content with them.
const MARK: usize = 16;

#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    #[command(subcommand)]
    command: TrustCommand,
    /// The project folder.
    #[arg(long, value_name = "DIR", global = true, default_value = ".")]
    project: PathBuf,
    #[arg(long, value_enum, default_value_t = Format::Text, global = true)]
    format: Format,
}

#[derive(Debug, Subcommand)]
enum TrustCommand {
    /// What the project brings, how each thing stands, and the mark by which it is decided about.
    List,
    /// The words of one file; where it was trusted with others, what changed.
    Show {
        #[arg(value_name = "PATH")]
        path: String,
    },
    /// Lets the agent go by files exactly as they were listed; a file that changed since is refused.
    Accept {
        /// PATH@MARK as the list has it.
        #[arg(value_name = "MARK", required = true)]
        marks: Vec<String>,
    },
    /// Takes trust back, or puts a decision off until the file changes.
    Decline {
        /// PATH@MARK as the list has it.
        #[arg(value_name = "MARK", required = true)]
        marks: Vec<String>,
    },
}

pub(crate) async fn trust(args: TrustArgs) -> Result<Exit, Failure> {
    let TrustArgs { command, project, format } = args;
    let shelves = Shelves::to_change().await?;
    let project = shelves.project(&project).await?;
    let mut out = std::io::stdout().lock();
    match command {
        TrustCommand::List => {
            let brought = shelves.sessions.project_trust(&project).await?;
            match format {
                Format::Json => write_line(&mut out, &brought)?,
                Format::Text => tell(&mut out, &brought)?,
            }
        }
        TrustCommand::Show { path } => {
            let text = shelves.sessions.trust_text(&project, &path).await.map_err(|error| match error.code {
                ErrorCode::NotFound => Failure::NotBrought { path: path.clone() },
                _ => error.into(),
            })?;
            match (format, &text.text, &text.diff) {
                (Format::Json, ..) => write_line(&mut out, &text)?,
                (Format::Text, _, Some(diff)) => {
                    write!(out, "{}", bosun_session::export::unified(diff, &bosun_session::export::ENGLISH))?
                }
                (Format::Text, Some(text), None) => write!(out, "{}", visible(text))?,
                (Format::Text, None, None) => return Err(Failure::NoText { path }),
            }
        }
        TrustCommand::Accept { marks } => decide(&shelves, &project, &marks, TrustVerdict::Trust).await?,
        TrustCommand::Decline { marks } => decide(&shelves, &project, &marks, TrustVerdict::NotNow).await?,
    }
    out.flush()?;
    Ok(Exit::Done)
}

async fn decide(
    shelves: &Shelves,
    project: &ProjectId,
    marks: &[String],
    verdict: TrustVerdict,
) -> Result<(), Failure> {
    let brought = shelves.sessions.project_trust(project).await?;
    let files = marks.iter().map(|mark| seen(&brought, mark)).collect::<Result<_, _>>()?;
    Ok(shelves.sessions.decide_trust(project, &DecideTrust { files, verdict }).await?)
}

/// The file of a mark, where it still is as it was listed.
fn seen(brought: &ProjectTrust, mark: &str) -> Result<SeenFile, Failure> {
    let stale = || Failure::StaleMark { mark: mark.to_owned() };
    let (path, hash) = mark.rsplit_once('@').ok_or_else(stale)?;
    let file = files(brought).find(|file| file.path == path).ok_or_else(stale)?;
    if hash.len() < MARK || !file.hash.starts_with(hash) {
        return Err(stale());
    }
    Ok(SeenFile { path: file.path.clone(), hash: file.hash.clone() })
}

fn files(brought: &ProjectTrust) -> impl Iterator<Item = &TrustFile> {
    brought.items.iter().flat_map(|item| &item.files)
}

fn tell(out: &mut impl Write, brought: &ProjectTrust) -> Result<(), Failure> {
    if brought.items.is_empty() {
        writeln!(out, "This project brings nothing for the agent to go by.")?;
    }
    for item in &brought.items {
        writeln!(out, "{:<12}  {:<10}  {}", kind(item), word(item.state), one_line(&item.name))?;
        for effect in &item.effects {
            writeln!(out, "    starts  {}", one_line(effect))?;
        }
        if let Some(problem) = &item.problem {
            writeln!(out, "    {}", one_line(&problem.to_string()))?;
        }
        for file in &item.files {
            let mark: String = file.hash.chars().take(MARK).collect();
            writeln!(out, "    {:<10}  {}@{mark}", word(file.state), one_line(&file.path))?;
        }
    }
    Ok(())
}

fn kind(item: &TrustItem) -> &'static str {
    match item.kind {
        TrustKind::Instructions => "instructions",
        TrustKind::Skill => "skill",
        TrustKind::Subagent => "subagent",
        TrustKind::Config => "configuration",
    }
}

fn word(state: TrustState) -> &'static str {
    match state {
        TrustState::New => "new",
        TrustState::Changed => "changed",
        TrustState::Trusted => "trusted",
        TrustState::SetAside => "not now",
        TrustState::Unusable => "unusable",
    }
}
