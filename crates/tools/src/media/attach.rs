use bosun_model::MediaKind;

use super::{MAX_DOCUMENT, MAX_IMAGE, MAX_SIDE, image};

/// Largest text file, in bytes: it stands whole in the conversation, about 64,000 tokens.
const MAX_TEXT: usize = 256 * 1024;

/// What a person may give along with a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachable {
    pub kind: MediaKind,
    /// By the bytes, whatever the name says.
    pub mime: &'static str,
}

/// Why bytes cannot be given along with a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAttachable {
    #[error("'{name}' is empty, so there is nothing to look at; attach another file")]
    Empty { name: String },
    #[error("'{name}' has {size} bytes, over the limit of {limit} for {what}; {}", what.way_out())]
    TooLarge { name: String, what: AttachableKind, size: usize, limit: usize },
    #[error("'{name}' has {width} by {height} pixels, but models accept at most {most} per side; make it smaller")]
    TooManyPixels { name: String, width: u32, height: u32, most: u32 },
    #[error("'{name}' would unpack to far more pixels than its size suggests; save it again as an ordinary image")]
    Bursts { name: String },
    #[error(
        "'{name}' is neither text nor a complete PNG, JPEG, GIF, WebP or PDF file; put it into the project folder and \
         name it in your message"
    )]
    Unknown { name: String },
}

/// What bytes are that can be attached where they are not too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AttachableKind {
    #[error("an image")]
    Image,
    #[error("a PDF")]
    Pdf,
    #[error("a text")]
    Text,
}

impl AttachableKind {
    fn way_out(self) -> &'static str {
        match self {
            Self::Image => "make it smaller",
            Self::Pdf => "attach only the pages that matter",
            Self::Text => "put it into the project folder and name it in your message, and the agent reads it in parts",
        }
    }
}

/// Looks at bytes that are to be attached under `name`.
///
/// # Errors
/// [`NotAttachable`] where no model could make anything of them.
pub fn attachable(name: &str, bytes: &[u8]) -> Result<Attachable, NotAttachable> {
    let owned = || name.to_owned();
    if bytes.is_empty() {
        return Err(NotAttachable::Empty { name: owned() });
    }
    let within = |what, limit| {
        let size = bytes.len();
        (size <= limit).then_some(()).ok_or_else(|| NotAttachable::TooLarge { name: owned(), what, size, limit })
    };
    if let Some(image) = image::sniff(bytes) {
        let (width, height) = (image.width, image.height);
        if width > MAX_SIDE || height > MAX_SIDE {
            return Err(NotAttachable::TooManyPixels { name: owned(), width, height, most: MAX_SIDE });
        }
        within(AttachableKind::Image, MAX_IMAGE)?;
        if image.bursts(bytes.len()) {
            return Err(NotAttachable::Bursts { name: owned() });
        }
        return Ok(Attachable { kind: MediaKind::Image, mime: image.mime });
    }
    if bytes.get(..1024).unwrap_or(bytes).windows(5).any(|window| window == b"%PDF-") {
        within(AttachableKind::Pdf, MAX_DOCUMENT)?;
        return Ok(Attachable { kind: MediaKind::Document, mime: "application/pdf" });
    }
    if !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok() {
        within(AttachableKind::Text, MAX_TEXT)?;
        return Ok(Attachable { kind: MediaKind::Document, mime: "text/plain" });
    }
    Err(NotAttachable::Unknown { name: owned() })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        bytes.extend(width.to_be_bytes());
        bytes.extend(height.to_be_bytes());
        bytes.extend(b"\x08\x06\0\0\0....\0\0\0\x01IDAT\0....\0\0\0\0IEND....");
        bytes
    }

    #[test]
    fn what_bytes_are_is_told_by_the_bytes() {
        let kind = |bytes: &[u8]| attachable("x.exe", bytes).map(|found| (found.kind, found.mime));
        assert_eq!(kind(&png(2, 2)), Ok((MediaKind::Image, "image/png")));
        assert_eq!(kind(b"%PDF-1.7 ..."), Ok((MediaKind::Document, "application/pdf")));
        assert_eq!(kind("# Notes\nüber".as_bytes()), Ok((MediaKind::Document, "text/plain")));
    }

    #[test]
    fn what_no_model_takes_is_refused_with_a_way_out() {
        let refusal = |bytes: &[u8]| attachable("a.bin", bytes).unwrap_err().to_string();
        assert_eq!(refusal(b""), "'a.bin' is empty, so there is nothing to look at; attach another file");
        assert!(refusal(b"MZ\0\0").contains("neither text nor"));
        assert!(refusal(&[0xFF, 0xFE, b'a']).contains("neither text nor"));
        assert!(refusal(&png(60_000, 60_000)).contains("60000 by 60000 pixels"));
        assert!(refusal(&png(8_000, 8_000)).contains("more pixels than its size suggests"));
        let whole = png(2, 2);
        assert!(refusal(&whole[..whole.len() - 1]).contains("neither text nor"));
        assert!(refusal(&vec![b'a'; MAX_TEXT + 1]).contains("262144"));
        let mut huge = png(10, 10);
        huge.resize(MAX_IMAGE + 1, 1);
        assert!(refusal(&huge).contains("for an image"));
    }
}
