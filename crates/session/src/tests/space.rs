//! The path space of a session: what is mounted over the project, how long it lasts, and how it is undone.
#![allow(clippy::disallowed_methods, reason = "tests look at files")]

use bosun_agent::Grave;
use bosun_model::{ChatRequest, Message};
use bosun_protocol::{
    Approval, ChangeKind, ChangeScope, CheckpointKind, Decide, Decision, ItemBody, MountKind, MountView, PreviewBody,
    ReachPlace, RewindWhat, SessionId, SessionStatus, TextPlace,
};
use bosun_testkit::Reply;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::changes::counts;
use super::sessions::progress;
use super::stage::Stage;

/// Does one call, as the message says, and answers with what came back from it.
pub(super) fn obedient(request: &ChatRequest) -> Reply {
    let (text, done) = progress(request);
    if done > 0 {
        return Reply::text(last_result(request));
    }
    let call = |tool: &str, args| Reply::default().and_call(tool, args);
    match text.split_whitespace().collect::<Vec<_>>().as_slice() {
        ["write", path, content @ ..] => {
            call("write_file", json!({"file_path": path, "content": content.join(" ") + "\n"}))
        }
        ["read", path] => call("read_file", json!({"file_path": path, "limit": 10_000})),
        ["grep", pattern] => call("grep", json!({"pattern": pattern})),
        ["list", path] => call("ls", json!({"path": path})),
        ["run", command @ ..] => call("execute", json!({"command": command.join(" ")})),
        ["prompt"] => {
            let system: Vec<&str> = request.system.iter().map(|block| block.text.as_str()).collect();
            Reply::text(system.join("\n"))
        }
        _ => Reply::text("Done."),
    }
}

fn last_result(request: &ChatRequest) -> String {
    let results = request.messages.iter().rev().filter_map(|message| match &**message {
        Message::Tool(result) => Some(bosun_model::text_of(&result.content)),
        Message::Ai(_) | Message::Human(_) | Message::System(_) => None,
    });
    results.take(1).collect()
}

/// Has `text` done and gives what the agent said at the end.
pub(super) async fn ask(stage: &Stage, session: &SessionId, text: &str) -> String {
    stage.sessions.send(session, text.to_owned()).await.unwrap();
    let quiet = stage.sessions.quiet(session).await.unwrap();
    assert_eq!(quiet.summary.status, SessionStatus::Idle, "{text}");
    let items = stage.snapshot(session).await.items;
    let said = items.into_iter().rev().find_map(|item| match item.body {
        ItemBody::Ai { text, .. } => Some(text.to_string()),
        ItemBody::Human { .. } | ItemBody::Tool(_) | ItemBody::Notice(_) => None,
    });
    said.unwrap_or_default()
}

/// A26, P06: a person who came to the project through a link calls its files by that name, and so may the agent.
#[tokio::test]
async fn a_project_opened_through_a_link_is_known_by_both_names() {
    let stage = Stage::new(obedient).await;
    let beside = tempfile::tempdir().unwrap();
    let link = beside.path().join("link");
    std::os::unix::fs::symlink(stage.project.root(), &link).unwrap();
    let opened = stage.sessions.open_project(&link).await.unwrap();
    assert_eq!(opened.id, stage.project_id, "it is one project");
    let session = stage.session().await;
    let real = stage.project.root().canonicalize().unwrap();
    let own = ask(&stage, &session, "read /a.txt").await;
    assert!(own.contains("one"), "{own}");
    for root in [&link, &real] {
        assert_eq!(ask(&stage, &session, &format!("read {}/a.txt", root.display())).await, own, "{}", root.display());
    }
    let other = ask(&stage, &session, &format!("read {}-evil/a.txt", link.display())).await;
    assert!(other.contains("not found"), "{other}");
}

#[tokio::test]
async fn the_mounts_stand_beside_the_project_and_the_prompt_names_them() {
    let stage = Stage::new(obedient).await;
    let session = stage.session().await;
    let listed = ask(&stage, &session, "list /").await;
    let rows = ["/a.txt", "/conversation_history/", "/large_tool_results/", "/memories/", "/skills/", "/src/"];
    assert_eq!(listed.lines().collect::<Vec<_>>(), rows);
    let prompt = ask(&stage, &session, "prompt").await;
    for part in ["- `/memories/`", "- `/large_tool_results/`", "Commands do not see them", "review-change"] {
        assert!(prompt.contains(part), "{part}: {prompt}");
    }
}

#[tokio::test]
async fn a_project_keeps_a_name_that_it_has_and_the_mount_gives_way() {
    let stage = Stage::new(obedient).await;
    std::fs::create_dir(stage.project.root().join("memories")).unwrap();
    let session = stage.session().await;
    let listed = ask(&stage, &session, "list /").await;
    assert!(listed.contains("/_memories/") && listed.contains("/memories/"), "{listed}");
    let prompt = ask(&stage, &session, "prompt").await;
    assert!(prompt.contains("- `/_memories/`") && prompt.contains("/_memories/AGENTS.md"), "{prompt}");
}

#[tokio::test]
async fn bosuns_own_skills_are_files_that_can_only_be_read() {
    let stage = Stage::allowing_edits(obedient).await;
    let session = stage.session().await;
    let listed = ask(&stage, &session, "list /skills/builtin").await;
    let names = ["debug-failure", "remember-lesson", "review-change", "write-skill", "write-tests"];
    assert_eq!(listed.lines().collect::<Vec<_>>(), names.map(|name| format!("/skills/builtin/{name}/")));
    let read = ask(&stage, &session, "read /skills/builtin/write-tests/SKILL.md").await;
    assert!(read.contains("name: write-tests"), "{read}");
    for beside in ["/skills/builtin/mine/SKILL.md", "/skills/mine/SKILL.md", "/skills/mine.md"] {
        let refused = ask(&stage, &session, &format!("write {beside} x")).await;
        assert!(refused.starts_with("Error") && refused.contains("read-only"), "{refused}");
    }
    assert!(!stage.project.root().join("skills").exists(), "nothing goes into the project");
}

#[tokio::test]
async fn bosuns_own_skills_give_way_to_a_folder_of_the_projects() {
    let stage = Stage::new(obedient).await;
    std::fs::create_dir(stage.project.root().join("skills")).unwrap();
    let session = stage.session().await;
    let prompt = ask(&stage, &session, "prompt").await;
    let place = "/_skills/builtin/write-tests/SKILL.md";
    assert!(prompt.contains(&format!("read `{place}`")) && !prompt.contains("`/skills/builtin"), "{prompt}");
    assert!(ask(&stage, &session, &format!("read {place}")).await.contains("name: write-tests"));
    let list = stage.sessions.skills(Some(&stage.project_id)).await.unwrap();
    let entry = list.entries.into_iter().find(|entry| entry.name == "write-tests").unwrap();
    assert_eq!((entry.agent_path.as_str(), entry.uses), (place, 1));
    stage.sessions.switch_skill(&entry.skill, true).await.unwrap();
    assert!(!ask(&stage, &session, "prompt").await.contains(place));
}

#[tokio::test]
async fn memories_outlive_the_session_and_are_in_the_prompt_of_the_next() {
    let stage = Stage::allowing_edits(obedient).await;
    let first = stage.session().await;
    ask(&stage, &first, "write /memories/AGENTS.md Tabs, never spaces.").await;
    ask(&stage, &first, "write /memories/project/AGENTS.md Built with make.").await;
    assert!(!stage.project.root().join("memories").exists());
    let stage = stage.restarted(obedient).await;
    let second = stage.session().await;
    let prompt = ask(&stage, &second, "prompt").await;
    assert!(prompt.contains("Tabs, never spaces.") && prompt.contains("Built with make."), "{prompt}");
    assert!(ask(&stage, &second, "read /memories/AGENTS.md").await.contains("Tabs, never spaces."));
    let other = bosun_testkit::Project::new().file("x", "");
    let other = stage.sessions.open_project(other.root()).await.unwrap();
    let model = stage.snapshot(&second).await.session.model;
    let third = stage.sessions.create(&other.id, model).await.unwrap().id;
    let prompt = ask(&stage, &third, "prompt").await;
    assert!(prompt.contains("Tabs, never spaces.") && !prompt.contains("Built with make."), "{prompt}");
}

#[tokio::test]
async fn a_large_result_is_kept_with_the_session_and_read_after_a_restart() {
    let stage = Stage::allowing_everything(obedient).await;
    let text: String = (0..20_000).map(|row| format!("row {row} of many\n")).collect();
    std::fs::write(stage.project.root().join("big.txt"), text).unwrap();
    let session = stage.session().await;
    let stub = ask(&stage, &session, "run cat big.txt").await;
    assert!(stub.len() < 20_000, "{} characters", stub.len());
    let path = place_of(&stub);
    assert!(!stage.project.root().join("large_tool_results").exists());
    let stage = stage.restarted(obedient).await;
    let read = ask(&stage, &session, &format!("read {path}")).await;
    assert!(read.contains("row 1999 of many"), "{path}: {}", read.chars().take(200).collect::<String>());
    assert_eq!(counts(&stage, &session).await, [], "it is no change of the person's files");
}

/// Where the whole of a large result is, as its stub says.
fn place_of(stub: &str) -> String {
    let at = stub.find("/large_tool_results/").expect("the place of the whole result");
    let path: String = stub[at..].chars().take_while(|c| !c.is_whitespace() && !"'`,;\"".contains(*c)).collect();
    path.trim_end_matches('.').to_owned()
}

/// The paths in a session's messages go on to lead to what they led to, whatever the project comes to have.
#[tokio::test]
async fn what_a_session_keeps_stays_in_its_place_when_the_project_comes_to_have_the_name() {
    let stage = Stage::allowing_everything(obedient).await;
    stage.sessions.save_additions("[[routes]]\nprefix = \"/desk\"\nkind = \"state\"\n").await.unwrap();
    let session = stage.session().await;
    let path = place_of(&ask(&stage, &session, "run seq 1 40000").await);
    ask(&stage, &session, "write /desk/plan.md the plan").await;
    for name in ["large_tool_results", "conversation_history", "desk"] {
        std::fs::create_dir(stage.project.root().join(name)).unwrap();
        std::fs::write(stage.project.root().join(name).join("own.txt"), "of the project\n").unwrap();
    }
    let stage = stage.restarted(obedient).await;
    stage.sessions.load_additions(Vec::new()).await.unwrap();
    assert!(ask(&stage, &session, &format!("read {path}")).await.contains("1999"));
    assert!(ask(&stage, &session, "read /desk/plan.md").await.contains("the plan"));
    let folder = stage.sessions.folder(&session, "/large_tool_results").await.unwrap();
    let rows: Vec<&str> = folder.entries.iter().map(|entry| entry.path.as_str()).collect();
    assert_eq!(rows, [path.as_str()]);
    let preview = stage.sessions.file_preview(&session, &path, TextPlace { line: 1, part: 0 }).await.unwrap();
    assert!(matches!(preview.body, PreviewBody::Text { .. }), "{preview:?}");
    // Nothing was kept there yet, so that this one gives way; so do all of a session that begins now.
    let old = "/_conversation_history/";
    assert!(ask(&stage, &session, "list /").await.contains(old));
    let other = stage.session().await;
    let listed = ask(&stage, &other, "list /").await;
    assert!([old, "/_large_tool_results/", "/_desk/"].iter().all(|row| listed.contains(row)), "{listed}");
    assert!(ask(&stage, &other, "read /desk/own.txt").await.contains("of the project"));
}

#[tokio::test]
async fn what_is_written_beside_the_project_is_undone_like_any_change() {
    let stage = Stage::allowing_edits(obedient).await;
    let session = stage.session().await;
    ask(&stage, &session, "write /memories/notes.md Ahoy").await;
    ask(&stage, &session, "write /conversation_history/mine.md kept here").await;
    let created = |path: &str| (path.to_owned(), ChangeKind::Created, 1, 0);
    let both = vec![created("/memories/notes.md"), created("/conversation_history/mine.md")];
    assert_eq!(counts(&stage, &session).await, both);
    let path = "/conversation_history/mine.md";
    let diff = stage.sessions.file_review(&session, path, ChangeScope::Session).await.unwrap().diff;
    assert_eq!((diff.added, diff.created), (1, true));

    // Both are there after a restart, and both can be put back then.
    let stage = stage.restarted(obedient).await;
    assert!(ask(&stage, &session, "read /conversation_history/mine.md").await.contains("kept here"));
    let undone = stage.sessions.undo_changes(&session, ChangeScope::Session).await.unwrap();
    assert_eq!(undone.iter().map(|file| file.problem.clone()).collect::<Vec<_>>(), [None, None]);
    for path in ["/conversation_history/mine.md", "/memories/notes.md"] {
        let read = ask(&stage, &session, &format!("read {path}")).await;
        assert!(read.contains("not found"), "{read}");
    }
}

#[tokio::test]
async fn going_back_takes_the_conversation_the_files_or_both() {
    let stage = Stage::allowing_edits(obedient).await;
    let session = stage.session().await;
    let file = "/conversation_history/mine.md";
    ask(&stage, &session, "hello").await;
    ask(&stage, &session, &format!("write {file} kept here")).await;
    let start = async |label: &str| {
        let places = stage.timeline(&session).await.checkpoints.into_iter();
        let mut starts = places.filter(|place| place.kind == CheckpointKind::TurnStart);
        starts.find(|place| place.label.starts_with(label)).unwrap().seq
    };
    let is_there = async || stage.sessions.file_at(&session, start("hello").await, file).await;
    let exists = async || ask(&stage, &session, &format!("read {file}")).await.contains("kept here");

    let seq = start("write").await;
    stage.sessions.rewind(&session, seq, RewindWhat::Conversation, &[]).await.unwrap();
    assert!(exists().await, "the file is apart from the conversation");
    assert!(!is_there().await.unwrap().exists, "it was not there at the beginning");
    let seq = start("hello").await;
    stage.sessions.rewind(&session, seq, RewindWhat::Both, &[]).await.unwrap();
    assert!(stage.timeline(&session).await.can_undo_rewind);
    stage.sessions.undo_rewind(&session).await.unwrap();
    assert!(exists().await);
    let seq = start("hello").await;
    stage.sessions.rewind(&session, seq, RewindWhat::Files, &[]).await.unwrap();
    assert!(!exists().await);
}

const IN_SESSION: &str = "
    name = 'scribe'
    [backend]
    default = 'state'
    [[backend.routes]]
    prefix = '/conversation_history'
    kind = 'store'
    namespace = 'history'
    [[backend.routes]]
    prefix = '/desk'
    kind = 'state'
";

#[tokio::test]
async fn a_declared_agent_keeps_its_files_in_the_session_and_what_it_routes_elsewhere() {
    let declare = |stage: &Stage| stage.sessions.declare(crate::DeclaredAgent::parse(IN_SESSION).unwrap());
    let stage = Stage::allowing_edits(obedient).await;
    declare(&stage);
    let first = stage.session().await;
    for path in ["/draft.md", "/desk/draft.md", "/conversation_history/old.md", "/memories/kept.md"] {
        ask(&stage, &first, &format!("write {path} words")).await;
    }
    assert_eq!(stage.project.tree(), ["a.txt", "src/", "src/b.txt"], "the project is out of reach");
    assert_eq!(stage.snapshot(&first).await.agents[0].name, "scribe");
    let stage = stage.restarted(obedient).await;
    declare(&stage);
    let rows = ["/conversation_history/", "/desk/", "/draft.md", "/large_tool_results/", "/memories/", "/skills/"];
    assert_eq!(ask(&stage, &first, "list /").await.lines().collect::<Vec<_>>(), rows);
    assert!(ask(&stage, &first, "read /desk/draft.md").await.contains("words"));
    let second = stage.session().await;
    for path in ["/draft.md", "/desk/draft.md"] {
        assert!(ask(&stage, &second, &format!("read {path}")).await.contains("not found"), "{path} is the first's");
    }
    for path in ["/conversation_history/old.md", "/memories/kept.md"] {
        assert!(ask(&stage, &second, &format!("read {path}")).await.contains("words"), "{path} outlives a session");
    }
    let prompt = ask(&stage, &second, "prompt").await;
    assert!(prompt.contains("kept with this conversation") && !prompt.contains("Commands"), "{prompt}");
    let undone = stage.sessions.undo_file(&first, "/draft.md", ChangeScope::Session).await.unwrap();
    assert_eq!((undone.change, undone.problem), (ChangeKind::Deleted, None));
    assert!(ask(&stage, &first, "read /draft.md").await.contains("not found"));
}

/// What a person is asked says where the file is, not only that there is one.
#[tokio::test]
async fn a_request_names_what_its_file_is_part_of() {
    let stage = Stage::new(obedient).await;
    let session = stage.session().await;
    let places = [
        ("/a-new.txt", ReachPlace::Project),
        ("/memories/a.md", ReachPlace::Memory),
        ("/memories/project/a.md", ReachPlace::Memory),
        ("/memories_evil/a.md", ReachPlace::Project),
        ("/skills/user/a/SKILL.md", ReachPlace::Skill),
        ("/large_tool_results/a", ReachPlace::Session),
        ("/conversation_history/a.md", ReachPlace::Session),
    ];
    for (path, place) in places {
        stage.sessions.send(&session, format!("write {path} x")).await.unwrap();
        stage.sessions.quiet(&session).await.unwrap();
        let approval = stage.snapshot(&session).await.approvals.remove(0);
        assert_eq!(approval.reach.place, place, "{path}");
        stage.decide(&session, approval.call_id.as_str(), Decision::Reject { reason: None }).await.unwrap();
        stage.sessions.quiet(&session).await.unwrap();
    }
    stage.sessions.send(&session, "write /memories/b.md x".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let stage = stage.restarted(obedient).await;
    assert_eq!(stage.snapshot(&session).await.approvals[0].reach.place, ReachPlace::Memory);
}

/// The settings' text for files that outlast a session at `/notes` and for `shelf` at `/shelf`, to be read only.
fn two_places(shelf: &std::path::Path) -> String {
    format!(
        "[[routes]]\nprefix = \"/notes\"\nkind = \"store\"\nnamespace = \"notes\"\n\n[[routes]]\nprefix = \"/shelf\"\n\
         kind = \"folder\"\nfolder = \"{}\"\nread_only = true\n",
        shelf.display()
    )
}

/// More places, as the settings have them: kept for longer, read only, and refused by name where they cannot be.
#[tokio::test]
async fn the_settings_have_more_places() {
    let stage = Stage::allowing_everything(obedient).await;
    let shelf = tempfile::tempdir().unwrap();
    std::fs::write(shelf.path().join("a.txt"), "on the shelf\n").unwrap();
    stage.sessions.save_additions(&two_places(shelf.path())).await.unwrap();
    let session = stage.session().await;
    ask(&stage, &session, "write /notes/a.md kept for longer").await;
    assert!(ask(&stage, &session, "read /shelf/a.txt").await.contains("on the shelf"));
    let refused = ask(&stage, &session, "write /shelf/b.txt x").await;
    assert!(refused.contains("/shelf/b.txt") && !shelf.path().join("b.txt").exists(), "{refused}");
    assert!(!stage.project.root().join("notes").exists());
    let prompt = ask(&stage, &session, "prompt").await;
    let told = format!(
        "- `/shelf/`: another folder of this machine; it can only be read (in commands: `{}`)",
        shelf.path().display()
    );
    assert!(prompt.contains(&told) && prompt.contains("- `/notes/`: files that are kept for longer"), "{prompt}");
    assert!(prompt.contains("Commands do not see them under these names"), "{prompt}");
    let shown = stage.sessions.folder(&session, "/").await.unwrap().entries;
    let mount = |name: &str| shown.iter().find(|entry| entry.name == name).and_then(|entry| entry.mount);
    assert_eq!(mount("shelf"), Some(MountView { kind: MountKind::Folder, read_only: true }), "no part of the project");
    assert_eq!(mount("notes"), Some(MountView { kind: MountKind::Store, read_only: false }));
    let other = stage.session().await;
    assert!(ask(&stage, &other, "read /notes/a.md").await.contains("kept for longer"));
    for (wrong, word) in [
        ("[[routes]]\nprefix = \"/\"\nkind = \"state\"", "'/'"),
        ("[[routes]]\nprefix = \"/x\"\nkind = \"store\"", "namespace"),
        ("[[routes]]\nprefix = \"/x\"\nkind = \"folder\"\nfolder = \"here\"", "absolute path"),
    ] {
        let error = stage.sessions.save_additions(wrong).await.unwrap_err();
        assert!(error.problem.to_string().contains(word), "{}", error.problem);
    }
    // What is kept is there again after a restart.
    let stage = stage.restarted(obedient).await;
    stage.sessions.load_additions(Vec::new()).await.unwrap();
    let third = stage.session().await;
    assert!(ask(&stage, &third, "read /notes/a.md").await.contains("kept for longer"));
}

/// A place of the settings is there in every project, so that it gives way to one that has its name.
#[tokio::test]
async fn a_project_keeps_a_name_that_the_settings_give_to_a_place() {
    let stage = Stage::allowing_everything(obedient).await;
    let shelf = tempfile::tempdir().unwrap();
    std::fs::write(shelf.path().join("a.txt"), "on the shelf\n").unwrap();
    std::fs::create_dir(stage.project.root().join("shelf")).unwrap();
    std::fs::write(stage.project.root().join("shelf/a.txt"), "of the project\n").unwrap();
    stage.sessions.save_additions(&two_places(shelf.path())).await.unwrap();
    let session = stage.session().await;
    assert!(ask(&stage, &session, "read /shelf/a.txt").await.contains("of the project"));
    assert!(ask(&stage, &session, "read /_shelf/a.txt").await.contains("on the shelf"));
    let prompt = ask(&stage, &session, "prompt").await;
    assert!(prompt.contains("- `/_shelf/`") && prompt.contains("- `/notes/`"), "{prompt}");
}

/// A person is asked as for anything outside the project, and a folder that no agent may have is refused by name.
#[tokio::test]
async fn a_place_on_this_machine_is_outside_the_project_and_never_bosuns_own() {
    let stage = Stage::new(obedient).await;
    let shelf = tempfile::tempdir().unwrap();
    let at = |folder: &std::path::Path| {
        format!("[[routes]]\nprefix = \"/shelf\"\nkind = \"folder\"\nfolder = \"{}\"\n", folder.display())
    };
    stage.sessions.save_additions(&at(shelf.path())).await.unwrap();
    let session = stage.session().await;
    stage.sessions.send(&session, "write /shelf/a.md x".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    assert_eq!(stage.snapshot(&session).await.approvals.remove(0).reach.place, ReachPlace::Outside);
    // That changes to the project's files need no asking says nothing of this one.
    let free = stage.session().await;
    stage.sessions.set_mode(&free, bosun_protocol::ApprovalMode::Edits).await.unwrap();
    ask(&stage, &free, "write /in-the-project.md x").await;
    stage.sessions.send(&free, "write /shelf/b.md x".into()).await.unwrap();
    stage.sessions.quiet(&free).await.unwrap();
    assert_eq!(stage.snapshot(&free).await.approvals.len(), 1);
    stage.sessions.save_additions(&at(stage.database.folder())).await.unwrap();
    let session = stage.session().await;
    let refused = stage.sessions.folder(&session, "/").await.unwrap_err().problem.to_string();
    assert!(refused.contains("'/shelf' cannot be opened") && refused.contains("choose"), "{refused}");
}

/// As that of a disk which is not plugged in.
#[tokio::test]
async fn a_folder_that_is_not_there_keeps_nobody_from_working_beside_it() {
    let stage = Stage::allowing_everything(obedient).await;
    let disk = tempfile::tempdir().unwrap();
    let folder = disk.path().canonicalize().unwrap().join("photos");
    let route = format!("[[routes]]\nprefix = \"/photos\"\nkind = \"folder\"\nfolder = \"{}\"\n", folder.display());
    stage.sessions.save_additions(&route).await.unwrap();
    let session = stage.session().await;
    assert!(ask(&stage, &session, "read /a.txt").await.contains("one"));
    let refused = ask(&stage, &session, "read /photos/a.txt").await;
    assert!(refused.contains("the folder behind '/photos' is gone"), "{refused}");
    assert!(ask(&stage, &session, "write /photos/a.txt x").await.contains("is gone"));
    assert!(!folder.exists(), "it is not made");
    let found = ask(&stage, &session, "grep one").await;
    assert!(found.contains("/a.txt") && found.contains("[Not searched: the folder behind '/photos'"), "{found}");
    assert!(stage.sessions.folder(&session, "/").await.unwrap().entries.iter().any(|entry| entry.name == "photos"));
    // A link in its place leads elsewhere.
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::write(elsewhere.path().join("a.txt"), "elsewhere\n").unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), &folder).unwrap();
    assert!(ask(&stage, &session, "read /photos/a.txt").await.contains("is gone"));
    std::fs::remove_file(&folder).unwrap();
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("a.txt"), "a picture\n").unwrap();
    assert!(ask(&stage, &session, "read /photos/a.txt").await.contains("a picture"), "now it is there");
}

/// Whether this machine has an engine or not: there is no such image, and no registry in its name to fetch it from.
#[tokio::test]
async fn a_place_that_cannot_be_had_is_an_error_of_the_call_that_needs_it() {
    let stage = Stage::allowing_everything(obedient).await;
    let route = "[[routes]]\nprefix = \"/box\"\nkind = \"container\"\ncontainer = \"localhost/bosun-has-none:0\"\n";
    stage.sessions.save_additions(route).await.unwrap();
    let session = stage.session().await;
    assert!(ask(&stage, &session, "read /a.txt").await.contains("one"));
    for _ in 0..2 {
        let refused = ask(&stage, &session, "read /box/a.txt").await;
        assert!(refused.contains("does not answer") && refused.contains("try again"), "{refused}");
    }
    assert!(ask(&stage, &session, "write /b.txt y").await.contains("/b.txt"));
    assert_eq!(stage.project.read("b.txt"), "y\n");
    // What is beside it can be looked at, too.
    assert!(stage.sessions.folder(&session, "/").await.unwrap().entries.iter().any(|entry| entry.name == "box"));
    assert!(stage.sessions.folder(&session, "/box").await.is_err());
}

/// Other arguments may lead elsewhere than those that were asked about: what is grave, and what is shown, goes by them.
#[tokio::test]
async fn an_edited_path_is_judged_by_where_it_leads() {
    let stage = Stage::new(obedient).await;
    let shelf = tempfile::tempdir().unwrap();
    let routes =
        format!("[[routes]]\nprefix = \"/shelf\"\nkind = \"folder\"\nfolder = \"{}\"\n", shelf.path().display());
    stage.sessions.save_additions(&routes).await.unwrap();
    std::fs::create_dir_all(stage.project.root().join(".git/hooks")).unwrap();
    std::fs::write(stage.project.root().join(".git/hooks/pre-commit"), "").unwrap();
    std::os::unix::fs::symlink(".git/hooks/pre-commit", stage.project.root().join("plain")).unwrap();
    let session = stage.session().await;
    let protected = Grave::Protected { name: "/.git/hooks/pre-commit".into() };
    let cases = [
        ("/a.md", "/shelf/a.md", ReachPlace::Outside, vec![Grave::Outside]),
        ("/a.md", "/memories/a.md", ReachPlace::Memory, Vec::new()),
        ("/a.md", "/a.md", ReachPlace::Project, Vec::new()),
        ("/a.md", "/plain", ReachPlace::Project, vec![protected.clone()]),
        ("/a.md", "../a.md", ReachPlace::Project, Vec::new()),
        ("/shelf/a.md", "/b.md", ReachPlace::Project, Vec::new()),
        ("/shelf/a.md", "/shelf/b.md", ReachPlace::Outside, vec![Grave::Outside]),
        ("/.git/hooks/pre-commit", "/b.md", ReachPlace::Project, Vec::new()),
    ];
    for (asked, edited, place, grave) in cases {
        stage.sessions.send(&session, format!("write {asked} x")).await.unwrap();
        stage.sessions.quiet(&session).await.unwrap();
        let Approval { session: by, call_id, digest, .. } = stage.snapshot(&session).await.approvals.remove(0);
        let decision = Decision::Edit { args: json!({"file_path": edited, "content": "y"}) };
        let decide = Decide { session: by, call_id: call_id.clone(), digest, decision };
        assert_eq!(stage.sessions.decided_reach(&decide).await.unwrap().place, place, "{asked} -> {edited}");
        let found = stage.sessions.grave_calls(std::slice::from_ref(&decide), &[]).await.unwrap();
        let found: Vec<Grave> = found.into_iter().flat_map(|call| call.why).collect();
        assert_eq!(found, grave, "{asked} -> {edited}");
        let stale = Decide { digest: "another".into(), ..decide };
        assert!(stage.sessions.decided_reach(&stale).await.is_err());
        stage.decide(&session, call_id.as_str(), Decision::Reject { reason: None }).await.unwrap();
        stage.sessions.quiet(&session).await.unwrap();
    }
}
