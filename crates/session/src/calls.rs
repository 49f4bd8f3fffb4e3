//! What a session's model calls have in common: how much the model thinks, who answers when it is overloaded, what the
//! calls cost, and what they may.
//!
//! [`Calls`] is made anew with every agent. Its models ([`Metered`]) count themselves, whoever calls them; its
//! middleware ([`CallRules`]) stands around every call of the session and its subagents.

mod book;
mod cached;
mod keys;
mod metered;
mod rules;
mod titles;
mod under_way;

use std::sync::Arc;

use bosun_agent::{NoteAbout, SessionId, SystemClock};
use bosun_harness::{DeepAgentConfig, TokenCounter};
use bosun_model::{ChatModel, ModelInfo};
use bosun_protocol::{ErrorCode, ModelRef, ModelSettings, Problem};
use bosun_store::{Database, MODEL_SETTINGS};
use serde_json::Value;
use tokio_util::task::TaskTracker;

pub(crate) use book::CallBook;
pub(crate) use keys::is_with_key;
use metered::{Metered, Purpose, Subject};
use rules::CallRules;

use crate::SessionError;
use crate::actor::Actor;
use crate::convert;

/// The models of one agent, connected and counted.
pub(crate) struct Calls {
    /// The session's own, or what stands in for it.
    pub model: Arc<dyn ChatModel>,
    /// What is known of the session's own model.
    pub info: ModelInfo,
    counting: Counting,
    rules: CallRules,
}

impl Calls {
    /// Puts the rules around every call of the agent and of its subagents, whose own models are counted too.
    pub(crate) fn put_into(self, config: &mut DeepAgentConfig) {
        config.everywhere.push(Arc::new(self.rules));
        let models = std::mem::take(&mut config.models);
        config.models = models.into_iter().map(|(name, model)| (name, self.counting.of_subagent(model))).collect();
    }
}

/// `model`, whose calls count as tests of an account: in the usage and the cost of the day, and in no session's.
pub fn counted_as_test(model: Arc<dyn ChatModel>, database: Arc<Database>) -> Arc<dyn ChatModel> {
    let book = CallBook::new(database, Arc::new(SystemClock), TaskTracker::new());
    let nobody = Subject { session: SessionId::new(""), project: String::new() };
    Arc::new(Metered::new(model, None, Arc::new(book), nobody, Purpose::Test))
}

/// A model beside the session's own, or why there is none where one is wanted.
type Beside = (Option<Arc<dyn ChatModel>>, Option<Missing>);

/// A model that cannot be had, and the reason.
struct Missing {
    model: String,
    detail: String,
}

/// What counting a model takes.
struct Counting {
    book: Arc<CallBook>,
    subject: Subject,
    /// The session's own model.
    own: Arc<Metered>,
    small: Option<Metered>,
}

impl Counting {
    /// The model of a subagent that names one. Where that is the session's own, it is turned over with it.
    fn of_subagent(&self, model: Arc<dyn ChatModel>) -> Arc<dyn ChatModel> {
        if self.own.is_first(model.info()) {
            return Arc::clone(&self.own) as Arc<dyn ChatModel>;
        }
        let small = self.small.as_ref().filter(|small| small.info().stays >= model.info().stays);
        let metered = Metered::new(model, None, Arc::clone(&self.book), self.subject.clone(), Purpose::Answer);
        Arc::new(metered.with_small(made_for(small, Purpose::Summary)))
    }
}

/// `small` for calls of `purpose`.
fn made_for(small: Option<&Metered>, purpose: Purpose) -> Option<Arc<dyn ChatModel>> {
    Some(Arc::new(small?.made_for(purpose)))
}

impl Actor {
    /// Connects the session's model and those that the settings name beside it. Only its own has to be there: a turn
    /// does not fail because nobody could stand in for a model that works.
    pub(crate) async fn calls(&self) -> Result<Calls, SessionError> {
        let (chosen, effort) = self.stream.read(|projection| {
            let session = &projection.view().session;
            (session.model.clone(), session.effort)
        });
        let chosen = chosen.ok_or_else(|| SessionError::new(ErrorCode::NoModel, Problem::NoModelChosen))?;
        let book = &self.setting.book;
        let settings = book.settings().await?;
        let first = self.setting.models.connect(&chosen).await?;
        let info = first.info().clone();
        let named = book.fallback().filter(|second| *second != chosen);
        let (second, no_second) = match &named {
            Some(second) => self.beside(second).await,
            None => self.helper(settings.fallback.as_ref().filter(|second| **second != chosen), &info).await,
        };
        let subject = Subject { session: self.log.session().clone(), project: self.tree.project.to_string() };
        let own = Metered::new(first, second, Arc::clone(book), subject.clone(), Purpose::Answer);
        let (small, no_small) = match &settings.small {
            // It is turned over with the session's.
            Some(small) if *small == chosen => (Some(own.made_for(Purpose::Summary)), None),
            small => {
                let (small, none) = self.helper(small.as_ref(), &info).await;
                let counted = |small| Metered::new(small, None, Arc::clone(book), subject.clone(), Purpose::Summary);
                (small.map(counted), none)
            }
        };
        let no_second = no_second.map(|Missing { model, detail }| NoteAbout::SecondMissing { model, detail });
        let no_small = no_small.map(|Missing { model, detail }| NoteAbout::SmallMissing { model, detail });
        let own = Arc::new(own.with_small(made_for(small.as_ref(), Purpose::Summary)));
        let titles = made_for(small.as_ref().filter(|_| book.names_sessions()), Purpose::Title);
        let counting = Counting { book: Arc::clone(book), subject: subject.clone(), own: Arc::clone(&own), small };
        let rules = CallRules {
            model: Arc::clone(&own),
            effort: effort.or_else(|| preferred(&settings, &chosen)).map(convert::effort),
            book: Arc::clone(book),
            subject,
            titles,
            counter: TokenCounter::default(),
            missing: no_second.into_iter().chain(no_small).collect(),
            models: Arc::clone(&self.setting.models),
        };
        Ok(Calls { model: own, info, counting, rules })
    }

    /// A model that the settings have beside all others. Where the session's own is on this machine, or may be, so must it
    /// be: who chose that one sends nothing anywhere else.
    async fn helper(&self, model: Option<&ModelRef>, own: &ModelInfo) -> Beside {
        let Some(model) = model else { return (None, None) };
        let (helper, missing) = self.beside(model).await;
        (helper.filter(|helper| helper.info().stays >= own.stays), missing)
    }

    async fn beside(&self, model: &ModelRef) -> Beside {
        match self.setting.models.connect(model).await {
            Ok(connected) => (Some(connected), None),
            Err(error) => {
                let model = format!("{}:{}", model.provider, model.name);
                tracing::warn!(%error, model, "a model beside cannot be had");
                (None, Some(Missing { model, detail: error.to_string() }))
            }
        }
    }
}

/// How much `model` thinks where the session says nothing.
fn preferred(settings: &ModelSettings, model: &ModelRef) -> Option<bosun_protocol::Effort> {
    settings.efforts.iter().find(|preferred| preferred.model == *model).map(|preferred| preferred.effort)
}

/// A model as it is written: `provider:name`.
fn written(info: &ModelInfo) -> String {
    format!("{}:{}", info.provider, info.name)
}

/// The stored settings; what another version wrote in another way is as by default.
pub(crate) async fn stored(database: &Database) -> Result<ModelSettings, SessionError> {
    let mut settings = ModelSettings::default();
    let Some(Value::Object(stored)) = database.setting(MODEL_SETTINGS).await? else { return Ok(settings) };
    for (name, value) in stored {
        let Ok(Value::Object(mut whole)) = serde_json::to_value(&settings) else { continue };
        whole.insert(name, value);
        settings = serde_json::from_value(Value::Object(whole)).unwrap_or(settings);
    }
    Ok(settings)
}

#[cfg(test)]
#[path = "calls_tests.rs"]
mod tests;
