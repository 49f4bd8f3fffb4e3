use std::io::{self, Read};

use memchr::memchr_iter;

use super::Budget;

/// Turns every CR that no LF follows into an LF, so that a searcher which knows one line end sees the lines that
/// reading and editing see. Nothing moves: one byte for one byte. `next` is what follows `bytes`.
pub(super) fn unify(bytes: &mut [u8], next: Option<u8>) {
    let lone: Vec<usize> =
        memchr_iter(b'\r', bytes).filter(|at| bytes.get(at + 1).copied().or(next) != Some(b'\n')).collect();
    for at in lone {
        if let Some(byte) = bytes.get_mut(at) {
            *byte = b'\n';
        }
    }
}

/// A large file as a searcher reads it: with line ends unified, and over when the budget is.
pub(super) struct Unified<'a, R> {
    inner: R,
    budget: &'a Budget,
    /// Read to see what follows a CR, and not given out yet.
    ahead: Option<u8>,
}

impl<'a, R: Read> Unified<'a, R> {
    pub(super) fn new(inner: R, budget: &'a Budget) -> Self {
        Self { inner, budget, ahead: None }
    }
}

impl<R: Read> Read for Unified<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.budget.is_spent() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let got = match (self.ahead.take(), buffer.first_mut()) {
            (Some(ahead), Some(first)) => {
                *first = ahead;
                1
            }
            _ => self.inner.read(buffer)?,
        };
        let filled = buffer.get_mut(..got).unwrap_or_default();
        if filled.ends_with(b"\r") {
            let mut ahead = [0];
            if self.inner.read(&mut ahead)? == 1 {
                self.ahead = ahead.first().copied();
            }
        }
        unify(filled, self.ahead);
        Ok(got)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::time::Duration;

    use pretty_assertions::assert_eq;
    use proptest::prelude::*;
    use tokio_util::sync::CancellationToken;

    use super::{Budget, Unified, unify};

    /// Gives at most `step` bytes at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let step = self.1.min(buffer.len());
            (&mut self.0).take(step as u64).read(buffer)
        }
    }

    #[test]
    fn only_lone_carriage_returns_become_line_feeds() {
        let mut bytes = *b"a\rb\r\nc\n\r\r\nd\r";
        unify(&mut bytes, None);
        assert_eq!(&bytes, b"a\nb\r\nc\n\n\r\nd\n");
    }

    proptest! {
        #[test]
        fn chunks_make_no_difference(text in "[ab\r\n]{0,40}", step in 1_usize..9) {
            let mut whole = text.clone().into_bytes();
            unify(&mut whole, None);
            let budget = Budget::new(Duration::from_secs(60), &CancellationToken::new());
            let mut chunked = Vec::new();
            Unified::new(Slow(text.as_bytes(), step), &budget).read_to_end(&mut chunked).unwrap();
            prop_assert_eq!(chunked, whole);
        }
    }
}
