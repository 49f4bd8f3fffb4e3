//! What the agent can do: the [`Tool`] trait, the registry, the built-in tools over a backend, and diffs.
//!
//! **Owns** tool inputs (their doc comments are prompt text), results, previews for approvals, and [`StateUpdate`].
//! **Must not** open files or start processes itself (that is the backend's), decide whether a call may run (that is
//! `agent`'s policy), or know of a journal: a tool is handed a [`ToolContext`] and returns a [`ToolOutput`].
//!
//! Start reading at [`Tool`], then [`ToolContext`], then `builtin/edit_file`.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make their own files"))]

mod arguments;
mod background;
mod builtin;
mod changed;
mod context;
mod diff;
mod field;
#[cfg(test)]
#[path = "tests/fixture.rs"]
mod fixture;
mod known;
mod limits;
mod media;
mod output;
mod preview;
mod preview_fault;
mod registry;
mod schema;
mod tool;
mod update;

pub use arguments::{ArgumentError, checked_arguments};
pub use background::{Background, BackgroundTask, FollowUp, TaskStatus};
pub use builtin::{
    ASK_MORE_TOOL, BACKGROUND_TOOLS, BuiltinOptions, Delete, EditFile, Execute, Glob, Grep, Ls, MOST_TODOS, ReadFile,
    ReadFormat, SENDING_TOOLS, SubagentCard, Task, WriteFile, WriteTodos, background_tools, builtin_tools, file_tools,
    file_tools_with, unknown_subagent, without_boundary, without_framing,
};
pub use changed::left_by_command;
pub use context::{Delegate, DelegateRequest, StateView, ToolContext};
pub use diff::{DiffLimits, carried, file_diff, imposed, open_since, with_hunk, without_hunk};
pub use field::{Reducer, StateField};
pub use limits::{OUTPUT_CHARS, RESULT_CHARS};
pub use media::{Attachable, AttachableKind, NotAttachable, attachable, media_block};
pub use output::{Artifact, ChangeRecord, Figure, Framing, ToolError, ToolOutput, UncomparedFiles, UnkeptRecord};
pub use preview::{DiffHunk, DiffLine, DiffLineKind, DiffSegment, FileDiff, Preview};
pub use preview_fault::PreviewFault;
pub use registry::{RegistryError, ToolRegistry};
pub use tool::{DynTool, Tool, ToolKind, erase};
pub use update::{StateUpdate, Todo, TodoStatus};

/// A boxed future that may borrow from its maker.
pub type BoxFuture<'a, T> = futures_util::future::BoxFuture<'a, T>;
