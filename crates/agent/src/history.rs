use std::collections::HashSet;

use crate::{EntryBody, Recorded, Seq, State};

/// The entries that make the conversation as it is: without those that were rewound, with those whose rewinding was
/// undone. What is not about the conversation (its title, its place in lists, its queue) stays whatever is rewound.
pub fn effective(entries: &[Recorded]) -> Vec<&Recorded> {
    let mut live: Vec<&Recorded> = Vec::with_capacity(entries.len());
    // What was live right before each rewind, to come back with its undoing.
    let mut before: Vec<(Seq, Vec<&Recorded>)> = Vec::new();
    for recorded in entries {
        match &recorded.entry.body {
            EntryBody::Rewound { to, conversation: true, .. } => {
                before.push((recorded.seq, live.clone()));
                live.retain(|known| known.seq <= *to || stays(&known.entry.body));
            }
            EntryBody::RewindUndone { rewind } => {
                if let Some((_, earlier)) =
                    before.iter().rposition(|(seq, _)| seq == rewind).map(|at| before.remove(at))
                {
                    let since = live.iter().filter(|known| known.seq > *rewind).copied().collect::<Vec<_>>();
                    live = earlier;
                    live.extend(since);
                }
            }
            _ => {}
        }
        live.push(recorded);
    }
    live
}

/// Whether an entry counts also where the conversation around it was rewound.
pub fn stays(body: &EntryBody) -> bool {
    matches!(
        body,
        EntryBody::Queued { .. }
            | EntryBody::Unqueued { .. }
            | EntryBody::QueueEdited { .. }
            | EntryBody::QueueMoved { .. }
            | EntryBody::Titled { .. }
            | EntryBody::Pinned { .. }
            | EntryBody::Archived { .. }
            | EntryBody::Discarded { .. }
            | EntryBody::ModelChosen { .. }
            | EntryBody::EffortChosen { .. }
            | EntryBody::RestoreIntended { .. }
            | EntryBody::Restored { .. }
            | EntryBody::Rewound { .. }
            | EntryBody::RewindUndone { .. }
    )
}

impl State {
    /// The state that a journal makes, what was rewound left out. Calls that were rewound keep their ids: a subagent is
    /// found by the call that sent it out, so that no later call may take one of them.
    pub fn of_journal(entries: &[Recorded]) -> Self {
        let live = effective(entries);
        let mut state = Self::fold(live.iter().map(|recorded| &recorded.entry));
        if live.len() < entries.len() {
            let live: HashSet<Seq> = live.iter().map(|recorded| recorded.seq).collect();
            for recorded in entries.iter().filter(|recorded| !live.contains(&recorded.seq)) {
                state.take_call_ids(&recorded.entry.body);
            }
        }
        state
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::JournalEntry;

    fn places(bodies: Vec<EntryBody>) -> Vec<Seq> {
        let entries: Vec<Recorded> =
            (1..).zip(bodies).map(|(seq, body)| Recorded { seq, entry: JournalEntry { at: 0, body } }).collect();
        let shown = effective(&entries).into_iter();
        shown.filter(|recorded| !matches!(recorded.entry.body, EntryBody::RewindUndone { .. })).map(|r| r.seq).collect()
    }

    fn turn(turn: u32) -> EntryBody {
        EntryBody::TurnContinued { turn }
    }

    fn rewound(to: Seq) -> EntryBody {
        EntryBody::Rewound { to, conversation: true, files: Vec::new() }
    }

    #[test]
    fn rewinding_leaves_out_and_undoing_brings_back() {
        let titled = || EntryBody::Titled { title: "t".into() };
        assert_eq!(places(vec![turn(1), turn(2), titled(), rewound(1), turn(3)]), [1, 3, 4, 5]);
        let undone = vec![turn(1), turn(2), rewound(1), EntryBody::RewindUndone { rewind: 3 }, turn(3)];
        assert_eq!(places(undone), [1, 2, 5]);
        let twice = vec![turn(1), turn(2), rewound(1), turn(3), rewound(0), EntryBody::RewindUndone { rewind: 5 }];
        assert_eq!(places(twice), [1, 3, 4]);
        let files = EntryBody::Rewound { to: 0, conversation: false, files: Vec::new() };
        assert_eq!(places(vec![turn(1), files]), [1, 2]);
    }
}
