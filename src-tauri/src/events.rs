//! Subscriptions on their way to the page: each is a task that sends arrays over one channel, at most one per frame.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bosun_protocol::{ErrorCode, Problem, SessionId};
use bosun_session::{EventStream, ProjectsWatch, SummaryStream};
use serde::Serialize;
use tauri::ipc::Channel;
use tokio::task::AbortHandle;
use tokio_util::task::TaskTracker;

use crate::error::Failure;

/// A display's frame. What comes sooner after the last message waits and goes out with the next.
const FRAME: Duration = Duration::from_millis(16);

/// A page shows a handful of sessions at a time; one that asks for more than this is not ours.
const MOST: usize = 64;

/// Where the messages of a subscription come from.
pub(crate) trait Feed: Send + 'static {
    type Message: Serialize + Send;

    /// Everything since the last call; `None` when nothing can come any more.
    fn next(&mut self) -> impl Future<Output = Option<Self::Message>> + Send;
}

impl Feed for EventStream {
    type Message = Vec<bosun_protocol::Envelope>;

    async fn next(&mut self) -> Option<Self::Message> {
        Some(EventStream::next(self).await)
    }
}

impl Feed for SummaryStream {
    type Message = Vec<bosun_protocol::SessionSummary>;

    async fn next(&mut self) -> Option<Self::Message> {
        Some(SummaryStream::next(self).await)
    }
}

impl Feed for ProjectsWatch {
    type Message = Vec<bosun_protocol::ProjectView>;

    async fn next(&mut self) -> Option<Self::Message> {
        ProjectsWatch::next(self).await
    }
}

#[derive(Debug)]
struct Running {
    task: AbortHandle,
    /// What it tells of, where that is one session.
    session: Option<SessionId>,
}

/// The running subscriptions of the page, by the number of their channel.
#[derive(Debug, Default)]
pub(crate) struct Forwarders {
    running: Mutex<HashMap<u32, Running>>,
    tasks: TaskTracker,
}

impl Forwarders {
    /// Sends what `feed` brings until it ends, the page is gone or [`Forwarders::stop`] names the channel.
    /// `session` is what it tells of, where that is one.
    pub(crate) fn start<F: Feed>(
        &self,
        mut feed: F,
        channel: Channel<F::Message>,
        session: Option<SessionId>,
    ) -> Result<(), Failure> {
        let mut running = self.running();
        running.retain(|_, one| !one.task.is_finished());
        if running.len() >= MOST {
            return Err(Failure::new(ErrorCode::Invalid, Problem::TooManySessions));
        }
        let number = channel.id();
        let task = self.tasks.spawn(async move {
            while let Some(message) = feed.next().await {
                if let Err(error) = channel.send(message) {
                    tracing::debug!(%error, "the page no longer listens");
                    break;
                }
                tokio::time::sleep(FRAME).await;
            }
        });
        if let Some(old) = running.insert(number, Running { task: task.abort_handle(), session }) {
            old.task.abort();
        }
        Ok(())
    }

    /// Whether the page shows this session now.
    pub(crate) fn shows(&self, session: &SessionId) -> bool {
        self.running().values().any(|one| one.session.as_ref() == Some(session) && !one.task.is_finished())
    }

    /// Ends the subscription over the channel with this number; there may be none.
    pub(crate) fn stop(&self, channel: u32) {
        if let Some(one) = self.running().remove(&channel) {
            one.task.abort();
        }
    }

    /// Ends every subscription: the page they were for is gone or begins anew.
    pub(crate) fn stop_all(&self) {
        for (_, one) in self.running().drain() {
            one.task.abort();
        }
    }

    /// Waits until the tasks have ended.
    pub(crate) async fn closed(&self) {
        self.stop_all();
        self.tasks.close();
        self.tasks.wait().await;
    }

    fn running(&self) -> MutexGuard<'_, HashMap<u32, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;
