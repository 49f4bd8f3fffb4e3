use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Endings that some system starts instead of opening.
const PROGRAMS: [&str; 27] = [
    "app", "appimage", "bat", "cmd", "com", "command", "cpl", "desktop", "exe", "hta", "jar", "js", "jse", "lnk",
    "msi", "pif", "ps1", "reg", "run", "scr", "scpt", "terminal", "url", "vbe", "vbs", "webloc", "wsf",
];
/// Texts that a program editor opens whatever their name means to the system.
const TEXTS: [&str; 2] = ["js", "ps1"];

/// Whether a system may start this file instead of opening it, by its name or because it may be executed.
pub fn may_start(file: &Path) -> bool {
    let ending = file.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let by_name = PROGRAMS.contains(&ending.as_str()) && (cfg!(windows) || !TEXTS.contains(&ending.as_str()));
    let by_mode = std::fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0);
    by_name || by_mode
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::may_start;

    #[test]
    fn what_may_be_a_program_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, mode: u32| {
            let path = folder.path().join(name);
            std::fs::write(&path, "x").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            path
        };
        for (name, mode) in [("a.desktop", 0o644), ("B.EXE", 0o644), ("run", 0o755), ("x.sh", 0o700), ("a.jar", 0o644)]
        {
            assert!(may_start(&file(name, mode)), "{name}");
        }
        for (name, mode) in [("a.rs", 0o644), ("notes", 0o644), ("x.sh.txt", 0o600), ("a.png", 0o644)] {
            assert!(!may_start(&file(name, mode)), "{name}");
        }
    }
}
