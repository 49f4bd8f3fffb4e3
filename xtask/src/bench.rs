//! `cargo xtask bench`: the figures Bosun promises, measured on this machine.
//!
//! Every figure is one file here. Each measures the programs as a package brings them, through their public face
//! (`bosun run`, `bosun tools`, the window), several times, and tells the median with the lowest and highest value. Nothing is asserted: a
//! figure that misses its target is marked, and judging it is a person's work.

use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use std::process::ExitCode;

use crate::bundle::{Profile, Stage};
use crate::exec::Program;
use crate::place::Place;
use crate::setup::{self, Need};
use crate::{say, ui};

mod call;
mod database;
mod desk;
mod desktop;
mod files;
mod harness;
mod measure;
mod memory;
mod screen;
mod search;
mod start;
mod steps;
mod store;
mod stream;
mod subagents;
mod table;
mod tools;
mod tree;
pub mod window;

pub use measure::{TASK as MEASURED, run as measured};
use table::{Row, Table};

/// A measured figure.
struct Figure {
    name: &'static str,
    /// Whether it needs a display.
    desktop: bool,
    measure: fn(&Bench) -> Result<Vec<Row>>,
}

const FIGURES: [Figure; 13] = [
    Figure { name: "start", desktop: false, measure: start::measure },
    Figure { name: "steps", desktop: false, measure: steps::measure },
    Figure { name: "subagents", desktop: false, measure: subagents::measure },
    Figure { name: "harness", desktop: false, measure: harness::measure },
    Figure { name: "memory", desktop: false, measure: memory::measure },
    Figure { name: "stream", desktop: false, measure: stream::measure },
    Figure { name: "call", desktop: false, measure: call::measure },
    Figure { name: "database", desktop: false, measure: database::measure },
    Figure { name: "search", desktop: false, measure: search::measure },
    Figure { name: "files", desktop: false, measure: files::measure },
    Figure { name: "store", desktop: false, measure: store::measure },
    Figure { name: "window", desktop: true, measure: window::measure },
    Figure { name: "desktop", desktop: true, measure: desktop::measure },
];

/// What every figure measures with.
pub struct Bench {
    pub place: Place,
    /// The command-line program.
    pub bosun: PathBuf,
    /// The scripted model server.
    pub server: PathBuf,
    /// The desktop program.
    pub desktop: PathBuf,
    /// The folder of the examples that measure something.
    pub examples: PathBuf,
    /// Whether what takes an hour is measured for an hour.
    pub long: bool,
}

struct Options {
    write: bool,
    debug: bool,
    /// Measure what the last build left.
    built: bool,
    long: bool,
    figures: Vec<&'static Figure>,
}

impl Options {
    fn read(arguments: &[String]) -> Result<Self> {
        let mut options = Self { write: false, debug: false, built: false, long: false, figures: Vec::new() };
        let mut rest = arguments.iter().map(String::as_str);
        while let Some(argument) = rest.next() {
            match argument {
                "--write" => options.write = true,
                "--debug" => options.debug = true,
                "--built" => options.built = true,
                "--long" => options.long = true,
                "--only" => options.figures.push(figure_named(rest.next().unwrap_or_default())?),
                other => bail!(
                    "`cargo xtask bench` takes --write, --debug, --built, --long and --only FIGURE, not {other:?}"
                ),
            }
        }
        if options.write && options.debug {
            bail!("--write keeps figures of release builds; leave --debug out");
        }
        if options.figures.is_empty() {
            options.figures.extend(&FIGURES);
        }
        Ok(options)
    }

    fn profile(&self) -> Profile {
        if self.debug { Profile::Debug } else { Profile::Release }
    }
}

fn figure_named(name: &str) -> Result<&'static Figure> {
    let known = || FIGURES.iter().map(|figure| figure.name).collect::<Vec<_>>().join(", ");
    FIGURES
        .iter()
        .find(|figure| figure.name == name)
        .with_context(|| format!("there is no figure {name:?}; there are {}", known()))
}

pub fn run(place: &Place, arguments: &[String]) -> Result<ExitCode> {
    let options = Options::read(arguments)?;
    let desktop = options.figures.iter().any(|figure| figure.desktop);
    let needs: &[Need] = if desktop { &[Need::Build, Need::Bench, Need::Window] } else { &[Need::Build, Need::Bench] };
    setup::tell(&setup::check(place, needs)?);
    let bench = Bench::of(place, &options);
    if !options.built {
        build(place, &options)?;
    }
    let mut table = Table::default();
    for figure in &options.figures {
        say::stage(figure.name);
        // One figure that cannot be taken must not cost the others.
        match (figure.measure)(&bench) {
            Ok(rows) => {
                rows.iter().for_each(|row| say::note(&row.line()));
                table.add(figure.name, rows);
            }
            Err(error) => {
                say::problem(&format!("{}: {error:#}", figure.name));
                table.failed = true;
            }
        }
    }
    if options.debug {
        say::note("these are figures of a debug build: they show that the runner works and nothing more");
    }
    if options.write {
        let file = place.root.join("docs/benchmarks.md");
        let before = std::fs::read_to_string(&file).unwrap_or_default();
        let page = table.document(place, FIGURES.iter().map(|figure| figure.name), &before);
        std::fs::write(&file, page).with_context(|| format!("could not write {}", file.display()))?;
        say::note(&format!("written to {}", file.display()));
    }
    Ok(if table.failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

impl Bench {
    fn of(place: &Place, options: &Options) -> Self {
        let folder = place.target.join(if options.debug { "debug" } else { "release" });
        let [bosun, desktop] = Stage::programs(place, options.profile());
        Self {
            place: place.clone(),
            bosun,
            server: folder.join("bosun-model-server"),
            desktop,
            examples: folder.join("examples"),
            long: options.long,
        }
    }
}

/// Builds the programs as packages bring them, and what measures them.
fn build(place: &Place, options: &Options) -> Result<()> {
    let release = (!options.debug).then_some("--release");
    say::timed("building what is measured (an optimised build takes many minutes the first time)", || {
        let server = ["build", "--package", "bosun-testkit", "--bins"];
        Program::cargo(place).args(server).args(release).run()?;
        let examples =
            ["build", "--package", "bosun-harness", "--example", "bench_tokens", "--example", "bench_subagents"];
        Program::cargo(place).args(examples).args(release).run()?;
        ui::install(place)?;
        ui::build(place)?;
        Stage::lay_out(place, options.profile()).map(drop)
    })
}

#[cfg(test)]
mod tests {
    use super::{FIGURES, Options, figure_named};

    fn read(arguments: &[&str]) -> anyhow::Result<Options> {
        Options::read(&arguments.iter().map(|argument| (*argument).to_owned()).collect::<Vec<_>>())
    }

    /// `--only` takes the first of a name, and the page has one place for it.
    #[test]
    fn no_two_figures_have_one_name() {
        let names: std::collections::BTreeSet<&str> = FIGURES.iter().map(|figure| figure.name).collect();
        assert_eq!(names.len(), FIGURES.len(), "{names:?}");
        for figure in &FIGURES {
            let found = figure_named(figure.name).expect("a figure");
            assert!(std::ptr::fn_addr_eq(found.measure, figure.measure), "{}", figure.name);
        }
    }

    #[test]
    fn only_release_figures_are_written_down() {
        assert_eq!(read(&["--write"]).expect("options").figures.len(), FIGURES.len());
        assert_eq!(read(&["--write", "--only", "start"]).expect("options").figures.len(), 1);
        assert!(read(&["--write", "--debug"]).is_err());
        assert!(read(&["--only", "speed"]).is_err());
        assert_eq!(read(&["--only", "start", "--debug"]).expect("options").figures.len(), 1);
    }
}
