use std::sync::Arc;

use bosun_model::{HumanMessage, Message};

use super::{OpenStep, SentSubagent, State};
use crate::{SubagentMode, TurnEnd, background};

impl State {
    /// Forgets what was said before the last reply, for whoever only follows how things stand: nothing of that is looked at
    /// again by what an entry changes.
    pub fn forget_messages(&mut self) {
        let is_reply = |message: &Arc<Message>| matches!(&**message, Message::Ai(_));
        if let Some(at) = self.messages.iter().rposition(is_reply).filter(|at| *at > 0) {
            self.messages = self.messages.split_off(at).into();
        }
    }

    /// A turn goes on with the subagents that a limit of the whole tree had ended: their calls are open again, without the
    /// results that said so. All other results of the step stay, and what was said since is read once the step is done.
    pub(super) fn take_up(&mut self, mut step: OpenStep) {
        let is_reply = |message: &Arc<Message>| matches!(&**message, Message::Ai(reply) if reply.id == step.message);
        let Some(at) = self.messages.iter().rposition(is_reply) else { return };
        let behind = self.messages.split_off(at + 1);
        let said = behind.iter().filter_map(|message| match &**message {
            Message::Human(human) => Some(human.clone()),
            Message::System(_) | Message::Ai(_) | Message::Tool(_) => None,
        });
        let said: Vec<HumanMessage> = said.collect();
        self.steering.splice(..0, said);
        for call in step.calls.iter_mut().filter(|call| call.is_paused) {
            (call.is_paused, call.goes_on, call.result) = (false, true, None);
            if let Some(sent) = self.subagents.iter_mut().find(|sent| Some(&sent.child) == call.child.as_ref()) {
                sent.end = None;
            }
        }
        self.step = Some(step);
    }

    /// The subagents beside this agent go on, too, that such a limit had ended, as long as the model was not asked again
    /// since: where it has read of an end, what becomes of it is the model's to say.
    pub(super) fn take_up_beside(&mut self) {
        let is_reply = |message: &Arc<Message>| matches!(&**message, Message::Ai(_));
        let unread = self.messages.iter().rposition(is_reply).map_or(0, |at| at + 1);
        let mut unread = self.messages.split_off(unread);
        for message in &mut unread {
            if let Message::Human(told) = &**message
                && let Some(goes_on) = self.taken_up(told)
            {
                *message = Arc::new(Message::Human(goes_on));
            }
        }
        self.messages.extend(unread);
        let mut waiting = std::mem::take(&mut self.steering);
        for told in &mut waiting {
            if let Some(goes_on) = self.taken_up(told) {
                *told = goes_on;
            }
        }
        self.steering = waiting;
    }

    /// Opens the work again of whom `told` says that such a limit ended it; what is said in its place.
    fn taken_up(&mut self, told: &HumanMessage) -> Option<HumanMessage> {
        let is_meant = |sent: &&mut SentSubagent| {
            sent.mode == SubagentMode::Background
                && sent.end.as_ref().is_some_and(TurnEnd::is_by_limit_of_tree)
                && background::is_notice_of(told, &sent.child)
        };
        let sent = self.subagents.iter_mut().find(is_meant)?;
        (sent.end, sent.goes_on) = (None, true);
        Some(background::told_that_it_goes_on(sent, told.id.clone()))
    }
}
