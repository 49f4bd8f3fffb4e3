//! A page of text as the model sees it.

use bosun_backend::TextPage;

use crate::limits::RESULT_CHARS;

/// Characters of a line in one row.
const ROW_CHARS: usize = 5_000;
/// Room for what is said about a page.
const NOTE_CHARS: usize = 400;

pub(super) struct Page {
    pub text: String,
    /// Lines shown, a cut one included.
    pub lines: usize,
    /// Less is shown than was asked for.
    pub cut: bool,
}

/// `cat -n` rows, at most `limit` of them; a last line where more follows. Only whole lines are shown, except where
/// the first one does not fit by itself.
pub(super) fn numbered(page: &TextPage, limit: u64, offset: i64) -> Page {
    let budget = RESULT_CHARS - NOTE_CHARS;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let (mut rows, mut used) = (Vec::new(), 0);
    let mut whole = 0;
    let mut cut_line = None;
    for (line, number) in page.lines.iter().zip(page.start_line..) {
        let pieces = pieces(line);
        let size: usize = pieces.iter().map(|piece| row_size(piece)).sum();
        if rows.len() + pieces.len() <= limit && used + size <= budget && !(page.cut && whole + 1 == page.lines.len()) {
            rows.extend(pieces.iter().enumerate().map(|(part, piece)| row(number, part, piece)));
            used += size;
            whole += 1;
            continue;
        }
        if whole == 0 {
            let mut shown = 0;
            for (part, piece) in pieces.iter().enumerate().take(limit) {
                if used + row_size(piece) > budget {
                    break;
                }
                used += row_size(piece);
                shown += piece.chars().count();
                rows.push(row(number, part, piece));
            }
            cut_line = Some((shown, line.chars().count()));
        }
        break;
    }
    let shown = whole + usize::from(cut_line.is_some());
    let next = page.start_line - 1 + shown as u64;
    let note = note(page, cut_line, shown, next, offset);
    let cut = cut_line.is_some() || (shown < page.lines.len() && rows.len() < limit);
    rows.extend(note);
    Page { text: rows.join("\n"), lines: shown, cut }
}

fn note(page: &TextPage, cut_line: Option<(usize, usize)>, shown: usize, next: u64, offset: i64) -> Option<String> {
    let TextPage { start_line, total_lines, .. } = page;
    let more = next < *total_lines;
    let mut sentences: Vec<String> = before_start(offset).into_iter().collect();
    if let Some((characters, of)) = cut_line {
        let least = if page.cut { "more than " } else { "" };
        sentences.push(format!(
            "Line {start_line} of {total_lines} is truncated mid-line: {characters} of {least}{of} characters are shown. \
             grep finds text in the rest."
        ));
    } else if more {
        let end = start_line + shown as u64 - 1;
        sentences.push(format!("Lines {start_line}-{end} of {total_lines}."));
    }
    if more {
        sentences.push(format!("More follows: the next offset is {next}."));
    }
    (!sentences.is_empty()).then(|| format!("[{}]", sentences.join(" ")))
}

/// What is said where lines were asked for that come before the first.
fn before_start(offset: i64) -> Option<String> {
    (offset < 0).then(|| format!("offset {offset} is before the file's start; reading from line 1."))
}

fn pieces(line: &str) -> Vec<&str> {
    if line.len() <= ROW_CHARS {
        return vec![line];
    }
    let mut pieces = Vec::new();
    let mut rest = line;
    while let Some((at, _)) = rest.char_indices().nth(ROW_CHARS) {
        let (piece, tail) = rest.split_at(at);
        pieces.push(piece);
        rest = tail;
    }
    if !rest.is_empty() {
        pieces.push(rest);
    }
    pieces
}

/// An upper bound of a row's characters, its end included, for any number that fits.
fn row_size(piece: &str) -> usize {
    piece.chars().count() + 16
}

fn row(number: u64, part: usize, piece: &str) -> String {
    match part {
        0 => format!("{number:>6}\t{piece}"),
        part => format!("{:>6}\t{piece}", format!("{number}.{part}")),
    }
}

/// The header form of the reference (behaviour.md 3.2).
pub(super) fn plain(page: &TextPage, offset: i64) -> Page {
    const FIT: &str = "[The text is cut to fit. Lines of this length are read more easily once reformatted.]\n";
    let clamped = before_start(offset).map(|said| format!("[{said}]\n")).unwrap_or_default();
    let header = |lines: u64, extra: &str| {
        let end = page.start_line + lines.max(1) - 1;
        let next = if end < page.total_lines { format!(" | next offset {end}") } else { String::new() };
        format!("@@ lines {}-{end} of {}{next}{extra} @@\n", page.start_line, page.total_lines)
    };
    let whole = format!("{clamped}{}{}", header(page.lines.len() as u64, ""), page.lines.join("\n"));
    if whole.chars().count() < RESULT_CHARS && !page.cut {
        return Page { text: whole, lines: page.lines.len(), cut: false };
    }
    let budget = RESULT_CHARS.saturating_sub(clamped.len() + FIT.len() + NOTE_CHARS / 2);
    let mut used = 0;
    let fitting = page
        .lines
        .iter()
        .take_while(|line| {
            used += line.chars().count() + 1;
            used <= budget
        })
        .count();
    if fitting > 0 {
        let header = header(fitting as u64, " | truncated due to size");
        let lines = page.lines.get(..fitting).unwrap_or_default().join("\n");
        return Page { text: format!("{clamped}{FIT}{header}{lines}"), lines: fitting, cut: true };
    }
    let line = page.lines.first().map(String::as_str).unwrap_or_default();
    let length = line.chars().count();
    let header = |shown: usize| {
        format!(
            "@@ lines {0}-{0} of {1} | truncated mid-line | {shown} of {length} chars @@\n",
            page.start_line, page.total_lines
        )
    };
    // The count of characters is part of the header that takes from it; all counts near the cap have five digits.
    let room = RESULT_CHARS.saturating_sub(clamped.len() + FIT.len() + header(RESULT_CHARS - 1).len()).min(length);
    let shown: String = line.chars().take(room).collect();
    Page { text: format!("{clamped}{FIT}{}{shown}", header(room)), lines: 1, cut: true }
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
