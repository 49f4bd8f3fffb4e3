//! The log: `logs/bosun.log` in the data folder, capped, without secrets.

mod capped;

use std::path::Path;

use bosun_providers::{KnownSecrets, Redacting};
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::filter::EnvFilter;

pub(crate) use capped::end;

/// What is written unless `BOSUN_LOG` asks for something else, in the syntax of `tracing`'s filters.
const USUAL: &str = "info,zbus=warn,tao=warn,wry=warn";

/// Lines that wait to be written at most; there is room for all of them from the beginning.
const WAITING: usize = 4_000;

/// Begins to write. The log ends with the guard, which writes out what is still waiting.
///
/// `None` where there is no folder to write to: a log is no reason not to start.
pub(crate) fn start(folder: Option<&Path>, secrets: KnownSecrets) -> Option<WorkerGuard> {
    let file = capped::CappedFile::open(&folder?.join("logs")).ok()?;
    let writer = Redacting::new(file, secrets);
    let (writer, guard) = NonBlockingBuilder::default().buffered_lines_limit(WAITING).finish(writer);
    let filter = EnvFilter::try_from_env("BOSUN_LOG").unwrap_or_else(|_| EnvFilter::new(USUAL));
    log_panics();
    let started = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).with_ansi(false).try_init();
    started.is_ok().then_some(guard)
}

/// A window has no terminal that would show a panic, so the log has it too.
fn log_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, message = panic.payload_as_str().unwrap_or_default(), "panic");
        usual(panic);
    }));
}
