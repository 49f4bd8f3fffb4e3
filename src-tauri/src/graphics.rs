//! Which of WebKitGTK's rendering switches a start needs. They have to stand in the environment before GTK is first called.
#![allow(clippy::disallowed_methods, reason = "a look at the system's devices, and one mark of the shell's own")]

use std::path::Path;

/// Turns the renderer over DMABUF off: a plain loss without a graphics card, and a blank window on some drivers.
const NO_DMABUF: &str = "WEBKIT_DISABLE_DMABUF_RENDERER";
/// Turns compositing off, the last resort against a blank window.
const NO_COMPOSITING: &str = "WEBKIT_DISABLE_COMPOSITING_MODE";
/// Keeps NVIDIA's driver from a protocol error on Wayland that ends the process.
const NO_EXPLICIT_SYNC: &str = "__NV_DISABLE_EXPLICIT_SYNC";

/// The file in the data folder that says so.
const MARK: &str = "safe-graphics";

/// What the decision hangs on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    pub wayland: bool,
    pub nvidia: bool,
    /// Whether there is a graphics card to draw with.
    pub render_node: bool,
    /// Whether safe drawing was asked for.
    pub safe: bool,
}

/// What a start does about drawing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Switches {
    /// Variables to set, with their values.
    pub set: Vec<(&'static str, &'static str)>,
    /// Nothing safer is left to try when the window stays blank.
    pub safest: bool,
}

/// Decides. What the user set, to whatever value, stays as it is.
pub(crate) fn switches(facts: Facts, variable: impl Fn(&str) -> bool) -> Switches {
    let chosen = variable(NO_DMABUF) || variable(NO_COMPOSITING);
    let mut set = Vec::new();
    if !chosen && (facts.safe || !facts.render_node) {
        set.push((NO_DMABUF, "1"));
    }
    if !chosen && facts.safe {
        set.push((NO_COMPOSITING, "1"));
    }
    if facts.wayland && facts.nvidia && !variable(NO_EXPLICIT_SYNC) {
        set.push((NO_EXPLICIT_SYNC, "1"));
    }
    Switches { set, safest: chosen || facts.safe || !facts.render_node }
}

impl Facts {
    /// Looks at this machine.
    pub(crate) fn gather(safe: bool, variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let forced_x11 = set("GDK_BACKEND").is_some_and(|backend| backend.starts_with("x11"));
        Self {
            wayland: set("WAYLAND_DISPLAY").is_some() && !forced_x11,
            nvidia: there("/proc/driver/nvidia/version"),
            render_node: render_node(),
            safe,
        }
    }
}

fn there(path: &str) -> bool {
    Path::new(path).exists()
}

fn render_node() -> bool {
    let Ok(devices) = std::fs::read_dir("/dev/dri") else { return false };
    devices.flatten().any(|device| device.file_name().to_string_lossy().starts_with("renderD"))
}

/// Whether an earlier start of this very version found that nothing is drawn without the switches.
pub(crate) fn remembered(folder: Option<&Path>) -> bool {
    let mark = folder.and_then(|folder| std::fs::read_to_string(folder.join(MARK)).ok());
    mark.is_some_and(|version| version.trim() == env!("CARGO_PKG_VERSION"))
}

/// Lets later starts of this version draw safely from the beginning. The next version tries the graphics card again.
pub(crate) fn remember(folder: &Path) -> std::io::Result<()> {
    std::fs::write(folder.join(MARK), env!("CARGO_PKG_VERSION"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARD: Facts = Facts { wayland: false, nvidia: false, render_node: true, safe: false };

    fn names(facts: Facts, user: &[&str]) -> Vec<&'static str> {
        switches(facts, |name| user.contains(&name)).set.into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn a_working_card_needs_nothing() {
        assert_eq!(switches(CARD, |_| false), Switches { set: Vec::new(), safest: false });
    }

    #[test]
    fn without_a_render_node_the_cards_renderer_is_off() {
        let none = Facts { render_node: false, ..CARD };
        assert_eq!(names(none, &[]), [NO_DMABUF]);
        assert!(switches(none, |_| false).safest);
    }

    #[test]
    fn safe_drawing_turns_both_off() {
        assert_eq!(names(Facts { safe: true, ..CARD }, &[]), [NO_DMABUF, NO_COMPOSITING]);
    }

    #[test]
    fn nvidia_on_wayland_keeps_its_renderer_without_explicit_sync() {
        let card = Facts { nvidia: true, wayland: true, ..CARD };
        assert_eq!(names(card, &[]), [NO_EXPLICIT_SYNC]);
        assert_eq!(names(Facts { wayland: false, ..card }, &[]), [""; 0]);
    }

    #[test]
    fn a_start_that_drew_nothing_is_remembered_for_this_version() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!remembered(Some(folder.path())) && !remembered(None));
        remember(folder.path()).unwrap();
        assert!(remembered(Some(folder.path())));
        std::fs::write(folder.path().join(MARK), "0.0.1").unwrap();
        assert!(!remembered(Some(folder.path())));
    }

    #[test]
    fn what_the_user_set_stays() {
        let facts = Facts { nvidia: true, wayland: true, render_node: false, safe: true };
        assert_eq!(names(facts, &[NO_DMABUF, NO_EXPLICIT_SYNC]), [""; 0]);
        assert_eq!(names(facts, &[NO_COMPOSITING]), [NO_EXPLICIT_SYNC]);
    }
}
