//! What is grave is confirmed in a dialog of the system, which no script in the page can press (security.md A23). What it
//! says comes from the core alone.

use std::time::{Duration, Instant};

use bosun_protocol::{CloseChoice, Decide, ErrorCode, Problem, RuleDraft, SessionSummary};
use bosun_session::export::{short, visible};
use bosun_session::{Grave, GraveCall, ToolKind};

use crate::Shell;
use crate::core::Core;
use crate::desk::{Question, Words, words};
use crate::error::Failure;

/// Letters and lines of one dialog: it has to fit on a small screen with its buttons.
const LETTERS: usize = 1_500;
const LINES: usize = 18;
/// Letters of a name in a sentence.
const LONGEST_NAME: usize = 120;
/// Sessions that one dialog names.
const MOST_NAMED: usize = 8;
/// A yes that comes sooner was meant for whatever was there before.
const TOO_SOON: Duration = Duration::from_millis(400);

impl Shell {
    /// Asks for the grave ones among the calls that `decisions` would let run. `drafts` are the rules
    /// that would be made from some of them.
    ///
    /// # Errors
    /// Where the person does not say yes; nothing may be decided then.
    pub(crate) async fn confirm_grave(
        &self,
        core: &Core,
        decisions: &[Decide],
        drafts: &[RuleDraft],
    ) -> Result<(), Failure> {
        let grave = core.sessions.grave_calls(decisions, drafts).await?;
        if grave.is_empty() {
            return Ok(());
        }
        let words = words(self.spoken().await);
        let mut texts: Vec<String> = grave.iter().map(|call| told(words, call)).collect();
        if let (false, Some(last)) = (drafts.is_empty(), texts.last_mut()) {
            let rules: Vec<&str> = drafts.iter().map(|draft| draft.pattern.as_str()).collect();
            last.push_str(&format!("\n\n{}\n{}", words.confirm_rule, cut(&visible(&rules.join("\n")), words)));
        }
        for text in pages(texts) {
            let question = Question { title: words.confirm_title, text, yes: words.confirm_run, no: words.confirm_not };
            self.ask(question, Problem::NotApproved).await?;
        }
        Ok(())
    }

    /// Asks before servers and hooks are kept: both start programs without being asked for each.
    pub(crate) async fn confirm_programs(&self, text: &str) -> Result<(), Failure> {
        let words = words(self.spoken().await);
        let text = format!("{}\n\n{}", words.confirm_programs, cut(&visible(text), words));
        let question = Question { title: words.confirm_title, text, yes: words.confirm_keep, no: words.confirm_not };
        self.ask(question, Problem::NotKept).await
    }

    /// Asks before an editor is kept: a click starts it from then on.
    pub(crate) async fn confirm_editor(&self, command: &str) -> Result<(), Failure> {
        let words = words(self.spoken().await);
        let text = format!("{}\n\n{}", words.confirm_editor, cut(&visible(command), words));
        let question = Question { title: words.confirm_title, text, yes: words.confirm_keep, no: words.confirm_not };
        self.ask(question, Problem::NotKept).await
    }

    /// Asks whether to close while these sessions are at work, where the page does not. Without any there is nothing to ask.
    pub(crate) async fn confirm_close(&self, at_work: &[SessionSummary]) -> CloseChoice {
        if at_work.is_empty() {
            return CloseChoice::Stop;
        }
        let words = words(self.spoken().await);
        let text = closing(words, at_work);
        let question = Question { title: words.close_title, text, yes: words.close_stop, no: words.close_stay };
        match self.ask(question, Problem::NotApproved).await {
            Ok(()) => CloseChoice::Stop,
            Err(_) => CloseChoice::Stay,
        }
    }

    async fn ask(&self, question: Question, refusal: Problem) -> Result<(), Failure> {
        let busy = |_| Failure::new(ErrorCode::Invalid, Problem::DialogOpen);
        let _open = self.dialog().try_lock().map_err(busy)?;
        loop {
            let shown = Instant::now();
            if !self.desk().confirm(question.clone()).await {
                return Err(Failure::new(ErrorCode::Invalid, refusal));
            }
            if !self.desk().can_be_pressed_by_mistake() || shown.elapsed() >= TOO_SOON {
                return Ok(());
            }
        }
    }
}

/// What is at work, by name.
fn closing(words: &Words, at_work: &[SessionSummary]) -> String {
    let named = at_work.iter().take(MOST_NAMED).map(|session| match short(&session.title, LONGEST_NAME) {
        title if title.is_empty() => format!("• {}", words.untitled),
        title => format!("• {title}"),
    });
    let mut lines: Vec<String> = named.collect();
    if at_work.len() > MOST_NAMED {
        lines.push(words.close_more.replace("{}", &(at_work.len() - MOST_NAMED).to_string()));
    }
    let head = match at_work.len() {
        1 => words.close_one.to_owned(),
        count => words.close_many.replace("{}", &count.to_string()),
    };
    format!("{head}\n\n{}\n\n{}", lines.join("\n"), words.close_kept)
}

/// One call: what runs, and why that is grave.
fn told(words: &Words, call: &GraveCall) -> String {
    let why: Vec<String> = call.why.iter().map(|grave| format!("• {}", reason(words, grave))).collect();
    let what = match call.kind {
        ToolKind::Execute => words.confirm_command.into(),
        ToolKind::Edit if call.tool == "delete" => words.confirm_delete.into(),
        ToolKind::Edit => words.confirm_change.into(),
        ToolKind::Read | ToolKind::Plan | ToolKind::Delegate | ToolKind::Other => visible(&call.tool),
    };
    format!("{what}\n\n{}\n\n{}", cut(&visible(&call.payload), words), why.join("\n"))
}

fn reason(words: &Words, grave: &Grave) -> String {
    let with = |sentence: &str, name: &str| sentence.replace("{}", &short(name, LONGEST_NAME));
    match grave {
        Grave::Unsandboxed => words.grave_unsandboxed.to_owned(),
        Grave::UnsandboxedLater => words.grave_unsandboxed_later.to_owned(),
        Grave::OtherProgram { .. } => words.grave_other_program.to_owned(),
        Grave::Outside => words.grave_outside.to_owned(),
        Grave::Protected { name } => with(words.grave_protected, name),
        Grave::DeletesFolder { path } => with(words.grave_folder, path),
        Grave::Destroys { command } => with(words.grave_destroys, command),
    }
}

/// As much of the beginning and the end as fits, and how much is between.
fn cut(text: &str, words: &Words) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let (letters, count) = (text.chars().count(), lines.len());
    if letters <= LETTERS && count <= LINES {
        return text.to_owned();
    }
    let head: String = lines.iter().take(LINES * 2 / 3).copied().collect::<Vec<_>>().join("\n");
    let tail: String =
        lines.iter().skip(count.saturating_sub(LINES / 4).max(LINES * 2 / 3)).copied().collect::<Vec<_>>().join("\n");
    let tail = if tail.is_empty() { head.clone() } else { tail };
    let head: String = head.chars().take(LETTERS * 2 / 3).collect();
    let skipped = tail.chars().count().saturating_sub(LETTERS / 4);
    let tail: String = tail.chars().skip(skipped).collect();
    let note = words.confirm_long.replace("{}", &letters.to_string());
    format!("{head}\n\n[{note}]\n\n{tail}")
}

/// Texts put together as far as they fit into one dialog.
fn pages(texts: Vec<String>) -> Vec<String> {
    let mut pages: Vec<String> = Vec::new();
    for text in texts {
        let fits = |page: &&mut String| {
            page.chars().count() + text.chars().count() <= LETTERS
                && page.lines().count() + text.lines().count() <= LINES
        };
        match pages.last_mut().filter(fits) {
            Some(page) => page.push_str(&format!("\n\n—\n\n{text}")),
            None => pages.push(text),
        }
    }
    pages
}

#[cfg(test)]
mod tests {
    use bosun_protocol::SessionStatus;
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::language::Spoken;

    fn call(payload: &str) -> GraveCall {
        GraveCall {
            tool: "execute".into(),
            kind: ToolKind::Execute,
            payload: payload.into(),
            why: vec![Grave::Unsandboxed],
        }
    }

    #[test]
    fn it_says_what_runs_and_why_with_nothing_hidden() {
        let words = words(Spoken::English);
        let text = told(words, &call("$ ls\u{202e}\u{1b}[1m"));
        assert_eq!(text, format!("Run a command\n\n$ ls⟨U+202E⟩⟨ESC⟩[1m\n\n• {}", words.grave_unsandboxed));
    }

    #[test]
    fn the_end_of_what_is_long_is_seen_too() {
        let words = words(Spoken::Chinese);
        for long in [format!("{}; rm -rf ~", "x".repeat(200_000)), format!("{}rm -rf ~", "ls\n".repeat(5_000))] {
            let text = cut(&long, words);
            assert!(text.ends_with("rm -rf ~") && text.chars().count() < 2 * LETTERS, "{}", text.len());
            assert!(text.lines().count() < 2 * LINES && text.contains(&long.chars().count().to_string()));
        }
        assert_eq!(cut("short", words), "short");
    }

    #[test]
    fn what_is_at_work_is_named_before_it_is_stopped() {
        let session = |title: &str| SessionSummary {
            title: title.into(),
            ..crate::herald::tests::session(SessionStatus::Running, 0)
        };
        let text = closing(words(Spoken::English), &[session("Fix\u{202e} it\nnow"), session("")]);
        assert!(text.starts_with("2 sessions are still working.\n\n• Fix⟨U+202E⟩ it"), "{text}");
        assert!(text.contains("\n• New session\n") && text.ends_with("next start."), "{text}");
        let many: Vec<_> = (0..30).map(|number| session(&number.to_string())).collect();
        let text = closing(words(Spoken::Chinese), &many);
        assert!(text.contains("30 个会话") && text.contains("• 7\n") && text.contains("22"), "{text}");
        assert!(text.lines().count() <= LINES, "{text}");
    }

    #[test]
    fn several_short_ones_are_one_question_and_none_is_left_out() {
        let texts: Vec<String> = (0..40).map(|number| format!("call {number}\nwhy")).collect();
        let pages = pages(texts.clone());
        assert!(pages.len() < 20 && pages.iter().all(|page| page.lines().count() <= LINES + 8));
        assert!(texts.iter().all(|text| pages.iter().any(|page| page.contains(text.as_str()))));
    }
}
