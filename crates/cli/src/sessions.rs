//! `bosun sessions`: stored sessions, listed, shown, exported and summed up, and taken along to another folder.

mod summary;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bosun_backend::real_path;
use bosun_protocol::{ErrorCode, ProjectId, SessionId, SessionSummary};
use bosun_providers::EnvironmentKeys;
use bosun_session::export::{Detail, ENGLISH, markdown, time, word};
use bosun_session::{Limits, Policy, Sessions};
use bosun_store::Database;
use clap::{Args, Subcommand, ValueEnum};

use crate::Exit;
use crate::core::{Stored, open_sessions};
use crate::failure::Failure;
use crate::line::write_line;
use crate::models::Models;
use crate::tell;
use crate::terminal::{one_line, short};

#[derive(Debug, Args)]
pub(crate) struct SessionsArgs {
    #[command(subcommand)]
    command: SessionsCommand,
}

#[derive(Debug, Subcommand)]
enum SessionsCommand {
    /// The sessions there are, last changed first.
    List {
        /// Only those of this project folder.
        #[arg(long, value_name = "DIR")]
        project: Option<PathBuf>,
        /// A table, or one JSON array of summaries.
        #[arg(long, value_enum, default_value_t = Format::Markdown)]
        format: Format,
    },
    /// A session in short: what was said, and a line for each call.
    Show {
        #[arg(value_name = "ID")]
        session: String,
        #[arg(long, value_enum, default_value_t = Format::Markdown)]
        format: Format,
    },
    /// A session whole, with its subagents, diffs and outputs.
    Export {
        #[arg(value_name = "ID")]
        session: String,
        #[arg(long, value_enum, default_value_t = Format::Markdown)]
        format: Format,
    },
    /// Give a project whose folder was moved or renamed its new folder. Its sessions, memories, rules and settings go
    /// with it; what was trusted in it stays trusted where it is still the same.
    MoveProject {
        /// The folder where it was.
        #[arg(value_name = "OLD")]
        old: PathBuf,
        /// The folder where it is now.
        #[arg(value_name = "NEW")]
        new: PathBuf,
    },
    /// Sum a session's conversation up now: the summary is sent in the place of its beginning. Its model is asked, as
    /// `bosun run --session` finds it.
    Compact {
        #[arg(value_name = "ID")]
        session: String,
        /// What is to be minded in the summary.
        #[arg(long, value_name = "TEXT")]
        guidance: Option<String>,
        #[arg(long, value_enum, default_value_t = Format::Markdown)]
        format: Format,
    },
    /// The summary that is sent in the place of a session's beginning.
    Summary {
        #[arg(value_name = "ID")]
        session: String,
        #[arg(long, value_enum, default_value_t = Format::Markdown)]
        format: Format,
    },
    /// Give that summary other words. What is carried over word for word stays behind them.
    EditSummary {
        #[arg(value_name = "ID")]
        session: String,
        /// A text file with the new words; without it they come from standard input.
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
        #[arg(long, value_enum, default_value_t = Format::Markdown)]
        format: Format,
    },
    /// Take that summary back: what it stood for is sent again, or the summary before it.
    UndoSummary {
        #[arg(value_name = "ID")]
        session: String,
        #[arg(long, value_enum, default_value_t = Format::Markdown)]
        format: Format,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Markdown,
    /// For programs (docs/cli.md).
    Json,
}

pub(crate) async fn sessions(args: SessionsArgs, keys: EnvironmentKeys) -> Result<Exit, Failure> {
    match args.command {
        SessionsCommand::List { project, format } => list(project.as_deref(), format, keys).await?,
        SessionsCommand::Show { session, format } => show(session, format, Detail::Short, keys).await?,
        SessionsCommand::Export { session, format } => show(session, format, Detail::Whole, keys).await?,
        SessionsCommand::MoveProject { old, new } => move_project(&old, &new, keys).await?,
        SessionsCommand::Compact { session, guidance, format } => {
            summary::compact(&session, guidance.as_deref(), format, keys).await?;
        }
        SessionsCommand::Summary { session, format } => summary::show(&session, format, keys).await?,
        SessionsCommand::EditSummary { session, file, format } => {
            summary::edit(&session, file.as_deref(), format, keys).await?;
        }
        SessionsCommand::UndoSummary { session, format } => summary::undo(&session, format, keys).await?,
    }
    Ok(Exit::Done)
}

/// The data folder's sessions; `None` where nothing was ever stored. Nothing is made.
async fn open(keys: EnvironmentKeys) -> Result<Option<(Arc<Database>, Sessions)>, Failure> {
    let folder = bosun_store::data_folder().ok_or(Failure::NoDataFolder)?;
    if Database::open_existing(&folder)?.is_none() {
        // That there is nothing yet may only be said of a folder that could be used.
        Database::could_be_in(&folder)?;
        return Ok(None);
    }
    let stored = Stored::open()?;
    let models = Arc::new(Models::new(Some(Arc::clone(&stored.database)), keys));
    let sessions = open_sessions(Some(&stored), models, Policy::default(), Limits::default()).await?;
    Ok(Some((stored.database, sessions)))
}

async fn list(project: Option<&Path>, format: Format, keys: EnvironmentKeys) -> Result<(), Failure> {
    // A folder that is gone or may be no project any more still has its sessions.
    let root = project.map(real_path);
    let mut rows = Vec::new();
    if let Some((database, sessions)) = open(keys).await? {
        let (summaries, _) = sessions.watch_summaries().await?;
        for summary in summaries {
            let path = project_path(&database, &summary.project).await?;
            if root.as_deref().is_none_or(|root| Path::new(&path) == root) {
                rows.push((summary, path));
            }
        }
    }
    let mut out = std::io::stdout().lock();
    match format {
        Format::Json => {
            let summaries: Vec<&SessionSummary> = rows.iter().map(|(summary, _)| summary).collect();
            write_line(&mut out, &summaries)?;
        }
        Format::Markdown if rows.is_empty() => match &root {
            None => writeln!(out, "There are no sessions here yet.")?,
            Some(root) => writeln!(
                out,
                "There are no sessions of {} yet; without --project those of every project are listed.",
                root.display()
            )?,
        },
        Format::Markdown => {
            for (summary, path) in &rows {
                writeln!(out, "{}", table_row(summary, path))?;
            }
        }
    }
    Ok(out.flush()?)
}

async fn move_project(old: &Path, new: &Path, keys: EnvironmentKeys) -> Result<(), Failure> {
    // It is gone, so that only its words are known.
    let old = real_path(old);
    let unknown = || Failure::UnknownProject { path: old.clone() };
    let Some((database, sessions)) = open(keys).await? else { return Err(unknown()) };
    let known = database.project_at(&old.to_string_lossy()).await?.ok_or_else(unknown)?;
    let moved = sessions.move_project(&ProjectId::new(known.id), new).await?;
    let path = project_path(&database, &moved.id).await?;
    writeln!(std::io::stdout().lock(), "The project '{}' is at {} now.", one_line(&moved.name), one_line(&path))?;
    Ok(())
}

fn table_row(summary: &SessionSummary, path: &str) -> String {
    let title = if summary.title.is_empty() { "(nothing said yet)" } else { &summary.title };
    let changed = time(summary.updated_at, &ENGLISH);
    format!(
        "{}  {:<11}  {changed}  {}  ({})",
        summary.id,
        word(summary.status, &ENGLISH),
        short(title, 60),
        one_line(path)
    )
}

async fn show(id: String, format: Format, detail: Detail, keys: EnvironmentKeys) -> Result<(), Failure> {
    let no_session = || Failure::NoSession { id: id.clone() };
    let Some((database, sessions)) = open(keys).await? else { return Err(no_session()) };
    let session = SessionId::new(id.as_str());
    let (archive, redacted) = sessions.whole(&session).await.map_err(|error| match error.code {
        ErrorCode::NotFound => no_session(),
        _ => error.into(),
    })?;
    let mut out = std::io::stdout().lock();
    match (format, detail) {
        (Format::Json, Detail::Short) => {
            let snapshot = sessions.subscribe(&session).await?.snapshot;
            write_line(&mut out, &snapshot)?;
        }
        (Format::Json, Detail::Whole) => write_line(&mut out, &archive)?,
        (Format::Markdown, detail) => {
            let path = project_path(&database, &archive.session.project).await?;
            out.write_all(markdown(&archive, &path, detail, &ENGLISH).as_bytes())?;
        }
    }
    out.flush()?;
    if redacted > 0 && detail == Detail::Whole {
        tell(&format!("what looks like a key was taken out of {redacted} places"));
    }
    Ok(())
}

async fn project_path(database: &Database, project: &ProjectId) -> Result<String, Failure> {
    let stored = database.project(project.as_str()).await?;
    Ok(stored.map_or_else(|| "a folder that is not known any more".to_owned(), |project| project.path))
}
