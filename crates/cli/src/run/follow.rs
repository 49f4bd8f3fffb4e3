use std::io::{IsTerminal, stderr, stdin};

use bosun_protocol::{
    Approval, CallId, Decide, Envelope, ErrorCode, ItemBody, ModelRef, Notice, NoticeCode, SessionEvent, SessionId,
    SessionStatus, TurnOutcome,
};
use bosun_session::{EventStream, Quiet, Sessions};

use super::begin::Begun;
use super::limits;
use super::mode::{Answer, Mode};
use super::printer::Printer;
use super::prompt;
use super::stopping::{self, AtWork, Chosen, StopKey};
use crate::failure::Failure;
use crate::tell;

/// Between the end of a turn and the next queued message nothing runs for a moment; so often it is looked again.
const LOOKS: u32 = 400;

/// How the following ended.
#[derive(Debug)]
pub(super) enum Ended {
    Turn {
        outcome: TurnOutcome,
        /// Where it did not end well.
        reason: Reason,
    },
    /// These calls wait, nobody can answer them, and nothing else goes on.
    Waiting { approvals: Vec<Approval> },
    /// The person wants to leave at once.
    Interrupted,
    /// The turn is open and nothing runs it: its journal could not be written, for this reason.
    Unrecorded { why: String },
}

/// Why a turn did not end well.
#[derive(Debug, Default)]
pub(super) struct Reason {
    /// A sentence, or the model's name and the provider's own words.
    pub words: String,
    /// Whether another key would help.
    pub is_about_the_key: bool,
    /// The limit that ended it, and the flag that sets another.
    pub limit: Option<String>,
}

/// Goes along with a session's turn: prints what happens, answers what asks, listens for Ctrl-C.
pub(super) struct Follower {
    sessions: Sessions,
    session: SessionId,
    events: EventStream,
    printer: Printer,
    mode: Mode,
    approvals: Vec<Approval>,
    at_work: AtWork,
    outcome: Option<TurnOutcome>,
    notice: Option<Notice>,
    /// Who is asked, for sentences about it.
    model: Option<ModelRef>,
}

/// Why the printing paused.
enum Pause {
    Quiet(Box<Quiet>),
    Stopped,
    Leave,
}

impl Follower {
    pub(super) fn new(sessions: Sessions, begun: Begun, printer: Printer, mode: Mode) -> Self {
        let model = begun.subscription.snapshot.session.model;
        let at_work = AtWork::of(&begun.subscription.snapshot.agents);
        let approvals = begun.subscription.snapshot.approvals;
        let (session, events) = (begun.session, begun.subscription.events);
        Self { sessions, session, events, printer, mode, approvals, at_work, outcome: None, notice: None, model }
    }

    pub(super) async fn follow_to_end(&mut self) -> Result<Ended, Failure> {
        let mut looks = 0;
        loop {
            let quiet = match self.until_quiet().await? {
                Pause::Quiet(quiet) => quiet,
                Pause::Stopped => return self.stopped().await,
                Pause::Leave => return Ok(Ended::Interrupted),
            };
            if !self.approvals.is_empty() {
                looks = 0;
                match self.answer().await? {
                    Answered::Some => {}
                    Answered::Nothing => return Ok(Ended::Waiting { approvals: std::mem::take(&mut self.approvals) }),
                    Answered::Stopped => return self.stopped().await,
                }
            } else if matches!(quiet.summary.status, SessionStatus::Interrupted | SessionStatus::Running) {
                looks += 1;
                if looks > LOOKS || self.notice.as_ref().is_some_and(|notice| notice.code == NoticeCode::NotRecorded) {
                    return Ok(Ended::Unrecorded { why: self.reason().words });
                }
            } else {
                return Ok(self.ended());
            }
        }
    }

    /// Prints until nothing goes on by itself. The first Ctrl-C stops the turn, a second one leaves; Ctrl-\ asks which
    /// subagent to stop.
    async fn until_quiet(&mut self) -> Result<Pause, Failure> {
        let (sessions, session) = (self.sessions.clone(), self.session.clone());
        let mut quiet = Box::pin(sessions.quiet(&session));
        let mut key = StopKey::listen()?;
        loop {
            tokio::select! {
                batch = self.events.next() => self.take(&batch)?,
                interrupt = tokio::signal::ctrl_c() => {
                    interrupt?;
                    drop(quiet);
                    return self.stop().await;
                }
                () = key.pressed() => {
                    if let Some(pause) = self.stop_one().await? {
                        return Ok(pause);
                    }
                }
                outcome = &mut quiet => {
                    let outcome = outcome?;
                    let rest = self.events.now();
                    self.take(&rest)?;
                    return Ok(Pause::Quiet(Box::new(outcome)));
                }
            }
        }
    }

    /// Stops the subagent that a person names, if any. The turn goes on meanwhile, and is shown from then on once they
    /// have answered.
    async fn stop_one(&mut self) -> Result<Option<Pause>, Failure> {
        let known = self.events.now();
        self.take(&known)?;
        if self.at_work.is_empty() {
            tell("bosun: no subagent is at work");
            return Ok(None);
        }
        let question = self.at_work.question();
        let mut asking =
            tokio::task::spawn_blocking(move || stopping::ask(&question, &mut stdin().lock(), &mut stderr()));
        let mut meanwhile = Vec::new();
        let answer = loop {
            tokio::select! {
                batch = self.events.next() => meanwhile.extend(batch),
                interrupt = tokio::signal::ctrl_c() => {
                    interrupt?;
                    self.take(&meanwhile)?;
                    return Ok(Some(self.stop().await?));
                }
                answer = &mut asking => break answer.map_err(std::io::Error::other)??,
            }
        };
        // By the numbers that they saw.
        let chosen = self.at_work.chosen(&answer);
        self.take(&meanwhile)?;
        match chosen {
            Chosen::None => {}
            Chosen::Unknown(words) => tell(&format!("bosun: nobody at work is called '{words}'")),
            Chosen::Subagent(child) => match self.sessions.stop_subagent(&self.session, &child).await {
                Ok(()) => {}
                Err(error) if error.code == ErrorCode::NotFound => tell(&format!("bosun: {error}")),
                Err(error) => return Err(error.into()),
            },
        }
        Ok(None)
    }

    async fn stop(&mut self) -> Result<Pause, Failure> {
        let (sessions, session) = (self.sessions.clone(), self.session.clone());
        let mut stopped = Box::pin(sessions.stop(&session));
        loop {
            tokio::select! {
                batch = self.events.next() => self.take(&batch)?,
                interrupt = tokio::signal::ctrl_c() => { interrupt?; return Ok(Pause::Leave) }
                outcome = &mut stopped => {
                    outcome?;
                    let rest = self.events.now();
                    self.take(&rest)?;
                    return Ok(Pause::Stopped);
                }
            }
        }
    }

    fn take(&mut self, batch: &[Envelope]) -> Result<(), Failure> {
        for envelope in batch {
            match &envelope.event {
                SessionEvent::ApprovalRequested { approval } => {
                    self.forget(&approval.session, &approval.call_id);
                    self.approvals.push(approval.clone());
                }
                SessionEvent::ApprovalResolved { session, call_id, .. } => self.forget(session, call_id),
                SessionEvent::TurnStarted { .. } => (self.outcome, self.notice) = (None, None),
                SessionEvent::AgentUpdated { agent } => self.at_work.updated(agent),
                SessionEvent::SessionUpdated { session } => self.model.clone_from(&session.model),
                SessionEvent::TurnEnded { outcome, .. } => self.outcome = Some(*outcome),
                SessionEvent::ItemCompleted { item } => {
                    if let ItemBody::Notice(notice) = &item.body {
                        self.notice = Some(notice.clone());
                    }
                }
                _ => {}
            }
        }
        Ok(self.printer.print(batch)?)
    }

    fn forget(&mut self, session: &SessionId, call_id: &CallId) {
        self.approvals.retain(|known| known.session != *session || known.call_id != *call_id);
    }

    /// How it ended for a person who stopped it: whoever works beside the turn is left at work, though it ended well.
    async fn stopped(&mut self) -> Result<Ended, Failure> {
        match self.sessions.working_beside(&self.session).await? {
            0 => Ok(self.ended()),
            _ => Ok(Ended::Interrupted),
        }
    }

    fn ended(&mut self) -> Ended {
        match self.outcome {
            Some(outcome) => Ended::Turn { outcome, reason: self.reason() },
            None => Ended::Unrecorded { why: self.reason().words },
        }
    }

    fn reason(&mut self) -> Reason {
        let Some(notice) = self.notice.take() else {
            return Reason { words: "the turn ended without saying why".into(), ..Reason::default() };
        };
        let limit = limits::reached(&notice);
        let by_model = matches!(notice.code, NoticeCode::ModelFailed | NoticeCode::KeyRefused | NoticeCode::StreamCut);
        let words = match notice.model.as_ref().or(self.model.as_ref()) {
            _ if notice.detail.is_empty() => "the turn ended without saying why".to_owned(),
            Some(model) if by_model => format!("{}:{}: {}", model.provider, model.name, notice.detail),
            _ => notice.detail,
        };
        Reason { words, is_about_the_key: notice.code == NoticeCode::KeyRefused, limit }
    }

    /// Answers what waits, as the mode says or as a person does.
    async fn answer(&mut self) -> Result<Answered, Failure> {
        let mut by_mode = Vec::new();
        let mut for_person = Vec::new();
        for approval in self.approvals.clone() {
            match self.mode.answer(&approval) {
                Answer::Decide(decision) => by_mode.push(decide(&approval, decision)),
                Answer::AskPerson => for_person.push(approval),
            }
        }
        if !by_mode.is_empty() {
            self.sessions.decide(by_mode).await?;
            return Ok(Answered::Some);
        }
        if !stdin().is_terminal() || !stderr().is_terminal() {
            return Ok(Answered::Nothing);
        }
        match for_person.first() {
            Some(approval) => self.ask(approval).await,
            None => Ok(Answered::Nothing),
        }
    }

    /// Asks until there is an answer that can be taken.
    async fn ask(&mut self, approval: &Approval) -> Result<Answered, Failure> {
        loop {
            let shown = approval.clone();
            let prompt =
                tokio::task::spawn_blocking(move || prompt::prompt(&shown, &mut stdin().lock(), &mut stderr()));
            let decision = tokio::select! {
                decision = prompt => decision.map_err(std::io::Error::other)??,
                interrupt = tokio::signal::ctrl_c() => {
                    interrupt?;
                    return match self.stop().await? {
                        Pause::Leave | Pause::Stopped | Pause::Quiet(_) => Ok(Answered::Stopped),
                    };
                }
            };
            let Some(decision) = decision else { return Ok(Answered::Nothing) };
            match self.sessions.decide(vec![decide(approval, decision)]).await {
                Ok(()) => return Ok(Answered::Some),
                Err(error) if matches!(error.code, ErrorCode::Invalid) => tell(&format!("bosun: {error}")),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

enum Answered {
    Some,
    Nothing,
    Stopped,
}

fn decide(approval: &Approval, decision: bosun_protocol::Decision) -> Decide {
    Decide {
        session: approval.session.clone(),
        call_id: approval.call_id.clone(),
        digest: approval.digest.clone(),
        decision,
    }
}
