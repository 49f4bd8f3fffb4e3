//! What the session itself says between the rows of a conversation.

use std::time::Duration;

use bosun_agent::TurnEnd;
use bosun_model::{Asked, Message, ModelError, ModelErrorKind, StopReason};
use bosun_protocol::{Item, ItemBody, ItemId, Notice, NoticeCode, Problem, SessionEvent};

use super::Projection;
use crate::problem::of_halt;
use crate::{Explain, convert};

/// Most letters of what a provider says of the end of a reply.
const LONGEST_WORDS: usize = 500;

impl Projection {
    pub(super) fn notice(&mut self, seq: u64, at: i64, notice: Notice) {
        self.complete(ItemId::new(format!("notice-{seq}")), self.turn(), at, ItemBody::Notice(notice));
    }

    /// The turn was halted because the journal cannot be written. The notice is gone after a restart, like all that was
    /// not recorded.
    pub(crate) fn not_recorded(&mut self, why: Problem, at: i64) {
        self.asks_now();
        self.settle_replies();
        let problem = Problem::NotRecorded { why: Box::new(why) };
        let id = ItemId::new(format!("not-recorded-{}", self.view.seq));
        let notice =
            Notice { code: NoticeCode::NotRecorded, detail: problem.to_string(), problem: Some(problem), model: None };
        self.complete(id, self.turn(), at, ItemBody::Notice(notice));
        self.refresh(None);
    }

    /// Says that the model is asked again after `wait`.
    pub(super) fn asks_again(&mut self, error: &ModelError, wait: Duration, at: i64) {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        let problem = Problem::AsksAgain { seconds: seconds.to_string(), why: Box::new(error.problem()) };
        self.waits(NoticeCode::AsksAgain, problem, at);
    }

    /// Says that a call waits for the cost of another.
    pub(super) fn awaits_budget(&mut self, at: i64) {
        self.waits(NoticeCode::BudgetWaits, Problem::BudgetWaits, at);
    }

    /// Says why the model is not asked yet. Like all that is not recorded, the row is gone after a restart.
    fn waits(&mut self, code: NoticeCode, problem: Problem, at: i64) {
        self.asks_now();
        let notice = Notice { code, detail: problem.to_string(), problem: Some(problem), model: None };
        let id = ItemId::new(format!("waits-{}", self.view.seq));
        self.wait = Some(id.clone());
        let item = Item { id, turn: self.turn(), at, body: ItemBody::Notice(notice) };
        self.emit(SessionEvent::ItemStarted { item });
    }

    /// The wait is over, or nobody waits any more.
    pub(super) fn asks_now(&mut self) {
        if let Some(item) = self.wait.take() {
            self.emit(SessionEvent::ItemRemoved { item });
        }
    }

    pub(super) fn turn_ended(&mut self, seq: u64, turn: u32, end: &TurnEnd, at: i64) {
        self.asks_now();
        self.settle_replies();
        let early = matches!(end, TurnEnd::Done | TurnEnd::Empty).then(|| self.ended_early()).flatten();
        let code = match end {
            TurnEnd::Done => None,
            TurnEnd::Empty => Some(NoticeCode::EmptyReply),
            TurnEnd::Stopped => Some(NoticeCode::Stopped),
            TurnEnd::StepLimit { .. } => Some(NoticeCode::StepLimit),
            // A model's failure has its own notice, with the provider's words, right before.
            TurnEnd::Failed { .. } if self.last_is_model_notice() => None,
            TurnEnd::Failed { halt: Some(halt), .. } => Some(convert::halt(halt)),
            TurnEnd::Failed { halt: None, .. } => Some(NoticeCode::Failed),
        };
        let problem = match end {
            TurnEnd::Failed { halt, .. } => halt.clone().map(of_halt),
            _ => None,
        };
        let detail = match end {
            TurnEnd::Failed { reason, .. } => reason.clone(),
            TurnEnd::StepLimit { limit } => limit.to_string(),
            TurnEnd::Done | TurnEnd::Empty | TurnEnd::Stopped => String::new(),
        };
        if let Some(notice) = early.or(code.map(|code| Notice { code, detail, problem, model: None })) {
            self.notice(seq, at, notice);
        }
        self.emit(SessionEvent::TurnEnded { turn, outcome: convert::outcome(end), at });
    }

    /// What is to be said where it was not the model that chose to end the last reply. It is no failure: what was said
    /// stays and counts.
    fn ended_early(&self) -> Option<Notice> {
        let Message::Ai(reply) = &**self.state.messages.last()? else { return None };
        let (code, words) = match &reply.stop {
            StopReason::EndTurn | StopReason::ToolUse | StopReason::StopSequence => return None,
            StopReason::MaxTokens => (NoticeCode::OutputLimit, ""),
            StopReason::Refusal => (NoticeCode::ModelRefused, ""),
            StopReason::RefusalFor(words) => (NoticeCode::ModelRefused, words.as_str()),
            StopReason::Other(word) => (NoticeCode::ReplyEnded, word.as_str()),
        };
        Some(Notice { code, detail: words.chars().take(LONGEST_WORDS).collect(), problem: None, model: None })
    }

    fn last_is_model_notice(&self) -> bool {
        let code = match self.view.items.last_ones().last().map(|item| &item.body) {
            Some(ItemBody::Notice(notice)) => notice.code,
            _ => return false,
        };
        matches!(code, NoticeCode::ModelFailed | NoticeCode::KeyRefused | NoticeCode::StreamCut)
    }

    /// Of a failure of the model that was `asked`, where that is known. The session's own stands beside the conversation; one
    /// that stands in for it is named.
    pub(super) fn notice_of(&self, error: &ModelError, asked: Option<&Asked>) -> Notice {
        let code = match error.kind {
            ModelErrorKind::StreamCut => NoticeCode::StreamCut,
            ModelErrorKind::Unauthorized => NoticeCode::KeyRefused,
            _ => NoticeCode::ModelFailed,
        };
        let problem = error.trouble.is_some().then(|| error.problem());
        let model = asked.map(convert::model).filter(|model| self.summary.model.as_ref() != Some(model));
        Notice { code, detail: error.message.clone(), problem, model }
    }
}
