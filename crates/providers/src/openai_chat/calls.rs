use std::collections::{HashMap, HashSet};

use bosun_model::{ModelEvent, StopReason};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::thoughts::Thoughts;
use crate::adapter::CallIds;
use crate::driver::{Events, Fault};
use crate::lenient::Text;

/// Puts tool calls together from deltas.
///
/// | what a server does | what it means |
/// |---|---|
/// | id and name first, then argument pieces under the same index | one call |
/// | the id again with every piece, or another id without a name | the same call |
/// | the same index with a name and another id | a new call (servers that number every call 0) |
/// | the same index with a name and no id, after a whole object of arguments | a new call (those that give no ids either) |
/// | the same once more, name and arguments | a repetition, which adds nothing: nobody wants it done twice |
/// | no index: an id seen before, or no id and no name | the call it belongs to, else the newest |
/// | no index: a new id, or a name without an id | a new call |
/// | arguments as a JSON object instead of text | the whole of the arguments |
/// | no id, or one that another call of the reply has | an id is made ([`CallIds`]) |
/// | no name by the end | an error: nothing is guessed |
#[derive(Debug)]
pub(super) struct Calls {
    ids: CallIds,
    calls: Vec<Call>,
    /// The last call of each index, and of each id that the server gave: a reply may have very many.
    by_index: HashMap<u64, usize>,
    by_id: HashMap<String, usize>,
    taken: HashSet<String>,
}

#[derive(Debug, Default)]
struct Call {
    /// As the server gave it; what events carry may differ.
    id: Option<String>,
    /// Events are held back until the name is known.
    named: bool,
    waiting: String,
    /// The arguments came as an object, so there can be no more.
    whole: bool,
    /// How far the text of the arguments is.
    text: ObjectText,
    /// The name, and that text, where the server gave no id to tell calls by.
    name: String,
    given: String,
    /// What events carry as its id.
    told: String,
    /// What came beside it for the next request.
    extra: Option<Value>,
}

#[derive(Deserialize)]
pub(super) struct ToolDelta<'a> {
    index: Option<u64>,
    #[serde(borrow, default)]
    id: Text<'a>,
    #[serde(borrow)]
    function: Option<FunctionDelta<'a>>,
    #[serde(borrow)]
    extra_content: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct FunctionDelta<'a> {
    #[serde(borrow, default)]
    name: Text<'a>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

impl Calls {
    pub(super) fn new(ids: CallIds) -> Self {
        Self { ids, calls: Vec::new(), by_index: HashMap::new(), by_id: HashMap::new(), taken: HashSet::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    pub(super) fn take(&mut self, delta: ToolDelta<'_>, out: &mut Events) -> Result<(), Fault> {
        let function = delta.function.unwrap_or_default();
        let id = Some(&*delta.id.0).filter(|id| !id.is_empty());
        let name = Some(&*function.name.0).filter(|name| !name.is_empty());
        let has_arguments = function.arguments.is_some_and(|raw| !matches!(raw.get(), "null" | "\"\""));
        if self.is_repetition(delta.index, id, name, function.arguments) {
            return Ok(());
        }
        let at = match self.find(delta.index, id, name, has_arguments) {
            Some(at) => at,
            None => {
                let at = self.calls.len();
                self.calls.push(Call::default());
                self.by_index.extend(delta.index.map(|index| (index, at)));
                at
            }
        };
        let number = u32::try_from(at).unwrap_or(u32::MAX);
        let Some(call) = self.calls.get_mut(at) else { return Ok(()) };
        if let (None, Some(id)) = (&call.id, id) {
            call.id = Some(id.to_owned());
            self.by_id.insert(id.to_owned(), at);
        }
        if let Some(name) = name
            && !call.named
        {
            call.named = true;
            name.clone_into(&mut call.name);
            let given = call.id.clone().filter(|id| !self.taken.contains(id));
            let id = given.unwrap_or_else(|| self.ids.id(at));
            self.taken.insert(id.clone());
            call.told.clone_from(&id);
            out.push_back(ModelEvent::ToolCallStarted { index: number, id: id.into(), name: name.to_owned() });
            if !call.waiting.is_empty() {
                let json = std::mem::take(&mut call.waiting);
                out.push_back(ModelEvent::ToolCallDelta { index: number, json });
            }
        }
        if let Some(extra) = delta.extra_content.filter(|extra| extra.get().starts_with('{')) {
            call.extra = serde_json::from_str(extra.get()).ok();
        }
        if let Some(arguments) = function.arguments {
            call.arguments(arguments.get(), number, out)?;
        }
        Ok(())
    }

    /// The call that a delta goes on with; `None` when it begins one.
    fn find(&self, index: Option<u64>, id: Option<&str>, name: Option<&str>, has_arguments: bool) -> Option<usize> {
        let same = self.same(index, id);
        let call = same.and_then(|at| self.calls.get(at))?;
        let other_id = id.is_some() && call.id.is_some() && call.id.as_deref() != id;
        let unplaced = index.is_none() && id.is_none();
        let is_other = name.is_some_and(|name| name != call.name);
        let is_over = id.is_none() && call.text == ObjectText::Over && (has_arguments || is_other);
        let anew = name.is_some() && call.named && (other_id || unplaced || call.whole || is_over);
        if anew { None } else { same }
    }

    /// The call that an index or an id means, where there is one.
    fn same(&self, index: Option<u64>, id: Option<&str>) -> Option<usize> {
        match (index, id) {
            (Some(index), _) => self.by_index.get(&index).copied(),
            (None, Some(id)) => self.by_id.get(id).copied(),
            (None, None) => self.calls.len().checked_sub(1),
        }
    }

    /// Whether a delta is all of the call before once more, as some servers end a reply.
    fn is_repetition(
        &self,
        index: Option<u64>,
        id: Option<&str>,
        name: Option<&str>,
        arguments: Option<&RawValue>,
    ) -> bool {
        let call = self.same(index, id).and_then(|at| self.calls.get(at));
        let (Some(call), Some(name), Some(arguments)) = (call, name, arguments) else { return false };
        let is_whole = id.is_none() && call.id.is_none() && call.text == ObjectText::Over && call.name == name;
        is_whole && serde_json::from_str::<String>(arguments.get()).is_ok_and(|given| given == call.given)
    }

    /// Says which calls are complete. Only a reply that the model itself ended has complete ones: this wire does not mark
    /// the end of a call.
    pub(super) fn finish(&mut self, stop: &StopReason, thoughts: &Thoughts, out: &mut Events) -> Result<(), Fault> {
        if self.calls.iter().any(|call| !call.named) {
            return Err(Fault::corrupt("a tool call without a name"));
        }
        for call in &self.calls {
            if let Some(extra) = &call.extra {
                thoughts.beside_call(&call.told, extra, out);
            }
        }
        if matches!(stop, StopReason::EndTurn | StopReason::ToolUse | StopReason::StopSequence) {
            let count = u32::try_from(self.calls.len()).unwrap_or(u32::MAX);
            out.extend((0..count).map(|index| ModelEvent::ToolCallDone { index }));
        }
        Ok(())
    }
}

impl Call {
    /// Argument text, or the object itself.
    fn arguments(&mut self, raw: &str, index: u32, out: &mut Events) -> Result<(), Fault> {
        let json = match raw.as_bytes().first() {
            Some(b'"') => serde_json::from_str(raw).map_err(|error| Fault::json("the arguments of a call", &error))?,
            Some(b'{') => {
                self.whole = true;
                raw.to_owned()
            }
            _ if raw == "null" => return Ok(()),
            _ => return Err(Fault::corrupt("the arguments of a call are neither text nor an object")),
        };
        if json.is_empty() {
            return Ok(());
        }
        self.text.take(&json);
        if self.id.is_none() {
            self.given.push_str(&json);
        }
        if self.named {
            out.push_back(ModelEvent::ToolCallDelta { index, json });
        } else {
            self.waiting.push_str(&json);
        }
        Ok(())
    }
}

/// Follows the text of one JSON object to its end, piece by piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ObjectText {
    #[default]
    Before,
    Inside {
        depth: u32,
        in_text: bool,
        escaped: bool,
    },
    Over,
    /// It is no object, or something follows it.
    Other,
}

impl ObjectText {
    fn take(&mut self, piece: &str) {
        for byte in piece.bytes() {
            *self = match *self {
                Self::Other => return,
                Self::Before | Self::Over if byte.is_ascii_whitespace() => *self,
                Self::Before if byte == b'{' => Self::Inside { depth: 1, in_text: false, escaped: false },
                Self::Before | Self::Over => Self::Other,
                Self::Inside { depth, in_text: true, escaped } => {
                    Self::Inside { depth, in_text: escaped || byte != b'"', escaped: !escaped && byte == b'\\' }
                }
                Self::Inside { depth, in_text: false, .. } => match byte {
                    b'}' | b']' if depth == 1 => Self::Over,
                    b'}' | b']' => Self::Inside { depth: depth - 1, in_text: false, escaped: false },
                    b'{' | b'[' => Self::Inside { depth: depth.saturating_add(1), in_text: false, escaped: false },
                    _ => Self::Inside { depth, in_text: byte == b'"', escaped: false },
                },
            };
        }
    }
}
