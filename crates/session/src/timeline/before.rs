use bosun_agent::{EntryBody, Recorded, Seq, State};
use bosun_protocol::ItemId;

/// What comes before a message of the person's. For one that begins a turn it is the same in both ways; one that was said
/// to a turn under way fell into a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Before {
    /// The entry that has the message.
    said: Seq,
    /// The last place before it was said. Going back leads there: the step that was under way goes with it, and so do its
    /// files, for between places calls are open.
    pub back: Seq,
    /// The last place before the model read it, with that step.
    read: Seq,
}

impl Before {
    /// Whether a session that begins before the message has this entry: what the model read before it, and what was said to
    /// the same step earlier, wherever that step stands.
    pub(crate) fn has(&self, Recorded { seq, entry }: &Recorded) -> bool {
        match &entry.body {
            EntryBody::Steered { .. } => *seq < self.said,
            _ => *seq <= self.read,
        }
    }
}

/// The messages of a session, as its journal is followed.
#[derive(Default)]
pub(super) struct Messages {
    said: Vec<(ItemId, Before)>,
    /// How many of them the model has read, or reads next.
    taken: usize,
    /// The last entry behind which no call was open.
    rest: Seq,
}

impl Messages {
    /// Takes an entry that `state` has, and `last` right before it.
    pub(super) fn take(&mut self, Recorded { seq, entry }: &Recorded, last: Seq, state: &State) {
        let said = |place| Before { said: *seq, back: place, read: place };
        match &entry.body {
            EntryBody::TurnStarted { message, .. } => {
                self.said.push((ItemId::new(message.id.as_str()), said(last)));
                self.rest = *seq;
            }
            EntryBody::Steered { message } => self.said.push((ItemId::new(message.id.as_str()), said(self.rest))),
            EntryBody::TurnEnded { .. } => self.rests(*seq),
            EntryBody::Ai { .. } | EntryBody::ToolResult { .. } if state.step.is_none() => self.rests(*seq),
            _ => {}
        }
        if state.steering.is_empty() {
            self.taken = self.said.len();
        }
    }

    fn rests(&mut self, seq: Seq) {
        self.rest = seq;
        self.said.iter_mut().skip(self.taken).for_each(|(_, before)| before.read = seq);
    }

    pub(super) fn before(&self, item: &ItemId) -> Option<Before> {
        self.said.iter().find(|(id, _)| id == item).map(|(_, before)| *before)
    }

    pub(super) fn has(&self, seq: u32) -> bool {
        self.said.iter().any(|(_, before)| before.back == Seq::from(seq))
    }
}
