use bosun_backend::{Backend, BackendError, ReadContent, ReadWindow, TextPage, VirtualPath};
use bosun_protocol::{PreviewBody, TextPlace, TextRow};

use crate::SessionError;

/// Rows of one look at a text.
const ROWS: usize = 2_000;
/// Bytes of a line in one row; what is longer goes on in further rows, as it does for the agent.
const ROW: usize = 1_000;

/// The rows of a text from `from` on.
pub(super) async fn look(
    backend: &dyn Backend,
    path: &VirtualPath,
    from: TextPlace,
) -> Result<PreviewBody, SessionError> {
    let window = ReadWindow { offset: u64::from(from.line.saturating_sub(1)), limit: ROWS as u64 };
    match backend.read(path, window).await {
        Ok(read) => Ok(match read.content {
            ReadContent::Text(page) => rows_of(&page, from.part),
            ReadContent::Bytes { .. } => PreviewBody::Binary,
        }),
        Err(BackendError::NotText { .. }) => Ok(PreviewBody::Binary),
        Err(BackendError::TooLarge { .. }) => Ok(PreviewBody::TooLarge),
        Err(error) => Err(error.into()),
    }
}

/// The first line from its part `first` on, and what follows as far as there is room.
fn rows_of(page: &TextPage, first: u32) -> PreviewBody {
    let number = |line: u64| u32::try_from(line).unwrap_or(u32::MAX);
    // Of a line that the page broke off there is more in a page that begins with it.
    let shown = page.lines.len() - usize::from(page.cut && page.lines.len() > 1);
    let behind = page.start_line + shown as u64;
    let lines = page.lines.iter().take(shown).enumerate();
    let mut all = lines.flat_map(|(at, text)| {
        let line = number(page.start_line + at as u64);
        parts(text, if at == 0 { first } else { 0 }).map(move |(part, text)| (TextPlace { line, part }, text))
    });
    let row = |(TextPlace { line, part }, text): (TextPlace, &str)| TextRow { line, part, text: text.to_owned() };
    let rows: Vec<TextRow> = all.by_ref().take(ROWS).map(row).collect();
    let left = all.next().map(|(place, _)| place);
    let following = (behind <= page.total_lines).then(|| TextPlace { line: number(behind), part: 0 });
    let cut = page.cut && page.lines.len() == 1 && left.is_none();
    PreviewBody::Text { rows, total: number(page.total_lines), next: left.or(following), cut }
}

/// The parts of a line from `first` on. Where a part begins is known without those before it.
fn parts(line: &str, first: u32) -> impl Iterator<Item = (u32, &str)> {
    let edge = move |part: u32| line.floor_char_boundary((part as usize).saturating_mul(ROW));
    let count = u32::try_from(line.len().div_ceil(ROW).max(1)).unwrap_or(u32::MAX);
    (first..count).map(move |part| (part, line.get(edge(part)..edge(part + 1)).unwrap_or_default()))
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
