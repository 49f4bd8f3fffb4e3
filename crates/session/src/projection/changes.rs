use std::collections::{BTreeMap, HashMap, VecDeque};

use bosun_agent::{ChangedFile, Seq};
use bosun_backend::{ContentHash, VirtualPath};
use bosun_protocol::{ChangeKind, ChangeScope, FileChange, PutAside, SessionEvent};
use bosun_tools::{Artifact, ChangeRecord, UncomparedFiles, UnkeptRecord};
use serde_json::Value;

use super::Projection;
use super::spans::{Between, Form, How, Span};

/// Undos that can be taken back; those before them are forgotten.
const UNDONE: usize = 50;
/// Most bytes of a command that stand with the files it changed.
const COMMAND: usize = 400;

/// What became of each file, from its bytes before the first change to those after the last.
#[derive(Default)]
pub(super) struct Changes {
    files: HashMap<VirtualPath, Changed>,
    /// Files that commands changed and whose bytes are not kept, with the command.
    unkept: BTreeMap<VirtualPath, Unkept>,
    unkept_more: u32,
    uncompared: Option<UncomparedFiles>,
    /// Places of the journal where the turn and the step under way began.
    turn: Seq,
    step: Seq,
    undone: VecDeque<Undone>,
    /// The files of the last way back.
    rewound: Vec<ChangeRecord>,
    /// Whether someone compares the bytes and says so with [`Projection::counted`]. Else lines are summed over the edits.
    compared: bool,
}

struct Changed {
    /// With the rights of which the first change tells that tells any.
    before: Form,
    /// What was done to it between the changes, in its order.
    between: Vec<Between>,
    /// A command changed it, or may have, without its bytes being kept.
    unsure: bool,
    after: Form,
    /// The rights that were told last: an older version told none of those after a change.
    told: Option<u32>,
    /// As it was when the turn, and the step, that changed it last met it.
    turn: Mark,
    step: Mark,
    /// The command that changed it last, where a command did.
    command: Option<String>,
    /// It was put back last, not changed.
    restored: bool,
    /// Lines of the edits one by one, for where the bytes cannot be compared.
    summed: (u32, u32),
    lines: Lines,
}

#[derive(Clone)]
struct Mark {
    since: Seq,
    /// As that of the file, since then.
    before: Form,
    /// How much had been done between the changes by then.
    between: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Lines {
    Unknown,
    Counted(u32, u32),
}

/// A file as a scope of changes shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scoped {
    /// From before the scope to the last change.
    pub span: Span,
    /// The form before the session, and all that was done since between its changes.
    pub first: Form,
    pub between: Vec<Between>,
    pub command: Option<String>,
    pub restored: bool,
    /// Lines added and removed, where they are known for this span.
    pub lines: Option<(u32, u32)>,
    /// Some change of it cannot be undone.
    pub lost: bool,
}

/// A file whose bytes are not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unkept {
    pub record: UnkeptRecord,
    pub command: Option<String>,
    turn: Seq,
    step: Seq,
}

/// Files that were put back by a person, and may come again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Undone {
    pub seq: Seq,
    pub at: i64,
    pub what: PutAside,
    pub changes: Vec<ChangeRecord>,
}

/// What the journal tells of files, in the order in which it happened.
#[derive(Clone, Debug)]
pub(crate) struct Deed {
    pub at: i64,
    pub seq: Seq,
    pub what: Did,
}

#[derive(Clone, Debug)]
pub(crate) enum Did {
    TurnBegan,
    StepBegan,
    Changed { artifact: Box<Artifact>, command: Option<String> },
    Restored { changes: Vec<ChangeRecord> },
    Rewound { files: Vec<ChangeRecord> },
    RewindUndone,
}

impl Deed {
    /// The files that it changed.
    pub(crate) fn changed_files(&self) -> Vec<ChangedFile> {
        match &self.what {
            Did::Changed { artifact, .. } => ChangedFile::of_call(artifact).collect(),
            Did::Restored { changes } | Did::Rewound { files: changes } => {
                changes.iter().map(ChangedFile::from).collect()
            }
            Did::TurnBegan | Did::StepBegan | Did::RewindUndone => Vec::new(),
        }
    }
}

/// What a change was part of.
struct Circumstance<'a> {
    lines: (u32, u32),
    command: Option<&'a str>,
    restored: bool,
}

impl Changes {
    /// Takes a change; `None` until its lines are counted.
    fn take(&mut self, record: &ChangeRecord, part: &Circumstance<'_>) -> Option<FileChange> {
        let (compared, turn, step) = (self.compared, self.turn, self.step);
        let (added, removed) = part.lines;
        let file = self.files.entry(record.path.clone()).or_insert_with(|| Changed {
            before: Form::before(record),
            between: Vec::new(),
            unsure: false,
            after: Form::before(record),
            told: Form::before(record).mode,
            turn: Mark::at(turn, record, 0),
            step: Mark::at(step, record, 0),
            command: None,
            restored: false,
            summed: (0, 0),
            lines: Lines::Unknown,
        });
        // What the agent's own commands did to it without its bytes being kept is nobody else's.
        let (met, left) = (Form::before(record), Form::after(record));
        let from = file.left(left.mode.is_some());
        if !from.is(&met) && !std::mem::take(&mut file.unsure) {
            file.between.push(Between { from, to: met.clone(), how: How::Edited });
        }
        file.told = left.mode.or(file.told).or(met.mode);
        if part.restored {
            file.put_back(record);
        } else {
            let between = file.between.len();
            for (mark, now) in [(&mut file.turn, turn), (&mut file.step, step)] {
                if mark.since != now {
                    *mark = Mark::at(now, record, between);
                }
            }
        }
        for before in [&mut file.before, &mut file.turn.before, &mut file.step.before] {
            *before = Form::of(before.hash.take(), before.mode.or(met.mode));
        }
        file.after = left;
        file.restored = part.restored;
        if !part.restored {
            file.command = part.command.map(ToOwned::to_owned);
        }
        file.summed = (file.summed.0.saturating_add(added), file.summed.1.saturating_add(removed));
        file.lines = if file.before.hash == file.after.hash && file.between.is_empty() {
            file.summed = (0, 0);
            Lines::Counted(0, 0)
        } else if compared {
            Lines::Unknown
        } else {
            Lines::Counted(file.summed.0, file.summed.1)
        };
        file.shown(&record.path)
    }

    /// Takes what the journal tells; gives what is to be shown of it.
    fn follow(&mut self, deed: &Deed) -> Vec<FileChange> {
        match &deed.what {
            Did::TurnBegan => self.turn = deed.seq,
            Did::StepBegan => self.step = deed.seq,
            Did::Changed { artifact, command } => return self.changed(artifact, command.as_deref()),
            Did::Restored { changes } => {
                if self.put_back(deed, changes) == PutAside::OwnEdits {
                    // What the session left stays what it was; only what was done over it comes or goes.
                    return Vec::new();
                }
                let part = Circumstance { lines: (0, 0), command: None, restored: true };
                return changes.iter().filter_map(|record| self.take(record, &part)).collect();
            }
            // Going back and forth has its own way back.
            Did::Rewound { files } => {
                if self.undone.back().is_some_and(|undone| undone.changes == *files) {
                    self.undone.pop_back();
                }
                self.rewound.clone_from(files);
            }
            Did::RewindUndone => {
                let rewound = std::mem::take(&mut self.rewound);
                if self.undone.back().is_some_and(|undone| is_inverse(undone, &rewound)) {
                    self.undone.pop_back();
                }
            }
        }
        Vec::new()
    }

    fn changed(&mut self, artifact: &Artifact, command: Option<&str>) -> Vec<FileChange> {
        let diff = artifact.diff.as_ref().filter(|_| artifact.changes.len() == 1);
        let lines = diff.map_or((0, 0), |diff| (diff.added, diff.removed));
        for record in &artifact.unkept {
            if let Some(file) = self.files.get_mut(&record.path) {
                file.unsure = true;
            }
            let command = command.map(ToOwned::to_owned);
            let unkept = Unkept { record: record.clone(), command, turn: self.turn, step: self.step };
            self.unkept.insert(record.path.clone(), unkept);
        }
        self.unkept_more = self.unkept_more.saturating_add(artifact.unkept_more);
        if command.is_some() {
            self.uncompared = artifact.uncompared;
        }
        let part = Circumstance { lines, command, restored: false };
        let changes = artifact.changes.iter().filter_map(|record| self.take(record, &part)).collect();
        if artifact.uncompared.is_some() {
            self.files.values_mut().for_each(|file| file.unsure = true);
        }
        changes
    }

    /// Keeps what was put back, for it to come again, or lets go of what has come again. Gives what was put aside.
    fn put_back(&mut self, deed: &Deed, changes: &[ChangeRecord]) -> PutAside {
        if let Some(at) = self.undone.iter().rposition(|undone| is_inverse(undone, changes)) {
            return self.undone.remove(at).map_or(PutAside::Changes, |undone| undone.what);
        }
        if changes.is_empty() {
            return PutAside::Changes;
        }
        let is_over = changes.iter().all(|record| self.is_over_own_edits(record));
        let what = if is_over { PutAside::OwnEdits } else { PutAside::Changes };
        self.undone.push_back(Undone { seq: deed.seq, at: deed.at, what, changes: changes.to_vec() });
        if self.undone.len() > UNDONE {
            self.undone.pop_front();
        }
        what
    }

    /// Whether a file that somebody else had changed is again as the session left it.
    fn is_over_own_edits(&self, record: &ChangeRecord) -> bool {
        let left = self.files.get(&record.path).map(|file| &file.after.hash);
        left.is_some_and(|left| record.after == *left && record.before != *left)
    }

    /// The files of a scope that are not as they were before it, and those that were put back to what they were.
    fn scoped(&self, scope: ChangeScope) -> Vec<Scoped> {
        let before = |file: &Changed| {
            let mark = match scope {
                ChangeScope::Session => return Some((file.before.clone(), file.edited())),
                ChangeScope::Turn if file.turn.since == self.turn => &file.turn,
                ChangeScope::Step if file.step.since == self.step => &file.step,
                ChangeScope::Turn | ChangeScope::Step => return None,
            };
            // What a person put back is no change of the turn or step either.
            let between = file.between.iter().skip(mark.between);
            let between = between.filter(|between| between.how != How::PutBackAndAgain).cloned().collect();
            Some((mark.before.clone(), between))
        };
        let mut scoped: Vec<Scoped> = self
            .files
            .iter()
            .filter_map(|(path, file)| {
                let (before, between) = before(file)?;
                let is_whole = before == file.before && between == file.edited();
                let lines = match file.lines {
                    Lines::Counted(added, removed) if is_whole => Some((added, removed)),
                    Lines::Counted(..) | Lines::Unknown => None,
                };
                Some(Scoped {
                    lines,
                    lost: self.unkept.contains_key(path),
                    command: file.command.clone(),
                    restored: file.restored,
                    first: file.before.clone(),
                    between: file.between.clone(),
                    span: Span { path: path.clone(), before, between, after: file.after.clone() },
                })
            })
            .filter(|file| file.restored || file.span.is_change())
            .collect();
        scoped.sort_by(|a, b| a.span.path.cmp(&b.span.path));
        scoped
    }
}

impl Mark {
    fn at(since: Seq, record: &ChangeRecord, between: usize) -> Self {
        Self { since, before: Form::before(record), between }
    }
}

impl Changed {
    /// As the last change left it. Where that told no rights and the next one does, they are taken for those before: what is
    /// found instead is what others gave it.
    fn left(&self, tells_rights: bool) -> Form {
        let Form { hash, mode } = self.after.clone();
        Form::of(hash, mode.or(self.told.filter(|_| tells_rights)))
    }

    /// A person put it back. What they put back before and have again now is as if it had stayed.
    fn put_back(&mut self, record: &ChangeRecord) {
        let (from, to) = (Form::before(record), Form::after(record));
        let is_inverse =
            |between: &&mut Between| between.how == How::PutBack && (&between.from, &between.to) == (&to, &from);
        match self.between.iter_mut().rfind(is_inverse) {
            Some(between) => between.how = How::PutBackAndAgain,
            None => self.between.push(Between { from, to, how: How::PutBack }),
        }
    }

    /// What others did between the changes.
    fn edited(&self) -> Vec<Between> {
        self.between.iter().filter(|between| between.how == How::Edited).cloned().collect()
    }

    fn shown(&self, path: &VirtualPath) -> Option<FileChange> {
        let Lines::Counted(added, removed) = self.lines else { return None };
        let change = kind_of(self.before.hash.as_ref(), self.after.hash.as_ref());
        Some(FileChange { path: path.to_string(), change, added, removed })
    }
}

/// The command of a call that runs one, cut where it is long.
pub(crate) fn command_of<'a>(name: &str, args: &'a Value) -> Option<&'a str> {
    let command = args.get("command").filter(|_| name == "execute")?.as_str()?;
    command.get(..command.floor_char_boundary(COMMAND))
}

fn is_inverse(undone: &Undone, changes: &[ChangeRecord]) -> bool {
    undone.changes.len() == changes.len()
        && undone.changes.iter().zip(changes).all(|(undone, record)| {
            undone.path == record.path
                && (Form::before(undone), Form::after(undone)) == (Form::after(record), Form::before(record))
        })
}

/// What happens to a file between two states.
pub(crate) fn kind_of(before: Option<&ContentHash>, after: Option<&ContentHash>) -> ChangeKind {
    match (before, after) {
        (Some(_), None) => ChangeKind::Deleted,
        (None, Some(_)) => ChangeKind::Created,
        (Some(_), Some(_)) | (None, None) => ChangeKind::Changed,
    }
}

impl Projection {
    /// From now on the lines of changes are counted from bytes, by whoever calls [`Self::counted`].
    pub(crate) fn compare_changes(&mut self) {
        self.changes.compared = true;
    }

    /// Takes what the journal tells of files.
    pub(crate) fn follow(&mut self, deed: &Deed) {
        for change in self.changes.follow(deed) {
            self.emit(SessionEvent::FileChanged { change });
        }
    }

    /// The files that a call changed, in this session's own list.
    pub(super) fn changed(&mut self, artifact: &Artifact, command: Option<String>) {
        let what = Did::Changed { artifact: Box::new(artifact.clone()), command };
        self.follow(&Deed { at: 0, seq: 0, what });
    }

    /// Takes all changes of the session and its subagents anew, in the order in which they happened: read journal by
    /// journal, they stand in another.
    pub(crate) fn replay_changes(&mut self, deeds: &[Deed]) {
        self.changes = Changes { compared: self.changes.compared, ..Changes::default() };
        deeds.iter().for_each(|deed| self.follow(deed));
    }

    /// The files that are not as they were before the session, with their first and last bytes, by path.
    pub(crate) fn spans(&self) -> Vec<Span> {
        let scoped = self.changes.scoped(ChangeScope::Session).into_iter();
        scoped.map(|file| file.span).filter(Span::is_change).collect()
    }

    /// The files that deeds changed, from before the first to the last.
    pub(crate) fn changed_by(deeds: &[Deed]) -> Vec<Span> {
        let mut changes = Changes::default();
        for deed in deeds {
            changes.follow(deed);
        }
        let scoped = changes.scoped(ChangeScope::Session).into_iter();
        scoped.map(|file| file.span).filter(Span::is_change).collect()
    }

    /// The files of a scope of changes, by path.
    pub(crate) fn scoped_changes(&self, scope: ChangeScope) -> Vec<Scoped> {
        self.changes.scoped(scope)
    }

    /// The files of a scope that cannot be undone, by path.
    pub(crate) fn unkept(&self, scope: ChangeScope) -> Vec<Unkept> {
        let is_in = |unkept: &&Unkept| match scope {
            ChangeScope::Session => true,
            ChangeScope::Turn => unkept.turn == self.changes.turn,
            ChangeScope::Step => unkept.step == self.changes.step,
        };
        self.changes.unkept.values().filter(is_in).cloned().collect()
    }

    /// How many more files cannot be undone, and why what the last command did is not known.
    pub(crate) fn not_compared(&self) -> (u32, Option<UncomparedFiles>) {
        (self.changes.unkept_more, self.changes.uncompared)
    }

    /// What a person put back and may have again, the last first.
    pub(crate) fn undone(&self) -> Vec<Undone> {
        self.changes.undone.iter().rev().cloned().collect()
    }

    /// A subagent's changes belong to the whole tree.
    pub(crate) fn child_changed(&mut self, artifact: &Artifact, command: Option<String>) {
        self.changed(artifact, command);
    }

    /// The bytes of `path` before this session first changed it: outer `None` where it never did.
    pub(crate) fn bytes_before(&self, path: &VirtualPath) -> Option<Option<ContentHash>> {
        self.changes.files.get(path).map(|file| file.before.hash.clone())
    }

    /// The bytes that this session's agents left at `path`, where they were the last to change it.
    pub(crate) fn made(&self, path: &VirtualPath) -> Option<Option<ContentHash>> {
        self.changes.files.get(path).filter(|file| !file.restored).map(|file| file.after.hash.clone())
    }

    /// The Unix permission bits of `path` before this session changed it, where they are known.
    pub(crate) fn mode_before(&self, path: &VirtualPath) -> Option<u32> {
        self.changes.files.get(path).and_then(|file| file.before.mode)
    }

    /// The changes whose lines nobody has counted yet, in the order of their paths.
    pub(crate) fn uncounted(&self) -> Vec<Span> {
        let open = self.changes.files.iter().filter(|(_, file)| file.lines == Lines::Unknown);
        let mut spans: Vec<Span> = open
            .map(|(path, file)| Span {
                path: path.clone(),
                before: file.before.clone(),
                between: file.edited(),
                after: file.after.clone(),
            })
            .collect();
        spans.sort_by(|a, b| a.path.cmp(&b.path));
        spans
    }

    /// Takes the lines of a change, added and removed; `None` where its bytes cannot be read any more. A change that
    /// went on meanwhile is counted again.
    pub(crate) fn counted(&mut self, span: &Span, lines: Option<(u32, u32)>) {
        let Some(file) = self.changes.files.get_mut(&span.path) else { return };
        let is_same = (&file.before, &file.edited(), &file.after) == (&span.before, &span.between, &span.after);
        if file.lines != Lines::Unknown || !is_same {
            return;
        }
        let (added, removed) = lines.unwrap_or(file.summed);
        file.lines = Lines::Counted(added, removed);
        if let Some(change) = file.shown(&span.path) {
            self.emit(SessionEvent::FileChanged { change });
        }
    }
}
