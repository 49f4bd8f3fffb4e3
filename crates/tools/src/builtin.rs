//! The built-in tools, one file each, in the order they are offered to a model.

mod async_tasks;
mod delete;
mod edit_file;
mod execute;
mod glob;
mod grep;
mod ls;
mod read_file;
mod task;
mod write_file;
mod write_todos;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use bosun_backend::{Backend, BackendError, Unread, VirtualPath};

use crate::{DynTool, ToolContext, ToolError, erase};

pub use async_tasks::{ASK_MORE_TOOL, BACKGROUND_TOOLS, SENDING_TOOLS, background_tools};
pub use delete::Delete;
pub use edit_file::EditFile;
pub use execute::{Execute, without_boundary, without_framing};
pub use glob::Glob;
pub use grep::Grep;
pub use ls::Ls;
pub use read_file::{ReadFile, ReadFormat};
use task::known_subagents;
pub use task::{SubagentCard, Task, unknown_subagent};
pub use write_file::WriteFile;
pub use write_todos::{MOST_TODOS, WriteTodos};

/// What may be set about the built-in tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltinOptions {
    pub read_format: ReadFormat,
    /// Matches of one `grep` that names no `max_count`.
    pub grep_max_count: u32,
    /// Longest time limit a call of `execute` may ask for.
    pub max_execute_timeout: Duration,
    /// Where commands run, where that is not the project's folder on this machine: as a person calls it.
    pub commands_in: Option<String>,
    /// Whom `task` may send; without any there is no `task`.
    pub subagents: Vec<SubagentCard>,
}

impl Default for BuiltinOptions {
    fn default() -> Self {
        Self {
            read_format: ReadFormat::default(),
            grep_max_count: 1_000,
            max_execute_timeout: Duration::from_secs(3_600),
            commands_in: None,
            subagents: Vec::new(),
        }
    }
}

/// All built-in tools that `backend` can carry: `ls read_file write_file edit_file delete glob grep execute
/// write_todos task`; `delete` only with a deleter, `execute` only with a shell, `task` only with subagents.
pub fn builtin_tools(backend: &dyn Backend, options: BuiltinOptions) -> Vec<Arc<dyn DynTool>> {
    let mut tools = file_tools_with(backend, &options);
    tools.push(erase(WriteTodos));
    if !options.subagents.is_empty() {
        tools.push(erase(Task::new(options.subagents)));
    }
    tools
}

/// The file tools, and `execute` where there is a shell, as they are by default.
pub fn file_tools(backend: &dyn Backend) -> Vec<Arc<dyn DynTool>> {
    file_tools_with(backend, &BuiltinOptions::default())
}

/// The file tools, and `execute` where there is a shell.
pub fn file_tools_with(backend: &dyn Backend, options: &BuiltinOptions) -> Vec<Arc<dyn DynTool>> {
    let mut tools = vec![erase(Ls), erase(ReadFile::new(options.read_format)), erase(WriteFile), erase(EditFile)];
    if backend.deleter().is_some() {
        tools.push(erase(Delete));
    }
    tools.extend([erase(Glob), erase(Grep::new(options.grep_max_count))]);
    if let Some(shell) = backend.shell() {
        let execute = Execute::new(shell.default_timeout(), options.max_execute_timeout);
        tools.push(erase(execute.running_in(options.commands_in.clone())));
    }
    tools
}

/// A path as the model wrote it.
fn resolve(cx: &ToolContext, text: &str) -> Result<VirtualPath, ToolError> {
    Ok(cx.backend.resolve(text)?)
}

/// A path on a line of its own: a line end or another control character in a name is shown as an escape, so that one
/// name cannot pass for two.
fn shown(path: &VirtualPath) -> Cow<'_, str> {
    let path = path.as_str();
    if path.chars().any(char::is_control) {
        path.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() }).collect()
    } else {
        path.into()
    }
}

/// What is where a search began that has found nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    Missing,
    File,
    /// A folder, or what nobody can tell.
    Other,
}

async fn at_start(backend: &dyn Backend, start: &VirtualPath) -> Start {
    if start.is_root() {
        return Start::Other;
    }
    match backend.stat(start).await {
        Ok(found) if found.is_dir => Start::Other,
        Ok(_) => Start::File,
        Err(
            BackendError::NotFound { .. } | BackendError::DirectoryNotFound { .. } | BackendError::NotADirectory { .. },
        ) => Start::Missing,
        Err(_) => Start::Other,
    }
}

/// What is said of what a search met and could not read.
fn unread(some: &[Unread]) -> Option<String> {
    let named = |one: &Unread| format!("'{}' ({})", shown(&one.path), one.reason);
    let named: Vec<String> = some.iter().map(named).collect();
    (!named.is_empty()).then(|| format!("[Among what could not be read: {}.]", named.join(", ")))
}

/// The file a call would change, for the order of calls: none where the path cannot be read.
fn target(cx: &ToolContext, text: &str) -> Option<VirtualPath> {
    cx.backend.resolve(text).ok()
}

#[cfg(test)]
#[path = "builtin_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "builtin/ways_out_tests.rs"]
mod ways_out_tests;
