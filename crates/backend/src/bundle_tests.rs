use pretty_assertions::assert_eq;
use zip::write::{SimpleFileOptions, ZipWriter};

use super::*;

fn archive(folder: &Path, write: impl FnOnce(&mut ZipWriter<File>)) -> PathBuf {
    let path = folder.join("a.zip");
    let mut zip = ZipWriter::new(File::create(&path).unwrap());
    write(&mut zip);
    zip.finish().unwrap();
    path
}

fn put(zip: &mut ZipWriter<File>, name: &str, bytes: &[u8]) {
    zip.start_file(name, SimpleFileOptions::default()).unwrap();
    zip.write_all(bytes).unwrap();
}

fn file(name: &str, bytes: &[u8]) -> (String, Vec<u8>) {
    (name.to_owned(), bytes.to_vec())
}

#[test]
fn what_goes_out_comes_in_again_from_a_folder_and_from_an_archive() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = Bundle { files: vec![file("SKILL.md", b"x"), file("scripts/a.sh", b"\x00\xff")] };
    let first = write_bundle(folder.path(), "pdf", &bundle).unwrap();
    let second = write_bundle(folder.path(), "pdf", &bundle).unwrap();
    assert_eq!((first.file_name().unwrap(), second.file_name().unwrap()), ("pdf".as_ref(), "pdf-2".as_ref()));
    assert_eq!(read_bundle(&first).unwrap(), bundle);

    let zip = archive(folder.path(), |zip| {
        zip.add_directory("scripts", SimpleFileOptions::default()).unwrap();
        for (name, bytes) in &bundle.files {
            put(zip, name, bytes);
        }
        put(zip, "__MACOSX/._SKILL.md", b"litter");
    });
    assert_eq!(read_bundle(&zip).unwrap(), bundle);
    assert_eq!(read_archive(&fs::read(&zip).unwrap()).unwrap(), bundle);
}

#[test]
fn nothing_leads_outside_and_nothing_is_a_link() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["../evil", "a/../../evil", "/etc/passwd", "a\\..\\b", "a//b"] {
        let zip = archive(folder.path(), |zip| put(zip, name, b"x"));
        let error = read_bundle(&zip).unwrap_err();
        assert!(matches!(error, BundleError::Escapes { .. }), "{name}: {error}");
    }
    let zip = archive(folder.path(), |zip| {
        zip.add_symlink("SKILL.md", "/etc/passwd", SimpleFileOptions::default()).unwrap();
    });
    assert!(matches!(read_bundle(&zip), Err(BundleError::Link { .. })));

    let linked = folder.path().join("linked");
    fs::create_dir(&linked).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", linked.join("SKILL.md")).unwrap();
    assert!(matches!(read_bundle(&linked), Err(BundleError::Link { .. })));
}

#[test]
fn sizes_have_bounds_whatever_an_archive_says_of_itself() {
    let folder = tempfile::tempdir().unwrap();
    let large = vec![0; usize::try_from(LARGEST_FILE).unwrap() + 1];
    let zip = archive(folder.path(), |zip| put(zip, "a", &large));
    assert!(fs::metadata(&zip).unwrap().len() < 100_000, "it is small until it is unpacked");
    assert!(matches!(read_bundle(&zip), Err(BundleError::TooLarge { .. })));
    let zip = archive(folder.path(), |zip| (0..17).for_each(|n| put(zip, &format!("f{n}"), &large[1..])));
    assert!(matches!(read_bundle(&zip), Err(BundleError::TooMuch)));
    let zip = archive(folder.path(), |zip| (0..=MOST_FILES).for_each(|n| put(zip, &format!("f{n}"), b"")));
    assert!(matches!(read_bundle(&zip), Err(BundleError::TooMuch)));
    let no_zip = folder.path().join("b.zip");
    fs::write(&no_zip, "words").unwrap();
    assert!(matches!(read_bundle(&no_zip), Err(BundleError::NoArchive { .. })));
}
