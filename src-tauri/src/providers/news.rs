//! Whom the providers' news are told.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tauri::ipc::Channel;

/// The page that is told when something new is known of the providers, so that it lists them again. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct ProviderNews(Arc<Mutex<Option<Channel<()>>>>);

impl ProviderNews {
    pub(crate) fn watch(&self, channel: Channel<()>) {
        *self.locked() = Some(channel);
    }

    /// The page is gone.
    pub(crate) fn leave(&self) {
        self.locked().take();
    }

    pub(super) fn tell(&self) {
        let told = self.locked().as_ref().map(|channel| channel.send(()));
        if let Some(Err(error)) = told {
            tracing::debug!(%error, "the page no longer listens");
        }
    }

    fn locked(&self) -> MutexGuard<'_, Option<Channel<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
