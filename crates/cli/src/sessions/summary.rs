//! `bosun sessions compact`, `summary`, `edit-summary` and `undo-summary`: what stands for the beginning of a conversation when it is sent.

use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;

use bosun_protocol::{ConversationSummary, SessionId, SummaryCause};
use bosun_providers::EnvironmentKeys;
use bosun_session::Sessions;

use super::{Format, open};
use crate::failure::Failure;
use crate::line::write_line;
use crate::terminal::visible;
use crate::{run, tell};

/// Longest words from standard input, in bytes; as long as those of a file.
const LONGEST: u64 = 1024 * 1024;

/// Sums the conversation up now. The session's own model does it, at the address and as the agent that it was left with.
pub(super) async fn compact(
    id: &str,
    guidance: Option<&str>,
    format: Format,
    keys: EnvironmentKeys,
) -> Result<(), Failure> {
    let session = SessionId::new(id);
    let sessions = run::resumed::open(&session, keys).await?;
    let made = sessions.compact(&session, guidance).await;
    sessions.shut_down().await;
    tell_summary(Some(&made?), format)
}

pub(super) async fn show(id: &str, format: Format, keys: EnvironmentKeys) -> Result<(), Failure> {
    let (sessions, session) = find(id, keys).await?;
    tell_summary(sessions.summary(&session).await?.as_ref(), format)
}

/// Gives the summary in force the words of `file`, or those of standard input.
pub(super) async fn edit(id: &str, file: Option<&Path>, format: Format, keys: EnvironmentKeys) -> Result<(), Failure> {
    let (sessions, session) = find(id, keys).await?;
    let words = match file {
        Some(file) => bosun_backend::settings_text(file),
        None => from_input(),
    };
    let edited = match words {
        Ok(words) => sessions.edit_summary(&session, words.trim()).await.map_err(Failure::from),
        Err(error) => Err(Failure::Words { reason: error.to_string() }),
    };
    sessions.shut_down().await;
    tell_summary(Some(&edited?), format)
}

fn from_input() -> io::Result<String> {
    let input = io::stdin();
    if input.is_terminal() {
        tell("write the summary's new words; a line with Ctrl-D alone ends them");
    }
    let mut words = String::new();
    let read = input.lock().take(LONGEST + 1).read_to_string(&mut words)?;
    if read as u64 > LONGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "they are longer than 1 MB"));
    }
    Ok(words)
}

/// Takes the summary in force back, and tells which is in force then.
pub(super) async fn undo(id: &str, format: Format, keys: EnvironmentKeys) -> Result<(), Failure> {
    let (sessions, session) = find(id, keys).await?;
    let before = sessions.undo_summary(&session).await?;
    sessions.shut_down().await;
    tell_summary(before.as_ref(), format)
}

/// A session that somebody talks with.
async fn find(id: &str, keys: EnvironmentKeys) -> Result<(Sessions, SessionId), Failure> {
    let session = SessionId::new(id);
    let Some((_, sessions)) = open(keys).await? else { return Err(Failure::NoSession { id: id.to_owned() }) };
    run::begin::subscribe(&sessions, &session).await?;
    Ok((sessions, session))
}

fn tell_summary(summary: Option<&ConversationSummary>, format: Format) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match (format, summary) {
        (Format::Json, summary) => write_line(&mut out, &summary)?,
        (Format::Markdown, Some(summary)) => out.write_all(visible(&told(summary)).as_bytes())?,
        (Format::Markdown, None) => writeln!(out, "Nothing is summed up: the whole conversation is sent.")?,
    }
    Ok(out.flush()?)
}

fn told(summary: &ConversationSummary) -> String {
    let why = match summary.cause {
        SummaryCause::Threshold => "made because the conversation had grown long",
        SummaryCause::Overflow => "made when the conversation was too long for the model",
        SummaryCause::Agent => "made because the agent wanted it",
        SummaryCause::Person => "made because you wanted it",
    };
    let edited = if summary.edited { ", its words changed by you" } else { "" };
    let mut text = format!(
        "Stands for the first {} messages: about {} tokens in the place of {}; {why}{edited}.\n",
        summary.messages, summary.tokens_after, summary.tokens_before
    );
    if let Some(file) = &summary.file {
        text.push_str(&format!("The agent can read the original in {file}.\n"));
    }
    if summary.left_out > 0 {
        text.push_str(&format!("{} characters of its middle did not fit and are not in it.\n", summary.left_out));
    }
    for part in [&summary.text, &summary.facts] {
        let part = part.trim();
        if !part.is_empty() {
            text.push_str(&format!("\n{part}\n"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A threshold may be of messages as well as of the window.
    #[test]
    fn why_a_summary_was_made_is_true_of_every_threshold() {
        let summary = ConversationSummary {
            text: "The story.".into(),
            facts: String::new(),
            file: None,
            messages: 6,
            tokens_before: 900,
            tokens_after: 90,
            left_out: 0,
            cause: SummaryCause::Threshold,
            edited: false,
        };
        let first = told(&summary).lines().next().map(str::to_owned);
        let expected = "Stands for the first 6 messages: about 90 tokens in the place of 900; made because the conversation \
             had grown long.";
        assert_eq!(first.as_deref(), Some(expected));
    }

    #[test]
    fn what_a_summary_was_not_made_from_is_said() {
        let summary = ConversationSummary {
            text: "The story.".into(),
            facts: String::new(),
            file: Some("/conversation_history/s.md".into()),
            messages: 6,
            tokens_before: 900,
            tokens_after: 90,
            left_out: 12,
            cause: SummaryCause::Person,
            edited: false,
        };
        let unread = "The agent can read the original in /conversation_history/s.md.\n12 characters of its middle did not fit \
             and are not in it.\n";
        assert!(told(&summary).contains(unread), "{}", told(&summary));
    }
}
