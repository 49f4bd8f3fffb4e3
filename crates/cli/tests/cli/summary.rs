//! Summing a session up from the command line, and taking that back.

use std::io::Write;
use std::process::Stdio;

use bosun_protocol::{ConversationSummary, SessionId, SummaryCause};
use bosun_testkit::{Order, Reply, Rule};
use pretty_assertions::assert_eq;

use crate::bench::{Bench, Ran, of, ran};

fn sessions(bench: &Bench, arguments: &[&str]) -> Ran {
    ran(bench.bosun().arg("sessions").args(arguments).env("OPENAI_API_KEY", "sk-test"))
}

/// Three long turns, by an agent of which a summary stands for all but the last one; `summary` is what its model says to
/// that.
fn talked(summary: impl Into<Reply>) -> (Bench, SessionId) {
    let bench = Bench::new();
    bench.server.add(
        Rule::matching(|asked| asked.last_human().contains("<conversation>")).order(Order::RepeatLast).reply(summary),
    );
    for matter in ["the mast", "the sails", "the anchor"] {
        let words = format!("About {matter}: {}", "much to be said. ".repeat(60));
        bench.server.add(Rule::turn(matter).reply(Reply::text(words)));
    }
    bench.server.add(Rule::any().order(Order::RepeatLast).reply("Aye."));
    let agent = bench.data.path().join("agent.toml");
    std::fs::write(&agent, "[summarization]\nkeep.messages = 2\n").unwrap();
    assert_eq!(bench.run(&["--agent", agent.to_str().unwrap(), "Speak of the mast"]).code, Some(0));
    let session = bench.last_session();
    for task in ["Speak of the sails", "Speak of the anchor"] {
        assert_eq!(bench.go_on(&session, &[task]).code, Some(0));
    }
    (bench, session)
}

/// Everything that the model is sent with the next task.
fn sent(bench: &Bench, session: &SessionId) -> String {
    let ran = bench.go_on(session, &["Are you ready?"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "Aye.\n"), "{}", ran.err);
    let said = bench.server.requests().last().unwrap().asked().said;
    said.into_iter().map(|said| said.text).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_session_is_summed_up_by_its_own_model_looked_at_and_taken_back() {
    let (bench, session) = talked("The ship was\u{1b}[2J spoken of.");
    let id = session.as_str();
    let none = "Nothing is summed up: the whole conversation is sent.\n";
    assert_eq!(sessions(&bench, &["summary", id]).out, none);
    let asked = bench.server.requests().len();
    let made = sessions(&bench, &["compact", id, "--guidance", "Mind the sails"]);
    assert_eq!((made.code, made.err.as_str()), (Some(0), ""), "{}", made.out);
    assert_eq!(bench.server.requests().len(), asked + 1);
    let request = bench.server.requests().pop().unwrap();
    // At the address that the session remembers, which nobody named beside the key.
    assert_eq!((request.header("authorization"), request.asked().model.as_str()), (None, "test-model"));
    assert!(request.asked().said.iter().any(|said| said.text.contains("Mind the sails")));
    for words in
        ["Stands for the first ", "because you wanted it", "The ship was⟨ESC⟩[2J spoken of.", "Speak of the mast"]
    {
        assert!(made.out.contains(words), "{words}: {}", made.out);
    }
    assert_eq!(sessions(&bench, &["summary", id]).out, made.out);
    let told = sessions(&bench, &["summary", id, "--format", "json"]).out;
    let summary: ConversationSummary = serde_json::from_str(&told).unwrap();
    assert_eq!((summary.cause, summary.edited), (SummaryCause::Person, false));
    assert!(summary.tokens_after < summary.tokens_before && summary.file.is_some(), "{summary:?}");

    let next = sent(&bench, &session);
    assert!(next.contains("spoken of.") && !next.contains("About the mast"), "{next}");
    let undone = sessions(&bench, &["undo-summary", id]);
    assert_eq!((undone.code, undone.out.as_str()), (Some(0), none), "{}", undone.err);
    let next = sent(&bench, &session);
    assert!(next.contains("About the mast") && !next.contains("spoken of."), "{next}");
    let nothing = sessions(&bench, &["undo-summary", id]);
    assert!(nothing.sentence().contains("nothing of this conversation has been summarised"), "{}", nothing.err);
}

/// `edit-summary` with `words` on its standard input.
fn edited(bench: &Bench, session: &SessionId, words: &str, more: &[&str]) -> Ran {
    let mut command = bench.bosun();
    command.args(["sessions", "edit-summary", session.as_str()]).args(more);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(words.as_bytes()).unwrap();
    of(child.wait_with_output().unwrap())
}

#[test]
fn a_summary_gets_other_words_from_standard_input_or_a_file() {
    let (bench, session) = talked("The ship was spoken of.");
    let early = edited(&bench, &session, "Too early.", &[]);
    assert!(early.sentence().contains("nothing of this conversation has been summarised"), "{}", early.err);
    assert_eq!(sessions(&bench, &["compact", session.as_str()]).code, Some(0));

    let told = edited(&bench, &session, "The ship is called Otter.\n", &["--format", "json"]);
    assert_eq!((told.code, told.err.as_str()), (Some(0), ""), "{}", told.out);
    let summary: ConversationSummary = serde_json::from_str(&told.out).unwrap();
    assert_eq!((summary.text.as_str(), summary.edited), ("The ship is called Otter.", true));
    let empty = edited(&bench, &session, " \n", &[]);
    assert!(empty.sentence().contains("a summary cannot be empty"), "{}", empty.err);
    let next = sent(&bench, &session);
    assert!(next.contains("called Otter.") && !next.contains("spoken of."), "{next}");

    let file = bench.data.path().join("words.md");
    std::fs::write(&file, "The ship is called Heron.\n").unwrap();
    let told = edited(&bench, &session, "not these", &["--file", file.to_str().unwrap()]);
    assert!(told.out.contains("its words changed by you") && told.out.contains("called Heron."), "{}", told.out);
    let nowhere = edited(&bench, &session, "", &["--file", "/nowhere"]);
    assert!(nowhere.sentence().contains("the new words cannot be read"), "{}", nowhere.err);
}

#[test]
fn a_summary_that_cannot_be_made_changes_nothing_and_says_why() {
    let bench = Bench::new();
    bench.server.once("one");
    assert_eq!(bench.run(&["first"]).code, Some(0));
    let session = bench.last_session();
    let short = sessions(&bench, &["compact", session.as_str()]);
    assert!(
        short.sentence().contains("there is nothing to summarise yet; the latest messages are kept as they are"),
        "{}",
        short.err
    );
    let (bench, session) = talked(Reply::http(401, "no such key"));
    let refused = sessions(&bench, &["compact", session.as_str()]);
    assert!(refused.sentence().contains("nothing was removed"), "{}", refused.err);
    assert!(sessions(&bench, &["summary", session.as_str()]).out.starts_with("Nothing is summed up"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_at_work_elsewhere_is_left_alone() {
    let bench = Bench::new();
    bench.server.once(Reply::text("early").and_gate("rest"));
    let child = bench.run_command(&["say"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let gate = bench.server.gate("rest");
    tokio::time::timeout(std::time::Duration::from_secs(120), gate.reached()).await.unwrap();
    let session = bench.last_session();
    for command in ["compact", "summary", "edit-summary", "undo-summary"] {
        let ran = sessions(&bench, &[command, session.as_str()]);
        assert_eq!(ran.sentence(), "bosun: this session is open in another Bosun; close it there first");
    }
    gate.open();
    let ran = of(tokio::task::spawn_blocking(move || child.wait_with_output().unwrap()).await.unwrap());
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "early\n"), "{}", ran.err);
}

#[test]
fn a_run_says_that_the_conversation_could_not_be_summed_up_and_what_helps() {
    let bench = Bench::new();
    bench.server.add(
        Rule::matching(|asked| asked.last_human().contains("<conversation>"))
            .order(Order::RepeatLast)
            .reply(Reply::error(400, "invalid_request_error", "no summaries today")),
    );
    // Long enough for another attempt with each turn.
    bench.server.add(Rule::any().order(Order::RepeatLast).reply(Reply::text("much to be said. ".repeat(1_000))));
    let agent = bench.data.path().join("agent.toml");
    std::fs::write(&agent, "[summarization]\ntrigger = [{ messages = 3 }]\nkeep.messages = 1\n").unwrap();
    let agent = agent.to_str().unwrap();
    assert_eq!(bench.run(&["--agent", agent, "Speak of the mast"]).code, Some(0));
    let session = bench.last_session();
    let told = |words: &str| {
        assert_eq!(
            words.matches("The conversation is due for a summary, but writing it failed (").count(),
            1,
            "{words}"
        );
        assert!(words.contains("no summaries today"), "{words}");
        assert!(words.contains("Choose another model for summaries in Settings, Models"), "{words}");
    };
    let ran = bench.go_on(&session, &["Speak of the sails"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    told(&ran.err);
    let ran = bench.go_on(&session, &["--json", "Speak of the anchor"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let notices: Vec<&str> = ran.out.lines().filter(|line| line.contains("\"summary_failed\"")).collect();
    assert!(!notices.is_empty(), "{}", ran.out);
    told(notices[0].split("\"why\"").next().unwrap());
}
