use std::io::{self, BufRead, Write};

use bosun_protocol::{Approval, Decision, DecisionKind, Preview};
use serde_json::Value;

use crate::{preview, row};

/// Shows what is asked for and reads the answer; `None` when the input has ended.
pub(super) fn prompt(
    approval: &Approval,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> io::Result<Option<Decision>> {
    output.write_all(preview::request(approval).as_bytes())?;
    loop {
        let Some(answer) = ask(&choices(approval), input, output)? else { return Ok(None) };
        let chosen = KEYS.iter().find(|key| key.letter == answer.trim().to_lowercase());
        let Some(key) = chosen.filter(|key| approval.allowed.contains(&key.kind)) else { continue };
        let decision = match key.kind {
            DecisionKind::Approve => Some(Decision::Approve),
            DecisionKind::Edit => edited(approval, input, output)?,
            DecisionKind::Respond => words("Answer for the model, in the tool's place: ", input, output)?
                .map(|text| Decision::Respond { text }),
            DecisionKind::Reject => {
                let Some(reason) = ask("Why (may be left empty): ", input, output)? else { return Ok(None) };
                let reason = Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty());
                Some(Decision::Reject { reason })
            }
        };
        if decision.is_some() {
            return Ok(decision);
        }
    }
}

/// The call as one line.
pub(super) fn call_line(approval: &Approval) -> String {
    let call = match &approval.preview {
        Preview::Command { command, .. } => row::call(&approval.tool, &serde_json::json!({ "command": command })),
        _ => row::call(&approval.tool, &approval.args),
    };
    match approval.agent.as_slice() {
        [_, .., subagent] => format!("{call} (asked by {})", crate::terminal::one_line(subagent)),
        _ => call,
    }
}

struct Key {
    letter: &'static str,
    kind: DecisionKind,
    word: &'static str,
}

const KEYS: [Key; 4] = [
    Key { letter: "y", kind: DecisionKind::Approve, word: "yes, do it" },
    Key { letter: "e", kind: DecisionKind::Edit, word: "edit the arguments first" },
    Key { letter: "r", kind: DecisionKind::Respond, word: "answer instead" },
    Key { letter: "n", kind: DecisionKind::Reject, word: "no" },
];

fn choices(approval: &Approval) -> String {
    let allowed = KEYS.iter().filter(|key| approval.allowed.contains(&key.kind));
    let words: Vec<String> = allowed.map(|key| format!("{} = {}", key.letter, key.word)).collect();
    format!("[{}] ", words.join(", "))
}

/// New arguments as one line of JSON; `None` goes back to the choice.
fn edited(approval: &Approval, input: &mut impl BufRead, output: &mut impl Write) -> io::Result<Option<Decision>> {
    writeln!(output, "{}", preview::arguments(approval))?;
    loop {
        let Some(line) = words("New arguments as one line of JSON (empty goes back): ", input, output)? else {
            return Ok(None);
        };
        match serde_json::from_str::<Value>(&line) {
            Ok(args) if args.is_object() => return Ok(Some(Decision::Edit { args })),
            Ok(_) => writeln!(output, "Arguments are an object: {{\"name\": …}}")?,
            Err(error) => writeln!(output, "This is not JSON: {error}")?,
        }
    }
}

/// A line with something in it; `None` where there is nothing.
fn words(question: &str, input: &mut impl BufRead, output: &mut impl Write) -> io::Result<Option<String>> {
    Ok(ask(question, input, output)?.map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()))
}

fn ask(question: &str, input: &mut impl BufRead, output: &mut impl Write) -> io::Result<Option<String>> {
    write!(output, "{question}")?;
    output.flush()?;
    let mut line = String::new();
    Ok((input.read_line(&mut line)? > 0).then_some(line))
}

#[cfg(test)]
#[path = "prompt_tests.rs"]
mod tests;
