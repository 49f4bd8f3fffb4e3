//! What a text file is: strict UTF-8, with lines that end at LF, CRLF or CR and at nothing else (behaviour.md A6).
//! One pass, whatever the file's size; a page keeps a few megabytes at most.

use memchr::{memchr, memchr_iter, memchr2};

use crate::{BackendError, ReadWindow, TextPage, VirtualPath};

/// The mark some editors write in front of UTF-8 text. Part of the file, not of the text.
pub(crate) const BOM: &[u8] = b"\xEF\xBB\xBF";
/// A NUL this far into a file says that it is not text. Behind that it is a character like any.
const SNIFFED: usize = 8 * 1024;
/// Bytes of text in one page.
const MAX_PAGE: usize = 4 * 1024 * 1024;

/// Collects one window of lines and counts all of them, from bytes that arrive in chunks of any size.
pub(crate) struct PageScan {
    /// 0-based number of the first line wanted and of the first line no longer wanted.
    first: u64,
    end: u64,
    utf8: Utf8Scan,
    bom: BomScan,
    /// Lines that have ended.
    ended: u64,
    /// Bytes have come since the last line end.
    open: bool,
    after_cr: bool,
    blank: bool,
    line: Vec<u8>,
    lines: Vec<String>,
    room: usize,
    cut: bool,
}

impl PageScan {
    pub(crate) fn new(window: ReadWindow) -> Self {
        Self {
            first: window.offset,
            end: window.offset.saturating_add(window.limit),
            utf8: Utf8Scan::default(),
            bom: BomScan::default(),
            ended: 0,
            open: false,
            after_cr: false,
            blank: true,
            line: Vec::new(),
            lines: Vec::new(),
            room: MAX_PAGE,
            cut: false,
        }
    }

    /// # Errors
    /// What is wrong with the bytes as text, in words.
    pub(crate) fn feed(&mut self, chunk: &[u8]) -> Result<(), String> {
        self.utf8.feed(chunk)?;
        if let Some(held) = self.bom.feed(chunk) {
            self.take_lines(&held);
        } else if self.bom.passed() {
            self.take_lines(chunk);
        }
        Ok(())
    }

    pub(crate) fn finish(mut self, path: &VirtualPath, window: ReadWindow) -> Result<TextPage, BackendError> {
        let not_text = |reason| BackendError::NotText { path: path.clone(), reason };
        self.utf8.finish().map_err(not_text)?;
        let held = self.bom.finish();
        self.take_lines(&held);
        if self.open {
            self.end_line();
        }
        if window.offset >= self.ended && window.limit > 0 && !self.blank {
            return Err(BackendError::OffsetPastEnd {
                path: path.clone(),
                offset: window.offset,
                total_lines: self.ended,
            });
        }
        Ok(TextPage {
            lines: self.lines,
            cut: self.cut,
            start_line: window.offset.saturating_add(1),
            total_lines: self.ended,
            blank: self.blank,
        })
    }

    fn take_lines(&mut self, mut bytes: &[u8]) {
        // White space outside ASCII makes a file non-blank here, which only costs it the reminder that it is empty.
        self.blank = self.blank && bytes.iter().all(u8::is_ascii_whitespace);
        if self.after_cr && !bytes.is_empty() {
            self.after_cr = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while !bytes.is_empty() {
            if !self.wanted() {
                bytes = self.skip(bytes);
                continue;
            }
            let Some(at) = memchr2(b'\n', b'\r', bytes) else {
                self.push(bytes);
                return;
            };
            let (text, rest) = bytes.split_at(at);
            self.push(text);
            self.end_line();
            bytes = self.after_end(rest);
        }
    }

    fn wanted(&self) -> bool {
        self.ended >= self.first && self.ended < self.end && (self.room > 0 || !self.line.is_empty())
    }

    /// Passes over lines outside the window: to the first line wanted, or to the end.
    fn skip<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let before = self.ended < self.first;
        if memchr(b'\r', bytes).is_none() {
            let count = memchr_iter(b'\n', bytes).count() as u64;
            if !before || self.ended + count < self.first {
                self.ended += count;
                self.open = if count > 0 { !bytes.ends_with(b"\n") } else { true };
                return &[];
            }
        }
        let mut rest = bytes;
        while let Some(at) = memchr2(b'\n', b'\r', rest) {
            rest = self.after_end(rest.get(at..).unwrap_or_default());
            self.ended += 1;
            self.open = false;
            if before && self.ended == self.first {
                return rest;
            }
        }
        self.open = self.open || !rest.is_empty();
        &[]
    }

    /// `rest` begins with a line end: the bytes behind it.
    fn after_end<'a>(&mut self, rest: &'a [u8]) -> &'a [u8] {
        match rest {
            [b'\r', b'\n', tail @ ..] | [b'\n', tail @ ..] => tail,
            [b'\r', tail @ ..] => {
                self.after_cr = tail.is_empty();
                tail
            }
            _ => rest,
        }
    }

    fn push(&mut self, text: &[u8]) {
        self.open = self.open || !text.is_empty();
        let kept = text.get(..self.room).unwrap_or(text);
        self.cut = self.cut || kept.len() < text.len();
        self.room -= kept.len();
        self.line.extend_from_slice(kept);
    }

    fn end_line(&mut self) {
        if self.wanted() {
            // A cut can fall into a character; the part of it that is left is dropped.
            let line = std::mem::take(&mut self.line);
            let line = String::from_utf8(line).unwrap_or_else(|error| {
                let valid = error.utf8_error().valid_up_to();
                let mut bytes = error.into_bytes();
                bytes.truncate(valid);
                String::from_utf8(bytes).unwrap_or_default()
            });
            self.lines.push(line);
            self.room = self.room.saturating_sub(1);
        }
        self.ended += 1;
        self.open = false;
    }
}

/// Where in a file a NUL says that it is binary. `bytes` are those from `offset` on, which is its start or where what was
/// asked about before ended.
pub(crate) fn binary_at(bytes: &[u8], offset: u64) -> Option<u64> {
    let rest = usize::try_from(offset).ok().and_then(|offset| SNIFFED.checked_sub(offset))?;
    memchr(0, bytes.get(..rest).unwrap_or(bytes)).map(|at| offset + at as u64)
}

/// Checks text that arrives in chunks, also where one cuts a character.
#[derive(Default)]
pub(crate) struct Utf8Scan {
    seen: u64,
    carried: Vec<u8>,
}

impl Utf8Scan {
    pub(crate) fn feed(&mut self, chunk: &[u8]) -> Result<(), String> {
        if let Some(at) = binary_at(chunk, self.seen) {
            return Err(format!("binary data: a NUL byte at offset {at}"));
        }
        let mut chunk = chunk;
        while !self.carried.is_empty() {
            let Some((byte, rest)) = chunk.split_first() else { return Ok(()) };
            self.carried.push(*byte);
            self.seen += 1;
            chunk = rest;
            match std::str::from_utf8(&self.carried) {
                Ok(_) => self.carried.clear(),
                Err(error) if error.error_len().is_none() => {}
                Err(_) => return Err(bad_byte(self.seen - self.carried.len() as u64, &self.carried)),
            }
        }
        match std::str::from_utf8(chunk) {
            Ok(_) => {}
            Err(error) => {
                let bad = chunk.get(error.valid_up_to()..).unwrap_or_default();
                if error.error_len().is_some() {
                    return Err(bad_byte(self.seen + error.valid_up_to() as u64, bad));
                }
                self.carried = bad.to_vec();
            }
        }
        self.seen += chunk.len() as u64;
        Ok(())
    }

    pub(crate) fn finish(&self) -> Result<(), String> {
        match self.carried.is_empty() {
            true => Ok(()),
            false => Err(bad_byte(self.seen - self.carried.len() as u64, &self.carried)),
        }
    }
}

fn bad_byte(offset: u64, bytes: &[u8]) -> String {
    let byte = bytes.first().copied().unwrap_or_default();
    format!("the utf-8 codec cannot decode byte 0x{byte:02x} at offset {offset}")
}

/// Drops a byte order mark at the very start.
#[derive(Default)]
struct BomScan {
    held: Vec<u8>,
    passed: bool,
}

impl BomScan {
    fn passed(&self) -> bool {
        self.passed
    }

    /// Bytes to take instead of `chunk`, while the start is not settled or becomes so with this chunk.
    fn feed(&mut self, chunk: &[u8]) -> Option<Vec<u8>> {
        if self.passed {
            return None;
        }
        self.held.extend_from_slice(chunk);
        if self.held.len() < BOM.len() && BOM.starts_with(&self.held) {
            return Some(Vec::new());
        }
        Some(self.finish())
    }

    fn finish(&mut self) -> Vec<u8> {
        self.passed = true;
        let held = std::mem::take(&mut self.held);
        match held.strip_prefix(BOM) {
            Some(rest) => rest.to_vec(),
            None => held,
        }
    }
}

/// The whole of `bytes` as text without its byte order mark.
///
/// # Errors
/// [`BackendError::Binary`] for bytes that are not meant as text, [`BackendError::NotText`] for other codecs.
pub(crate) fn decode<'a>(bytes: &'a [u8], path: &VirtualPath) -> Result<&'a str, BackendError> {
    if binary_at(bytes, 0).is_some() {
        return Err(BackendError::Binary { path: path.clone() });
    }
    std::str::from_utf8(bytes.strip_prefix(BOM).unwrap_or(bytes)).map_err(|error| {
        let at = error.valid_up_to();
        let skipped = if bytes.starts_with(BOM) { BOM.len() } else { 0 };
        let bad = bytes.get(at + skipped..).unwrap_or_default();
        BackendError::NotText { path: path.clone(), reason: bad_byte((at + skipped) as u64, bad) }
    })
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
