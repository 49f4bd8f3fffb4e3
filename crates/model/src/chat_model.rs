use std::pin::Pin;

use futures_util::{Stream, StreamExt};
use serde::{Deserialize, Serialize};

use crate::{AiMessage, Asked, BoxFuture, ChatRequest, MessageBuilder, MessageId, ModelError, ModelEvent, Usage};

/// The events of one reply. Dropping it cancels the request.
pub type ModelStream = Pin<Box<dyn Stream<Item = Result<ModelEvent, ModelError>> + Send>>;

/// A callable model.
///
/// Retry, fallback and summarise-on-overflow are middleware; an implementation only says, through
/// [`ModelError::is_retryable`] and `retry_after`, what may be done.
pub trait ChatModel: Send + Sync {
    /// Who answers now.
    fn info(&self) -> &ModelInfo;

    /// Who was chosen, where another can stand in for it.
    fn chosen(&self) -> &ModelInfo {
        self.info()
    }

    /// Sends `request`. The stream ends after [`ModelEvent::Finished`] or after one error.
    fn stream(&self, request: ChatRequest) -> BoxFuture<'_, Result<ModelStream, ModelError>>;

    /// A cheaper model for calls that nobody watches, such as summaries; `None` where this one makes them itself.
    fn small(&self) -> Option<&dyn ChatModel> {
        None
    }
}

/// The reply to `request` as a whole, for calls that nobody watches.
///
/// # Errors
/// The model's own, and that of a reply that ended before it was complete.
pub async fn whole_reply(model: &dyn ChatModel, request: ChatRequest, id: MessageId) -> Result<AiMessage, ModelError> {
    let mut stream = model.stream(request).await?;
    let mut builder = MessageBuilder::new();
    while let Some(event) = stream.next().await.transpose()? {
        builder.push(&event)?;
        if matches!(event, ModelEvent::Finished { .. }) {
            break;
        }
    }
    builder.finish(id, &model.info().provider)
}

/// What is known of a model. Unknown figures are `None` and shown as unknown, never guessed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// The provider's id, for example `anthropic`.
    pub provider: String,
    /// The model's name there.
    pub name: String,
    /// Tokens the model can read and write in one call.
    pub context_window: Option<u32>,
    pub max_output: Option<u32>,
    pub abilities: Abilities,
    pub price: Option<Price>,
    /// What calls cost instead that read more, where the price goes by their length.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<PriceStep>,
    /// True for the tour: its replies are written down beforehand and the UI says so.
    #[serde(default)]
    pub scripted: bool,
    #[serde(default)]
    pub stays: Stays,
}

/// Whether what is sent to a model stays on this machine, as far as its address, its name and its server's own words tell.
/// In order: who chose a model sends what goes to it to none that comes before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stays {
    #[default]
    No,
    /// Its server is on this machine, and may hand it on.
    Unknown,
    Yes,
}

impl ModelInfo {
    /// As it is asked for.
    pub fn asked(&self) -> Asked {
        Asked { provider: self.provider.clone(), model: self.name.clone() }
    }

    /// Whether nothing can be said of what its calls cost.
    pub fn is_unpriced(&self) -> bool {
        self.price.is_none() && !self.scripted
    }

    /// US dollars for one call: what its provider says it charged, else at the price of its length; `None` as for
    /// [`Price::cost`], and where there is no price.
    pub fn cost(&self, usage: &Usage) -> Option<f64> {
        if usage.charged.is_some() {
            return usage.charged;
        }
        let price = self.price?;
        let read = usage.input.unwrap_or(0);
        let step = self.steps.iter().filter(|step| read > step.over).max_by_key(|step| step.over);
        step.map_or(price, |step| step.price).cost(usage)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Abilities {
    pub images: bool,
    pub documents: bool,
    pub audio: bool,
    pub video: bool,
    pub reasoning: bool,
}

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    pub cache_read: Option<f64>,
    /// What is kept for minutes; what is kept for an hour too where that has no price of its own.
    pub cache_write: Option<f64>,
    pub cache_write_hour: Option<f64>,
    /// What is sound of the input. Of what is read from the cache, sound is cheaper by as much as the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audio: Option<f64>,
}

/// The price of calls that read more than so many tokens: of all they read and write, not of what is beyond.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PriceStep {
    pub over: u64,
    pub price: Price,
}

impl Price {
    /// That of models for which nobody charges.
    pub const FREE: Self =
        Self { input: 0.0, output: 0.0, cache_read: None, cache_write: None, cache_write_hour: None, audio: None };

    /// US dollars for one call; `None` where the provider did not report what was read or written, unless nobody charges
    /// for it, and where there was sound and it has no price.
    ///
    /// What was read from the cache or written to it has its own price, else that of input. Reasoning is output.
    pub fn cost(&self, usage: &Usage) -> Option<f64> {
        if *self == Self::FREE {
            return Some(0.0);
        }
        let (input, output) = (usage.input?, usage.output?);
        let read = usage.cache_read.unwrap_or(0).min(input);
        let written = usage.cache_write.unwrap_or(0).min(input - read);
        let for_an_hour = usage.cache_write_hour.unwrap_or(0).min(written);
        let writing = self.cache_write.unwrap_or(self.input);
        let reading = self.cache_read.unwrap_or(self.input);
        let sound = usage.audio.unwrap_or(0).min(input);
        let sound_read = usage.audio_read.unwrap_or(0).min(sound).min(read);
        let sound_fresh = (sound - sound_read).min(input - read - written);
        let hearing = if sound == 0 { self.input } else { self.audio? };
        let share = if self.input > 0.0 { reading / self.input } else { 1.0 };
        let parts = [
            (input - read - written - sound_fresh, self.input),
            (sound_fresh, hearing),
            (read - sound_read, reading),
            (sound_read, hearing * share),
            (written - for_an_hour, writing),
            (for_an_hour, self.cache_write_hour.unwrap_or(writing)),
            (output, self.output),
        ];
        Some(parts.iter().map(|(tokens, price)| *tokens as f64 * price).sum::<f64>() / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dropped;

    #[test]
    fn every_token_costs_once_and_an_unknown_count_has_no_cost() {
        let price = Price { input: 3.0, output: 15.0, cache_read: Some(0.3), ..Price::FREE };
        let usage = Usage {
            input: Some(1_000_000),
            output: Some(100_000),
            cache_read: Some(600_000),
            cache_write: Some(100_000),
            reasoning: Some(90_000),
            ..Usage::default()
        };
        let cost = price.cost(&usage).unwrap();
        assert!((cost - (0.4 * 3.0 + 0.6 * 0.3 + 1.5)).abs() < 1e-9, "{cost}");
        assert_eq!(price.cost(&Usage { output: None, ..usage }), None);
        let absurd = Usage { input: Some(10), cache_read: Some(1_000), cache_write: Some(1_000), ..usage };
        assert!(price.cost(&absurd).is_some_and(|cost| cost > 0.0));
    }

    #[test]
    fn a_call_costs_the_price_of_its_length() {
        let price = |input: f64| Price { input, output: 10.0 * input, ..Price::FREE };
        let info = ModelInfo {
            provider: "p".into(),
            name: "m".into(),
            context_window: None,
            max_output: None,
            abilities: Abilities::default(),
            price: Some(price(1.0)),
            steps: vec![PriceStep { over: 200_000, price: price(4.0) }, PriceStep { over: 100_000, price: price(2.0) }],
            scripted: false,
            stays: Stays::No,
        };
        let cost = |input: u64| info.cost(&Usage { input: Some(input), output: Some(10_000), ..Usage::default() });
        assert_eq!([cost(100_000), cost(100_001), cost(300_000)], [Some(0.2), Some(0.400_002), Some(1.6)]);
        assert_eq!(info.cost(&Usage { output: Some(10), ..Usage::default() }), None);
        let unpriced = ModelInfo { price: None, ..info.clone() };
        assert_eq!(unpriced.cost(&Usage { input: Some(1), output: Some(1), ..Usage::default() }), None);
    }

    /// Each call has the price of its own length, and one that told nothing makes the sum unknown.
    #[test]
    fn a_step_with_dropped_replies_costs_what_its_calls_did_one_by_one() {
        let price = |input: f64| Price { input, output: 0.0, ..Price::FREE };
        let info = ModelInfo {
            provider: "p".into(),
            name: "m".into(),
            context_window: None,
            max_output: None,
            abilities: Abilities::default(),
            price: Some(price(1.0)),
            steps: vec![PriceStep { over: 200_000, price: price(4.0) }],
            scripted: false,
            stays: Stays::No,
        };
        let reply = |input: Option<u64>, dropped| AiMessage {
            id: "m".into(),
            content: Vec::new(),
            tool_calls: Vec::new(),
            invalid_tool_calls: Vec::new(),
            call_places: Vec::new(),
            usage: input.map(|input| Usage { input: Some(input), output: Some(1), ..Usage::default() }),
            dropped,
            stop: crate::StopReason::EndTurn,
            model: None,
            asked: None,
        };
        let known = Dropped::with(None, &reply(Some(150_000), None), &info);
        let both = Dropped::with(Some(known), &reply(Some(100_000), None), &info);
        assert_eq!((both.usage.input, both.cost), (Some(250_000), Some(0.25)));
        let last = reply(Some(150_000), Some(both));
        assert_eq!((last.spent().and_then(|usage| usage.input), last.cost(&info)), (Some(400_000), Some(0.4)));
        let unknown = Dropped::with(Some(known), &reply(None, None), &info);
        assert_eq!((unknown.usage, unknown.cost), (known.usage, None));
        assert_eq!(reply(Some(1), Some(unknown)).cost(&info), None);
        assert_eq!(reply(None, Some(known)).cost(&info), None);
        // As it stands in journals from before the cost was kept.
        let old: Dropped = serde_json::from_value(serde_json::json!({ "input": 5, "output": 2 })).unwrap();
        assert_eq!((old.usage.input, old.cost), (Some(5), None));
        assert_eq!(serde_json::from_value::<Dropped>(serde_json::to_value(both).unwrap()).unwrap(), both);
    }

    #[test]
    fn sound_has_its_own_price_and_costs_nobody_knows_what_without_one() {
        let price = Price { input: 0.3, output: 2.5, cache_read: Some(0.03), audio: Some(1.0), ..Price::FREE };
        let usage = Usage {
            input: Some(1_000_000),
            output: Some(0),
            cache_read: Some(500_000),
            audio: Some(600_000),
            audio_read: Some(200_000),
            ..Usage::default()
        };
        let near =
            |cost: Option<f64>, wanted: f64| assert!(cost.is_some_and(|cost| (cost - wanted).abs() < 1e-9), "{cost:?}");
        near(price.cost(&usage), 0.1 * 0.3 + 0.4 * 1.0 + 0.3 * 0.03 + 0.2 * 0.1);
        let silent = Price { audio: None, ..price };
        assert_eq!(silent.cost(&usage), None);
        near(silent.cost(&Usage { audio: Some(0), audio_read: None, ..usage }), 0.5 * 0.3 + 0.5 * 0.03);
        assert_eq!(Price::FREE.cost(&usage), Some(0.0));
        let absurd = Usage { audio: Some(9_000_000), audio_read: Some(9_000_000), ..usage };
        near(price.cost(&absurd), 0.5 * 1.0 + 0.5 * 0.1);
    }

    #[test]
    fn what_was_charged_wins_over_what_is_reckoned() {
        let info = ModelInfo {
            provider: "p".into(),
            name: "m".into(),
            context_window: None,
            max_output: None,
            abilities: Abilities::default(),
            price: Some(Price { input: 1.0, output: 1.0, ..Price::FREE }),
            steps: Vec::new(),
            scripted: false,
            stays: Stays::No,
        };
        let usage = Usage { input: Some(1_000_000), output: Some(0), ..Usage::default() };
        let charged = Usage { charged: Some(0.25), ..usage };
        assert_eq!((info.cost(&usage), info.cost(&charged)), (Some(1.0), Some(0.25)));
        assert_eq!(ModelInfo { price: None, ..info }.cost(&charged), Some(0.25));
        assert_eq!((charged.plus(charged).charged, charged.plus(usage).charged), (Some(0.5), None));
        // As it stands in journals from before it was kept.
        let old: Usage = serde_json::from_value(serde_json::json!({ "input": 1_000_000, "output": 0 })).unwrap();
        assert_eq!(old, usage);
        assert_eq!(serde_json::to_value(usage).unwrap().as_object().map(serde_json::Map::len), Some(2));
    }

    #[test]
    fn what_is_kept_for_an_hour_has_its_own_price() {
        let price = Price {
            input: 3.0,
            output: 15.0,
            cache_read: Some(0.3),
            cache_write: Some(3.75),
            cache_write_hour: Some(6.0),
            audio: None,
        };
        let usage = Usage {
            input: Some(1_000_000),
            output: Some(0),
            cache_write: Some(500_000),
            cache_write_hour: Some(400_000),
            ..Usage::default()
        };
        let cost = |price: Price, usage| price.cost(&usage).unwrap();
        let near = |cost: f64, wanted: f64| assert!((cost - wanted).abs() < 1e-9, "{cost} is not {wanted}");
        near(cost(price, usage), 0.5 * 3.0 + 0.1 * 3.75 + 0.4 * 6.0);
        near(cost(Price { cache_write_hour: None, ..price }, usage), 0.5 * 3.0 + 0.5 * 3.75);
        // No more was kept for an hour than was kept at all.
        let absurd = Usage { cache_write_hour: Some(9_000_000), ..usage };
        near(cost(price, absurd), 0.5 * 3.0 + 0.5 * 6.0);
    }
}
