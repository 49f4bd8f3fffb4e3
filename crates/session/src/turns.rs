use std::sync::Arc;

use bosun_agent::{EntryBody, JournalError, QueuedMessage, TurnEnd};
use bosun_model::{ContentBlock, HumanMessage, Media, MessageId};
use bosun_protocol::Problem;

use tokio::sync::MutexGuard;

use crate::SessionError;
use crate::actor::{Actor, Start};
use crate::assembling::Draft;
use crate::summing::AfterSummary;

/// What a person says, with what they gave along with it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    pub text: String,
    pub media: Vec<Media>,
}

impl From<String> for Said {
    fn from(text: String) -> Self {
        Self { text, media: Vec::new() }
    }
}

impl From<QueuedMessage> for Said {
    fn from(message: QueuedMessage) -> Self {
        Self { text: message.text, media: message.media }
    }
}

/// How turns begin: with a message, with the next of the queue, or where the last one stood.
///
/// Whether and how a turn begins is decided under [`Actor::beginning`], taken after the turn's own lock where both are.
impl Actor {
    /// Starts a turn with what was `said`, or queues it while one is open or a summary is being made. Durable when it
    /// returns.
    pub(crate) async fn send(self: &Arc<Self>, said: impl Into<Said>) -> Result<(), SessionError> {
        let said = said.into();
        refuse_empty(&said)?;
        let mut turn = self.turn().await;
        let beginning = self.beginning().await;
        if self.log.with_state(|state| state.turn.is_some()) || self.waits_for_summary(AfterSummary::Said) {
            self.log.record(vec![self.waiting(said)]).await?;
            return Ok(());
        }
        let draft = self.prepare().await?;
        let entries = match self.first_queued() {
            None => vec![self.started(said)],
            // What a stop, a failure or a crash left waiting was written before this.
            Some(first) => {
                let mut entries = vec![self.waiting(said)];
                entries.extend(self.taken(first));
                entries
            }
        };
        self.open_turn(entries).await?;
        drop(beginning);
        // Servers are waited for with the message in the journal.
        self.run(&mut turn, Start::ByPerson(draft));
        Ok(())
    }

    /// Takes up a turn that failed, was stopped, reached a limit or was interrupted; behind a finished one the first
    /// message that waits, or else the subagents that work beside it.
    pub(crate) async fn continue_turn(self: &Arc<Self>) -> Result<(), SessionError> {
        let mut turn = self.turn().await;
        if self.is_summing() {
            return self.refuse_running(&turn);
        }
        if !turn.is_resting() {
            return Ok(());
        }
        let draft = self.prepare().await?;
        let beginning = self.beginning().await;
        let (open, last, end, beside) = self.log.with_state(|state| {
            (state.turn.is_some(), state.turns, state.last_end.clone(), state.at_work_beside().next().is_some())
        });
        let entries = match (end, self.first_queued()) {
            _ if open => None,
            (None | Some(TurnEnd::Done | TurnEnd::Empty), Some(first)) => Some(self.taken(first)),
            // They are taken up whether or not a turn is open.
            (Some(TurnEnd::Done | TurnEnd::Empty), None) if beside => None,
            (None, None) => return Err(SessionError::invalid(Problem::NothingToContinue)),
            (Some(TurnEnd::Done), None) => return Err(SessionError::invalid(Problem::TurnFinished)),
            (Some(_), _) => Some(vec![EntryBody::TurnContinued { turn: last }]),
        };
        if let Some(entries) = entries {
            self.open_turn(entries).await?;
        }
        drop(beginning);
        self.run(&mut turn, Start::ByPerson(draft));
        Ok(())
    }

    /// Ends the turn that runs, where one does, and begins the next with a message out of the queue.
    pub(crate) async fn send_now(self: &Arc<Self>, id: &str) -> Result<(), SessionError> {
        loop {
            self.queued(id)?;
            self.waits_for_summary(AfterSummary::Nothing);
            self.stop().await?;
            let mut turn = self.turn().await;
            let draft = self.prepare().await?;
            let beginning = self.beginning().await;
            // The end of a turn may have begun another one just before.
            if self.log.with_state(|state| state.turn.is_some()) {
                continue;
            }
            let message = self.queued(id)?;
            self.open_turn(self.taken(message)).await?;
            drop(beginning);
            self.run(&mut turn, Start::ByPerson(draft));
            return Ok(());
        }
    }

    /// Says something to the turn under way, to be read at its next step; without one it begins a turn.
    pub(crate) async fn steer(self: &Arc<Self>, said: impl Into<Said>) -> Result<(), SessionError> {
        let said = said.into();
        refuse_empty(&said)?;
        if !self.turn().await.listens() || self.is_summing() {
            return self.send(said).await;
        }
        let beginning = self.beginning().await;
        self.log.record(vec![self.steered(said)]).await?;
        drop(beginning);
        self.begin_waiting().await;
        Ok(())
    }

    /// As [`Self::steer`], with a message out of the queue.
    pub(crate) async fn steer_queued(self: &Arc<Self>, id: &str) -> Result<(), SessionError> {
        if !self.turn().await.listens() || self.is_summing() {
            return self.send_now(id).await;
        }
        let beginning = self.beginning().await;
        let message = self.queued(id)?;
        self.log.record(vec![EntryBody::Unqueued { id: message.id.clone() }, self.steered(message)]).await?;
        drop(beginning);
        self.begin_waiting().await;
        Ok(())
    }

    pub(crate) async fn unqueue(&self, id: &str) -> Result<(), SessionError> {
        let beginning = self.beginning().await;
        let id = self.queued(id)?.id;
        self.log.record(vec![EntryBody::Unqueued { id }]).await?;
        drop(beginning);
        Ok(())
    }

    pub(crate) async fn edit_queued(&self, id: &str, text: String) -> Result<(), SessionError> {
        let beginning = self.beginning().await;
        let known = self.queued(id)?;
        refuse_empty(&Said { text: text.clone(), media: known.media })?;
        let id = known.id;
        self.log.record(vec![EntryBody::QueueEdited { id, text }]).await?;
        drop(beginning);
        Ok(())
    }

    /// Puts a message at the place `to` of the queue, from 0; beyond its end is its end.
    pub(crate) async fn move_queued(&self, id: &str, to: u32) -> Result<(), SessionError> {
        let beginning = self.beginning().await;
        let id = self.queued(id)?.id;
        self.log.record(vec![EntryBody::QueueMoved { id, to }]).await?;
        drop(beginning);
        Ok(())
    }

    /// Begins what waits behind a turn that has ended well: what a person said to it too late, else the queue.
    pub(crate) async fn begin_waiting(self: &Arc<Self>) {
        let beginning = self.beginning().await;
        // Whoever ends the summary looks at what waits.
        if self.is_summing() {
            return;
        }
        if let Some(entries) = self.next_by_itself() {
            self.begin_with(entries, beginning, Start::ByItself).await;
        }
    }

    /// What begins by itself, where the last turn has ended well.
    pub(crate) fn next_by_itself(&self) -> Option<Vec<EntryBody>> {
        let (rests, steered, last) = self.log.with_state(|state| {
            let ended_well = matches!(state.last_end, Some(TurnEnd::Done | TurnEnd::Empty));
            (state.turn.is_none() && ended_well, !state.steering.is_empty(), state.turns)
        });
        match (rests, steered) {
            (true, true) => Some(vec![EntryBody::TurnContinued { turn: last }]),
            (true, false) => self.next_queued(),
            (false, _) => None,
        }
    }

    /// The first message of the queue as the beginning of a turn.
    pub(crate) fn next_queued(&self) -> Option<Vec<EntryBody>> {
        self.first_queued().map(|next| self.taken(next))
    }

    /// Opens a turn with `entries` and has it run.
    pub(crate) async fn begin_with(
        self: &Arc<Self>,
        entries: Vec<EntryBody>,
        beginning: MutexGuard<'_, ()>,
        start: fn(Option<Draft>) -> Start,
    ) {
        let opened = self.open_turn(entries).await;
        drop(beginning);
        if let Err(error) = opened {
            tracing::error!(%error, "what waits could not be begun");
            self.not_recorded(&error);
            return;
        }
        self.run_soon(start);
    }

    /// Runs what is open. Not from inside the turn that has just ended: its task is still the one that is kept.
    pub(crate) fn run_soon(self: &Arc<Self>, start: fn(Option<Draft>) -> Start) {
        let actor = Arc::clone(self);
        self.spawn(async move {
            let mut turn = actor.turn().await;
            match actor.prepare().await {
                Ok(draft) => actor.run(&mut turn, start(draft)),
                Err(error) => tracing::error!(%error, "what waits could not be begun"),
            }
        });
    }

    fn first_queued(&self) -> Option<QueuedMessage> {
        self.log.with_state(|state| state.queue.first().cloned())
    }

    fn queued(&self, id: &str) -> Result<QueuedMessage, SessionError> {
        let found = self.log.with_state(|state| state.queue.iter().find(|message| message.id == id).cloned());
        found.ok_or_else(|| SessionError::not_found(Problem::NotQueued))
    }

    /// A message out of the queue as the beginning of a turn.
    fn taken(&self, message: QueuedMessage) -> Vec<EntryBody> {
        vec![EntryBody::Unqueued { id: message.id.clone() }, self.started(message)]
    }

    fn waiting(&self, Said { text, media }: Said) -> EntryBody {
        EntryBody::Queued { id: self.tree.ids.next(), text, media }
    }

    fn started(&self, said: impl Into<Said>) -> EntryBody {
        let turn = self.log.with_state(|state| state.turns) + 1;
        EntryBody::TurnStarted { turn, message: self.message(said.into()) }
    }

    fn steered(&self, said: impl Into<Said>) -> EntryBody {
        EntryBody::Steered { message: self.message(said.into()) }
    }

    fn message(&self, Said { text, media }: Said) -> HumanMessage {
        let words = (!text.trim().is_empty()).then(|| ContentBlock::text(text));
        let content = words.into_iter().chain(media.into_iter().map(ContentBlock::Media)).collect();
        HumanMessage { id: MessageId::new(self.tree.ids.next()), content }
    }

    /// Records what opens a turn. It shows as running from that entry on: open and not running is what a crash leaves.
    async fn open_turn(&self, entries: Vec<EntryBody>) -> Result<(), JournalError> {
        self.set_running(true);
        let recorded = self.log.record(entries).await;
        if recorded.is_err() {
            self.set_running(false);
        }
        recorded
    }
}

fn refuse_empty(said: &Said) -> Result<(), SessionError> {
    if said.text.trim().is_empty() && said.media.is_empty() {
        return Err(SessionError::invalid(Problem::EmptyMessage));
    }
    Ok(())
}
