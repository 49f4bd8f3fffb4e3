use bosun_agent::Ask;
use bosun_protocol::{Decide, Decision, ErrorCode, Problem, Reach};
use serde_json::Value;

use super::Sessions;
use crate::SessionError;
use crate::projection::reach;

impl Sessions {
    /// How far a call that waits would reach as `decide` lets it run: with the arguments that a person put in the place
    /// of its own, where they did.
    ///
    /// # Errors
    /// Where it does not wait any more, or was shown as something else.
    pub async fn decided_reach(&self, decide: &Decide) -> Result<Reach, SessionError> {
        let (ask, _) = self.ask_as_decided(decide).await?;
        Ok(reach(&ask))
    }

    /// What was asked, about what the call would do as `decide` lets it run, with the arguments it would run with.
    pub(super) async fn ask_as_decided(&self, decide: &Decide) -> Result<(Ask, Value), SessionError> {
        let ask = self.waiting_ask(&decide.session, &decide.call_id).await?;
        if ask.digest != decide.digest {
            return Err(SessionError::new(ErrorCode::AlreadyDecided, Problem::AskChanged));
        }
        let Decision::Edit { args } = &decide.decision else {
            let args = ask.call.args.clone();
            return Ok((ask, args));
        };
        let named = Ask::names(args);
        if ask.place.is_none() || named == Ask::names(&ask.call.args) {
            return Ok((ask, args.clone()));
        }
        let actor = self.actor(&decide.session).await?;
        // What is no path is refused by the tool, and reaches nothing.
        let aim = actor.aim(named.unwrap_or("/")).await?;
        let ask = match aim {
            Some((path, place)) => ask.aimed_at(&path, place),
            None => ask,
        };
        Ok((ask, args.clone()))
    }
}
