//! One HTTP/1.1 request to a server on this machine, with a deadline. The WebDriver protocol needs no more.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Sends `body` and returns the status and the whole answer.
pub fn request(port: u16, method: &str, path: &str, body: &str, patience: Duration) -> Result<(u16, String), String> {
    let end = Instant::now() + patience;
    let fault = |error: std::io::Error| format!("{method} {path}: {error}");
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut stream = TcpStream::connect_timeout(&address, patience).map_err(fault)?;
    stream.set_write_timeout(Some(patience)).map_err(fault)?;
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).map_err(fault)?;
    let mut answer = Vec::new();
    let mut chunk = [0_u8; 16 * 1024];
    loop {
        if let Some(whole) = parse(&answer) {
            return whole;
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(format!("{method} {path}: no answer within {patience:?}"));
        }
        stream.set_read_timeout(Some(left)).map_err(fault)?;
        match stream.read(&mut chunk) {
            Ok(0) => return Err(format!("{method} {path}: the connection ended early")),
            Ok(count) => answer.extend_from_slice(&chunk[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(fault(error)),
        }
    }
}

/// The status and body once all of it is there.
fn parse(answer: &[u8]) -> Option<Result<(u16, String), String>> {
    let head_end = answer.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&answer[..head_end]).to_ascii_lowercase();
    let Some(status) = head.split(' ').nth(1).and_then(|status| status.parse().ok()) else {
        return Some(Err(format!("not an HTTP answer: {head}")));
    };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
    let Some(length) = length else { return Some(Err(format!("an answer without a length: {head}"))) };
    let body = answer.get(head_end + 4..head_end + 4 + length)?;
    Some(Ok((status, String::from_utf8_lossy(body).into_owned())))
}

#[test]
fn an_answer_counts_only_when_it_is_whole() {
    let whole = b"HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nhello";
    for cut in 0..whole.len() {
        assert!(parse(&whole[..cut]).is_none(), "cut at {cut}");
    }
    assert_eq!(parse(whole), Some(Ok((404, "hello".to_owned()))));
}
