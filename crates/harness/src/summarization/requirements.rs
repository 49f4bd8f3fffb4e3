//! What the user asked for, as a summary carries it over: word for word.

use std::sync::Arc;

use bosun_agent::is_news;
use bosun_backend::VirtualPath;
use bosun_model::{Message, text_of};

use super::transcript::shortened_with;
use crate::tokens::{LETTERS, letters};

/// What even the least of very many messages keeps, in letters.
const SHORTEST: usize = 400;

/// The user's messages, oldest first, in about `most_tokens`. What they began with and what they said last come in whole
/// before what stands between; of one that is cut it is said where the whole of it is: the file of `kept` has all before
/// a message.
pub(super) fn of(messages: &[Arc<Message>], most_tokens: usize, kept: Option<(&VirtualPath, usize)>) -> Vec<String> {
    let limit = most_tokens.saturating_mul(LETTERS);
    let place = |index: usize| kept.filter(|(_, before)| index < *before).map(|(file, _)| file);
    let all = messages.iter().enumerate();
    let said = all.filter_map(|(index, message)| Some((words_of(message)?, place(index))));
    let mut said: Vec<(String, Option<&VirtualPath>)> = said.collect();
    if let Some(((first, file), later)) = said.split_first_mut() {
        let others: usize = later.iter().map(|(words, _)| letters(words)).sum();
        // However long the first one is, half of the room is for the others, as far as they need it.
        fit(first, limit - others.min(limit / 2), *file);
        let mut left = limit.saturating_sub(letters(first));
        for (words, file) in later.iter_mut().rev() {
            fit(words, left, *file);
            left = left.saturating_sub(letters(words));
        }
    }
    said.into_iter().map(|(words, _)| words).collect()
}

fn words_of(message: &Message) -> Option<String> {
    match message {
        Message::Human(human) if is_news(human) => None,
        Message::Human(human) => Some(text_of(&human.content)).filter(|text| !text.trim().is_empty()),
        Message::System(_) | Message::Ai(_) | Message::Tool(_) => None,
    }
}

fn fit(words: &mut String, room: usize, file: Option<&VirtualPath>) {
    let room = room.max(SHORTEST);
    if letters(words) <= room {
        return;
    }
    let place = file.map(|file| format!("; the whole of it is in {file}")).unwrap_or_default();
    *words = shortened_with(words, room, &place);
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn said(texts: &[String]) -> Vec<Arc<Message>> {
        texts.iter().map(|text| Arc::new(Message::human("h", text.clone()))).collect()
    }

    #[test]
    fn what_fits_stays_word_for_word() {
        let texts = ["a".repeat(30_000), "b".into(), "审".repeat(2_000)];
        assert_eq!(of(&said(&texts), 9_501, None), texts);
    }

    #[test]
    fn what_stands_between_the_first_and_the_newest_is_cut_first_and_says_where_it_is() {
        let texts: [String; 4] = std::array::from_fn(|n| format!("{n}: {}", "w".repeat(600)));
        let file = VirtualPath::parse("/conversation_history/session_s.md").unwrap();
        let kept = of(&said(&texts), 500, Some((&file, 4)));
        assert_eq!([&kept[0], &kept[2], &kept[3]], [&texts[0], &texts[2], &texts[3]]);
        let cut = "left out; the whole of it is in /conversation_history/session_s.md …]";
        assert!(kept[1].starts_with("1: www") && kept[1].contains(cut), "{}", kept[1]);
        let unkept = of(&said(&texts), 500, Some((&file, 1)));
        assert!(unkept[1].contains("left out …]"), "the file has only what is before: {}", unkept[1]);
    }

    #[test]
    fn a_long_beginning_leaves_room_for_the_rest() {
        let texts = ["a".repeat(9_000), "b".repeat(900), "审".repeat(5_000)];
        let kept = of(&said(&texts), 1_000, None);
        let sizes: Vec<usize> = kept.iter().map(|words| letters(words)).collect();
        assert!(sizes[0] > 1_900 && sizes[0] < 2_200, "{sizes:?}");
        assert!(sizes[2] > 1_500 && sizes[2] < 2_200, "{sizes:?}");
        assert!(sizes[1] < 500, "{sizes:?}");
    }

    #[test]
    fn what_a_person_did_not_say_is_no_requirement() {
        let messages: Vec<_> = ["notice-child-1", "files-7", "h"].map(|id| Arc::new(Message::human(id, id))).into();
        assert_eq!(of(&messages, 1_000, None), ["h"]);
    }
}
