use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bosun_agent::{AgentError, BoxFuture, Middleware, NextModel, TurnContext};
use bosun_backend::{BlobStore, ContentHash};
use bosun_model::{AiMessage, ChatRequest, ContentBlock, Kept, Media, Message, Origin};

use crate::looked_at::Places;
use crate::per_message::PerMessage;

/// What was looked at before.
#[derive(Default)]
struct Known {
    places: Places,
    /// Messages as the model reads them.
    filled: PerMessage<Arc<Message>>,
}

/// Puts what a person gave along with a message, and the media that tools brought, into the request where they are kept
/// by their hash and not in the journal: pictures and documents as bytes, texts as text. Outermost, so that every other member sees messages as the model does.
///
/// What is remembered follows from the messages and the kept bytes alone, so that it is no state of a session.
pub struct Attachments {
    blobs: Arc<BlobStore>,
    known: Mutex<Known>,
}

impl Attachments {
    pub fn new(blobs: Arc<BlobStore>) -> Self {
        Self { blobs, known: Mutex::default() }
    }

    async fn filled(&self, message: &Arc<Message>) -> Arc<Message> {
        if let Some(filled) = self.known().filled.get(message) {
            return filled;
        }
        let mut filled = Message::clone(message);
        let content = match &mut filled {
            Message::Human(human) => &mut human.content,
            Message::Tool(result) => &mut result.content,
            Message::Ai(_) | Message::System(_) => return Arc::clone(message),
        };
        for block in content {
            if let ContentBlock::Media(media) = block
                && let Some(kept) = media.kept.take()
            {
                *block = self.block(media, &kept).await;
            }
        }
        let filled = Arc::new(filled);
        self.known().filled.insert(message, Arc::clone(&filled));
        filled
    }

    async fn block(&self, media: &Media, kept: &Kept) -> ContentBlock {
        let name = plain(media.name.as_deref().unwrap_or("a file"));
        let gone = || format!("[{name} ({}) is left out: its bytes are not there any more]", media.mime);
        let Some(hash) = ContentHash::from_hex(&kept.blob) else { return ContentBlock::text(gone()) };
        match self.blobs.get(&hash).await {
            Err(error) => {
                tracing::warn!(%error, "an attachment cannot be read");
                ContentBlock::text(gone())
            }
            Ok(bytes) if media.mime.starts_with("text/") => {
                ContentBlock::text(framed(&name, kept, &String::from_utf8_lossy(&bytes)))
            }
            Ok(bytes) => {
                ContentBlock::Media(Media { data: STANDARD.encode(bytes).into(), kept: None, ..media.clone() })
            }
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Middleware for Attachments {
    fn name(&self) -> &'static str {
        "Attachments"
    }

    fn wrap_model_call<'a>(
        &'a self,
        _cx: &'a TurnContext,
        mut request: ChatRequest,
        next: NextModel<'a>,
    ) -> BoxFuture<'a, Result<AiMessage, AgentError>> {
        Box::pin(async move {
            let places = self.known().places.of(&request.messages, has_kept).to_vec();
            for place in places {
                if let Some(message) = request.messages.get_mut(place) {
                    *message = self.filled(message).await;
                }
            }
            next.run(request).await
        })
    }
}

fn has_kept(message: &Message) -> bool {
    message.content().iter().any(|block| matches!(block, ContentBlock::Media(media) if media.kept.is_some()))
}

/// A text between marks that it cannot have in it: they carry its own hash.
fn framed(name: &str, kept: &Kept, text: &str) -> String {
    let (what, mark) = match kept.origin {
        Origin::Attached => ("attached", kept.blob.get(..12).unwrap_or(&kept.blob)),
        Origin::Mentioned => ("mentioned", kept.blob.get(..12).unwrap_or(&kept.blob)),
        Origin::Read => ("read", kept.blob.get(..12).unwrap_or(&kept.blob)),
    };
    let mut out = String::with_capacity(text.len() + 128);
    // Writing into a string does not fail.
    if writeln!(out, "<{what} name=\"{name}\" bytes=\"{}\" mark=\"{mark}\">\n{text}", kept.size).is_ok() {
        out.push_str(&format!("</{what} mark=\"{mark}\">"));
    }
    out
}

/// A name that cannot end its mark.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_control() || matches!(c, '"' | '<' | '>') { '_' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_stands_between_marks_of_its_own() {
        let kept = Kept { blob: "ab".repeat(32), size: 2, origin: Origin::Attached };
        let shown = framed(&plain("a\"><b>\n.md"), &kept, "hi");
        assert_eq!(
            shown,
            "<attached name=\"a___b__.md\" bytes=\"2\" mark=\"abababababab\">\nhi\n</attached mark=\"abababababab\">"
        );
    }
}
