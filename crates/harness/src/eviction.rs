mod kept;

use std::sync::Arc;

use bosun_agent::TurnContext;
use bosun_backend::{KeptOutput, OutputEnds, VirtualPath};
use bosun_model::{CallId, ContentBlock, HumanMessage, Message, text_of};
use bosun_tools::{Grep, Reducer, StateUpdate, Tool as _, ToolOutput};

use crate::artifacts::{self, Artifacts};
use crate::tokens::{LETTERS, letters};
pub(crate) use kept::{KeptPart, KeptResult, kept_results};

/// The folder of results that were too large for the conversation.
pub(crate) const FOLDER: &str = "large_tool_results";
/// The state field with the messages of the user that were too large: message id to path.
pub(crate) const MESSAGES_FIELD: &str = "evicted_messages";

/// Lines of head and tail that stay visible, and how long one may be.
const EDGE: usize = 5;
const LINE: usize = 1_000;
/// Of an id that long only this much is shown.
const SHOWN_ID: usize = 32;
/// Tools that bound their results themselves.
const BOUNDED: [&str; 7] = ["ls", "glob", "grep", "read_file", "edit_file", "write_file", "delete"];
/// Most bytes of the beginning and of the end of an output that are kept: with the line between them, a file of 64 MiB.
const KEPT_HEAD: usize = (60 << 20) - 4_096;
const KEPT_TAIL: usize = 4 << 20;

/// Replaces a result that is too large by its head and tail and puts the whole where the model can read it. Where it
/// cannot be put anywhere, the result stays as it is.
pub(crate) async fn result(
    cx: &TurnContext,
    artifacts: &Artifacts,
    limit: Option<u32>,
    tool: &str,
    call_id: &CallId,
    mut output: ToolOutput,
) -> ToolOutput {
    let Some(limit) = limit.filter(|_| !BOUNDED.contains(&tool)) else { return output };
    let text = text_of(&output.content);
    let is_large = letters(&text) > limit as usize * LETTERS;
    if !is_large && output.full_output.is_none() {
        return output;
    }
    let Some(path) = artifacts.own_path(cx, FOLDER, call_id.as_str()) else { return output };
    let kept = match output.full_output.take() {
        Some(kept) => whole(kept).await,
        None => None,
    };
    if kept.is_none() && !is_large {
        return output;
    }
    let (bytes, extent) = kept.unwrap_or_else(|| {
        let extent = if output.artifact.truncated { Extent::AsShown } else { Extent::Whole };
        (text.clone().into_bytes(), extent)
    });
    match artifacts::put(cx, &path, bytes).await {
        Ok(written) => {
            output.update.files.extend(written.files);
            let part = if extent == Extent::Whole { KeptPart::Whole } else { KeptPart::Ends };
            let kept = KeptResult { path: path.clone(), part };
            KeptResult::note_all(&[(call_id.clone(), kept)].into(), &mut output.update);
            if is_large {
                let stub = ContentBlock::text(stub(call_id.as_str(), &path, &text, extent, finding(cx)));
                let rest = output.content.into_iter().filter(|block| block.as_text().is_none());
                output.content = std::iter::once(stub).chain(rest).collect();
                output.artifact.truncated = true;
            } else {
                output.content.push(ContentBlock::text(beside(&path, extent)));
            }
        }
        Err(error) => tracing::warn!(%error, %path, "a large result could not be kept, so it stays as it is"),
    }
    output
}

/// What of an output is in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    Whole,
    /// Both ends, in bytes.
    Ends {
        total: u64,
        head: usize,
        tail: usize,
    },
    /// What the tool gave of it, because no more could be kept.
    AsShown,
}

/// The bytes for the file, and what of the output they are.
async fn whole(output: KeptOutput) -> Option<(Vec<u8>, Extent)> {
    let read = tokio::task::spawn_blocking(move || output.ends(KEPT_HEAD, KEPT_TAIL).map(joined)).await;
    match read {
        Ok(Ok(joined)) => Some(joined),
        Ok(Err(error)) => {
            tracing::warn!(%error, "a command's whole output could not be read back");
            None
        }
        Err(error) => {
            tracing::error!(%error, "reading a command's output back ended in a panic");
            None
        }
    }
}

/// The file is text where the output was.
fn joined(ends: OutputEnds) -> (Vec<u8>, Extent) {
    let ends = ends.at_characters();
    let (head, tail) = (ends.head.len(), ends.tail.len());
    let cut = Extent::Ends { total: head as u64 + ends.left_out + tail as u64, head, tail };
    let extent = if ends.left_out > 0 { cut } else { Extent::Whole };
    (ends.joined(), extent)
}

/// Says where an output is of which the conversation has enough.
fn beside(path: &VirtualPath, extent: Extent) -> String {
    match extent {
        Extent::Whole => format!("[The whole output is in {path}.]"),
        Extent::Ends { total, head, tail } => {
            format!("[Of the {total} bytes of the output the first {head} and the last {tail} are in {path}.]")
        }
        Extent::AsShown => format!("[No more of the output could be kept; this part is in {path}.]"),
    }
}

/// How else the agent finds a place in a file, as the end of a sentence.
pub(crate) fn finding(cx: &TurnContext) -> &'static str {
    if cx.agent().tools.get(Grep::NAME).is_some() { ", or find the place with grep" } else { "" }
}

fn stub(call_id: &str, path: &VirtualPath, text: &str, extent: Extent, finding: &str) -> String {
    let mut id: String = call_id.chars().take(SHOWN_ID).collect();
    if id.len() < call_id.len() {
        id.push_str("...");
    }
    let preview = Preview::of(text);
    let shown = if preview.dropped > 0 { " the head and the tail of it" } else { " all its lines" };
    let clipped = if preview.clipped { ", long lines cut" } else { "" };
    let kept = match extent {
        Extent::Whole => " and is".to_owned(),
        Extent::Ends { total, head, tail } => {
            format!(": of its {total} bytes the first {head} and the last {tail} are")
        }
        Extent::AsShown => ", and the whole could not be kept: its beginning and its end are".to_owned(),
    };
    format!(
        "The result of the call {id} was too large for this conversation{kept} in the file {path}.\nRead only the \
         part you need, for example with read_file, file_path \"{path}\", offset 0, limit 100{}. This \
         shows{shown}{clipped}:\n\n{}\n",
        if finding.is_empty() { String::new() } else { format!("{finding} first") },
        preview.text
    )
}

struct Preview {
    text: String,
    dropped: usize,
    clipped: bool,
}

impl Preview {
    /// The first and the last lines behind their numbers.
    fn of(text: &str) -> Self {
        let lines: Vec<&str> = text.lines().collect();
        let mut clipped = false;
        let mut rows = |from: usize, to: usize| -> String {
            let width = to.to_string().len();
            let numbered = lines.iter().enumerate().take(to).skip(from).map(|(index, line)| {
                let shown: String = line.chars().take(LINE).collect();
                clipped |= shown.len() < line.len();
                format!("{:>width$}  {shown}", index + 1)
            });
            numbered.collect::<Vec<_>>().join("\n")
        };
        let count = lines.len();
        if count <= 2 * EDGE {
            let text = rows(0, count);
            return Self { text, dropped: 0, clipped };
        }
        let dropped = count - 2 * EDGE;
        let text = format!("{}\n... [{dropped} lines truncated] ...\n{}", rows(0, EDGE), rows(count - EDGE, count));
        Self { text, dropped, clipped }
    }
}

/// Puts what the user said last into files where it is too large, and remembers which messages those were. What came while
/// the agent worked are several.
pub(crate) async fn last_messages(cx: &TurnContext, artifacts: &Artifacts, limit: Option<u32>) -> StateUpdate {
    let mut update = StateUpdate::default();
    let Some(limit) = limit else { return update };
    let last: Vec<Arc<Message>> = cx.log().with_state(|state| {
        let known = state.fields.get(MESSAGES_FIELD);
        let is_large = |message: &&Arc<Message>| {
            let Message::Human(human) = &***message else { return false };
            known.is_none_or(|known| known.get(human.id.as_str()).is_none())
                && letters(&text_of(&human.content)) > limit as usize * LETTERS
        };
        let said = state.messages.iter().rev().take_while(|message| matches!(&***message, Message::Human(_)));
        said.filter(is_large).cloned().collect()
    });
    let mut kept = serde_json::Map::new();
    for message in last {
        let Message::Human(message) = &*message else { continue };
        let name = format!("{}.md", artifacts::name_of(message.id.as_str()));
        let Some(path) = artifacts.place(cx, crate::summarization::HISTORY, &name) else { continue };
        match artifacts::put(cx, &path, text_of(&message.content).into_bytes()).await {
            Ok(written) => {
                update.files.extend(written.files);
                kept.insert(message.id.to_string(), path.as_str().into());
            }
            Err(error) => {
                tracing::warn!(%error, "a very long message could not be put into a file, so it is sent whole");
            }
        }
    }
    if !kept.is_empty() {
        update.fields.push((MESSAGES_FIELD.into(), kept.into()));
        update.reducers.insert(MESSAGES_FIELD.into(), Reducer::Merge);
    }
    update
}

/// A message of the user as it is sent once its text is in a file.
pub(crate) fn message(message: &HumanMessage, path: &str, finding: &str) -> Message {
    let preview = Preview::of(&text_of(&message.content)).text;
    let text = format!(
        "This message was too large for the conversation and is in the file {path}. Read the parts you need, for \
         example with read_file and its offset and limit{finding}. Its head and tail:\n\n{preview}\n"
    );
    let media = message.content.iter().filter(|block| block.as_text().is_none()).cloned();
    let content = std::iter::once(ContentBlock::text(text)).chain(media).collect();
    Message::Human(HumanMessage { id: message.id.clone(), content })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_preview_has_head_and_tail_with_their_numbers() {
        let text: String = (1..=4_000).map(|n| format!("line {n}\n")).collect();
        let preview = Preview::of(&text);
        assert!(preview.text.starts_with("1  line 1\n"));
        assert!(preview.text.contains("\n... [3990 lines truncated] ...\n3996  line 3996\n"));
        assert!(preview.text.ends_with("4000  line 4000"));
    }

    #[test]
    fn ten_lines_are_all_shown_and_long_ones_cut() {
        let preview = Preview::of(&vec!["x".repeat(8_000); 10].join("\n"));
        assert_eq!((preview.dropped, preview.clipped, preview.text.lines().count()), (0, true, 10));
        assert!(preview.text.starts_with(&format!(" 1  {}\n", "x".repeat(1_000))));
    }

    #[test]
    fn of_an_output_that_is_not_kept_whole_is_said_what_is() {
        let ends = |head: &str, left_out, tail: &str| {
            let cut_at = |text: &str, from: usize, to: usize| text.as_bytes()[from..text.len() - to].to_vec();
            joined(OutputEnds { head: cut_at(head, 0, 1), left_out, tail: cut_at(tail, 1, 0) })
        };
        let (bytes, extent) = ends("ahé", 100, "éoy!");
        assert_eq!(String::from_utf8(bytes).unwrap(), "ah\n\n[102 bytes left out here]\n\noy!");
        assert_eq!(extent, Extent::Ends { total: 107, head: 2, tail: 3 });
        let path = VirtualPath::parse("/large_tool_results/z").unwrap();
        let text = stub("z", &path, "a", extent, "");
        assert!(
            text.contains(": of its 107 bytes the first 2 and the last 3 are in the file /large_tool_results/z.\n")
        );
        let text = beside(&path, extent);
        assert_eq!(text, "[Of the 107 bytes of the output the first 2 and the last 3 are in /large_tool_results/z.]");
        let whole = OutputEnds { head: b"all of ".to_vec(), left_out: 0, tail: b"it".to_vec() };
        assert_eq!(joined(whole), (b"all of it".to_vec(), Extent::Whole));
    }

    #[test]
    fn a_long_id_is_shown_in_part() {
        let path = VirtualPath::parse("/large_tool_results/z").unwrap();
        assert!(
            stub(&"z".repeat(200), &path, "a", Extent::Whole, "").contains(&format!("call {}... was", "z".repeat(32)))
        );
    }
}
