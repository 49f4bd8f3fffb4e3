use std::collections::{HashMap, HashSet};

use bosun_agent::{BoxFuture, EntryBody, Recorded, Seq, SessionId};
use bosun_backend::VirtualPath;
use bosun_model::CallId;
use bosun_store::{Database, DatabaseError};
use bosun_tools::ChangeRecord;

use crate::projection::{Deed, Did, command_of};

/// The journals of a session and of all subagents below it.
pub(crate) struct Journals {
    pub id: SessionId,
    pub entries: Vec<Recorded>,
    pub children: Vec<Journals>,
}

impl Journals {
    pub(crate) async fn read(database: &Database, root: &SessionId) -> Result<Self, DatabaseError> {
        Self::below(database, root.clone()).await
    }

    fn below(database: &Database, id: SessionId) -> BoxFuture<'_, Result<Self, DatabaseError>> {
        Box::pin(async move {
            let entries = database.entries(&id, 0).await?;
            let mut children = Vec::new();
            for stored in database.children(&id).await? {
                children.push(Self::below(database, stored.id).await?);
            }
            Ok(Self { id, entries, children })
        })
    }

    /// The files that commands changed behind the entry `after` of the root and that cannot be undone.
    pub(crate) fn unkept_after(&self, after: Seq) -> HashSet<VirtualPath> {
        let deeds = self.deeds_after(after).into_iter();
        let unkept = deeds.flat_map(|deed| match deed.what {
            Did::Changed { artifact, .. } => artifact.unkept,
            _ => Vec::new(),
        });
        unkept.map(|record| record.path).collect()
    }

    /// Everything the journals tell of files.
    pub(crate) fn deeds(&self) -> Vec<Deed> {
        self.deeds_after(0)
    }

    /// What happened to `path` up to the entry `seq` of the root, and behind it.
    pub(crate) fn around(&self, seq: Seq, path: &VirtualPath) -> (Vec<Happened>, Vec<Happened>) {
        let happened = |deeds: Vec<Deed>| deeds.into_iter().flat_map(|deed| happened_to(path, deed.what)).collect();
        (happened(self.deeds_of(|of| of <= seq)), happened(self.deeds_after(seq)))
    }

    /// What the journals tell of files behind the entry `after` of the root, in the order in which it happened. A subagent
    /// belongs to the step that sent it out.
    pub(crate) fn deeds_after(&self, after: Seq) -> Vec<Deed> {
        self.deeds_of(|seq| seq > after)
    }

    fn deeds_of(&self, is_in: impl Fn(Seq) -> bool) -> Vec<Deed> {
        let mut deeds = Vec::new();
        self.collect(&is_in, Whose::Root, &mut deeds);
        deeds.sort_by_key(|deed| deed.at);
        deeds
    }

    fn collect(&self, is_in: &dyn Fn(Seq) -> bool, whose: Whose, deeds: &mut Vec<Deed>) {
        let mut sent: HashSet<&SessionId> = HashSet::new();
        let mut commands: HashMap<&CallId, &str> = HashMap::new();
        for recorded in self.entries.iter().filter(|recorded| is_in(recorded.seq)) {
            let what = match &recorded.entry.body {
                EntryBody::TurnStarted { .. } if whose == Whose::Root => Did::TurnBegan,
                EntryBody::Ai { message, .. } => {
                    let calls = message.tool_calls.iter();
                    commands.extend(calls.filter_map(|call| Some((&call.id, command_of(&call.name, &call.args)?))));
                    if whose == Whose::Subagent {
                        continue;
                    }
                    Did::StepBegan
                }
                EntryBody::ToolResult { call_id, artifact, .. } => {
                    let command = commands.get(call_id).map(|command| (*command).to_owned());
                    Did::Changed { artifact: Box::new(artifact.clone()), command }
                }
                EntryBody::Restored { changes } => Did::Restored { changes: changes.clone() },
                EntryBody::Rewound { files, .. } => Did::Rewound { files: files.clone() },
                EntryBody::RewindUndone { .. } => Did::RewindUndone,
                EntryBody::SubagentStarted { child, .. } => {
                    sent.insert(child);
                    continue;
                }
                _ => continue,
            };
            deeds.push(Deed { at: recorded.entry.at, seq: recorded.seq, what });
        }
        for child in self.children.iter().filter(|child| sent.contains(&child.id)) {
            child.collect(&|_| true, Whose::Subagent, deeds);
        }
    }
}

/// One thing that happened to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Happened {
    Changed(ChangeRecord),
    /// A command changed it, and its bytes are not kept.
    Lost,
}

fn happened_to(path: &VirtualPath, what: Did) -> Vec<Happened> {
    let (changes, unkept) = match what {
        Did::Changed { artifact, .. } => (artifact.changes, artifact.unkept),
        Did::Restored { changes } => (changes, Vec::new()),
        Did::TurnBegan | Did::StepBegan | Did::Rewound { .. } | Did::RewindUndone => return Vec::new(),
    };
    let changes = changes.into_iter().filter(|record| record.path == *path).map(Happened::Changed);
    let lost = unkept.into_iter().filter(|record| record.path == *path).map(|_| Happened::Lost);
    changes.chain(lost).collect()
}

/// Whose turns and steps count.
#[derive(Clone, Copy, PartialEq)]
enum Whose {
    Root,
    Subagent,
}
