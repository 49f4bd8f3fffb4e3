use std::collections::VecDeque;
use std::time::Duration;

use bosun_model::{ModelEvent, ModelStream, StopReason};
use futures_util::StreamExt;
use futures_util::stream;

use super::place::Cue;

/// Argument text comes in larger pieces than prose: nobody reads it.
const ARGUMENT_PIECE: usize = 48;

/// Streams a cue word by word.
pub(super) fn play(cue: &Cue<'_>, pause: Duration) -> ModelStream {
    stream::unfold(events(cue), move |mut events| async move {
        let event = events.pop_front()?;
        let shown = matches!(event, ModelEvent::TextDelta { .. } | ModelEvent::ReasoningDelta { .. });
        if shown && !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
        Some((Ok(event), events))
    })
    .boxed()
}

fn events(cue: &Cue<'_>) -> VecDeque<ModelEvent> {
    let mut events = VecDeque::from([ModelEvent::Started { model: Some("tour".into()) }]);
    if !cue.think.is_empty() {
        events.extend(words(cue.think).map(|text| ModelEvent::ReasoningDelta { text }));
        events.push_back(ModelEvent::ReasoningDone { signature: None, opaque: None });
    }
    events.extend(words(&cue.say).map(|text| ModelEvent::TextDelta { text }));
    for (index, (id, call)) in (0..).zip(&cue.calls) {
        events.push_back(ModelEvent::ToolCallStarted { index, id: id.as_str().into(), name: call.tool.clone() });
        let json: Vec<char> = call.args.to_string().chars().collect();
        let pieces = json.chunks(ARGUMENT_PIECE).map(|piece| piece.iter().collect());
        events.extend(pieces.map(|json| ModelEvent::ToolCallDelta { index, json }));
        events.push_back(ModelEvent::ToolCallDone { index });
    }
    let stop = if cue.calls.is_empty() { StopReason::EndTurn } else { StopReason::ToolUse };
    events.push_back(ModelEvent::Finished { stop });
    events
}

/// Words with the space behind them; in scripts without spaces, two characters at a time.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let mut chars = text.chars().peekable();
    std::iter::from_fn(move || {
        let mut piece = String::new();
        while let Some(c) = chars.next() {
            piece.push(c);
            let wide = !c.is_ascii() && c.is_alphabetic();
            let full = (wide && piece.chars().count() >= 2) || (c.is_whitespace() && chars.peek() != Some(&' '));
            if full {
                break;
            }
        }
        (!piece.is_empty()).then_some(piece)
    })
}
