use std::borrow::Cow;
use std::sync::Arc;

use bosun_model::{CacheLifetime, ChatRequest, Message, ModelInfo, SystemBlock};
use reqwest::header::{HeaderMap, HeaderName};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::anthropic::Anthropic;
use crate::bedrock::Bedrock;
use crate::body::Group;
use crate::config::Family;
use crate::driver::{Decoder, Framing};
use crate::endpoint::Endpoint;
use crate::gemini::Gemini;
use crate::media::is_blank;
use crate::ollama::Ollama;
use crate::openai_chat::OpenAiChat;
use crate::openai_responses::OpenAiResponses;
use crate::vertex::Vertex;

/// One wire format: bytes for a request, and a reader for the reply. No IO, no policy.
///
/// Another family is a module and a row in [`adapter`].
pub(crate) trait Adapter: Send + Sync {
    /// Path and query of a call of `model`, below the base URL and without a slash in front.
    fn chat_path(&self, model: &str) -> (Cow<'static, str>, Option<&'static str>);

    /// Path and query of the list of models.
    fn models_path(&self) -> (&'static str, Option<&'static str>);

    fn key_header(&self, key: &str) -> (HeaderName, String);

    /// Headers of every request besides the key's.
    fn add_headers(&self, headers: &mut HeaderMap);

    /// The body up to the first turn. It follows from the standing prompt, what tells the conversation from others, and what
    /// [`Self::tail`] follows from: where these are as before, it is not asked again.
    fn head(&self, request: &ChatRequest, info: &ModelInfo, out: &mut Vec<u8>) -> serde_json::Result<()>;

    /// The turns of a group, each with a comma behind it. They depend on the group alone.
    fn turns(&self, group: &Group<'_>, out: &mut Vec<u8>) -> serde_json::Result<()>;

    /// The body after the last turn. It follows from the tools, the choice among them, the limit of output, the marks for
    /// caching, the effort, the shape of the answer and the model alone: where these are as before, it is not asked again.
    fn tail(&self, request: &ChatRequest, info: &ModelInfo, out: &mut Vec<u8>) -> serde_json::Result<()>;

    /// A fact about the request and its model that every turn depends on. It holds too where one of the messages
    /// [`Self::decides`] it.
    fn variant(&self, request: &ChatRequest, info: &ModelInfo) -> bool;

    /// Whether [`Self::variant`] holds of every request that has `message`. It follows from the message alone.
    fn decides(&self, _message: &Message) -> bool {
        false
    }

    fn decoder(&self, ids: CallIds) -> Box<dyn Decoder>;

    /// The same without what a server refused; `None` where it never holds all of that.
    fn leaving(&self, _out: LeftOut) -> Option<Arc<dyn Adapter>> {
        None
    }

    /// Whether a reply that neither says nor does anything becomes no turn. What is said around it is one turn then.
    fn drops_silent(&self) -> bool {
        false
    }

    /// How the bytes of a reply are cut into frames.
    fn framing(&self) -> Framing {
        Framing::Events
    }
}

/// What of a request a server may refuse that goes well without it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// What the model once thought.
    pub(crate) thoughts: bool,
    /// That a summary of what it thinks is asked for.
    pub(crate) summaries: bool,
    /// How much it is to think.
    pub(crate) level: bool,
    /// That results are followed by something else than the model's own words.
    pub(crate) order: bool,
}

impl LeftOut {
    const NOTHING: Self = Self { thoughts: false, summaries: false, level: false, order: false };
    pub(crate) const THOUGHTS: Self = Self { thoughts: true, ..Self::NOTHING };
    pub(crate) const SUMMARIES: Self = Self { summaries: true, ..Self::NOTHING };
    pub(crate) const LEVEL: Self = Self { level: true, ..Self::NOTHING };
    pub(crate) const ORDER: Self = Self { order: true, ..Self::NOTHING };

    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            thoughts: self.thoughts || other.thoughts,
            summaries: self.summaries || other.summaries,
            level: self.level || other.level,
            order: self.order || other.order,
        }
    }

    /// Whether it has all that `other` has.
    pub(crate) fn covers(self, other: Self) -> bool {
        self.and(other) == self
    }

    /// All that can be left out, but for nothing.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let parts = [Self::THOUGHTS, Self::SUMMARIES, Self::LEVEL, Self::ORDER];
        (1..1_u32 << parts.len()).map(move |chosen| {
            let is_chosen = |(place, _): &(usize, &Self)| chosen & (1 << place) != 0;
            parts.iter().enumerate().filter(is_chosen).fold(Self::NOTHING, |all, (_, part)| all.and(*part))
        })
    }
}

/// The adapter for calls of `model`. `project` is what pays where an address wants one and names none.
pub(crate) fn adapter(endpoint: &Endpoint, family: Family, model: &str, project: Option<&str>) -> Arc<dyn Adapter> {
    match family {
        Family::Anthropic => Arc::new(Anthropic::new(endpoint, model)),
        Family::OpenAiChat => Arc::new(OpenAiChat::new(endpoint, model)),
        Family::OpenAiResponses => Arc::new(OpenAiResponses::new(endpoint)),
        Family::Gemini => Arc::new(Gemini::new(endpoint, model)),
        Family::Ollama => Arc::new(Ollama::new(endpoint)),
        Family::Bedrock => Arc::new(Bedrock::new(model)),
        Family::Vertex => Arc::new(Vertex::new(endpoint, model, project)),
    }
}

/// The arguments of a call as text. For calls whose arguments never were an object: an empty one, because servers that fill
/// a template parse this, and the result says what was wrong.
pub(crate) struct Arguments<'a>(pub(crate) Option<&'a Value>);

impl Serialize for Arguments<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(args) => serializer.collect_str(args),
            None => serializer.serialize_str("{}"),
        }
    }
}

/// Anthropic's mark of what is to be kept in the prompt cache, which gateways in front of it took over.
#[derive(Serialize)]
pub(crate) struct CacheControl {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<&'static str>,
}

impl CacheControl {
    pub(crate) fn of(lifetime: CacheLifetime) -> Self {
        let ttl = match lifetime {
            CacheLifetime::FiveMinutes => None,
            CacheLifetime::OneHour => Some("1h"),
        };
        Self { r#type: "ephemeral", ttl }
    }
}

/// The vendor takes four breakpoints; one is for the conversation.
const BREAKPOINTS: usize = 3;

/// The blocks of the standing prompt that say something, each with its breakpoint. Where there are too many, the last ones
/// mark the longest prefixes.
pub(crate) fn standing(request: &ChatRequest) -> impl Iterator<Item = (&SystemBlock, Option<CacheControl>)> {
    let blocks = || request.system.iter().filter(|block| !is_blank(&block.text));
    let most = BREAKPOINTS - usize::from(request.cache.tools && !request.tools.is_empty());
    let mut spare = blocks().filter(|block| block.cache).count().saturating_sub(most);
    blocks().map(move |block| {
        let is_spare = block.cache && spare > 0;
        spare -= usize::from(is_spare);
        (block, (block.cache && !is_spare).then(|| CacheControl::of(request.cache.lifetime)))
    })
}

/// Writes `value` and a comma.
pub(crate) fn write_turn(value: &impl Serialize, out: &mut Vec<u8>) -> serde_json::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.push(b',');
    Ok(())
}

/// Writes the fields of an object that is open already, between its list of turns and its end.
pub(crate) fn write_tail(fields: &impl Serialize, out: &mut Vec<u8>) -> serde_json::Result<()> {
    out.push(b']');
    let open = out.len();
    serde_json::to_writer(&mut *out, fields)?;
    // `{"a":1}` goes on the object as `,"a":1}`, and `{}` ends it.
    match out.get(open + 1) {
        Some(b'}') => {
            out.truncate(open);
            out.push(b'}');
        }
        _ => {
            if let Some(brace) = out.get_mut(open) {
                *brace = b',';
            }
        }
    }
    Ok(())
}

/// Writes the fields of an object and opens its list of turns, which has the name `list`.
pub(crate) fn write_head(fields: &impl Serialize, list: &str, out: &mut Vec<u8>) -> serde_json::Result<()> {
    serde_json::to_writer(&mut *out, fields)?;
    // The object's own end.
    out.pop();
    if out.last() != Some(&b'{') {
        out.push(b',');
    }
    out.push(b'"');
    out.extend_from_slice(list.as_bytes());
    out.extend_from_slice(br#"":["#);
    Ok(())
}

/// Ids for tool calls whose server gave none.
///
/// Made from the newest message and its place, which no other reply of the session answers; the same request always gives
/// the same ids.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallIds {
    seed: u64,
}

impl CallIds {
    pub(crate) fn of(request: &ChatRequest) -> Self {
        let id = match request.messages.last().map(|message| &**message) {
            None | Some(Message::System(_)) => "",
            Some(Message::Human(message)) => message.id.as_str(),
            Some(Message::Ai(message)) => message.id.as_str(),
            Some(Message::Tool(message)) => message.call_id.as_str(),
        };
        Self { seed: hash(id.bytes().chain(request.messages.len().to_le_bytes())) }
    }

    pub(crate) fn id(self, number: usize) -> String {
        format!("call_{:016x}_{number}", self.seed)
    }

    /// Whether an id was made here, so that its server knows nothing of it.
    pub(crate) fn made(id: &str) -> bool {
        let parts = id.strip_prefix("call_").and_then(|rest| rest.split_once('_'));
        parts.is_some_and(|(seed, number)| {
            seed.len() == 16
                && seed.bytes().all(|byte| byte.is_ascii_hexdigit())
                && number.bytes().all(|byte| byte.is_ascii_digit())
        })
    }
}

/// FNV-1a: small, and the same in every build.
pub(crate) fn hash(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(FNV_OFFSET, |seed, byte| (seed ^ u64::from(byte)).wrapping_mul(FNV_PRIME))
}

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

#[cfg(test)]
mod tests {
    use bosun_model::Message;

    use super::*;

    #[test]
    fn ids_differ_from_step_to_step_and_repeat_for_the_same_request() {
        let request = |ids: &[&str]| ChatRequest {
            messages: ids.iter().map(|id| Message::human(*id, "text").into()).collect(),
            ..ChatRequest::default()
        };
        let id = |ids: &[&str]| CallIds::of(&request(ids)).id(0);
        assert_eq!(id(&["a", "b"]), id(&["a", "b"]));
        assert_ne!(id(&["a", "b"]), id(&["a", "b", ""]));
        assert_ne!(id(&["a", "b"]), id(&["ab"]));
        assert!(CallIds::made(&id(&["a"])));
        assert!(!CallIds::made("call_a") && !CallIds::made("call_0123456789abcdeg_0") && !CallIds::made("toolu_1"));
    }
}
