//! What a call would do, in words and as a diff, for a person who has to decide or wants to look back.

use std::fmt::Write;

use bosun_protocol::{Approval, AskReason, AskedAgain, Preview, ReachPlace, Undo};
use bosun_session::export::{ENGLISH, unified};

use crate::terminal::{one_line, visible};

/// Everything that has to be seen before deciding: who asks, why, what exactly, and how far it reaches.
pub(crate) fn request(approval: &Approval) -> String {
    let mut text = format!("\n{} asks: {}\n", one_line(&approval.agent.join(" / ")), one_line(&approval.tool));
    if let Some(description) = &approval.description {
        push_line(&mut text, &visible(description));
    }
    push_line(&mut text, &why(&approval.reason));
    if let Some(again) = &approval.again {
        push_line(&mut text, &why_again(again));
    }
    match &approval.preview {
        Preview::Diff { diff } => text.push_str(&unified(diff, &ENGLISH)),
        Preview::Command { command, folder, timeout_seconds } => {
            for line in visible(command).lines() {
                push_line(&mut text, &format!("  $ {line}"));
            }
            let limit = timeout_seconds.map(|seconds| format!(", for {seconds} s at most")).unwrap_or_default();
            push_line(&mut text, &format!("in {}{limit}", one_line(folder)));
            for script in &approval.scripts {
                push_line(&mut text, &format!("runs {}, as it is now", one_line(script)));
            }
            if approval.more_scripts {
                push_line(&mut text, "may run more scripts, which are not checked");
            }
        }
        Preview::Delete { path, files, counted_all, is_dir } => {
            let more = if *counted_all { "" } else { " or more" };
            let kind = if *is_dir { "the folder" } else { "the file" };
            push_line(&mut text, &format!("deletes {kind} {} ({files}{more} files)", one_line(path)));
        }
        Preview::Fields => push_line(&mut text, &arguments(approval)),
        Preview::Problem { message, .. } => {
            push_line(&mut text, &arguments(approval));
            push_line(&mut text, &format!("as things stand this would fail: {}", one_line(message)));
        }
    }
    push_line(&mut text, &reach(approval));
    text
}

/// The arguments as JSON over several lines.
pub(crate) fn arguments(approval: &Approval) -> String {
    visible(&serde_json::to_string_pretty(&approval.args).unwrap_or_default()).into_owned()
}

fn why(reason: &AskReason) -> String {
    match reason {
        AskReason::EditsAsk => "changes to files ask".to_owned(),
        AskReason::CommandsAsk => "commands ask".to_owned(),
        AskReason::DeletesAsk => "deleting asks".to_owned(),
        AskReason::ProtectedName { name } => {
            format!("{} is a file that later runs code, configures programs, or is a device on Windows", one_line(name))
        }
        AskReason::Rule { rule } | AskReason::Hook { rule, name: None } => one_line(rule),
        AskReason::Hook { rule, name: Some(name) } => {
            format!("{}; {}", one_line(rule), why(&AskReason::ProtectedName { name: name.clone() }))
        }
    }
}

fn why_again(again: &AskedAgain) -> String {
    match again {
        AskedAgain::ScriptChanged { path } => format!("{} changed after this was approved", one_line(path)),
        AskedAgain::ScriptNamed { path } => format!("your command runs {}, which was not shown before", one_line(path)),
        AskedAgain::SandboxOff => "it was approved for a sandbox, which is off now".to_owned(),
        AskedAgain::PlaceChanged => "it was approved for another place, and would run here now".to_owned(),
        AskedAgain::RecordChanged => "what was stored of it is not what was shown".to_owned(),
    }
}

fn reach(approval: &Approval) -> String {
    let place = match approval.reach.place {
        ReachPlace::Project => "stays in the project",
        ReachPlace::Session => "stays in this session",
        ReachPlace::Memory => "changes what Bosun remembers",
        ReachPlace::Skill => "changes your skills",
        ReachPlace::Outside => "reaches outside the project",
        ReachPlace::Anywhere => "may reach everything that you may",
        ReachPlace::Machine => "reaches another machine, with what you may there",
        ReachPlace::Container => "reaches into a container",
    };
    let network = if approval.reach.network { ", and the network" } else { "" };
    let undo = match approval.reach.undo {
        Undo::Yes => "can be undone",
        Undo::No => "cannot be undone",
    };
    let sandbox = if approval.reach.sandbox.is_some() { ", in a sandbox without the network" } else { "" };
    format!("{place}{network}{sandbox}; {undo}")
}

fn push_line(text: &mut String, line: &str) {
    // Writing to a string cannot fail.
    writeln!(text, "{}", line.trim_end_matches('\n')).ok();
}
