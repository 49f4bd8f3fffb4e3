//! `bosun skills`: what the agent can look up how to do, listed, shown, switched, taken out and brought in.

use std::io::Write;
use std::path::PathBuf;

use bosun_protocol::{ErrorCode, ProjectId, SkillEntry, SkillHidden, SkillOrigin, SkillRef};
use bosun_session::export::{ENGLISH, time};
use bosun_session::{ImportFrom, SessionError};
use clap::{Args, Subcommand};

use crate::Exit;
use crate::failure::Failure;
use crate::knowledge::{Format, Shelves, tell_imported};
use crate::line::write_line;
use crate::terminal::{one_line, short, visible};

/// Longest description in a list, in characters.
const DESCRIPTION: usize = 70;
/// The file that makes a folder a skill.
const FILE: &str = "SKILL.md";

#[derive(Debug, Args)]
pub(crate) struct SkillsArgs {
    #[command(subcommand)]
    command: SkillsCommand,
    /// With the skills of this project folder.
    #[arg(long, value_name = "DIR", global = true)]
    project: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t = Format::Text, global = true)]
    format: Format,
}

#[derive(Debug, Subcommand)]
enum SkillsCommand {
    /// Bosun's own, yours, and with --project those of the project.
    List,
    /// One file of a skill; without a name, its SKILL.md.
    Show {
        #[arg(value_name = "SKILL")]
        skill: String,
        #[arg(value_name = "FILE", default_value = FILE)]
        file: String,
    },
    /// Offers a skill to the model again.
    On {
        #[arg(value_name = "SKILL")]
        skill: String,
    },
    /// Does not offer a skill to the model any more.
    Off {
        #[arg(value_name = "SKILL")]
        skill: String,
    },
    /// Deletes one of yours; for 30 days `restore` brings it back.
    Delete {
        #[arg(value_name = "SKILL")]
        skill: String,
    },
    /// Brings back a deleted one.
    Restore {
        #[arg(value_name = "SKILL")]
        skill: String,
    },
    /// Writes a skill's files into a new folder in DIR.
    Export {
        #[arg(value_name = "SKILL")]
        skill: String,
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Brings in every skill that a folder or zip archive holds; they are yours then.
    Import {
        #[arg(value_name = "PATH")]
        from: PathBuf,
    },
}

pub(crate) async fn skills(args: SkillsArgs) -> Result<Exit, Failure> {
    let SkillsArgs { command, project, format } = args;
    let changes = matches!(
        command,
        SkillsCommand::On { .. }
            | SkillsCommand::Off { .. }
            | SkillsCommand::Import { .. }
            | SkillsCommand::Restore { .. }
    );
    let shelves = if changes { Shelves::to_change().await? } else { Shelves::to_look().await? };
    let sessions = &shelves.sessions;
    let project = shelves.known(project.as_deref()).await?;
    let found = async |name: &str| find(&shelves, project.as_ref(), name).await;
    let mut out = std::io::stdout().lock();
    match command {
        SkillsCommand::List => {
            let list = sessions.skills(project.as_ref()).await?;
            match format {
                Format::Json => write_line(&mut out, &list.entries)?,
                Format::Text => list.entries.iter().try_for_each(|entry| writeln!(out, "{}", row(entry)))?,
            }
        }
        SkillsCommand::Show { skill, file } => {
            let known = found(&skill).await?;
            let shown = sessions.skill_file(&known, &file).await.map_err(|error| no_file(error, &skill, &file))?;
            match (format, &shown.text) {
                (Format::Json, _) => write_line(&mut out, &shown)?,
                (Format::Text, None) => return Err(Failure::NoText { path: file }),
                (Format::Text, Some(text)) => write!(out, "{}", visible(text))?,
            }
        }
        SkillsCommand::On { skill } => sessions.switch_skill(&found(&skill).await?, false).await?,
        SkillsCommand::Off { skill } => sessions.switch_skill(&found(&skill).await?, true).await?,
        SkillsCommand::Delete { skill } => {
            let known = found(&skill).await?;
            if known.origin != SkillOrigin::User {
                return Err(Failure::NotYours { name: skill });
            }
            sessions.delete_skill(&known.folder).await?;
        }
        SkillsCommand::Restore { skill } => {
            sessions.restore_skill(&skill).await.map_err(|error| no_skill(error, &skill))?;
        }
        SkillsCommand::Export { skill, folder } => {
            let written = sessions.export_skill(&found(&skill).await?, &folder).await?;
            writeln!(out, "{}", written.display())?;
        }
        SkillsCommand::Import { from } => {
            drop(out);
            tell_imported(&sessions.import_skills(ImportFrom::Path(from)).await?, format)?;
            return Ok(Exit::Done);
        }
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// The skill that is called so: where several are, the one that the model would be offered.
async fn find(shelves: &Shelves, project: Option<&ProjectId>, name: &str) -> Result<SkillRef, Failure> {
    let list = shelves.sessions.skills(project).await?;
    let mut named: Vec<SkillEntry> = list.entries.into_iter().filter(|entry| entry.name == name).collect();
    named.sort_by_key(|entry| entry.hidden == Some(SkillHidden::Replaced));
    named.into_iter().next().map(|entry| entry.skill).ok_or_else(|| Failure::NoSkill { name: name.to_owned() })
}

fn row(entry: &SkillEntry) -> String {
    let origin = match entry.skill.origin {
        SkillOrigin::Builtin => "bosun",
        SkillOrigin::User => "yours",
        SkillOrigin::Home => "home",
        SkillOrigin::ProjectAgents | SkillOrigin::Project => "project",
    };
    let state = match entry.hidden {
        None if entry.pinned => "pinned",
        None => "on",
        Some(SkillHidden::Off) => "off",
        Some(SkillHidden::Untrusted) => "untrusted",
        Some(SkillHidden::Replaced) => "replaced",
        Some(SkillHidden::Broken) => "broken",
    };
    let used = match entry.used_at {
        Some(at) => format!("{} used {}", entry.uses, time(at, &ENGLISH)),
        None => "never used".to_owned(),
    };
    let words = &match &entry.problem {
        Some(problem) if entry.description.is_empty() => problem.to_string(),
        _ => entry.description.clone(),
    };
    format!("{origin:<7}  {state:<9}  {:<24}  {used:<26}  {}", one_line(&entry.name), short(words, DESCRIPTION))
}

fn no_skill(error: SessionError, name: &str) -> Failure {
    match error.code {
        ErrorCode::NotFound => Failure::NoSkill { name: name.to_owned() },
        _ => error.into(),
    }
}

fn no_file(error: SessionError, name: &str, file: &str) -> Failure {
    match error.code {
        ErrorCode::NotFound => Failure::NoSkillFile { name: name.to_owned(), file: file.to_owned() },
        _ => error.into(),
    }
}
