//! What the user asked for, as a summary carries it over: word for word.

use std::sync::Arc;

use bosun_agent::is_news;
use bosun_backend::VirtualPath;
use bosun_model::{Message, text_of};

use super::transcript::shortened_with;
use crate::tokens::letters;

/// What a message keeps at least where it is shown at all, in letters.
const SHORTEST: usize = 400;
/// What stands around a message in the list, and around what is left out of one, in letters.
const ROW: usize = 3;
const MARK: usize = 50;

/// A message of the user, and the file that has the whole of it.
struct Said<'a> {
    words: String,
    file: Option<&'a VirtualPath>,
}

/// The user's messages, oldest first, in at most `most` letters. What they began with and what they said last come before
/// what stands between: of that long messages are cut, and where even so not all fit, one row says how many are left out.
/// Of what is cut or left out it is said where the whole of it is: the file of `kept` has all before a message.
pub(super) fn of(messages: &[Arc<Message>], most: usize, kept: Option<(&VirtualPath, usize)>) -> Vec<String> {
    let file = |index: usize| kept.filter(|(_, before)| index < *before).map(|(file, _)| file);
    let all = messages.iter().enumerate();
    let said = all.filter_map(|(index, message)| Some(Said { words: words_of(message)?, file: file(index) }));
    let mut said = said.collect::<Vec<_>>().into_iter();
    let Some(first) = said.next() else { return Vec::new() };
    let later: Vec<Said<'_>> = said.collect();
    let others: usize = later.iter().map(|said| letters(&said.words) + ROW).sum();
    // However long the first one is, half of the room is for the others, as far as they need it.
    let first = first.within((most - others.min(most / 2)).saturating_sub(ROW));
    let left = most.saturating_sub(letters(&first) + ROW);
    let rooms = shared(&later, left);
    let rooms = if rooms.len() == later.len() {
        rooms
    } else {
        shared(&later, left.saturating_sub(letters(&left_out(&later)) + ROW))
    };
    let skipped = later.len() - rooms.len();
    let note = later.get(..skipped).filter(|between| !between.is_empty()).map(left_out);
    let note = note.filter(|note| letters(note) + ROW <= left);
    let newest = later.into_iter().skip(skipped).zip(rooms.into_iter().rev()).map(|(said, room)| said.within(room));
    std::iter::once(first).chain(note).chain(newest).collect()
}

/// The room of each of the newest of `said` in letters, newest first, as many as have one. Each is offered half of what is
/// left, so that one long message does not take the place of all before it, and what remains is for the newest.
fn shared(said: &[Said<'_>], most: usize) -> Vec<usize> {
    let mut left = most;
    let costs = || said.iter().rev().map(|said| letters(&said.words));
    let mut rooms: Vec<usize> = costs()
        .map_while(|cost| {
            let room = cost.min(SHORTEST.max(left / 2));
            left = left.checked_sub(room + ROW)?;
            Some(room)
        })
        .collect();
    for (room, cost) in rooms.iter_mut().zip(costs()) {
        let more = (cost - *room).min(left);
        *room += more;
        left -= more;
    }
    rooms
}

fn left_out(between: &[Said<'_>]) -> String {
    let count = between.len();
    let place = match between.iter().filter_map(|said| said.file).next_back() {
        None => String::new(),
        Some(file) => {
            let filed = between.iter().filter(|said| said.file.is_some()).count();
            let which = if filed == count { String::new() } else { format!("{filed} of them ") };
            format!("; {which}word for word in {file} as <message type=\"human\">")
        }
    };
    format!("[… {count} earlier messages of the user left out{place} …]")
}

impl Said<'_> {
    /// The words in so many letters.
    fn within(self, room: usize) -> String {
        if letters(&self.words) <= room {
            return self.words;
        }
        let place = self.file.map(|file| format!("; the whole of it is in {file}")).unwrap_or_default();
        shortened_with(&self.words, room.saturating_sub(MARK + letters(&place)), &place)
    }
}

fn words_of(message: &Message) -> Option<String> {
    match message {
        Message::Human(human) if is_news(human) => None,
        Message::Human(human) => Some(text_of(&human.content)).filter(|text| !text.trim().is_empty()),
        Message::System(_) | Message::Ai(_) | Message::Tool(_) => None,
    }
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
        assert_eq!(of(&said(&texts), 38_010, None), texts);
    }

    #[test]
    fn what_stands_between_the_first_and_the_newest_is_cut_first_and_says_where_it_is() {
        let texts: [String; 4] = std::array::from_fn(|n| format!("{n}: {}", "w".repeat(600)));
        let file = VirtualPath::parse("/conversation_history/session_s.md").unwrap();
        let kept = of(&said(&texts), 2_400, Some((&file, 4)));
        assert_eq!([&kept[0], &kept[2], &kept[3]], [&texts[0], &texts[2], &texts[3]]);
        let cut = "left out; the whole of it is in /conversation_history/session_s.md …]";
        assert!(kept[1].starts_with("1: www") && kept[1].contains(cut), "{}", kept[1]);
        let unkept = of(&said(&texts), 2_400, Some((&file, 1)));
        assert!(unkept[1].contains("left out …]"), "the file has only what is before: {}", unkept[1]);
    }

    #[test]
    fn a_long_beginning_leaves_room_for_the_rest() {
        let texts = ["a".repeat(9_000), "b".repeat(900), "审".repeat(5_000)];
        let kept = of(&said(&texts), 4_000, None);
        let sizes: Vec<usize> = kept.iter().map(|words| letters(words)).collect();
        assert!(sizes[0] > 1_900, "{sizes:?}");
        assert!(sizes[2] > 1_400 && sizes[1] > 400, "{sizes:?}");
        assert!(sizes.iter().sum::<usize>() <= 4_000, "{sizes:?}");
    }

    #[test]
    fn of_many_messages_the_first_and_the_newest_stay_and_the_rest_are_counted() {
        let texts: Vec<String> = (0..80).map(|n| format!("{n:02}: {}", "w".repeat(396))).collect();
        let file = VirtualPath::parse("/conversation_history/session_s.md").unwrap();
        for (filed, told) in [(80, "; word for word in "), (20, "; 19 of them word for word in "), (1, " …]")] {
            let kept = of(&said(&texts), 6_000, Some((&file, filed)));
            let newest = kept.len() - 2;
            assert_eq!((&kept[0], &kept[2..]), (&texts[0], &texts[80 - newest..]));
            let count = 79 - newest;
            assert!(
                newest > 10 && kept[1].contains(&format!("{count} earlier messages of the user left out{told}")),
                "{}",
                kept[1]
            );
        }
    }

    #[test]
    fn what_a_person_did_not_say_is_no_requirement() {
        let messages: Vec<_> = ["notice-child-1", "files-7", "h"].map(|id| Arc::new(Message::human(id, id))).into();
        assert_eq!(of(&messages, 1_000, None), ["h"]);
    }
}
