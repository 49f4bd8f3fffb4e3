use std::sync::Arc;

use super::answer::{Figures, Kind};
use super::read::whole;
use super::script::{self, nul_separated};
use super::search::fetch;
use super::{Executor, OnDrop, SandboxBackend};
use crate::change::check;
use crate::{
    BackendError, Change, ChangeWitness, ContentHash, Expect, FileStamp, ObjectKind, PlannedChange, VirtualPath,
};

/// Largest tree deleted in one call: every file of it is recorded for undo first.
const MAX_ENTRIES: usize = 20_000;
/// Files whose bytes are fetched at a time.
const BATCH: usize = 200;

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
    let output = script::run(executor, script::about(script::SURVEY, path, &[]), path).await?;
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
            let (planned, stamp, hash) = alone(executor, path.clone()).await?;
            check(&expect, Some(&stamp), path)?;
            Ok(vec![remove(executor, planned, &hash, witness).await?])
        }
        Kind::Link => {
            let target = rest.strip_suffix(b"\n").unwrap_or(rest).to_vec();
            let planned = doomed(path.clone(), ObjectKind::Link, Some(target.into()), None);
            Ok(vec![remove(executor, planned, "any", witness).await?])
        }
        Kind::Special => {
            Ok(vec![remove(executor, doomed(path.clone(), ObjectKind::Special, None, None), "any", witness).await?])
        }
    }
}

/// One file that is to go, its stamp, and the hash by which it is known over there. Of one that is too large to go over
/// only the size is kept.
async fn alone(executor: &dyn Executor, path: VirtualPath) -> Result<(PlannedChange, FileStamp, String), BackendError> {
    match whole(executor, &path).await {
        Ok(file) => {
            let (stamp, mode) = (file.stamp(), file.figures.permissions());
            Ok((doomed(path, ObjectKind::File, Some(file.bytes.into()), mode), stamp, file.hash))
        }
        Err(BackendError::TooLarge { size, .. }) => {
            let stamp = FileStamp { device: 0, inode: 0, size, modified_ns: 0, hash: None };
            let planned = doomed(path, ObjectKind::File, None, None);
            Ok((PlannedChange { unkept: Some(stamp.clone()), ..planned }, stamp, "any".to_owned()))
        }
        Err(error) => Err(error),
    }
}

fn doomed(path: VirtualPath, object: ObjectKind, before: Option<Arc<[u8]>>, mode: Option<u32>) -> PlannedChange {
    PlannedChange { path, object, before, unkept: None, after: None, mode }
}

fn gone(planned: &PlannedChange) -> Change {
    let before = planned.before.as_deref().map(ContentHash::of);
    Change { path: planned.path.clone(), before, after: None, occurrences: 0, parted: false, state: Vec::new() }
}

async fn remove(
    executor: &dyn Executor,
    planned: PlannedChange,
    hash: &str,
    witness: &dyn ChangeWitness,
) -> Result<Change, BackendError> {
    let change = gone(&planned);
    let path = planned.path.clone();
    witness.intend(planned).await?;
    let mut script = script::about(script::REMOVE, &path, &[hash]);
    script.on_drop = OnDrop::Finish;
    script::run(executor, script, &path).await?;
    Ok(change)
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
        self.intend_files(executor, path, witness, &mut changes).await?;
        let mut script = script::about(script::TARGETS, path, &[]);
        script.input = nul_separated(self.links.iter().map(String::as_str));
        let targets = script::run(executor, script, path).await?;
        let mut intended = Vec::with_capacity(self.links.len() + self.specials.len());
        for (name, target) in self.links.iter().zip(targets.split(|byte| *byte == 0)) {
            intended.push(doomed(path.join(name)?, ObjectKind::Link, Some(target.into()), None));
        }
        for name in &self.specials {
            intended.push(doomed(path.join(name)?, ObjectKind::Special, None, None));
        }
        changes.extend(intended.iter().map(gone));
        witness.intend_all(intended).await?;
        let all = self.files.iter().chain(&self.links).chain(&self.specials).chain(&self.folders);
        let mut script = script::about(script::REMOVE_TREE, path, &[]);
        script.input = nul_separated(all.map(String::as_str).filter(|name| !matches!(*name, "" | ".")));
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
    ) -> Result<(), BackendError> {
        let mut rest = self.files.as_slice();
        while let Some(first) = rest.first() {
            let names: Vec<&str> = rest.iter().take(BATCH).map(String::as_str).collect();
            let mut intended = Vec::with_capacity(names.len());
            for (name, bytes) in names.iter().zip(fetch(executor, path, &names).await?) {
                let below = path.join(name)?;
                let bytes = bytes.ok_or_else(|| BackendError::PermissionDenied { path: below.clone() })?;
                intended.push(doomed(below, ObjectKind::File, Some(bytes.into()), None));
            }
            if intended.is_empty() {
                // That one alone is more than is fetched in one go.
                intended.push(alone(executor, path.join(first)?).await?.0);
            }
            rest = rest.get(intended.len()..).unwrap_or_default();
            changes.extend(intended.iter().map(gone));
            witness.intend_all(intended).await?;
        }
        Ok(())
    }
}
