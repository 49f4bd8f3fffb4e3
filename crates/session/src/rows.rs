use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use bosun_protocol::{Attachment, Decision, Item, ItemBody, ToolState};
use serde_json::Value;

/// Rows of a pack. More pack better, and cost more to look at one of them.
const PACK: usize = 256;
/// The last rows, which are never packed: they are what is looked at and changed.
const LOOSE: usize = 400;
/// Levels of arguments within one another; `serde_json` reads 128 in all.
const DEEPEST: usize = 64;
/// The quickest of zstd: a person waits for the session.
const LEVEL: i32 = 1;

/// The rows of a session in their order. Those far up, of which none is at work any more, lie packed: a long session has a
/// hundred thousand, a row takes a kilobyte, and a person looks at two hundred of them.
#[derive(Clone)]
pub(crate) struct Rows {
    /// Each of as many rows; those of the session's beginning.
    packs: Vec<Pack>,
    loose: Vec<Item>,
    /// How many rows each pack has, and how many stay loose.
    pack: usize,
    kept: usize,
}

impl Default for Rows {
    fn default() -> Self {
        Self { packs: Vec::new(), loose: Vec::new(), pack: PACK, kept: LOOSE }
    }
}

impl Rows {
    pub(crate) fn len(&self) -> usize {
        self.packed() + self.loose.len()
    }

    /// The last rows. All that are at work are among them.
    pub(crate) fn last_ones(&self) -> &[Item] {
        &self.loose
    }

    /// The place of the first row that is at work.
    pub(crate) fn first_at_work(&self) -> Option<usize> {
        Some(self.packed() + self.loose.iter().position(at_work)?)
    }

    pub(crate) fn get(&self, place: usize) -> Option<Cow<'_, Item>> {
        match place.checked_sub(self.packed()) {
            Some(place) => self.loose.get(place).map(Cow::Borrowed),
            None => self.packs.get(place / self.pack)?.rows().into_iter().nth(place % self.pack).map(Cow::Owned),
        }
    }

    /// To change it: from there on nothing is packed until more rows come.
    pub(crate) fn get_mut(&mut self, place: usize) -> Option<&mut Item> {
        self.open(place / self.pack);
        let place = place.checked_sub(self.packed())?;
        self.loose.get_mut(place)
    }

    pub(crate) fn push(&mut self, row: Item) {
        self.loose.push(row);
        if self.loose.len() >= self.kept + self.pack {
            self.put_away();
        }
    }

    pub(crate) fn remove(&mut self, place: usize) {
        self.open(place / self.pack);
        if let Some(place) = place.checked_sub(self.packed()).filter(|place| *place < self.loose.len()) {
            self.loose.remove(place);
        }
    }

    /// The rows at `places`, as far as there are any.
    pub(crate) fn range(&self, places: Range<usize>) -> Vec<Item> {
        let end = places.end.min(self.len());
        let start = places.start.min(end);
        let packed = self.packed();
        let first = start / self.pack;
        let packs = self.packs.iter().skip(first).take(end.min(packed).div_ceil(self.pack).saturating_sub(first));
        let mut rows: Vec<Item> =
            packs.flat_map(Pack::rows).skip(start - first * self.pack).take(end - start).collect();
        let loose = start.saturating_sub(packed)..end.saturating_sub(packed);
        rows.extend_from_slice(self.loose.get(loose).unwrap_or_default());
        rows
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Cow<'_, Item>> {
        let packed = self.packs.iter().flat_map(Pack::rows).map(Cow::Owned);
        packed.chain(self.loose.iter().map(Cow::Borrowed))
    }

    /// The rows at `places`, which go up; each pack is unpacked once.
    pub(crate) fn at(&self, places: &[usize]) -> Vec<Item> {
        let of_one = |a: &usize, b: &usize| a / self.pack == b / self.pack && *b < self.packed();
        let together = places.chunk_by(of_one);
        together
            .flat_map(|places| match (places.first(), places.last()) {
                (Some(first), Some(last)) => {
                    let rows = self.range(*first..last + 1).into_iter().zip(*first..);
                    rows.filter(|(_, place)| places.binary_search(place).is_ok()).map(|(row, _)| row).collect()
                }
                _ => Vec::new(),
            })
            .collect()
    }

    /// All that stands with what was said, from the first row on.
    pub(crate) fn attachments(&self) -> impl Iterator<Item = &Attachment> {
        self.packs.iter().flat_map(Pack::attachments).chain(self.loose.iter().flat_map(attached))
    }

    fn packed(&self) -> usize {
        self.packs.len() * self.pack
    }

    /// Packs what stands before the last rows, up to the first that is at work.
    fn put_away(&mut self) {
        let most = self.loose.len().saturating_sub(self.kept);
        let settled = self.loose.iter().take(most).position(at_work).unwrap_or(most);
        let packs = settled / self.pack;
        if packs == 0 {
            return;
        }
        let mut settled = self.loose.drain(..packs * self.pack).peekable();
        while settled.peek().is_some() {
            self.packs.push(Pack::of(settled.by_ref().take(self.pack).collect()));
        }
        drop(settled);
        self.loose.shrink_to(2 * (self.kept + self.pack));
    }

    /// Unpacks from the pack at `place` on.
    fn open(&mut self, place: usize) {
        if place < self.packs.len() {
            let mut rows: Vec<Item> = self.packs.drain(place..).flat_map(|pack| pack.rows()).collect();
            rows.append(&mut self.loose);
            self.loose = rows;
        }
    }
}

impl PartialEq for Rows {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl FromIterator<Item> for Rows {
    fn from_iter<I: IntoIterator<Item = Item>>(rows: I) -> Self {
        let mut all = Self::default();
        rows.into_iter().for_each(|row| all.push(row));
        all
    }
}

/// Rows that nobody looks at.
#[derive(Clone)]
enum Pack {
    Packed(Packed),
    /// Those that cannot be packed and unpacked again.
    Plain(Box<[Item]>),
}

/// Rows in little room.
#[derive(Clone)]
struct Packed {
    /// Their JSON, packed; without what is said in them.
    rows: Box<[u8]>,
    /// Bytes of the JSON.
    length: usize,
    /// What is said in those in which something is: shared with the messages that they are of.
    said: Box<[Arc<String>]>,
    /// What stands with that, which is sought among all rows.
    attachments: Box<[Attachment]>,
}

impl Pack {
    fn of(mut rows: Vec<Item>) -> Self {
        if rows.iter().any(is_deep) {
            return Self::Plain(rows.into());
        }
        let said: Box<[_]> = rows.iter_mut().filter_map(said).map(std::mem::take).collect();
        match packed(&rows) {
            Some((bytes, length)) => {
                let attachments = rows.iter().flat_map(attached).cloned().collect();
                Self::Packed(Packed { rows: bytes.into(), length, said, attachments })
            }
            None => {
                give_back(&mut rows, &said);
                Self::Plain(rows.into())
            }
        }
    }

    fn rows(&self) -> Vec<Item> {
        let pack = match self {
            Self::Plain(rows) => return rows.to_vec(),
            Self::Packed(pack) => pack,
        };
        let json = zstd::bulk::decompress(&pack.rows, pack.length);
        let mut rows: Vec<Item> = match json.map(|json| serde_json::from_slice(&json)) {
            Ok(Ok(rows)) => rows,
            Ok(Err(error)) => return lost(&error),
            Err(error) => return lost(&error),
        };
        give_back(&mut rows, &pack.said);
        rows
    }

    fn attachments(&self) -> Box<dyn Iterator<Item = &Attachment> + '_> {
        match self {
            Self::Packed(pack) => Box::new(pack.attachments.iter()),
            Self::Plain(rows) => Box::new(rows.iter().flat_map(attached)),
        }
    }
}

/// The JSON of `rows`, packed, and its bytes.
fn packed(rows: &[Item]) -> Option<(Vec<u8>, usize)> {
    let json = serde_json::to_vec(rows).ok()?;
    Some((zstd::bulk::compress(&json, LEVEL).ok()?, json.len()))
}

fn give_back(rows: &mut [Item], words: &[Arc<String>]) {
    for (place, words) in rows.iter_mut().filter_map(said).zip(words) {
        place.clone_from(words);
    }
}

fn attached(row: &Item) -> &[Attachment] {
    match &row.body {
        ItemBody::Human { attachments, .. } => attachments,
        ItemBody::Ai { .. } | ItemBody::Tool(_) | ItemBody::Notice(_) => &[],
    }
}

/// Whether the arguments in a row are within one another so often that the row's JSON might not be read again: it has some
/// levels more than the entry that they were read from.
fn is_deep(row: &Item) -> bool {
    let ItemBody::Tool(tool) = &row.body else { return false };
    let edited = match tool.decision.as_ref().map(|record| &record.decision) {
        Some(Decision::Edit { args }) => Some(args),
        _ => None,
    };
    edited.into_iter().chain([&tool.args]).any(|args| exceeds(args, DEEPEST))
}

fn exceeds(value: &Value, levels: usize) -> bool {
    let within = |value: &Value| exceeds(value, levels - 1);
    match value {
        Value::Array(values) => levels == 0 || values.iter().any(within),
        Value::Object(values) => levels == 0 || values.values().any(within),
        _ => false,
    }
}

/// Of a pack in memory that is not as it was made.
fn lost(error: &dyn std::error::Error) -> Vec<Item> {
    tracing::error!(%error, "rows of a session cannot be unpacked");
    Vec::new()
}

fn said(row: &mut Item) -> Option<&mut Arc<String>> {
    match &mut row.body {
        ItemBody::Human { text, .. } | ItemBody::Ai { text, .. } => Some(text),
        ItemBody::Tool(_) | ItemBody::Notice(_) => None,
    }
}

/// Whether a row will still change.
fn at_work(row: &Item) -> bool {
    match &row.body {
        ItemBody::Ai { streaming, .. } => *streaming,
        ItemBody::Tool(tool) => matches!(tool.state, ToolState::Proposed | ToolState::Waiting | ToolState::Running),
        ItemBody::Human { .. } | ItemBody::Notice(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use bosun_protocol::{AttachmentKind, ItemId, Notice, NoticeCode, ToolItem, ToolKind};
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn row(number: usize, body: ItemBody) -> Item {
        Item { id: ItemId::new(format!("row-{number}")), turn: 1, at: 7, body }
    }

    fn reply(number: usize, streaming: bool) -> Item {
        let text = Arc::new(format!("reply {number} 回复"));
        row(number, ItemBody::Ai { text, reasoning: "why".into(), streaming })
    }

    fn call(number: usize, state: ToolState) -> Item {
        let tool = ToolItem {
            call_id: bosun_protocol::CallId::new(format!("call-{number}")),
            name: "read_file".into(),
            tool_kind: ToolKind::Read,
            args: json!({ "file_path": "/a", "deep": [0.1, -3, null, { "b": "\u{7}" }], "big": u64::MAX }),
            state,
            started_at: Some(1),
            ended_at: None,
            figures: vec![bosun_protocol::Figure::Lines(3)],
            output: format!("line {number}\n"),
            output_truncated: number.is_multiple_of(2),
            diff: None,
            decision: None,
            child: None,
            todos: vec!["t".into()],
        };
        row(number, ItemBody::Tool(tool))
    }

    fn settled(number: usize) -> Item {
        let notice = Notice { code: NoticeCode::Stopped, detail: format!("{number}"), problem: None, model: None };
        match number % 4 {
            0 => row(number, ItemBody::Human { text: Arc::new(format!("ask {number}")), attachments: Vec::new() }),
            1 => reply(number, false),
            2 => call(number, ToolState::Done),
            _ => row(number, ItemBody::Notice(notice)),
        }
    }

    fn small() -> Rows {
        Rows { pack: 4, kept: 6, ..Rows::default() }
    }

    #[test]
    fn a_long_session_takes_a_fraction_of_its_rows_and_says_them_all() {
        let rows: Rows = (0..10_000).map(settled).collect();
        assert!(rows.loose.len() < LOOSE + PACK, "{}", rows.loose.len());
        let bytes = |pack: &Pack| match pack {
            Pack::Packed(pack) => pack.rows.len(),
            Pack::Plain(rows) => panic!("not packed: {rows:?}"),
        };
        let bytes: usize = rows.packs.iter().map(bytes).sum();
        assert!(bytes < 10_000 * 100, "{bytes}");
        assert_eq!(rows.len(), 10_000);
        assert!(rows.iter().map(Cow::into_owned).eq((0..10_000).map(settled)));
    }

    #[test]
    fn a_row_that_is_at_work_is_loose_until_it_has_ended_and_so_are_those_behind_it() {
        let mut rows = small();
        rows.push(settled(0));
        rows.push(call(1, ToolState::Running));
        (2..40).for_each(|number| rows.push(settled(number)));
        assert_eq!((rows.packed(), rows.first_at_work()), (0, Some(1)));
        *rows.get_mut(1).unwrap() = call(1, ToolState::Done);
        rows.push(settled(40));
        assert_eq!((rows.packed(), rows.loose.len(), rows.first_at_work()), (32, 9, None));
        let first = rows.range(0..3).into_iter().map(|row| row.body).collect::<Vec<_>>();
        assert_eq!(first, [settled(0).body, call(1, ToolState::Done).body, settled(2).body]);
    }

    #[test]
    fn what_is_said_is_shared_with_its_message_in_a_pack_too() {
        let mut rows = small();
        let text = Arc::new("a long reply".to_owned());
        rows.push(row(0, ItemBody::Ai { text: Arc::clone(&text), reasoning: String::new(), streaming: false }));
        (1..20).for_each(|number| rows.push(settled(number)));
        assert!(rows.packed() > 0);
        let first = rows.get(0).unwrap().into_owned();
        let ItemBody::Ai { text: said, .. } = first.body else { panic!("{first:?}") };
        assert!(Arc::ptr_eq(&said, &text));
    }

    #[test]
    fn what_could_not_be_read_again_is_kept_as_it_is() {
        let nested = |levels: usize| (0..levels).fold(json!(1), |value, _| json!([value]));
        let deep = |number: usize| {
            let mut deep = call(number, ToolState::Done);
            if let ItemBody::Tool(tool) = &mut deep.body {
                tool.args = nested(DEEPEST + 1 + number);
            }
            deep
        };
        let mut rows = small();
        (0..20).for_each(|number| rows.push(deep(number)));
        assert!(rows.packed() > 0);
        assert!(rows.iter().map(Cow::into_owned).eq((0..20).map(deep)));
        let ItemBody::Tool(tool) = call(0, ToolState::Done).body else { unreachable!() };
        assert!(
            !exceeds(&tool.args, DEEPEST)
                && !exceeds(&nested(DEEPEST), DEEPEST)
                && exceeds(&nested(DEEPEST + 1), DEEPEST)
        );
    }

    #[test]
    fn attachments_are_found_in_packs_too() {
        let with = |number: usize| {
            let blob = Some(format!("blob-{number}"));
            let one =
                Attachment { name: "a".into(), mime: "text/plain".into(), kind: AttachmentKind::Text, blob, size: 1 };
            row(number, ItemBody::Human { text: Arc::default(), attachments: vec![one] })
        };
        let mut rows = small();
        (0..30).for_each(|number| rows.push(with(number)));
        assert!(rows.packed() > 0);
        let blobs: Vec<_> = rows.attachments().filter_map(|one| one.blob.clone()).collect();
        assert_eq!(blobs, (0..30).map(|number| format!("blob-{number}")).collect::<Vec<_>>());
    }

    #[derive(Clone, Debug)]
    enum Step {
        Push(u8),
        Change(usize),
        Remove(usize),
        Range(usize, usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            8 => any::<u8>().prop_map(Step::Push),
            2 => (0..60_usize).prop_map(Step::Change),
            1 => (0..60_usize).prop_map(Step::Remove),
            2 => (0..60_usize, 0..60_usize).prop_map(|(start, end)| Step::Range(start, end)),
        ]
    }

    proptest! {
        #[test]
        fn it_is_a_list_whatever_is_packed(steps in proptest::collection::vec(step(), 0..150)) {
            let (mut rows, mut plain) = (small(), Vec::new());
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    Step::Push(kind) => {
                        let row = if kind % 16 == 0 { reply(number, true) } else { settled(number) };
                        rows.push(row.clone());
                        plain.push(row);
                    }
                    Step::Change(place) => {
                        let (row, known) = (rows.get_mut(place), plain.get_mut(place));
                        prop_assert_eq!(row.is_some(), known.is_some());
                        if let (Some(row), Some(known)) = (row, known) {
                            *row = settled(number);
                            *known = settled(number);
                        }
                    }
                    Step::Remove(place) => {
                        rows.remove(place);
                        if place < plain.len() {
                            plain.remove(place);
                        }
                    }
                    Step::Range(start, end) => {
                        let cut = start.min(plain.len())..end.min(plain.len()).max(start.min(plain.len()));
                        let places: Vec<usize> = cut.clone().step_by(3).collect();
                        let some: Vec<Item> = places.iter().map(|place| plain[*place].clone()).collect();
                        prop_assert_eq!(rows.at(&places), some);
                        prop_assert_eq!(rows.range(start..end), plain[cut].to_vec());
                    }
                }
                prop_assert_eq!(rows.len(), plain.len());
                prop_assert_eq!(rows.first_at_work(), plain.iter().position(at_work));
                let looked = number % (plain.len() + 1);
                prop_assert_eq!(rows.get(looked).map(Cow::into_owned), plain.get(looked).cloned());
            }
            prop_assert!(rows.iter().map(Cow::into_owned).eq(plain));
        }
    }
}
