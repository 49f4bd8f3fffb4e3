//! Looking at a virtual display without taking part in it: Xvfb keeps its frame buffer in a file in XWD format.

use anyhow::{Context, Result, bail};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// An Xvfb with a frame buffer on disk. Ends with its owner.
pub struct Screen {
    /// As in the environment: `:1`.
    pub display: String,
    buffer: PathBuf,
    server: Child,
}

/// What the screen shows at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// The same for the same picture.
    pub picture: u64,
    /// How many colours were met, counted up to [`MANY`]; a blank window has one or two.
    pub colours: usize,
}

pub const MANY: usize = 16;

impl Screen {
    pub fn start(folder: &Path) -> Result<Self> {
        std::fs::create_dir_all(folder)?;
        let mut command = Command::new("Xvfb");
        command.args(["-displayfd", "1", "-screen", "0", "1440x900x24", "-nolisten", "tcp", "-noreset", "-fbdir"]);
        command.arg(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = command.spawn().context("could not start Xvfb")?;
        let mut number = String::new();
        BufReader::new(server.stdout.take().context("Xvfb has no output")?).read_line(&mut number)?;
        let Ok(number) = number.trim().parse::<u32>() else { bail!("Xvfb found no free display") };
        Ok(Self { display: format!(":{number}"), buffer: folder.join("Xvfb_screen0"), server })
    }

    pub fn look(&self) -> Result<Look> {
        let bytes = std::fs::read(&self.buffer).with_context(|| format!("could not read {}", self.buffer.display()))?;
        look(&bytes).context("the frame buffer is no XWD file")
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.server.kill().ok();
        self.server.wait().ok();
    }
}

/// The header tells its own size in its first word and the number of colours, 12 bytes each, in its twentieth.
fn look(bytes: &[u8]) -> Option<Look> {
    let word = |index: usize| Some(u32::from_be_bytes(bytes.get(index * 4..index * 4 + 4)?.try_into().ok()?) as usize);
    let pixels = bytes.get(word(0)? + word(19)? * 12..)?;
    let mut hasher = DefaultHasher::new();
    let mut colours: Vec<&[u8]> = Vec::new();
    // Every fourth pixel is enough to see that something changed, and leaves the machine to what is measured.
    for pixel in pixels.chunks_exact(4).step_by(4) {
        pixel.hash(&mut hasher);
        if colours.len() < MANY && !colours.contains(&pixel) {
            colours.push(pixel);
        }
    }
    Some(Look { picture: hasher.finish(), colours: colours.len() })
}

#[cfg(test)]
mod tests {
    use super::look;

    #[test]
    fn a_picture_is_told_from_another() {
        let screen = |colours: &[u32]| {
            let mut bytes = vec![0; 100];
            bytes[3] = 100;
            bytes[79] = 1;
            bytes.extend([0; 12]);
            bytes.extend(colours.iter().flat_map(|colour| [colour.to_le_bytes(); 4].concat()));
            look(&bytes).expect("a look")
        };
        assert_eq!(screen(&[1, 1, 1]), screen(&[1, 1, 1]));
        assert_eq!(screen(&[1, 1, 1]).colours, 1);
        assert_eq!(screen(&[1, 2, 3]).colours, 3);
        assert_ne!(screen(&[1, 2, 3]).picture, screen(&[1, 3, 2]).picture);
        assert!(look(&[0; 10]).is_none());
    }
}
