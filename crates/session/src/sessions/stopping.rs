use bosun_agent::SessionId as CoreId;
use bosun_protocol::{Problem, SessionId, SessionSummary};
use futures_util::future::join_all;

use super::Sessions;
use crate::SessionError;

impl Sessions {
    /// The open sessions in which something goes on by itself, as they are shown: a turn, a summary, a subagent beside it.
    /// One that only waits for a person is none of them.
    pub async fn at_work(&self) -> Vec<SessionSummary> {
        let looked = self.open_actors().into_iter().map(async |actor| {
            let is_at_work = actor.is_at_work().await;
            is_at_work.then(|| actor.stream.read(|projection| projection.view().session.clone()))
        });
        join_all(looked).await.into_iter().flatten().collect()
    }

    /// Whether an open session waits for a person.
    pub fn waits(&self, session: &SessionId) -> bool {
        let actor = self.inner.actors.get(&CoreId::new(session.as_str()));
        actor.is_some_and(|actor| actor.stream.read(|projection| !projection.view().approvals.is_empty()))
    }

    /// Stops each of them, side by side, with the subagents that work beside it; one that cannot be stopped goes on with its
    /// journal later.
    pub async fn stop_all(&self, sessions: &[SessionId]) {
        let stop = async |session: &SessionId| {
            if let Err(error) = self.stop_whole(session).await {
                tracing::warn!(%error, %session, "a turn was not stopped");
            }
        };
        join_all(sessions.iter().map(stop)).await;
    }

    async fn stop_whole(&self, session: &SessionId) -> Result<(), SessionError> {
        self.actor(session).await?.stop_all().await
    }

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
