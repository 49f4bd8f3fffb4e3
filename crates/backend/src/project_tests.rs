use std::os::unix::fs::symlink;

use pretty_assertions::assert_eq;

use super::*;

#[test]
fn an_ordinary_folder_is_fine() {
    let top = tempfile::tempdir().unwrap();
    let project = top.path().join("proj");
    std::fs::create_dir(&project).unwrap();
    symlink(&project, top.path().join("link")).unwrap();
    let real = project.canonicalize().unwrap();
    for given in [project, top.path().join("link")] {
        let root = check(&given, Some(top.path()), None).unwrap();
        let called = Some(given).filter(|given| *given != real);
        assert_eq!(root, ProjectRoot { path: real.clone(), called, notes: Vec::new() });
    }
}

#[test]
fn what_cannot_be_a_project_says_why() {
    let top = tempfile::tempdir().unwrap();
    let file = top.path().join("file");
    std::fs::write(&file, "").unwrap();
    symlink(top.path(), top.path().join("home")).unwrap();
    let refused = |path: &Path| check(path, Some(top.path()), None).unwrap_err();
    assert!(matches!(refused(&top.path().join("none")), RootError::Missing { .. }));
    assert!(matches!(refused(&file), RootError::NotAFolder { .. }));
    assert!(matches!(refused(&file.join("x")), RootError::NotAFolder { .. }));
    assert!(matches!(refused(top.path()), RootError::Home { .. }));
    assert!(matches!(refused(&top.path().join("home")), RootError::Home { .. }));
    assert!(matches!(refused(Path::new("/")), RootError::FileSystemRoot { .. }));
    assert!(matches!(refused(Path::new("/tmp/..")), RootError::FileSystemRoot { .. }));
    let above = check(top.path(), Some(&file.with_file_name("home")), None).unwrap_err();
    assert!(matches!(above, RootError::Home { .. }), "a link is its target: {above}");
    let inner = top.path().join("users/me");
    std::fs::create_dir_all(&inner).unwrap();
    let above = check(&top.path().join("users"), Some(&inner), None).unwrap_err();
    assert!(matches!(above, RootError::AboveHome { .. }), "{above}");
    assert!(check(&top.path().join("users/me"), Some(&top.path().join("users")), None).is_ok());
    let said = refused(&file).to_string();
    assert!(said.contains("file, not a folder") && said.contains("choose"), "{said}");
}

#[test]
fn the_apps_own_data_is_no_project_nor_in_one() {
    let top = tempfile::tempdir().unwrap();
    let data = top.path().join("share/bosun");
    let beside = top.path().join("share/proj");
    for folder in [data.join("blobs"), beside.clone()] {
        std::fs::create_dir_all(folder).unwrap();
    }
    symlink(&data, top.path().join("link")).unwrap();
    let refused = |path: &Path| check(path, None, Some(&top.path().join("link"))).unwrap_err();
    for holder in [data.clone(), top.path().join("share"), top.path().join("link")] {
        assert!(matches!(refused(&holder), RootError::HoldsData { .. }), "{}", holder.display());
    }
    assert!(matches!(refused(&data.join("blobs")), RootError::InData { .. }));
    assert!(refused(&data).to_string().contains(&data.canonicalize().unwrap().display().to_string()));
    assert!(check(&beside, None, Some(&data)).is_ok());
    assert!(check(&beside, None, Some(&top.path().join("none"))).is_ok(), "nothing is kept yet");
}
