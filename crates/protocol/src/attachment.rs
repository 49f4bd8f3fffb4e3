use serde::{Deserialize, Serialize};
use specta::Type;

use crate::{ProjectId, SessionId};

/// Something that stands with a person's message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Attachment {
    pub name: String,
    /// By the bytes, whatever the name says.
    pub mime: String,
    pub kind: AttachmentKind,
    /// What its bytes are asked for by; `None` where they are not kept.
    pub blob: Option<String>,
    /// Bytes.
    #[specta(type = specta_typescript::Number)]
    pub size: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum AttachmentKind {
    Image,
    Pdf,
    Text,
    /// A thing that the message names, as it was when the message was sent.
    Mention,
    Other,
}

/// Bytes that are kept and are to go along with a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct NewAttachment {
    pub name: String,
    /// [`Attachment::blob`].
    pub blob: String,
}

/// The bytes of an attachment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct AttachmentContent {
    pub mime: String,
    /// Of a text, its words.
    pub text: Option<String>,
    /// Of a picture that is small enough to be drawn, its bytes in base64.
    pub image: Option<String>,
}

/// What a model can look at; what it cannot is named to it in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ModelSight {
    pub images: bool,
    pub documents: bool,
}

/// A thing that a message names. It is looked up when the message is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "mention", rename_all = "snake_case")]
pub enum Mention {
    /// A file or folder of the agent's path space, a memory too.
    Path { path: String },
    /// What was said in another session.
    Session { session: SessionId },
}

/// What to look for among the things that can be named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct FindMentions {
    pub project: ProjectId,
    /// Letters that must be there in this order.
    pub text: String,
    /// Most hits wanted; at most 50.
    pub limit: u32,
}

/// A thing that can be named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct MentionHit {
    pub kind: MentionKind,
    /// What stands behind the `@`.
    pub name: String,
    /// Where it is, or when it was.
    pub detail: String,
    pub mention: Mention,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum MentionKind {
    File,
    Folder,
    Session,
    Memory,
}
