//! Each reader of replies under libFuzzer for a while, from the recordings on. In the long profile only.

use std::path::Path;

use super::Tally;
use super::report::Report;
use crate::exec::{Program, find};
use crate::place::Place;

/// The targets of `crates/providers/fuzz`.
const TARGETS: [&str; 6] = ["anthropic", "openai_chat", "openai_responses", "gemini", "ollama", "bedrock"];
/// Where they are: a workspace of its own.
const MANIFEST: &str = "crates/providers/fuzz/Cargo.toml";
/// Seconds for each.
const TIME: u32 = 60;

/// Whether the targets fit the readers that they are for. They are built for real in the long profile alone.
pub fn check(place: &Place) -> Program {
    Program::cargo(place).args(["check", "--locked", "--manifest-path", MANIFEST])
}

pub fn stage(place: &Place, report: &mut Report) {
    if find("cargo-fuzz").is_none() && place.ci {
        report.check("fuzz: cargo-fuzz", || Program::cargo(place).args(["install", "--locked", "cargo-fuzz"]));
    }
    if find("cargo-fuzz").is_none() {
        return report.skip("fuzz: readers of replies", "cargo-fuzz is not installed (`cargo install cargo-fuzz`)");
    }
    for target in TARGETS {
        report.step(&format!("fuzz: {target}"), || {
            let (time, corpus) = (format!("-max_total_time={TIME}"), format!("fuzz/corpus/{target}"));
            std::fs::create_dir_all(place.root.join("crates/providers").join(Path::new(&corpus)))?;
            // The sanitizer needs a compiler that is not stable; a panic is what is looked for. libFuzzer's own
            // instrumentation is not stable either, but part of every compiler.
            let program = Program::cargo(place)
                .dir(&place.root.join("crates/providers"))
                .args(["fuzz", "run", "--sanitizer", "none", target, &corpus, "fixtures", "--", &time])
                .env("RUSTC_BOOTSTRAP", "1");
            program.status().map(Tally::of_check)
        });
    }
}
