//! Conversations that are too long for the provider, once, twice in one turn, and without an end.

use bosun_harness::undo_summary;
use pretty_assertions::assert_eq;

use super::*;

/// How each family says that a request is too long.
const REFUSALS: [(Wire, &str, &str); 2] = [
    (Wire::Anthropic, "invalid_request_error", "prompt is too long: 201000 tokens > 200000 maximum"),
    (Wire::OpenAi, "context_length_exceeded", "This model's maximum context length is 8192 tokens."),
];

fn too_long((wire, kind, words): (Wire, &'static str, &'static str)) -> (Wire, impl Fn() -> Reply) {
    (wire, move || Reply::error(400, kind, words))
}

fn keeping(wire: Wire, project: Project, messages: usize) -> Scene {
    scene(wire, project, |config| config.summarization.keep = Some(Threshold::Messages(messages)))
}

fn long(words: &str) -> String {
    format!("{words}: {}", "and so on ".repeat(400))
}

fn read(id: &str) -> Reply {
    call(id, "read_file", json!({"file_path": "/a.txt"}))
}

#[tokio::test]
async fn a_conversation_that_is_too_long_for_the_provider_goes_on_summed_up() {
    for refusal in REFUSALS {
        let (wire, refused) = too_long(refusal);
        let scene = keeping(wire, Project::new(), 1);
        let long = "and so on ".repeat(400);
        for turn in ["first", "second"] {
            scene.server.once(long.as_str());
            assert_eq!(scene.say(turn).await, TurnEnd::Done);
        }
        scene.server.once(refused());
        scene.server.once("They said first and second.");
        scene.server.once("Third it is.");
        assert_eq!(scene.say("third").await, TurnEnd::Done);
        let bodies = scene.bodies();
        assert_eq!(bodies.len(), 5);
        let last = bodies.last().unwrap()["messages"].to_string();
        assert!(last.contains("They said first and second.") && !last.contains(&long), "{last}");
        assert!(last.contains("- first") && last.contains("third"), "the user's words are kept: {last}");
        let compaction = scene.log.with_state(Compaction::of);
        assert_eq!(compaction.made, 1);
        let file = compaction.summary.unwrap().file.unwrap();
        assert!(scene.project.read(file.as_str().trim_start_matches('/')).contains(&long));
    }
}

#[tokio::test]
async fn a_second_overflow_in_one_turn_makes_a_summary_of_the_summary() {
    for refusal in REFUSALS {
        let (wire, refused) = too_long(refusal);
        let scene = keeping(wire, Project::new().file("a.txt", "word ".repeat(300)), 2);
        scene.server.once(Reply::text(long("first")));
        assert_eq!(scene.say("the first wish").await, TurnEnd::Done);
        scene.server.once(refused());
        scene.server.once(Reply::text(format!("One story. {}", "It was told at length. ".repeat(30))));
        for step in 0..3 {
            scene.server.once(read(&format!("r{step}")));
        }
        scene.server.once(refused());
        scene.server.once("Both stories.");
        scene.server.once("Done.");
        assert_eq!(scene.say("the second wish").await, TurnEnd::Done);
        let summary = || scene.log.with_state(Compaction::of).summary.unwrap();
        let second = summary();
        assert!(second.text.starts_with("Both stori"), "{second:?}");
        let bodies = scene.bodies();
        assert!(bodies[bodies.len() - 2].to_string().contains("It was told at length."), "made of the one before");
        let last = bodies.last().unwrap()["messages"].to_string();
        assert!(last.contains("Both stories.") && !last.contains("One story."), "{last}");
        for wish in ["the first wish", "the second wish"] {
            assert!(last.contains(wish), "{wish} is carried over word for word: {last}");
        }
        // One file holds all of it, in order.
        let file = second.file.clone().unwrap();
        let kept = scene.project.read(file.as_str().trim_start_matches('/'));
        assert_eq!(kept.matches("## Summarized at ").count(), 2);
        assert!(kept.find("the first wish") < kept.find("the second wish"), "{kept}");
        // Taken back, the one that it was made of is in force again.
        let undo = scene.log.with_state(undo_summary).unwrap();
        scene.log.record(vec![undo]).await.unwrap();
        let first = summary();
        assert!(first.text.starts_with("One story.") && first.cutoff < second.cutoff, "{first:?}");
        assert_eq!(first.file, Some(file));
    }
}

#[tokio::test]
async fn what_is_summed_up_and_still_too_long_is_cut_down_to_its_last_step() {
    for refusal in REFUSALS {
        let (wire, refused) = too_long(refusal);
        let scene = keeping(wire, Project::new().file("a.txt", "word\n".repeat(4_000)), 2);
        scene.server.once(Reply::text(long("first")));
        assert_eq!(scene.say("begin").await, TurnEnd::Done);
        scene.server.once(call("r", "read_file", json!({"file_path": "/a.txt", "limit": 4_000})));
        scene.server.once(refused());
        scene.server.once("The story.");
        scene.server.once(refused());
        scene.server.once("Done.");
        assert_eq!(scene.say("go on").await, TurnEnd::Done);
        let bodies = scene.bodies();
        let (before, after) = (bodies[4].to_string(), bodies.last().unwrap().to_string());
        assert!(before.len() > 20_000 && after.len() + 15_000 < before.len(), "{} and {}", before.len(), after.len());
        assert!(after.contains("shortened to make room. It can be read again in /a.txt."), "{after}");
        assert!(!scene.project.at("large_tool_results").exists(), "the file itself is there");
        // What comes next is as short.
        scene.server.once("Still here.");
        assert_eq!(scene.say("and now?").await, TurnEnd::Done);
        assert!(scene.bodies().last().unwrap().to_string().len() < after.len() + 1_000);
    }
}

#[tokio::test]
async fn what_stays_too_long_ends_the_turn_with_the_way_out_and_can_be_continued() {
    for refusal in REFUSALS {
        let (wire, refused) = too_long(refusal);
        let scene = keeping(wire, Project::new().file("a.txt", "word\n".repeat(2_000)), 2);
        scene.server.once(Reply::text(long("first")));
        assert_eq!(scene.say("begin").await, TurnEnd::Done);
        scene.server.once(read("r"));
        scene.server.once(refused());
        scene.server.once("The story.");
        scene.server.once(refused());
        let TurnEnd::Failed { reason, .. } = scene.say("go on").await else { panic!("it went on") };
        assert!(reason.contains("start a new session or choose a model with a larger window"), "{reason}");
        assert!(scene.server.requests().len() <= 6, "the same request is not made again");
        scene.server.once("With more room.");
        scene.log.record(vec![EntryBody::TurnContinued { turn: 2 }]).await.unwrap();
        assert_eq!(run_turn(&scene.cx).await, Ok(TurnEnd::Done));
    }
}

#[tokio::test]
async fn what_is_too_long_to_be_summed_up_is_summed_up_from_its_ends() {
    for refusal in REFUSALS {
        let (wire, refused) = too_long(refusal);
        let scene = keeping(wire, Project::new(), 1);
        for turn in 0..8 {
            scene.server.once(Reply::text(long(&format!("reply {turn}")).repeat(2)));
            assert_eq!(scene.say(&format!("wish {turn}")).await, TurnEnd::Done);
        }
        for _ in 0..3 {
            scene.server.once(refused());
        }
        scene.server.once("All of it.");
        scene.server.once("Done.");
        assert_eq!(scene.say("go on").await, TurnEnd::Done);
        let bodies = scene.bodies();
        let (whole, ends) = (bodies[9].to_string(), bodies[11].to_string());
        assert!(ends.len() < whole.len() && ends.contains("characters of the middle left out"), "{}", ends.len());
        assert!(
            !whole.contains("left out") && bodies[10].to_string().contains("characters left out"),
            "first the longest"
        );
        let last = bodies.last().unwrap().to_string();
        assert!(last.contains("All of it.") && last.contains("characters of its middle did not fit"), "{last}");
        assert!(scene.log.with_state(Compaction::of).summary.unwrap().left_out > 0);
    }
}

#[tokio::test]
async fn what_is_too_long_and_could_not_be_summed_up_is_told_so_with_the_reason() {
    for refusal in REFUSALS {
        let (wire, refused) = too_long(refusal);
        let scene = keeping(wire, Project::new(), 1);
        for turn in ["first", "second"] {
            scene.server.once(Reply::text(long(turn)));
            assert_eq!(scene.say(turn).await, TurnEnd::Done);
        }
        scene.server.once(refused());
        for _ in 0..2 {
            scene.server.once(Reply::error(400, "invalid_request_error", "no summaries today"));
        }
        let TurnEnd::Failed { reason, .. } = scene.say("third").await else { panic!("it went on") };
        assert!(
            reason.contains("the conversation is too long for this model and could not be summed up (")
                && reason.contains("no summaries today")
                && reason.contains("start a new session or choose a model with a larger window"),
            "{reason}"
        );
    }
}

/// Ten lines that are long, so that even what is shown of them once they are in a file is cut where room is needed.
const LONG_LINES: &str =
    "for line in 1 2 3 4 5 6 7 8 9 10; do head -c 3000 /dev/zero | tr '\\0' $((line % 10)); echo; done";

fn long_lines() -> String {
    (1..=10).map(|line| format!("{}\n", (line % 10).to_string().repeat(3_000))).collect()
}

/// A turn in which a command says [`LONG_LINES`], and the provider then has two requests too long.
async fn overflowing(refusal: (Wire, &'static str, &'static str), kept: impl FnOnce(&Scene)) -> Scene {
    let (wire, refused) = too_long(refusal);
    let scene = scene(wire, Project::new(), |config| {
        config.summarization.keep = Some(Threshold::Messages(2));
        config.filesystem.evict_results_over = 1_000;
    });
    scene.server.once(Reply::text(long("first")));
    assert_eq!(scene.say("begin").await, TurnEnd::Done);
    scene.server.once(call("x", "execute", json!({"command": LONG_LINES})));
    kept(&scene);
    scene.server.once(refused());
    scene.server.once("The story.");
    scene.server.once(refused());
    scene.server.once("Done.");
    assert_eq!(scene.say("go on").await, TurnEnd::Done);
    scene
}

/// The result of the one command as the last request has it.
fn last_result(scene: &Scene) -> String {
    scene.bodies().last().unwrap()["messages"].as_array().unwrap().last().unwrap().to_string()
}

#[tokio::test]
async fn what_is_kept_of_a_large_result_is_whole_also_after_an_overflow() {
    for refusal in REFUSALS {
        let scene = overflowing(refusal, |_| {}).await;
        let sent = last_result(&scene);
        assert!(sent.contains("shortened to make room. The whole is in /large_tool_results/x."), "{sent}");
        assert!(scene.project.read("large_tool_results/x").starts_with(&long_lines()), "{sent}");
        scene.server.once(call("r", "read_file", json!({"file_path": "/large_tool_results/x", "limit": 2})));
        scene.server.once("Read.");
        assert_eq!(scene.say("read it").await, TurnEnd::Done);
        assert!(last_result(&scene).contains(&"1".repeat(1_000)), "{}", last_result(&scene));
    }
}

#[tokio::test]
async fn a_shortened_result_that_could_not_be_kept_names_no_place() {
    for refusal in REFUSALS {
        let scene = overflowing(refusal, |scene| {
            std::fs::write(scene.project.at("large_tool_results"), "in the way").unwrap();
        })
        .await;
        let sent = last_result(&scene);
        assert!(sent.contains("[This result was shortened to make room.]"), "{sent}");
        assert!(!sent.contains("large_tool_results"), "{sent}");
        assert_eq!(scene.project.read("large_tool_results"), "in the way");
    }
}
