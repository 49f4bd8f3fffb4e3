//! What a request costs, estimated: no tokenizer is asked, so that a step costs what is new in it.
//!
//! Texts are measured in *letters*: four make a token. A character of Chinese, Japanese or Korean is about a token by
//! itself, so it counts as four; so do emoji.

use std::sync::{Arc, Mutex, PoisonError};

use bosun_model::{ChatRequest, ContentBlock, Media, MediaKind, Message, ModelInfo, ToolSpec};

use crate::looked_at::LookedAt;
use crate::per_message::PerMessage;

/// Letters of one token.
pub(crate) const LETTERS: usize = 4;
/// The same in tenths: four for most models, a little less for Claude's.
const TENTHS: u64 = LETTERS as u64 * 10;
const TENTHS_CLAUDE: u64 = 33;
/// What a message costs beside its text: its role and its marks.
const PER_MESSAGE: u64 = 3;
/// What an image costs, whatever its bytes: providers scale it down to about this.
const PER_IMAGE: u64 = 1_600;
const PER_DOCUMENT: u64 = 6_000;
/// Of sound and film: 32 tokens for a second of an MP3, 300 for one of a film, as Gemini counts, at the sizes they have.
const BYTES_PER_TOKEN: u64 = 500;
/// As many messages are added up each time, so that a few of them do not take the place of a whole history.
const FEW: usize = 64;

/// How a model cuts text into tokens, as far as an estimate goes by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tokenizer {
    Claude,
    Common,
}

impl Tokenizer {
    /// That of a model, by whoever it is reached: clouds, routers and accounts of one's own have Claude's by its name.
    pub fn of(model: &ModelInfo) -> Self {
        let is_claude = model.provider == "anthropic" || model.name.to_ascii_lowercase().contains("claude");
        if is_claude { Self::Claude } else { Self::Common }
    }

    /// Tenths of letters in a token.
    fn tenths(self) -> u64 {
        match self {
            Self::Claude => TENTHS_CLAUDE,
            Self::Common => TENTHS,
        }
    }
}

/// Estimates tokens. Remembers the estimate of every message it has met for as long as the message lives.
///
/// This is derived from the messages alone, so that it is no state of a session.
#[derive(Default)]
pub struct TokenCounter {
    known: Mutex<Known>,
    /// The tools met last, with their size: they are the same from step to step.
    tools: Mutex<Option<(Arc<[ToolSpec]>, usize)>>,
    /// How many messages and lists of tools were looked at in full.
    #[cfg(test)]
    looked_at: std::sync::atomic::AtomicUsize,
}

#[derive(Default)]
struct Known {
    costs: PerMessage<u64>,
    /// The history that was added up last, with the sums after each of its messages.
    looked_at: LookedAt,
    sums: Vec<u64>,
}

impl Known {
    fn sum(&mut self, messages: &[Arc<Message>], make: impl Fn(&Arc<Message>) -> u64) -> u64 {
        let Self { costs, looked_at, sums } = self;
        let mut cost = |message: &Arc<Message>| costs.of(message, || make(message));
        if messages.len() <= FEW {
            return messages.iter().map(cost).sum();
        }
        let same = looked_at.same(messages);
        sums.truncate(same);
        for message in messages.iter().skip(same) {
            let before = sums.last().copied().unwrap_or(0);
            sums.push(before + cost(message));
        }
        sums.last().copied().unwrap_or(0)
    }
}

impl TokenCounter {
    /// Tokens of `messages`.
    pub fn messages(&self, messages: &[Arc<Message>], tokenizer: Tokenizer) -> u64 {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let cost = |message: &Arc<Message>| {
            self.look();
            cost_of(message)
        };
        known.sum(messages, cost).saturating_mul(10).div_ceil(tokenizer.tenths())
    }

    /// Tokens of everything that is sent: the prompt, the tools and the messages.
    pub fn request(&self, request: &ChatRequest, tokenizer: Tokenizer) -> u64 {
        self.fixed(request, tokenizer).saturating_add(self.messages(&request.messages, tokenizer))
    }

    /// Tokens of what stands before the first message.
    fn fixed(&self, request: &ChatRequest, tokenizer: Tokenizer) -> u64 {
        let system: usize = request.system.iter().map(|block| letters(&block.text)).sum();
        tokens_of(system + self.tools(&request.tools), tokenizer)
    }

    fn tools(&self, tools: &Arc<[ToolSpec]>) -> usize {
        let mut known = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((met, size)) = &*known
            && Arc::ptr_eq(met, tools)
        {
            return *size;
        }
        self.look();
        let size = tools.iter().map(json_letters).sum();
        *known = Some((Arc::clone(tools), size));
        size
    }

    fn look(&self) {
        #[cfg(test)]
        self.looked_at.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
}

/// Tokens of so many letters.
fn tokens_of(letters: usize, tokenizer: Tokenizer) -> u64 {
    (letters as u64).saturating_mul(10).div_ceil(tokenizer.tenths())
}

/// Letters of so many tokens.
pub(crate) fn letters_of(tokens: u64, tokenizer: Tokenizer) -> usize {
    usize::try_from(tokens.saturating_mul(tokenizer.tenths()) / 10).unwrap_or(usize::MAX)
}

/// Tokens of a text.
pub(crate) fn of_text(text: &str, tokenizer: Tokenizer) -> u64 {
    tokens_of(letters(text), tokenizer)
}

/// Tokens of descriptions of tools, for whatever model.
pub(crate) fn of_tools(tools: &[ToolSpec]) -> u64 {
    tokens_of(tools.iter().map(json_letters).sum(), Tokenizer::Common)
}

/// What a text costs, in letters.
pub(crate) fn letters(text: &str) -> usize {
    weight(text.as_bytes())
}

/// The longest beginning of `text` within so many letters.
pub(crate) fn head(text: &str, most: usize) -> &str {
    let end = within(text.char_indices().map(|(at, c)| (at + c.len_utf8(), c)), most).unwrap_or(0);
    text.get(..end).unwrap_or_default()
}

/// The longest end of `text` within so many letters.
pub(crate) fn tail(text: &str, most: usize) -> &str {
    let start = within(text.char_indices().rev(), most).unwrap_or(text.len());
    text.get(start..).unwrap_or_default()
}

/// The last of the places that are reached within so many letters.
fn within(characters: impl Iterator<Item = (usize, char)>, most: usize) -> Option<usize> {
    let mut left = most;
    let reached = characters.map_while(|(place, c)| {
        left = left.checked_sub(letters(c.encode_utf8(&mut [0; 4])))?;
        Some(place)
    });
    reached.last()
}

/// The letters of UTF-8, which may end and begin in the middle of a character: the first byte of each says what it
/// weighs, so that no character has to be put together. From U+3000 on they begin with 0xE3 or more; before that only
/// radicals and their like stand for a whole word.
fn weight(bytes: &[u8]) -> usize {
    if bytes.is_ascii() {
        return bytes.len();
    }
    let weight = |byte: &u8| match *byte {
        0x80..0xC0 => 0,
        0xE3.. => LETTERS,
        _ => 1,
    };
    bytes.iter().map(weight).sum()
}

/// The letters of a message, what is no text counted as if it were.
fn cost_of(message: &Message) -> u64 {
    let content: u64 = message.content().iter().map(block_cost).sum();
    let calls: usize = match message {
        Message::Ai(reply) => {
            let valid: usize = reply.tool_calls.iter().map(|call| call.name.len() + json_letters(&call.args)).sum();
            let invalid = reply.invalid_tool_calls.iter().map(|call| call.name.len() + letters(&call.args));
            let invalid: usize = invalid.sum();
            valid + invalid
        }
        Message::Tool(result) => result.call_id.as_str().len() + result.name.len(),
        Message::System(_) | Message::Human(_) => 0,
    };
    content + calls as u64 + PER_MESSAGE * TENTHS / 10
}

fn block_cost(block: &ContentBlock) -> u64 {
    let flat = |tokens: u64| tokens * TENTHS / 10;
    match block {
        ContentBlock::Text { text } => letters(text) as u64,
        ContentBlock::Reasoning(reasoning) => letters(&reasoning.text) as u64,
        ContentBlock::Media(media) => match media.kind {
            MediaKind::Image => flat(PER_IMAGE),
            MediaKind::Document => flat(PER_DOCUMENT),
            MediaKind::Audio | MediaKind::Video => flat(size_of(media) / BYTES_PER_TOKEN),
        },
    }
}

/// Bytes of the file.
fn size_of(media: &Media) -> u64 {
    media.kept.as_ref().map_or(media.data.len() as u64 / 4 * 3, |kept| kept.size)
}

/// The letters of a value as JSON, without keeping it.
fn json_letters(value: &impl serde::Serialize) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += weight(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    match serde_json::to_writer(&mut count, value) {
        Ok(()) => count.0,
        Err(_not_json) => 0,
    }
}

#[cfg(test)]
mod tests {
    use bosun_model::{Abilities, HumanMessage, Kept, Origin, Stays, SystemBlock};
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn four_characters_are_a_token_and_less_for_claude() {
        let counter = TokenCounter::default();
        let message = Arc::new(Message::human("h", "a".repeat(3_988)));
        assert_eq!(counter.messages(&[Arc::clone(&message)], Tokenizer::Common), 1_000);
        assert_eq!(counter.messages(&[message], Tokenizer::Claude), 1_213);
    }

    #[test]
    fn claude_is_known_by_its_name_wherever_it_is_reached() {
        let of = |provider: &str, name: &str| {
            Tokenizer::of(&ModelInfo {
                provider: provider.into(),
                name: name.into(),
                context_window: None,
                max_output: None,
                abilities: Abilities::default(),
                price: None,
                steps: Vec::new(),
                scripted: false,
                stays: Stays::No,
            })
        };
        for (provider, name) in [
            ("anthropic", "claude-opus-5"),
            ("bedrock", "us.anthropic.claude-haiku-4-5-20251001-v1:0"),
            ("vertex", "claude-sonnet-5-5@20260101"),
            ("openrouter", "anthropic/claude-opus-5.5"),
            ("our-own", "Claude-Opus-5"),
        ] {
            assert_eq!(of(provider, name), Tokenizer::Claude, "{provider} {name}");
        }
        for (provider, name) in
            [("openai", "gpt-5.4"), ("bedrock", "amazon.nova-pro-v1:0"), ("openrouter", "qwen/qwen3")]
        {
            assert_eq!(of(provider, name), Tokenizer::Common, "{provider} {name}");
        }
    }

    #[test]
    fn a_character_that_is_a_word_is_a_token_wherever_it_stands() {
        assert_eq!(["abcd", "äбé", "审查。", "검토", "レビュー", "a审b", "🦦"].map(letters), [4, 3, 12, 8, 16, 6, 4]);
        let (counter, characters) = (TokenCounter::default(), "审".repeat(1_000));
        let tokens = |message: Message| counter.messages(&[Arc::new(message)], Tokenizer::Common);
        assert_eq!(tokens(Message::human("h", characters.clone())), 1_003);
        let call = |text: &str| {
            let args = serde_json::json!({"content": text});
            let reply = bosun_model::AiMessage {
                id: "m".into(),
                content: vec![],
                tool_calls: vec![bosun_model::ToolCall { id: "c".into(), name: "write_file".into(), args }],
                invalid_tool_calls: vec![],
                call_places: Vec::new(),
                dropped: None,
                usage: None,
                stop: bosun_model::StopReason::ToolUse,
                model: None,
                asked: None,
            };
            tokens(Message::Ai(reply))
        };
        assert_eq!(call(&characters), call("") + 1_000);
        let request = ChatRequest { system: vec![SystemBlock::new(characters)], ..ChatRequest::default() };
        assert_eq!(counter.request(&request, Tokenizer::Common), 1_000);
    }

    #[test]
    fn a_beginning_and_an_end_are_cut_at_characters_and_by_what_they_weigh() {
        let text = "ab审ü🦦c";
        let cut = |most| (head(text, most), tail(text, most));
        assert_eq!([cut(0), cut(2), cut(5)], [("", ""), ("ab", "c"), ("ab", "🦦c")]);
        assert_eq!([cut(6), cut(11), cut(99)], [("ab审", "ü🦦c"), ("ab审ü🦦", "b审ü🦦c"), (text, text)]);
    }

    #[test]
    fn what_is_cut_in_the_middle_of_a_character_weighs_the_same() {
        let text = "a 审ü🦦".as_bytes();
        for cut in 0..=text.len() {
            let (before, after) = text.split_at(cut);
            assert_eq!(weight(before) + weight(after), 11, "{cut}");
        }
    }

    #[test]
    fn sound_and_film_count_by_their_size_wherever_they_are_kept() {
        let tokens = |kept: Option<Kept>, data: &str| {
            let (kind, mime) = (MediaKind::Video, "video/mp4".into());
            let content = vec![ContentBlock::Media(Media { kind, mime, data: data.into(), name: None, kept })];
            let message = Message::Human(HumanMessage { id: "h".into(), content });
            TokenCounter::default().messages(&[Arc::new(message)], Tokenizer::Common)
        };
        let kept = Kept { blob: "b".into(), size: 1_000_000, origin: Origin::Read };
        let nothing = tokens(None, "");
        assert_eq!(tokens(Some(kept), "") - nothing, 2_000);
        assert_eq!(tokens(None, &"A".repeat(1_333_336)) - nothing, 2_000);
    }

    #[test]
    fn of_a_long_history_only_what_is_new_is_looked_at() {
        let counter = TokenCounter::default();
        let looked_at = || counter.looked_at.swap(0, std::sync::atomic::Ordering::Relaxed);
        // 10 MB.
        let mut messages: Vec<_> = (0..1_000).map(|_| Arc::new(Message::human("h", "x".repeat(10_000)))).collect();
        let spec = |name: &str| ToolSpec { name: name.into(), description: "d".into(), schema: serde_json::json!({}) };
        let tools: Arc<[ToolSpec]> = vec![spec("a"), spec("b")].into();
        let request = |messages: &[Arc<Message>]| ChatRequest {
            messages: messages.to_vec().into(),
            tools: Arc::clone(&tools),
            ..ChatRequest::default()
        };
        let first = counter.request(&request(&messages), Tokenizer::Common);
        assert_eq!(looked_at(), 1_001, "each message and the tools once");
        assert_eq!(counter.request(&request(&messages), Tokenizer::Common), first);
        assert_eq!(looked_at(), 0);
        messages.push(Arc::new(Message::human("h", "new")));
        messages.push(Arc::new(Message::human("h", "newer")));
        assert!(counter.request(&request(&messages), Tokenizer::Common) > first);
        assert_eq!(looked_at(), 2);
        assert_eq!(counter.messages(&messages[..1_000], Tokenizer::Common), 2_503_000);
    }
}
