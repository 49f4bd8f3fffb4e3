//! From statuses, bodies and broken connections to errors that a person can act on.
//!
//! The provider's own sentence is kept wherever there is one; ours is only for answers that have none. Kinds come from
//! the status first and from the words second, because many compatible servers use one status for everything.

use std::error::Error;
use std::time::Duration;

use bosun_model::{ModelError, ModelErrorKind, ModelTrouble};
use reqwest::StatusCode;
use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION};

use crate::config::Family;
use crate::origin::Origin;

mod body;
mod kinds;
mod retry_after;

pub(crate) use body::Refusal;

use ModelErrorKind as Kind;

/// An answer with a status that is not 2xx.
pub(crate) fn status(origin: &Origin, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> ModelError {
    let code = status.as_u16();
    if status.is_redirection() {
        return redirect(origin, headers).with_status(code);
    }
    // Only what stands in between answers so.
    if code == 407 {
        let trouble = ModelTrouble::ProxyWantsPassword { host: origin.host.clone() };
        return origin.trouble(Kind::NotAModelServer, trouble).with_status(code);
    }
    let aws = headers.get("x-amzn-errortype").and_then(|value| value.to_str().ok());
    let refusal = match aws {
        Some(kind) => Some(Refusal::of_aws(kind, &String::from_utf8_lossy(body))),
        None => body::read(body),
    };
    let is_page = refusal.is_none() && is_html(headers, body);
    if is_page && !is_of_gateways(code) {
        return web_page(origin, body).with_status(code);
    }
    let refusal = refusal.unwrap_or_else(|| Refusal::of_text(body, is_page));
    let kind = kind_of_status(code, &refusal);
    let refusal_wait = refusal.retry_after;
    // A page that wants a key has nothing more to say of it in its title.
    let error = if refusal.message.is_empty() || (is_page && kind == Kind::Unauthorized) {
        origin.trouble(kind, wordless(origin, code, kind))
    } else if speaks_of_tools(&refusal) {
        origin.trouble(kind, ModelTrouble::WithoutTools { detail: refusal.message })
    } else if matches!(code, 404 | 405) && !speaks_of_a_model(&refusal) {
        origin.trouble(kind, elsewhere(origin, refusal.message))
    } else {
        origin.error(kind, refusal.message)
    };
    error.with_status(code).with_retry_after(retry_after::read(headers).or(refusal_wait))
}

/// Statuses that mean the same in the pages of gateways (nginx, load balancers) as in the words of a model server. Any other
/// page may be anybody's: a network's that wants a sign-in (which has 511 of its own), a wall's that lets nobody through, a website's at a wrong address.
fn is_of_gateways(status: u16) -> bool {
    matches!(status, 401 | 408 | 409 | 413 | 424 | 425 | 429 | 500..=510 | 512..)
}

/// Whether a server refuses what its model once thought, or the field that says what becomes of it: thoughts of another
/// conversation or of another server, a budget without them, and gateways that do not know the field.
pub(crate) fn is_of_thoughts(error: &ModelError) -> bool {
    let words = [
        "invalid `signature` in `thinking` block",
        "bound to a different conversation",
        "`redacted_thinking` blocks in the latest assistant message cannot be modified",
        "expected `thinking` or `redacted_thinking`",
        "the final block in an assistant message cannot be",
        "block_binding",
        "thinking-binding-controls",
        "invalid beta flag",
        // OpenAI and xAI, of what another organization's key brought; Google, of what another account or model signed.
        "the encrypted content",
        "encrypted_content",
        "thought signature",
        "thought_signature",
    ];
    let message = error.message.to_lowercase();
    error.status == Some(400) && words.iter().any(|word| message.contains(word))
}

/// Whether a server refuses to sum up what its model thinks: OpenAI does it for verified organizations only, and some
/// servers of its wire never do.
pub(crate) fn is_of_summaries(error: &ModelError) -> bool {
    error.status == Some(400) && (is_of_account(error) || error.message.to_lowercase().contains("reasoning.summary"))
}

/// Whether summaries are refused to the account, and not by one model.
pub(crate) fn is_of_account(error: &ModelError) -> bool {
    error.message.to_lowercase().contains("verified to generate reasoning summaries")
}

/// Whether a model was asked for so little that its thinking took all of it (OpenAI, of models that think).
pub(crate) fn is_of_room(error: &ModelError) -> bool {
    error.status == Some(400) && error.message.to_lowercase().contains("output limit was reached")
}

/// Whether a server refuses how much its model is told to think: a level or a budget that it does not have (Google).
pub(crate) fn is_of_level(error: &ModelError) -> bool {
    let words =
        ["thinking level", "thinking_level", "thinking budget", "thinking_budget", "only works in thinking mode"];
    let message = error.message.to_lowercase();
    error.status == Some(400) && words.iter().any(|word| message.contains(word))
}

/// Whether a server refuses what stands behind results: older validators of Mistral's want the model's own words there.
pub(crate) fn is_of_order(error: &ModelError) -> bool {
    let message = error.message.to_lowercase().replace('"', "'");
    matches!(error.status, Some(400 | 422))
        && message.contains("unexpected role")
        && message.contains("after role 'tool'")
}

/// Whether a reply ended because its request had a call without its signature (Google).
pub(crate) fn is_of_signatures(error: &ModelError) -> bool {
    error.status.is_none() && error.message.starts_with(MISSING_SIGNATURE)
}

/// How the error begins with which such a reply ends.
pub(crate) const MISSING_SIGNATURE: &str = "a thought signature is missing";

/// An error event, or an error body that came with status 200.
pub(crate) fn refused(origin: &Origin, refusal: &Refusal) -> ModelError {
    let kind = match refusal.status {
        Some(code) => kind_of_status(code, refusal),
        None => refusal.kind().unwrap_or(Kind::Unavailable),
    };
    let mut error = if refusal.message.is_empty() {
        origin.trouble(kind, ModelTrouble::ErrorWithoutWords { host: origin.host.clone() })
    } else {
        origin.error(kind, &refusal.message)
    };
    error.status = refusal.status;
    error.retry_after = refusal.retry_after;
    error
}

/// Bytes with status 200 that hold no event at all.
pub(crate) fn not_a_stream(origin: &Origin, head: &[u8]) -> ModelError {
    if body::is_html(head) {
        return web_page(origin, head);
    }
    if let Some(refusal) = body::read(head) {
        return refused(origin, &refusal);
    }
    let address = origin.address.clone();
    let trouble = match (body::is_json(head), wants_version(origin)) {
        (true, false) => ModelTrouble::OtherJson { address },
        (true, true) => ModelTrouble::OtherJsonWithoutVersion { address },
        (false, false) => ModelTrouble::SomethingElse { address },
        (false, true) => ModelTrouble::SomethingElseWithoutVersion { address },
    };
    origin.trouble(Kind::NotAModelServer, trouble)
}

/// Whether an answer is a web page, by its header or its first bytes.
pub(crate) fn is_html(headers: &HeaderMap, body: &[u8]) -> bool {
    has_type(headers, "text/html") || body::is_html(body)
}

pub(crate) fn has_type(headers: &HeaderMap, mime: &str) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().is_some_and(|found| found.trim().eq_ignore_ascii_case(mime))
}

/// A request that got no answer, or whose answer broke before the first byte of its body.
pub(crate) fn transport(origin: &Origin, error: reqwest::Error) -> ModelError {
    let timed_out = error.is_timeout();
    let (is_connect, is_dns, is_tls) = (error.is_connect(), error.is_dns(), speaks_of_tls(&error));
    let error = error.without_url();
    let (of_proxy, reason) = (words_about_a_proxy(&error), innermost(&error));
    // Who hangs up in the middle of a handshake was there.
    let is_tls = is_tls || reason == "tls handshake eof";
    let (host, address, detail) = (origin.host.clone(), origin.address.clone(), reason);
    // A name for which a certificate is "not valid" has nothing to do with time.
    let of_time = ["expired", "Expired", "not valid yet", "NotValidYet"];
    let is_of_date = of_time.iter().any(|words| detail.contains(words));
    let (kind, trouble) = if detail.contains("certificate") {
        let trouble = match is_of_date {
            true => ModelTrouble::CertificateDate { host, detail },
            false => ModelTrouble::Certificate { host, detail },
        };
        (Kind::Network, trouble)
    } else if timed_out {
        (Kind::Timeout, ModelTrouble::NotAccepted { address })
    } else if let Some(words) = of_proxy {
        proxy_failed(host, &words, detail)
    } else if is_dns {
        (Kind::Network, ModelTrouble::HostUnknown { host, detail })
    } else if is_tls {
        (Kind::Network, ModelTrouble::NotSecure { address, detail })
    } else if is_connect {
        (Kind::Network, ModelTrouble::NothingAnswers { address, detail })
    } else {
        (Kind::Network, ModelTrouble::BrokeBeforeReply { address, detail })
    };
    origin.trouble(kind, trouble)
}

/// [`transport`], where a script of the `desktop` may name a proxy that is not asked: nobody was reached without it.
pub(crate) fn without_script(origin: &Origin, desktop: &str, error: reqwest::Error) -> ModelError {
    let unreached = error.is_connect() || error.is_dns() || error.is_timeout();
    let error = error.without_url();
    let detail = innermost(&error);
    if !unreached || speaks_of_tls(&error) || detail.contains("certificate") {
        return transport(origin, error);
    }
    let (host, desktop) = (origin.host.clone(), desktop.to_owned());
    origin.trouble(Kind::Network, ModelTrouble::ProxyScript { host, desktop, detail })
}

/// What the library that asks proxies for a way through says, which tells their failures from the provider's by its words
/// alone; `None` where no proxy failed.
fn words_about_a_proxy(error: &reqwest::Error) -> Option<String> {
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        if words.starts_with("tunnel error: ") || words.starts_with("SOCKS error: ") {
            return Some(words);
        }
        cause = error.source();
    }
    None
}

fn proxy_failed(host: String, words: &str, detail: String) -> (Kind, ModelTrouble) {
    let says = |end: &str| words.ends_with(end);
    if says("proxy authorization required") || says("credentials not accepted") {
        (Kind::NotAModelServer, ModelTrouble::ProxyWantsPassword { host })
    } else if says("failed to create underlying connection") {
        (Kind::Network, ModelTrouble::ProxyUnreached { host, detail })
    } else {
        // One that hung up may take the next request.
        let kind = if says("unexpected end of file") { Kind::Network } else { Kind::NotAModelServer };
        (kind, ModelTrouble::ProxyRefused { host, detail })
    }
}

/// Whether somebody answered, but no secure connection came of it.
fn speaks_of_tls(error: &reqwest::Error) -> bool {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.is::<rustls::Error>() {
            return true;
        }
        cause = match error.downcast_ref::<std::io::Error>() {
            // Its source is that of what it wraps, not what it wraps.
            Some(error) => error.get_ref().map(|wrapped| wrapped as &(dyn Error + 'static)),
            None => error.source(),
        };
    }
    false
}

/// A limit on waiting ran out; `trouble` makes what is said of the host and the seconds.
pub(crate) fn timeout(origin: &Origin, trouble: fn(String, String) -> ModelTrouble, limit: Duration) -> ModelError {
    origin.trouble(Kind::Timeout, trouble(origin.host.clone(), limit.as_secs_f32().to_string()))
}

/// The last cause of an error, which says most.
pub(crate) fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

fn redirect(origin: &Origin, headers: &HeaderMap) -> ModelError {
    let to = headers.get(LOCATION).and_then(|value| value.to_str().ok()).unwrap_or("an address it does not name");
    let trouble = ModelTrouble::Redirected { address: origin.address.clone(), to: to.to_owned() };
    origin.trouble(Kind::NotAModelServer, trouble)
}

pub(crate) fn web_page(origin: &Origin, body: &[u8]) -> ModelError {
    let title = body::title(body).map(|title| format!(" ({title:?})")).unwrap_or_default();
    let address = origin.address.clone();
    let trouble = match wants_version(origin) {
        true => ModelTrouble::WebPageWithoutVersion { address, title },
        false => ModelTrouble::WebPage { address, title },
    };
    origin.trouble(Kind::NotAModelServer, trouble)
}

/// Whether the base URL is likely to want the version at its end that it has not.
fn wants_version(origin: &Origin) -> bool {
    matches!(origin.family, Family::OpenAiChat | Family::OpenAiResponses) && !origin.has_version
}

/// Whether a 404 is about the model that was asked for; anything else is about the address. That something was not found
/// says nothing of what: servers label a wrong path and a wrong model alike.
fn speaks_of_a_model(refusal: &Refusal) -> bool {
    let message = refusal.message.to_lowercase();
    message.contains("model") || message.contains(NO_ENDPOINTS) || refusal.is_about_a_model()
}

/// How OpenRouter's words begin of a model that nobody serves, or not with what a request has.
const NO_ENDPOINTS: &str = "no endpoints found";

/// Whether a request is refused because its model takes no tools (OpenRouter, Ollama, DeepSeek, Groq).
fn speaks_of_tools(refusal: &Refusal) -> bool {
    let words = [
        "no endpoints found that support tool use",
        "does not support tools",
        "does not support function calling",
        "`tool calling` is not supported with this model",
    ];
    let message = refusal.message.to_lowercase();
    words.iter().any(|word| message.contains(word))
}

/// The provider's words about an address that leads nowhere, and what is likely wrong with it.
fn elsewhere(origin: &Origin, detail: String) -> ModelTrouble {
    let address = origin.address.clone();
    match wants_version(origin) {
        true => ModelTrouble::AddressWithoutVersion { detail, address },
        false => ModelTrouble::AddressWrong { detail, address },
    }
}

/// For answers that say nothing themselves.
fn wordless(origin: &Origin, status: u16, kind: Kind) -> ModelTrouble {
    let (host, address) = (origin.host.clone(), origin.address.clone());
    match kind {
        Kind::Unauthorized => ModelTrouble::KeyRefused { host, status },
        Kind::NotFound if wants_version(origin) => ModelTrouble::NothingWithoutVersion { host, status, address },
        Kind::NotFound => ModelTrouble::NothingAtAddress { host, status, address },
        Kind::RateLimited => ModelTrouble::FewerRequests { host, status },
        Kind::Billing => ModelTrouble::PayFirst { host, status },
        Kind::Unavailable | Kind::Timeout => ModelTrouble::Overloaded { host, status },
        _ => ModelTrouble::RefusedSilently { host, status },
    }
}

fn kind_of_status(code: u16, refusal: &Refusal) -> Kind {
    let words = refusal.kind();
    let says = |piece: &str| refusal.message.to_lowercase().contains(piece);
    match (code, words) {
        (400 | 402 | 403 | 429, Some(Kind::Billing)) | (402, _) => Kind::Billing,
        (400 | 413 | 422 | 500 | 502, Some(Kind::ContextOverflow)) | (413, _) => Kind::ContextOverflow,
        (400, Some(kind @ (Kind::Unauthorized | Kind::NotFound))) => kind,
        // OpenRouter's, of what was written and not of who wrote it.
        (403, _) if says("input was flagged") => Kind::InvalidRequest,
        (401 | 403, _) => Kind::Unauthorized,
        // Its, of a picture or a tool that nobody takes for this model.
        (404, _) if says(NO_ENDPOINTS) && says("that support") => Kind::InvalidRequest,
        (404 | 405 | 410, _) => Kind::NotFound,
        (407 | 511, _) => Kind::NotAModelServer,
        (408 | 504, _) => Kind::Timeout,
        // 424: the model behind Bedrock failed.
        (409 | 424 | 425, _) => Kind::Unavailable,
        (429, _) => Kind::RateLimited,
        (500.., _) => Kind::Unavailable,
        _ => Kind::InvalidRequest,
    }
}

#[cfg(test)]
#[path = "failure_tests.rs"]
mod tests;
