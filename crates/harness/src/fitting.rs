//! Files that stand in the prompt, as far as the model's window has room for them.

use bosun_model::ModelInfo;

use crate::tokens::{self, Tokenizer, letters_of};

/// What part of the model's window one file may take: a small one has to hold a conversation too.
const PART_OF_WINDOW: u64 = 8;

/// Most letters of one file; no bound where the window is not known.
pub(crate) fn room(model: &ModelInfo) -> usize {
    let window = model.context_window.filter(|window| *window > 0);
    window.map_or(usize::MAX, |window| letters_of(u64::from(window) / PART_OF_WINDOW, Tokenizer::of(model)))
}

/// The beginning of `text` within so many letters and so many characters.
pub(crate) fn head(text: &str, room: usize, most: usize) -> &str {
    let cut = text.char_indices().nth(most).and_then(|(cut, _)| text.get(..cut));
    tokens::head(cut.unwrap_or(text), room)
}

/// The beginning of what `path` holds, with where the rest is.
pub(crate) fn beginning(path: &str, head: &str) -> String {
    format!("{head}\n[{path} is longer than fits here; read the rest of it with read_file when you need it.]")
}
