use std::fs;
use std::os::unix::fs::symlink;

use pretty_assertions::assert_eq;
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::*;

/// A project beside a secret, opened by the kernel's rules and step by step.
fn both(case: impl Fn(&Path, &Root)) {
    for stepwise in [false, true] {
        let top = tempfile::tempdir().unwrap();
        let project = top.path().join("proj");
        fs::create_dir_all(project.join("dir/sub")).unwrap();
        fs::create_dir(top.path().join("proj-evil")).unwrap();
        fs::write(project.join("a.txt"), "inside").unwrap();
        fs::write(project.join("dir/sub/deep.txt"), "deep").unwrap();
        fs::write(top.path().join("secret"), "secret").unwrap();
        fs::write(top.path().join("proj-evil/x"), "secret").unwrap();
        let open = if stepwise { Root::open_stepwise } else { Root::open };
        let root = open(&project, Mounts::Refuse).unwrap();
        case(&project, &root);
    }
}

fn path(text: &str) -> VirtualPath {
    VirtualPath::parse(text).unwrap()
}

fn read(root: &Root, text: &str) -> Result<String, BackendError> {
    let (file, _) = root.open_file(&path(text))?;
    Ok(std::io::read_to_string(fs::File::from(file)).unwrap())
}

fn outside(root: &Root, text: &str) {
    assert_eq!(read(root, text), Err(BackendError::OutsideRoot { path: path(text) }));
}

#[test]
fn files_are_opened_below_the_root() {
    both(|_, root| {
        assert_eq!(read(root, "/a.txt").unwrap(), "inside");
        assert_eq!(read(root, "/dir/sub/deep.txt").unwrap(), "deep");
        assert_eq!(read(root, "/none"), Err(BackendError::NotFound { path: path("/none") }));
        assert_eq!(read(root, "/none/x"), Err(BackendError::NotFound { path: path("/none/x") }));
        assert_eq!(read(root, "/a.txt/x"), Err(BackendError::NotADirectory { path: path("/a.txt/x") }));
        assert_eq!(read(root, "/dir"), Err(BackendError::IsADirectory { path: path("/dir") }));
        assert_eq!(read(root, "/"), Err(BackendError::IsADirectory { path: path("/") }));
    });
}

#[test]
fn links_within_the_root_are_followed() {
    both(|project, root| {
        symlink("a.txt", project.join("relative")).unwrap();
        symlink(project.join("a.txt"), project.join("absolute")).unwrap();
        symlink("../../a.txt", project.join("dir/sub/up")).unwrap();
        symlink("dir/sub", project.join("folder")).unwrap();
        symlink("absolute", project.join("twice")).unwrap();
        symlink(project.join("folder"), project.join("dir/through")).unwrap();
        for link in ["/relative", "/absolute", "/dir/sub/up", "/twice", "/folder/up", "/dir/through/up"] {
            assert_eq!(read(root, link).unwrap(), "inside", "{link}");
        }
        assert_eq!(read(root, "/dir/through/deep.txt").unwrap(), "deep");
    });
}

#[test]
fn links_out_of_the_root_are_refused() {
    both(|project, root| {
        symlink("../secret", project.join("relative")).unwrap();
        symlink(project.parent().unwrap().join("secret"), project.join("absolute")).unwrap();
        symlink("..", project.join("parent")).unwrap();
        symlink("../proj-evil", project.join("sibling")).unwrap();
        symlink(project.parent().unwrap().join("proj-evil"), project.join("prefix")).unwrap();
        symlink("../proj/a.txt", project.join("out_and_in")).unwrap();
        symlink("/dev/zero", project.join("zero")).unwrap();
        symlink("relative", project.join("chain")).unwrap();
        let all = ["/relative", "/absolute", "/parent/secret", "/sibling/x", "/prefix/x", "/out_and_in", "/chain"];
        for link in all {
            outside(root, link);
        }
        outside(root, "/zero");
        outside(root, "/parent/not/there/yet");
    });
}

#[test]
fn magic_links_are_refused() {
    both(|project, root| {
        for (name, target) in [("environ", "/proc/self/environ"), ("fd", "/dev/fd/0"), ("cwd", "/proc/self/cwd")] {
            symlink(target, project.join(name)).unwrap();
            outside(root, &format!("/{name}"));
        }
    });
    // A root that holds magic links, without one that leads out of it by name.
    let root = Root::open(Path::new("/proc/self"), Mounts::Refuse).unwrap();
    let error = root.open_relative("cwd", FOLDER, Links::Follow).unwrap_err();
    assert!(matches!(error, Errno::LOOP | Errno::XDEV), "{error}");
    assert!(root.open_relative("root/etc/passwd", READ, Links::Follow).is_err());
}

#[test]
fn loops_and_chains_end() {
    both(|project, root| {
        symlink("loop", project.join("loop")).unwrap();
        symlink("b", project.join("a")).unwrap();
        symlink("a", project.join("b")).unwrap();
        for link in ["/loop", "/a", "/a/x"] {
            assert_eq!(read(root, link), Err(BackendError::LinkLoop { path: path(link) }));
        }
        symlink("nowhere", project.join("broken")).unwrap();
        assert_eq!(read(root, "/broken"), Err(BackendError::NotFound { path: path("/broken") }));
    });
}

#[test]
fn what_is_no_file_is_never_read() {
    both(|project, root| {
        rustix::fs::mknodat(
            rustix::fs::CWD,
            project.join("pipe"),
            rustix::fs::FileType::Fifo,
            Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(project.join("socket")).unwrap();
        for name in ["/pipe", "/socket"] {
            let error = read(root, name).unwrap_err();
            assert!(matches!(error, BackendError::NotRegular { .. }), "{error}");
        }
    });
}

#[test]
fn opening_without_links_refuses_them_everywhere() {
    both(|project, root| {
        symlink("a.txt", project.join("link")).unwrap();
        symlink("dir", project.join("folder")).unwrap();
        for (relative, flags) in [("link", READ), ("link", NAME), ("folder/sub/deep.txt", READ), ("folder", FOLDER)] {
            let opened = root.open_relative(relative, flags, Links::Refuse);
            assert_eq!(opened.map(|_| ()), Err(Errno::LOOP), "{relative}");
        }
        assert!(root.open_relative("dir/sub", FOLDER, Links::Refuse).is_ok());
        assert!(root.open_relative("", NAME | OFlags::DIRECTORY, Links::Refuse).is_ok());
    });
}

#[test]
fn places_are_found_through_links() {
    both(|project, root| {
        symlink("dir", project.join("folder")).unwrap();
        symlink(project.join("a.txt"), project.join("link")).unwrap();
        symlink("dir/new.txt", project.join("dangling")).unwrap();
        symlink("../new.txt", project.join("leading_out")).unwrap();
        let follow = |text: &str| root.place(&path(text), FinalLink::Follow);
        assert_eq!(follow("/folder/sub/new/er/x").unwrap().path, path("/dir/sub/new/er/x"));
        assert_eq!(follow("/folder/sub/new/er/x").unwrap().missing, ["new", "er"]);
        assert_eq!(follow("/link").unwrap().path, path("/a.txt"));
        let dangling = follow("/dangling").unwrap();
        assert_eq!((dangling.path, dangling.found.is_none()), (path("/dir/new.txt"), true));
        assert_eq!(follow("/leading_out").unwrap_err(), Errno::XDEV);
        assert_eq!(root.place(&path("/leading_out"), FinalLink::Keep).unwrap().path, path("/leading_out"));
        assert_eq!(root.place(&path("/folder"), FinalLink::Keep).unwrap().path, path("/folder"));
        assert_eq!(root.place(&path("/folder/sub"), FinalLink::Keep).unwrap().path, path("/dir/sub"));
        assert_eq!(follow("/a.txt/x").unwrap_err(), Errno::NOTDIR);
    });
}

#[test]
fn a_root_that_went_away_is_gone() {
    let top = tempfile::tempdir().unwrap();
    let (project, link) = (top.path().join("proj"), top.path().join("link"));
    fs::create_dir(&project).unwrap();
    symlink(&project, &link).unwrap();
    let (root, linked) = (Root::open(&project, Mounts::Refuse).unwrap(), Root::open(&link, Mounts::Refuse).unwrap());
    assert_eq!((root.check_alive(), linked.check_alive()), (Ok(()), Ok(())));
    fs::rename(&project, top.path().join("moved")).unwrap();
    assert_eq!(root.check_alive(), Err(BackendError::RootGone));
    fs::create_dir(&project).unwrap();
    assert_eq!(root.check_alive(), Err(BackendError::RootGone));
    assert_eq!(linked.check_alive(), Err(BackendError::RootGone));
    assert!(matches!(Root::open(&top.path().join("none"), Mounts::Refuse), Err(BackendError::RootGone)));
    fs::write(top.path().join("file"), "").unwrap();
    assert!(matches!(Root::open(&top.path().join("file"), Mounts::Refuse), Err(BackendError::NotADirectory { .. })));
}

#[test]
fn two_thousand_levels() {
    both(|project, root| {
        let deep = "d/".repeat(2000);
        let mut held: Option<OwnedFd> = None;
        let top = rustix::fs::open(project, FOLDER, Mode::empty()).unwrap();
        for _ in 0..2000 {
            let at = held.as_ref().unwrap_or(&top);
            rustix::fs::mkdirat(at, "d", Mode::from_raw_mode(0o755)).unwrap();
            held = Some(rustix::fs::openat(at, "d", FOLDER, Mode::empty()).unwrap());
        }
        assert!(root.open_relative(deep.trim_end_matches('/'), FOLDER, Links::Follow).is_ok());
        let place = root.place(&path(&format!("/{deep}x")), FinalLink::Follow).unwrap();
        assert_eq!((place.name.as_str(), place.missing.len()), ("x", 0));
        // The test's own folder is too deep for its removal by name.
        remove_deep(&top);
    });
}

fn remove_deep(top: &OwnedFd) {
    let mut held = vec![top.try_clone().unwrap()];
    while let Ok(next) = rustix::fs::openat(held.last().unwrap(), "d", FOLDER, Mode::empty()) {
        held.push(next);
    }
    while held.len() > 1 {
        held.pop();
        rustix::fs::unlinkat(held.last().unwrap(), "d", rustix::fs::AtFlags::REMOVEDIR).unwrap();
    }
}

/// P13 for both ways of opening; `tests/race.rs` is the long form.
#[test]
fn a_racing_link_never_leads_out() {
    both(|project, root| {
        fs::create_dir(project.join("swapped")).unwrap();
        fs::write(project.join("swapped/x"), "inside").unwrap();
        symlink("../proj-evil", project.join("link")).unwrap();
        let (real, link) = (project.join("swapped"), project.join("link"));
        let stopped = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stopped.load(std::sync::atomic::Ordering::Relaxed) {
                    let swap = rustix::fs::RenameFlags::EXCHANGE;
                    rustix::fs::renameat_with(rustix::fs::CWD, &real, rustix::fs::CWD, &link, swap).unwrap();
                }
            });
            let texts: Vec<_> = (0..4000).filter_map(|_| read(root, "/swapped/x").ok()).collect();
            stopped.store(true, std::sync::atomic::Ordering::Relaxed);
            assert!(!texts.is_empty() && texts.iter().all(|text| text == "inside"));
        });
    });
}
