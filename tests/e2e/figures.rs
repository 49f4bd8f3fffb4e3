//! What a window promises in numbers. Nothing here is asserted: `cargo xtask bench` runs these with the optimised app
//! (`BOSUN_DESKTOP`) and tells the figures, one line each:
//! `figure<TAB>what<TAB>unit<TAB>under<TAB>value value …`.

use std::time::{Duration, Instant};

use bosun_testkit::{ModelServer, Order, Part, Reply, Rule};
use serde_json::{Value, json};

use crate::harness::{Desk, Window, wait};
use crate::scene::{LOOK, ask, project, seed};

mod long_session;

use long_session::{Long, store};

const OPENINGS: usize = 5;
const KEYS: usize = 60;
/// Deltas a second of the streams, and how many come at once.
const RATE: u32 = 1_000;
const AT_ONCE: u32 = 10;
/// Seconds of each reply whose memory is looked at, and how much later than that it may end.
const STREAM: u32 = 60;
const STREAM_PATIENCE: Duration = Duration::from_secs(60);
const IDLE: Duration = Duration::from_secs(20);

const TEN_THOUSAND: Long = Long { id: "long", title: "Ten thousand rows", turns: 500 };
const HUNDRED_THOUSAND: Long = Long { id: "longer", title: "A hundred thousand rows", turns: 5_000 };
const SHORT: Long = Long { id: "short", title: "Twenty rows", turns: 1 };

fn tell(what: &str, unit: &str, under: Option<f64>, values: &[f64]) {
    let under = under.map(|limit| limit.to_string()).unwrap_or_default();
    let values: Vec<String> = values.iter().map(f64::to_string).collect();
    println!("figure\t{what}\t{unit}\t{under}\t{}", values.join(" "));
}

/// A machine as most people have it. WebKit needs three times as long for a caret that never blinks as for one that does.
fn desk(name: &'static str) -> Desk {
    Desk::plan(name).without_keyring().with_blinking_caret().set_up()
}

fn opened<'d>(desk: &'d Desk, server: &ModelServer, sessions: &[Long]) -> Window<'d> {
    if !desk.data().join("bosun.db").exists() {
        seed(desk, server, LOOK);
        project(&desk.project());
        store(&desk.data(), &desk.project(), sessions);
    }
    let window = desk.open_with(&[&desk.project().to_string_lossy()]);
    window.wait_for_text(sessions[0].title);
    window
}

/// Milliseconds from the click on a session in the list until its last row is painted.
fn open_session(window: &Window<'_>, long: &Long) -> f64 {
    const OPEN: &str = "
const [title, last, done] = arguments;
const row = [...document.querySelectorAll('[data-session-row], nav a, nav button, aside button')]
  .find((one) => one.textContent.includes(title));
if (!row) return done(-1);
const start = performance.now();
const look = () => {
  const log = document.querySelector('.log');
  if (log?.textContent.includes(last)) requestAnimationFrame(() => done(performance.now() - start));
  else requestAnimationFrame(look);
};
row.click();
look();
";
    let time = window.script_async(OPEN, &[json!(long.title), json!(long.last())]);
    let time = time.as_f64().unwrap();
    assert!(time >= 0.0, "there is no row of the session {:?}", long.title);
    time
}

#[test]
#[ignore = "a figure; `cargo xtask bench --only desktop` takes it"]
fn sessions_are_opened() {
    let desk = desk("figure-open");
    let server = ModelServer::start();
    for (long, under) in [(TEN_THOUSAND, 300.0), (HUNDRED_THOUSAND, 500.0)] {
        let times: Vec<f64> = (0..OPENINGS)
            .map(|_| open_session(&opened(&desk, &server, &[SHORT, TEN_THOUSAND, HUNDRED_THOUSAND]), &long))
            .collect();
        tell(&format!("opening a session of {} rows", long.rows()), "ms", Some(under), &times);
    }
}

/// A model that streams when it is asked to, and sums up a conversation that has become too long for it.
fn streaming(seconds: u32) -> ModelServer {
    let server = ModelServer::start();
    server.add(
        Rule::last_contains("Sum up the conversation above")
            .reply("## SESSION INTENT\nTo look at modules.")
            .order(Order::RepeatLast),
    );
    server.add(Rule::last_contains("stream to me").reply(stream(seconds)).order(Order::RepeatLast));
    server
}

/// A reply that streams for `seconds`.
fn stream(seconds: u32) -> Reply {
    let mut reply = Reply::new();
    for _ in 0..seconds * RATE / AT_ONCE {
        reply = reply
            .part(Part::Deltas { text: "word ".into(), count: AT_ONCE as usize })
            .and_pause(Duration::from_secs(1) * AT_ONCE / RATE);
    }
    reply
}

/// Watches frames and keys from now on; `window.figures` is what was seen. A key is handled when its letter is in the field
/// and the page has done what hangs on it: in the listeners of the letter, and in what they left for right after them. What
/// waits for the next turn of the event loop would find frames of the stream before it. It is painted behind the next
/// frame, and the wait begins when the window was told of the key, not when the page came to hear of it.
const WATCH: &str = "
const seen = (window.figures = { gaps: [], handled: [], painted: [] });
if (window.watching) return;
window.watching = true;
let last = performance.now();
const frame = (now) => { window.figures.gaps.push(now - last); last = now; requestAnimationFrame(frame); };
requestAnimationFrame(frame);
let start = 0;
addEventListener('keydown', (event) => {
  start = performance.now();
  requestAnimationFrame(() => setTimeout(() => window.figures.painted.push(performance.now() - event.timeStamp)));
}, { capture: true });
addEventListener('input', () => queueMicrotask(() => window.figures.handled.push(performance.now() - start)));
";

/// Nothing but a field, in the same window.
const BARE: &str = "document.body.innerHTML = '<textarea aria-label=Message></textarea>'";

/// Presses keys in the field; the milliseconds until each was handled and painted.
fn type_keys(window: &Window<'_>) -> (Vec<f64>, Vec<f64>) {
    window.field("Message").click();
    window.script(WATCH, &[]);
    for key in 0..KEYS {
        window.press(["a", "b", "c", "Space"][key % 4]);
    }
    // The last one has yet to be painted.
    window.wait_until(&format!("return window.figures.painted.length >= {KEYS}"));
    let of = |what: &str| numbers(&window.script(&format!("return window.figures.{what}"), &[]));
    (of("handled"), of("painted"))
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
}

fn percentile(mut values: Vec<f64>, part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let place = (values.len() as f64 * part / 100.0).ceil() as usize;
    values.get(place.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

#[test]
#[ignore = "a figure; `cargo xtask bench --only desktop` takes it"]
fn keys_and_frames_while_a_reply_streams() {
    let desk = desk("figure-stream");
    let server = streaming(40);
    let window = opened(&desk, &server, &[TEN_THOUSAND]);
    open_session(&window, &TEN_THOUSAND);
    ask(&window, "stream to me");
    window.wait_for_text("word word word");
    window.script(WATCH, &[]);
    std::thread::sleep(Duration::from_secs(10));
    let gaps = numbers(&window.script("return window.figures.gaps", &[]));
    let over = gaps.iter().filter(|gap| **gap > 50.0).count();
    tell("frames over 50 ms in 10 s of 1,000 deltas a second", "frames", Some(0.5), &[over as f64]);
    tell("longest of these frames", "ms", None, &[percentile(gaps, 100.0)]);
    let (handled, painted) = type_keys(&window);
    assert!(!has_ended(&window), "the reply ended before the keys did");
    tell("a key is handled, 95 of 100", "ms", Some(4.0), &[percentile(handled, 95.0)]);
    tell("a key is painted, 95 of 100", "ms", Some(34.0), &[percentile(painted, 95.0)]);
    window.button("Stop").click();
    assert!(wait(STREAM_PATIENCE, || has_ended(&window).then_some(())).is_some(), "the reply was not stopped");
    window.script(BARE, &[]);
    let (handled, painted) = type_keys(&window);
    tell("  the same in a bare field, handled", "ms", None, &[percentile(handled, 95.0)]);
    tell("  the same in a bare field, painted", "ms", None, &[percentile(painted, 95.0)]);
}

/// Whether nothing is at work: what is written now is sent at once.
fn has_ended(window: &Window<'_>) -> bool {
    window.script("return document.querySelector('main button[aria-label=Stop]') === null", &[]) == true
}

/// How much `values` grow from one to the next: the line that fits all of them best.
fn slope(values: &[f64]) -> f64 {
    let middle = (values.len() as f64 - 1.0) / 2.0;
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let offsets = || values.iter().enumerate().map(|(at, value)| (at as f64 - middle, value - mean));
    offsets().map(|(x, y)| x * y).sum::<f64>() / offsets().map(|(x, _)| x * x).sum::<f64>().max(1.0)
}

#[test]
fn a_line_through_values_tells_their_growth() {
    assert_eq!(slope(&[1.0, 1.5, 2.0, 2.5]), 0.5);
    assert_eq!(slope(&[3.0, 1.0, 1.0, 3.0]), 0.0);
    assert_eq!(slope(&[7.0]), 0.0);
}

/// Processor time that the window takes while nothing happens, in percent of a core.
fn idle(window: &Window<'_>) -> f64 {
    let (before, start) = (window.cpu(), Instant::now());
    std::thread::sleep(IDLE);
    (window.cpu() - before).as_secs_f64() / start.elapsed().as_secs_f64() * 100.0
}

#[test]
#[ignore = "a figure; `cargo xtask bench --only desktop` takes it"]
fn memory_and_idle_work() {
    let minutes: u32 = std::env::var("BOSUN_FIGURE_MINUTES").map_or(10, |text| text.parse().unwrap());
    let desk = desk("figure-memory");
    let server = streaming(STREAM);
    let window = opened(&desk, &server, &[TEN_THOUSAND]);
    open_session(&window, &TEN_THOUSAND);
    std::thread::sleep(Duration::from_secs(5));
    tell("processor time of the idle window", "%", Some(1.0), &[idle(&window)]);
    window.script("document.activeElement.blur()", &[]);
    tell("  the same without a caret", "%", None, &[idle(&window)]);
    let mut levels = vec![window.memory() as f64 / 1e6];
    for _ in 0..minutes {
        ask(&window, "stream to me");
        std::thread::sleep(Duration::from_secs(STREAM.into()));
        let ended = wait(STREAM_PATIENCE, || has_ended(&window).then_some(()));
        assert!(ended.is_some(), "the reply did not end; the page reads:\n{}", window.text());
        levels.push(window.memory() as f64 / 1e6);
    }
    tell("memory of all processes, 10,000 rows open", "MB", None, &levels);
    tell("the most of it", "MB", Some(350.0), &[percentile(levels.clone(), 100.0)]);
    // The first minutes fill caches; what counts is whether it goes on.
    let later = levels.split_off(levels.len() / 2);
    tell("growth of it a minute, second half of the streaming", "MB", Some(0.5), &[slope(&later)]);
}
