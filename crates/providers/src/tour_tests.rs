use std::collections::HashSet;
use std::sync::Arc;

use bosun_model::{
    AiMessage, ChatModel, ChatRequest, ContentBlock, HumanMessage, Message, Messages, StopReason, ToolMessage,
    ToolSpec, ToolStatus,
};
use bosun_testkit::{Project, message_of, transcript};
use pretty_assertions::assert_eq;

use super::story::{Step, Story};
use super::*;

const BOTH: [Language; 2] = [Language::English, Language::SimplifiedChinese];
const TOOLS: [&str; 7] = ["write_todos", "ls", "read_file", "grep", "task", "edit_file", "execute"];

/// A session of the tour with somebody in the place of the loop.
struct Session {
    tour: Tour,
    messages: Messages,
    tools: Arc<[ToolSpec]>,
}

impl Session {
    fn new(language: Language) -> Self {
        let tools = TOOLS.map(|name| ToolSpec {
            name: name.into(),
            description: String::new(),
            schema: serde_json::json!({ "type": "object" }),
        });
        Self {
            tour: Tour::new(language).with_pause(Duration::ZERO),
            messages: Messages::default(),
            tools: tools.into(),
        }
    }

    fn without(mut self, tool: &str) -> Self {
        self.tools = self.tools.iter().filter(|spec| spec.name != tool).cloned().collect();
        self
    }

    fn say(&mut self, text: &str) {
        let id = format!("h{}", self.messages.len());
        let content = vec![ContentBlock::text(text)];
        self.messages.push(Arc::new(Message::Human(HumanMessage { id: id.into(), content })));
    }

    async fn reply(&mut self) -> AiMessage {
        let request =
            ChatRequest { messages: self.messages.clone(), tools: self.tools.clone(), ..ChatRequest::default() };
        let reply = message_of(&self.tour, request).await.unwrap();
        self.messages.push(Arc::new(Message::Ai(reply.clone())));
        reply
    }

    fn result(&mut self, reply: &AiMessage, answer: impl Fn(&str) -> (ToolStatus, String)) {
        for call in &reply.tool_calls {
            let (status, text) = answer(&call.name);
            let result = ToolMessage {
                call_id: call.id.clone(),
                name: call.name.clone(),
                status,
                content: vec![ContentBlock::text(text)],
            };
            self.messages.push(Arc::new(Message::Tool(result)));
        }
    }

    /// Plays until a reply calls nothing, and gives that one.
    async fn play(&mut self, answer: impl Fn(&str) -> (ToolStatus, String)) -> AiMessage {
        for _ in 0..30 {
            let reply = self.reply().await;
            if reply.tool_calls.is_empty() {
                return reply;
            }
            self.result(&reply, &answer);
        }
        panic!("the story does not end:\n{}", transcript(&self.messages));
    }

    fn called(&self, tool: &str) -> usize {
        let calls = self.messages.iter().filter_map(|message| match &**message {
            Message::Ai(reply) => Some(reply.tool_calls.iter().filter(|call| call.name == tool).count()),
            _ => None,
        });
        calls.sum()
    }
}

fn ok(text: &str) -> (ToolStatus, String) {
    (ToolStatus::Success, text.into())
}

/// All approved, all well.
fn well(tool: &str) -> (ToolStatus, String) {
    match tool {
        "edit_file" => ok("Successfully replaced 1 instance(s) of the string in '/total.sh'"),
        "execute" => ok("Together: 40.50\nEach of 5: 8.10\n\n[Command succeeded with exit code 0]"),
        _ => ok("fine"),
    }
}

/// As [`well`], but for one tool.
fn but(tool: &'static str, status: ToolStatus, text: &'static str) -> impl Fn(&str) -> (ToolStatus, String) {
    move |name| if name == tool { (status, text.to_owned()) } else { well(name) }
}

async fn ending(language: Language, answer: impl Fn(&str) -> (ToolStatus, String)) -> (String, Session) {
    let mut session = Session::new(language);
    session.say(task(language));
    let text = session.play(answer).await.text();
    (text, session)
}

#[tokio::test]
async fn the_story_as_it_is_told() {
    let (_, session) = ending(Language::English, well).await;
    insta::assert_snapshot!(transcript(&session.messages));
}

#[tokio::test]
async fn every_answer_has_its_fitting_end() {
    use ToolStatus::{Error, Success};
    let cases = [
        ("Repaired", but("ls", Success, "fine")),
        (
            "You wrote: “not today”",
            but("edit_file", Error, "The user rejected this call; it was not run. Their reason: not today"),
        ),
        (
            "nothing has been changed. A real",
            but("edit_file", Error, "The user rejected the call edit_file (c); it was not run."),
        ),
        ("You wrote: “use a variable”", but("edit_file", Success, "use a variable")),
        ("That did not work", but("edit_file", Error, "Error: String not found in file: 'NR > 2'")),
        (
            "You wrote: “no shell here”",
            but("execute", Error, "The user rejected this call; it was not run. Their reason: no shell here"),
        ),
        ("You wrote: “trust me”", but("execute", Success, "trust me")),
        ("does not say 40.50", but("execute", Success, "31.50\n[Command succeeded with exit code 0]")),
        (
            "nothing has been changed. A real",
            but("edit_file", Error, "Error: edit_file was not run: it is refused by the rule 'x'."),
        ),
        ("That did not work", but("execute", Error, "Error: Execution not available")),
    ];
    for (words, answer) in cases {
        let (text, _) = ending(Language::English, answer).await;
        assert!(text.contains(words), "{words}: {text}");
        assert!(!text.contains('{'), "{text}");
    }
}

#[tokio::test]
async fn an_edited_edit_is_taken_as_it_is() {
    let edited =
        "The user changed this call before it ran. What ran: edit_file {}\nSuccessfully replaced 1 instance(s)";
    let (text, session) = ending(Language::English, but("edit_file", ToolStatus::Success, edited)).await;
    assert!(text.contains("Repaired"), "{text}");
    assert!(transcript(&session.messages).contains("You changed my edit before it was made"));
}

#[tokio::test]
async fn other_words_begin_the_story_too_and_after_it_nothing_goes_on() {
    for language in BOTH {
        let mut session = Session::new(language);
        session.say("What is the meaning of life?");
        let first = session.reply().await;
        assert!(first.text().starts_with(session.tour.story.scripted.trim()), "{}", first.text());
        session.result(&first, well);
        session.play(well).await;
        for words in ["Thanks!", task(language)] {
            session.say(words);
            let reply = session.reply().await;
            assert_eq!((reply.text(), reply.stop), (session.tour.story.over.clone(), StopReason::EndTurn));
        }
    }
}

#[tokio::test]
async fn a_stop_in_the_middle_is_picked_up_with_new_call_ids() {
    let mut session = Session::new(Language::English);
    session.say(task(Language::English));
    loop {
        let reply = session.reply().await;
        if reply.tool_calls.iter().any(|call| call.name == "edit_file") {
            session.result(&reply, |_| (ToolStatus::Error, "Cancelled: the user stopped the turn".into()));
            break;
        }
        session.result(&reply, well);
    }
    session.say("go on");
    let again = session.reply().await;
    assert!(again.text().starts_with("Let us go on where we were."), "{}", again.text());
    assert_eq!(again.tool_calls[0].name, "edit_file");
    session.result(&again, well);
    assert!(session.play(well).await.text().contains("Repaired"));
    let ids: Vec<_> = session
        .messages
        .iter()
        .filter_map(|message| if let Message::Ai(reply) = &**message { Some(&reply.tool_calls) } else { None })
        .flatten()
        .map(|call| call.id.to_string())
        .collect();
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
}

#[tokio::test]
async fn the_subagent_knows_its_errand() {
    for language in BOTH {
        let (_, session) = ending(language, well).await;
        let errand = session.messages.iter().find_map(|message| match &**message {
            Message::Ai(reply) => reply.tool_calls.iter().find(|call| call.name == "task"),
            _ => None,
        });
        let mut sub = Session::new(language);
        sub.say(errand.unwrap().args["description"].as_str().unwrap());
        let report = sub.play(well).await;
        assert!(report.text().contains("40.50"));
        assert_eq!((sub.called("read_file"), sub.called("edit_file")), (2, 0));
    }
}

#[tokio::test]
async fn tools_that_are_not_offered_are_not_called() {
    for missing in TOOLS {
        let mut session = Session::new(Language::English).without(missing);
        session.say("go");
        session.play(well).await;
        assert_eq!(session.called(missing), 0);
    }
    let mut bare = Session::new(Language::English);
    bare.tools = Arc::default();
    bare.say("Give this conversation a title");
    assert_eq!(bare.reply().await.text(), bare.tour.story.over);
}

#[tokio::test(start_paused = true)]
async fn words_come_one_by_one_with_a_pause() {
    let tour = Tour::new(Language::SimplifiedChinese);
    assert!(tour.info().scripted);
    let start = tokio::time::Instant::now();
    let session = Session::new(Language::SimplifiedChinese);
    let request = ChatRequest {
        messages: vec![Arc::new(Message::human("h", task(Language::SimplifiedChinese)))].into(),
        tools: session.tools.clone(),
        ..ChatRequest::default()
    };
    let (events, error) = bosun_testkit::events_of(&tour, request).await;
    assert_eq!(error, None);
    assert!(events.len() > 20);
    assert!(start.elapsed() > Duration::from_millis(300) && start.elapsed() < Duration::from_secs(5));
}

/// The bug is there, the scripted edit mends it, and the program says what the story says.
#[test]
fn the_sample_project_has_the_bug_that_the_story_mends() {
    for language in BOTH {
        let mut project = Project::new();
        for (path, contents) in sample_project(language) {
            project = project.file(path, contents);
        }
        let run = |project: &Project| {
            let output = std::process::Command::new("sh").arg(project.at("total.sh")).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        assert!(run(&project).contains("31.50"));
        let edit = story(language).steps.iter().flat_map(|step| &step.calls).find(|call| call.tool == "edit_file");
        let args = &edit.unwrap().args;
        let (old, new) = (args["old_string"].as_str().unwrap(), args["new_string"].as_str().unwrap());
        let before = project.read("total.sh");
        assert_eq!(before.matches(old).count(), 1);
        project.write("total.sh", before.replace(old, new));
        let mended = run(&project);
        assert!(mended.contains("40.50") && mended.contains("8.10"), "{mended}");
        let pattern = story(language).steps.iter().flat_map(|step| &step.calls).find(|call| call.tool == "grep");
        assert!(project.read("shopping.csv").contains(pattern.unwrap().args["pattern"].as_str().unwrap()));
    }
}

#[test]
fn both_files_tell_the_same_story() {
    let shape = |story: &Story| {
        let of = |steps: &[Step]| -> Vec<_> {
            let shape = |step: &Step| {
                let calls: Vec<_> = step.calls.iter().map(|call| call.tool.clone()).collect();
                let then: Vec<_> = step.then.iter().map(|branch| (branch.when, branch.goto.clone())).collect();
                (step.id.clone(), calls, then, step.say.contains("{words}"))
            };
            steps.iter().map(shape).collect()
        };
        (of(&story.steps), of(&story.errand))
    };
    let (english, chinese) = (story(Language::English), story(Language::SimplifiedChinese));
    assert_eq!(shape(english), shape(chinese));
    for story in [english, chinese] {
        let ids: HashSet<_> = story.steps.iter().map(|step| step.id.as_str()).collect();
        assert_eq!(ids.len(), story.steps.len());
        let branches = story.steps.iter().flat_map(|step| &step.then);
        assert!(branches.into_iter().all(|branch| ids.contains(branch.goto.as_str())));
        assert!(story.steps.iter().all(|step| !step.say.is_empty() && !step.id.ends_with(char::is_numeric)));
    }
    assert_eq!(Language::of_tag("zh-Hans-CN"), Language::SimplifiedChinese);
    assert_eq!(Language::of_tag("de_DE"), Language::English);
}
