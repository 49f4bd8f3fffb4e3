//! Media for models: a block where the model can take it, a sentence where it cannot. An image that a provider would
//! refuse must never get into a conversation, where every later request would carry it again.

mod attach;
mod image;
mod recording;

pub use attach::{Attachable, AttachableKind, NotAttachable, attachable};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bosun_backend::VirtualPath;
use bosun_model::{Abilities, ContentBlock, Media, MediaKind};

/// Largest image, in bytes: 5 MB as base64, which is the least that providers take.
const MAX_IMAGE: usize = 3_750_000;
/// Largest document, in bytes.
const MAX_DOCUMENT: usize = 16 * 1024 * 1024;
/// Largest sound or film, in bytes: 17 MB as base64, where the one vendor that takes both has 20 MB for a whole request.
const MAX_RECORDING: usize = 12 * 1024 * 1024;
/// Longest side of an image, in pixels.
const MAX_SIDE: u32 = 8_000;

/// What the model sees of a file that is no text.
pub(crate) fn block(path: &VirtualPath, mime: &str, bytes: &[u8], abilities: Abilities) -> ContentBlock {
    media_block(path.as_str(), mime, bytes, abilities)
}

/// What the model sees of `bytes` called `name`: media where it can take them, else a sentence that names them.
pub fn media_block(name: &str, mime: &str, bytes: &[u8], abilities: Abilities) -> ContentBlock {
    match usable(mime, bytes, abilities) {
        Ok((kind, mime)) => ContentBlock::Media(Media {
            kind,
            mime: mime.to_owned(),
            data: STANDARD.encode(bytes).into(),
            name: Some(name.to_owned()),
            kept: None,
        }),
        Err(reason) => ContentBlock::text(format!(
            "[The {} {name} ({mime}, {} bytes) is not shown: {reason}.]",
            word(mime),
            bytes.len()
        )),
    }
}

fn usable<'m>(mime: &'m str, bytes: &[u8], abilities: Abilities) -> Result<(MediaKind, &'m str), String> {
    match word(mime) {
        "image" if !abilities.images => Err("this model takes no images".into()),
        "image" => {
            let image = image::sniff(bytes).ok_or_else(|| no_image(mime))?;
            if image.width > MAX_SIDE || image.height > MAX_SIDE {
                return Err(format!(
                    "it has {} by {} pixels, but models accept at most {MAX_SIDE} per side",
                    image.width, image.height
                ));
            }
            within(bytes, MAX_IMAGE)?;
            if image.bursts(bytes.len()) {
                return Err("it would unpack to far more pixels than its size suggests".into());
            }
            // The bytes are right where the name is wrong.
            Ok((MediaKind::Image, image.mime))
        }
        "document" if !abilities.documents => Err("this model takes no documents".into()),
        "document" if mime != "application/pdf" => {
            Err("models take no documents but PDF; have it converted to that, or to text".into())
        }
        "document" if !bytes.get(..1024).unwrap_or(bytes).windows(5).any(|window| window == b"%PDF-") => {
            Err("its bytes are no PDF".into())
        }
        "document" => within(bytes, MAX_DOCUMENT).map(|()| (MediaKind::Document, mime)),
        "audio" if !abilities.audio => {
            Err("this model takes no sound; work from a transcript of it, or ask what is said in it".into())
        }
        "audio" => {
            let mime = recording::sniff(mime, bytes).ok_or_else(|| format!("its bytes are no {}", recording::SOUND))?;
            within(bytes, MAX_RECORDING).map(|()| (MediaKind::Audio, mime))
        }
        "video" if !abilities.video => {
            Err("this model takes no film; work from single pictures or a transcript of it".into())
        }
        "video" if mime == "video/x-matroska" => {
            Err("models take no Matroska; have it converted to MP4 or WebM".into())
        }
        "video" => {
            let mime = recording::sniff(mime, bytes).ok_or_else(|| format!("its bytes are no {}", recording::FILM))?;
            within(bytes, MAX_RECORDING).map(|()| (MediaKind::Video, mime))
        }
        _ => Err("it is neither text nor media that models take".into()),
    }
}

/// Most models refuse HEIC, and with it every later request; whether one takes it no catalogue says.
fn no_image(mime: &str) -> String {
    match mime {
        "image/heic" | "image/heif" => "most models take no HEIC; have it converted to JPEG or PNG".into(),
        _ => "its bytes are no whole PNG, JPEG, GIF or WebP image".into(),
    }
}

fn within(bytes: &[u8], limit: usize) -> Result<(), String> {
    if bytes.len() <= limit { Ok(()) } else { Err(format!("it is over the limit of {limit} bytes")) }
}

fn word(mime: &str) -> &'static str {
    match mime.split('/').next() {
        Some("image") => "image",
        Some("audio") => "audio",
        Some("video") => "video",
        Some("application") if mime != "application/octet-stream" => "document",
        _ => "file",
    }
}

#[cfg(test)]
#[path = "media_tests.rs"]
mod tests;
