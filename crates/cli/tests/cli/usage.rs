//! `bosun usage`, of real runs.

use bosun_protocol::{
    CallPurpose, KnownModel, ModelRef, ModelSettings, PriceView, SessionUsage, UsageReport, UsageTotal,
};
use bosun_store::{Database, MODEL_SETTINGS};
use pretty_assertions::assert_eq;

use crate::bench::{Bench, Ran, ran};
use crate::programs::analysed;

fn asked(bench: &Bench, arguments: &[&str]) -> Ran {
    let told = ran(bench.bosun().arg("usage").args(arguments));
    assert_eq!(told.code, Some(0), "{}", told.err);
    told
}

/// A model at ten dollars for a million tokens in and a hundred out; what was not told before costs the same.
pub fn priced() -> ModelSettings {
    let model = ModelRef { provider: "openai".into(), name: "test-model".into() };
    let price = PriceView {
        input: 10.0,
        output: 100.0,
        cache_read: None,
        cache_write: None,
        cache_write_hour: None,
        audio: None,
    };
    let known = KnownModel {
        model,
        context_window: None,
        max_output: None,
        images: None,
        documents: None,
        audio: None,
        video: None,
        reasoning: None,
        price: Some(price),
    };
    ModelSettings { known: vec![known], ..ModelSettings::default() }
}

/// By call, by session with its subagents, and by day: the same calls, and their sum.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_run_used_is_told_call_by_call_with_its_subagents_and_by_day() {
    let bench = Bench::new();
    Database::open(&bench.data()).unwrap().set_setting(MODEL_SETTINGS, &priced()).await.unwrap();
    bench.project.write("guests.txt", "Ann\nBob\nCyd\n");
    bench.project.write("plan.md", "# Plan\nGuests: ?\n");
    let [main, analyst] = analysed();
    bench.server.add(main).add(analyst);
    let worked = bench.run(&["--approve", "all", "complete the plan"]);
    assert_eq!(worked.code, Some(0), "{}", worked.err);

    let id = bench.last_session();
    let usage: SessionUsage = serde_json::from_str(&asked(&bench, &["--session", id.as_str(), "--json"]).out).unwrap();
    // Six steps of the agent, two of the one that it sent.
    assert_eq!((usage.total.calls, bench.server.requests().len(), usage.calls.len()), (8, 8, 8));
    let sum = |part: fn(&UsageTotal) -> u64| part(&usage.total);
    let (input, output) = (sum(|total| total.input_tokens), sum(|total| total.output_tokens));
    let told: u64 = usage.calls.iter().filter_map(|call| call.input_tokens).sum();
    assert!(input > 0 && output > 0 && told == input, "{usage:?}");
    let cost = (input as f64).mul_add(10.0, output as f64 * 100.0) / 1e6;
    assert!((usage.total.cost - cost).abs() < 1e-9, "{cost} {usage:?}");
    assert!(usage.calls.iter().all(|call| call.purpose == CallPurpose::Answer && call.cost.is_some()));

    let made = |name: &str| usage.agents.iter().find(|used| used.agent.name == name).unwrap();
    assert_eq!(
        (made("main").total.calls, made("general-purpose").total.calls, usage.agents.len()),
        (6, 2, 2),
        "{usage:?}"
    );
    assert_eq!(made("main").agent.session, id);
    let of_sent = usage.calls.iter().filter(|call| call.agent.as_ref() == Some(&made("general-purpose").agent));
    assert_eq!(of_sent.count(), 2);

    let lines = asked(&bench, &["--session", id.as_str()]).out;
    assert_eq!(
        lines.lines().filter(|line| line.contains(" general-purpose ") && line.contains("answer")).count(),
        2,
        "{lines}"
    );
    assert!(lines.lines().any(|line| line.starts_with("general-purpose ") && line.contains("2 calls")), "{lines}");
    let shown = format!("${cost:.4}");
    assert_eq!(lines.lines().filter(|line| line.contains("openai:test-model") && line.contains("answer")).count(), 8);
    assert!(lines.lines().last().is_some_and(|line| line.starts_with("all calls") && line.contains(&shown)), "{lines}");

    let report: UsageReport = serde_json::from_str(&asked(&bench, &["--json"]).out).unwrap();
    assert_eq!((report.total, report.days.len()), (usage.total, 1));
    assert_eq!(report.days[0].models[0].total, usage.total);
    let days = asked(&bench, &["--days", "1"]).out;
    assert!(days.starts_with(&report.days[0].day) && days.contains("8 calls") && days.contains(&shown), "{days}");
}
