use std::collections::HashSet;

use bosun_agent::{
    Ask, AskReason, AskedAgain, EntryBody, PatternProblem, RuleGuard, RuleKind, RulePattern, RuleScope, RuleSubject,
};
use bosun_backend::VirtualPath;
use bosun_model::CallId as CoreCallId;
use bosun_protocol::{CallId, Decide, Decision, ErrorCode, Problem, Rehearsal, Rule, RuleDraft, RuleOffer, SessionId};
use bosun_tools::Preview;

use super::{CoreId, Sessions};
use crate::export::short;
use crate::journals::Journals;
use crate::permissions::StoredRule;
use crate::{SessionError, convert};

/// Past calls that a pattern is tried on.
const MOST_PAST: usize = 400;
/// Sessions that are read for them.
const MOST_SESSIONS: usize = 40;
/// Examples shown of each kind.
const SHOWN: usize = 3;
const LONGEST_EXAMPLE: usize = 120;

/// Standing rules: what is offered for a call, what a pattern would have done, what holds.
impl Sessions {
    /// All rules, newest first.
    pub async fn rules(&self) -> Result<Vec<Rule>, SessionError> {
        let kept = self.permissions().kept().await?;
        Ok(kept.rules.iter().rev().map(convert::rule).collect())
    }

    /// Takes a rule back; from the next call on it does not hold.
    pub async fn remove_rule(&self, id: &str) -> Result<(), SessionError> {
        self.permissions().remove(id, self.inner.clock.now_ms()).await
    }

    /// Puts a rule back that was removed a moment ago; from the next call on it holds again.
    ///
    /// # Errors
    /// [`ErrorCode::NotFound`] for one that was not removed here, or too long ago.
    pub async fn restore_rule(&self, id: &str) -> Result<Rule, SessionError> {
        Ok(convert::rule(&self.permissions().restore(id, self.inner.clock.now_ms()).await?))
    }

    /// What may be offered for a call that waits.
    pub async fn rule_offer(&self, session: &SessionId, call: &CallId) -> Result<RuleOffer, SessionError> {
        let asked = self.asked(session, call).await?;
        Ok(match asked.offers() {
            Ok(patterns) => RuleOffer::Patterns {
                kind: convert::rule_kind(asked.kind()),
                patterns: patterns.iter().map(RulePattern::text).collect(),
            },
            Err(guard) => RuleOffer::None { guard: convert::guard(guard) },
        })
    }

    /// What a pattern would have done with the calls that asked so far, in the session or project that it is for.
    pub async fn rehearse_rule(&self, draft: &RuleDraft) -> Result<Rehearsal, SessionError> {
        let asked = self.asked(&draft.session, &draft.call_id).await?;
        let past = self.past(&draft.session, convert::scope(draft.scope)).await?;
        let mut made = Rehearsal {
            problem: None,
            asked: count(past.len()),
            answered: 0,
            passing: Vec::new(),
            asking: Vec::new(),
            would_pass: Vec::new(),
            would_ask: Vec::new(),
        };
        let pattern = match asked.pattern(&draft.pattern) {
            Ok(pattern) => pattern,
            Err(problem) => {
                made.problem = Some(convert::problem(problem));
                return Ok(made);
            }
        };
        (made.would_pass, made.would_ask) = pattern.examples();
        for one in &past {
            let passes = one.guard().is_none() && pattern.passes(&[], one.subject()).unwrap_or(false);
            made.answered += u32::from(passes);
            let shown = if passes { &mut made.passing } else { &mut made.asking };
            let words = one.words();
            if shown.len() < SHOWN && !shown.contains(&words) {
                shown.push(words);
            }
        }
        Ok(made)
    }

    /// Gives answers, and lets calls such as those of `drafts` pass from now on: each draft belongs to an approval among
    /// the answers. The rules are in force before anything runs; where the answers cannot be taken, there are no rules
    /// either.
    ///
    /// # Errors
    /// As [`Sessions::decide`]; [`ErrorCode::Invalid`] for a pattern that may not be kept.
    pub async fn approve_always(
        &self,
        decisions: Vec<Decide>,
        drafts: Vec<RuleDraft>,
    ) -> Result<Vec<Rule>, SessionError> {
        let mut made = Vec::with_capacity(drafts.len());
        for draft in &drafts {
            let rule = self.rule_of(&decisions, draft).await;
            made.push(self.or_ask_anew(rule, &decisions).await?);
        }
        let kept = made.clone();
        let add = move |all: &mut crate::permissions::Kept| kept.into_iter().try_for_each(|rule| all.add(rule));
        self.permissions().change(add).await?;
        if let Err(error) = self.decide(decisions).await {
            let ids: Vec<String> = made.into_iter().map(|rule| rule.id).collect();
            let take_back = move |all: &mut crate::permissions::Kept| {
                all.rules.retain(|rule| !ids.contains(&rule.id));
                Ok(())
            };
            self.permissions().change(take_back).await?;
            return Err(error);
        }
        Ok(made.iter().map(convert::rule).collect())
    }

    /// The rule that a draft asks for with the approval of its call.
    async fn rule_of(&self, decisions: &[Decide], draft: &RuleDraft) -> Result<StoredRule, SessionError> {
        let approves = |decide: &Decide| {
            decide.decision == Decision::Approve && decide.session == draft.session && decide.call_id == draft.call_id
        };
        if !decisions.iter().any(approves) {
            return Err(SessionError::invalid(Problem::RuleNotApproved));
        }
        let asked = self.asked(&draft.session, &draft.call_id).await?;
        let pattern = asked
            .pattern(&draft.pattern)
            .map_err(|_| SessionError::invalid(Problem::RulePattern { pattern: draft.pattern.clone() }))?;
        let place = self.place(&draft.session).await?;
        let scope = convert::scope(draft.scope);
        Ok(StoredRule {
            id: self.inner.ids.next(),
            scope,
            session: (scope == RuleScope::Session).then_some(place.session),
            project: (scope != RuleScope::Always).then_some(place.project),
            pattern,
            created_at: self.inner.clock.now_ms(),
        })
    }

    /// The request of a call that waits.
    async fn asked(&self, session: &SessionId, call: &CallId) -> Result<Asked, SessionError> {
        Ok(Asked::new(&self.waiting_ask(session, call).await?))
    }

    /// What a person was asked of a call that waits.
    pub(super) async fn waiting_ask(&self, session: &SessionId, call: &CallId) -> Result<Ask, SessionError> {
        let actor = self.actor(session).await?;
        let log = actor.find(session).await?;
        let call = CoreCallId::new(call.as_str());
        let open = log.with_state(|state| state.open_call(&call).filter(|open| open.decision.is_none()).cloned());
        if let Some(open) = open.as_ref().filter(|open| !open.is_as_shown()) {
            let problem = if open.is_of_this_version() { Problem::AskAltered } else { Problem::AskChanged };
            return Err(SessionError::new(ErrorCode::AlreadyDecided, problem));
        }
        let gone = || SessionError::new(ErrorCode::AlreadyDecided, Problem::NotWaiting);
        open.and_then(|open| open.ask).ok_or_else(gone)
    }

    /// The calls that asked, newest first.
    async fn past(&self, session: &SessionId, scope: RuleScope) -> Result<Vec<Asked>, SessionError> {
        let database = &self.inner.database;
        let place = self.place(session).await?;
        let roots = match scope {
            RuleScope::Session => vec![CoreId::new(place.session)],
            RuleScope::Project => ids(database.sessions(&place.project).await?),
            RuleScope::Always => ids(database.all_sessions().await?),
        };
        let mut past = Vec::new();
        for root in roots.iter().take(MOST_SESSIONS) {
            collect(&Journals::read(database, root).await?, &mut past);
        }
        past.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        Ok(past.into_iter().take(MOST_PAST).map(|(_, asked)| asked).collect())
    }
}

fn ids(stored: Vec<bosun_store::StoredSession>) -> Vec<CoreId> {
    stored.into_iter().map(|session| session.id).collect()
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn collect(journals: &Journals, past: &mut Vec<(i64, Asked)>) {
    let mut asked = HashSet::new();
    for recorded in &journals.entries {
        if let EntryBody::Asked { ask } = &recorded.entry.body
            // One that was asked for again was one call all the same.
            && asked.insert(&ask.call.id)
        {
            past.push((recorded.entry.at, Asked::new(ask)));
        }
    }
    journals.children.iter().for_each(|child| collect(child, past));
}

/// A request, as far as rules look at it.
struct Asked {
    tool: String,
    kind: bosun_tools::ToolKind,
    args: serde_json::Value,
    path: Option<VirtualPath>,
    reason: AskReason,
    has_other_script: bool,
}

impl Asked {
    fn new(ask: &Ask) -> Self {
        let path = match &ask.preview {
            Preview::Diff { diff } => VirtualPath::parse(&diff.path).ok(),
            Preview::Delete { path, .. } => VirtualPath::parse(path).ok(),
            Preview::Command { .. } | Preview::Fields | Preview::Problem { .. } => None,
        };
        Self {
            tool: ask.call.name.clone(),
            kind: ask.kind,
            args: ask.call.args.clone(),
            path,
            reason: ask.reason.clone(),
            has_other_script: matches!(
                ask.again,
                Some(AskedAgain::ScriptChanged { .. } | AskedAgain::ScriptNamed { .. })
            ),
        }
    }

    fn subject(&self) -> RuleSubject<'_> {
        RuleSubject::of(&self.tool, self.kind, self.path.as_ref(), &self.args)
    }

    fn kind(&self) -> RuleKind {
        match self.subject() {
            RuleSubject::Command(_) => RuleKind::Command,
            RuleSubject::File(_) | RuleSubject::FileBeside(_) | RuleSubject::Deletion => RuleKind::Files,
            RuleSubject::Tool(_) => RuleKind::Tool,
        }
    }

    /// Why it asks whatever the rules say.
    fn guard(&self) -> Option<RuleGuard> {
        match &self.reason {
            AskReason::ProtectedName { name } | AskReason::Hook { name: Some(name), .. } => {
                Some(RuleGuard::Protected { name: name.clone() })
            }
            _ if self.has_other_script => Some(RuleGuard::ScriptChanged),
            AskReason::Rule { .. } | AskReason::Hook { .. } => Some(RuleGuard::Configured),
            // An edit whose file could not be told would pass by the name of its tool.
            AskReason::EditsAsk if self.path.is_none() => Some(RuleGuard::Configured),
            AskReason::EditsAsk | AskReason::CommandsAsk | AskReason::DeletesAsk => None,
        }
    }

    fn offers(&self) -> Result<Vec<RulePattern>, RuleGuard> {
        match self.guard() {
            Some(guard) => Err(guard),
            None => RulePattern::offers(self.subject()),
        }
    }

    /// The pattern that a person wrote for this call.
    fn pattern(&self, text: &str) -> Result<RulePattern, PatternProblem> {
        if let Some(guard) = self.guard() {
            return Err(PatternProblem::Guarded { guard });
        }
        let pattern = RulePattern::parse(self.kind(), text)?;
        match pattern.passes(&[], self.subject()) {
            Ok(true) => Ok(pattern),
            Ok(false) | Err(None) => Err(PatternProblem::NotThis),
            Err(Some(guard)) => Err(PatternProblem::Guarded { guard }),
        }
    }

    /// The call in a few words.
    fn words(&self) -> String {
        let words = match self.subject() {
            RuleSubject::Command(line) => line.to_owned(),
            RuleSubject::File(path) | RuleSubject::FileBeside(path) => path.to_string(),
            RuleSubject::Deletion => {
                format!("delete {}", self.path.as_ref().map(VirtualPath::as_str).unwrap_or_default())
            }
            RuleSubject::Tool(name) => name.to_owned(),
        };
        short(&words, LONGEST_EXAMPLE)
    }
}
