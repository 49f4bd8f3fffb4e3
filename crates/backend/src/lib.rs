//! Where the agent's files and processes live, behind one path space.
//!
//! **Owns** every file and process of the agent: [`VirtualPath`], the [`Backend`] trait and its implementations, the
//! [`Shell`], content-addressed [`BlobStore`], and the [`Store`] trait that `store` implements over SQLite.
//! **Must not** know of messages, approvals or journals: the one thing it asks of its caller is a [`ChangeWitness`],
//! which makes the intent of a change durable before the change happens.
//!
//! Start reading at [`Backend`], then [`VirtualPath`], then `local_shell`.
#![allow(clippy::disallowed_methods, reason = "this crate is the room for files and processes")]

mod allocator;
mod backend;
mod blobs;
mod bundle;
mod change;
mod clock;
mod composite;
mod core_dump;
mod editor;
mod error;
mod fault;
mod file;
mod filesystem;
mod folder_lock;
mod git_branch;
mod hand_on;
mod launchable;
mod local_shell;
mod manifest;
mod media;
#[cfg(target_os = "linux")]
mod opener;
mod page;
mod path;
mod project;
mod protected;
mod query;
mod quoted;
mod replace;
mod root;
mod sandbox;
mod search;
mod settings_text;
mod shelf;
mod shell;
mod state_backend;
mod store;
mod store_backend;
mod text;
mod watch;

pub use allocator::{give_back_memory, keep_little};
pub use backend::{Backend, Delete, Replacement, SetMode};
pub use blobs::{BlobError, BlobStore, BlobUsage, Swept};
pub use bundle::{Bundle, BundleError, read_archive, read_bundle, write_bundle};
pub use change::{Change, ChangeWitness, Expect, ObjectKind, PlannedChange, Unwitnessed};
pub use clock::Now;
pub use composite::{Access, AppMounts, CompositeBackend, MountError, Route, RouteError, kept_points, mount_point};
pub use core_dump::{forbid_core_dumps, forbid_looking_in};
pub use editor::{EditorCommand, EditorFault, is_text};
pub use error::{BackendError, PathError};
pub use file::{
    ContentHash, FileContent, FileData, FileInfo, FileStamp, Listed, ReadContent, ReadResult, ReadWindow, TextPage,
};
pub use filesystem::{FileMark, FilesystemBackend, FilesystemOptions, LateFolder};
pub use git_branch::git_branch;
pub use launchable::may_start;
pub use local_shell::{
    CommandSwitch, Commands, LocalShellBackend, LocalShellOptions, Program, ProgramAnswer, ProgramExit, ProgramPipes,
    ProgramRun, RunningProgram,
};
pub use manifest::{
    CommandChange, CommandChanges, SightingLimits, Sightings, SightingsByRoot, Uncompared, UnkeptChange,
};
#[cfg(target_os = "linux")]
pub use opener::hand_to_desktop;
pub use path::{VirtualPath, is_device_name};
pub use project::{ProjectRoot, RootError, RootNote, project_root, real_path};
pub use protected::{PROTECTED_FILES, PROTECTED_FOLDERS, PROTECTED_INSIDE, is_protected, runs_later};
pub use query::{GlobQuery, GlobResult, GrepMatch, GrepQuery, GrepResult, Truncation, Unread};
pub use quoted::quoted;
pub use replace::replace;
pub use root::Mounts;
pub use sandbox::{
    ContainerOptions, Cut, Executor, Finished, LocalExecutorOptions, NamedThing, OnDrop, Opening, ProjectIn,
    SandboxBackend, SandboxError, Script, SshOptions, bubblewrap, container, late, local_process, sandbox_trouble, ssh,
};
pub use search::grep_kept;
pub use settings_text::{given_bytes, settings_text};
pub use shell::{ExecRequest, ExecResult, KeptOutput, OutputEnds, OutputSink, Shell};
pub use state_backend::{FileConflict, FileUpdates, StateBackend, merge_files};
pub use store::{
    ChildRows, FilesByKey, Held, Namespace, NextKey, Store, StoreError, StoreHit, StoreItem, StoreQuery, Swap,
};
pub use store_backend::{StoreBackend, StoreScope};
pub use watch::{Changed, FileWatch, FolderWatch, PlaceWatch, WatchError, looks_the_same};

/// A boxed future that may borrow from its maker.
pub type BoxFuture<'a, T> = futures_util::future::BoxFuture<'a, T>;
