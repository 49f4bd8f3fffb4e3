//! What the model is told by default and under the main settings. A change of a word shows in review here.

use bosun_agent::Policy;
use bosun_backend::{FilesystemBackend, VirtualPath};
use bosun_harness::{DeclaredAgent, DeepAgentConfig, SkillSource, SubagentSpec};
use bosun_model::{ChatRequest, OutputSchema};
use bosun_testkit::{Project, Reply, Scripted, ScriptedModel};
use serde_json::json;

use crate::scene::{Scene, small};

/// The standing prompt and the tools of a request, as text.
fn told(request: &ChatRequest) -> String {
    let mut text = String::new();
    for block in &request.system {
        let mark = if block.cache { " (breakpoint after it)" } else { "" };
        text.push_str(&format!("=== prompt{mark}\n{}\n", block.text));
    }
    for tool in request.tools.iter() {
        let fields = tool.schema.get("properties").and_then(|fields| fields.as_object());
        let fields: Vec<&String> = fields.into_iter().flat_map(|fields| fields.keys()).collect();
        text.push_str(&format!("=== tool {} {fields:?}\n{}\n", tool.name, tool.description));
    }
    text
}

async fn first_request(project: Project, configure: impl FnOnce(&mut DeepAgentConfig)) -> String {
    let scene = Scene::build(project, ScriptedModel::new(["done"]), vec![], configure);
    scene.say("go").await;
    told(&scene.request(0))
}

#[tokio::test]
async fn by_default() {
    insta::assert_snapshot!(first_request(Project::new(), |config| config.policy = Policy::default()).await);
}

#[tokio::test]
async fn with_memory_skills_and_an_answer_of_a_shape() {
    let skill = "---\nname: notes\ndescription: Writes notes.\nlicense: MIT\nallowed-tools: write_file\n---\nWrite.\n";
    let project =
        Project::new().file("AGENTS.md", "Be kind.").file(".bosun/skills/notes/SKILL.md", skill).dir(".bosun/skills/x");
    let path = |path: &str| VirtualPath::parse(path).unwrap();
    let shown = first_request(project, |config| {
        config.system_prompt = Some("You look after notes.".into());
        config.memory.sources = vec![path("/AGENTS.md")];
        config.skills.builtin = true;
        config.skills.sources = vec![SkillSource { path: path("/.bosun/skills"), label: Some("Project".into()) }];
        let schema = json!({"type": "object", "properties": {"done": {"type": "boolean"}}, "required": ["done"]});
        config.output = Some(OutputSchema { name: "report".into(), schema });
    });
    insta::assert_snapshot!(shown.await);
}

/// What stands in every prompt from the beginning, and what does not fit there.
#[tokio::test]
async fn with_pinned_skills_and_memory_in_a_small_window() {
    let skill = |name: &str, text: &str| format!("---\nname: {name}\ndescription: Does {name}.\n---\n{text}\n");
    let project = Project::new()
        .file("AGENTS.md", "Be kind. ".repeat(100))
        .file("skills/short/SKILL.md", skill("short", "Be brief."))
        .file("skills/long/SKILL.md", skill("long", &"Be thorough. ".repeat(100)));
    let scene = Scene::build(project, small(vec!["done".into()], 1_000), vec![], |config| {
        let declared = DeclaredAgent::parse(
            "base_prompt = 'Read and tell.'\nbuiltin_tools = ['read_file']\nmemory = ['/AGENTS.md']\n\
             filesystem.prompt = ''\n[skills]\nsources = [{ path = '/skills' }]\npinned = ['long', 'short']",
        );
        declared.unwrap().apply(config);
    });
    scene.say("go").await;
    insta::assert_snapshot!(told(&scene.request(0)));
}

#[tokio::test]
async fn with_few_tools_and_no_shell() {
    let folder = Project::new();
    let backend = FilesystemBackend::open(folder.root(), Default::default()).unwrap();
    let shown = first_request(Project::new(), |config| {
        config.backend = std::sync::Arc::new(backend);
        let declared = DeclaredAgent::parse(
            "base_prompt = 'Read and tell.'\nbuiltin_tools = ['ls', 'read_file']\n\
             descriptions.ls = 'Lists.'\nfilesystem.prompt = 'Paths begin at /.'",
        );
        declared.unwrap().apply(config);
    });
    insta::assert_snapshot!(shown.await);
}

#[tokio::test]
async fn of_a_subagent() {
    let args = json!({"description": "read it", "subagent_type": "reader"});
    let task = Scripted::from(Reply::new().and_call_with_id("t", "task", args));
    let model = ScriptedModel::new(vec![task, "read".into(), "done".into()]);
    let scene = Scene::build(Project::new(), model, vec![], |config| {
        config.subagents = vec![SubagentSpec {
            name: "reader".into(),
            description: "Reads.".into(),
            prompt: "Read slowly.".into(),
            tools: Some(vec!["read_file".into(), "grep".into(), "task".into()]),
            ..SubagentSpec::default()
        }];
    });
    scene.say("go").await;
    insta::assert_snapshot!(told(&scene.request(1)));
}

#[tokio::test]
async fn with_subagents_in_the_background() {
    let shown = first_request(Project::new(), |config| {
        config.policy = Policy::default();
        let declared = DeclaredAgent::parse("background_subagents = true\nbase_prompt = 'Send them.'").unwrap();
        declared.apply(config);
        config.builtin_tools = Some(
            [
                "task",
                "start_async_task",
                "check_async_task",
                "update_async_task",
                "cancel_async_task",
                "list_async_tasks",
            ]
            .map(ToOwned::to_owned)
            .to_vec(),
        );
    });
    insta::assert_snapshot!(shown.await);
}

#[tokio::test]
async fn with_paths_that_are_denied() {
    let shown = first_request(Project::new(), |config| {
        let declared = DeclaredAgent::parse(
            "base_prompt = 'Read.'\n[[permissions]]\noperations = ['read']\npaths = ['/secrets']\nmode = 'deny'",
        );
        declared.unwrap().apply(config);
    });
    let names = shown.await;
    let names: Vec<&str> = names.lines().filter_map(|line| line.strip_prefix("=== tool ")?.split(' ').next()).collect();
    assert!(names.contains(&"read_file") && !names.contains(&"execute"), "{names:?}");
}
