use std::sync::Arc;
use std::time::{Duration, Instant};

use bosun_model::{ChatModel, ChatRequest, Message, ModelError, Stays, whole_reply};

use crate::listing::seems_to_talk;
use crate::{ListedModel, ProviderConfig, Said, connect, failure, known_model, list_models};

/// Tokens of a reply to a test call: one that has to think first refuses less. On this machine every one takes its time.
const ROOM: u32 = 512;

/// A call as small as can be, to see whether address, key and model work. Gives what the model said, which may be nothing.
///
/// # Errors
/// The provider's own, as any call would get it.
pub async fn test_call(model: &dyn ChatModel) -> Result<String, ModelError> {
    let request = ChatRequest {
        messages: vec![Message::human("test", "Answer with one word: ready?").into()].into(),
        max_output: Some(if model.info().stays > Stays::No { 16 } else { ROOM }),
        ..ChatRequest::default()
    };
    match whole_reply(model, request, "test".into()).await {
        Ok(reply) => Ok(reply.text()),
        // It worked, and thought for longer than it takes to say a word.
        Err(error) if failure::is_of_room(&error) => Ok(String::new()),
        Err(error) => Err(error),
    }
}

/// What came of trying an account out.
#[derive(Debug)]
pub struct Trial {
    /// The model that was called; `None` where only the list could be looked at, whose first names are what it said.
    pub model: Option<String>,
    pub outcome: Result<String, ModelError>,
    pub took: Duration,
}

/// A small call to the model `named`, or to one of the provider's list where none is named: a list alone says nothing of
/// whether anything in it answers. `counted` is put around the model that is called.
pub async fn try_out(
    config: &ProviderConfig,
    named: Option<&str>,
    counted: impl FnOnce(Arc<dyn ChatModel>) -> Arc<dyn ChatModel>,
) -> Trial {
    let mut started = Instant::now();
    let mut listed = Vec::new();
    if named.is_none() {
        match list_models(config).await {
            Ok(models) => listed = models,
            Err(error) => return Trial { model: None, outcome: Err(error), took: started.elapsed() },
        }
    }
    // Azure's list has no names of deployments, which are all that can be called there.
    let listed_one = || test_model(config, &listed).filter(|_| config.lists_what_is_called());
    let Some(name) = named.or_else(listed_one) else {
        let names: Vec<&str> = listed.iter().take(3).map(|model| model.name.as_str()).collect();
        return Trial { model: None, outcome: Ok(names.join(", ")), took: started.elapsed() };
    };
    started = Instant::now();
    let outcome = match connect(config, name) {
        Ok(model) => test_call(&*counted(model)).await,
        Err(error) => Err(error),
    };
    Trial { model: Some(name.to_owned()), outcome, took: started.elapsed() }
}

/// The model for a test call where nobody named one: of those in the list that can be talked to by their name and whose price
/// is known, the cheapest that costs something, since those for nothing are the first to be refused; else the first that can
/// be talked to, else the first. `None` where the list is empty.
pub fn test_model<'a>(config: &ProviderConfig, listed: &'a [ListedModel]) -> Option<&'a str> {
    let config = config.clone().hearing(&Said::All(listed.to_vec()));
    let price =
        |model: &ListedModel| known_model(&config, &model.name).ok()?.price.map(|price| price.input + price.output);
    let talkers = || listed.iter().filter(|model| seems_to_talk(&model.name));
    let priced = talkers().filter_map(|model| Some((model, price(model).filter(|price| *price > 0.0)?)));
    let cheapest = priced.min_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(model, _)| model);
    cheapest.or_else(|| talkers().next()).or(listed.first()).map(|model| model.name.as_str())
}

#[cfg(test)]
mod tests {
    use bosun_model::Price;
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::Family;

    fn listed(name: &str, price: Option<f64>) -> ListedModel {
        let price = price.map(|dollars| Price { input: dollars, output: dollars, ..Price::FREE });
        ListedModel { name: name.into(), price, ..ListedModel::default() }
    }

    #[test]
    fn a_test_call_goes_to_the_cheapest_model_that_costs_something_else_to_the_first() {
        let gate = ProviderConfig::new("gate", Family::OpenAiChat, "https://gate.example/v1");
        let chosen = |models: &[ListedModel]| test_model(&gate, models).map(str::to_owned);
        let priced =
            [listed("a", None), listed("dear", Some(9.0)), listed("free", Some(0.0)), listed("cheap", Some(1.0))];
        assert_eq!(chosen(&priced).as_deref(), Some("cheap"));
        assert_eq!(chosen(&priced[..1]).as_deref(), Some("a"));
        let silent = [listed("acme/embed-small", Some(0.1)), listed("acme/chat", Some(2.0))];
        assert_eq!(chosen(&silent).as_deref(), Some("acme/chat"));
        assert_eq!(chosen(&[]), None);
        let mixed = ["BAAI/bge-large-en-v1.5", "black-forest-labs/FLUX.1-schnell", "meta-llama/Llama-3.3-70B-Instruct"];
        assert_eq!(chosen(&mixed.map(|name| listed(name, None))).as_deref(), Some(mixed[2]));
        assert_eq!(
            chosen(&mixed[..1].iter().map(|name| listed(name, None)).collect::<Vec<_>>()).as_deref(),
            Some(mixed[0])
        );
        let vendor = ProviderConfig::new("anthropic", Family::Anthropic, "https://api.anthropic.com");
        let known = [listed("claude-opus-4-6", None), listed("claude-haiku-4-5", None)];
        assert_eq!(test_model(&vendor, &known), Some("claude-haiku-4-5"), "by the catalogue");
    }
}
