use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bosun_backend::ContentHash;
use bosun_model::{Kept, Media, MediaKind, Origin};
use bosun_protocol::{
    Attachment, AttachmentContent, ErrorCode, ModelRef, ModelSight, NewAttachment, Problem, SendMessage, SessionId,
};
use bosun_tools::attachable;

use super::Sessions;
use crate::actor::Actor;
use crate::turns::Said;
use crate::{Explain, SessionError, convert};

/// Most of them with one message.
const MOST_ATTACHMENTS: usize = 10;
const MOST_MENTIONS: usize = 20;
/// Most bytes with one message: what providers take in one request.
const MOST_BYTES: u64 = 20 << 20;
/// Longest name, in characters.
const NAME: usize = 200;
/// Largest picture that is handed out to be drawn, in bytes of its file.
const DRAWN: usize = 4 << 20;

/// What a person gives along with a message. The bytes are kept by their hash beside the database; the journal has the
/// hash, so that a message costs its words.
impl Sessions {
    /// Keeps the bytes of a picture, a PDF or a text, to be sent with a message.
    ///
    /// # Errors
    /// [`ErrorCode::Invalid`] where no model could make anything of them, with the reason and a way out.
    pub async fn keep_attachment(&self, name: &str, bytes: Vec<u8>) -> Result<Attachment, SessionError> {
        Ok(convert::attachment(&self.kept(name, bytes, Origin::Attached).await?))
    }

    /// As [`Self::keep_attachment`], with the bytes in base64.
    pub async fn keep_encoded(&self, name: &str, data: &str) -> Result<Attachment, SessionError> {
        let bytes = STANDARD.decode(data);
        let bytes = bytes.map_err(|_| SessionError::invalid(Problem::BytesIncomplete))?;
        self.keep_attachment(name, bytes).await
    }

    /// Sends a message with what goes along; on stable storage when it returns. While a turn is open it waits in the
    /// queue.
    pub async fn send_message(&self, message: &SendMessage) -> Result<(), SessionError> {
        let actor = self.actor(&message.session).await?;
        let said = self.said(&actor, message).await?;
        actor.send(said).await
    }

    /// As [`Self::steer`], with what goes along.
    pub async fn steer_message(&self, message: &SendMessage) -> Result<(), SessionError> {
        let actor = self.actor(&message.session).await?;
        let said = self.said(&actor, message).await?;
        actor.steer(said).await
    }

    /// The content of something that stands with a message of the session, or with one that waits there.
    pub async fn attachment(&self, session: &SessionId, blob: &str) -> Result<AttachmentContent, SessionError> {
        let gone = || SessionError::not_found(Problem::AttachmentUnknown);
        let found = self.stream(session).await?.read(|projection| {
            let view = projection.view();
            let waiting = view.queue.iter().flat_map(|message| &message.attachments);
            view.items.attachments().chain(waiting).find(|one| one.blob.as_deref() == Some(blob)).cloned()
        });
        let (found, hash) = found.zip(ContentHash::from_hex(blob)).ok_or_else(gone)?;
        let bytes = self.blobs()?.get(&hash).await;
        let bytes = bytes.map_err(|error| SessionError::not_found(error.problem()))?;
        let is_text = found.mime.starts_with("text/");
        let is_drawn = found.mime.starts_with("image/") && bytes.len() <= DRAWN;
        Ok(AttachmentContent {
            image: is_drawn.then(|| STANDARD.encode(&bytes)),
            text: if is_text { String::from_utf8(bytes).ok() } else { None },
            mime: found.mime,
        })
    }

    /// What a model can look at.
    pub async fn sight(&self, model: &ModelRef) -> Result<ModelSight, SessionError> {
        let abilities = self.inner.models.connect(model).await?.info().abilities;
        Ok(ModelSight { images: abilities.images, documents: abilities.documents })
    }

    /// The message as it goes into the journal: attachments looked at again, mentions looked up now.
    async fn said(&self, actor: &Actor, message: &SendMessage) -> Result<Said, SessionError> {
        if message.attachments.len() > MOST_ATTACHMENTS || message.mentions.len() > MOST_MENTIONS {
            let most = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
            let (attachments, mentions) = (most(MOST_ATTACHMENTS), most(MOST_MENTIONS));
            return Err(SessionError::invalid(Problem::TooManyAlong { attachments, mentions }));
        }
        let mut media = Vec::new();
        for attachment in &message.attachments {
            media.push(self.known(attachment).await?);
        }
        for mention in &message.mentions {
            media.push(self.mentioned(actor, mention).await?);
        }
        let bytes: u64 = media.iter().filter_map(|media| media.kept.as_ref()).map(|kept| kept.size).sum();
        if bytes > MOST_BYTES {
            let megabytes = u32::try_from(MOST_BYTES >> 20).unwrap_or(u32::MAX);
            return Err(SessionError::invalid(Problem::TooMuchAlong { megabytes }));
        }
        Ok(Said { text: message.text.clone(), media })
    }

    /// What was kept before under a hash that came back.
    async fn known(&self, attachment: &NewAttachment) -> Result<Media, SessionError> {
        let gone = || SessionError::not_found(Problem::AttachmentLost { name: short_name(&attachment.name) });
        let hash = ContentHash::from_hex(&attachment.blob).ok_or_else(gone)?;
        let bytes = self.blobs()?.get(&hash).await.map_err(|_missing| gone())?;
        self.kept(&attachment.name, bytes, Origin::Attached).await
    }

    /// Keeps `bytes` as something for a message.
    pub(super) async fn kept(&self, name: &str, bytes: Vec<u8>, origin: Origin) -> Result<Media, SessionError> {
        let name = short_name(name);
        let found = attachable(&name, &bytes).map_err(|error| SessionError::invalid(error.problem()))?;
        let size = bytes.len() as u64;
        let blob = self.blobs()?.put(bytes.into()).await;
        let blob = blob.map_err(|error| SessionError::of(ErrorCode::StorageUnavailable, &error))?;
        Ok(media_of(found.kind, found.mime, name, Kept { blob: blob.to_string(), size, origin }))
    }

    fn blobs(&self) -> Result<&bosun_backend::BlobStore, SessionError> {
        let none = || SessionError::new(ErrorCode::StorageUnavailable, Problem::NothingAttachable);
        self.inner.blobs.as_deref().ok_or_else(none)
    }
}

fn media_of(kind: MediaKind, mime: &str, name: String, kept: Kept) -> Media {
    Media { kind, mime: mime.to_owned(), data: "".into(), name: Some(name), kept: Some(kept) }
}

/// A name as it may stand in a message: on one line and not endless.
fn short_name(name: &str) -> String {
    let line: String = name.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    let line = line.trim();
    let kept: String = line.chars().take(NAME).collect();
    if kept.is_empty() { "attachment".into() } else { kept }
}
