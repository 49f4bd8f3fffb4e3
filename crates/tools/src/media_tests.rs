use bosun_backend::VirtualPath;
use bosun_model::{Abilities, ContentBlock, Media, MediaKind};
use pretty_assertions::assert_eq;

use super::block;
use super::image::{Image, sniff};

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend_from_slice(&width.to_be_bytes());
    bytes.extend_from_slice(&height.to_be_bytes());
    bytes
}

fn shown(mime: &str, bytes: &[u8]) -> ContentBlock {
    let abilities = Abilities { images: true, documents: true, reasoning: false };
    block(&VirtualPath::parse("/f").unwrap(), mime, bytes, abilities)
}

#[test]
fn image_headers_are_read() {
    let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc2\0\x0b\x08\x01\x02\x03\x04\x01\0\0\0";
    let gif = b"GIF89a\x10\0\x20\0";
    let lossy = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x40\x01\xf0\0";
    let lossless = [&b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f"[..], &[0x3f, 0xc1, 0x3b, 0x00]].concat();
    let extended = [&b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0"[..], &[9, 0, 0, 19, 0, 0]].concat();
    for (bytes, mime, width, height) in [
        (&png(4, 3)[..], "image/png", 4, 3),
        (&jpeg[..], "image/jpeg", 0x0304, 0x0102),
        (&gif[..], "image/gif", 16, 32),
        (&lossy[..], "image/webp", 320, 240),
        (&lossless[..], "image/webp", 320, 240),
        (&extended[..], "image/webp", 10, 20),
    ] {
        assert_eq!(sniff(bytes), Some(Image { mime, width, height }));
        for end in 0..bytes.len().min(16) {
            assert_eq!(sniff(&bytes[..end]), None, "cut after {end}");
        }
    }
    assert_eq!(sniff(b"<svg/>"), None);
    assert_eq!(sniff(&png(0, 3)), None);
    assert_eq!(sniff(&[&b"\xff\xd8\xff\xe0"[..], &[0; 64]].concat()), None);
}

#[test]
fn a_wrong_name_does_not_make_a_wrong_media_type() {
    let ContentBlock::Media(Media { kind, mime, data, .. }) = shown("image/jpeg", &png(1, 1)) else { panic!() };
    assert_eq!((kind, &*mime), (MediaKind::Image, "image/png"));
    assert!(data.starts_with("iVBORw0KGgo"));
}

#[test]
fn what_a_provider_would_refuse_is_not_sent() {
    let large = [png(10, 10), vec![0; 4_000_000]].concat();
    for (mime, bytes, token) in [
        ("image/png", &b"no image"[..], "no whole PNG"),
        ("image/heic", b"ftypheic", "no whole PNG"),
        ("image/png", &png(60_000, 60_000), "60000 by 60000"),
        ("image/png", &large, "over the limit"),
        ("application/pdf", b"text", "no PDF"),
        ("application/vnd.ms-powerpoint", b"deck", "PDF"),
        ("application/octet-stream", b"x", "neither text nor media"),
    ] {
        let text = shown(mime, bytes);
        let text = text.as_text().expect("a sentence");
        assert!(text.contains(token) && text.contains("/f") && text.contains(mime), "{text}");
    }
}
