//! As much of HTTP/1.1 as a model client uses: bodies with a length in, lengths or chunks out, connections kept.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const MAX_HEAD: usize = 64 * 1024;
/// Bytes gathered before they are written, when nothing asks for them earlier.
const WRITE_AT: usize = 16 * 1024;

#[derive(Debug)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Request {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// One client. Bytes written are gathered until [`Self::flush`] or until they are many.
pub(super) struct Connection {
    pub(super) number: u64,
    socket: TcpStream,
    input: Vec<u8>,
    output: Vec<u8>,
}

impl Connection {
    pub(super) fn new(socket: TcpStream, number: u64) -> Self {
        // Deltas must leave when they are written, or gates would mean little.
        socket.set_nodelay(true).ok();
        Self { number, socket, input: Vec::new(), output: Vec::with_capacity(WRITE_AT * 2) }
    }

    /// The next request, or `None` when the client has closed.
    pub(super) async fn request(&mut self) -> io::Result<Option<Request>> {
        let end = loop {
            if let Some(end) = find(&self.input, b"\r\n\r\n") {
                break end + 4;
            }
            if self.input.len() > MAX_HEAD {
                return Err(invalid("the request's head is too long"));
            }
            if self.socket.read_buf(&mut self.input).await? == 0 {
                return Ok(None);
            }
        };
        let head = std::str::from_utf8(&self.input[..end]).map_err(|_| invalid("the head is not text"))?;
        let mut request = parse_head(head)?;
        if request.header("transfer-encoding").is_some() {
            return Err(invalid("request bodies must have a length"));
        }
        let length = match request.header("content-length") {
            Some(length) => length.parse().map_err(|_| invalid("a content-length that is no number"))?,
            None => 0,
        };
        if request.header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
            self.socket.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
        }
        self.input.drain(..end);
        while self.input.len() < length {
            if self.socket.read_buf(&mut self.input).await? == 0 {
                return Err(invalid("the body ended early"));
            }
        }
        let rest = self.input.split_off(length);
        request.body = std::mem::replace(&mut self.input, rest);
        Ok(Some(request))
    }

    /// A whole answer with a length.
    pub(super) async fn respond(&mut self, status: u16, headers: &[(String, String)], body: &[u8]) -> io::Result<()> {
        self.head(status, headers, &format!("content-length: {}", body.len()));
        self.output.extend_from_slice(body);
        self.flush().await
    }

    /// The head of an answer in chunks.
    pub(super) fn begin_chunks(&mut self, headers: &[(String, String)]) {
        self.head(200, headers, "transfer-encoding: chunked");
    }

    pub(super) async fn chunk(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.output.extend_from_slice(format!("{:x}\r\n", bytes.len()).as_bytes());
        self.output.extend_from_slice(bytes);
        self.output.extend_from_slice(b"\r\n");
        if self.output.len() >= WRITE_AT { self.flush().await } else { Ok(()) }
    }

    pub(super) async fn end_chunks(&mut self) -> io::Result<()> {
        self.output.extend_from_slice(b"0\r\n\r\n");
        self.flush().await
    }

    pub(super) async fn flush(&mut self) -> io::Result<()> {
        self.socket.write_all(&self.output).await?;
        self.output.clear();
        Ok(())
    }

    /// Resolves when the client has closed its side.
    pub(super) async fn gone(&self) {
        let mut byte = [0];
        if matches!(self.socket.peek(&mut byte).await, Ok(1)) {
            // It sent the next request already; then it is not gone, and this must not spin.
            std::future::pending().await
        }
    }

    fn head(&mut self, status: u16, headers: &[(String, String)], framing: &str) {
        let mut head = format!("HTTP/1.1 {status} {}\r\n{framing}\r\n", reason(status));
        for (name, value) in headers {
            head.push_str(name);
            head.push_str(": ");
            head.push_str(value);
            head.push_str("\r\n");
        }
        head.push_str("\r\n");
        self.output.extend_from_slice(head.as_bytes());
    }
}

fn parse_head(head: &str) -> io::Result<Request> {
    let mut lines = head.split("\r\n").filter(|line| !line.is_empty());
    let mut first = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(path)) = (first.next(), first.next()) else {
        return Err(invalid("no request line"));
    };
    let headers = lines
        .map(|line| line.split_once(':').map(|(name, value)| (name.to_owned(), value.trim().to_owned())))
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| invalid("a header without a colon"))?;
    Ok(Request { method: method.into(), path: path.into(), headers, body: Vec::new() })
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        301 => "Moved Permanently",
        302 => "Found",
        307 => "Temporary Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        413 => "Content Too Large",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Status",
    }
}
