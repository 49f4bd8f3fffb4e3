//! What a turn may take: by a flag, by the agent's declaration, by the settings.

use bosun_model::Usage;
use bosun_store::{Database, MODEL_SETTINGS};
use bosun_testkit::{Reply, Rule};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::bench::{Bench, Ran};
use crate::usage::priced;

/// Three calls of the model that read, and one that ends; 15 tokens each.
fn reading() -> Bench {
    let bench = Bench::new();
    bench.project.write("a.txt", "one\n");
    bench.server.add(Rule::looped(3, "read_file", json!({ "file_path": "/a.txt" }), "all read"));
    bench
}

/// It ended after `calls` with what there is to know, and comes to its end in a second run.
#[track_caller]
fn saved_and_continued(bench: &Bench, ran: &Ran, calls: usize, told: &str) {
    let whole = format!("bosun: the task was not done within {told}; everything is saved");
    assert_eq!((ran.sentence(), bench.server.requests().len()), (whole.as_str(), calls));
    let session = bench.last_session();
    assert!(ran.err.contains(&format!("go on with: bosun run --session {session}\n")), "{}", ran.err);
    let again = bench.go_on(&session, &["--max-tokens", "1000000"]);
    assert_eq!((again.code, again.out.as_str()), (Some(0), "all read\n"), "{}", again.err);
    assert_eq!(bench.server.requests().len(), 4);
}

#[test]
fn the_limit_of_tokens_saves_and_the_session_goes_on() {
    let bench = reading();
    let ran = bench.run(&["--max-tokens", "30", "read"]);
    saved_and_continued(&bench, &ran, 2, "30 tokens, the limit of --max-tokens");
}

#[test]
fn the_limit_of_tokens_holds_of_a_server_that_does_not_count() {
    let bench = Bench::new();
    bench.project.write("a.txt", "one\n");
    let read = Reply::new().and_call("read_file", json!({ "file_path": "/a.txt" })).usage(Usage::default());
    bench.server.once(read).once("all read");
    let ran = bench.run(&["--max-tokens", "10", "read"]);
    let told = "bosun: the task was not done within 10 tokens, the limit of --max-tokens; everything is saved";
    assert_eq!((ran.sentence(), bench.server.requests().len()), (told, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_limit_of_money_saves_and_the_session_goes_on() {
    let bench = reading();
    Database::open(&bench.data()).unwrap().set_setting(MODEL_SETTINGS, &priced()).await.unwrap();
    let ran = bench.run(&["--max-cost", "0.001", "read"]);
    saved_and_continued(&bench, &ran, 2, "$0.001, the limit of --max-cost");
}

#[test]
fn a_limit_of_money_that_cannot_hold_is_said() {
    let bench = reading();
    let ran = bench.run(&["--max-cost", "0.001", "read"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "all read\n"), "{}", ran.err);
    let told = "A turn may cost $0.001, but the price of openai:test-model is not known, so its cost is not counted.";
    assert_eq!(ran.err.matches(told).count(), 1, "{}", ran.err);
}

#[test]
fn the_limit_of_time_ends_a_call_that_takes_longer() {
    let bench = Bench::new();
    bench.server.once(Reply::text("early").and_gate("rest")).once("in time");
    let ran = bench.run(&["--max-time", "1s", "say"]);
    bench.server.gate("rest").open();
    let told = "bosun: the task was not done within one second, the limit of --max-time; everything is saved";
    assert_eq!(ran.sentence(), told);
    let again = bench.go_on(&bench.last_session(), &["--max-time", "10m"]);
    assert_eq!((again.code, again.out.as_str()), (Some(0), "in time\n"), "{}", again.err);
}

#[test]
fn where_nothing_is_stored_nothing_is_said_to_be_saved() {
    let ran = reading().run(&["--no-store", "--max-tokens", "30", "read"]);
    let told = "bosun: the task was not done within 30 tokens, the limit of --max-tokens; nothing was stored \
                (--no-store), so it cannot go on";
    assert_eq!(ran.sentence(), told);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_settings_hold_for_everyone_the_agent_goes_over_them_and_a_flag_over_both() {
    let steps = "2 model calls, the limit of --max-steps";
    for (arguments, calls, told) in [
        (&[][..], 2, "30 tokens, the limit of --max-tokens"),
        (&["--agent", "AGENT"][..], 3, "45 tokens, the limit of --max-tokens"),
        (&["--agent", "AGENT", "--max-tokens", "15"][..], 1, "15 tokens, the limit of --max-tokens"),
        (&["--agent", "AGENT", "--max-steps", "2"][..], 2, steps),
        // What a run is given in the place of the settings.
        (&["--config", "CONFIG"][..], 2, steps),
    ] {
        let bench = reading();
        let settings = "[guards]\nmax_tokens = 30\n".to_owned();
        Database::open(&bench.data()).unwrap().set_setting("additions", &settings).await.unwrap();
        let file = |name: &str, text: &str| {
            let path = bench.data.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let agent = file("agent.toml", "[guards]\nmax_tokens = 45\n[limits]\nmax_steps = 100\n");
        let config = file("config.toml", "[limits]\nmax_steps = 2\n");
        let arguments = arguments.iter().map(|word| match *word {
            "AGENT" => agent.as_str(),
            "CONFIG" => config.as_str(),
            word => word,
        });
        let ran = bench.run(&arguments.chain(["read"]).collect::<Vec<_>>());
        saved_and_continued(&bench, &ran, calls, told);
    }
}

/// A run whose subagent a limit of the whole tree ended, behind its first call.
fn halted_below() -> Bench {
    let bench = Bench::new();
    bench.project.write("a.txt", "one\n");
    let send = json!({ "description": "look around", "subagent_type": "general-purpose" });
    bench.server.add(Rule::turn("send somebody").reply(Reply::new().and_call("task", send)).reply("They got far."));
    let read = Reply::new().and_call("read_file", json!({ "file_path": "/a.txt" }));
    bench.server.add(Rule::turn("look around").reply(read).reply("One line."));
    bench.server.add(Rule::turn("leave it").reply("I leave it."));
    let ran = bench.run(&["--max-tokens", "30", "send somebody"]);
    assert_eq!((ran.code, bench.server.requests().len()), (Some(1), 2), "{}", ran.err);
    bench
}

#[test]
fn a_subagent_that_a_limit_ended_goes_on_where_it_was() {
    let bench = halted_below();
    let again = bench.go_on(&bench.last_session(), &["--max-tokens", "1000000"]);
    assert_eq!((again.code, again.out.as_str()), (Some(0), "They got far.\n"), "{}", again.err);
    let last: Vec<String> =
        bench.server.requests()[2..].iter().map(|request| request.asked().last().to_owned()).collect();
    assert!(last.len() == 2 && last[0].contains("one") && last[1] == "One line.", "{last:?}");
}

#[test]
fn a_subagent_that_a_limit_ended_can_be_asked_to_go_on() {
    let bench = halted_below();
    let again = bench.go_on(&bench.last_session(), &["--max-tokens", "1000000", "leave it"]);
    assert_eq!((again.code, again.out.as_str()), (Some(0), "I leave it.\n"), "{}", again.err);
    let asked = bench.server.requests().pop().unwrap().asked();
    let told = asked.said.iter().find(|said| said.text.contains("did not finish")).unwrap().text.clone();
    assert!(told.contains("did not finish: the turn reached its limit of 30 tokens, subagents included."), "{told}");
    assert!(told.contains("update_async_task with the id ") && !told.contains("continue the turn"), "{told}");
}
