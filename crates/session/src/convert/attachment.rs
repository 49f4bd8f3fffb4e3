use bosun_model::{ContentBlock, HumanMessage, Media, MediaKind, Origin, text_of};
use bosun_protocol::{Attachment, AttachmentKind};

/// What stands with a message.
pub(crate) fn attachment(media: &Media) -> Attachment {
    let kept = media.kept.as_ref();
    let kind = match (kept.map(|kept| kept.origin), media.kind) {
        (Some(Origin::Mentioned), _) => AttachmentKind::Mention,
        (_, MediaKind::Image) => AttachmentKind::Image,
        _ if media.mime == "application/pdf" => AttachmentKind::Pdf,
        _ if media.mime.starts_with("text/") => AttachmentKind::Text,
        _ => AttachmentKind::Other,
    };
    Attachment {
        name: media.name.clone().unwrap_or_else(|| media.mime.clone()),
        mime: media.mime.clone(),
        kind,
        blob: kept.map(|kept| kept.blob.clone()),
        size: kept.map_or(media.data.len() as u64 / 4 * 3, |kept| kept.size),
    }
}

/// What a message says; of one without words, the names of what stands with it.
pub(crate) fn said(message: &HumanMessage) -> String {
    let text = text_of(&message.content);
    if !text.trim().is_empty() {
        return text;
    }
    let names = message.content.iter().filter_map(|block| match block {
        ContentBlock::Media(media) => media.name.as_deref(),
        ContentBlock::Text { .. } | ContentBlock::Reasoning(_) => None,
    });
    names.collect::<Vec<_>>().join(", ")
}
