//! What of the system a library can do without.
//!
//! The library with both programs in it names some thousand functions of the window's libraries, which take a tenth of a
//! second to load, and the command line calls none of them. A linker can only make a library need another or not find its
//! functions. So it is changed once it is linked: it needs those libraries no more, and their functions are *weak*, which
//! means to the loader that they may be missing. The program with the window needs them itself, and finds them.

use anyhow::{Context, Result};
use object::LittleEndian;
use object::elf::{
    DT_NEEDED, DT_VERNEED, DT_VERNEEDNUM, FileHeader64, SHT_DYNAMIC, SHT_DYNSYM, SHT_GNU_VERNEED, SHT_GNU_VERSYM,
    STB_GLOBAL, STB_WEAK, SectionType, VER_NDX_GLOBAL,
};
use object::read::StringTable;
use object::read::elf::{Dyn, FileHeader, SectionHeader, SectionTable, Sym};
use std::path::Path;

/// Libraries that every program of Rust's needs, by how their names begin.
const ALWAYS: [&str; 6] = ["ld-linux", "libc.so", "libdl.so", "libgcc_s.so", "libm.so", "libpthread.so"];

/// Sizes in a file of 64 bits, in bytes, and where in an entry stands what is changed.
const DYNAMIC: usize = 16;
const DYNAMIC_VALUE: usize = 8;
const SYMBOL: usize = 24;
const SYMBOL_INFO: usize = 4;
const SYMBOL_VERSION: usize = 2;
const VERSIONS_NEXT: usize = 12;

type Header = FileHeader64<LittleEndian>;

/// Bytes that shall be others: where they begin, and what they shall be.
type Edit = (usize, Vec<u8>);

/// Has `library` start without those libraries that [`ALWAYS`] does not name, and returns their names.
pub fn make_optional(library: &Path) -> Result<Vec<String>> {
    let said = || format!("{} cannot be made to start without a window", library.display());
    let mut bytes = std::fs::read(library).with_context(said)?;
    let (names, edits) = Needs::of(&bytes).and_then(Needs::lessened).with_context(said)?;
    for (at, new) in edits {
        let old = bytes.get_mut(at..at + new.len()).context("its tables lie beyond its end").with_context(said)?;
        old.copy_from_slice(&new);
    }
    std::fs::write(library, bytes).with_context(said)?;
    Ok(names)
}

/// What a library needs, and where it says so.
struct Needs<'data> {
    bytes: &'data [u8],
    sections: SectionTable<'data, Header>,
    /// Names of libraries that it can do without.
    names: Vec<String>,
    edits: Vec<Edit>,
}

impl<'data> Needs<'data> {
    fn of(bytes: &'data [u8]) -> Result<Self> {
        let header = Header::parse(bytes)?;
        let sections = header.sections(header.endian()?, bytes)?;
        Ok(Self { bytes, sections, names: Vec::new(), edits: Vec::new() })
    }

    fn lessened(mut self) -> Result<(Vec<String>, Vec<Edit>)> {
        let list = self.needed()?;
        let versions = self.versions(list)?;
        self.weaken(&versions)?;
        Ok((self.names, self.edits))
    }

    /// Takes the libraries out of the list of what is needed, and returns where the list begins.
    fn needed(&mut self) -> Result<usize> {
        let at = self.start(SHT_DYNAMIC)?;
        let (entries, strings) = self.sections.dynamic(LittleEndian, self.bytes)?.context("it needs nothing")?;
        let strings = self.sections.strings(LittleEndian, self.bytes, strings)?;
        let mut kept = Vec::new();
        for (entry, old) in entries.iter().zip(self.bytes.get(at..).unwrap_or_default().chunks_exact(DYNAMIC)) {
            match needed(entry, strings)? {
                Some(name) if !ALWAYS.iter().any(|always| name.starts_with(always)) => self.names.push(name),
                _ => kept.extend_from_slice(old),
            }
        }
        // What is zero ends the list.
        kept.resize(entries.len() * DYNAMIC, 0);
        self.edits.push((at, kept));
        Ok(at)
    }

    /// Takes the libraries out of the table of needed versions, and returns the numbers that their versions have in it.
    /// `list` is where the list of what is needed begins.
    fn versions(&mut self, list: usize) -> Result<Vec<u16>> {
        let Some((mut table, strings)) = self.sections.gnu_verneed(LittleEndian, self.bytes)? else {
            return Ok(Vec::new());
        };
        let strings = self.sections.strings(LittleEndian, self.bytes, strings)?;
        let mut at = self.start(SHT_GNU_VERNEED)?;
        let (mut kept, mut numbers) = (Vec::new(), Vec::new());
        while let Some((library, mut versions)) = table.next()? {
            let name = String::from_utf8_lossy(library.file(LittleEndian, strings)?).into_owned();
            if self.names.contains(&name) {
                while let Some(version) = versions.next()? {
                    numbers.push(version.vna_other.get(LittleEndian).0);
                }
            } else {
                kept.push(at);
            }
            at += usize::try_from(library.vn_next.get(LittleEndian))?;
        }
        let first = *kept.first().context("it needs no library of the system")?;
        for (place, library) in kept.iter().enumerate() {
            let next = kept.get(place + 1).map_or(0, |next| next - library);
            self.edits.push((library + VERSIONS_NEXT, u32::try_from(next)?.to_le_bytes().into()));
        }
        let skipped = u64::try_from(first - self.start(SHT_GNU_VERNEED)?)?;
        // In the list as it is to be.
        let entries = self.edits.iter().find(|(start, _)| *start == list).map(|(_, list)| list.clone());
        for (place, entry) in entries.unwrap_or_default().chunks_exact(DYNAMIC).enumerate() {
            let (tag, value) = entry.split_at(DYNAMIC_VALUE);
            let value = u64::from_le_bytes(value.try_into()?);
            let value = match i64::from_le_bytes(tag.try_into()?) {
                tag if tag == DT_VERNEED.0 => value + skipped,
                tag if tag == DT_VERNEEDNUM.0 => kept.len().try_into()?,
                _ => continue,
            };
            self.edits.push((list + place * DYNAMIC + DYNAMIC_VALUE, value.to_le_bytes().into()));
        }
        Ok(numbers)
    }

    /// Lets every function be missing that is of no library of the system's, those of the versions `gone` too.
    fn weaken(&mut self, gone: &[u16]) -> Result<()> {
        let symbols = self.sections.symbols(LittleEndian, self.bytes, SHT_DYNSYM)?;
        let versions = self.sections.versions(LittleEndian, self.bytes)?.unwrap_or_default();
        let (at, versions_at) = (self.start(SHT_DYNSYM)?, self.start(SHT_GNU_VERSYM)?);
        for (index, symbol) in symbols.enumerate() {
            if !symbol.is_undefined(LittleEndian) || symbol.st_bind() != STB_GLOBAL {
                continue;
            }
            let version = versions.version_index(LittleEndian, index).index();
            if gone.contains(&version.0) {
                let any = VER_NDX_GLOBAL.0.to_le_bytes().into();
                self.edits.push((versions_at + index.0 * SYMBOL_VERSION, any));
            } else if !version.is_special() {
                continue;
            }
            // The binding is the upper half.
            let info = STB_WEAK.0 << 4 | symbol.st_type().0;
            self.edits.push((at + index.0 * SYMBOL + SYMBOL_INFO, vec![info]));
        }
        Ok(())
    }

    /// Where the section of a kind begins in the file.
    fn start(&self, kind: SectionType) -> Result<usize> {
        let section = self.sections.iter().find(|section| section.sh_type(LittleEndian) == kind);
        Ok(section.with_context(|| format!("it has no section {kind:?}"))?.sh_offset(LittleEndian).try_into()?)
    }
}

/// The library that an entry says is needed.
fn needed(entry: &impl Dyn<Endian = LittleEndian>, names: StringTable<'_>) -> Result<Option<String>> {
    if entry.tag(LittleEndian) != DT_NEEDED {
        return Ok(None);
    }
    let name = usize::try_from(entry.val(LittleEndian)).ok().and_then(|at| names.get(at.try_into().ok()?).ok());
    Ok(Some(String::from_utf8_lossy(name.context("a needed library has no name")?).into_owned()))
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::make_optional;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    const DRAWS: &str = "#[unsafe(no_mangle)] pub extern \"C\" fn drawn() -> i32 { 3 }";
    const BOTH: &str = "
#[link(name = \"shows\")] unsafe extern \"C\" { fn shown() -> i32; }
#[link(name = \"draws\")] unsafe extern \"C\" { fn drawn() -> i32; }
#[unsafe(no_mangle)] pub extern \"C\" fn quiet() -> i32 { 3 }
#[unsafe(no_mangle)] pub extern \"C\" fn loud() -> i32 { unsafe { shown() + drawn() } }
";

    struct Folder(PathBuf);

    impl Folder {
        fn rustc(&self, name: &str, source: &str, arguments: &[&str]) {
            let file = self.0.join(name).with_extension("rs");
            std::fs::write(&file, source).expect("a file");
            let mut rustc = Command::new("rustc");
            rustc.current_dir(&self.0).arg(&file).args(["--edition", "2024", "-C", "panic=abort", "-L", "native=."]);
            assert!(rustc.args(arguments).status().expect("rustc").success(), "{name} is not built");
        }

        fn program(&self, entry: &str, links: &[&str]) {
            let source = format!(
                "#[link(name = \"both\")] unsafe extern \"C\" {{ fn {entry}() -> i32; }}
                 fn main() {{ std::process::exit(unsafe {{ {entry}() }}) }}"
            );
            let rpath = ["-C", "link-arg=-Wl,-rpath,$ORIGIN", "-C", "link-arg=-Wl,--allow-shlib-undefined"];
            self.rustc(&format!("program-{entry}"), &source, &[&rpath, links].concat());
        }

        /// A library whose function has a version, as some of the system have.
        fn shows(&self) {
            std::fs::write(self.0.join("shows.c"), "int shown(void) { return 4; }").expect("a file");
            std::fs::write(self.0.join("shows.map"), "SHOWS_1 { global: shown; local: *; };").expect("a file");
            let named = "-Wl,-soname,libshows.so,--version-script,shows.map";
            let mut cc = Command::new("cc");
            cc.current_dir(&self.0).args(["-shared", "-fPIC", "-o", "libshows.so", "shows.c", named]);
            assert!(cc.status().expect("a C compiler").success(), "the library is not built");
        }

        fn code(&self, program: &str) -> Option<i32> {
            Command::new(self.0.join(program)).status().expect("a program").code()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            std::fs::remove_dir_all(&self.0).ok();
        }
    }

    #[test]
    fn one_program_starts_without_what_the_other_needs() {
        let folder = Folder(std::env::temp_dir().join(format!("bosun-optional-{}", std::process::id())));
        std::fs::create_dir_all(&folder.0).expect("a folder");
        folder.shows();
        folder.rustc("draws", DRAWS, &["--crate-type", "cdylib", "-C", "link-arg=-Wl,-soname,libdraws.so"]);
        folder.rustc("both", BOTH, &["--crate-type", "cdylib"]);
        folder.program("quiet", &[]);
        folder.program("loud", &["-C", "link-arg=-Wl,--no-as-needed,-l:libshows.so,-l:libdraws.so"]);
        let move_all = |from: &str, to: &str| {
            for name in ["shows", "draws"] {
                let at = |end: &str| folder.0.join(format!("lib{name}.{end}"));
                std::fs::rename(at(from), at(to)).expect("a library");
            }
        };
        move_all("so", "away");
        assert_eq!(folder.code("program-quiet"), Some(127), "the loader misses a library");
        let mut optional = make_optional(&folder.0.join("libboth.so")).expect("a library");
        optional.sort();
        assert_eq!(optional, ["libdraws.so", "libshows.so"]);
        assert_eq!(folder.code("program-quiet"), Some(3));
        move_all("away", "so");
        assert_eq!(folder.code("program-loud"), Some(7));
        assert!(make_optional(&folder.0.join("libboth.so")).expect("a library").is_empty(), "nothing is left to do");
    }

    #[test]
    fn what_is_no_library_is_refused() {
        let problem = make_optional(Path::new(file!())).expect_err("no library");
        assert!(format!("{problem:#}").contains("without a window"), "{problem:#}");
    }
}
