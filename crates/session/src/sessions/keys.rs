use bosun_backend::ContentHash;

use super::Sessions;
use crate::calls::is_with_key;

impl Sessions {
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
