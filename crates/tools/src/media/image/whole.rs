//! Whether an image is there to its end, and how many pictures are in it. A part of one passes for a picture by its
//! first bytes, and a provider that is sent it refuses every request from then on.

use super::{be16, be32, le16};

/// Pictures in a PNG that reaches its end.
pub(super) fn png(bytes: &[u8]) -> Option<u32> {
    let (mut at, mut frames, mut has_data) = (8, 0, false);
    loop {
        let length = usize::try_from(be32(bytes, at)?).ok()?;
        let kind = bytes.get(at + 4..at + 8)?;
        // Data and its checksum.
        let end = at.checked_add(length)?.checked_add(12)?;
        bytes.get(..end)?;
        match kind {
            b"IEND" => return has_data.then_some(frames.max(1)),
            b"IDAT" => has_data = true,
            b"fcTL" => frames += 1,
            _ => {}
        }
        at = end;
    }
}

/// Pictures in a GIF that reaches its end.
pub(super) fn gif(bytes: &[u8]) -> Option<u32> {
    let mut at = 13 + table(*bytes.get(10)?);
    let mut frames = 0_u32;
    loop {
        match *bytes.get(at)? {
            0x3B => return (frames > 0).then_some(frames),
            0x21 => at = after_blocks(bytes, at + 2)?,
            0x2C => {
                frames = frames.saturating_add(1);
                // The picture's own colours and the size of its codes stand before its blocks.
                at = after_blocks(bytes, at + 11 + table(*bytes.get(at + 9)?))?;
            }
            _ => return None,
        }
    }
}

/// Bytes of a table of colours, by the flags that say whether there is one.
fn table(flags: u8) -> usize {
    if flags & 0x80 == 0 { 0 } else { 3 << (flags as usize & 7) << 1 }
}

/// Where a row of blocks, each behind its length, has its end.
fn after_blocks(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match usize::from(*bytes.get(at)?) {
            0 => return Some(at + 1),
            length => at += 1 + length,
        }
    }
}

/// Pictures in a WebP that reaches its end.
pub(super) fn webp(bytes: &[u8]) -> Option<u32> {
    let length = |at: usize| Some((le16(bytes, at)? | le16(bytes, at + 2)? << 16) as usize);
    let all = bytes.get(..length(4)?.checked_add(8)?)?;
    let (mut at, mut frames) = (12, 0);
    while at < all.len() {
        frames += u32::from(all.get(at..at + 4)? == b"ANMF");
        // Parts begin at even places.
        at = at.checked_add(8)?.checked_add(length(at + 4)?)?;
        all.get(..at)?;
        at += at % 2;
    }
    Some(frames.max(1))
}

/// Whether a JPEG comes to its end behind the place where its picture begins.
pub(super) fn jpeg(bytes: &[u8]) -> Option<u32> {
    let mut at = 2;
    loop {
        match (*bytes.get(at)?, *bytes.get(at + 1)?) {
            (0xFF, 0xDA) => break,
            (0xFF, 0xFF) => at += 1,
            (0xFF, 0xD8 | 0x01 | 0xD0..=0xD7) => at += 2,
            (0xFF, _) => at += 2 + be16(bytes, at + 2)?.max(2),
            _ => return None,
        }
    }
    bytes.get(at..)?.windows(2).any(|pair| pair == [0xFF, 0xD9]).then_some(1)
}
