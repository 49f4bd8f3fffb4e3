//! From statuses, bodies and broken connections to errors that a person can act on.
//!
//! The provider's own sentence is kept wherever there is one; ours is only for answers that have none. Kinds come from
//! the status first and from the words second, because many compatible servers use one status for everything.

use std::error::Error;
use std::time::Duration;

use bosun_model::{ModelError, ModelErrorKind};
use reqwest::StatusCode;
use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION};

use crate::config::Family;
use crate::origin::Origin;

mod body;
mod retry_after;

pub(crate) use body::Refusal;

use ModelErrorKind as Kind;

/// An answer with a status that is not 2xx.
pub(crate) fn status(origin: &Origin, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> ModelError {
    let code = status.as_u16();
    if status.is_redirection() {
        return redirect(origin, headers).with_status(code);
    }
    let aws = headers.get("x-amzn-errortype").and_then(|value| value.to_str().ok());
    let refusal = match aws {
        Some(kind) => Some(Refusal::of_aws(kind, &String::from_utf8_lossy(body))),
        None => body::read(body),
    };
    if refusal.is_none() && is_html(headers, body) && !matches!(code, 429 | 500..) {
        return web_page(origin, body).with_status(code);
    }
    let refusal = refusal.unwrap_or_else(|| Refusal::of_text(body, is_html(headers, body)));
    let kind = kind_of_status(code, &refusal);
    let refusal_wait = refusal.retry_after;
    let message = if refusal.message.is_empty() {
        wordless(origin, code, kind)
    } else if code == 404 && !speaks_of_a_model(&refusal) {
        format!("{} ({})", refusal.message, nothing_there(origin))
    } else {
        refusal.message
    };
    origin.error(kind, message).with_status(code).with_retry_after(retry_after::read(headers).or(refusal_wait))
}

/// An error event, or an error body that came with status 200.
pub(crate) fn refused(origin: &Origin, refusal: &Refusal) -> ModelError {
    let kind = match refusal.status {
        Some(code) => kind_of_status(code, refusal),
        None => refusal.kind().unwrap_or(Kind::Unavailable),
    };
    let mut error = if refusal.message.is_empty() {
        origin.error(kind, format!("{} reported an error without a word about it", origin.host))
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
    let what = if body::is_json(head) { "JSON that is not a model's reply" } else { "something else" };
    let message = format!("{} answered with {what} instead of a stream of events{}", origin.address, advice(origin));
    origin.error(Kind::NotAModelServer, message)
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
    let (is_connect, is_dns) = (error.is_connect(), error.is_dns());
    let reason = innermost(&error.without_url());
    let (host, address) = (&origin.host, &origin.address);
    if reason.contains("certificate") {
        // A name for which a certificate is "not valid" has nothing to do with time.
        let of_time = ["expired", "Expired", "not valid yet", "NotValidYet"];
        let clock = if of_time.iter().any(|words| reason.contains(words)) {
            "; check this computer's date and time"
        } else {
            "; something on the network may be in between"
        };
        return origin.error(Kind::Network, format!("the certificate of {host} cannot be trusted ({reason}){clock}"));
    }
    let (kind, message) = if timed_out {
        (Kind::Timeout, format!("{address} did not accept a connection in time"))
    } else if is_dns {
        (Kind::Network, format!("the host {host} cannot be found ({reason}); check the base URL and the network"))
    } else if is_connect {
        (Kind::Network, format!("nothing answers at {address} ({reason}); is the server running there?"))
    } else {
        (Kind::Network, format!("the connection to {address} broke before a reply came ({reason})"))
    };
    origin.error(kind, message)
}

/// A limit on waiting ran out; `what` completes "HOST …".
pub(crate) fn timeout(origin: &Origin, what: &str, limit: Duration) -> ModelError {
    origin.error(Kind::Timeout, format!("{} {what} for {} s and was given up", origin.host, limit.as_secs_f32()))
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
    let message = format!(
        "{} sends requests on to {to}. Bosun does not follow, so that a key never goes where it was not entered for; \
         if you trust that address, make it the base URL",
        origin.address
    );
    origin.error(Kind::NotAModelServer, message)
}

pub(crate) fn web_page(origin: &Origin, body: &[u8]) -> ModelError {
    let title = body::title(body).map(|title| format!(" ({title:?})")).unwrap_or_default();
    let message =
        format!("{} answered with a web page{title}, not as a model server{}", origin.address, advice(origin));
    origin.error(Kind::NotAModelServer, message)
}

fn is_openai(origin: &Origin) -> bool {
    matches!(origin.family, Family::OpenAiChat | Family::OpenAiResponses)
}

fn advice(origin: &Origin) -> &'static str {
    match origin.family {
        Family::OpenAiChat | Family::OpenAiResponses if !origin.has_version => {
            "; the base URL of most servers ends in /v1, and some networks want you to sign in first"
        }
        _ => "; check the base URL, and whether this network wants you to sign in first",
    }
}

/// Whether a 404 is about the model that was asked for; anything else is about the address.
fn speaks_of_a_model(refusal: &Refusal) -> bool {
    refusal.kind() == Some(Kind::NotFound) || refusal.message.to_lowercase().contains("model")
}

/// The address that leads nowhere, and what is likely wrong with it.
fn nothing_there(origin: &Origin) -> String {
    let address = &origin.address;
    if is_openai(origin) && !origin.has_version {
        format!("{address} has no /v1 at its end; most servers want it")
    } else {
        format!("asked at {address}; check the base URL")
    }
}

/// For answers that say nothing themselves.
fn wordless(origin: &Origin, code: u16, kind: Kind) -> String {
    let host = &origin.host;
    match kind {
        Kind::Unauthorized => format!("{host} refused the key (status {code}); enter another"),
        Kind::NotFound => {
            format!(
                "{host} has nothing at this address (status {code}): {}; check the model, too",
                nothing_there(origin)
            )
        }
        Kind::RateLimited => format!("{host} wants fewer requests (status {code}); wait a little"),
        Kind::Billing => format!("{host} wants to be paid first (status {code})"),
        Kind::Unavailable | Kind::Timeout => format!("{host} failed or is overloaded (status {code}); try again later"),
        _ => format!("{host} refused the request (status {code}) without saying why"),
    }
}

fn kind_of_status(code: u16, refusal: &Refusal) -> Kind {
    let words = refusal.kind();
    match (code, words) {
        (400 | 402 | 403 | 429, Some(Kind::Billing)) | (402, _) => Kind::Billing,
        (400 | 413 | 422 | 500, Some(Kind::ContextOverflow)) | (413, _) => Kind::ContextOverflow,
        (400, Some(kind @ (Kind::Unauthorized | Kind::NotFound))) => kind,
        (401 | 403, _) => Kind::Unauthorized,
        (404 | 405 | 410, _) => Kind::NotFound,
        (407 | 511, _) => Kind::NotAModelServer,
        (408 | 504, _) => Kind::Timeout,
        (409 | 425, _) => Kind::Unavailable,
        (429, _) => Kind::RateLimited,
        (500.., _) => Kind::Unavailable,
        _ => Kind::InvalidRequest,
    }
}

#[cfg(test)]
#[path = "failure_tests.rs"]
mod tests;
