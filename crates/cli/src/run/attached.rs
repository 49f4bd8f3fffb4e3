//! Files of the person's that go along with a task.

use std::path::{Path, PathBuf};

use bosun_protocol::{NewAttachment, SendMessage, SessionId};
use bosun_session::Sessions;

use crate::failure::Failure;

/// Most bytes of one file that are read: more no model takes.
const LARGEST: u64 = 20 << 20;

/// Keeps the files, in the order in which they were named.
pub(super) async fn keep(sessions: &Sessions, files: &[PathBuf]) -> Result<Vec<NewAttachment>, Failure> {
    let mut kept = Vec::with_capacity(files.len());
    for file in files {
        let wrong = |reason: String| Failure::Attach { path: file.clone(), reason };
        let bytes = bosun_backend::given_bytes(file, LARGEST).map_err(|error| wrong(error.to_string()))?;
        let bytes = bytes.ok_or_else(|| wrong(format!("it is larger than {} MB", LARGEST >> 20)))?;
        let attachment = sessions.keep_attachment(&name(file), bytes).await;
        let attachment = attachment.map_err(|error| wrong(error.to_string()))?;
        let blob = attachment.blob.ok_or_else(|| wrong("it could not be kept".into()))?;
        kept.push(NewAttachment { name: attachment.name, blob });
    }
    Ok(kept)
}

/// Sends a task with what goes along.
pub(super) async fn send(
    sessions: &Sessions,
    session: &SessionId,
    text: String,
    attachments: Vec<NewAttachment>,
) -> Result<(), Failure> {
    let message = SendMessage { session: session.clone(), text, attachments, mentions: Vec::new() };
    Ok(sessions.send_message(&message).await?)
}

fn name(file: &Path) -> String {
    file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
