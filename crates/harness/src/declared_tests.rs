use std::sync::Arc;

use bosun_agent::Policy;
use bosun_testkit::{Project, Scripted, ScriptedModel};
use pretty_assertions::assert_eq;

use super::*;
use crate::{
    ArgumentOptions, FilesystemOptions, GuardOptions, PathMode, PathOperation, PathPattern, RootPlace, SkillsOptions,
    Threshold, Trigger, create_deep_agent,
};

fn config() -> DeepAgentConfig {
    let project = Project::new();
    let backend = bosun_backend::LocalShellBackend::open(project.root(), Default::default()).unwrap();
    DeepAgentConfig::new(Arc::new(ScriptedModel::new(Vec::<Scripted>::new())), Arc::new(backend))
}

fn applied(text: &str) -> DeepAgentConfig {
    let mut config = config();
    DeclaredAgent::parse(text).unwrap().apply(&mut config);
    config
}

fn path(text: &str) -> VirtualPath {
    VirtualPath::parse(text).unwrap()
}

#[test]
fn an_empty_declaration_changes_nothing() {
    let (plain, config) = (config(), applied(""));
    assert_eq!((&plain.name, &plain.policy, plain.limits), (&config.name, &config.policy, config.limits));
    assert_eq!((&plain.filesystem, &plain.summarization), (&config.filesystem, &config.summarization));
    assert_eq!((&plain.guards, &plain.skills, plain.cache), (&config.guards, &config.skills, config.cache));
}

#[test]
fn names_and_prompts() {
    let config = applied("name = 'scribe'\nsystem_prompt = 'Write.'\nbase_prompt = ''");
    assert_eq!(config.name, "scribe");
    assert_eq!((config.system_prompt.as_deref(), config.base_prompt.as_deref()), (Some("Write."), Some("")));
}

#[test]
fn tools_and_their_descriptions() {
    let config = applied("builtin_tools = ['ls']\n[descriptions]\nls = 'Lists.'");
    assert_eq!(config.builtin_tools, Some(vec!["ls".to_owned()]));
    assert_eq!(config.descriptions, [("ls".to_owned(), "Lists.".to_owned())].into());
}

#[test]
fn files_and_what_is_evicted() {
    let config = applied(
        "artifacts = '/x'\n[filesystem]\nprompt = 'p'\nread_format = 'plain'\nevict_results_over = 9\n\
         evict_messages_over = 8\noffload_media = true\nmax_execute_timeout = 7\ngrep_max_count = 6",
    );
    let expected = FilesystemOptions {
        prompt: Some("p".into()),
        read_format: bosun_tools::ReadFormat::Plain,
        grep_max_count: 6,
        max_execute_timeout: 7,
        evict_results_over: 9,
        evict_messages_over: 8,
        offload_media: true,
        mounts: Vec::new(),
        root: crate::RootPlace::Project,
        places: Vec::new(),
    };
    assert_eq!((config.filesystem, config.artifacts.root), (expected, Some(path("/x"))));
}

#[test]
fn summarization() {
    let config = applied(
        "[summarization]\ntrigger = [{ tokens = 1000, messages = 9 }, { fraction = 0.5 }]\nkeep.messages = 4\nguidance = 'g'\n\
         arguments = { trigger = [{ messages = 20 }], keep.tokens = 5 }",
    );
    let expected = SummarizationOptions {
        trigger: vec![
            Trigger { messages: Some(9), ..Threshold::Tokens(1_000).into() },
            Threshold::Fraction(0.5).into(),
        ],
        keep: Some(Threshold::Messages(4)),
        guidance: Some("g".into()),
        arguments: ArgumentOptions { trigger: vec![Threshold::Messages(20).into()], keep: Some(Threshold::Tokens(5)) },
    };
    assert_eq!(config.summarization, expected);
}

#[test]
fn memory_skills_and_the_cache() {
    let config = applied(
        "memory = ['/AGENTS.md']\ncache = 'one_hour'\n[skills]\nbuiltin = true\npinned = ['a']\n\
         sources = [{ path = '/skills/user', label = 'Mine' }]",
    );
    assert_eq!(config.memory.sources, [path("/AGENTS.md")]);
    assert_eq!(config.cache, CacheLifetime::OneHour);
    let source = SkillSource { path: path("/skills/user"), label: Some("Mine".into()) };
    assert_eq!(
        config.skills,
        SkillsOptions { builtin: true, sources: vec![source], pinned: vec!["a".into()], ..SkillsOptions::default() }
    );
}

#[test]
fn subagents() {
    let config = applied(
        "[[subagents]]\nname = 'a'\ndescription = 'd'\nprompt = 'p'\ntools = ['ls']\nmodel = 'o:m'\neffort = 'low'\nmax_steps = 5\n\
         skills = [{ path = '/s' }]\n\
         interrupt_on = { ls = true, grep = false, glob = { allowed = ['respond'], description = 'w', timeout_seconds = 5 } }\n\
         permissions = [{ operations = ['read'], paths = ['/s/**'], mode = 'deny' }]\noutput = { name = 'o', schema = { type = 'object' } }",
    );
    let gate = Gate {
        allowed: vec![DecisionKind::Respond],
        description: Some("w".into()),
        timeout: Some(Duration::from_secs(5)),
        ..Gate::default()
    };
    let asks =
        [("ls", InterruptOn::Ask(Gate::default())), ("grep", InterruptOn::Never), ("glob", InterruptOn::Ask(gate))];
    let expected = SubagentSpec {
        name: "a".into(),
        description: "d".into(),
        prompt: "p".into(),
        tools: Some(vec!["ls".into()]),
        model: Some("o:m".into()),
        effort: Some(bosun_model::Effort::Low),
        skills: vec![SkillSource { path: path("/s"), label: None }],
        interrupt_on: asks.map(|(tool, interrupt)| (tool.to_owned(), interrupt)).into(),
        permissions: vec![PathRule {
            operations: vec![PathOperation::Read],
            paths: vec![PathPattern::try_from("/s/**".to_owned()).unwrap()],
            mode: PathMode::Deny,
        }],
        output: Some(OutputSchema { name: "o".into(), schema: serde_json::json!({"type": "object"}) }),
        middleware: Members::default(),
        max_steps: Some(5),
    };
    assert_eq!(config.subagents, [expected]);
}

#[test]
fn a_structured_answer() {
    let config = applied("[output]\nname = 'report'\nschema = { type = 'object' }");
    assert_eq!(config.output.map(|output| output.name), Some("report".to_owned()));
}

#[test]
fn approvals() {
    let config = applied(
        "[approvals]\nedits = 'allow'\ncommands = 'reject'\nprefix = 'Look:'\ntimeout_seconds = 60\n\
         tools.ls = true\ntools.delete = false\n\
         tools.execute = { allowed = ['respond'], description = 'd', timeout_seconds = 5 }",
    );
    assert!(matches!(config.policy.edits, PermissionRule::Allow { .. }), "{:?}", config.policy);
    assert!(matches!(config.policy.commands, PermissionRule::Reject { .. }), "{:?}", config.policy);
    assert_eq!(config.approval_prefix.as_deref(), Some("Look:"));
    assert_eq!(config.approval_timeout, Some(Duration::from_secs(60)));
    assert!(matches!(config.interrupt_on.get("delete"), Some(InterruptOn::Never)));
    let Some(InterruptOn::Ask(gate)) = config.interrupt_on.get("execute") else { panic!("{:?}", config.interrupt_on) };
    assert_eq!((&gate.allowed[..], gate.description.as_deref()), (&[DecisionKind::Respond][..], Some("d")));
    assert_eq!(gate.timeout, Some(Duration::from_secs(5)));
    let policy: Policy = (*create_deep_agent(config).unwrap().policy()).clone();
    assert_eq!(policy.interrupt_on.get("delete"), Some(&None));
    assert!(policy.interrupt_on.get("ls").is_some_and(|config| config.is_some()));
}

#[test]
fn limits_and_guards() {
    let config = applied(
        "[limits]\nmax_steps = 3\nmax_depth = 2\nmax_subagents = 1\n\
         [guards]\nmax_steps = 9\nmax_tokens = 8\nmax_dollars = 0.5\nmax_seconds = 7\nsame_failures = 6",
    );
    let limits = bosun_agent::Limits { max_steps: 3, max_depth: 2, max_subagents: 1, max_work: None };
    let guards = GuardOptions {
        max_steps: Some(9),
        max_tokens: Some(8),
        max_dollars: Some(0.5),
        max_seconds: Some(7),
        same_failures: 6,
    };
    assert_eq!((config.limits, config.guards), (limits, guards));
}

#[test]
fn of_the_files_and_skills_only_what_is_named_changes() {
    let mut config = config();
    let home = SkillSource { path: path("/skills/home"), label: None };
    config.filesystem.offload_media = true;
    config.skills =
        SkillsOptions { builtin: true, sources: vec![home], off: vec![path("/a")], ..SkillsOptions::default() };
    let (files, skills) = (config.filesystem.clone(), config.skills.clone());
    let declared = "[filesystem]\ngrep_max_count = 50\n[skills]\npinned = ['x']\noff = ['/b']";
    DeclaredAgent::parse(declared).unwrap().apply(&mut config);
    assert_eq!(config.filesystem, FilesystemOptions { grep_max_count: 50, ..files });
    let off = vec![path("/a"), path("/b")];
    assert_eq!(config.skills, SkillsOptions { pinned: vec!["x".into()], off, ..skills });
}

#[test]
fn the_declaration_changes_only_the_limits_that_it_names() {
    let mut config = config();
    let settings =
        "[limits]\nmax_steps = 7\nmax_depth = 1\n[guards]\nmax_tokens = 5\nmax_dollars = 2\nsame_failures = 0";
    Extras::parse(settings).unwrap().limit(&mut config);
    DeclaredAgent::parse("[limits]\nmax_steps = 9\n[guards]\nmax_tokens = 100").unwrap().apply(&mut config);
    let limits = bosun_agent::Limits { max_steps: 9, max_depth: 1, ..bosun_agent::Limits::default() };
    let guards = GuardOptions {
        max_steps: None,
        max_tokens: Some(100),
        max_dollars: Some(2.0),
        max_seconds: None,
        same_failures: 0,
    };
    assert_eq!((config.limits, config.guards), (limits, guards));
}

#[test]
fn background_subagents() {
    assert!(applied("background_subagents = true").background_subagents);
    assert!(!applied("").background_subagents);
}

#[test]
fn cache_and_memory() {
    let config = applied("cache = 'one_hour'\nmemory = ['/AGENTS.md']");
    assert_eq!((config.cache, config.memory.sources), (CacheLifetime::OneHour, vec![path("/AGENTS.md")]));
}

#[test]
fn fields_of_the_state() {
    let config = applied("[state]\nfindings = { reducer = 'append' }\nnotes = { private = true }");
    let field = |name: &str, reducer, private| StateField { name: name.into(), reducer, private };
    let expected = [field("findings", Reducer::Append, false), field("notes", Reducer::Replace, true)];
    assert_eq!(config.fields, expected);
}

#[test]
fn permissions() {
    let config = applied(
        "[[permissions]]\noperations = ['read', 'write']\npaths = ['/secrets/**']\nmode = 'deny'\n\
         [[permissions]]\noperations = ['write']\npaths = ['/docs/*.md', '/CHANGELOG']\nmode = 'interrupt'",
    );
    let pattern = |text: &str| PathPattern::try_from(text.to_owned()).unwrap();
    let expected = [
        PathRule {
            operations: vec![PathOperation::Read, PathOperation::Write],
            paths: vec![pattern("/secrets/**")],
            mode: PathMode::Deny,
        },
        PathRule {
            operations: vec![PathOperation::Write],
            paths: vec![pattern("/docs/*.md"), pattern("/CHANGELOG")],
            mode: PathMode::Interrupt,
        },
    ];
    assert_eq!(config.permissions, expected);
}

#[test]
fn a_model_servers_and_hooks() {
    let declared = DeclaredAgent::parse(
        "model = 'openai:gpt-4.1'\n[mcp.docs]\ncommand = 'docs-server'\n\
         [[hooks]]\nname = 'log'\npoint = 'turn_end'\ncommand = 'log'",
    );
    let declared = declared.unwrap();
    assert_eq!(declared.model.as_deref(), Some("openai:gpt-4.1"));
    let extras = declared.extras();
    assert!(extras.mcp.contains_key("docs") && extras.hooks[0].name == "log", "{extras:?}");
}

#[test]
fn mistakes_are_named_with_their_place() {
    for (text, word) in [
        ("nam = 'x'", "nam"),
        ("[guards]\nmax_token = 1", "max_token"),
        ("[guards]\nmax_tokens = 0", "a whole number above 0"),
        ("[guards]\nmax_dollars = -1.0", "-1 is no amount of US dollars above 0"),
        ("[guards]\nmax_dollars = nan", "no amount"),
        ("memory = ['/../etc']", "memory"),
        ("[approvals]\nedits = 'sometimes'", "sometimes"),
        ("name = ", "line 1"),
        ("[[permissions]]\noperations = ['read']\npaths = ['secrets']\nmode = 'deny'", "start with /"),
    ] {
        let error = DeclaredAgent::parse(text).unwrap_err().to_string();
        assert!(error.contains(word) && error.contains("line "), "{error}");
    }
}

#[test]
fn values_that_mean_nothing_are_named() {
    for (text, told) in [
        (
            "[summarization]\ntrigger = [{ fraction = 1.5 }]",
            "[summarization]: 'fraction' is a part of the model's window",
        ),
        ("[summarization]\nkeep.fraction = 0.0", "above 0 and at most 1; 0 is none"),
        ("[summarization]\narguments.keep.fraction = nan", "NaN is none"),
        ("[summarization]\ntrigger = [{}]", "one that names none is never reached"),
        ("[summarization]\ntrigger = [{ messages = 0 }]", "'messages' must be above 0"),
        ("[summarization]\narguments.trigger = [{ tokens = 0 }]", "'tokens' must be above 0"),
        ("[filesystem]\nmax_execute_timeout = 0", "a whole number above 0"),
        ("[filesystem]\ngrep_max_count = 0", "a whole number above 0"),
        ("descriptions.ls = ' '", "[descriptions]: that of 'ls' is empty"),
        ("state.messages = {}", "[state]: 'messages' is Bosun's own"),
        ("state.todos = {}", "[state]: 'todos' is Bosun's own"),
        ("state.\"\" = {}", "[state]: a field needs a name"),
        ("approvals.tools.ls = { allowed = [] }", "'ls' asks for approval, but no decision is allowed"),
        (
            "approvals.timeout_seconds = 0",
            "[approvals]: timeout_seconds = 0 refuses every call before anybody can answer",
        ),
        ("approvals.tools.ls = { timeout_seconds = 0 }", "[approvals]: timeout_seconds = 0 refuses every call"),
        (
            "[[subagents]]\nname = 'a'\ndescription = 'd'\n[[subagents]]\nname = 'a'\ndescription = 'e'",
            "two subagents are called 'a'",
        ),
    ] {
        let error = DeclaredAgent::parse(text).unwrap_err().to_string();
        assert!(error.contains(told), "{text}: {error}");
    }
    assert!(DeclaredAgent::parse("[summarization]\ntrigger = [{ fraction = 1.0 }]\nkeep.tokens = 0").is_ok());
}

#[test]
fn a_subagent_is_held_to_the_same_as_one_of_a_file_of_its_own() {
    for (lines, told) in [
        ("name = 'A b'\ndescription = 'd'", "'A b' cannot be the name of a subagent"),
        ("name = 'a'\ndescription = ' '", "[[subagents]], 'a': 'description' must be text"),
        ("name = 'a'\ndescription = 'd'\nmodel = 'gpt'", "[[subagents]], 'a': 'model' must be PROVIDER:NAME"),
        ("name = 'a'\ndescription = 'd'\nmax_steps = 0", "'max_steps' must be a whole number above 0"),
        ("name = 'a'\ndescription = 'd'\ninterrupt_on.ls = { allowed = [] }", "'interrupt_on' must be a list"),
        ("name = 'a'\ndescription = 'd'\ninterrupt_on.ls = { timeout_seconds = 0 }", "'interrupt_on' must be a list"),
        ("name = 'a'\ndescription = 'd'\noutput = { name = 'o', schema = 'x' }", "'output' must be a JSON schema"),
    ] {
        let error = DeclaredAgent::parse(&format!("[[subagents]]\n{lines}")).unwrap_err().to_string();
        assert!(error.contains(told), "{lines}: {error}");
    }
}

#[test]
fn the_path_space_is_read_and_its_routes_are_checked() {
    let text = "
        [backend]
        default = 'state'
        [[backend.routes]]
        prefix = '/conversation_history'
        kind = 'store'
        namespace = 'history'
        scope = 'agent'
        [[backend.routes]]
        prefix = '/notes/'
        kind = 'folder'
        folder = '/srv/notes'
        read_only = true
    ";
    let backend = DeclaredAgent::parse(text).unwrap().backend;
    let stored = DeclaredRoute {
        prefix: path("/conversation_history"),
        kind: DeclaredKind::Store,
        namespace: Some("history".into()),
        scope: DeclaredScope::Agent,
        folder: None,
        host: None,
        config: None,
        container: None,
        read_only: false,
    };
    let folder = DeclaredRoute {
        prefix: path("/notes"),
        kind: DeclaredKind::Folder,
        namespace: None,
        scope: DeclaredScope::User,
        folder: Some("/srv/notes".into()),
        read_only: true,
        ..stored.clone()
    };
    let routes = vec![stored, folder];
    assert_eq!(backend, DeclaredBackend { default: DeclaredDefault::State, commands: None, routes });
    let wrong = |route: &str| {
        let text = format!("[[backend.routes]]\n{route}");
        DeclaredAgent::parse(&text).unwrap_err().to_string()
    };
    assert!(wrong("prefix = '/'\nkind = 'state'").contains("only another machine or a container can be at '/'"));
    assert!(wrong("prefix = '/a'\nkind = 'store'").contains("needs a 'namespace'"));
    assert!(wrong("prefix = '/a'\nkind = 'folder'\nfolder = 'notes'").contains("absolute path"));
    assert!(
        wrong("prefix = '/a'\nkind = 'state'\nfolder = '/x'").contains("'folder' at '/a' is for the kind folder, ")
    );
    assert!(
        wrong("prefix = '/a'\nkind = 'folder'\nfolder = '/x'\nnamespace = 'n'").contains("is for the kind store only")
    );
    assert!(wrong("prefix = '/a'\nkind = 'store'\nnamespace = 'a/b'").contains("'a/b' is not a namespace"));
    assert!(wrong("prefix = '/a'\nkind = 'folder'").contains("needs its 'folder'"));
    let twice = "prefix = '/a'\nkind = 'state'\n[[backend.routes]]\nprefix = '/a/'\nkind = 'state'";
    assert!(wrong(twice).contains("two routes are at '/a'"));
    assert!(wrong("prefix = '/../a'\nkind = 'state'").contains("cannot be used"));
}

/// The kinds that `bosun tools` knows, by its names for them.
#[test]
fn a_route_is_of_every_kind_and_has_what_its_kind_needs() {
    let routes = |route: &str| {
        DeclaredAgent::parse(&format!("[[backend.routes]]\nprefix = '/a'\n{route}")).map(|agent| agent.backend.routes)
    };
    for (written, kind) in [
        ("kind = 'folder'\nfolder = '/srv'", DeclaredKind::Folder),
        ("kind = 'filesystem'\nfolder = '/srv'", DeclaredKind::Folder),
        ("kind = 'shell'\nfolder = '/srv'", DeclaredKind::Folder),
        ("kind = 'sandbox'\nfolder = '/srv'", DeclaredKind::Sandbox),
        ("kind = 'ssh'\nhost = 'me@there'\nfolder = 'app'\nconfig = '/home/me/other'", DeclaredKind::Ssh),
        ("kind = 'container'\ncontainer = 'box'", DeclaredKind::Container),
        ("kind = 'container'\ncontainer = 'alpine'\nfolder = '/srv'", DeclaredKind::Container),
        ("kind = 'container-copy'\ncontainer = 'alpine'\nfolder = '/srv'", DeclaredKind::ContainerCopy),
    ] {
        assert_eq!(routes(written).unwrap()[0].kind, kind, "{written}");
    }
    for (written, told) in [
        ("kind = 'composite'", "'composite' is none of the words that can stand here: 'state', "),
        ("kind = 'sandbox'", "needs its 'folder'"),
        ("kind = 'sandbox'\nfolder = 'srv'", "absolute path"),
        ("kind = 'ssh'", "needs its 'host', as in `ssh HOST`"),
        ("kind = 'container'", "needs its 'container'"),
        ("kind = 'container-copy'\ncontainer = 'alpine'\nfolder = 'srv'", "absolute path"),
        ("kind = 'folder'\nfolder = '/srv'\nhost = 'there'", "'host' at '/a' is for the kind ssh only"),
        ("kind = 'state'\nconfig = '/x'", "'config' at '/a' is for the kind ssh only"),
        (
            "kind = 'ssh'\nhost = 'x'\ncontainer = 'y'",
            "'container' at '/a' is for the kind container or container-copy only",
        ),
    ] {
        let refused = routes(written).unwrap_err().to_string();
        assert!(refused.contains(told), "{written}: {refused}");
    }
}

#[test]
fn where_commands_run_is_declared_of_the_project_only() {
    let commands = |text: &str| DeclaredAgent::parse(text).map(|declared| declared.backend.commands);
    assert_eq!(commands("backend.commands = 'sandbox'").unwrap(), Some(DeclaredCommands::Sandbox));
    for other in ["machine", "container"] {
        let refused = commands(&format!("backend.commands = '{other}'")).unwrap_err().to_string();
        assert!(
            refused.contains(&format!("'{other}' is none of the words that can stand here: 'sandbox'")),
            "{refused}"
        );
    }
    let refused = commands("[backend]\ndefault = 'state'\ncommands = 'sandbox'").unwrap_err().to_string();
    let said = "the declaration of the agent cannot be used: 'commands' of [backend] is for the project's folder at '/' only: \
                elsewhere there is none to put a sandbox around; leave it out";
    assert_eq!(refused, said);
    let machine = "[backend]\ncommands = 'sandbox'\n[[backend.routes]]\nprefix = '/'\nkind = 'ssh'\nhost = 'there'";
    assert_eq!(commands(machine).unwrap_err().to_string(), said);
}

/// Commands run at `/` alone, so that another machine or a container can stand there; nothing else can.
#[test]
fn another_machine_or_a_container_stands_in_the_place_of_the_project() {
    let root = |route: &str| {
        let text = format!("[[backend.routes]]\nprefix = '/'\n{route}");
        DeclaredAgent::parse(&text).map(|agent| agent.backend.routes[0].at_root())
    };
    for (route, name) in [
        ("kind = 'ssh'\nhost = 'me@there'", "me@there"),
        ("kind = 'ssh'\nhost = 'there'\nfolder = '/srv/app'", "there:/srv/app"),
    ] {
        assert_eq!(root(route).unwrap(), RootPlace::Machine { name: name.into() });
    }
    for kind in ["container", "container-copy"] {
        let place = root(&format!("kind = '{kind}'\ncontainer = 'alpine'\nfolder = '/srv'")).unwrap();
        assert_eq!(place, RootPlace::Container { name: "alpine".into() });
    }
    for route in [
        "kind = 'state'",
        "kind = 'folder'\nfolder = '/srv'",
        "kind = 'sandbox'\nfolder = '/srv'",
        "kind = 'ssh'\nhost = 'there'\nread_only = true",
    ] {
        let refused = root(route).unwrap_err().to_string();
        assert!(refused.contains("only another machine or a container can be at '/'"), "{route}: {refused}");
    }
    let both = "[backend]\ndefault = 'state'\n[[backend.routes]]\nprefix = '/'\nkind = 'ssh'\nhost = 'there'";
    let refused = DeclaredAgent::parse(both).unwrap_err().to_string();
    assert!(refused.contains("two routes are at '/'"), "{refused}");
}
