//! The shapes of error bodies, and what their words mean.

use std::time::Duration;

use bosun_model::ModelErrorKind as Kind;
use serde_json::{Map, Value};

use super::kinds::KINDS;
use super::retry_after;

/// What a provider says about its failure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// Its own sentence; may be empty.
    pub(crate) message: String,
    /// Its own words for the kind: `type`, `code`, `status`.
    pub(crate) labels: Vec<String>,
    /// A status inside the body.
    pub(crate) status: Option<u16>,
    /// How long it wants us to wait (Google says so in its details).
    pub(crate) retry_after: Option<Duration>,
}

impl Refusal {
    /// Whether one of its labels names a model.
    pub(crate) fn is_about_a_model(&self) -> bool {
        self.labels.iter().any(|label| label.to_lowercase().contains("model"))
    }

    /// An error object, or whatever stands in its place.
    pub(crate) fn of_value(value: &Value) -> Option<Self> {
        match value {
            Value::String(message) => Some(Self { message: message.clone(), ..Self::default() }),
            Value::Object(fields) => {
                let message = fields.get("message").or_else(|| fields.get("msg")).or_else(|| fields.get("detail"));
                let mut refusal = passed_on(fields).unwrap_or_default();
                if refusal.message.is_empty() {
                    refusal.message = message.map(words).unwrap_or_default();
                }
                for value in ["type", "code", "status"].iter().filter_map(|name| fields.get(*name)) {
                    match value {
                        Value::String(label) => refusal.labels.push(label.clone()),
                        Value::Number(_) => refusal.status = status(value).or(refusal.status),
                        _ => {}
                    }
                }
                refusal.retry_after = fields.get("details").and_then(retry_delay);
                let empty = refusal.message.is_empty() && refusal.labels.is_empty();
                if refusal.message.is_empty() {
                    refusal.message = refusal.labels.join(", ");
                }
                (!empty || refusal.status.is_some()).then_some(refusal)
            }
            _ => None,
        }
    }

    /// A failure in AWS's words: the name of an exception, and a body with a message.
    pub(crate) fn of_aws(kind: &str, body: &str) -> Self {
        let mut refusal =
            read(body.as_bytes()).unwrap_or_else(|| Self { message: body.trim().to_owned(), ..Self::default() });
        // `ThrottlingException:http://…` in a header, `throttlingException` in a frame.
        let kind = kind.split(':').next().unwrap_or(kind).to_ascii_lowercase();
        if !kind.is_empty() {
            refusal.labels.push(kind);
        }
        refusal
    }

    /// A body without structure: its text, unless it is a page or has no word in it (`{}`).
    pub(super) fn of_text(body: &[u8], html: bool) -> Self {
        let message =
            if html { title(body).unwrap_or_default() } else { String::from_utf8_lossy(body).trim().to_owned() };
        let message = if message.contains(char::is_alphanumeric) { message } else { String::new() };
        Self { message, ..Self::default() }
    }

    /// The kind that the words say, where they say one.
    pub(super) fn kind(&self) -> Option<Kind> {
        let says = |needles: &[&str]| {
            let message = self.message.to_lowercase();
            needles.iter().any(|needle| message.contains(needle) || self.labels.iter().any(|label| label == needle))
        };
        // Google says the same sentence of a spent minute as of a spent account.
        if self.labels.iter().any(|label| label == "RESOURCE_EXHAUSTED") {
            return Some(Kind::RateLimited);
        }
        KINDS.iter().find(|(_, needles)| says(needles)).map(|(kind, _)| *kind)
    }
}

/// The refusal in a JSON body, in the shapes that are about: an `error` object or text (with or without a list around it),
/// a `message` or `detail` at the top.
pub(super) fn read(body: &[u8]) -> Option<Refusal> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let value = value.as_array().and_then(|list| list.first()).unwrap_or(&value);
    let fields = value.as_object()?;
    if let Some(error) = fields.get("error").filter(|error| !error.is_null()) {
        let mut refusal = Refusal::of_value(error)?;
        if refusal.message.is_empty() {
            refusal.message = fields.get("message").map(words).unwrap_or_default();
        }
        return Some(refusal);
    }
    let speaks = ["message", "detail", "msg"].iter().any(|name| fields.contains_key(*name));
    if speaks { Refusal::of_value(value) } else { None }
}

/// What the model's own provider said, where a gateway (OpenRouter) has nothing to add but that it did.
fn passed_on(fields: &Map<String, Value>) -> Option<Refusal> {
    let raw = fields.get("metadata")?.get("raw").filter(|raw| !raw.is_null())?;
    let text = raw.as_str().map_or_else(|| raw.to_string(), str::to_owned);
    let said = read(text.as_bytes()).unwrap_or_else(|| Refusal::of_text(text.as_bytes(), is_html(text.as_bytes())));
    Some(Refusal { status: None, ..said })
}

/// A sentence out of text, or out of the lists of complaints that some servers send.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Array(items) => items.iter().map(words).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; "),
        Value::Object(fields) => {
            let message = fields.get("msg").or_else(|| fields.get("message")).map(words).unwrap_or_default();
            match fields.get("loc").and_then(Value::as_array) {
                Some(place) => {
                    let place: Vec<_> = place.iter().filter_map(Value::as_str).collect();
                    format!("{}: {message}", place.join("."))
                }
                None => message,
            }
        }
        _ => String::new(),
    }
}

/// `[{"retryDelay": "17s"}]`
fn retry_delay(details: &Value) -> Option<Duration> {
    let text = details.as_array()?.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    retry_after::seconds(text.strip_suffix('s')?, 1.0)
}

fn status(value: &Value) -> Option<u16> {
    value.as_u64().and_then(|code| u16::try_from(code).ok()).filter(|code| (400..600).contains(code))
}

pub(super) fn is_html(body: &[u8]) -> bool {
    let head = body.trim_ascii_start();
    let head = head.get(..head.len().min(64)).unwrap_or_default().to_ascii_lowercase();
    [b"<!doctype" as &[u8], b"<html", b"<head", b"<?xml", b"<!--"].iter().any(|start| head.starts_with(start))
}

pub(super) fn is_json(body: &[u8]) -> bool {
    matches!(body.trim_ascii_start().first(), Some(b'{' | b'['))
}

/// The title of a web page, which names the captive portal or the proxy.
pub(super) fn title(body: &[u8]) -> Option<String> {
    let page = String::from_utf8_lossy(body);
    let start = page.to_ascii_lowercase().find("<title")?;
    let (_, after) = page.get(start..)?.split_once('>')?;
    let (title, _) = after.split_once('<')?;
    let title: String = title.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(80).collect();
    (!title.is_empty()).then_some(title)
}
