use std::io;

use crate::VirtualPath;
use crate::path::MAX_NAME;

/// Text that is not a [`VirtualPath`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    #[error("the path '{given}' leaves its root with '..'; use a path from /, without '..'")]
    Traversal { given: String },
    #[error("the path '{given}' starts at a home folder; use a path from /, where / is the project")]
    Home { given: String },
    #[error("'{given}' is a Windows path; use a path from /, where / is the project, with forward slashes")]
    Windows { given: String },
    #[error("the path '{given}' names a Windows device, not a file; use another name")]
    Device { given: String },
    #[error("the path '{given}' contains a NUL byte, which no file name can; use a name without it")]
    Nul { given: String },
    /// As a whole, or a name in it.
    #[error(
        "{}the path '{given}' is longer than {limit} bytes; use a shorter name",
        if *limit == MAX_NAME { "a name in " } else { "" }
    )]
    TooLong { given: String, limit: usize },
}

/// A file or process operation that did not happen. Every variant reads as a sentence for the model and for a person,
/// with what to do behind its last semicolon, and names the virtual path it is about ([`BackendError::path_mut`]). Those
/// of a path that is none, of a pattern, of a command or of the project as a whole have no path to name. What a caller wrote
/// stands in it as [`crate::quoted`] gives it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BackendError {
    #[error(transparent)]
    Path(#[from] PathError),
    #[error("File '{path}' not found; list the folder it should be in, and use a name that is there")]
    NotFound { path: VirtualPath },
    #[error("Path '{path}': path_not_found; list the folder above it, and use a name that is there")]
    DirectoryNotFound { path: VirtualPath },
    #[error("Path '{path}': not_a_directory; use the folder that the file is in, or another name")]
    NotADirectory { path: VirtualPath },
    #[error("File '{path}' not found: '{path}' is a directory; use ls to see what is in it")]
    IsADirectory { path: VirtualPath },
    /// Of what is to be a file and is not to be looked for.
    #[error("'{path}' is a directory, so nothing can be written in its place; use a name in it, or another one")]
    DirectoryInTheWay { path: VirtualPath },
    #[error("'{path}' already exists; read it and change it with edit_file, or pass overwrite: true after reading it")]
    AlreadyExists { path: VirtualPath },
    #[error("'{path}' is a {kind}, not a regular file, so it is not opened; use a regular file instead")]
    NotRegular { path: VirtualPath, kind: &'static str },
    #[error(
        "'{path}' leads outside its root through a link or a mount, so it is not touched; use a path that stays \
         inside, or have its target copied there"
    )]
    OutsideRoot { path: VirtualPath },
    #[error(
        "'{path}' cannot be followed: its links form a loop or are nested too deeply; use the path of its target, or \
         delete the link"
    )]
    LinkLoop { path: VirtualPath },
    #[error(
        "'{path}' leads through a link to a protected name, so it is not touched; use the path that it leads to, which a \
         person is asked about"
    )]
    LinkToProtected { path: VirtualPath },
    /// By the name that commands have for the root, or in it.
    #[error(
        "'{path}' can be two things: commands have this name for '{below}', and something has come to be here that has it \
         too; write '{below}' for the first, or '{}' without a slash in front for the other", .path.relative()
    )]
    AmbiguousPath { path: VirtualPath, below: VirtualPath },
    #[error(
        "permission denied for '{path}': the file permissions on the disk do not allow it; use another path, or have \
         the owner change them"
    )]
    PermissionDenied { path: VirtualPath },
    #[error(
        "permission denied for '{path}': a rule of this agent forbids it; go on without it, or have the rule changed \
         where the agent is declared"
    )]
    Forbidden { path: VirtualPath },
    #[error("'{path}' changed since it was read; read it again before changing it")]
    Changed { path: VirtualPath },
    /// The folder `path` was to go. `files` are the first of those that changed; `more` is how many others did.
    #[error(
        "'{path}' was left as it is: {} changed since they were read; read again what changed, then decide whether \
         '{path}' may go", names(.files, *.more)
    )]
    ChangedBelow { path: VirtualPath, files: Vec<VirtualPath>, more: usize },
    #[error("'{path}' kept changing while it was read; try again when the program writing it has finished")]
    Unstable { path: VirtualPath },
    #[error("'{path}' has not been read yet; read it before changing it")]
    NotRead { path: VirtualPath },
    #[error(
        "'{path}' is not UTF-8 text ({reason}) and cannot be read or edited as text; convert it to UTF-8, or use a \
         program made for it"
    )]
    NotText { path: VirtualPath, reason: String },
    #[error("'{path}' is binary, and text edits do not apply to it; use a program made for its format")]
    Binary { path: VirtualPath },
    /// The file is there, and what it is to hold is not. It can still be deleted and replaced.
    #[error(
        "the content of '{path}' was kept in Bosun's data folder and is no longer there; delete the file, write it \
         again with overwrite: true, or have that folder restored from a backup"
    )]
    ContentLost { path: VirtualPath },
    #[error("'{path}' is {size} bytes, over the limit of {limit}; work with smaller parts of it")]
    TooLarge { path: VirtualPath, size: u64, limit: u64 },
    /// Of a file that is to be kept in the store, which has every word of it in its indices.
    #[error(
        "'{path}' would be {size} bytes, over the limit of {limit} for one file of what is remembered; write it into the \
         project instead, or keep only the parts of it that matter"
    )]
    TooLargeToKeep { path: VirtualPath, size: u64, limit: u64 },
    #[error("offset {offset} is past the end of '{path}' ({total_lines} lines); use a smaller one")]
    OffsetPastEnd { path: VirtualPath, offset: u64, total_lines: u64 },
    /// With a hint, what is wrong with the text and what to do about it.
    #[error("String not found in file: '{old}'{}", way_to_the_text(.path, .hint))]
    StringNotFound { path: VirtualPath, old: String, hint: String },
    #[error("'{old}' appears {count} times in '{path}'; give more of its surroundings or set replace_all")]
    StringNotUnique { path: VirtualPath, old: String, count: usize },
    #[error("old_string is empty; give the exact text to replace in '{path}'")]
    EmptyOldString { path: VirtualPath },
    #[error("old_string and new_string are the same, so '{path}' would not change; give the new text")]
    NothingToChange { path: VirtualPath },
    #[error("'{path}' cannot be deleted: the root '/' and mounts stay; delete what is in it")]
    ProtectedRoot { path: VirtualPath },
    #[error("the pattern '{pattern}' is not usable: {reason}")]
    BadPattern { pattern: String, reason: String },
    #[error("the disk is full, so '{path}' was not changed; free some space and try again")]
    DiskFull { path: VirtualPath },
    #[error("'{path}' is read-only here; write to another place, or have this one made writable")]
    ReadOnly { path: VirtualPath },
    #[error(
        "'{path}' was left as it is: it, or the folder it is in, is marked immutable or append-only; a person can \
         check with lsattr and remove the mark with chattr"
    )]
    Immutable { path: VirtualPath },
    #[error("nothing can be deleted where '{path}' is kept; leave it there, or change what is in it")]
    CannotDelete { path: VirtualPath },
    #[error("the project folder is gone or was replaced; nothing was changed. Bring it back or open another folder")]
    RootGone,
    /// The same of a folder that is mounted.
    #[error(
        "the folder behind '{path}' is gone or was replaced, so nothing was changed; bring it back, or go on without it"
    )]
    FolderGone { path: VirtualPath },
    #[error("'{path}' holds more than {most} entries, too many to delete at once; delete it in parts")]
    TooManyEntries { path: VirtualPath, most: usize },
    #[error("a name in '{path}' is not UTF-8 and cannot be written here; have it renamed or deleted first")]
    NameNotText { path: VirtualPath },
    #[error("'{path}': {reason}; check that the place it is kept in can be read and written, then try again")]
    Io { path: VirtualPath, kind: io::ErrorKind, reason: String },
    /// A change was begun where nobody heard its end.
    #[error("'{path}' may be changed or not: {reason}; look at it before changing it again")]
    Unsure { path: VirtualPath, reason: String },
    #[error("the place where '{path}' is kept does not answer: {reason}; try again once it does, or go on without it")]
    Unreachable { path: VirtualPath, reason: String },
    #[error("the command could not be started: {reason}; fix that and try again")]
    Spawn { reason: String },
    #[error("the command cannot be run: {reason}")]
    BadCommand { reason: String },
    #[error(
        "the command was not run: '{path}' is a link, and the sandbox cannot keep a link from being replaced; put its \
         target in its place, or run the command without the sandbox"
    )]
    GuardIsLink { path: VirtualPath },
    /// Nothing ran. What to do stands last in the reason.
    #[error(
        "the command was not run: it is to run in a sandbox, and {reason}, or have the sandbox turned off for these \
         commands"
    )]
    NoSandbox { reason: String },
    /// It was let run in the sandbox, which was turned off before it began.
    #[error(
        "the command was not run: it was let run in the sandbox, which is off now; call it again, and it is judged anew"
    )]
    SandboxOff,
    #[error("a time limit of {given} s is not possible; use 1 to {max} s")]
    BadTimeout { given: u64, max: u64 },
    /// The witness could not make the intent durable, so nothing was changed.
    #[error("the change to '{path}' could not be recorded, so it was not made: {reason}; fix that and try again")]
    NotRecorded { path: VirtualPath, reason: String },
    #[error("cancelled")]
    Cancelled,
}

/// The hint alone where there is one: to give the text as it stands there would be another way out.
fn way_to_the_text(path: &VirtualPath, hint: &str) -> String {
    if hint.is_empty() {
        return format!("; read '{path}' again and give the text exactly as it stands there, or leave the edit out");
    }
    format!(". In '{path}': {hint}")
}

fn names(files: &[VirtualPath], more: usize) -> String {
    let named = files.iter().map(|path| format!("'{path}'")).collect::<Vec<_>>().join(", ");
    if more == 0 { named } else { format!("{named} and {more} more") }
}

impl BackendError {
    /// The path that this is about, to be told in the words of an outer path space; `None` where it names none.
    pub fn path_mut(&mut self) -> Option<&mut VirtualPath> {
        match self {
            Self::NotFound { path }
            | Self::DirectoryNotFound { path }
            | Self::NotADirectory { path }
            | Self::IsADirectory { path }
            | Self::DirectoryInTheWay { path }
            | Self::AlreadyExists { path }
            | Self::NotRegular { path, .. }
            | Self::OutsideRoot { path }
            | Self::LinkLoop { path }
            | Self::LinkToProtected { path }
            | Self::AmbiguousPath { path, .. }
            | Self::PermissionDenied { path }
            | Self::Forbidden { path }
            | Self::Changed { path }
            | Self::ChangedBelow { path, .. }
            | Self::Unstable { path }
            | Self::NotRead { path }
            | Self::NotText { path, .. }
            | Self::Binary { path }
            | Self::ContentLost { path }
            | Self::TooLarge { path, .. }
            | Self::TooLargeToKeep { path, .. }
            | Self::OffsetPastEnd { path, .. }
            | Self::StringNotFound { path, .. }
            | Self::StringNotUnique { path, .. }
            | Self::EmptyOldString { path }
            | Self::NothingToChange { path }
            | Self::ProtectedRoot { path }
            | Self::DiskFull { path }
            | Self::ReadOnly { path }
            | Self::Immutable { path }
            | Self::CannotDelete { path }
            | Self::TooManyEntries { path, .. }
            | Self::NameNotText { path }
            | Self::Io { path, .. }
            | Self::Unsure { path, .. }
            | Self::GuardIsLink { path }
            | Self::NotRecorded { path, .. }
            | Self::FolderGone { path }
            | Self::Unreachable { path, .. } => Some(path),
            Self::Path(_)
            | Self::BadPattern { .. }
            | Self::RootGone
            | Self::Spawn { .. }
            | Self::BadCommand { .. }
            | Self::NoSandbox { .. }
            | Self::SandboxOff
            | Self::BadTimeout { .. }
            | Self::Cancelled => None,
        }
    }
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
