use std::collections::BTreeSet;
use std::sync::Arc;

use bosun_agent::{
    AgentError, BoxFuture, EntryBody, Halt, LiveEvent, Middleware, NextModel, NoteAbout, NoteKind, TurnContext, TurnEnd,
};
use bosun_harness::{TokenCounter, Tokenizer};
use bosun_model::{AiMessage, Asked, ChatModel, ChatRequest, Effort, ModelError, ModelErrorKind, Usage};
use bosun_tools::StateUpdate;

use super::book::Verdict;
use super::under_way::UnderWay;
use super::{CallBook, Metered, Subject, keys, titles, written};
use crate::{ModelSource, SessionError};

/// The state field with the models beside the session's that were said to be missing.
const MISSING: &str = "helpers_missing";

/// What holds for every model call of a session and its subagents: the budget, the level of thinking, and who answers
/// when the model is overloaded.
pub(crate) struct CallRules {
    /// The session's own model.
    pub model: Arc<Metered>,
    /// How much it thinks, where the session or its person chose.
    pub effort: Option<Effort>,
    pub book: Arc<CallBook>,
    pub subject: Subject,
    /// Tells how much a call reads before it is made.
    pub counter: TokenCounter,
    /// Writes the session's title after its first turn.
    pub titles: Option<Arc<dyn ChatModel>>,
    /// What is said of the models that the settings name beside it and that cannot be had.
    pub missing: Vec<NoteAbout>,
    /// Knows keys, and what looks like one.
    pub models: Arc<dyn ModelSource>,
}

impl CallRules {
    /// Lets a call begin that the budgets allow, which counts as long as what comes back is kept.
    async fn admitted(&self, cx: &TurnContext, request: &ChatRequest) -> Result<Option<UnderWay>, AgentError> {
        self.tell_of_uncounted(cx).await?;
        let least = || self.least(cx, request);
        let waits = || cx.log().emit(LiveEvent::AwaitingBudget);
        let admitted = tokio::select! {
            biased;
            () = cx.cancel().cancelled() => return Err(AgentError::Cancelled),
            admitted = self.book.admit(&self.subject, least, waits) => admitted,
        };
        let (verdict, under_way) = admitted.map_err(unknown)?;
        followed(cx, verdict).await?;
        Ok(under_way)
    }

    /// What `request` costs at least, in dollars: what it reads. As much of it as the agent's last call read from the
    /// provider's cache is taken to be read from there again, at that price: a conversation is sent with all that it was
    /// before. One that grows finds more there, so that it costs less than is thought, and one whose cache has run out more.
    fn least(&self, cx: &TurnContext, request: &ChatRequest) -> f64 {
        let model = cx.agent().model.info();
        if model.is_unpriced() {
            return 0.0;
        }
        let input = self.counter.request(request, Tokenizer::of(model));
        let cached = self.book.last_cached(&cx.caller().session, model).min(input);
        let read = Usage { input: Some(input), cache_read: Some(cached), output: Some(0), ..Usage::default() };
        model.cost(&read).unwrap_or(0.0)
    }

    /// As [`Self::admitted`], of a call beside the conversation: it waits for none, since it may be made for one.
    async fn within_budget(&self, cx: &TurnContext) -> Result<(), AgentError> {
        self.tell_of_uncounted(cx).await?;
        followed(cx, self.book.verdict(&self.subject).await.map_err(unknown)?).await
    }

    /// Says that the agent has a model whose price is not known, where there is a budget: once in a session.
    async fn tell_of_uncounted(&self, cx: &TurnContext) -> Result<(), AgentError> {
        let model = &cx.agent().model;
        let mut models = [Some(model.info()), model.small().map(ChatModel::info)].into_iter().flatten();
        let Some(unpriced) = models.find(|model| model.is_unpriced()) else { return Ok(()) };
        let is_news = self.book.is_uncounted_news(&self.subject).await;
        if !is_news.map_err(|error| Halt::SpendingUnknown { detail: error.to_string() })? {
            return Ok(());
        }
        let about = NoteAbout::BudgetNotCounted { model: written(unpriced) };
        Ok(cx.log().record(vec![EntryBody::noted(NoteKind::PriceUnknown, about)]).await?)
    }

    /// Says what keys `request` gives away that were not sent before.
    async fn warn_of_keys(&self, cx: &TurnContext, request: &ChatRequest) -> Result<(), AgentError> {
        let model = written(cx.agent().model.info());
        for about in keys::seen(request, &self.models, cx.depth() == 0, &model) {
            cx.log().record(vec![EntryBody::noted(NoteKind::KeySeen, about)]).await?;
        }
        Ok(())
    }

    /// Says which models beside the session's cannot be had: once in a session, as the reason may change with each look.
    async fn tell_of_missing(&self, cx: &TurnContext) -> Result<(), AgentError> {
        let mut told: BTreeSet<String> = cx.log().with_state(|state| {
            let told = state.fields.get(MISSING).cloned();
            told.and_then(|told| serde_json::from_value(told).ok()).unwrap_or_default()
        });
        let fresh: Vec<_> = self.missing.iter().filter(|about| told.insert(slot(about))).cloned().collect();
        if fresh.is_empty() {
            return Ok(());
        }
        let told = told.into_iter().collect::<Vec<_>>().into();
        let update = StateUpdate { fields: vec![(MISSING.to_owned(), told)], ..StateUpdate::default() };
        let mut entries = vec![EntryBody::Updated { by: self.name().into(), update }];
        entries.extend(fresh.into_iter().map(|about| EntryBody::noted(NoteKind::HelperMissing, about)));
        Ok(cx.log().record(entries).await?)
    }

    /// Whether the agent of `cx` has the session's own model and not one of its own.
    fn is_own(&self, cx: &TurnContext) -> bool {
        std::ptr::addr_eq(Arc::as_ptr(&cx.agent().model), Arc::as_ptr(&self.model))
    }

    /// Lets the second model answer, and says so where it did not already.
    async fn turn_over(&self, cx: &TurnContext, error: &ModelError) -> Result<(), AgentError> {
        let Some((from, to)) = self.model.turn_over() else { return Ok(()) };
        let about = NoteAbout::FellBack { from: written(from), to: written(to), detail: error.message.clone() };
        cx.log().record(vec![EntryBody::noted(NoteKind::ModelFellBack, about)]).await?;
        Ok(())
    }
}

impl Middleware for CallRules {
    fn name(&self) -> &'static str {
        "ModelCalls"
    }

    fn before_turn<'a>(&'a self, cx: &'a TurnContext) -> BoxFuture<'a, Result<StateUpdate, AgentError>> {
        Box::pin(async move {
            if cx.depth() == 0 {
                self.model.turn_back();
                self.tell_of_missing(cx).await?;
            }
            Ok(StateUpdate::default())
        })
    }

    fn wrap_model_call<'a>(
        &'a self,
        cx: &'a TurnContext,
        mut request: ChatRequest,
        next: NextModel<'a>,
    ) -> BoxFuture<'a, Result<AiMessage, AgentError>> {
        Box::pin(async move {
            let _under_way = self.admitted(cx, &request).await?;
            self.warn_of_keys(cx, &request).await?;
            request.effort = request.effort.or(self.effort);
            let has_other = self.is_own(cx) && self.model.has_second();
            let again = has_other.then(|| (request.clone(), self.model.is_turned()));
            let outcome = next.run(request).await;
            match (outcome, again) {
                // Agents that share the model are refused together: the first of them turns it over for all. Only a call
                // that began at the second has nobody else to go to.
                (Err(AgentError::Model(error)), Some((request, was_turned)))
                    if is_overload(&error) && !cx.was_shown() && !(was_turned && self.model.is_turned()) =>
                {
                    self.turn_over(cx, &error).await?;
                    next.run(request).await
                }
                (outcome, _) => outcome,
            }
        })
    }

    fn before_side_call<'a>(&'a self, cx: &'a TurnContext) -> BoxFuture<'a, Result<(), AgentError>> {
        Box::pin(self.within_budget(cx))
    }

    fn after_side_failure<'a>(
        &'a self,
        cx: &'a TurnContext,
        asked: &'a Asked,
        error: &'a ModelError,
    ) -> BoxFuture<'a, Result<bool, AgentError>> {
        Box::pin(async move {
            let has_other = self.is_own(cx) && self.model.has_second() && !self.model.is_second(asked);
            if !has_other || !is_overload(error) {
                return Ok(false);
            }
            self.turn_over(cx, error).await?;
            Ok(true)
        })
    }

    fn after_turn<'a>(
        &'a self,
        cx: &'a TurnContext,
        end: &'a TurnEnd,
    ) -> BoxFuture<'a, Result<StateUpdate, AgentError>> {
        if let (0, TurnEnd::Done, Some(model)) = (cx.depth(), end, &self.titles) {
            titles::begin(cx, model, &self.book, &self.subject);
        }
        Box::pin(async { Ok(StateUpdate::default()) })
    }
}

/// Tells of a verdict, or ends the turn by it.
async fn followed(cx: &TurnContext, verdict: Verdict) -> Result<(), AgentError> {
    match verdict {
        Verdict::Go => Ok(()),
        Verdict::Warn(about) => Ok(cx.log().record(vec![EntryBody::noted(NoteKind::BudgetWarning, about)]).await?),
        Verdict::Stop(halt) => Err(halt.into()),
    }
}

fn unknown(error: SessionError) -> Halt {
    Halt::SpendingUnknown { detail: error.to_string() }
}

/// What a model that is missing was wanted for, and which it is.
fn slot(about: &NoteAbout) -> String {
    match about {
        NoteAbout::SecondMissing { model, .. } => format!("second {model}"),
        NoteAbout::SmallMissing { model, .. } => format!("small {model}"),
        other => other.to_string(),
    }
}

/// What another model may well not have: too many requests, or a server that failed inside or gave up, as its status says. A
/// wait of Bosun's own that ran out has none.
fn is_overload(error: &ModelError) -> bool {
    match error.kind {
        ModelErrorKind::RateLimited | ModelErrorKind::Unavailable => true,
        ModelErrorKind::Timeout => error.status.is_some(),
        _ => false,
    }
}
