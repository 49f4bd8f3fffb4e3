//! A server that wants somebody to sign in, with the authorisation server beside it, over real HTTP on this machine.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "tests speak HTTP by hand and fail loudly"
)]

#[allow(dead_code, reason = "each file of tests uses a part of it")]
#[path = "support/stage.rs"]
mod stage;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use bosun_mcp::{Health, McpServers, ServerConfig, ServerConfigs, SignInError, TokenStore, Unkept, UnkeptTokens};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// What the servers were asked and what they answer.
#[derive(Default)]
struct Office {
    /// The token that opens the door now.
    valid: Mutex<String>,
    given: Mutex<u32>,
    /// Paths asked for, with the form that came along.
    asked: Mutex<Vec<(String, HashMap<String, String>)>>,
    /// Where its page for signing in is, in place of its own.
    page: Mutex<Option<String>>,
    registers: Mutex<bool>,
}

struct Desk {
    address: String,
    office: Arc<Office>,
    _serving: JoinSet<()>,
}

impl Desk {
    async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let office = Arc::new(Office { registers: Mutex::new(true), ..Office::default() });
        let mut serving = JoinSet::new();
        let (known, at) = (Arc::clone(&office), address.clone());
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (office, at) = (Arc::clone(&known), at.clone());
                connections.spawn(async move { serve(stream, &office, &at).await });
            }
        });
        Self { address, office, _serving: serving }
    }

    fn servers(&self, tokens: &Arc<dyn TokenStore>) -> McpServers {
        let config = ServerConfig { url: Some(format!("{}/mcp", self.address)), ..ServerConfig::default() };
        let folder = std::env::temp_dir();
        let configs = ServerConfigs::from([("office".to_owned(), config)]);
        McpServers::new(configs, &folder, Arc::new(Unkept::default())).unwrap().keeping(tokens)
    }

    fn asked(&self, path: &str) -> Vec<HashMap<String, String>> {
        let asked = self.office.asked.lock().unwrap();
        asked.iter().filter(|(known, _)| known == path).map(|(_, form)| form.clone()).collect()
    }
}

async fn serve(stream: TcpStream, office: &Office, at: &str) {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut first, mut length, mut token) = (String::new(), 0, String::new());
        if reader.read_line(&mut first).await.unwrap_or(0) == 0 {
            return;
        }
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).await.unwrap();
            let Some((name, value)) = line.trim().split_once(':') else { break };
            match name.to_lowercase().as_str() {
                "content-length" => length = value.trim().parse().unwrap(),
                "authorization" => token = value.trim().trim_start_matches("Bearer ").to_owned(),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).await.unwrap();
        let mut words = first.split_whitespace();
        let (method, path) = (words.next().unwrap().to_owned(), words.next().unwrap().to_owned());
        let answer = respond(office, at, (&method, &path), &token, &body);
        reader.get_mut().write_all(answer.as_bytes()).await.unwrap();
    }
}

fn respond(office: &Office, at: &str, (method, path): (&str, &str), token: &str, body: &[u8]) -> String {
    let form: HashMap<String, String> = form(&String::from_utf8_lossy(body));
    office.asked.lock().unwrap().push((path.to_owned(), form.clone()));
    match (method, path) {
        ("POST", "/mcp") if *office.valid.lock().unwrap() != token || token.is_empty() => {
            let challenge = format!("Bearer resource_metadata=\"{at}/.well-known/oauth-protected-resource\"");
            reply("401 Unauthorized", &format!("WWW-Authenticate: {challenge}\r\n"), "")
        }
        ("POST", "/mcp") => mcp(&serde_json::from_slice(body).unwrap()),
        ("GET", path) if path.starts_with("/.well-known/oauth-protected-resource") => {
            json_reply(&json!({"resource": format!("{at}/mcp"), "authorization_servers": [at]}))
        }
        ("GET", "/.well-known/oauth-authorization-server") => {
            let page = office.page.lock().unwrap().clone().unwrap_or_else(|| format!("{at}/authorize"));
            let mut known = json!({
                "issuer": at,
                "authorization_endpoint": page,
                "token_endpoint": format!("{at}/token"),
                "response_types_supported": ["code"],
                "grant_types_supported": ["authorization_code", "refresh_token"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none"],
            });
            if *office.registers.lock().unwrap() {
                known["registration_endpoint"] = json!(format!("{at}/register"));
            }
            json_reply(&known)
        }
        ("POST", "/register") => {
            let asked: Value = serde_json::from_slice(body).unwrap();
            json_reply(&json!({"client_id": "client-1", "redirect_uris": asked["redirect_uris"]}))
        }
        ("POST", "/token") => {
            let knows_code = form.get("code").is_some_and(|code| code == "good-code");
            let is_refresh = form.get("refresh_token").is_some_and(|token| token == "refresh-1");
            if !knows_code && !is_refresh {
                return reply("400 Bad Request", "Content-Type: application/json\r\n", r#"{"error":"invalid_grant"}"#);
            }
            let mut given = office.given.lock().unwrap();
            *given += 1;
            let token = format!("token-{given}");
            office.valid.lock().unwrap().clone_from(&token);
            json_reply(&json!({
                "access_token": token, "token_type": "Bearer", "expires_in": 3_600, "refresh_token": "refresh-1",
            }))
        }
        ("GET", "/mcp") => reply("405 Method Not Allowed", "", ""),
        ("DELETE", "/mcp") => reply("200 OK", "", ""),
        _ => reply("404 Not Found", "", ""),
    }
}

/// The least a server of tools has to say.
fn mcp(request: &Value) -> String {
    let Some(id) = request.get("id") else { return reply("202 Accepted", "", "") };
    let result = match request["method"].as_str().unwrap() {
        "initialize" => json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "office", "version": "1"},
        }),
        "tools/list" => {
            json!({"tools": [{"name": "stamp", "description": "Stamps.", "inputSchema": {"type": "object"}}]})
        }
        "tools/call" => json!({"content": [{"type": "text", "text": "stamped"}]}),
        _ => {
            let error = json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "unknown"}});
            return json_reply(&error);
        }
    };
    json_reply(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

fn json_reply(value: &Value) -> String {
    reply("200 OK", "Content-Type: application/json\r\n", &value.to_string())
}

fn reply(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len())
}

fn form(text: &str) -> HashMap<String, String> {
    let url = reqwest::Url::parse(&format!("http://x/?{text}"));
    url.map(|url| url.query_pairs().into_owned().collect()).unwrap_or_default()
}

/// What a browser brings back from the page, where the person `said` something.
async fn browse(url: &str, said: impl Fn(&str) -> String) -> String {
    let page = reqwest::Url::parse(url).unwrap();
    let of = |name: &str| page.query_pairs().find(|(key, _)| key == name).unwrap().1.into_owned();
    assert_eq!((of("response_type").as_str(), of("code_challenge_method").as_str()), ("code", "S256"));
    let back = reqwest::Url::parse(&of("redirect_uri")).unwrap();
    assert_eq!(back.host_str(), Some("127.0.0.1"));
    get(&back, &format!("{}?{}", back.path(), said(&of("state")))).await
}

async fn get(at: &reqwest::Url, target: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", at.port().unwrap())).await.unwrap();
    stream.write_all(format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

fn health(servers: &McpServers) -> Health {
    servers.views().remove(0).health
}

fn unkept() -> Arc<dyn TokenStore> {
    Arc::new(UnkeptTokens::default())
}

#[tokio::test]
async fn a_person_signs_in_and_the_server_is_there_also_after_a_restart() {
    let desk = Desk::open().await;
    let tokens = unkept();
    let servers = desk.servers(&tokens);
    servers.start().await;
    assert_eq!(health(&servers), Health::NeedsSignIn);
    let sign_in = servers.sign_in("office").await.unwrap();
    let url = sign_in.url.clone();
    assert!(url.starts_with(&format!("{}/authorize?", desk.address)), "{url}");
    let browser = async {
        let back = reqwest::Url::parse(&form(url.split_once('?').unwrap().1)["redirect_uri"]).unwrap();
        assert!(get(&back, "/favicon.ico").await.contains("404"), "a browser asks for more than it was sent for");
        browse(&url, |state| format!("code=good-code&state={state}")).await
    };
    let (finished, page) = tokio::join!(sign_in.finished(), browser);
    assert_eq!(finished, Ok(()));
    assert!(page.contains("200 OK") && page.contains("signed in"), "{page}");
    assert_eq!(health(&servers), Health::Ready { tools: 1 });
    let exchange = desk.asked("/token").remove(0);
    assert!(exchange["code_verifier"].len() >= 43 && exchange["client_id"] == "client-1", "{exchange:?}");
    servers.shut_down().await;
    // Another session, and one whose token has been taken back meanwhile: it is renewed without asking anyone.
    let again = desk.servers(&tokens);
    again.start().await;
    assert_eq!(health(&again), Health::Ready { tools: 1 });
    "revoked".clone_into(&mut desk.office.valid.lock().unwrap());
    let later = desk.servers(&tokens);
    later.start().await;
    assert_eq!(health(&later), Health::Ready { tools: 1 });
    assert_eq!(desk.asked("/token").len(), 2);
    assert_eq!(later.sign_out("office").await, Ok(()));
    assert_eq!(health(&later), Health::NeedsSignIn);
}

#[tokio::test]
async fn a_refusal_a_forged_answer_and_a_wrong_code_sign_nobody_in() {
    let desk = Desk::open().await;
    let servers = desk.servers(&unkept());
    type Said = fn(&str) -> String;
    let answers: [(Said, &str); 3] = [
        (|state| format!("error=access_denied&error_description=not%20today&state={state}"), "not today"),
        (|_| "code=good-code&state=forged".into(), "refused"),
        (|state| format!("code=bad-code&state={state}"), "refused"),
    ];
    for (said, expected) in answers {
        let sign_in = servers.sign_in("office").await.unwrap();
        let url = sign_in.url.clone();
        let (finished, page) = tokio::join!(sign_in.finished(), browse(&url, said));
        let error = finished.unwrap_err().to_string();
        assert!(error.contains(expected) && page.contains("400"), "{error}");
    }
    assert_eq!(health(&servers), Health::Stopped);
}

#[tokio::test]
async fn what_cannot_begin_says_why() {
    let desk = Desk::open().await;
    let servers = desk.servers(&unkept());
    assert!(matches!(servers.sign_in("nobody").await, Err(SignInError::Unknown { .. })));
    *desk.office.page.lock().unwrap() = Some("file:///etc/passwd".into());
    let error = servers.sign_in("office").await.err().unwrap();
    assert!(matches!(error, SignInError::Unsafe { .. } | SignInError::Unsupported { .. }), "{error}");
    *desk.office.page.lock().unwrap() = None;
    *desk.office.registers.lock().unwrap() = false;
    let error = servers.sign_in("office").await.err().unwrap().to_string();
    assert!(error.contains("give it a token as a header"), "{error}");
}
