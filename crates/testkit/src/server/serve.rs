use std::io;
use std::sync::Arc;

use serde_json::{Value, json as value};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::http::{Connection, Request};
use super::{Outcome, Shared, control, google, sigv4};
use crate::wire::Out;
use crate::{Asked, Ending, Reply, Wire};

/// Serves until told to stop. Open connections are dropped then.
pub(super) fn run(listener: std::net::TcpListener, shared: Arc<Shared>, stopped: oneshot::Receiver<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async move {
        let listener = TcpListener::from_std(listener).unwrap();
        let mut connections = JoinSet::new();
        let mut stopped = stopped;
        let mut number = 0;
        loop {
            tokio::select! {
                accepted = listener.accept() => {
                    if let Ok((socket, _)) = accepted {
                        number += 1;
                        connections.spawn(serve(Connection::new(socket, number), Arc::clone(&shared)));
                    }
                }
                Some(_) = connections.join_next() => {}
                _ = &mut stopped => return,
            }
        }
    });
}

/// Whether a connection may carry another request.
#[derive(PartialEq)]
enum Next {
    Keep,
    Close,
}

async fn serve(mut connection: Connection, shared: Arc<Shared>) {
    loop {
        match connection.request().await {
            Ok(Some(request)) => {
                if answer(&mut connection, &shared, &request).await != Next::Keep {
                    return;
                }
            }
            Ok(None) => return,
            Err(error) => {
                if error.kind() == io::ErrorKind::InvalidData {
                    shared.miss(format!("a request that is not HTTP as this server speaks it: {error}"));
                }
                return;
            }
        }
    }
}

pub(super) fn wire_of(path: &str) -> Option<Wire> {
    match path.split('?').next().unwrap_or_default() {
        "/v1/messages" => Some(Wire::Anthropic),
        "/v1/chat/completions" => Some(Wire::OpenAi),
        "/v1/responses" => Some(Wire::OpenAiResponses),
        "/api/chat" => Some(Wire::Ollama),
        path if path.starts_with("/model/") => {
            let verb = path.rsplit('/').next()?;
            matches!(verb, "invoke" | "invoke-with-response-stream").then_some(Wire::Bedrock)
        }
        path if path.starts_with("/v1/projects/") => {
            let (place, call) = path.rsplit_once("/models/")?;
            let verb = call.rsplit_once(':')?.1;
            match place.rsplit_once("/publishers/")?.1 {
                "anthropic" => matches!(verb, "rawPredict" | "streamRawPredict").then_some(Wire::Vertex),
                "google" => matches!(verb, "generateContent" | "streamGenerateContent").then_some(Wire::VertexGemini),
                _ => None,
            }
        }
        path => {
            let call = path.strip_prefix("/v1beta/models/").or_else(|| path.strip_prefix("/v1/models/"))?;
            (call.ends_with(":streamGenerateContent") || call.ends_with(":generateContent")).then_some(Wire::Gemini)
        }
    }
}

async fn answer(connection: &mut Connection, shared: &Shared, request: &Request) -> Next {
    if request.path.starts_with("/_control/") {
        let (status, body) = control::answer(shared, request);
        return done(json(connection, status, &body).await);
    }
    let index = shared.record(request, connection.number);
    // Writing fails only when the client has left.
    let (next, outcome) = model_answer(connection, shared, request).await.unwrap_or((Next::Close, Outcome::ClientGone));
    shared.close(index, outcome);
    next
}

async fn model_answer(connection: &mut Connection, shared: &Shared, request: &Request) -> io::Result<(Next, Outcome)> {
    let path = request.path.split('?').next().unwrap_or_default();
    let at = shared.state().at.get(path).cloned();
    if let Some(Reply { ending: Ending::HangBeforeHeaders, .. }) = &at {
        connection.gone().await;
        return Ok((Next::Close, Outcome::ClientGone));
    }
    if let Some((http, headers)) = at.and_then(|reply| reply.http.map(|http| (http, reply.headers))) {
        connection.respond(http.status, &headers, &http.body).await?;
        return Ok((Next::Keep, Outcome::Answered));
    }
    let wire = match (request.method.as_str(), path) {
        ("GET", "/v1/models") if request.header("anthropic-version").is_some() => Wire::Anthropic,
        ("GET", "/v1/models") if request.header("x-goog-api-key").is_some() => Wire::Gemini,
        ("GET", "/v1/models") => Wire::OpenAi,
        ("GET", "/v1beta/models") => Wire::Gemini,
        ("GET", "/api/tags") => Wire::Ollama,
        ("GET", "/foundation-models" | "/inference-profiles") => Wire::Bedrock,
        ("GET", "/v1beta1/publishers/anthropic/models") => Wire::Vertex,
        ("GET", "/v1beta1/publishers/google/models") => Wire::VertexGemini,
        ("POST", "/token") => return token(connection, shared, request).await,
        ("POST", "/api/show") => {
            let shown = value!({ "details": { "family": "test" }, "model_info": { "test.context_length": 131_072 },
                "capabilities": ["completion", "vision", "tools"] });
            json(connection, 200, &shown).await?;
            return Ok((Next::Keep, Outcome::Answered));
        }
        // LM Studio's own list.
        ("GET", "/api/v0/models") => {
            let models: Vec<_> = shared
                .state()
                .models
                .iter()
                .map(|name| {
                    value!({ "id": name, "type": "vlm",
                "state": "loaded", "max_context_length": 131_072, "loaded_context_length": 16_384 })
                })
                .collect();
            json(connection, 200, &value!({ "object": "list", "data": models })).await?;
            return Ok((Next::Keep, Outcome::Answered));
        }
        ("POST", path) if wire_of(path).is_some() => wire_of(path).unwrap_or(Wire::OpenAi),
        _ => {
            shared.miss(format!("{} {}: no such address here", request.method, request.path));
            let body = Wire::OpenAi.error("not_found_error", "there is nothing at this address");
            json(connection, 404, &body).await?;
            return Ok((Next::Keep, Outcome::Answered));
        }
    };
    if wire == Wire::Bedrock && request.header("authorization").is_some_and(|value| value.starts_with("AWS4-")) {
        // A signature is as good as a key.
        let believes = shared.state().believes_signatures;
        if let Err(reason) = sigv4::verify(request)
            && !believes
        {
            let headers = [
                ("content-type".to_owned(), "application/json".to_owned()),
                ("x-amzn-errortype".to_owned(), "InvalidSignatureException:http://internal.amazon.com/".to_owned()),
            ];
            connection.respond(403, &headers, wire.error("", &reason).to_string().as_bytes()).await?;
            return Ok((Next::Keep, Outcome::Answered));
        }
    } else if !key_fits(shared, request) {
        json(connection, 401, &wire.error("authentication_error", "invalid x-api-key")).await?;
        return Ok((Next::Keep, Outcome::Answered));
    }
    if request.method == "GET" {
        return list_models(connection, shared, wire).await;
    }
    let asked = match Asked::parse(wire, &request.path, &request.body) {
        Ok(asked) => asked,
        Err(reason) => {
            shared.miss(format!("{reason}: {}", String::from_utf8_lossy(&request.body)));
            json(connection, 400, &wire.error("invalid_request_error", &reason)).await?;
            return Ok((Next::Keep, Outcome::Answered));
        }
    };
    let Some(reply) = shared.choose(&asked) else {
        let body = String::from_utf8_lossy(&request.body);
        shared.miss(format!("{wire}: {body}"));
        let message = format!("no rule for a request whose last message is {:?}", asked.last());
        json(connection, 500, &wire.error("api_error", &message)).await?;
        return Ok((Next::Keep, Outcome::Answered));
    };
    play(connection, shared, &asked, &reply).await
}

fn key_fits(shared: &Shared, request: &Request) -> bool {
    let Some(wanted) = shared.state().key.clone() else { return true };
    let bearer = request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
    let named = ["x-api-key", "x-goog-api-key"].iter().any(|name| request.header(name) == Some(&wanted));
    named || bearer == Some(&wanted)
}

/// The endpoint at which a refresh token becomes an access token.
async fn token(connection: &mut Connection, shared: &Shared, request: &Request) -> io::Result<(Next, Outcome)> {
    let wanted = shared.state().key.clone();
    let (status, body) = google::answer(request, wanted.as_deref().unwrap_or("ya29.test"));
    json(connection, status, &body).await?;
    Ok((Next::Keep, Outcome::Answered))
}

async fn list_models(connection: &mut Connection, shared: &Shared, wire: Wire) -> io::Result<(Next, Outcome)> {
    let (reply, body) = {
        let state = shared.state();
        (state.models_reply.clone(), wire.models(&state.models))
    };
    match reply.and_then(|reply| reply.http.map(|http| (http, reply.headers))) {
        Some((http, headers)) => connection.respond(http.status, &headers, &http.body).await?,
        None => json(connection, 200, &body).await?,
    }
    Ok((Next::Keep, Outcome::Answered))
}

async fn play(
    connection: &mut Connection,
    shared: &Shared,
    asked: &Asked,
    reply: &Reply,
) -> io::Result<(Next, Outcome)> {
    if reply.ending == Ending::HangBeforeHeaders {
        connection.gone().await;
        return Ok((Next::Close, Outcome::ClientGone));
    }
    if let Some(http) = &reply.http {
        connection.respond(http.status, &reply.headers, &http.body).await?;
        return Ok((Next::Keep, Outcome::Answered));
    }
    if !asked.stream {
        json(connection, 200, &asked.wire.whole(reply, &asked.model, &shared.ids)).await?;
        return Ok((Next::Keep, Outcome::Answered));
    }
    let mut headers = reply.headers.clone();
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
        headers.push(("content-type".into(), asked.wire.mime().into()));
    }
    headers.push(("cache-control".into(), "no-cache".into()));
    connection.begin_chunks(&headers);
    let items = asked.wire.stream(reply, &asked.model, &shared.ids);
    Player { connection, shared, left: limit(&reply.ending) }.play(items, &reply.ending).await
}

fn limit(ending: &Ending) -> Option<usize> {
    match ending {
        Ending::CutAfterBytes(bytes) | Ending::EndAfterBytes(bytes) | Ending::HangAfterBytes(bytes) => Some(*bytes),
        Ending::Whole | Ending::CutInCall | Ending::HangBeforeHeaders => None,
    }
}

struct Player<'a> {
    connection: &'a mut Connection,
    shared: &'a Shared,
    /// Bytes of the body that may still be sent.
    left: Option<usize>,
}

impl Player<'_> {
    async fn play(mut self, items: Vec<Out>, ending: &Ending) -> io::Result<(Next, Outcome)> {
        for item in items {
            if self.left == Some(0) {
                break;
            }
            match item {
                Out::Bytes(bytes) => self.bytes(bytes.as_bytes()).await?,
                Out::Frame(bytes) => self.bytes(&bytes).await?,
                Out::Cut => {
                    self.connection.flush().await?;
                    return Ok((Next::Close, Outcome::Answered));
                }
                Out::Gate(name) => {
                    let gate = self.shared.gates.get(&name);
                    if !self.wait(gate.pass()).await? {
                        return Ok((Next::Close, Outcome::ClientGone));
                    }
                }
                Out::Pause(pause) => {
                    if !self.wait(tokio::time::sleep(pause)).await? {
                        return Ok((Next::Close, Outcome::ClientGone));
                    }
                }
            }
        }
        match ending {
            Ending::CutAfterBytes(_) => {
                self.connection.flush().await?;
                Ok((Next::Close, Outcome::Answered))
            }
            Ending::HangAfterBytes(_) => {
                self.wait(std::future::pending()).await?;
                Ok((Next::Close, Outcome::ClientGone))
            }
            _ => {
                self.connection.end_chunks().await?;
                Ok((Next::Keep, Outcome::Answered))
            }
        }
    }

    async fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        let allowed = self.left.map_or(bytes.len(), |left| left.min(bytes.len()));
        if let Some(left) = &mut self.left {
            *left -= allowed;
        }
        self.connection.chunk(&bytes[..allowed]).await
    }

    /// Sends what is gathered, then waits. False when the client left meanwhile.
    async fn wait(&mut self, until: impl Future<Output = ()>) -> io::Result<bool> {
        self.connection.flush().await?;
        tokio::select! {
            () = until => Ok(true),
            () = self.connection.gone() => Ok(false),
        }
    }
}

async fn json(connection: &mut Connection, status: u16, body: &Value) -> io::Result<()> {
    let headers = [("content-type".to_owned(), "application/json".to_owned())];
    connection.respond(status, &headers, body.to_string().as_bytes()).await
}

fn done(result: io::Result<()>) -> Next {
    if result.is_ok() { Next::Keep } else { Next::Close }
}
