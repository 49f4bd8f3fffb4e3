use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// A server of tools that wants somebody to sign in, with the authorisation server beside it, over real HTTP.
///
/// It has one tool, `stamp`. It runs on threads of its own, so that a test may block.
pub struct ToolOffice {
    /// `http://127.0.0.1:PORT`.
    pub address: String,
    desk: Arc<Desk>,
}

/// What a request asked for and brought along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfficeRequest {
    pub path: String,
    /// Its body, where that is a form.
    pub form: HashMap<String, String>,
}

#[derive(Default)]
struct Desk {
    /// The token that opens the door now.
    valid: Mutex<String>,
    given: Mutex<u32>,
    asked: Mutex<Vec<OfficeRequest>>,
    /// Where its page for signing in is, in place of its own.
    page: Mutex<Option<String>>,
    turns_strangers_away: AtomicBool,
}

impl ToolOffice {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let desk = Arc::new(Desk::default());
        let (known, at) = (Arc::clone(&desk), address.clone());
        // It ends with the test's process.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (desk, at) = (Arc::clone(&known), at.clone());
                std::thread::spawn(move || serve(&stream, &desk, &at));
            }
        });
        Self { address, desk }
    }

    /// Where its tools are.
    pub fn url(&self) -> String {
        format!("{}/mcp", self.address)
    }

    /// Takes back every token it gave.
    pub fn revoke(&self) {
        "revoked".clone_into(&mut self.desk.valid.lock().unwrap());
    }

    /// Takes this token from now on, and no other.
    pub fn open_for(&self, token: &str) {
        token.clone_into(&mut self.desk.valid.lock().unwrap());
    }

    /// Sends whoever wants to sign in to `page`, or to its own again.
    pub fn send_to(&self, page: Option<&str>) {
        *self.desk.page.lock().unwrap() = page.map(ToOwned::to_owned);
    }

    /// Takes no programs that it does not know.
    pub fn turn_strangers_away(&self) {
        self.desk.turns_strangers_away.store(true, Ordering::SeqCst);
    }

    /// What was asked of `path`.
    pub fn asked(&self, path: &str) -> Vec<OfficeRequest> {
        let asked = self.desk.asked.lock().unwrap();
        asked.iter().filter(|request| request.path == path).cloned().collect()
    }

    /// A browser at the page `url`, where a person says yes. Gives the page that it ends at.
    pub fn sign_in(url: &str) -> String {
        Self::answer(url, |state| format!("code=good-code&state={state}"))
    }

    /// A browser at the page `url` that goes back with what `said` makes of the sign-in's state.
    pub fn answer(url: &str, said: impl Fn(&str) -> String) -> String {
        let asked = form(url.split_once('?').unwrap().1);
        let back = &asked["redirect_uri"];
        Self::get(&format!("{back}?{}", said(&asked["state"])))
    }

    /// What a sign-in page was asked with.
    pub fn asked_of(url: &str) -> HashMap<String, String> {
        form(url.split_once('?').unwrap().1)
    }

    /// What is at an address of this machine, head and all.
    pub fn get(url: &str) -> String {
        let (host, target) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        write!(stream, "GET /{target} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
        let mut page = String::new();
        stream.read_to_string(&mut page).unwrap();
        page
    }
}

/// One connection, request after request, until either side has enough.
fn serve(stream: &TcpStream, desk: &Desk, at: &str) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut first, mut length, mut token) = (String::new(), 0, String::new());
        reader.read_line(&mut first).ok().filter(|read| *read > 0)?;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim().split_once(':') else { break };
            match name.to_lowercase().as_str() {
                "content-length" => length = value.trim().parse().ok()?,
                "authorization" => value.trim().trim_start_matches("Bearer ").clone_into(&mut token),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let mut words = first.split_whitespace();
        let (method, path) = (words.next()?, words.next()?);
        let answer = desk.respond(at, (method, path), &token, &body);
        let mut stream = stream;
        stream.write_all(answer.as_bytes()).ok()?;
    }
}

impl Desk {
    fn respond(&self, at: &str, (method, path): (&str, &str), token: &str, body: &[u8]) -> String {
        let form = form(&String::from_utf8_lossy(body));
        self.asked.lock().unwrap().push(OfficeRequest { path: path.to_owned(), form: form.clone() });
        match (method, path) {
            ("POST", "/mcp") if *self.valid.lock().unwrap() != token || token.is_empty() => {
                let challenge = format!("Bearer resource_metadata=\"{at}/.well-known/oauth-protected-resource\"");
                reply("401 Unauthorized", &format!("WWW-Authenticate: {challenge}\r\n"), "")
            }
            ("POST", "/mcp") => tools(&serde_json::from_slice(body).unwrap()),
            ("GET", path) if path.starts_with("/.well-known/oauth-protected-resource") => {
                json_reply(&json!({ "resource": format!("{at}/mcp"), "authorization_servers": [at] }))
            }
            ("GET", "/.well-known/oauth-authorization-server") => json_reply(&self.known(at)),
            ("POST", "/register") => {
                let asked: Value = serde_json::from_slice(body).unwrap();
                json_reply(&json!({ "client_id": "client-1", "redirect_uris": asked["redirect_uris"] }))
            }
            ("POST", "/token") => self.give(&form),
            ("GET", "/mcp") => reply("405 Method Not Allowed", "", ""),
            ("DELETE", "/mcp") => reply("200 OK", "", ""),
            _ => reply("404 Not Found", "", ""),
        }
    }

    fn known(&self, at: &str) -> Value {
        let page = self.page.lock().unwrap().clone().unwrap_or_else(|| format!("{at}/authorize"));
        let mut known = json!({
            "issuer": at,
            "authorization_endpoint": page,
            "token_endpoint": format!("{at}/token"),
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
        });
        if !self.turns_strangers_away.load(Ordering::SeqCst) {
            known["registration_endpoint"] = json!(format!("{at}/register"));
        }
        known
    }

    fn give(&self, form: &HashMap<String, String>) -> String {
        let knows_code = form.get("code").is_some_and(|code| code == "good-code");
        let is_refresh = form.get("refresh_token").is_some_and(|token| token == "refresh-1");
        if !knows_code && !is_refresh {
            return reply("400 Bad Request", "Content-Type: application/json\r\n", r#"{"error":"invalid_grant"}"#);
        }
        let mut given = self.given.lock().unwrap();
        *given += 1;
        let token = format!("token-{given}");
        self.valid.lock().unwrap().clone_from(&token);
        json_reply(&json!({
            "access_token": token, "token_type": "Bearer", "expires_in": 3_600, "refresh_token": "refresh-1",
        }))
    }
}

/// The least a server of tools has to say.
fn tools(request: &Value) -> String {
    let Some(id) = request.get("id") else { return reply("202 Accepted", "", "") };
    let result = match request["method"].as_str().unwrap() {
        "initialize" => json!({
            "protocolVersion": "2025-06-18",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "office", "version": "1" },
        }),
        "tools/list" => {
            json!({ "tools": [{ "name": "stamp", "description": "Stamps.", "inputSchema": { "type": "object" } }] })
        }
        "tools/call" => json!({ "content": [{ "type": "text", "text": "stamped" }] }),
        _ => {
            let error = json!({ "code": -32601, "message": "unknown" });
            return json_reply(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
        }
    };
    json_reply(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

fn json_reply(value: &Value) -> String {
    reply("200 OK", "Content-Type: application/json\r\n", &value.to_string())
}

fn reply(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len())
}

/// A form, or a query, as its fields.
fn form(text: &str) -> HashMap<String, String> {
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (plain(name), plain(value))).collect()
}

/// Without the escapes of addresses.
fn plain(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        let escaped = (*byte == b'%').then(|| after.get(..2)).flatten();
        let escaped = escaped.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        match escaped {
            Some(escaped) => {
                bytes.push(escaped);
                rest = after.get(2..).unwrap_or_default();
            }
            None => bytes.push(if *byte == b'+' { b' ' } else { *byte }),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
