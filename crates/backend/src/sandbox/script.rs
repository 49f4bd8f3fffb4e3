//! The scripts, and how they are called.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::answer::{refused, unsure};
use super::{Executor, Finished, OnDrop, Script};
use crate::protected::{PROTECTED_FILES, PROTECTED_FOLDERS, PROTECTED_INSIDE};
use crate::{BackendError, VirtualPath};

/// How a script tells which folder it is in.
pub(super) const FOLDER: &str = include_str!("scripts/folder.sh");

/// What every script of files begins with.
pub(super) const COMMON: &str = concat!(include_str!("scripts/folder.sh"), include_str!("scripts/common.sh"));

macro_rules! scripts {
    ($($name:ident = $file:literal),+ $(,)?) => {
        $(pub(super) const $name: &str = concat!(include_str!("scripts/folder.sh"), include_str!("scripts/common.sh"), include_str!($file));)+
    };
}

scripts! {
    READ = "scripts/read.sh",
    READ_PART = "scripts/read_part.sh",
    WRITE = "scripts/write.sh",
    LIST = "scripts/list.sh",
    WALK = "scripts/walk.sh",
    LINKS = "scripts/links.sh",
    FETCH = "scripts/fetch.sh",
    GREP = "scripts/grep.sh",
    SURVEY = "scripts/survey.sh",
    TARGETS = "scripts/targets.sh",
    HASH = "scripts/hash.sh",
    ROOT = "scripts/root.sh",
    MODE = "scripts/mode.sh",
    REMOVE = "scripts/remove.sh",
    REMOVE_TREE = "scripts/remove_tree.sh",
}

/// Runs a user's command until it ends or its standard input does.
pub(super) const EXECUTE: &str = concat!(include_str!("scripts/folder.sh"), include_str!("scripts/execute.sh"));

/// Time for one operation on one file.
pub(super) const TIME: Duration = Duration::from_secs(120);
/// Bytes of a listing.
const LISTING: usize = 64 * 1024 * 1024;

/// A script about `path`, whose own arguments are `args`.
pub(super) fn about<'a>(text: &'a str, path: &VirtualPath, args: &[&str]) -> Script<'a> {
    let args = std::iter::once(path.relative()).chain(args.iter().copied()).map(str::to_owned).collect();
    Script {
        text,
        args,
        input: Vec::new(),
        limit: LISTING,
        time: TIME,
        cancel: CancellationToken::new(),
        on_drop: OnDrop::End,
    }
}

/// Runs a script that has to come to its end.
pub(super) async fn run(
    executor: &dyn Executor,
    script: Script<'_>,
    path: &VirtualPath,
) -> Result<Vec<u8>, BackendError> {
    let told = if script.on_drop == OnDrop::Finish { unsure } else { refused };
    match executor.run(script).await? {
        Finished { code: Some(0), cut: None, output, .. } => Ok(output),
        finished => Err(told(&finished, path)),
    }
}

/// Protected names as scripts take them, between slashes; of one inside another folder both. Those that `path` has itself
/// are left out: a person was asked about them.
pub(super) fn not_to_be_led_to(path: &VirtualPath) -> String {
    let inside = PROTECTED_INSIDE.map(|(folder, name)| format!("{folder}>{name}"));
    let alone = [".git"].into_iter().chain(PROTECTED_FOLDERS).chain(PROTECTED_FILES);
    let folded: Vec<String> = path.segments().map(str::to_lowercase).collect();
    let own: Vec<String> = folded.iter().cloned().chain(folded.windows(2).map(|pair| pair.join(">"))).collect();
    let names = alone.chain(inside.iter().map(String::as_str)).filter(|name| !own.iter().any(|own| own == name));
    let names: Vec<&str> = names.collect();
    format!("/{}/", names.join("/"))
}

/// Names as a script takes them.
pub(super) fn nul_separated<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for name in names {
        bytes.extend_from_slice(b"./");
        bytes.extend_from_slice(name.as_bytes());
        bytes.push(0);
    }
    bytes
}

/// A word that nothing holds.
pub(super) fn fresh_word() -> String {
    format!("bosun-{}", uuid::Uuid::now_v7().simple())
}

/// One that is as good as that and short: it stands before every row of a listing.
pub(super) fn row_word() -> String {
    format!("{:x}", uuid::Uuid::now_v7().as_u64_pair().1)
}
