use bosun_protocol::{Effort, ModelRef, SessionId};
use bosun_providers::always_thinks;
use bosun_session::Sessions;
use clap::{Args, ValueEnum};

use crate::failure::Failure;
use crate::models::parse_model;
use crate::tell;
use crate::terminal::short;

/// What is chosen about the model besides its name.
#[derive(Debug, Args)]
pub(super) struct Choices {
    /// How much the model thinks, from this run on.
    #[arg(long, value_enum, value_name = "LEVEL")]
    effort: Option<Level>,
    /// A second model, which answers the rest of a turn in which the first is overloaded.
    #[arg(long, value_name = "PROVIDER:NAME")]
    fallback: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Level {
    /// As the settings have it.
    Default,
    /// Not at all; the least of a model that always thinks.
    Off,
    Low,
    Medium,
    High,
    /// As much as the model can.
    Max,
}

impl Choices {
    /// What holds for the whole run.
    pub(super) fn begin(&self, sessions: &Sessions) -> Result<(), Failure> {
        if let Some(fallback) = &self.fallback {
            sessions.fall_back_to(parse_model(fallback)?);
        }
        Ok(())
    }

    /// What the session keeps, which is of `model`.
    pub(super) async fn put_into(
        &self,
        sessions: &Sessions,
        session: &SessionId,
        model: Option<&ModelRef>,
    ) -> Result<(), Failure> {
        let Some(level) = self.effort else { return Ok(()) };
        if let Some(model) = model.filter(|model| level == Level::Off && always_thinks(&model.name)) {
            tell(&format!("{} always thinks; off asks for the least that it does", short(&model.name, 60)));
        }
        let effort = match level {
            Level::Default => None,
            Level::Off => Some(Effort::Off),
            Level::Low => Some(Effort::Low),
            Level::Medium => Some(Effort::Medium),
            Level::High => Some(Effort::High),
            Level::Max => Some(Effort::Max),
        };
        Ok(sessions.set_effort(session, effort).await?)
    }
}
