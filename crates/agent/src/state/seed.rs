use std::collections::BTreeMap;

use bosun_backend::{BlobError, BlobStore, FileConflict, FileData, VirtualPath, merge_files};
use bosun_tools::{Reducer, StateField, StateUpdate};
use serde_json::Value;

use crate::{JournalError, State};

/// Longest value that is shown of a field, in characters.
const SHOWN: usize = 1_000;

/// What a subagent was given by its parent, kept where it changed it since: so much of the common ground as merging
/// needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Seed {
    given: bool,
    /// Changed files as they were given; `None` where there was none.
    files: BTreeMap<VirtualPath, Option<FileData>>,
    fields: BTreeMap<String, Value>,
}

/// What a subagent brings back.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Brought {
    pub update: StateUpdate,
    /// Sentences about what it and someone else changed both.
    pub conflicts: Vec<String>,
}

/// Puts the content of large files into `blobs`, so that a journal does not hold it once more for every subagent. It is there
/// already but where the state is that of an older journal, or a tool's own.
pub(crate) async fn lightened(mut update: StateUpdate, blobs: Option<&BlobStore>) -> Result<StateUpdate, JournalError> {
    let Some(blobs) = blobs else { return Ok(update) };
    for data in update.files.iter_mut().filter_map(|(_, data)| data.as_mut()) {
        data.keep_in(blobs).await.map_err(|error| match error {
            BlobError::DiskFull => JournalError::DiskFull,
            other => JournalError::Unavailable { reason: other.to_string() },
        })?;
    }
    Ok(update)
}

impl Seed {
    pub(super) fn of(state: &State) -> Self {
        Self { given: true, files: BTreeMap::new(), fields: state.fields.clone() }
    }

    /// `path` is about to change from `now`.
    pub(super) fn touch(&mut self, path: &VirtualPath, now: Option<&FileData>) {
        if self.given && !self.files.contains_key(path) {
            self.files.insert(path.clone(), now.cloned());
        }
    }
}

impl State {
    /// What a subagent gets: the parent's files, what the parent has read, and the declared fields that are not its
    /// own; not its plan and not its messages.
    pub(crate) fn seed<'a>(&self, fields: impl Iterator<Item = &'a StateField>) -> StateUpdate {
        let shared = fields.filter(|field| !field.private);
        StateUpdate {
            files: self.files.iter().map(|(path, data)| (path.clone(), Some(data.clone()))).collect(),
            reads: self.reads.iter().map(|(path, stamp)| (path.clone(), Some(stamp.clone()))).collect(),
            fields: shared
                .filter_map(|field| Some((field.name.clone(), self.fields.get(&field.name)?.clone())))
                .collect(),
            ..StateUpdate::default()
        }
    }

    /// What brings a subagent, whose state this is and whose work is merged, to where its parent is now. What it knows
    /// of files itself stays.
    pub(crate) fn seed_again<'a>(&self, parent: &Self, fields: impl Iterator<Item = &'a StateField>) -> StateUpdate {
        let mut seed = parent.seed(fields);
        seed.files.retain(|(path, data)| self.files.get(path) != data.as_ref());
        seed.files.extend(
            self.files.keys().filter(|path| !parent.files.contains_key(*path)).map(|path| (path.clone(), None)),
        );
        seed.reads.retain(|(path, _)| !self.reads.contains_key(path));
        seed
    }

    /// What a subagent, whose state this is, made of what it was given, for a parent that may have gone on meanwhile.
    /// Where both changed a file, the parent's stays and the subagent's is kept beside it.
    pub(crate) fn brought<'a>(&self, parent: &Self, fields: impl Iterator<Item = &'a StateField>) -> Brought {
        let given = self.seed.files.iter();
        let base: BTreeMap<VirtualPath, FileData> =
            given.filter_map(|(path, data)| data.as_ref().map(|data| (path.clone(), data.clone()))).collect();
        let theirs = self.seed.files.keys().map(|path| (path.clone(), self.files.get(path).cloned())).collect();
        let (files, conflicts) = merge_files(&parent.files, &base, theirs);
        let mut brought = Brought {
            update: StateUpdate { files, ..StateUpdate::default() },
            conflicts: conflicts.iter().map(file_conflict).collect(),
        };
        for field in fields.filter(|field| !field.private) {
            self.bring(field, parent, &mut brought);
        }
        brought
    }

    fn bring(&self, field: &StateField, parent: &Self, brought: &mut Brought) {
        let StateField { name, reducer, .. } = field;
        let empty = reducer.empty();
        let of = |fields: &BTreeMap<String, Value>| fields.get(name).unwrap_or(&empty).clone();
        let (base, now, theirs) = (of(&self.seed.fields), of(&self.fields), of(&parent.fields));
        let Some(update) = reducer.difference(&base, &now) else { return };
        if *reducer == Reducer::Replace && theirs != base && theirs != now {
            brought.conflicts.push(field_conflict(name, &update));
            return;
        }
        brought.update.fields.push((name.clone(), update));
        if *reducer != Reducer::Replace {
            brought.update.reducers.insert(name.clone(), *reducer);
        }
    }
}

fn file_conflict(conflict: &FileConflict) -> String {
    let kept = match &conflict.kept_at {
        Some(at) => format!("its version is kept at {at}"),
        None => "it had removed the file".into(),
    };
    format!(
        "Conflict: {} was changed by the subagent and meanwhile by someone else, whose version stays; {kept}. Bring \
         the two together.",
        conflict.path
    )
}

fn field_conflict(name: &str, value: &Value) -> String {
    let shown: String = value.to_string().chars().take(SHOWN).collect();
    format!(
        "Conflict: the state field '{name}' was changed by the subagent and meanwhile by someone else, whose value \
         stays. The subagent's is: {shown}"
    )
}
