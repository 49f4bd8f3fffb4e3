use bosun_backend::VirtualPath;
use bosun_model::{Abilities, ContentBlock, Media, MediaKind};
use pretty_assertions::assert_eq;

use super::block;
use super::image::{Image, sniff};

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend_from_slice(&width.to_be_bytes());
    bytes.extend_from_slice(&height.to_be_bytes());
    bytes.extend_from_slice(b"\x08\x06\0\0\0....\0\0\0\x01IDAT\0....\0\0\0\0IEND....");
    bytes
}

/// One that moves, as often as its picture is in it.
fn gif(width: u16, height: u16, frames: usize) -> Vec<u8> {
    let [width, height] = [width, height].map(u16::to_le_bytes);
    let picture = [&b"\x21\xf9\x04\0\0\0\0\0\x2c\0\0\0\0"[..], &width, &height, b"\0\x02\x02\x44\x01\0"].concat();
    [&b"GIF89a"[..], &width, &height, b"\x80\0\0......", &picture.repeat(frames), b"\x3b"].concat()
}

fn webp(parts: &[u8]) -> Vec<u8> {
    [&b"RIFF"[..], &u32::try_from(parts.len() + 4).unwrap().to_le_bytes(), b"WEBP", parts].concat()
}

const JPEG: &[u8] =
    b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc2\0\x0b\x08\x01\x02\x03\x04\x01\0\0\0\xff\xda\0\x08\x01\0\0\0\0\0scan\xff\xd9";

fn shown(mime: &str, bytes: &[u8]) -> ContentBlock {
    let abilities = Abilities { images: true, documents: true, audio: true, video: true, reasoning: false };
    block(&VirtualPath::parse("/f").unwrap(), mime, bytes, abilities)
}

#[test]
fn images_are_known_when_they_are_whole() {
    let lossy = webp(b"VP8 \x0a\0\0\0\0\0\0\x9d\x01\x2a\x40\x01\xf0\0");
    let lossless = webp(&[&b"VP8L\x05\0\0\0\x2f"[..], &[0x3f, 0xc1, 0x3b, 0x00], b"\0"].concat());
    let frame = &b"ANMF\x02\0\0\0xx"[..];
    let moving = webp(&[&b"VP8X\x0a\0\0\0\0\0\0\0"[..], &[9, 0, 0, 19, 0, 0], frame, frame].concat());
    for (bytes, mime, width, height, frames) in [
        (&png(4, 3)[..], "image/png", 4, 3, 1),
        (JPEG, "image/jpeg", 0x0304, 0x0102, 1),
        (&gif(16, 32, 3), "image/gif", 16, 32, 3),
        (&lossy, "image/webp", 320, 240, 1),
        (&lossless, "image/webp", 320, 240, 1),
        (&moving, "image/webp", 10, 20, 2),
    ] {
        assert_eq!(sniff(bytes), Some(Image { mime, width, height, frames }));
        for end in 0..bytes.len() {
            assert_eq!(sniff(&bytes[..end]), None, "{mime} cut after {end}");
        }
        // What hangs on behind makes it no other thing.
        let longer = [bytes, b"PK\x03\x04 and an archive"].concat();
        assert_eq!(sniff(&longer).map(|image| image.mime), Some(mime));
    }
    assert_eq!(sniff(b"<svg/>"), None);
    assert_eq!(sniff(&png(0, 3)), None);
    assert_eq!(sniff(&gif(4, 4, 0)), None);
    assert_eq!(sniff(&[&b"\xff\xd8\xff\xe0"[..], &[0; 64]].concat()), None);
}

/// O08: what is small until somebody draws it.
#[test]
fn pictures_that_burst_are_not_sent() {
    for (what, bytes) in [
        ("a square of 60,000", png(60_000, 60_000)),
        ("a square of 8,000 in a hundred bytes", png(8_000, 8_000)),
        ("pictures without end", gif(1, 1, 20_000)),
        ("many large pictures", gif(8_000, 8_000, 500)),
        ("a part of one", JPEG[..JPEG.len() - 2].to_vec()),
        ("a drawing with entities", b"<!DOCTYPE svg [<!ENTITY a \"aaaa\">]><svg>&a;</svg>".to_vec()),
    ] {
        let refused = shown("image/png", &bytes);
        let text = refused.as_text().unwrap_or_else(|| panic!("{what} was sent"));
        assert!(text.contains("is not shown"), "{what}: {text}");
    }
    let ordinary = [png(4_000, 3_000), vec![0; 100_000]].concat();
    assert!(shown("image/png", &ordinary).as_text().is_none(), "a photo is");
    let scan = [png(5_000, 7_000), vec![0; 5_000]].concat();
    assert!(shown("image/png", &scan).as_text().is_none(), "a blank page in black and white is");
    let recording = [gif(1_280, 720, 300), vec![0; 250_000]].concat();
    assert!(shown("image/gif", &recording).as_text().is_none(), "what a terminal showed is");
    assert!(shown("image/gif", &gif(800, 600, 8)).as_text().is_none(), "and what moves a little");
}

#[test]
fn a_wrong_name_does_not_make_a_wrong_media_type() {
    let ContentBlock::Media(Media { kind, mime, data, .. }) = shown("image/jpeg", &png(1, 1)) else { panic!() };
    assert_eq!((kind, &*mime), (MediaKind::Image, "image/png"));
    assert!(data.starts_with("iVBORw0KGgo"));
}

/// A picture may be called as the camera calls its pictures.
#[test]
fn what_is_only_called_heic_is_sent_as_what_it_is() {
    let ContentBlock::Media(Media { mime, .. }) = shown("image/heic", JPEG) else { panic!() };
    assert_eq!(&*mime, "image/jpeg");
}

#[test]
fn what_a_provider_would_refuse_is_not_sent() {
    let large = [png(10, 10), vec![0; 4_000_000]].concat();
    for (mime, bytes, token) in [
        ("image/png", &b"no image"[..], "no whole PNG"),
        ("image/heic", b"\0\0\0\x18ftypheic", "most models take no HEIC; have it converted to JPEG or PNG."),
        ("image/png", &png(60_000, 60_000), "60000 by 60000"),
        ("image/png", &large, "over the limit"),
        ("application/pdf", b"text", "no PDF"),
        ("application/vnd.ms-powerpoint", b"deck", "no documents but PDF; have it converted to that"),
        ("application/octet-stream", b"x", "neither text nor media"),
    ] {
        let text = shown(mime, bytes);
        let text = text.as_text().expect("a sentence");
        assert!(text.contains(token) && text.contains("/f") && text.contains(mime), "{text}");
    }
}

/// What begins as files of each format do, with its usual name.
fn recordings() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let riff = |form: &[u8]| [&b"RIFF\x24\0\0\0"[..], form, b"...."].concat();
    let boxed = |name: &[u8]| [&b"\0\0\0\x18"[..], name, b"isom...."].concat();
    vec![
        ("audio/wav", "audio/wav", riff(b"WAVE")),
        ("audio/x-wav", "audio/wav", riff(b"WAVE")),
        ("audio/mpeg", "audio/mpeg", b"ID3\x04....".to_vec()),
        ("audio/mp3", "audio/mpeg", b"\xff\xfb\x90\x64".to_vec()),
        ("audio/aiff", "audio/aiff", b"FORM\0\0\0\x10AIFF".to_vec()),
        ("audio/aac", "audio/aac", b"\xff\xf1\x50\x80".to_vec()),
        ("audio/ogg", "audio/ogg", b"OggS\0\x02".to_vec()),
        ("audio/flac", "audio/flac", b"fLaC\0\0".to_vec()),
        ("video/mp4", "video/mp4", boxed(b"ftyp")),
        ("video/quicktime", "video/quicktime", boxed(b"moov")),
        ("video/3gpp", "video/3gpp", boxed(b"ftyp")),
        ("video/mpeg", "video/mpeg", b"\0\0\x01\xba\x44".to_vec()),
        ("video/mpeg", "video/mpeg", [&b"\x47"[..], &[0; 187], b"\x47"].concat()),
        ("video/x-msvideo", "video/x-msvideo", riff(b"AVI ")),
        ("video/x-flv", "video/x-flv", b"FLV\x01".to_vec()),
        ("video/webm", "video/webm", b"\x1a\x45\xdf\xa3\x01".to_vec()),
        ("video/x-ms-wmv", "video/x-ms-wmv", b"\x30\x26\xb2\x75\x8e\x66\xcf\x11".to_vec()),
    ]
}

/// E7: sound and film are blocks where the model takes them.
#[test]
fn sound_and_film_are_known_by_how_they_begin() {
    for (mime, usual, bytes) in recordings() {
        let ContentBlock::Media(media) = shown(mime, &bytes) else { panic!("{mime} is not shown") };
        let kind = if mime.starts_with("audio/") { MediaKind::Audio } else { MediaKind::Video };
        assert_eq!((media.kind, &*media.mime), (kind, usual));
        for (other, name, _) in recordings().iter().filter(|(_, name, _)| *name != usual) {
            // One container has all three.
            let alike = ["video/mp4", "video/quicktime", "video/3gpp"];
            if !(alike.contains(name) && alike.contains(&usual)) {
                assert!(shown(other, &bytes).as_text().is_some(), "{usual} as {other}");
            }
        }
        for end in 0..2 {
            assert!(shown(mime, &bytes[..end]).as_text().is_some(), "{mime} cut after {end}");
        }
    }
}

#[test]
fn what_is_no_sound_or_film_that_models_take_is_named() {
    let vast = [&b"ID3\x04"[..], &vec![0; 12 * 1024 * 1024]].concat();
    for (mime, bytes, token) in [
        ("audio/mpeg", &b"words"[..], "its bytes are no WAV, MP3"),
        ("audio/wav", b"RIFF\0\0\0\0AVI ", "its bytes are no WAV, MP3"),
        ("audio/midi", b"MThd", "its bytes are no WAV, MP3"),
        ("video/mp4", b"words and more", "its bytes are no MP4, MOV"),
        ("video/x-matroska", b"\x1a\x45\xdf\xa3", "no Matroska; have it converted to MP4 or WebM."),
        ("audio/mpeg", &vast, "over the limit of 12582912 bytes"),
    ] {
        let text = shown(mime, bytes);
        let text = text.as_text().expect("a sentence");
        assert!(text.contains(token) && text.contains("/f") && text.contains(mime), "{text}");
    }
}
