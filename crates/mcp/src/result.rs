//! What a server answers, made into what a model reads: cleaned, cut, and with media only where they can be taken.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bosun_backend::KeptOutput;
use bosun_model::{Abilities, ContentBlock};
use bosun_tools::{Figure, RESULT_CHARS, ToolOutput, media_block};
use rmcp::model::{CallToolResult, ContentBlock as Piece, ResourceContents};
use serde_json::Value;

use crate::text;

/// Pieces of one answer; more are left out.
const MOST_PIECES: usize = 100;
/// Pictures and documents of one answer.
const MOST_MEDIA: usize = 10;
/// Characters of an address or a name.
const LONGEST_NAME: usize = 300;

pub(crate) fn output(tool: &str, answer: CallToolResult, abilities: Abilities) -> ToolOutput {
    let mut reader = Reader { tool, abilities, texts: Vec::new(), media: Vec::new(), left_out: 0 };
    let pieces = answer.content.len();
    for piece in answer.content.iter().take(MOST_PIECES) {
        reader.piece(piece);
    }
    reader.left_out += pieces.saturating_sub(MOST_PIECES);
    if let Some(structured) = &answer.structured_content {
        reader.structured(structured);
    }
    if reader.left_out > 0 {
        reader.texts.push(format!("[{} more pieces of the answer are left out]", reader.left_out));
    }
    if reader.texts.is_empty() && reader.media.is_empty() {
        reader.texts.push("(the tool answered with nothing)".into());
    }
    reader.into_output(answer.is_error == Some(true))
}

struct Reader<'a> {
    tool: &'a str,
    abilities: Abilities,
    texts: Vec<String>,
    media: Vec<ContentBlock>,
    left_out: usize,
}

impl Reader<'_> {
    fn piece(&mut self, piece: &Piece) {
        match piece {
            Piece::Text(text) => self.text(&text.text),
            Piece::Image(image) => self.bytes("an image", &image.mime_type, &image.data),
            Piece::Audio(audio) => self.bytes("a sound", &audio.mime_type, &audio.data),
            Piece::Resource(resource) => self.resource(&resource.resource),
            Piece::ResourceLink(link) => {
                let (uri, name) = (text::line(&link.uri, LONGEST_NAME), text::line(&link.name, LONGEST_NAME));
                let about = link.description.as_deref().map(|about| format!(": {}", text::line(about, LONGEST_NAME)));
                self.texts.push(format!("[resource {name} at {uri}{}]", about.unwrap_or_default()));
            }
            _ => self.left_out += 1,
        }
    }

    fn text(&mut self, said: &str) {
        self.texts.push(text::clean(said, usize::MAX));
    }

    fn resource(&mut self, resource: &ResourceContents) {
        match resource {
            ResourceContents::TextResourceContents { uri, text, .. } => {
                let uri = text::line(uri, LONGEST_NAME);
                self.texts.push(format!("[resource {uri}]\n{}", text::clean(text, usize::MAX)));
            }
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                let mime = mime_type.as_deref().unwrap_or("application/octet-stream");
                self.bytes(&text::line(uri, LONGEST_NAME), mime, blob);
            }
            _ => self.left_out += 1,
        }
    }

    fn bytes(&mut self, what: &str, mime: &str, data: &str) {
        if self.media.len() == MOST_MEDIA {
            self.left_out += 1;
            return;
        }
        let mime = text::line(mime, 100);
        match STANDARD.decode(data.trim()) {
            Ok(bytes) => match media_block(&format!("{what} from {}", self.tool), &mime, &bytes, self.abilities) {
                ContentBlock::Text { text } => self.texts.push(Arc::unwrap_or_clone(text)),
                media => self.media.push(media),
            },
            Err(_) => self.texts.push(format!("[{what} ({mime}) is not shown: it is no base64]")),
        }
    }

    /// Structured content is the answer again for programs; it is told where no text has told it.
    fn structured(&mut self, value: &Value) {
        // Servers wrap an answer that is no object into one with a single field.
        let only = value.as_object().filter(|object| object.len() == 1).and_then(|object| object.values().next());
        let is_told = |text: &String| {
            let read = serde_json::from_str::<Value>(text).ok();
            [Some(value), only].into_iter().flatten().any(|value| read.as_ref() == Some(value) || value == text)
        };
        if !self.texts.iter().any(is_told) {
            self.texts.push(text::clean(&value.to_string(), usize::MAX));
        }
    }

    fn into_output(self, is_error: bool) -> ToolOutput {
        let whole = self.texts.join("\n");
        let mut output = ToolOutput { is_error, ..ToolOutput::default() };
        match whole.char_indices().nth(RESULT_CHARS) {
            Some((cut, _)) => {
                let head = whole.get(..cut).unwrap_or_default();
                let count = whole.chars().count();
                let note = format!("{head}\n[the answer has {count} characters; the rest is left out]");
                output.content.push(ContentBlock::text(note));
                output.artifact.truncated = true;
                output.artifact.figures.push(Figure::Truncated);
                // Without room for it the head has to do.
                output.full_output = KeptOutput::of(whole.as_bytes()).ok();
            }
            None if whole.is_empty() => {}
            None => output.content.push(ContentBlock::text(whole)),
        }
        output.content.extend(self.media);
        output
    }
}

#[cfg(test)]
#[path = "result_tests.rs"]
mod tests;
