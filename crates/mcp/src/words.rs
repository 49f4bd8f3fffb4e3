//! The last words of a server: the tail of what it wrote to its standard error.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::text;

const KEPT: usize = 4 * 1024;
/// Characters of it in a sentence.
const SHOWN: usize = 300;

#[derive(Clone, Debug, Default)]
pub(crate) struct LastWords(Arc<Mutex<VecDeque<u8>>>);

impl LastWords {
    /// Reads to the end and keeps the tail, so that the server never waits for a reader.
    pub(crate) async fn listen(self, mut pipe: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; 16 * 1024];
        while let Ok(got @ 1..) = pipe.read(&mut buffer).await {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend(buffer.get(got.saturating_sub(KEPT)..got).unwrap_or_default());
            let over = kept.len().saturating_sub(KEPT);
            kept.drain(..over);
        }
    }

    /// Its last lines on one line, or nothing where it said nothing.
    pub(crate) fn get(&self) -> Option<String> {
        let bytes: Vec<u8> = self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        let said = text::line(&String::from_utf8_lossy(&bytes), KEPT);
        let length = said.chars().count();
        let tail: String = said.chars().skip(length.saturating_sub(SHOWN)).collect();
        (!tail.is_empty()).then_some(if length > SHOWN { format!("…{tail}") } else { tail })
    }
}

#[cfg(test)]
mod tests {
    use super::LastWords;

    #[tokio::test]
    async fn only_the_tail_is_kept_and_it_is_clean() {
        let words = LastWords::default();
        let said = format!("{}\u{1b}[31mthe end\u{1b}[0m\n", "filler line\n".repeat(10_000));
        words.clone().listen(said.as_bytes()).await;
        let kept = words.get().unwrap();
        assert!(kept.ends_with("the end") && kept.starts_with('…') && kept.chars().count() == 301, "{kept}");
        assert_eq!(LastWords::default().get(), None);
    }
}
