//! Frames that are lines, without IO: any split of the same bytes gives the same frames. For servers that stream one JSON
//! value a line instead of server-sent events.

use memchr::memchr;

use crate::sse::{Flow, Frame, Malformed, Sizes};

#[derive(Debug)]
pub(crate) struct LineFramer {
    sizes: Sizes,
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
    total: usize,
}

impl LineFramer {
    pub(crate) fn new(sizes: Sizes) -> Self {
        Self { sizes, line: Vec::new(), total: 0 }
    }

    /// Takes the next bytes and hands every line that they complete to `on`. Empty lines are life and nothing else.
    pub(crate) fn feed<E: From<Malformed>>(
        &mut self,
        mut bytes: &[u8],
        on: &mut impl FnMut(Frame<'_>) -> Result<Flow, E>,
    ) -> Result<Flow, E> {
        while let Some(end) = memchr(b'\n', bytes) {
            let (head, rest) = bytes.split_at(end);
            bytes = rest.get(1..).unwrap_or_default();
            self.keep(head)?;
            let line = std::mem::take(&mut self.line);
            self.total += line.len() + 1;
            if self.total > self.sizes.stream {
                return Err(Malformed::StreamTooLarge.into());
            }
            let data = std::str::from_utf8(line.trim_ascii()).map_err(Malformed::from)?;
            let flow = if data.is_empty() { Flow::More } else { on(Frame { event: "", data })? };
            self.line = line;
            self.line.clear();
            if flow == Flow::Stop {
                return Ok(flow);
            }
        }
        self.keep(bytes)?;
        Ok(Flow::More)
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        if self.line.len() + bytes.len() > self.sizes.event {
            return Err(Malformed::EventTooLarge);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn lines(chunks: &[&str]) -> Result<Vec<String>, Malformed> {
        let mut framer = LineFramer::new(Sizes { event: 8, stream: 20 });
        let mut lines = Vec::new();
        for chunk in chunks {
            framer.feed::<Malformed>(chunk.as_bytes(), &mut |frame| {
                lines.push(frame.data.to_owned());
                Ok(Flow::More)
            })?;
        }
        Ok(lines)
    }

    #[test]
    fn lines_do_not_depend_on_the_split_and_the_last_needs_its_end() {
        let whole = ["a\r\n\nbé\nrest"];
        assert_eq!(lines(&whole).unwrap(), ["a", "bé"]);
        assert_eq!(lines(&["a", "\r", "\n\nb", "é\nre", "st"]).unwrap(), ["a", "bé"]);
    }

    #[test]
    fn sizes_are_kept_while_a_line_grows() {
        assert_eq!(lines(&["12345", "6789"]), Err(Malformed::EventTooLarge));
        assert_eq!(lines(&["1234567\n", "1234567\n", "1234567\n"]), Err(Malformed::StreamTooLarge));
    }
}
