use std::sync::Arc;

use bosun_model::{HumanMessage, Message};

use super::{OpenStep, State};

impl State {
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
}
