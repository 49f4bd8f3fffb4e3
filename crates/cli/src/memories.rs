//! `bosun memories`: what is remembered, listed, shown, deleted, taken out and brought in.

use std::io::Write;
use std::path::PathBuf;

use bosun_protocol::{ErrorCode, FindMemories, MemoryEntry, MemoryList, MemoryRef, MemoryScope, MemoryShelf};
use bosun_session::ImportFrom;
use bosun_session::export::{ENGLISH, time};
use clap::{Args, Subcommand};

use crate::Exit;
use crate::failure::Failure;
use crate::knowledge::{Format, Shelves, tell_imported};
use crate::line::write_line;
use crate::terminal::{one_line, short, visible};

/// Where the person's memories begin for the agent, and where a project's do.
const USER: &str = "/memories";
const PROJECT: &str = "/memories/project";
/// Longest title in a list, in characters.
const TITLE: usize = 60;

#[derive(Debug, Args)]
pub(crate) struct MemoriesArgs {
    #[command(subcommand)]
    command: MemoriesCommand,
    /// With what is remembered for this project folder.
    #[arg(long, value_name = "DIR", global = true)]
    project: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t = Format::Text, global = true)]
    format: Format,
}

#[derive(Debug, Subcommand)]
enum MemoriesCommand {
    /// Yours, and with --project those of the project.
    List {
        /// Only those with all of these words, best match first.
        #[arg(long, value_name = "WORDS")]
        find: Option<String>,
        /// Those that were deleted in the last 30 days instead.
        #[arg(long, conflicts_with = "find")]
        deleted: bool,
    },
    /// One of them, by the path that the list has for it.
    Show {
        #[arg(value_name = "PATH")]
        path: String,
    },
    /// Deletes one; for 30 days `restore` brings it back.
    Delete {
        #[arg(value_name = "PATH")]
        path: String,
    },
    /// Brings back a deleted one.
    Restore {
        #[arg(value_name = "PATH")]
        path: String,
    },
    /// Writes yours, or with --project the project's, as files into a new folder in DIR.
    Export {
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Brings in the files of a folder or zip archive, as yours or with --project as the project's.
    Import {
        #[arg(value_name = "PATH")]
        from: PathBuf,
    },
}

pub(crate) async fn memories(args: MemoriesArgs) -> Result<Exit, Failure> {
    let MemoriesArgs { command, project, format } = args;
    let shelves = match &command {
        MemoriesCommand::Import { .. } => Shelves::to_change().await?,
        _ => Shelves::to_look().await?,
    };
    let folder = project.as_deref();
    let known = match (&command, folder) {
        (MemoriesCommand::Import { .. }, Some(folder)) => Some(shelves.project(folder).await?),
        _ => shelves.known(folder).await?,
    };
    let shelf = match &known {
        Some(project) => MemoryShelf { scope: MemoryScope::Project, project: Some(project.clone()) },
        None => MemoryShelf { scope: MemoryScope::User, project: None },
    };
    let sessions = &shelves.sessions;
    let mut out = std::io::stdout().lock();
    match command {
        MemoriesCommand::List { find, deleted } => {
            let list = sessions.memories(&FindMemories { project: known, text: find }).await?;
            tell_list(&mut out, &list, deleted, format)?;
        }
        MemoriesCommand::Show { path } => {
            let memory = sessions.memory(&named(&shelf, &path)?).await.map_err(|error| not_there(error, &path))?;
            match (format, &memory.text) {
                (Format::Json, _) => write_line(&mut out, &memory)?,
                (Format::Text, None) => return Err(Failure::NoText { path }),
                (Format::Text, Some(text)) => write!(out, "{}", visible(&ended(text)))?,
            }
        }
        MemoriesCommand::Delete { path } => {
            sessions.delete_memory(&named(&shelf, &path)?).await.map_err(|error| not_there(error, &path))?;
        }
        MemoriesCommand::Restore { path } => {
            let memory = named(&shelf, &path)?;
            let list = sessions.memories(&FindMemories { project: known, text: None }).await?;
            let gone = list.deleted.iter().find(|gone| gone.memory == memory);
            let number = gone.ok_or(Failure::NoMemory { path })?.number;
            sessions.restore_memory(&memory, number).await?;
        }
        MemoriesCommand::Export { folder } => {
            let written = sessions.export_memories(&shelf, &folder).await?;
            writeln!(out, "{}", written.display())?;
        }
        MemoriesCommand::Import { from } => {
            drop(out);
            let imported = sessions.import_memories(&shelf, ImportFrom::Path(from)).await?;
            tell_imported(&imported, format)?;
            return Ok(Exit::Done);
        }
    }
    out.flush()?;
    Ok(Exit::Done)
}

fn tell_list(out: &mut impl Write, list: &MemoryList, deleted: bool, format: Format) -> Result<(), Failure> {
    match format {
        Format::Json if deleted => write_line(out, &list.deleted)?,
        Format::Json => write_line(out, &list.entries)?,
        Format::Text if deleted => {
            for gone in &list.deleted {
                let path = path_of(&gone.memory);
                writeln!(
                    out,
                    "{}  {}  {}",
                    time(gone.deleted_at, &ENGLISH),
                    visible(&path),
                    short(&gone.title, TITLE)
                )?;
            }
        }
        Format::Text if list.entries.is_empty() => writeln!(out, "Nothing is remembered here yet.")?,
        Format::Text => list.entries.iter().try_for_each(|entry| writeln!(out, "{}", row(entry)))?,
    }
    Ok(())
}

fn row(entry: &MemoryEntry) -> String {
    let by = if entry.author.is_some() { "agent" } else { "you" };
    let always = if entry.always_read { "  (always read)" } else { "" };
    let (path, title) = (one_line(&entry.agent_path), short(&entry.title, TITLE));
    format!("{}  {by:<5}  {path}{always}  {title}", time(entry.updated_at, &ENGLISH))
}

/// A memory as a list names it.
fn path_of(memory: &MemoryRef) -> String {
    match memory.scope {
        MemoryScope::User => format!("{USER}{}", memory.path),
        MemoryScope::Project => format!("{PROJECT}{}", memory.path),
    }
}

/// The memory of this path; one of a project only where a project was named.
fn named(shelf: &MemoryShelf, path: &str) -> Result<MemoryRef, Failure> {
    let no_memory = || Failure::NoMemory { path: path.to_owned() };
    if let Some(within) = path.strip_prefix(PROJECT).filter(|within| within.starts_with('/')) {
        let project = shelf.project.clone().ok_or_else(no_memory)?;
        return Ok(MemoryRef { scope: MemoryScope::Project, project: Some(project), path: within.to_owned() });
    }
    let within = path.strip_prefix(USER).filter(|within| within.starts_with('/')).ok_or_else(no_memory)?;
    Ok(MemoryRef { scope: MemoryScope::User, project: None, path: within.to_owned() })
}

fn not_there(error: bosun_session::SessionError, path: &str) -> Failure {
    match error.code {
        ErrorCode::NotFound => Failure::NoMemory { path: path.to_owned() },
        _ => error.into(),
    }
}

/// A text that ends with its line.
fn ended(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}
