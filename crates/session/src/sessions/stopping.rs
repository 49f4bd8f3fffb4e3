use bosun_agent::SessionId as CoreId;
use bosun_protocol::{Problem, SessionId};

use super::Sessions;
use crate::SessionError;

impl Sessions {
    /// How many subagents work beside a session in this process.
    pub async fn working_beside(&self, session: &SessionId) -> Result<usize, SessionError> {
        Ok(self.actor(session).await?.log.background().count())
    }

    /// How many subagents beside a session have an end before them, whether or not somebody runs them.
    pub async fn left_beside(&self, session: &SessionId) -> Result<usize, SessionError> {
        Ok(self.actor(session).await?.log.with_state(|state| state.at_work_beside().count()))
    }

    /// Stops one subagent, at any depth, with everything below it; the others and its parent go on. The parent's call
    /// gets a result that says so.
    ///
    /// # Errors
    /// [`ErrorCode::NotFound`] where it is not at work.
    pub async fn stop_subagent(&self, session: &SessionId, child: &SessionId) -> Result<(), SessionError> {
        let actor = self.actor(session).await?;
        if actor.log.cancel_child(&CoreId::new(child.as_str())) {
            return Ok(());
        }
        Err(SessionError::not_found(Problem::SubagentIdle))
    }
}
