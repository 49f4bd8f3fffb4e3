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

/// Adds `messages` to the session's file. Gives its path and what the state has to take over.
pub(crate) async fn keep(
    cx: &TurnContext,
    artifacts: &Artifacts,
    messages: &[Arc<Message>],
) -> Result<Option<(VirtualPath, StateUpdate)>, BackendError> {
    let Some(path) = file_of(cx, artifacts) else { return Ok(None) };
    let mut update = StateUpdate::default();
    let places = keep_media(cx, artifacts, messages, &mut update).await;
    let at = jiff::Timestamp::from_millisecond(cx.log().now_ms()).unwrap_or_default();
    let named = |media: &Media| match places.get(media::key_of(media)) {
        Some(place) => format!("[{} at {place}]", media.mime),
        None => format!("[{} that could not be kept]", media.mime),
    };
    let text = format!("## Summarized at {at}\n\n{}\n", transcript::history(messages, &named));
    let written = artifacts::append(cx, &path, &text).await?;
    update.files.extend(written.files);
    Ok(Some((path, update)))
}

/// Writes the media of `messages` as files of their own, named by content. One that cannot be written is left out.
async fn keep_media<'a>(
    cx: &TurnContext,
    artifacts: &Artifacts,
    messages: &'a [Arc<Message>],
    update: &mut StateUpdate,
) -> HashMap<&'a str, VirtualPath> {
    let mut places = HashMap::new();
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
                update.files.extend(written.files);
                places.insert(media::key_of(media), path);
            }
            Err(error) => tracing::warn!(%error, "a picture of the conversation could not be kept"),
        }
    }
    places
}
