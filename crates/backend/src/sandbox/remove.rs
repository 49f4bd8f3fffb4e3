use std::sync::Arc;
use std::time::Duration;

use super::answer::{Figures, Kind};
use super::read::{Led, whole};
use super::script;
use super::search::{Kept, fetch_hashed};
use super::{Executor, OnDrop, SandboxBackend, large};
use crate::change::check;
use crate::{
    BackendError, Change, ChangeWitness, ContentHash, Expect, FileStamp, ObjectKind, PlannedChange, VirtualPath,
};

/// Largest tree deleted in one call: every file of it is recorded for undo first.
const MAX_ENTRIES: usize = 20_000;
/// Files whose bytes are fetched at a time.
const BATCH: usize = 200;
/// Time for going through a file that is too large to go over.
const LARGE_TIME: Duration = Duration::from_secs(3600);
/// Time for one entry of a tree, and for a megabyte of it, over what any script has: it goes in one script, which comes to
/// its end also where its caller goes, and is not to be cut off halfway.
const ENTRY_TIME: Duration = Duration::from_millis(50);
const MEGABYTE_TIME: Duration = Duration::from_secs(1);

pub(super) async fn delete(
    backend: &SandboxBackend,
    path: &VirtualPath,
    expect: Expect,
    witness: &dyn ChangeWitness,
) -> Result<Vec<Change>, BackendError> {
    if path.is_root() {
        return Err(BackendError::ProtectedRoot { path: path.clone() });
    }
    let _guard = backend.changing.lock().await;
    let executor = &*backend.executor;
    let output =
        script::run(executor, script::about(script::SURVEY, path, &[&script::not_to_be_led_to(path)]), path).await?;
    let end = memchr::memchr(b'\n', &output).unwrap_or(output.len());
    let (head, rest) = (output.get(..end).unwrap_or_default(), output.get(end + 1..).unwrap_or_default());
    let head = String::from_utf8_lossy(head);
    let unclear = || BackendError::Unstable { path: path.clone() };
    let (figures, _) = Figures::parse(&head).ok_or_else(unclear)?;
    match figures.kind() {
        Kind::Folder if expect == Expect::Absent => Err(BackendError::AlreadyExists { path: path.clone() }),
        Kind::Folder => {
            let tree = Tree::parse(rest, path)?;
            tree.delete(executor, path, witness).await
        }
        Kind::File => {
            let (planned, stamp, state) = alone(executor, path.clone(), figures.modified_ns).await?;
            // What was read of it is known by its hash; it stays by the one of the other side as it is now.
            let stamp = match &expect {
                Expect::Unchanged(read) if read.hash.is_some() && stamp.hash.is_none() => {
                    large::stamp(executor, path, stamp.size).await?
                }
                _ => stamp,
            };
            check(&expect, Some(&stamp), path)?;
            Ok(vec![remove(executor, planned, &state, witness).await?])
        }
        Kind::Link => {
            let end = memchr::memchr(b'\n', rest).ok_or_else(unclear)?;
            let (hash, target) = (rest.get(..end).unwrap_or_default(), rest.get(end + 1..).unwrap_or_default());
            let target = target.strip_suffix(b"\n").unwrap_or(target).to_vec();
            let planned = doomed(path.clone(), ObjectKind::Link, Some(target.into()), None);
            let state = format!("link {}", String::from_utf8_lossy(hash));
            Ok(vec![remove(executor, planned, &state, witness).await?])
        }
        Kind::Special => {
            let planned = doomed(path.clone(), ObjectKind::Special, None, None);
            Ok(vec![remove(executor, planned, SPECIAL, witness).await?])
        }
    }
}

/// What the scripts call what has no bytes of its own.
const SPECIAL: &str = "special";

/// One file that is to go, its stamp, and the words by which it is known over there. Of one that is too large to go over
/// only the figures are kept.
async fn alone(
    executor: &dyn Executor,
    path: VirtualPath,
    modified_ns: i64,
) -> Result<(PlannedChange, FileStamp, String), BackendError> {
    match whole(executor, &path, Led::Anywhere).await {
        Ok(file) => {
            let (stamp, mode) = (file.stamp(), file.figures.permissions());
            Ok((doomed(path, ObjectKind::File, Some(file.bytes.into()), mode), stamp, format!("file {}", file.hash)))
        }
        Err(BackendError::TooLarge { size, .. }) => {
            let stamp = FileStamp { device: 0, inode: 0, size, modified_ns, hash: None };
            let mut script = script::about(script::HASH, &path, &[]);
            script.time = LARGE_TIME;
            let hash = script::run(executor, script, &path).await?;
            let planned = doomed(path, ObjectKind::File, None, None);
            let state = format!("file {}", String::from_utf8_lossy(&hash).trim_end());
            Ok((PlannedChange { unkept: Some(stamp.clone()), ..planned }, stamp, state))
        }
        Err(error) => Err(error),
    }
}

fn doomed(path: VirtualPath, object: ObjectKind, before: Option<Arc<[u8]>>, mode: Option<u32>) -> PlannedChange {
    PlannedChange { path, object, before, unkept: None, after: None, mode }
}

fn gone(planned: &PlannedChange) -> Change {
    let before = planned.before.as_deref().map(ContentHash::of);
    Change {
        path: planned.path.clone(),
        before,
        after: None,
        mode: planned.mode,
        mode_after: None,
        occurrences: 0,
        parted: false,
        handed_over: false,
        stripped: false,
        state: Vec::new(),
    }
}

async fn remove(
    executor: &dyn Executor,
    planned: PlannedChange,
    state: &str,
    witness: &dyn ChangeWitness,
) -> Result<Change, BackendError> {
    let change = gone(&planned);
    let is_large = planned.unkept.is_some();
    let path = planned.path.clone();
    witness.intend(planned).await?;
    let mut script = script::about(script::REMOVE, &path, &[state]);
    script.on_drop = OnDrop::Finish;
    if is_large {
        script.time = LARGE_TIME;
    }
    script::run(executor, script, &path).await?;
    Ok(change)
}

/// What is to be removed, as the script takes it.
#[derive(Default)]
struct Rows {
    bytes: Vec<u8>,
    entries: usize,
    /// Of the files.
    size: u64,
}

impl Rows {
    fn add(&mut self, state: &str, name: &str) {
        self.bytes.extend_from_slice(format!("{state}/./{name}\0").as_bytes());
        self.entries += 1;
    }
}

/// Time for a script that goes through so many entries and bytes.
fn time_for(entries: usize, bytes: u64) -> Duration {
    let [entries, megabytes] = [entries as u64, bytes >> 20].map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    let each = ENTRY_TIME.saturating_mul(entries).saturating_add(MEGABYTE_TIME.saturating_mul(megabytes));
    script::TIME.saturating_add(each)
}

/// What a folder holds, by names below it.
struct Tree {
    files: Vec<String>,
    links: Vec<String>,
    /// Each after what is in it.
    folders: Vec<String>,
    specials: Vec<String>,
}

impl Tree {
    fn parse(output: &[u8], path: &VirtualPath) -> Result<Self, BackendError> {
        let mut parts: [Vec<String>; 4] = Default::default();
        let mut part = 0;
        for name in output.split(|byte| *byte == 0) {
            if name.is_empty() {
                part += 1;
                continue;
            }
            let name = std::str::from_utf8(name).map_err(|_| BackendError::NameNotText { path: path.clone() })?;
            if let Some(names) = parts.get_mut(part) {
                names.push(name.strip_prefix("./").unwrap_or(name).to_owned());
            }
        }
        if parts.iter().map(Vec::len).sum::<usize>() > MAX_ENTRIES {
            return Err(BackendError::TooManyEntries { path: path.clone(), most: MAX_ENTRIES });
        }
        let [files, links, folders, specials] = parts;
        Ok(Self { files, links, folders, specials })
    }

    async fn delete(
        self,
        executor: &dyn Executor,
        path: &VirtualPath,
        witness: &dyn ChangeWitness,
    ) -> Result<Vec<Change>, BackendError> {
        let mut changes = Vec::new();
        let mut rows = Rows::default();
        self.intend_files(executor, path, witness, &mut changes, &mut rows).await?;
        let mut script = script::about(script::TARGETS, path, &[]);
        script.time = time_for(self.links.len(), 0);
        script.input = script::nul_separated(self.links.iter().map(String::as_str));
        let told = script::run(executor, script, path).await?;
        let mut told = told.split(|byte| *byte == 0);
        let mut intended = Vec::with_capacity(self.links.len() + self.specials.len());
        for name in &self.links {
            let (target, hash) = (told.next().unwrap_or_default(), told.next().unwrap_or_default());
            rows.add(&format!("link {}", String::from_utf8_lossy(hash)), name);
            intended.push(doomed(path.join(name)?, ObjectKind::Link, Some(target.into()), None));
        }
        for name in &self.specials {
            rows.add(SPECIAL, name);
            intended.push(doomed(path.join(name)?, ObjectKind::Special, None, None));
        }
        changes.extend(intended.iter().map(gone));
        witness.intend_all(intended).await?;
        self.folders.iter().filter(|name| !matches!(name.as_str(), "" | ".")).for_each(|name| rows.add("folder", name));
        let mut script = script::about(script::REMOVE_TREE, path, &[]);
        script.time = time_for(rows.entries, rows.size);
        script.input = rows.bytes;
        script.on_drop = OnDrop::Finish;
        script::run(executor, script, path).await?;
        Ok(changes)
    }

    /// Tells the witness of the files, as many at a time as are fetched in one go.
    async fn intend_files(
        &self,
        executor: &dyn Executor,
        path: &VirtualPath,
        witness: &dyn ChangeWitness,
        changes: &mut Vec<Change>,
        rows: &mut Rows,
    ) -> Result<(), BackendError> {
        let mut rest = self.files.as_slice();
        while let Some(first) = rest.first() {
            let names: Vec<&str> = rest.iter().take(BATCH).map(String::as_str).collect();
            let mut intended = Vec::with_capacity(names.len());
            for (name, fetched) in names.iter().zip(fetch_hashed(executor, path, &names).await?) {
                let below = path.join(name)?;
                let Kept { hash, mode, bytes } =
                    fetched.ok_or_else(|| BackendError::PermissionDenied { path: below.clone() })?;
                rows.add(&format!("file {hash}"), name);
                rows.size += bytes.len() as u64;
                intended.push(doomed(below, ObjectKind::File, Some(bytes.into()), mode));
            }
            if intended.is_empty() {
                // That one alone is more than is fetched in one go.
                let (planned, stamp, state) = alone(executor, path.join(first)?, 0).await?;
                rows.add(&state, first);
                rows.size += stamp.size;
                intended.push(planned);
            }
            rest = rest.get(intended.len()..).unwrap_or_default();
            changes.extend(intended.iter().map(gone));
            witness.intend_all(intended).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "remove_tests.rs"]
mod tests;
