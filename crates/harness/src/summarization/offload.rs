use std::collections::HashMap;
use std::sync::Arc;

use bosun_agent::TurnContext;
use bosun_backend::{BackendError, ContentHash, VirtualPath};
use bosun_model::{ContentBlock, Media, Message};
use bosun_tools::StateUpdate;

use super::transcript;
use crate::artifacts::{self, Artifacts};
use crate::media;

/// The folder of the files that keep old conversation.
pub(crate) const FOLDER: &str = "conversation_history";

/// The file of a session's old conversation.
pub(crate) fn file_of(cx: &TurnContext, artifacts: &Artifacts) -> Option<VirtualPath> {
    artifacts.place(cx, FOLDER, &format!("session_{}.md", artifacts::name_of(cx.log().session().as_str())))
}

/// The media of a conversation as files of their own.
#[derive(Default)]
pub(crate) struct KeptMedia {
    /// By what [`media::key_of`] gives.
    places: HashMap<String, VirtualPath>,
    /// What the state has to take over.
    update: StateUpdate,
}

impl KeptMedia {
    /// The words for one in a text.
    pub(crate) fn named(&self, media: &Media) -> String {
        match self.places.get(media::key_of(media)) {
            Some(place) => format!("[{} at {place}]", media.mime),
            None => format!("[{} that could not be kept]", media.mime),
        }
    }
}

/// Adds `messages`, whose media are `kept`, to the session's file. Gives its path and what the state has to take over.
pub(crate) async fn keep(
    cx: &TurnContext,
    artifacts: &Artifacts,
    messages: &[Arc<Message>],
    kept: KeptMedia,
) -> Result<Option<(VirtualPath, StateUpdate)>, BackendError> {
    let Some(path) = file_of(cx, artifacts) else { return Ok(None) };
    let at = jiff::Timestamp::from_millisecond(cx.log().now_ms()).unwrap_or_default();
    let text = format!("## Summarized at {at}\n\n{}\n", transcript::history(messages, &|media| kept.named(media)));
    let mut update = kept.update;
    let written = artifacts::append(cx, &path, &text).await?;
    update.files.extend(written.files);
    Ok(Some((path, update)))
}

/// Writes the media of `messages`, named by content. One that cannot be written is left out.
pub(crate) async fn keep_media(cx: &TurnContext, artifacts: &Artifacts, messages: &[Arc<Message>]) -> KeptMedia {
    let mut kept = KeptMedia::default();
    let all = messages.iter().flat_map(|message| message.content()).filter_map(|block| match block {
        ContentBlock::Media(media) => Some(media),
        ContentBlock::Text { .. } | ContentBlock::Reasoning(_) => None,
    });
    for media in all {
        let Some(bytes) = media::read(cx, media).await else { continue };
        let hash = ContentHash::of(&bytes);
        let ending: String =
            media.mime.rsplit('/').next().unwrap_or("bin").chars().filter(char::is_ascii_alphanumeric).collect();
        let name = format!("media/{}.{ending}", hash.as_str().get(..16).unwrap_or_default());
        let Some(path) = artifacts.place(cx, FOLDER, &name) else { continue };
        match artifacts::put(cx, &path, bytes).await {
            Ok(written) => {
                kept.update.files.extend(written.files);
                kept.places.insert(media::key_of(media).to_owned(), path);
            }
            Err(error) => tracing::warn!(%error, "a picture of the conversation could not be kept"),
        }
    }
    kept
}
