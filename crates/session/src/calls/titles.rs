//! A title by the small model, in the place of the first words of the first message.

use std::sync::Arc;
use std::time::Duration;

use bosun_agent::{EntryBody, SessionLog, TurnContext};
use bosun_harness::RetryOptions;
use bosun_model::{
    Caller, ChatModel, ChatRequest, Effort, Message, ModelError, SystemBlock, ToolChoice, text_of, whole_reply,
};

use super::CallBook;
use super::metered::Subject;

const PROMPT: &str = "Name the conversation that the user shows you, in at most six words and in the language of its \
                      request. Answer with the name alone: no quotes, no full stop.";
/// A title that takes longer is not worth waiting for.
const PATIENCE: Duration = Duration::from_secs(60);
const REQUEST: usize = 2_000;
const REPLY: usize = 1_000;
/// Longest title, in characters.
const LONGEST: usize = 80;
/// Thinking counts too.
const TOKENS: u32 = 1_000;

/// Begins to name a session whose first turn has just ended, beside whatever follows. A name that the person gives wins.
/// Where a budget is used up there is none.
pub(crate) fn begin(cx: &TurnContext, model: &Arc<dyn ChatModel>, book: &Arc<CallBook>, subject: &Subject) {
    let Some(talk) = cx.log().with_state(|state| {
        let is_first = state.turns == 1 && state.title.is_none();
        is_first.then(|| said(&state.messages))
    }) else {
        return;
    };
    let (log, model, own, subject) = (Arc::clone(cx.log()), Arc::clone(model), Arc::clone(book), subject.clone());
    let request = request(talk, cx.caller());
    book.spawn(async move {
        // The reply goes to a model, so that it may not be lost any more.
        if let Err(error) = log.save().await {
            return tracing::warn!(%error, "the session got no title: its turn could not be recorded");
        }
        match own.halt(&subject).await {
            Ok(None) => {}
            Ok(Some(halt)) => return tracing::info!(%halt, "the session got no title"),
            Err(error) => return tracing::warn!(%error, "the session got no title: what was spent is not known"),
        }
        match tokio::time::timeout(PATIENCE, patiently(&*model, &request)).await {
            Ok(Ok(title)) => put(&log, title).await,
            Ok(Err(error)) => tracing::warn!(%error, "the session got no title"),
            Err(_) => tracing::warn!("the session got no title in time"),
        }
        if let Err(error) = own.settle().await {
            tracing::error!(%error, "what the call for a title cost could not be stored");
        }
    });
}

async fn put(log: &SessionLog, title: Option<String>) {
    let Some(title) = title.filter(|_| log.with_state(|state| state.title.is_none())) else { return };
    if let Err(error) = log.record(vec![EntryBody::Titled { title }]).await {
        tracing::warn!(%error, "the title was not recorded");
    }
}

/// The first message and the beginning of the last reply.
fn said(messages: &[Arc<Message>]) -> String {
    let request = messages.iter().find_map(|message| match &**message {
        Message::Human(message) => Some(text_of(&message.content)),
        _ => None,
    });
    let reply = messages.iter().rev().find_map(|message| match &**message {
        Message::Ai(message) => Some(message.text()),
        _ => None,
    });
    let cut = |text: Option<String>, most: usize| text.unwrap_or_default().chars().take(most).collect::<String>();
    format!("<request>\n{}\n</request>\n<reply>\n{}\n</reply>", cut(request, REQUEST), cut(reply, REPLY))
}

async fn patiently(model: &dyn ChatModel, request: &ChatRequest) -> Result<Option<String>, ModelError> {
    let mut attempt = 1;
    loop {
        let error = match whole_reply(model, request.clone(), "title".into()).await {
            Err(error) => error,
            Ok(reply) => return Ok(tidy(&reply.text())),
        };
        let Some(wait) = RetryOptions::default().wait(&error, attempt) else { return Err(error) };
        tokio::time::sleep(wait).await;
        attempt += 1;
    }
}

fn request(talk: String, caller: Caller) -> ChatRequest {
    ChatRequest {
        system: vec![SystemBlock::new(PROMPT)],
        messages: vec![Arc::new(Message::human("title", talk))].into(),
        tool_choice: ToolChoice::None,
        max_output: Some(TOKENS),
        caller: Some(caller),
        // Else a small model that thinks may spend all of it on that.
        effort: Some(Effort::Off),
        ..ChatRequest::default()
    }
}

/// The first line that says something, without what models like to put around it.
fn tidy(reply: &str) -> Option<String> {
    let line = reply.lines().map(str::trim).find(|line| !line.is_empty())?;
    let around =
        |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '*' | '#' | '“' | '”' | '「' | '」' | '.' | '。');
    let words: Vec<&str> = line.trim_matches(around).split_whitespace().collect();
    let title: String = words.join(" ").chars().filter(|c| !c.is_control()).take(LONGEST).collect();
    (!title.is_empty()).then_some(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_one_line_without_what_stands_around_it() {
        assert_eq!(tidy("\n \"Mend the tests.\" \nmore").as_deref(), Some("Mend the tests"));
        assert_eq!(tidy("**修复  测试。**").as_deref(), Some("修复 测试"));
        assert_eq!(tidy(" \n\" \"\n"), None);
        assert_eq!(tidy(&"x".repeat(500)).map(|title| title.len()), Some(LONGEST));
    }
}
