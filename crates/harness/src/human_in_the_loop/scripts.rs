//! The scripts that a command runs, as they were when a person was asked: they approved what these held (security.md A12).

use bosun_agent::{AgentError, Ask, AskReason, AskedScript, TurnContext};
use bosun_backend::{Backend, ContentHash, ReadContent, ReadWindow, VirtualPath};
use bosun_model::{CallId, ToolCall};
use bosun_tools::ToolKind;
use serde_json::Value;

/// Files that are looked at for one command.
const MOST: usize = 16;
const SEPARATORS: [char; 6] = [';', '|', '&', '\n', '(', ')'];
const QUOTES: [char; 2] = ['"', '\''];
/// Programs whose arguments are scripts, whatever these are called.
const INTERPRETERS: [&str; 20] = [
    "sh", "bash", "dash", "zsh", "ksh", "fish", "source", ".", "python", "python3", "node", "deno", "bun", "ruby",
    "perl", "php", "lua", "pwsh", "Rscript", "awk",
];
const EXTENSIONS: [&str; 20] = [
    "sh", "bash", "zsh", "fish", "py", "js", "mjs", "cjs", "ts", "mts", "rb", "pl", "php", "lua", "ps1", "bat", "cmd",
    "R", "jl", "awk",
];

/// The scripts of this call with their content now; none but for commands.
pub(super) async fn named_by(backend: &dyn Backend, call: &ToolCall, kind: ToolKind) -> Vec<AskedScript> {
    let line = call.args.get("command").and_then(Value::as_str).unwrap_or_default();
    if kind != ToolKind::Execute || backend.shell().is_none() {
        return Vec::new();
    }
    let mut scripts: Vec<AskedScript> = Vec::new();
    for Candidate { word, is_run } in candidates(line) {
        let Ok(path) = backend.resolve(&word) else { continue };
        if scripts.len() == MOST || scripts.iter().any(|known| known.path == path) {
            continue;
        }
        let found = look(backend, &path).await;
        let is_script = |begins_as_one: bool| begins_as_one || has_extension(&path);
        if is_run || found.as_ref().is_some_and(|(_, begins_as_one)| is_script(*begins_as_one)) {
            scripts.push(AskedScript { path, hash: found.map(|(hash, _)| hash) });
        }
    }
    scripts
}

/// Asks once more where an approved command would run a script that is not as it was then. What an earlier call of the same
/// step made of it was asked for beside it. Gives whether it was asked for.
pub(super) async fn ask_again(cx: &TurnContext, call_id: &CallId, kind: ToolKind) -> Result<bool, AgentError> {
    let ask = cx.log().with_state(|state| state.open_call(call_id).and_then(|call| call.ask.clone()));
    let Some(ask) = ask.filter(|ask| !ask.scripts.is_empty()) else { return Ok(false) };
    cx.after_earlier(call_id, kind).await?;
    let busy = cx.activity().enter();
    let backend = &*cx.agent().backend;
    let Some(path) = changed(cx, call_id, &ask.scripts).await else { return Ok(false) };
    let scripts = named_by(backend, &ask.call, kind).await;
    let digest = Ask::digest_of(&ask.call, &ask.preview, &scripts);
    let reason = AskReason::ScriptChanged { path: path.to_string() };
    cx.record_ask(Ask { reason, scripts, digest, ..ask }).await?;
    drop(busy);
    Ok(true)
}

async fn changed(cx: &TurnContext, call_id: &CallId, scripts: &[AskedScript]) -> Option<VirtualPath> {
    for script in scripts {
        let now = look(&*cx.agent().backend, &script.path).await.map(|(hash, _)| hash);
        if now != script.hash && !made_beside(cx, call_id, &script.path, now.as_ref()) {
            return Some(script.path.clone());
        }
    }
    None
}

/// Whether an earlier call of the same step left the file like this.
fn made_beside(cx: &TurnContext, call_id: &CallId, path: &VirtualPath, now: Option<&ContentHash>) -> bool {
    cx.log().with_state(|state| {
        let calls = state.step.iter().flat_map(|step| &step.calls).take_while(|call| call.call.id != *call_id);
        let last = calls.flat_map(|call| &call.intents).filter(|intent| intent.path == *path).last();
        last.is_some_and(|intent| intent.after.as_ref() == now)
    })
}

/// The content of a text file, and whether it says itself that it is a script.
async fn look(backend: &dyn Backend, path: &VirtualPath) -> Option<(ContentHash, bool)> {
    let read = backend.read(path, ReadWindow { offset: 0, limit: 1 }).await.ok()?;
    let ReadContent::Text(page) = &read.content else { return None };
    Some((read.stamp.hash?, page.lines.first().is_some_and(|line| line.starts_with("#!"))))
}

fn has_extension(path: &VirtualPath) -> bool {
    path.as_str().rsplit_once('.').is_some_and(|(_, extension)| EXTENSIONS.contains(&extension))
}

#[derive(Debug, PartialEq)]
struct Candidate {
    /// As it could be found from the project folder.
    word: String,
    /// It is run for certain, whatever it is called.
    is_run: bool,
}

/// What in a command line may name a script. Wrong guesses name no file.
fn candidates(line: &str) -> Vec<Candidate> {
    let mut found = Vec::new();
    let mut folder = String::new();
    for part in line.split(SEPARATORS) {
        let words = part.split_whitespace().map(|word| word.trim_matches(QUOTES)).filter(|word| !word.is_empty());
        // Assignments in front are no program.
        let mut words = words.skip_while(|word| word.contains('='));
        let Some(program) = words.next() else { continue };
        let name = program.rsplit('/').next().unwrap_or(program);
        if name == "cd" {
            folder = words.next().and_then(|word| below(&folder, word)).unwrap_or_default();
            continue;
        }
        let is_interpreter = INTERPRETERS.contains(&name);
        let standing = standing(name).iter().map(|word| (*word, true));
        let arguments = words.filter(|word| !word.starts_with('-')).map(|word| (word, is_interpreter));
        let named = standing.chain([(program, program.contains('/'))]).chain(arguments);
        found.extend(named.filter_map(|(word, is_run)| Some(Candidate { word: below(&folder, word)?, is_run })));
    }
    found
}

/// `word` as it is found from `folder`, without `.` and `..`; `None` where it leads out of the project.
fn below(folder: &str, word: &str) -> Option<String> {
    if word.starts_with('/') {
        return Some(word.to_owned());
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(word.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The files that a program goes by without their being named.
fn standing(program: &str) -> &'static [&'static str] {
    match program {
        "make" | "gmake" => &["GNUmakefile", "makefile", "Makefile"],
        "npm" | "npx" | "pnpm" | "yarn" | "bun" => &["package.json"],
        "just" => &["justfile", "Justfile"],
        "rake" => &["Rakefile"],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn named(line: &str) -> Vec<String> {
        let shown = |one: Candidate| if one.is_run { format!("{}!", one.word) } else { one.word };
        candidates(line).into_iter().map(shown).collect()
    }

    #[test]
    fn what_a_line_may_run() {
        assert_eq!(named("sh x.sh --fast"), ["sh", "x.sh!"]);
        assert_eq!(named("A=1 ./deploy now && cat 'notes.txt'"), ["deploy!", "now", "cat", "notes.txt"]);
        assert_eq!(
            named("cd tools && make all"),
            ["tools/GNUmakefile!", "tools/makefile!", "tools/Makefile!", "tools/make", "tools/all"]
        );
        assert_eq!(named("(cd a; cd b; python3 -u run.py)"), ["a/b/python3", "a/b/run.py!"]);
        assert_eq!(named("cd a && sh ../x.sh ../../y.sh /z.sh"), ["a/sh", "x.sh!", "/z.sh!"]);
        assert_eq!(named("npm test"), ["package.json!", "npm", "test"]);
        assert_eq!(named(" ; A=1"), Vec::<String>::new());
    }
}
