use bosun_protocol::SessionId;

use super::Sessions;
use crate::SessionError;

/// What waits for the running turn, and what is said to it.
impl Sessions {
    pub async fn unqueue(&self, session: &SessionId, id: &str) -> Result<(), SessionError> {
        self.actor(session).await?.unqueue(id).await
    }

    /// Gives a message that waits other words.
    pub async fn edit_queued(&self, session: &SessionId, id: &str, text: String) -> Result<(), SessionError> {
        self.actor(session).await?.edit_queued(id, text).await
    }

    /// Puts a message that waits at the place `to` of the queue, from 0; beyond the end is the end.
    pub async fn move_queued(&self, session: &SessionId, id: &str, to: u32) -> Result<(), SessionError> {
        self.actor(session).await?.move_queued(id, to).await
    }

    /// Stops the running turn and begins the next with a message out of the queue; the others keep waiting.
    pub async fn send_queued_now(&self, session: &SessionId, id: &str) -> Result<(), SessionError> {
        self.actor(session).await?.send_now(id).await
    }

    /// Says something to the running turn: the model reads it at its next step. Without one it is sent.
    pub async fn steer(&self, session: &SessionId, text: String) -> Result<(), SessionError> {
        self.actor(session).await?.steer(text).await
    }

    /// As [`Self::steer`], with a message out of the queue.
    pub async fn steer_queued(&self, session: &SessionId, id: &str) -> Result<(), SessionError> {
        self.actor(session).await?.steer_queued(id).await
    }
}
