//! Where the agent's files and processes live, behind one path space.
//!
//! **Owns** every file and process of the agent: [`VirtualPath`], the [`Backend`] trait and its implementations, the
//! [`Shell`], content-addressed [`BlobStore`], and the [`Store`] trait that `store` implements over SQLite.
//! **Must not** know of messages, approvals or journals: the one thing it asks of its caller is a [`ChangeWitness`],
//! which makes the intent of a change durable before the change happens.
//!
//! Start reading at [`Backend`], then [`VirtualPath`], then `local_shell`.
#![allow(clippy::disallowed_methods, reason = "this crate is the room for files and processes")]

mod backend;
mod change;
mod error;
mod file;
mod path;
mod query;
mod shell;
mod store;

pub use backend::{Backend, Delete, Replacement};
pub use change::{Change, ChangeWitness, Expect, PlannedChange, Unwitnessed};
pub use error::{BackendError, PathError};
pub use file::{ContentHash, FileData, FileInfo, FileStamp, ReadContent, ReadResult, ReadWindow, TextPage};
pub use path::VirtualPath;
pub use query::{GlobQuery, GlobResult, GrepMatch, GrepQuery, GrepResult, Truncation};
pub use shell::{ExecRequest, ExecResult, OutputSink, Shell};
pub use store::{Namespace, Store, StoreError, StoreHit, StoreItem, StoreQuery};

/// A boxed future that may borrow from its maker.
pub type BoxFuture<'a, T> = futures_util::future::BoxFuture<'a, T>;
