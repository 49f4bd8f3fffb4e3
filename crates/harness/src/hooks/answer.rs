use bosun_backend::{ProgramAnswer, ProgramExit};
use serde::Deserialize;

use super::{HookConfig, HookPoint};
use crate::plain;

/// Characters of a reason, and of what a hook gives the model to read.
const LONGEST_REASON: usize = 1_000;
const LONGEST_CONTEXT: usize = 16_000;
/// The code with which a program refuses without writing JSON.
const DENIES: i32 = 2;

/// What a hook says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    pub decision: Decision,
    pub reason: Option<String>,
    pub context: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Decision {
    #[default]
    GoOn,
    Ask,
    Deny,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    decision: Decision,
    reason: Option<String>,
    context: Option<String>,
}

/// Reads what came of a run.
///
/// # Errors
/// Why it is no answer, as half a sentence after the hook's name.
pub(super) fn read(hook: &HookConfig, answer: &ProgramAnswer) -> Result<Answer, String> {
    let said = String::from_utf8_lossy(&answer.stderr);
    let Some(exit) = answer.exit else {
        return Err(format!("did not end within {} seconds and was ended", hook.timeout));
    };
    let answer = match exit {
        ProgramExit { code: Some(0), .. } => written(answer)?,
        ProgramExit { code: Some(DENIES), .. } => Answer {
            decision: Decision::Deny,
            reason: Some(shown(&said, LONGEST_REASON)).filter(|reason| !reason.is_empty()),
            context: None,
        },
        exit => {
            let words = shown(&said, 300);
            return Err(if words.is_empty() { exit.to_string() } else { format!("{exit} and said: {words}") });
        }
    };
    fits(hook.point, &answer)?;
    Ok(answer)
}

/// The JSON on its standard output; other output is no answer, and none is needed.
fn written(answer: &ProgramAnswer) -> Result<Answer, String> {
    let text = String::from_utf8_lossy(&answer.stdout);
    if !text.trim_start().starts_with('{') {
        return Ok(Answer::default());
    }
    if answer.truncated {
        return Err("wrote more than an answer may have".into());
    }
    let read: Written = serde_json::from_str(&text).map_err(|error| {
        let wrong = plain::json(&error);
        format!("wrote JSON that is no answer ({wrong}); a hook may say go_on, ask or deny, a reason, and a context")
    })?;
    let cut = |text: Option<String>, limit| text.map(|text| shown(&text, limit)).filter(|text| !text.is_empty());
    Ok(Answer {
        decision: read.decision,
        reason: cut(read.reason, LONGEST_REASON),
        context: cut(read.context, LONGEST_CONTEXT),
    })
}

fn fits(point: HookPoint, answer: &Answer) -> Result<(), String> {
    let cannot = |what: &str| Err(format!("{what} at {}, where that has no effect", point.word()));
    match answer.decision {
        Decision::Deny if !point.can_deny() => cannot("refused something"),
        Decision::Ask if !point.can_ask() => cannot("wanted a person asked"),
        _ if answer.context.is_some() && !point.takes_context() => cannot("gave the model something to read"),
        _ => Ok(()),
    }
}

/// `text` trimmed, without what acts on a terminal or hides, and cut.
fn shown(text: &str, limit: usize) -> String {
    let mut shown = bosun_mcp::cleaned(text.trim(), limit);
    shown.truncate(shown.trim_end().len());
    shown
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn answer(point: HookPoint, code: i32, stdout: &str, stderr: &str) -> Result<Answer, String> {
        let text = format!("name = \"h\"\npoint = \"{}\"\ncommand = \"x\"", point.word());
        let hook = toml::from_str(&text).unwrap();
        let exit = Some(ProgramExit { code: Some(code), signal: None });
        let (stdout, stderr) = (stdout.as_bytes().to_vec(), stderr.as_bytes().to_vec());
        read(&hook, &ProgramAnswer { stdout, stderr, truncated: false, exit, cancelled: false })
    }

    #[test]
    fn silence_and_chatter_go_on() {
        for said in ["", "all good\n", "[1]"] {
            assert_eq!(answer(HookPoint::BeforeTool, 0, said, "noise"), Ok(Answer::default()));
        }
    }

    #[test]
    fn both_ways_to_refuse_are_understood() {
        let denied = Answer { decision: Decision::Deny, reason: Some("no".into()), context: None };
        assert_eq!(answer(HookPoint::BeforeTool, 2, "", "no\n"), Ok(denied.clone()));
        let written = r#" {"decision":"deny","reason":"\u001b[31mno\u001b[0m"}"#;
        assert_eq!(answer(HookPoint::BeforeTool, 0, written, ""), Ok(denied));
    }

    #[test]
    fn nobody_can_approve_and_nothing_is_guessed() {
        for written in [r#"{"decision":"approve"}"#, r#"{"decision":"allow"}"#, r#"{"approve":true}"#, "{", "{} {}"] {
            let error = answer(HookPoint::BeforeTool, 0, written, "").unwrap_err();
            assert!(error.contains("go_on, ask or deny"), "{written}: {error}");
        }
    }

    #[test]
    fn an_answer_without_effect_is_a_failure() {
        assert!(answer(HookPoint::TurnEnd, 2, "", "").unwrap_err().contains("at turn_end"));
        assert!(answer(HookPoint::TurnStart, 0, r#"{"decision":"ask"}"#, "").unwrap_err().contains("asked"));
        assert!(answer(HookPoint::BeforeTool, 0, r#"{"context":"x"}"#, "").unwrap_err().contains("to read"));
        assert!(answer(HookPoint::AfterTool, 0, r#"{"context":"x"}"#, "").is_ok());
    }

    #[test]
    fn other_ends_are_failures_with_the_last_words() {
        assert_eq!(answer(HookPoint::BeforeTool, 1, "", "oops\n"), Err("ended with code 1 and said: oops".into()));
        assert_eq!(answer(HookPoint::BeforeTool, 127, "", ""), Err("ended with code 127".into()));
    }
}
