//! What the harness costs by itself, without a provider and without a database: the estimate of the tokens of a history of
//! 10 MB, from nothing and with one step more, and whether of 1,000 subagents in flight each gives its own answer. Both are
//! examples of `crates/harness`, which tell their figures as a line of JSON.

use anyhow::{Context, Result};

use super::Bench;
use super::measure::Sample;
use super::table::{Row, Target};

const ROUNDS: usize = 3;

pub fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let (mut first, mut later, mut lost) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let tokens = told(bench, "bench_tokens", &[])?;
        first.push(number(&tokens, "first_ms")?);
        later.push(number(&tokens, "later_ms")?);
    }
    lost.push(number(&told(bench, "bench_subagents", &["1000", "1", "0", "1"])?, "lost_or_crossed")?);
    Ok(vec![
        Row::new("token estimate of a 10 MB history", &Sample::from(first), "ms", Target::Under(50.0)),
        Row::new("the same with one step more", &Sample::from(later), "ms", Target::Under(1.0)),
        Row::new("lost or crossed of 1,000 subagents in flight", &Sample::from(lost), "", Target::Under(1.0)),
    ])
}

/// What an example says of itself.
fn told(bench: &Bench, example: &str, arguments: &[&str]) -> Result<String> {
    let program = bench.examples.join(example);
    let output = std::process::Command::new(&program).args(arguments).output();
    let output = output.with_context(|| format!("could not start {}", program.display()))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A number of a flat object of JSON.
fn number(figures: &str, name: &str) -> Result<f64> {
    let none = || format!("there is no figure {name:?} in {figures:?}");
    let (_, rest) = figures.split_once(&format!("\"{name}\":")).with_context(none)?;
    rest.split([',', '}']).next().unwrap_or_default().trim().parse().with_context(none)
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn figures_are_read_by_name() {
        let line = "{\"a\":1.5,\"b\":0}\n";
        assert_eq!((number(line, "a").ok(), number(line, "b").ok()), (Some(1.5), Some(0.0)));
        assert!(number(line, "c").is_err() && number("", "a").is_err());
    }
}
