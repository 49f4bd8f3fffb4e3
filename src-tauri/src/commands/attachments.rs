use bosun_protocol::{Attachment, AttachmentContent, FindMentions, MentionHit, ModelRef, ModelSight, SessionId};

use super::{Answer, Managed};
use crate::argument::Arg;
use crate::check;

/// Keeps bytes (in base64) that are to go along with a message; refused with a reason where no model could use them.
#[tauri::command]
#[specta::specta]
pub async fn keep_attachment(shell: Managed<'_>, name: Arg<String>, data: Arg<String>) -> Answer<Attachment> {
    check::name(&name)?;
    check::bytes(&data)?;
    Ok(shell.core().await?.sessions.keep_encoded(&name, &data).await?)
}

/// The content of something that stands with a message of the session.
#[tauri::command]
#[specta::specta]
pub async fn load_attachment(
    shell: Managed<'_>,
    session: Arg<SessionId>,
    blob: Arg<String>,
) -> Answer<AttachmentContent> {
    check::id(session.as_str())?;
    check::id(&blob)?;
    Ok(shell.core().await?.sessions.attachment(&session, &blob).await?)
}

/// What a model can look at; what it cannot is named to it in words.
#[tauri::command]
#[specta::specta]
pub async fn model_sight(shell: Managed<'_>, model: Arg<ModelRef>) -> Answer<ModelSight> {
    check::model(&model)?;
    Ok(shell.core().await?.sessions.sight(&model).await?)
}

/// Whether what is about to be sent holds what looks like a key: in its words, or in a text that goes along.
#[tauri::command]
#[specta::specta]
pub async fn holds_key(shell: Managed<'_>, text: Arg<String>, blobs: Arg<Vec<String>>) -> Answer<bool> {
    check::text(&text)?;
    check::along(&blobs)?;
    Ok(shell.core().await?.sessions.holds_key(&text, &blobs).await)
}

/// Files, folders, memories and sessions whose names fit what was typed, best first.
#[tauri::command]
#[specta::specta]
pub async fn find_mentions(shell: Managed<'_>, query: Arg<FindMentions>) -> Answer<Vec<MentionHit>> {
    check::id(query.project.as_str())?;
    check::name(&query.text)?;
    Ok(shell.core().await?.sessions.find_mentions(&query).await?)
}
