//! Node and npm: their versions.

use anyhow::{Context, Result, bail};

use crate::exec::{Program, find, script};
use crate::place::Place;

/// Vite 8 asks for `^20.19 || >=22.12`.
const WANTED: &str = "Node 20.19 or newer in the 20 line, or 22.12 or newer";

pub fn check(place: &Place) -> Result<()> {
    let said = Program::new(place, "node")
        .arg("--version")
        .output()
        .with_context(|| format!("Node is not on the PATH; install {WANTED} (https://nodejs.org)"))?;
    let version = said.trim();
    let Some((major, minor)) = parse(version) else {
        bail!("`node --version` said {version:?}, which is not a version; install {WANTED} (https://nodejs.org)");
    };
    if !is_enough(major, minor) {
        bail!("Node {version} is too old for the UI build; install {WANTED} (https://nodejs.org)");
    }
    if find(&script("npm")).is_none() {
        bail!("Node is here but npm is not; install the npm package of your system");
    }
    Ok(())
}

fn parse(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.strip_prefix('v')?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

fn is_enough(major: u32, minor: u32) -> bool {
    match major {
        20 => minor >= 19,
        22 => minor >= 12,
        _ => major > 22,
    }
}

#[cfg(test)]
mod tests {
    use super::{is_enough, parse};

    #[test]
    fn versions_of_node_that_the_ui_build_accepts() {
        let accepted = |version| parse(version).is_some_and(|(major, minor)| is_enough(major, minor));
        for good in ["v20.19.0", "v20.20.2", "v22.12.0", "v24.1.0", "v23.0.0"] {
            assert!(accepted(good), "{good}");
        }
        for bad in ["v18.20.0", "v20.18.3", "v21.7.0", "v22.11.0", "20.19", "node"] {
            assert!(!accepted(bad), "{bad}");
        }
    }
}
