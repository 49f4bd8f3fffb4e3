//! N20: a turn is stopped in each of its states. The connection closes, what ran is ended, nothing more is sent, and the
//! session says that it was stopped, all of it within half a second.

use std::time::{Duration, Instant};

use bosun_testkit::{ModelServer, Outcome, Project, Reply, Rule, Wire};
use serde_json::{Value, json};

use crate::page::Page;

/// What is promised.
const AT_ONCE: Duration = Duration::from_millis(500);

/// A session that has begun to do what `words` say.
struct Begun {
    page: Page,
    project: Project,
    server: ModelServer,
    session: String,
}

impl Begun {
    fn new(words: &str, rule: Rule) -> Self {
        let (page, project, server) = (Page::open(), Project::new(), ModelServer::start());
        server.add(rule);
        let session = page.session(project.root(), &server.base_url(Wire::OpenAi), "test-model");
        page.subscribe(&session, 7);
        page.ok("send_message", json!({ "message": { "session": session, "text": words } }));
        Self { page, project, server, session }
    }

    fn wait<T>(&self, what: impl Future<Output = T>) -> T {
        tauri::async_runtime::block_on(what)
    }

    /// Stops the turn; how long it took until the window was told, and that nothing was asked of the model since.
    fn stop(&self) -> Duration {
        let asked = self.server.requests().len();
        let start = Instant::now();
        self.page.ok("stop_turn", json!({ "session": self.session }));
        let ended = self.page.wait_for_event(7, "turn_ended");
        let took = start.elapsed();
        assert_eq!(ended["outcome"], "stopped");
        let snapshot = self.page.subscribe(&self.session, 8);
        assert_eq!((&snapshot["session"]["status"], &snapshot["approvals"]), (&json!("stopped"), &json!([])));
        assert_eq!(self.server.requests().len(), asked);
        took
    }
}

/// The shortest of three: one busy moment of the machine is not what is promised.
fn best(stopped: impl Fn() -> Duration) -> Duration {
    (0..3).map(|_| stopped()).min().unwrap()
}

#[test]
fn while_it_waits_for_the_first_byte() {
    let took = best(|| {
        let begun = Begun::new("go", Rule::any().reply(Reply::hang()));
        begun.wait(begun.server.saw_requests(1));
        let took = begun.stop();
        assert_eq!(begun.wait(begun.server.outcome(0)), Outcome::ClientGone);
        took
    });
    assert!(took < AT_ONCE, "{took:?}");
}

#[test]
fn in_the_middle_of_a_reply_which_stays() {
    let took = best(|| {
        let reply = Reply::text("before").and_gate("never").and_text("after");
        let begun = Begun::new("go", Rule::any().reply(reply));
        begun.page.wait_for(7, |one| one.to_string().contains("before").then_some(()));
        let took = begun.stop();
        assert_eq!(begun.wait(begun.server.outcome(0)), Outcome::ClientGone);
        let items = begun.page.subscribe(&begun.session, 9)["items"].to_string();
        assert!(items.contains("before") && !items.contains("after"), "{items}");
        took
    });
    assert!(took < AT_ONCE, "{took:?}");
}

#[test]
fn while_a_command_runs_which_ends() {
    let took = best(|| {
        let command = json!({ "command": "echo $$ > pid; sleep 60; touch late" });
        let begun = Begun::new("run", Rule::any().reply(Reply::call("execute", command)));
        let approval = begun.page.wait_for_event(7, "approval_requested")["approval"].clone();
        let (call, digest) = (&approval["call_id"], &approval["digest"]);
        let yes = json!({ "session": begun.session, "call_id": call, "digest": digest, "decision": { "decision": "approve" } });
        begun.page.ok("decide", json!({ "decisions": [yes] }));
        let pid = loop {
            match std::fs::read_to_string(begun.project.root().join("pid")) {
                Ok(pid) if pid.ends_with('\n') => break pid,
                _ => std::thread::yield_now(),
            }
        };
        let took = begun.stop();
        assert!(!std::path::Path::new("/proc").join(pid.trim()).exists(), "{pid} is still there");
        assert!(!begun.project.exists("late"));
        took
    });
    assert!(took < AT_ONCE, "{took:?}");
}

#[test]
fn while_a_person_is_asked() {
    let took = best(|| {
        let call = Reply::call("write_file", json!({ "file_path": "/a.txt", "content": "a" }));
        let begun = Begun::new("write", Rule::any().reply(call));
        let approval: Value = begun.page.wait_for_event(7, "approval_requested")["approval"].clone();
        assert_eq!(approval["tool"], "write_file");
        let took = begun.stop();
        assert!(!begun.project.exists("a.txt"));
        took
    });
    assert!(took < AT_ONCE, "{took:?}");
}

#[test]
fn while_it_waits_to_ask_again() {
    let took = best(|| {
        let busy = Reply::error(429, "rate_limit_error", "slow down").retry_after(50);
        let begun = Begun::new("go", Rule::any().reply(busy).reply("never asked"));
        assert_eq!(begun.wait(begun.server.outcome(0)), Outcome::Answered);
        begun.stop()
    });
    assert!(took < AT_ONCE, "{took:?}");
}
