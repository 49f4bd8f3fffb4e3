//! As much of the X11 protocol as it takes to ask a window to close, the way a window manager does when a person clicks
//! its cross. WebDriver's own "close window" only reaches the page.

use std::io::{Error, Read, Result, Write};
use std::os::unix::net::UnixStream;

const VIEWABLE: u8 = 2;

/// Asks the oldest visible window of `display` (`:1`) to close. `false` if no window takes such a request.
pub fn ask_to_close(display: &str) -> Result<bool> {
    let mut server = Server::connect(display)?;
    let (protocols, delete) = (server.atom("WM_PROTOCOLS")?, server.atom("WM_DELETE_WINDOW")?);
    let window = server.closable()?;
    if let Some(window) = window {
        server.send_message(window, protocols, delete)?;
    }
    Ok(window.is_some())
}

/// The token with which the oldest visible window of `display` came to the front; empty where it had none.
pub fn token(display: &str) -> Result<String> {
    let mut server = Server::connect(display)?;
    let id = server.atom("_NET_STARTUP_ID")?;
    match server.closable()? {
        Some(window) => Ok(String::from_utf8_lossy(&server.property(window, id)?).into_owned()),
        None => Ok(String::new()),
    }
}

/// Takes the keyboard from every window of `display`.
pub fn focus_nothing(display: &str) -> Result<()> {
    let mut server = Server::connect(display)?;
    let (none, current_time) = (0_u32, 0_u32);
    let body = [none.to_le_bytes(), current_time.to_le_bytes()].concat();
    server.request(42, &body)?;
    server.ask(43, &[]).map(drop)
}

struct Server {
    stream: UnixStream,
    root: u32,
}

impl Server {
    fn connect(display: &str) -> Result<Self> {
        let number = display.trim_start_matches(':');
        let mut stream = UnixStream::connect(format!("/tmp/.X11-unix/X{number}"))?;
        stream.set_read_timeout(Some(std::time::Duration::from_secs(10)))?;
        // Little-endian, protocol 11.0, no authorisation.
        stream.write_all(&[b'l', 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0])?;
        let mut head = [0; 8];
        stream.read_exact(&mut head)?;
        let mut body = vec![0; usize::from(u16::from_le_bytes([head[6], head[7]])) * 4];
        stream.read_exact(&mut body)?;
        if head[0] != 1 {
            return Err(Error::other(format!("the X server refused: {}", String::from_utf8_lossy(&body))));
        }
        let vendor = usize::from(u16::from_le_bytes([body[16], body[17]])).next_multiple_of(4);
        let formats = usize::from(body[21]) * 8;
        Ok(Self { stream, root: long(&body, 32 + vendor + formats) })
    }

    fn atom(&mut self, name: &str) -> Result<u32> {
        let mut body = Vec::from(u16::try_from(name.len()).map_err(Error::other)?.to_le_bytes());
        body.extend([0, 0]);
        body.extend(name.as_bytes());
        Ok(long(&self.ask(16, &body)?, 8))
    }

    /// The children of the root window, oldest first.
    fn top_windows(&mut self) -> Result<Vec<u32>> {
        let root = self.root;
        let reply = self.ask(15, &root.to_le_bytes())?;
        Ok((32..reply.len()).step_by(4).map(|at| long(&reply, at)).collect())
    }

    fn is_viewable(&mut self, window: u32) -> Result<bool> {
        Ok(self.ask(3, &window.to_le_bytes())?[26] == VIEWABLE)
    }

    /// The oldest visible window that takes requests to close.
    fn closable(&mut self) -> Result<Option<u32>> {
        let (protocols, delete) = (self.atom("WM_PROTOCOLS")?, self.atom("WM_DELETE_WINDOW")?);
        for window in self.top_windows()? {
            let taken = self.property(window, protocols)?;
            if self.is_viewable(window)? && taken.chunks_exact(4).any(|word| long(word, 0) == delete) {
                return Ok(Some(window));
            }
        }
        Ok(None)
    }

    /// The bytes of a property; none if the window has none.
    fn property(&mut self, window: u32, property: u32) -> Result<Vec<u8>> {
        let (any_type, offset, length) = (0_u32, 0_u32, 256_u32);
        let body: Vec<u8> =
            [window, property, any_type, offset, length].iter().flat_map(|word| word.to_le_bytes()).collect();
        let reply = self.ask(20, &body)?;
        let bytes = usize::try_from(long(&reply, 16)).unwrap_or_default() * usize::from(reply[1]) / 8;
        Ok(reply[32..32 + bytes].to_vec())
    }

    fn send_message(&mut self, window: u32, kind: u32, first: u32) -> Result<()> {
        let (client_message, format) = (33, 32);
        let mut event = vec![client_message, format, 0, 0];
        event.extend([window, kind, first, 0, 0, 0, 0].iter().flat_map(|word| word.to_le_bytes()));
        let mut body: Vec<u8> = [window, 0].iter().flat_map(|word| word.to_le_bytes()).collect();
        body.extend(event);
        self.request(25, &body)?;
        // An answered request behind it: once it is back, the message has been passed on.
        self.ask(43, &[]).map(drop)
    }

    fn request(&mut self, opcode: u8, body: &[u8]) -> Result<()> {
        let words = u16::try_from(1 + body.len().div_ceil(4)).map_err(Error::other)?;
        let [low, high] = words.to_le_bytes();
        let mut request = vec![opcode, 0, low, high];
        request.extend(body);
        request.resize(usize::from(words) * 4, 0);
        self.stream.write_all(&request)
    }

    /// The whole reply to a request; events that come before it are of no interest.
    fn ask(&mut self, opcode: u8, body: &[u8]) -> Result<Vec<u8>> {
        self.request(opcode, body)?;
        loop {
            let mut reply = vec![0; 32];
            self.stream.read_exact(&mut reply)?;
            match reply[0] {
                0 => return Err(Error::other(format!("X error {} to request {opcode}", reply[1]))),
                1 => {
                    let mut rest = vec![0; usize::try_from(long(&reply, 4)).unwrap_or_default() * 4];
                    self.stream.read_exact(&mut rest)?;
                    reply.extend(rest);
                    return Ok(reply);
                }
                _ => {}
            }
        }
    }
}

fn long(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
