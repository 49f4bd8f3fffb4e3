//! The literal replacement of `edit_file`, on text in memory: the same for every backend.

use memchr::memmem;

use crate::text::{BOM, decode};
use crate::{BackendError, Replacement, VirtualPath, quoted};

/// Replaces in the bytes of a file. Everything outside the matches stays byte for byte: line ends, byte order mark,
/// a missing last newline.
///
/// The caller's text is matched as the model saw it, with every line end read as LF; the replacement takes the line
/// ends of what it replaces. Matches do not overlap and are taken from left to right.
///
/// # Errors
/// In this order: [`BackendError::Binary`], [`BackendError::NotText`], [`BackendError::EmptyOldString`],
/// [`BackendError::NothingToChange`], [`BackendError::StringNotFound`], [`BackendError::StringNotUnique`],
/// [`BackendError::TooLarge`] where the result would be over `limit` bytes.
pub fn replace(
    bytes: &[u8],
    replacement: Replacement<'_>,
    limit: u64,
    path: &VirtualPath,
) -> Result<(Vec<u8>, usize), BackendError> {
    let text = decode(bytes, path)?;
    let Replacement { old, new, all } = replacement;
    if old.is_empty() {
        return Err(BackendError::EmptyOldString { path: path.clone() });
    }
    if old == new {
        return Err(BackendError::NothingToChange { path: path.clone() });
    }
    let view = LineView::of(text);
    let needle = unify(old);
    let found: Vec<usize> = memmem::find_iter(view.text.as_bytes(), needle.as_bytes()).collect();
    if found.is_empty() {
        return Err(not_found(&view.text, old, &needle, path));
    }
    if found.len() > 1 && !all {
        let old = quoted(old).into_owned();
        return Err(BackendError::StringNotUnique { path: path.clone(), old, count: found.len() });
    }
    let growth = (new.len() as u64).saturating_mul(found.len() as u64);
    let size = (bytes.len() as u64).saturating_add(growth).saturating_sub((old.len() * found.len()) as u64);
    if size > limit {
        return Err(BackendError::TooLarge { path: path.clone(), size, limit });
    }
    let mut out = Vec::with_capacity(usize::try_from(size).unwrap_or(bytes.len()));
    if bytes.starts_with(BOM) {
        out.extend_from_slice(BOM);
    }
    let mut kept_to = 0;
    for at in &found {
        let (start, end) = (view.raw(*at), view.raw(at + needle.len()));
        out.extend_from_slice(text.get(kept_to..start).unwrap_or_default().as_bytes());
        let replaced = text.get(start..end).unwrap_or_default();
        out.extend_from_slice(with_ends_of(new, replaced, view.usual_end).as_bytes());
        kept_to = end;
    }
    out.extend_from_slice(text.get(kept_to..).unwrap_or_default().as_bytes());
    if out == bytes {
        return Err(BackendError::NothingToChange { path: path.clone() });
    }
    Ok((out, found.len()))
}

fn not_found(text: &str, old: &str, needle: &str, path: &VirtualPath) -> BackendError {
    let stripped = needle.strip_suffix('\n').filter(|stripped| !text.ends_with('\n') && !stripped.is_empty());
    let count = stripped.map_or(0, |stripped| memmem::find_iter(text.as_bytes(), stripped.as_bytes()).count());
    let hint = match count {
        0 => String::new(),
        1 => "old_string ends with a newline but the file does not; leave the last newline out".to_owned(),
        count => format!(
            "old_string ends with a newline but the file does not, and without that newline it appears {count} times; \
             leave the newline out and give more of its surroundings"
        ),
    };
    BackendError::StringNotFound { path: path.clone(), old: quoted(old).into_owned(), hint }
}

/// Text with every line end as LF, and where its positions are in the original.
struct LineView<'a> {
    text: std::borrow::Cow<'a, str>,
    /// Positions in `text` behind which one more byte of the original was left out, ascending.
    dropped: Vec<usize>,
    /// The line end for a replacement that meets none: the most frequent one.
    usual_end: &'static str,
}

impl<'a> LineView<'a> {
    fn of(text: &'a str) -> Self {
        if memchr::memchr(b'\r', text.as_bytes()).is_none() {
            let usual_end = if text.contains('\n') { "\n" } else { "" };
            return Self { text: text.into(), dropped: Vec::new(), usual_end };
        }
        let mut unified = String::with_capacity(text.len());
        let mut dropped = Vec::new();
        let (mut crlf, mut cr) = (0_usize, 0_usize);
        let mut rest = text;
        while let Some(at) = memchr::memchr(b'\r', rest.as_bytes()) {
            let (before, from) = rest.split_at(at);
            unified.push_str(before);
            unified.push('\n');
            rest = match from.strip_prefix("\r\n") {
                Some(tail) => {
                    crlf += 1;
                    dropped.push(unified.len());
                    tail
                }
                None => {
                    cr += 1;
                    from.get(1..).unwrap_or_default()
                }
            };
        }
        unified.push_str(rest);
        let lf = memchr::memchr_iter(b'\n', unified.as_bytes()).count() - crlf - cr;
        let usual_end = match (crlf, cr, lf) {
            (crlf, cr, lf) if crlf >= lf && crlf >= cr => "\r\n",
            (_, cr, lf) if lf >= cr => "\n",
            _ => "\r",
        };
        Self { text: unified.into(), dropped, usual_end }
    }

    /// The position in the original of a position in `text`.
    fn raw(&self, at: usize) -> usize {
        at + self.dropped.partition_point(|dropped| *dropped <= at)
    }
}

/// CRLF and CR as LF.
fn unify(text: &str) -> String {
    LineView::of(text).text.into_owned()
}

/// `new` with the line ends of `replaced`: the n-th takes the n-th, later ones the last, and where there is none the
/// file's usual one. A file without any line end takes `new` as it is.
fn with_ends_of(new: &str, replaced: &str, usual_end: &str) -> String {
    let ends = line_ends(replaced);
    let default = ends.last().copied().unwrap_or(usual_end);
    if default.is_empty() {
        return new.to_owned();
    }
    let mut out = String::with_capacity(new.len() + 8);
    for (index, line) in new.split_inclusive('\n').enumerate() {
        match line.strip_suffix('\n') {
            Some(text) => {
                out.push_str(text.strip_suffix('\r').unwrap_or(text));
                out.push_str(ends.get(index).copied().unwrap_or(default));
            }
            None => out.push_str(line),
        }
    }
    out
}

fn line_ends(text: &str) -> Vec<&'static str> {
    let mut ends = Vec::new();
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\r' if bytes.next_if_eq(&b'\n').is_some() => ends.push("\r\n"),
            b'\r' => ends.push("\r"),
            b'\n' => ends.push("\n"),
            _ => {}
        }
    }
    ends
}

#[cfg(test)]
#[path = "replace_tests.rs"]
mod tests;
