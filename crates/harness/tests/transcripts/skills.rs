//! The five built-in skills, each read and followed to its end by a model that does as it says.

use bosun_harness::SkillSource;

use pretty_assertions::assert_eq;

use super::*;

/// A folder with a script that adds, wrongly, and a check of it.
fn sums() -> Project {
    Project::new()
        .file("sum.sh", "echo $(( $1 - $2 ))\n")
        .file("check_one.sh", "test \"$(sh sum.sh 1 0)\" = 1 && echo passed || { echo FAILED 1+0; exit 1; }\n")
}

fn run(id: &str, command: &str) -> Reply {
    call(id, "execute", json!({"command": command}))
}

fn read(id: &str, path: &str) -> Reply {
    call(id, "read_file", json!({"file_path": path}))
}

fn write(id: &str, path: &str, content: &str) -> Reply {
    call(id, "write_file", json!({"file_path": path, "content": content}))
}

/// What came back from the call `id`.
fn result(scene: &Scene, id: &str) -> String {
    scene.log.with_state(|state| {
        let found = state.messages.iter().find_map(|message| match &**message {
            bosun_model::Message::Tool(result) if result.call_id.as_str() == id => Some(result.text()),
            _ => None,
        });
        found.unwrap_or_else(|| panic!("no result of {id}"))
    })
}

/// Reads the skill `name`, then takes `steps`.
async fn follow(wire: Wire, name: &str, project: Project, steps: Vec<Reply>) -> Scene {
    let scene = scene(wire, project, |config| {
        config.skills.builtin = true;
        config.skills.sources = vec![SkillSource { path: path("/skills/user"), label: None }];
        config.memory.sources = vec![path("/AGENTS.md")];
    });
    let skill = json!({"file_path": format!("/skills/builtin/{name}/SKILL.md"), "limit": 1_000});
    let rule = Rule::turn("do it").reply(call("skill", "read_file", skill));
    scene.server.add(steps.into_iter().fold(rule, Rule::reply).reply("Done, as the skill says."));
    assert_eq!(scene.say("do it").await, TurnEnd::Done);
    let offered = scene.server.requests()[0].asked().system;
    assert!(offered.contains(&format!("- **{name}**: ")), "{offered}");
    let read = result(&scene, "skill");
    assert!(read.contains(&format!("name: {name}")) && read.contains("1. **"), "{read}");
    scene
}

#[tokio::test]
async fn review_change_looks_at_the_diff_and_changes_nothing() {
    let commit = "git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -qm one";
    for wire in [Wire::Anthropic, Wire::OpenAi] {
        let steps = vec![
            run("commit", commit),
            run("change", "echo 'echo $(( $1 + $2 ))' > sum.sh"),
            run("status", "git status --short && git diff"),
            read("around", "/sum.sh"),
            call("callers", "grep", json!({"pattern": "sum.sh"})),
            run("prove", "sh check_one.sh"),
        ];
        let scene = follow(wire, "review-change", sums(), steps).await;
        assert!(result(&scene, "status").contains("+echo $(( $1 + $2 ))"), "{}", result(&scene, "status"));
        assert!(result(&scene, "callers").contains("/check_one.sh"), "{}", result(&scene, "callers"));
        assert!(result(&scene, "prove").contains("passed"), "{}", result(&scene, "prove"));
    }
}

#[tokio::test]
async fn write_tests_sees_a_test_fail_before_it_counts() {
    for wire in [Wire::Anthropic, Wire::OpenAi] {
        let plan = json!({"todos": [{"content": "two numbers", "status": "in_progress"}]});
        let test = "test \"$(sh sum.sh 1 2)\" = 3 && echo passed || { echo FAILED 1+2; exit 1; }\n";
        let steps = vec![
            call("rules", "glob", json!({"pattern": "check_*.sh"})),
            read("neighbour", "/check_one.sh"),
            run("works", "sh check_one.sh"),
            read("code", "/sum.sh"),
            call("plan", "write_todos", plan),
            write("test", "/check_two.sh", test),
            run("fails", "sh check_two.sh"),
            run("all", "for check in check_*.sh; do sh $check; done"),
        ];
        let scene = follow(wire, "write-tests", sums(), steps).await;
        assert!(result(&scene, "works").contains("passed"), "{}", result(&scene, "works"));
        assert!(result(&scene, "fails").contains("FAILED 1+2"), "{}", result(&scene, "fails"));
        assert_eq!(scene.project.read("check_two.sh"), test);
        assert_eq!(scene.project.read("sum.sh"), "echo $(( $1 - $2 ))\n", "the code is not mended unasked");
    }
}

#[tokio::test]
async fn debug_failure_mends_the_cause_and_proves_it() {
    for wire in [Wire::Anthropic, Wire::OpenAi] {
        let edit = json!({"file_path": "/sum.sh", "old_string": "$1 - $2", "new_string": "$1 + $2"});
        let steps = vec![
            run("fails", "test $(sh sum.sh 1 2) = 3 || { echo 'wanted 3'; exit 1; }"),
            call("place", "grep", json!({"pattern": "$2", "output_mode": "content"})),
            read("code", "/sum.sh"),
            call("mend", "edit_file", edit),
            run("proved", "test $(sh sum.sh 1 2) = 3 && sh check_one.sh"),
        ];
        let scene = follow(wire, "debug-failure", sums(), steps).await;
        assert!(result(&scene, "fails").contains("wanted 3"), "{}", result(&scene, "fails"));
        assert!(result(&scene, "place").contains("$1 - $2"), "{}", result(&scene, "place"));
        assert!(result(&scene, "proved").contains("passed"), "{}", result(&scene, "proved"));
        assert_eq!(scene.project.read("sum.sh"), "echo $(( $1 + $2 ))\n");
    }
}

#[tokio::test]
async fn write_skill_makes_one_that_is_offered_at_once_and_tried() {
    for wire in [Wire::Anthropic, Wire::OpenAi] {
        let text = "---\nname: add-up\ndescription: \"Adds numbers up. Use when asked for a sum.\"\n---\n\n1. Run `sh sum.sh`.\n";
        let task = json!({
            "description": "Add 1 and 2 with /skills/user/add-up/SKILL.md",
            "subagent_type": "general-purpose",
        });
        let steps = vec![
            call("there", "ls", json!({"path": "/"})),
            write("write", "/skills/user/add-up/SKILL.md", text),
            call("try", "task", task),
            read("show", "/skills/user/add-up/SKILL.md"),
        ];
        let scene = follow_with_subagent(wire, steps).await;
        let requests = scene.server.requests();
        let listed = |index: usize| requests[index].asked().system.contains("**add-up**: Adds numbers up.");
        assert!(!listed(2) && listed(3), "it is offered from the step on in which it was written");
        assert_eq!(result(&scene, "try"), "It says how.");
        assert!(result(&scene, "show").contains("1. Run `sh sum.sh`."), "{}", result(&scene, "show"));
    }
}

/// The same with a subagent that tries the new skill.
async fn follow_with_subagent(wire: Wire, steps: Vec<Reply>) -> Scene {
    let scene = scene(wire, sums(), |config| {
        config.skills.builtin = true;
        config.skills.sources = vec![SkillSource { path: path("/skills/user"), label: None }];
    });
    let skill = json!({"file_path": "/skills/builtin/write-skill/SKILL.md", "limit": 1_000});
    let rule = Rule::turn("do it").reply(call("skill", "read_file", skill));
    scene.server.add(steps.into_iter().fold(rule, Rule::reply).reply("Done, as the skill says."));
    scene.server.add(Rule::turn("Add 1 and 2").reply(read("r", "/skills/user/add-up/SKILL.md")).reply("It says how."));
    assert_eq!(scene.say("do it").await, TurnEnd::Done);
    scene
}

#[tokio::test]
async fn remember_lesson_mends_the_file_that_the_next_session_reads() {
    for wire in [Wire::Anthropic, Wire::OpenAi] {
        let project = sums().file("AGENTS.md", "# Here\n\nRun all checks.\n");
        let lesson = "Run `sh check_one.sh`, not all checks: they take 9 minutes.";
        let edit = json!({"file_path": "/AGENTS.md", "old_string": "Run all checks.", "new_string": lesson});
        let steps = vec![read("first", "/AGENTS.md"), call("write", "edit_file", edit)];
        let scene = follow(wire, "remember-lesson", project, steps).await;
        assert_eq!(scene.project.read("AGENTS.md"), format!("# Here\n\n{lesson}\n"));
        let last = scene.server.requests().last().unwrap().asked().system;
        assert!(last.contains(lesson) && !last.contains("Run all checks."), "{last}");
    }
}
