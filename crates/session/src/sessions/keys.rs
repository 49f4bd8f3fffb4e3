use bosun_backend::ContentHash;

use super::Sessions;
use super::values::places;
use crate::calls::is_with_key;

impl Sessions {
    /// Reads every key, header, variable and sign-in that is kept, so that no text that leaves the app holds one. What cannot be read
    /// stays unknown.
    pub async fn know_keys(&self) {
        self.inner.models.know_keys().await;
        let tokens = self.sign_ins().tokens();
        let own = self.added().map(|added| added.extras().clone()).unwrap_or_default();
        let declared = self.declared().map(|declared| declared.extras()).unwrap_or_default();
        for extras in [own, declared] {
            let addresses = extras.mcp.values().filter_map(|config| config.url.clone());
            for place in places(&extras).into_iter().chain(addresses) {
                if let Err(error) = tokens.load(&place).await {
                    tracing::debug!(%error, "what is kept for a server could not be read");
                }
            }
        }
    }

    /// Whether a message that is still being written holds a key that was met, or what looks like one: in its words, or in
    /// a text that goes along and is kept under one of `blobs`. Looked at as the person's loop looks at it when it is sent;
    /// nothing of it is kept or logged.
    ///
    /// What cannot be read says no: sending it says why.
    pub async fn holds_key(&self, text: &str, blobs: &[String]) -> bool {
        if is_with_key(text, &self.inner.models) {
            return true;
        }
        for blob in blobs {
            let (Some(store), Some(hash)) = (&self.inner.blobs, ContentHash::from_hex(blob)) else { continue };
            let Some(along) = store.get(&hash).await.ok().and_then(|bytes| String::from_utf8(bytes).ok()) else {
                continue;
            };
            if is_with_key(&along, &self.inner.models) {
                return true;
            }
        }
        false
    }
}
