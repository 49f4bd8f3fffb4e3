//! A generated project of 50,000 files and 500 MB, the same on every machine. It lies in the cache folder and is made once.

use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

use crate::place::Place;
use crate::say;

const FOLDERS: u32 = 500;
const FILES: u32 = 100;
/// Changing what is generated changes this, so that an old tree is not measured.
const VERSION: &str = "2";

/// A word that stands once in every hundredth file.
pub const COMMON: &str = "bosun_common_word";
/// A word that stands in three files.
pub const RARE: &str = "bosun_rare_word";

const WORDS: [&str; 16] = [
    "anchor", "ballast", "cleat", "davit", "ensign", "fathom", "gangway", "halyard", "jib", "keel", "lanyard", "mast",
    "oar", "pier", "quay", "rudder",
];

/// The folder of the tree, made if it is not there yet.
pub fn ready(place: &Place) -> Result<PathBuf> {
    let folder = place.cache.join("bench-tree");
    let stamp = place.cache.join("bench-tree.version");
    if folder.is_dir() && std::fs::read_to_string(&stamp).is_ok_and(|version| version == VERSION) {
        return Ok(folder);
    }
    say::timed("generating a tree of 50,000 files and 500 MB", || {
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        for number in 0..FOLDERS {
            make_folder(&folder, number, &mut random)?;
        }
        std::fs::write(folder.join(".gitignore"), "build/\n*.log\n")?;
        std::fs::write(&stamp, VERSION).with_context(|| format!("could not write {}", stamp.display()))
    })?;
    Ok(folder)
}

fn make_folder(root: &Path, number: u32, random: &mut Random) -> Result<()> {
    let folder = root.join(format!("area{}/module{number}", number % 20));
    std::fs::create_dir_all(&folder).with_context(|| format!("could not make {}", folder.display()))?;
    for file in 0..FILES {
        let index = number * FILES + file;
        let ending = ["rs", "ts", "md", "py", "json"].get(file as usize % 5).copied().unwrap_or("rs");
        let test = if file % 10 == 0 { "_test" } else { "" };
        let mut text = body(random);
        if index % 100 == 7 {
            text.push_str(&format!("let {COMMON} = {index};\n"));
        }
        if index % 20_000 == 19 {
            text.push_str(&format!("let {RARE} = {index};\n"));
        }
        std::fs::write(folder.join(format!("file{file}{test}.{ending}")), text)?;
    }
    Ok(())
}

/// Between 20 and 460 lines of words, ten kilobytes on average.
fn body(random: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..20 + random.below(441) {
        for _ in 0..3 + random.below(8) {
            text.push_str(WORDS.get(random.below(16) as usize).copied().unwrap_or_default());
            text.push(' ');
        }
        text.push('\n');
    }
    text
}

/// A small generator, so that the tree does not depend on anything else.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from(self.0 % u64::from(limit)).unwrap_or_default()
    }
}
