//! Whether there is a screen to open a window on.

/// Why no window can be opened, in one sentence; `None` where one can.
///
/// Asks the toolkit itself, which may be asked again later: a variable that is set says little.
#[cfg(target_os = "linux")]
pub(crate) fn problem(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    const WAY_OUT: &str = "Start it from a desktop session, or work without a window: bosun run --help";
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let named: Vec<String> =
        ["WAYLAND_DISPLAY", "DISPLAY"].iter().filter_map(|name| Some(format!("{name}={}", set(name)?))).collect();
    if named.is_empty() {
        return Some(format!("Bosun needs a display, and neither DISPLAY nor WAYLAND_DISPLAY is set. {WAY_OUT}"));
    }
    gtk::init().is_err().then(|| format!("Bosun cannot open the display ({}). {WAY_OUT}", named.join(", ")))
}

/// Elsewhere there is always one.
#[cfg(not(target_os = "linux"))]
pub(crate) fn problem(_variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    None
}
