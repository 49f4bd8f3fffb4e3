//! Standard input, line by line, none of them longer than can be held.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// Bytes of the longest line: several times what the tools take as one argument.
pub(super) const LONGEST: usize = 64 << 20;

/// A line with its number, from 1.
#[derive(Debug, PartialEq)]
pub(super) enum Line<'a> {
    Whole(&'a [u8], u64),
    /// It was passed over.
    TooLong(u64),
    End,
}

pub(super) struct Lines<R> {
    input: BufReader<R>,
    longest: usize,
    line: Vec<u8>,
    number: u64,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// The lines of `input` that have at most `longest` bytes.
    pub(super) fn of(input: R, longest: usize) -> Self {
        Self { input: BufReader::new(input), longest, line: Vec::new(), number: 0 }
    }

    /// The next line, without its end.
    pub(super) async fn next(&mut self) -> io::Result<Line<'_>> {
        self.line.clear();
        let (mut has_begun, mut is_too_long) = (false, false);
        loop {
            let buffer = self.input.fill_buf().await?;
            if buffer.is_empty() {
                break;
            }
            has_begun = true;
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let part = end.map_or(buffer, |end| &buffer[..end]);
            is_too_long |= self.line.len() + part.len() > self.longest;
            if is_too_long {
                self.line = Vec::new();
            } else {
                self.line.extend_from_slice(part);
            }
            let taken = part.len() + usize::from(end.is_some());
            self.input.consume(taken);
            if end.is_some() {
                break;
            }
        }
        if !has_begun {
            return Ok(Line::End);
        }
        self.number += 1;
        Ok(if is_too_long { Line::TooLong(self.number) } else { Line::Whole(&self.line, self.number) })
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[tokio::test]
    async fn a_line_that_is_too_long_is_passed_over_and_the_next_is_read() {
        let long = "x".repeat(100_000);
        let text = format!("one\n\n{long}\nfour\n12345\n123456\nlast");
        let mut lines = Lines::of(text.as_bytes(), 5);
        assert_eq!(lines.next().await.unwrap(), Line::Whole(b"one", 1));
        assert_eq!(lines.next().await.unwrap(), Line::Whole(b"", 2));
        assert_eq!(lines.next().await.unwrap(), Line::TooLong(3));
        assert_eq!(lines.line.capacity(), 0, "nothing of it is kept");
        assert_eq!(lines.next().await.unwrap(), Line::Whole(b"four", 4));
        assert_eq!(lines.next().await.unwrap(), Line::Whole(b"12345", 5));
        assert_eq!(lines.next().await.unwrap(), Line::TooLong(6));
        assert_eq!(lines.next().await.unwrap(), Line::Whole(b"last", 7));
        assert_eq!(lines.next().await.unwrap(), Line::End);
    }
}
