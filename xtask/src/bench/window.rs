//! From starting the desktop program to its page standing on the screen, under Xvfb: the last change of the picture before
//! a second of quiet, once there is more to see than a blank window. The page draws its controls when its script has run
//! and its first state has come from the core, so what is seen can be used. The process, its web process and its folders are
//! new. Files are in memory, and once more are not, where one may see to that.

use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::Bench;
use super::desk::bare;
use super::measure::{Sample, forget_files, millis};
use super::screen::{MANY, Screen};
use super::start::absent_is_fine;
use super::table::{Row, Target};

const ROUNDS: usize = 5;
const QUIET: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(60);
/// How long the processes of a page may go on after the program that started them.
const ENDING: Duration = Duration::from_secs(10);

pub fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let folder = bench.place.target.join("bench/window");
    let mut rows = Vec::new();
    for (files, forget) in [("", false), (", no file in memory", true)] {
        if forget && !forget_files() {
            break;
        }
        let mut first = Vec::new();
        let standing = Sample::take(ROUNDS, || {
            if forget && !forget_files() {
                bail!("the files could not be taken out of memory again");
            }
            let (painted, settled) = open(&bench.desktop, &folder)?;
            first.push(painted);
            Ok(settled)
        })?;
        // The first round was thrown away there as well.
        let first = Sample::from(first.split_off(1));
        rows.push(Row::new(format!("window: something to see{files}"), &first, "ms", Target::None));
        rows.push(Row::new(format!("window: page standing{files}"), &standing, "ms", Target::Under(1_500.0)));
    }
    Ok(rows)
}

/// Opens the window on a display and in folders of its own, closes it, and tells the milliseconds to the first picture that
/// is not blank, and to the last change.
pub fn open(desktop: &Path, folder: &Path) -> Result<(f64, f64)> {
    remove(folder)?;
    let screen = Screen::start(&folder.join("screen"))?;
    let runtime = folder.join("run");
    std::fs::create_dir_all(&runtime)?;
    std::fs::set_permissions(&runtime, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
    // A blinking caret would never let the picture rest.
    let settings = folder.join(".config/gtk-3.0");
    std::fs::create_dir_all(&settings)?;
    std::fs::write(settings.join("settings.ini"), "[Settings]\ngtk-cursor-blink=0\n")?;
    let mut command = bare(desktop, folder);
    command.env("DISPLAY", &screen.display).env("GDK_BACKEND", "x11").env("XDG_RUNTIME_DIR", &runtime);
    command.env("DBUS_SESSION_BUS_ADDRESS", "disabled:").env("NO_AT_BRIDGE", "1").env("GSETTINGS_BACKEND", "memory");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let mut child = command.spawn().context("could not start the desktop program")?;
    let times = watch(&screen, start);
    child.kill().ok();
    child.wait()?;
    drop(screen);
    remove(folder)?;
    times
}

/// Removes a folder in which the processes of a page that is just ending may write for another moment.
fn remove(folder: &Path) -> Result<()> {
    let start = Instant::now();
    loop {
        match std::fs::remove_dir_all(folder).or_else(absent_is_fine) {
            Ok(()) => return Ok(()),
            Err(_) if start.elapsed() < ENDING => std::thread::sleep(Duration::from_millis(50)),
            Err(error) => return Err(error).with_context(|| format!("could not empty {}", folder.display())),
        }
    }
}

fn watch(screen: &Screen, start: Instant) -> Result<(f64, f64)> {
    let mut last = screen.look()?;
    let (mut painted, mut changed) = (None, start);
    loop {
        let now = Instant::now();
        let look = screen.look()?;
        if look != last {
            (last, changed) = (look, now);
            if look.colours >= MANY {
                painted.get_or_insert(now);
            }
        }
        if let Some(painted) = painted.filter(|_| now - changed > QUIET) {
            return Ok((millis(painted - start), millis(changed - start)));
        }
        if now - start > PATIENCE {
            bail!("no page stood on the screen within {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(4));
    }
}
