//! Whether there is a screen to open a window on.

/// Why no window can be opened, in one sentence of the system's language; `None` where one can.
///
/// Asks the toolkit itself, which may be asked again later: a variable that is set says little.
#[cfg(target_os = "linux")]
pub(crate) fn problem(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    use crate::desk::words;
    use crate::language::{spoken, system_language};

    let words = words(spoken(bosun_protocol::Language::System, &system_language(&variable)));
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let named: Vec<String> =
        ["WAYLAND_DISPLAY", "DISPLAY"].iter().filter_map(|name| Some(format!("{name}={}", set(name)?))).collect();
    if named.is_empty() {
        return Some(words.display_not_set.to_owned());
    }
    gtk::init().is_err().then(|| words.display_closed.replace("{}", &named.join(", ")))
}

/// Elsewhere there is always one.
#[cfg(not(target_os = "linux"))]
pub(crate) fn problem(_variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    None
}
