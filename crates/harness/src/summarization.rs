mod ask;
mod compact;
mod cutoff;
mod facts;
mod offload;
mod record;
mod requirements;
mod shorten;
mod threshold;
mod tool;
mod transcript;

use std::collections::BTreeMap;
use std::sync::Arc;

use bosun_agent::{AgentError, BoxFuture, EntryBody, Middleware, NextModel, NextTool, NoteKind, TurnContext};
use bosun_model::{AiMessage, ChatRequest, Message, Messages, ToolCall};
use bosun_tools::{DynTool, ToolOutput, erase};

use crate::OnDemand;
use crate::artifacts::{self, Artifacts};
use crate::eviction::{FOLDER, KeptPart, KeptResult, kept_results};
use crate::rewrites::{Recent, Rewrites};
use crate::tokens::{self, TokenCounter, Tokenizer};
pub use compact::{Compacted, CompactionError};
use cutoff::Keep;
pub(crate) use offload::FOLDER as HISTORY;
pub use record::{
    Compaction, FailedSummary, SUMMARIZATION_FIELD, Summary, SummaryCause, UndoneSummary, edit_summary, undo_summary,
};
pub use threshold::{ArgumentOptions, SummarizationOptions, Threshold, Trigger};
pub(crate) use tool::{CompactConversation, NAME as COMPACT};

/// Keeps the conversation below the model's window: long arguments are cut first, then everything but its end is
/// replaced by a summary. Nothing is ever taken out of the state, so that a summary can be read, changed and undone.
///
/// It expects the messages of a request to stand as they stand in the state: members outside of it may replace one,
/// never add or drop any.
#[derive(Default)]
pub struct Summarization {
    options: SummarizationOptions,
    artifacts: Artifacts,
    on_demand: Option<Arc<OnDemand>>,
    counter: TokenCounter,
    arguments: Rewrites,
    results: Rewrites,
    leads: Recent<Arc<Message>>,
}

/// How often a request that is refused as too long is made shorter.
const RECOVERIES: u32 = 2;

impl Summarization {
    pub fn new(options: SummarizationOptions, artifacts: Artifacts) -> Self {
        Self { options, artifacts, ..Self::default() }
    }

    /// Counts the tools that `on_demand` keeps out of requests for none, also between requests.
    #[must_use]
    pub fn behind(self, on_demand: Option<Arc<OnDemand>>) -> Self {
        Self { on_demand, ..self }
    }

    fn window(cx: &TurnContext) -> Option<u64> {
        cx.agent().model.info().context_window.filter(|window| *window > 0).map(u64::from)
    }

    fn part_of(window: Option<u64>, part: f64) -> Option<u64> {
        window.map(|window| (window as f64 * part) as u64)
    }

    /// Whether `part` of what makes a conversation one that is summed up is reached.
    fn reaches(&self, part: f64, cx: &TurnContext, request: &ChatRequest, tokens: u64) -> bool {
        self.options.reached(part, &Self::size(cx, request, tokens))
    }

    fn size(cx: &TurnContext, request: &ChatRequest, tokens: u64) -> threshold::Size {
        threshold::Size {
            tokens,
            messages: request.messages.len(),
            window: Self::window(cx),
            output: u64::from(request.max_output.unwrap_or(0)),
        }
    }

    fn keep(&self, cx: &TurnContext) -> Keep {
        self.options.kept(Self::window(cx))
    }

    /// `all` as it is sent under `compaction`.
    fn shown(&self, all: &Messages, compaction: &Compaction) -> Messages {
        let summary = compaction.current(all.len());
        if summary.is_none() && compaction.arguments_before == 0 && compaction.results_before == 0 {
            return all.clone();
        }
        let from = summary.map_or(0, |summary| summary.cutoff);
        let mut shown = Vec::with_capacity(all.len() - from + 1);
        if let Some(summary) = summary {
            let text = lead_of(summary);
            shown.push(self.leads.of(&text, || Arc::new(Message::human("summary", text.clone()))));
        }
        for (index, message) in all.iter().enumerate().skip(from) {
            let message = if index < compaction.arguments_before {
                self.arguments.of(message, shorten::arguments)
            } else {
                Arc::clone(message)
            };
            shown.push(if index < compaction.results_before {
                self.results.of(&message, |message| shorten::result(message, compaction.kept_of(message)))
            } else {
                message
            });
        }
        shown.into()
    }

    /// Tokens of a request: what is estimated, or what the provider counted for most of it, whichever is more. Another
    /// model cuts the same text into more tokens or fewer, so that only what this one counted tells.
    fn tokens(&self, cx: &TurnContext, request: &ChatRequest, compaction: &Compaction) -> u64 {
        let model = cx.agent().model.info();
        let tokenizer = Tokenizer::of(model);
        let estimate = self.counter.request(request, tokenizer);
        let made_at = compaction.summary.as_ref().map_or(0, |summary| summary.made_at);
        let after = cx.log().with_state(|state| state.messages.len().saturating_sub(made_at));
        let recent = request.messages.len().saturating_sub(after);
        let counted = request.messages.iter().enumerate().skip(recent).rev().find_map(|(index, message)| {
            let Message::Ai(reply) = &**message else { return None };
            let usage = reply.usage.filter(|_| reply.asked.as_ref().is_none_or(|asked| *asked == model.asked()))?;
            let rest = request.messages.get(index + 1..).unwrap_or_default();
            Some(usage.input? + usage.output.unwrap_or(0) + self.counter.messages(rest, tokenizer))
        });
        estimate.max(counted.unwrap_or(0))
    }

    /// What a request is sent as, made shorter where it is too long.
    async fn prepared(&self, cx: &TurnContext, request: &ChatRequest) -> Result<ChatRequest, AgentError> {
        let mut compaction = cx.log().with_state(Compaction::of);
        let mut sent = self.request(request, &compaction);
        let mut tokens = self.tokens(cx, &sent, &compaction);
        let of_arguments = self.options.of_arguments();
        let cuts = of_arguments.reached(1.0, &Self::size(cx, &sent, tokens));
        let is_full = self.reaches(1.0, cx, &sent, tokens);
        let keep = of_arguments.kept(Self::window(cx));
        if cuts && self.shorten_arguments(cx, &request.messages, keep, &mut compaction).await? {
            sent = self.request(request, &compaction);
            // What the provider counted was before this, so only the estimate tells.
            tokens = self.counter.request(&sent, Tokenizer::of(cx.agent().model.info()));
            if !self.reaches(1.0, cx, &sent, tokens) {
                return Ok(sent);
            }
        } else if !is_full {
            return Ok(sent);
        }
        if compaction.failed.as_ref().is_some_and(|failed| failed.holds(tokens)) {
            return Ok(sent);
        }
        let has_room = !threshold::is_hard(&Self::size(cx, &sent, tokens), 1.0);
        if has_room && compaction.undone.as_ref().is_some_and(|undone| undone.holds(tokens)) {
            return Ok(sent);
        }
        let (keep, cause) = (self.keep(cx), SummaryCause::Threshold);
        let work = compact::Work { messages: &request.messages, keep, cause, tokens };
        match self.compact(cx, work, None).await? {
            Ok(_) => Ok(self.request(request, &cx.log().with_state(Compaction::of))),
            Err(CompactionError::NothingToCompact) => Ok(sent),
            Err(error) => {
                tracing::warn!(%error, "the conversation could not be summed up; it is sent as it is");
                let turn = cx.log().with_state(|state| state.turns);
                let (failed, fresh) = FailedSummary::after(compaction.failed.as_ref(), &error, tokens, turn);
                compaction.failed = Some(failed);
                let told = fresh.map(|about| EntryBody::noted(NoteKind::SummaryFailed, about));
                cx.log().record(std::iter::once(compaction.entry()).chain(told).collect()).await?;
                Ok(sent)
            }
        }
    }

    fn request(&self, request: &ChatRequest, compaction: &Compaction) -> ChatRequest {
        ChatRequest {
            system: request.system.clone(),
            messages: self.shown(&request.messages, compaction),
            tools: Arc::clone(&request.tools),
            tool_choice: request.tool_choice.clone(),
            max_output: request.max_output,
            cache: request.cache,
            effort: request.effort,
            output: request.output.clone(),
            conversation: request.conversation.clone(),
            caller: request.caller.clone(),
        }
    }

    /// Cuts long arguments of all but the end. Says whether anything new was cut.
    async fn shorten_arguments(
        &self,
        cx: &TurnContext,
        all: &[Arc<Message>],
        keep: Keep,
        compaction: &mut Compaction,
    ) -> Result<bool, AgentError> {
        let tokenizer = Tokenizer::of(cx.agent().model.info());
        let before = cutoff::cutoff(all, keep, &self.counter, tokenizer);
        let fresh = all.get(compaction.arguments_before..before).unwrap_or_default();
        if !fresh.iter().any(|message| shorten::arguments(message).is_some()) {
            return Ok(false);
        }
        compaction.arguments_before = before;
        cx.log().record(vec![compaction.entry()]).await?;
        Ok(true)
    }

    /// The provider says that `request` is too long: it is summed up, at last down to the last step alone with its
    /// results cut, and sent again.
    async fn recover<'a>(
        &'a self,
        cx: &'a TurnContext,
        request: &ChatRequest,
        next: NextModel<'a>,
        mut error: AgentError,
    ) -> Result<AiMessage, AgentError> {
        let mut failure = None;
        let tokens = {
            let compaction = cx.log().with_state(Compaction::of);
            self.tokens(cx, &self.request(request, &compaction), &compaction)
        };
        for attempt in 0..RECOVERIES {
            let keep = if attempt == 0 { self.keep(cx) } else { Keep::Messages(1) };
            let work = compact::Work { messages: &request.messages, keep, cause: SummaryCause::Overflow, tokens };
            let compacted = self.compact(cx, work, None).await?;
            if let Err(failed) = &compacted {
                tracing::warn!(error = %failed, "a conversation that is too long could not be summed up");
            }
            // One that was summed up before is so, also where it could not be again.
            failure = match (attempt, &compacted) {
                (0, Err(failed)) => Some(failed.clone()),
                (_, Err(failed)) => failure.map(|_| failed.clone()),
                (_, Ok(_)) => None,
            };
            // A first try that made nothing shorter would be the same request again.
            let cut = (attempt > 0 || compacted.is_err()) && self.shorten_results(cx, &request.messages).await?;
            if compacted.is_err() && !cut {
                continue;
            }
            let shorter = self.request(request, &cx.log().with_state(Compaction::of));
            match next.run(shorter).await {
                Err(again) if ask::is_overflow(&again) => error = again,
                answer => return answer,
            }
        }
        Err(too_long(error, failure.as_ref(), Self::crowding(cx, request)))
    }

    /// Tokens that come before the conversation in every request, and those of the window, where that is most of it.
    fn crowding(cx: &TurnContext, request: &ChatRequest) -> Option<(u64, u64)> {
        let (window, tokenizer) = (Self::window(cx)?, Tokenizer::of(cx.agent().model.info()));
        let standing = request.system.iter().map(|block| tokens::of_text(&block.text, tokenizer)).sum::<u64>()
            + tokens::of_tools(&request.tools);
        (standing * 2 > window).then_some((standing, window))
    }

    /// Cuts long results of the end of the conversation, which no summary takes away. The whole of one is kept first, where
    /// it is not yet.
    async fn shorten_results(&self, cx: &TurnContext, all: &[Arc<Message>]) -> Result<bool, AgentError> {
        let (mut compaction, kept) = cx.log().with_state(|state| (Compaction::of(state), kept_results(state)));
        let from = compaction.results_before.max(compaction.current(all.len()).map_or(0, |summary| summary.cutoff));
        let mut update = bosun_tools::StateUpdate::default();
        let mut fresh = BTreeMap::new();
        let mut found = false;
        for message in all.get(from..).unwrap_or_default() {
            let Message::Tool(result) = &**message else { continue };
            if shorten::result(message, None).is_none() {
                continue;
            }
            found = true;
            if let Some(path) = shorten::source_of(all, result).and_then(|word| cx.agent().backend.resolve(word).ok()) {
                fresh.insert(result.call_id.clone(), KeptResult { path, part: KeptPart::Source });
                continue;
            }
            let place = self.artifacts.own_path(cx, FOLDER, result.call_id.as_str());
            let Some(path) = place.filter(|_| !kept.contains_key(&result.call_id)) else { continue };
            match artifacts::put_new(cx, &path, result.text().into_bytes()).await {
                Ok(written) => {
                    update.files.extend(written.files);
                    fresh.insert(result.call_id.clone(), KeptResult { path, part: KeptPart::Whole });
                }
                Err(error) => tracing::warn!(%error, %path, "a long result could not be kept"),
            }
        }
        if found {
            compaction.results_before = all.len();
            update.fields.extend(compaction.update().fields);
            KeptResult::note_all(&fresh, &mut update);
            cx.log().record(vec![EntryBody::Updated { by: record::BY.into(), update }]).await?;
        }
        Ok(found)
    }
}

/// The message that stands for what was summed up.
fn lead_of(summary: &Summary) -> String {
    let place = match &summary.file {
        Some(file) => format!(" The whole of it can be read and searched in {file}."),
        None => String::new(),
    };
    let unseen = match summary.left_out {
        0 => String::new(),
        count => format!(" {count} characters of its middle did not fit and are not in the summary."),
    };
    format!(
        "This conversation is longer than fits, so its beginning is told in short here.{place}{unseen} The summary was \
         written by a model: check what matters against the files.\n\n<summary>\n{}\n</summary>\n\n{}\nGo on with the work \
         from here.",
        framed(&summary.text),
        framed(&summary.facts)
    )
}

/// Words that cannot end the frame they stand in: a summary may hold whatever its source did.
fn framed(text: &str) -> String {
    text.replace("</summary>", "<\\/summary>")
}

/// `failure` says why it could not be summed up, where it was not; `crowding` is what leaves the conversation no room, of
/// how much.
fn too_long(error: AgentError, failure: Option<&CompactionError>, crowding: Option<(u64, u64)>) -> AgentError {
    let AgentError::Model(mut error) = error else { return error };
    if let Some((standing, window)) = crowding {
        error.message = format!(
            "about {standing} tokens of this model's window of {window} go to what every request begins with \
             (instructions, memories, skills, tools), which leaves too little for the conversation; shorten them, switch \
             skills and servers of tools off, or choose a model with a larger window ({})",
            error.message
        );
        return AgentError::Model(error);
    }
    let tried = match failure {
        None => ", even summed up".to_owned(),
        Some(CompactionError::NothingToCompact) => " and has nothing left to be summed up".to_owned(),
        Some(failure) => format!(" and could not be summed up ({})", failure.why()),
    };
    error.message = format!(
        "the conversation is too long for this model{tried}; start a new session or choose a model with a larger window \
         ({})",
        error.message
    );
    AgentError::Model(error)
}

impl Middleware for Summarization {
    fn name(&self) -> &'static str {
        record::BY
    }

    fn tools(&self) -> Vec<Arc<dyn DynTool>> {
        vec![erase(CompactConversation)]
    }

    fn wrap_model_call<'a>(
        &'a self,
        cx: &'a TurnContext,
        request: ChatRequest,
        next: NextModel<'a>,
    ) -> BoxFuture<'a, Result<AiMessage, AgentError>> {
        Box::pin(async move {
            let sent = self.prepared(cx, &request).await?;
            match next.run(sent).await {
                Err(error) if ask::is_overflow(&error) => self.recover(cx, &request, next, error).await,
                answer => answer,
            }
        })
    }

    fn wrap_tool_call<'a>(
        &'a self,
        cx: &'a TurnContext,
        call: ToolCall,
        next: NextTool<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, AgentError>> {
        if call.name != tool::NAME {
            return next.run(call);
        }
        Box::pin(async move {
            let output = next.run(call).await?;
            if output.content != tool::granted().content {
                return Ok(output);
            }
            self.compact_for_the_model(cx).await
        })
    }
}

impl Summarization {
    /// The tool: nothing to do until half of the threshold is reached.
    async fn compact_for_the_model(&self, cx: &TurnContext) -> Result<ToolOutput, AgentError> {
        let request = self.standing(cx);
        let compaction = cx.log().with_state(Compaction::of);
        let sent = self.request(&request, &compaction);
        let tokens = self.tokens(cx, &sent, &compaction);
        if !self.reaches(0.5, cx, &sent, tokens) {
            return Ok(tool::nothing());
        }
        let (keep, cause) = (self.keep(cx), SummaryCause::Tool);
        let work = compact::Work { messages: &request.messages, keep, cause, tokens };
        Ok(match self.compact(cx, work, None).await? {
            Ok(compacted) => tool::done(&compacted),
            Err(CompactionError::NothingToCompact) => tool::nothing(),
            Err(error) => tool::failed(&error),
        })
    }

    /// What would be sent now, as far as it can be told outside of a model call.
    fn standing(&self, cx: &TurnContext) -> ChatRequest {
        let tools = cx.agent().tools.specs();
        let tools = self.on_demand.as_ref().map_or_else(|| Arc::clone(&tools), |some| some.offered(cx, &tools));
        ChatRequest {
            system: cx.agent().system.clone(),
            messages: cx.log().with_state(|state| state.messages.clone()),
            tools,
            max_output: cx.agent().model.info().max_output,
            ..ChatRequest::default()
        }
    }
}
