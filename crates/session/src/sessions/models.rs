use bosun_agent::EntryBody;
use bosun_protocol::{Budget, Effort, ModelRef, ModelSettings, NetworkSettings, PriceView, Problem, SessionId};
use bosun_store::MODEL_SETTINGS;

use super::Sessions;
use crate::{SessionError, convert};

/// Longest wait that can be set, in seconds.
const LONGEST_WAIT: u32 = 86_400;
/// Most dollars that a price or a budget can be.
const DEAREST: f64 = 1_000_000.0;
/// Most models of which something is said.
const MOST: usize = 500;
const LONGEST_NAME: usize = 300;

/// What a person set about models, and what a session chose.
impl Sessions {
    pub async fn model_settings(&self) -> Result<ModelSettings, SessionError> {
        self.inner.book.settings().await
    }

    /// Keeps `settings`; sessions that are open go by them from their next turn on, budgets from the next call on.
    ///
    /// # Errors
    /// [`ErrorCode::Invalid`] for figures that cannot be meant. Whether a proxy and certificates can be used is the
    /// caller's to check: this room knows no network.
    pub async fn save_model_settings(&self, settings: ModelSettings) -> Result<ModelSettings, SessionError> {
        check(&settings)?;
        self.inner.database.set_setting(MODEL_SETTINGS, &settings).await?;
        self.inner.book.settings_changed();
        self.accounts_changed();
        Ok(settings)
    }

    /// Sessions that are open go by the accounts and keys that there are now, from their next turn on.
    pub fn accounts_changed(&self) {
        for actor in self.inner.actors.all() {
            actor.rebuild();
        }
    }

    /// How much the session's model thinks from its next turn on; `None` is as the settings have it.
    pub async fn set_effort(&self, session: &SessionId, effort: Option<Effort>) -> Result<(), SessionError> {
        let actor = self.actor(session).await?;
        actor.log.record(vec![EntryBody::EffortChosen { effort: effort.map(convert::effort) }]).await?;
        actor.rebuild();
        Ok(())
    }

    /// In this process `model` stands in where another is overloaded, whatever the settings say.
    pub fn fall_back_to(&self, model: ModelRef) {
        self.inner.book.set_fallback(model);
    }

    /// In this process no model names a session: nobody waits for a list in which the name would stand, and the call would
    /// be one more to wait for and to pay.
    pub fn name_no_sessions(&self) {
        self.inner.book.name_no_sessions();
    }
}

fn check(settings: &ModelSettings) -> Result<(), SessionError> {
    if settings.known.len() > MOST || settings.efforts.len() > MOST {
        return Err(invalid(Problem::TooManyModels));
    }
    let named = settings.known.iter().map(|known| &known.model);
    let named = named.chain(settings.efforts.iter().map(|preferred| &preferred.model));
    for model in named.chain(&settings.fallback).chain(&settings.small) {
        let long = model.provider.len().max(model.name.len()) > LONGEST_NAME;
        if model.provider.trim().is_empty() || model.name.trim().is_empty() || long {
            return Err(invalid(Problem::ModelUnnamed));
        }
    }
    for known in &settings.known {
        let limits = [known.context_window, known.max_output];
        if limits.contains(&Some(0)) {
            return Err(invalid(Problem::ModelWithoutTokens { model: known.model.name.clone() }));
        }
        if known.price.is_some_and(|price| !is_price(&price)) {
            return Err(invalid(Problem::ModelPrice { model: known.model.name.clone() }));
        }
    }
    check_budget(settings.budgets.session)?;
    check_budget(settings.budgets.day)?;
    check_waits(&settings.network)
}

fn is_price(price: &PriceView) -> bool {
    let PriceView { input, output, cache_read, cache_write, cache_write_hour, audio } = *price;
    let figures = [Some(input), Some(output), cache_read, cache_write, cache_write_hour, audio];
    figures.into_iter().flatten().all(|figure| (0.0..=DEAREST).contains(&figure))
}

fn check_budget(budget: Budget) -> Result<(), SessionError> {
    let figures = [budget.warn, budget.stop].into_iter().flatten();
    if figures.into_iter().all(|figure| figure > 0.0 && figure <= DEAREST) {
        return Ok(());
    }
    Err(invalid(Problem::BudgetNumber))
}

fn check_waits(network: &NetworkSettings) -> Result<(), SessionError> {
    let NetworkSettings { connect_seconds, first_byte_seconds, idle_seconds, total_seconds, .. } = network;
    let waits = [connect_seconds, first_byte_seconds, idle_seconds, total_seconds];
    if waits.into_iter().flatten().all(|seconds| (1..=LONGEST_WAIT).contains(seconds)) {
        return Ok(());
    }
    Err(invalid(Problem::WaitNumber))
}

fn invalid(problem: Problem) -> SessionError {
    SessionError::invalid(problem)
}

#[cfg(test)]
mod tests {
    use bosun_protocol::KnownModel;

    use super::*;

    fn known(price: f64, context_window: Option<u32>) -> ModelSettings {
        let model = ModelRef { provider: "p".into(), name: "m".into() };
        let price = PriceView {
            input: price,
            output: 1.0,
            cache_read: None,
            cache_write: None,
            cache_write_hour: None,
            audio: None,
        };
        let price = Some(price);
        let known = KnownModel {
            model,
            context_window,
            max_output: None,
            images: None,
            documents: None,
            audio: None,
            video: None,
            reasoning: None,
            price,
        };
        ModelSettings { known: vec![known], ..ModelSettings::default() }
    }

    #[test]
    fn figures_that_cannot_be_meant_are_refused() {
        assert!(check(&ModelSettings::default()).is_ok());
        assert!(check(&known(0.0, Some(1))).is_ok());
        for wrong in [known(-1.0, None), known(f64::NAN, None), known(f64::INFINITY, None), known(1.0, Some(0))] {
            assert!(check(&wrong).is_err(), "{wrong:?}");
        }
        for (warn, stop) in [(Some(0.0), None), (None, Some(-2.0)), (Some(f64::NAN), None)] {
            let mut settings = ModelSettings::default();
            settings.budgets.day = Budget { warn, stop };
            assert!(check(&settings).is_err(), "{settings:?}");
        }
        let mut settings = ModelSettings::default();
        settings.network.idle_seconds = Some(0);
        assert!(check(&settings).is_err());
        settings.network.idle_seconds = Some(90);
        settings.fallback = Some(ModelRef { provider: " ".into(), name: "m".into() });
        assert!(check(&settings).is_err());
    }
}
