//! Just enough of four image formats to know what an image is, how large, and whether it is whole, without decoding it.

mod whole;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Image {
    pub mime: &'static str,
    /// Pixels.
    pub width: u32,
    pub height: u32,
    /// Pictures in it: more than one where it moves.
    pub frames: u32,
}

/// Most pictures of one that moves.
const MAX_FRAMES: u32 = 1_000;
/// So many pixels are drawn by anything without thinking.
const FEW_PIXELS: u64 = 4_000_000;
/// Most pixels for a byte: Deflate packs 1,032 bytes into one, and a byte has at most eight pixels. What has more was made
/// to burst.
const MAX_RATIO: u64 = 8_500;

impl Image {
    /// Whether it becomes far more than its size makes believe once somebody draws it.
    pub(super) fn bursts(&self, size: usize) -> bool {
        let pixels = u64::from(self.width) * u64::from(self.height) * u64::from(self.frames);
        self.frames > MAX_FRAMES || pixels > FEW_PIXELS && pixels / (size as u64).max(1) > MAX_RATIO
    }
}

/// `None` for anything but a PNG, JPEG, GIF or WebP image that is there to its end.
pub(super) fn sniff(bytes: &[u8]) -> Option<Image> {
    let (mime, frames, width, height) = match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] if bytes.get(12..16)? == b"IHDR" => {
            ("image/png", whole::png(bytes)?, be32(bytes, 16)?, be32(bytes, 20)?)
        }
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => {
            ("image/gif", whole::gif(bytes)?, le16(bytes, 6)?, le16(bytes, 8)?)
        }
        [b'R', b'I', b'F', b'F', ..] if bytes.get(8..12)? == b"WEBP" => {
            let (width, height) = webp(bytes)?;
            ("image/webp", whole::webp(bytes)?, width, height)
        }
        [0xFF, 0xD8, 0xFF, ..] => {
            let (width, height) = jpeg(bytes)?;
            ("image/jpeg", whole::jpeg(bytes)?, width, height)
        }
        _ => return None,
    };
    (width > 0 && height > 0).then_some(Image { mime, width, height, frames })
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes.get(12..16)? {
        b"VP8X" => Some((le24(bytes, 24)? + 1, le24(bytes, 27)? + 1)),
        b"VP8L" => {
            let packed = le16(bytes, 21)? | le16(bytes, 23)? << 16;
            Some(((packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1))
        }
        b"VP8 " => Some((le16(bytes, 26)? & 0x3FFF, le16(bytes, 28)? & 0x3FFF)),
        _ => None,
    }
}

/// Walks the segments up to the frame header.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        if *bytes.get(at)? != 0xFF {
            return None;
        }
        match *bytes.get(at + 1)? {
            0xFF => at += 1,
            0xD8 | 0x01 | 0xD0..=0xD7 => at += 2,
            0xC4 | 0xC8 | 0xCC => at += 2 + be16(bytes, at + 2)?,
            0xC0..=0xCF => {
                let (height, width) = (be16(bytes, at + 5)?, be16(bytes, at + 7)?);
                return Some((u32::try_from(width).ok()?, u32::try_from(height).ok()?));
            }
            0xD9 | 0xDA => return None,
            _ => at += 2 + be16(bytes, at + 2)?.max(2),
        }
    }
}

fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn be16(bytes: &[u8], at: usize) -> Option<usize> {
    Some(usize::from(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?)))
}

fn le16(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?)))
}

fn le24(bytes: &[u8], at: usize) -> Option<u32> {
    Some(le16(bytes, at)? | u32::from(*bytes.get(at + 2)?) << 16)
}
