//! What every backend promises, as cases over `&dyn Backend` that begin with an empty path space. A new backend runs
//! them all with one call of `contract!`.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests make their own files and fail by panicking")]

#[cfg(target_os = "linux")]
mod beside;
mod change;
mod edit;
#[cfg(target_os = "linux")]
mod floods;
#[cfg(target_os = "linux")]
mod gone;
mod layers;
mod memory_store;
mod mounted;
mod places;
mod read;
mod search;
mod shared;
mod shell;
mod support;

use std::sync::Arc;

use bosun_backend::{
    Access, Backend, CompositeBackend, FilesystemBackend, FilesystemOptions, LocalShellBackend, LocalShellOptions,
    Route, StoreBackend, StoreScope, VirtualPath,
};

/// One test per case. `$open` gives `(guard, backend)`; the guard lives as long as the test.
macro_rules! cases {
    ($open:expr, $($group:ident: [$($case:ident),+ $(,)?]),+ $(,)?) => {
        $($(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                let (_guard, backend) = $open;
                crate::$group::$case(&backend).await;
            }
        )+)+
    };
}

macro_rules! contract {
    ($name:ident, $open:expr) => {
        mod $name {
            cases! {
                $open,
                read: [
                    what_was_written_is_read, a_window_of_lines, lines_end_at_lf_crlf_and_cr_only,
                    the_mark_in_front_is_not_part_of_the_text, nothing_asked_for_nothing_given, blank_files_say_so,
                    past_the_end_names_both_numbers, other_codecs_are_refused, media_come_as_bytes,
                    missing_files_and_folders, nothing_is_below_a_file, listings_are_sorted_and_flat, long_pages_are_cut_not_lost,
                ],
                change: [
                    parents_are_made, absent_means_absent, unchanged_means_unchanged, anything_means_anything,
                    the_witness_sees_before_and_after_once, a_refusing_witness_keeps_the_old_bytes,
                    a_file_is_no_folder, writers_of_a_new_folder_share_it, modes_are_told_and_given_back, deleting_a_file, deleting_a_tree, deleting_nothing_and_everything,
                    transfers_keep_their_order, writers_of_one_file_do_not_pass_each_other, names_are_only_names,
                ],
                edit: [
                    once_or_all, text_is_literal_and_does_not_overlap, checks_come_in_order,
                    a_newline_too_many_gets_a_hint, line_ends_stay_what_they_are, edits_expect_what_was_read,
                    edits_in_call_order_meet_each_other,
                ],
                search: [
                    patterns_find_files, a_search_below_a_folder, ignore_files_hold_in_both, git_is_never_searched,
                    hidden_files_only_by_name, literal_lines,
                    odd_characters_are_found_as_they_are, expressions, a_filter_on_names,
                    the_first_matches_in_order, line_numbers_are_those_of_reading, long_lines_are_cut_around_the_match,
                    binary_files_are_passed_over, a_nul_far_into_a_text_hides_nothing, unusable_patterns, a_cancelled_search,
                ],
            }
        }
    };
}

/// For every store. `$open` gives `(guard, two handles on it)`.
macro_rules! store_contract {
    ($name:ident, $open:expr) => {
        mod $name {
            cases! {
                $open,
                shared: [
                    only_what_was_seen_is_replaced, two_who_count_lose_nothing,
                    what_another_process_wrote_in_between_stays,
                    what_another_process_made_or_took_in_between_is_met, other_shapes_can_be_replaced,
                ],
            }
        }
    };
}

macro_rules! shell_contract {
    ($name:ident, $open:expr) => {
        mod $name {
            cases! {
                $open,
                shell: [
                    it_runs_in_the_project, a_text_of_any_size_is_read_by_pages, streams_are_told_apart, exit_codes_and_signals,
                    every_code_is_the_commands_own, words_of_a_way_there_are_output, refused_commands,
                    input_is_empty, time_runs_out_and_output_stays, a_cancel_ends_it, output_arrives_while_it_runs,
                    a_background_child_does_not_hold_the_result, nothing_that_a_command_started_survives_it,
                    long_output_keeps_both_ends, odd_bytes_are_shown_and_kept, no_secrets_in_the_environment,
                ],
            }
        }
    };
}

/// One test per case for commands behind an executor, which something watches over there.
macro_rules! watched_contract {
    ($name:ident, $open:expr) => {
        mod $name {
            cases! {
                $open,
                shell: [
                    a_way_that_breaks_off_leaves_what_came_and_no_outcome,
                ],
            }
        }
    };
}

/// One test per case for two handles on one place. `$open` gives `(guard, [backend, backend])`, between which nothing of this
/// process is shared that another process would not share with it.
macro_rules! handles_contract {
    ($name:ident, $open:expr) => {
        mod $name {
            cases! {
                $open,
                change: [
                    writers_by_two_ways_lose_nothing,
                ],
            }
        }
    };
}

/// One test per case for what has its folder on this machine. `$open` gives `(guard, backend, folder)`. A copied project has
/// none here: that it is a copy, and what its files do, the other contracts and `a_copied_project_is_a_copy` say.
#[cfg(target_os = "linux")]
macro_rules! beside_contract {
    ($name:ident, $open:expr) => {
        beside_contract!(
            $name,
            $open,
            [
                links_lead_in_and_never_out, links_on_the_way_mean_the_same, a_linked_ignore_file_is_none,
                pipes_sockets_and_devices, read_only_is_respected, hard_links_are_broken_and_it_is_said,
                a_change_keeps_mode_and_attributes_or_says_so, what_is_changed_in_between_stays,
                names_that_are_not_text_are_counted, no_link_leads_a_change_to_a_protected_name, the_folder_by_the_name_that_the_shell_has_for_it,
            ]
        );
    };
    ($name:ident, $open:expr, [$($case:ident),+ $(,)?]) => {
        mod $name {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    let (_guard, backend, folder) = $open;
                    crate::beside::$case(&backend, &folder).await;
                }
            )+
        }
    };
}

/// As `beside_contract!`, for this machine's own files: the rules of names ask [`Backend::direct`] there, and what a shell
/// calls its folder is a path of this machine.
#[cfg(target_os = "linux")]
macro_rules! beside_contract_of_files {
    ($name:ident, $open:expr) => {
        beside_contract!(
            $name,
            $open,
            [
                links_lead_in_and_never_out,
                links_on_the_way_mean_the_same,
                a_linked_ignore_file_is_none,
                pipes_sockets_and_devices,
                read_only_is_respected,
                hard_links_are_broken_and_it_is_said,
                a_change_keeps_mode_and_attributes_or_says_so,
                what_is_changed_in_between_stays,
                names_that_are_not_text_are_counted,
            ]
        );
    };
}

contract!(filesystem, {
    let folder = tempfile::tempdir().unwrap();
    let backend = crate::files(&folder);
    (folder, backend)
});
contract!(filesystem_stepwise, {
    let folder = tempfile::tempdir().unwrap();
    let backend = crate::FilesystemBackend::open_stepwise(folder.path(), crate::FilesystemOptions::default()).unwrap();
    (folder, backend)
});
contract!(local_shell, {
    let folder = tempfile::tempdir().unwrap();
    let backend = crate::local(&folder);
    (folder, backend)
});
shell_contract!(local_shell_commands, {
    let folder = tempfile::tempdir().unwrap();
    let backend = crate::local(&folder);
    (folder, backend)
});
shell_contract!(local_shell_commands_in_a_sandbox, {
    let folder = tempfile::tempdir().unwrap();
    let Some(backend) = crate::places::commands_in_a_sandbox(folder.path()).await else { return };
    (folder, backend)
});
contract!(state, ((), bosun_backend::StateBackend::new([])));
contract!(store, ((), crate::stored("store")));
contract!(store_in_the_database, {
    let database = bosun_store::Database::in_memory().unwrap();
    let store = bosun_store::KeyValueStore::new(database, std::sync::Arc::new(bosun_agent::SystemClock));
    ((), crate::StoreBackend::new(std::sync::Arc::new(store), crate::StoreScope::User.namespace("store").unwrap()))
});
store_contract!(shared_in_memory, {
    let store: std::sync::Arc<dyn bosun_backend::Store> =
        std::sync::Arc::new(crate::memory_store::MemoryStore::default());
    ((), [std::sync::Arc::clone(&store), store])
});
store_contract!(shared_in_one_database, {
    let database = bosun_store::Database::in_memory().unwrap();
    ((), [crate::values(&database), crate::values(&database)])
});
// As two processes have it: a connection each, and nothing else in common.
store_contract!(shared_in_a_file, {
    let folder = tempfile::tempdir().unwrap();
    let open = || crate::values(&bosun_store::Database::open(folder.path()).unwrap());
    let handles = [open(), open()];
    (folder, handles)
});
contract!(composite_default, {
    let folder = tempfile::tempdir().unwrap();
    let backend = crate::composite(crate::files(&folder), vec![]);
    (folder, backend)
});
contract!(composite_route, {
    let folder = tempfile::tempdir().unwrap();
    let routes = vec![
        ("/deep/mount", std::sync::Arc::new(crate::files(&folder)) as crate::Shared),
        ("/deep", std::sync::Arc::new(crate::stored("other"))),
        ("/deep/mount_evil", std::sync::Arc::new(crate::stored("evil"))),
    ];
    let all = crate::composite(bosun_backend::StateBackend::new([]), routes);
    (folder, crate::mounted::Mounted { prefix: crate::support::path("/deep/mount"), all })
});
contract!(composite_route_of_the_store, {
    let all = crate::composite(
        bosun_backend::StateBackend::new([]),
        vec![("/memories", std::sync::Arc::new(crate::stored("memories")) as crate::Shared)],
    );
    ((), crate::mounted::Mounted { prefix: crate::support::path("/memories"), all })
});
shell_contract!(composite_commands, {
    let folder = tempfile::tempdir().unwrap();
    let routes = vec![("/memories", std::sync::Arc::new(crate::stored("memories")) as crate::Shared)];
    let backend = crate::composite(crate::local(&folder), routes);
    (folder, backend)
});
contract!(app_mounts_of_the_project, {
    let folder = tempfile::tempdir().unwrap();
    let all = crate::app_mounts(&folder).await;
    (folder, crate::mounted::Mounted { prefix: crate::support::path("/memories/project"), all })
});
contract!(app_mounts_of_the_session, {
    let folder = tempfile::tempdir().unwrap();
    let all = crate::app_mounts(&folder).await;
    (folder, crate::mounted::Mounted { prefix: crate::support::path("/large_tool_results"), all })
});
contract!(sandbox_here, {
    let folder = tempfile::tempdir().unwrap();
    let backend = crate::places::here(folder.path()).await;
    (folder, backend)
});
shell_contract!(sandbox_here_commands, {
    let folder = tempfile::tempdir().unwrap();
    let backend = crate::places::here(folder.path()).await;
    (folder, backend)
});
contract!(sandbox_bubblewrap, {
    let folder = tempfile::tempdir().unwrap();
    let Some(backend) = crate::places::sandbox(folder.path()).await else { return };
    (folder, backend)
});
shell_contract!(sandbox_bubblewrap_commands, {
    let folder = tempfile::tempdir().unwrap();
    let Some(backend) = crate::places::sandbox(folder.path()).await else { return };
    (folder, backend)
});
contract!(sandbox_ssh, {
    let Some(machine) = crate::places::machine() else { return };
    let backend = machine.backend().await;
    (machine, backend)
});
shell_contract!(sandbox_ssh_commands, {
    let Some(machine) = crate::places::machine() else { return };
    let backend = machine.backend().await;
    (machine, backend)
});
contract!(sandbox_container, {
    let Some(place) = crate::places::container().await else { return };
    (place.folder, place.backend)
});
shell_contract!(sandbox_container_commands, {
    let Some(place) = crate::places::container().await else { return };
    (place.folder, place.backend)
});

contract!(sandbox_container_copy, {
    let Some(place) = crate::places::container_with_a_copy_of_nothing().await else { return };
    (place.folder, place.backend)
});
shell_contract!(sandbox_container_copy_commands, {
    let Some(place) = crate::places::container_with_a_copy_of_nothing().await else { return };
    (place.folder, place.backend)
});
contract!(late_folder, {
    let folder = tempfile::tempdir().unwrap();
    let backend = crate::layers::late_folder(folder.path());
    (folder, backend)
});
contract!(path_rules, {
    let folder = tempfile::tempdir().unwrap();
    let backend = crate::layers::permitted(crate::files(&folder));
    (folder, backend)
});
shell_contract!(path_rules_commands, {
    let folder = tempfile::tempdir().unwrap();
    let backend = crate::layers::permitted(crate::local(&folder));
    (folder, backend)
});
contract!(late_place, {
    let folder = tempfile::tempdir().unwrap();
    let backend = crate::layers::late_place(folder.path(), false).await;
    (folder, backend)
});
shell_contract!(late_place_commands, {
    let folder = tempfile::tempdir().unwrap();
    let backend = crate::layers::late_place(folder.path(), false).await;
    (folder, backend)
});
contract!(sandbox_container_that_was_there, {
    let Some(there) = crate::places::existing().await else { return };
    let backend = there.backend().await;
    (there, backend)
});
shell_contract!(sandbox_container_that_was_there_commands, {
    let Some(there) = crate::places::existing().await else { return };
    let backend = there.backend().await;
    (there, backend)
});
watched_contract!(watched_here, {
    let folder = tempfile::tempdir().unwrap();
    let backend = crate::places::here(folder.path()).await;
    (folder, backend)
});
watched_contract!(watched_in_a_sandbox, {
    let folder = tempfile::tempdir().unwrap();
    let Some(backend) = crate::places::commands_in_a_sandbox(folder.path()).await else { return };
    (folder, backend)
});
watched_contract!(watched_bubblewrap, {
    let folder = tempfile::tempdir().unwrap();
    let Some(backend) = crate::places::sandbox(folder.path()).await else { return };
    (folder, backend)
});
watched_contract!(watched_ssh, {
    let Some(machine) = crate::places::machine() else { return };
    let backend = machine.backend().await;
    (machine, backend)
});
watched_contract!(watched_container, {
    let Some(place) = crate::places::container().await else { return };
    (place.folder, place.backend)
});
watched_contract!(watched_container_copy, {
    let Some(place) = crate::places::container_with_a_copy_of_nothing().await else { return };
    (place.folder, place.backend)
});
watched_contract!(watched_container_that_was_there, {
    let Some(there) = crate::places::existing().await else { return };
    let backend = there.backend().await;
    (there, backend)
});
watched_contract!(watched_late_place, {
    let folder = tempfile::tempdir().unwrap();
    let backend = crate::layers::late_place(folder.path(), false).await;
    (folder, backend)
});
handles_contract!(two_filesystems, {
    let folder = tempfile::tempdir().unwrap();
    let handles: crate::change::Handles = [Box::new(crate::files(&folder)), Box::new(crate::local(&folder))];
    (folder, handles)
});
handles_contract!(two_here, {
    let folder = tempfile::tempdir().unwrap();
    let handles: crate::change::Handles =
        [Box::new(crate::places::here(folder.path()).await), Box::new(crate::places::here(folder.path()).await)];
    (folder, handles)
});
handles_contract!(here_and_the_filesystem, {
    let folder = tempfile::tempdir().unwrap();
    let handles: crate::change::Handles =
        [Box::new(crate::places::here(folder.path()).await), Box::new(crate::files(&folder))];
    (folder, handles)
});
handles_contract!(here_without_a_program_for_locks, {
    let folder = tempfile::tempdir().unwrap();
    let open = async || crate::places::without_locks(folder.path()).await;
    let handles: crate::change::Handles = [Box::new(open().await), Box::new(open().await)];
    (folder, handles)
});
handles_contract!(two_bubblewraps, {
    let folder = tempfile::tempdir().unwrap();
    let (Some(one), Some(other)) =
        (crate::places::sandbox(folder.path()).await, crate::places::sandbox(folder.path()).await)
    else {
        return;
    };
    let handles: crate::change::Handles = [Box::new(one), Box::new(other)];
    (folder, handles)
});
handles_contract!(bubblewrap_and_the_filesystem, {
    let folder = tempfile::tempdir().unwrap();
    let Some(sandbox) = crate::places::sandbox(folder.path()).await else { return };
    let handles: crate::change::Handles = [Box::new(sandbox), Box::new(crate::files(&folder))];
    (folder, handles)
});
handles_contract!(two_ssh, {
    let Some(machine) = crate::places::machine() else { return };
    let handles: crate::change::Handles = [Box::new(machine.backend().await), Box::new(machine.backend().await)];
    (machine, handles)
});
handles_contract!(two_containers, {
    let folder = tempfile::tempdir().unwrap();
    let (Some(one), Some(other)) =
        (crate::places::container_of(folder.path()).await, crate::places::container_of(folder.path()).await)
    else {
        return;
    };
    let handles: crate::change::Handles = [Box::new(one), Box::new(other)];
    (folder, handles)
});
handles_contract!(a_container_and_the_filesystem, {
    let folder = tempfile::tempdir().unwrap();
    let Some(container) = crate::places::container_of(folder.path()).await else { return };
    let handles: crate::change::Handles = [Box::new(container), Box::new(crate::files(&folder))];
    (folder, handles)
});
handles_contract!(a_late_folder_and_the_filesystem, {
    let folder = tempfile::tempdir().unwrap();
    let handles: crate::change::Handles =
        [Box::new(crate::layers::late_folder(folder.path())), Box::new(crate::files(&folder))];
    (folder, handles)
});
handles_contract!(path_rules_and_the_filesystem, {
    let folder = tempfile::tempdir().unwrap();
    let handles: crate::change::Handles =
        [Box::new(crate::layers::permitted(crate::files(&folder))), Box::new(crate::files(&folder))];
    (folder, handles)
});
handles_contract!(two_late_places, {
    let folder = tempfile::tempdir().unwrap();
    let open = async || crate::layers::late_place(folder.path(), false).await;
    let handles: crate::change::Handles = [Box::new(open().await), Box::new(open().await)];
    (folder, handles)
});
handles_contract!(two_of_a_container_that_was_there, {
    let Some(there) = crate::places::existing().await else { return };
    let handles: crate::change::Handles = [Box::new(there.backend().await), Box::new(there.backend().await)];
    (there, handles)
});
#[cfg(target_os = "linux")]
beside_contract_of_files!(beside_filesystem, {
    let folder = tempfile::tempdir().unwrap();
    let (backend, at) = (crate::files(&folder), folder.path().to_owned());
    (folder, backend, at)
});
#[cfg(target_os = "linux")]
beside_contract_of_files!(beside_filesystem_stepwise, {
    let folder = tempfile::tempdir().unwrap();
    let backend = crate::FilesystemBackend::open_stepwise(folder.path(), crate::FilesystemOptions::default()).unwrap();
    let at = folder.path().to_owned();
    (folder, backend, at)
});
#[cfg(target_os = "linux")]
beside_contract_of_files!(beside_local_shell, {
    let folder = tempfile::tempdir().unwrap();
    let (backend, at) = (crate::local(&folder), folder.path().to_owned());
    (folder, backend, at)
});
#[cfg(target_os = "linux")]
beside_contract_of_files!(beside_late_folder, {
    let folder = tempfile::tempdir().unwrap();
    let (backend, at) = (crate::layers::late_folder(folder.path()), folder.path().to_owned());
    (folder, backend, at)
});
#[cfg(target_os = "linux")]
beside_contract_of_files!(beside_path_rules, {
    let folder = tempfile::tempdir().unwrap();
    let (backend, at) = (crate::layers::permitted(crate::files(&folder)), folder.path().to_owned());
    (folder, backend, at)
});
#[cfg(target_os = "linux")]
beside_contract!(beside_late_place, {
    let folder = tempfile::tempdir().unwrap();
    let (backend, at) = (crate::layers::late_place(folder.path(), true).await, folder.path().to_owned());
    (folder, backend, at)
});
#[cfg(target_os = "linux")]
beside_contract!(beside_here, {
    let folder = tempfile::tempdir().unwrap();
    let (backend, at) = (crate::places::here(folder.path()).await, folder.path().to_owned());
    (folder, backend, at)
});
#[cfg(target_os = "linux")]
beside_contract!(beside_bubblewrap, {
    let folder = tempfile::tempdir().unwrap();
    let Some(backend) = crate::places::sandbox(folder.path()).await else { return };
    let at = folder.path().to_owned();
    (folder, backend, at)
});
#[cfg(target_os = "linux")]
beside_contract!(beside_ssh, {
    let Some(machine) = crate::places::machine() else { return };
    let (backend, at) = (machine.backend().await, machine.root());
    (machine, backend, at)
});
#[cfg(target_os = "linux")]
beside_contract!(beside_container, {
    let Some(place) = crate::places::container().await else { return };
    let at = place.folder.path().to_owned();
    (place.folder, place.backend, at)
});

/// Commands run in the default and nowhere else: what a route has is not in their folder.
#[tokio::test]
async fn a_composite_runs_commands_in_its_default_only() {
    let folder = tempfile::tempdir().unwrap();
    let routed = tempfile::tempdir().unwrap();
    let backend = composite(local(&folder), vec![("/other", Arc::new(local(&routed)) as Shared)]);
    support::given(&backend, &[("/a.txt", "default\n"), ("/other/a.txt", "route\n")]).await;
    assert_eq!(shell::run(&backend, "cat a.txt; ls").await.output, "default\na.txt\n");
    let stored = composite(bosun_backend::StateBackend::new([]), vec![("/other", Arc::new(local(&routed)) as Shared)]);
    assert!(stored.shell().is_none(), "a route's shell is nobody's");
}

/// What a person has set up for their own work on a machine is theirs: a command of its own, ports that are handed on.
#[tokio::test]
async fn what_a_person_set_up_for_themselves_on_a_machine_is_left_out() {
    let Some(machine) = places::machine() else { return };
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let own = format!(
        "  RemoteCommand echo not this\n  LocalForward 127.0.0.1:{free} 127.0.0.1:1\n  LocalForward 127.0.0.1:{port} \
         127.0.0.1:1\n  ExitOnForwardFailure yes\n"
    );
    let config = std::fs::read_to_string(machine.config()).unwrap() + &own;
    std::fs::write(machine.config(), config).unwrap();
    let backend = machine.backend().await;
    support::given(&backend, &[("/a.txt", "there\n")]).await;
    assert_eq!(shell::run(&backend, "cat a.txt").await.output, "there\n");
    assert_eq!(machine.welcomed(), 1, "it came over the one connection");
    assert!(std::net::TcpStream::connect(("127.0.0.1", free)).is_err(), "nothing is handed on");
}

/// A container that was made goes with the app, also where that ends without a word.
#[tokio::test]
async fn a_container_goes_when_the_app_is_killed() {
    const NAME: &str = "a_container_goes_when_the_app_is_killed";
    if let Some(label) = std::env::var_os("BOSUN_TEST_KILLED") {
        let _place = places::labelled_container(label.to_str().unwrap()).await.unwrap();
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).unwrap();
        unreachable!();
    }
    if places::container().await.is_none() {
        return;
    }
    let label = format!("bosun-test-killed={}", std::process::id());
    let mut app = std::process::Command::new(std::env::current_exe().unwrap());
    app.args(["--exact", NAME, "--nocapture"]).env("BOSUN_TEST_KILLED", &label);
    let ended = app.output().unwrap();
    assert!(!ended.status.success() && ended.status.code().is_none(), "{}", String::from_utf8_lossy(&ended.stderr));
    for _ in 0..300 {
        if places::labelled(&label).is_empty() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("a container is left: {}", places::labelled(&label));
}

/// Nobody knows how far the engine came when it was last waited for.
#[tokio::test]
async fn a_container_that_nobody_waits_for_does_not_stay() {
    if places::container().await.is_none() {
        return;
    }
    let label = format!("bosun-test-given-up={}", std::process::id());
    for wait in [20, 60, 120, 200, 300, 450, 650] {
        let made = places::labelled_container(&label);
        tokio::time::timeout(std::time::Duration::from_millis(wait), made).await.ok();
    }
    for _ in 0..300 {
        if places::labelled(&label).is_empty() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("a container is left: {}", places::labelled(&label));
}

/// A place that is not there any more, or is not the one that is known, says so; it is never written to.
#[tokio::test]
async fn another_machine_is_not_the_known_one() {
    let Some(machine) = places::machine() else { return };
    let backend = machine.backend().await;
    support::given(&backend, &[("/a", "x")]).await;
    machine.forget();
    // Whoever is connected stays so; whoever comes is told.
    let backend = machine.backend().await;
    let refused = support::write(&backend, "/a", "y", bosun_backend::Expect::Anything).await.unwrap_err();
    assert!(matches!(refused, bosun_backend::BackendError::Unreachable { .. }), "{refused}");
    assert!(refused.to_string().contains("connect once with `ssh there`"), "{refused}");
}

/// What cannot be had is named, with what the engine said last and what to do.
#[tokio::test]
async fn an_image_that_is_nowhere_is_said() {
    let Some(said) = places::no_such_image().await else { return };
    assert!(
        said.starts_with("no container could be started from 'localhost:1/bosun-test-nowhere': /usr/bin/podman"),
        "{said}"
    );
    assert!(!said.contains('\n') && said.contains("name a running container, an image"), "{said}");
}

/// What somebody else made is worked in where it works, and is left running.
#[tokio::test]
async fn a_container_that_was_there_stays() {
    let Some(there) = places::existing().await else { return };
    let backend = there.backend().await;
    support::given(&backend, &[("/a.txt", "from here\n")]).await;
    assert_eq!(shell::run(&backend, "cat a.txt; pwd").await.output, "from here\n/tmp\n");
    drop(backend);
    // What an end would remove would be gone while these come and go.
    for _ in 0..5 {
        drop(there.backend().await);
    }
    assert_eq!(there.says(&["cat", "/tmp/a.txt"]), "from here");
}

/// A copied project is there whole, and what is done to it is not done to the person's own.
#[tokio::test]
async fn a_copied_project_is_a_copy() {
    let Some(place) = places::container_with_a_copy().await else { return };
    assert_eq!(support::text(&place.backend, "/deep/a.txt").await, "from here\n");
    support::given(&place.backend, &[("/deep/a.txt", "from there\n"), ("/new.txt", "new\n")]).await;
    assert_eq!(shell::run(&place.backend, "cat deep/a.txt new.txt").await.output, "from there\nnew\n");
    assert_eq!(std::fs::read_to_string(place.folder.path().join("deep/a.txt")).unwrap(), "from here\n");
    assert!(!place.folder.path().join("new.txt").exists());
}

/// Everything goes over one connection, which comes again where it went and is gone with its backend.
#[tokio::test]
async fn another_machine_is_greeted_once() {
    let Some(machine) = places::machine() else { return };
    let backend = machine.backend().await;
    assert_eq!(machine.welcomed(), 1, "it is asked what its root is called");
    for number in 0..10 {
        support::given(&backend, &[(&format!("/f{number}"), "x")]).await;
    }
    for _ in 0..5 {
        assert_eq!(shell::run(&backend, "echo here").await.output, "here\n");
    }
    let many = futures_util::future::join_all((0..30).map(|_| shell::run(&backend, "echo there"))).await;
    // Where many shells start at once, the start files of this machine's user may have something to say before.
    assert!(many.iter().all(|ran| ran.output.ends_with("there\n")), "{many:?}");
    assert_eq!((machine.welcomed(), machine.lines().len()), (1, 1));
    // The connection breaks.
    places::ran("kill", &["-9", &machine.lines()[0].to_string()]);
    support::given(&backend, &[("/again", "x")]).await;
    // What met the broken end connected by itself.
    assert!((2..=3).contains(&machine.welcomed()), "{}", machine.welcomed());
    assert_eq!(machine.lines().len(), 1);
    drop(backend);
    for _ in 0..200 {
        if machine.lines().is_empty() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("a connection is left: {:?}", machine.lines());
}

/// The connection is cut while a command runs: what came stays, and nobody says that it did not run.
#[tokio::test]
async fn a_connection_that_is_cut_leaves_what_came() {
    let Some(machine) = places::machine() else { return };
    let backend = machine.backend().await;
    let until = std::time::Duration::from_secs(60);
    let cut = async {
        let mark = machine.root().join("up");
        while !mark.exists() {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        places::ran("kill", &["-9", &machine.lines()[0].to_string()]);
    };
    let both = async { tokio::join!(shell::run(&backend, "echo early; touch up; sleep 60"), cut).0 };
    let result = tokio::time::timeout(until, both).await.unwrap();
    shell::assert_broke_off(&result);
    assert!(result.output.starts_with("early\n"), "{}", result.output);
}

/// A container that ends with a command in it leaves what came; the next one is not run, and it is said why.
#[tokio::test]
async fn a_container_that_ends_is_told_from_one_that_is_gone() {
    let Some(place) = places::container().await else { return };
    let result = shell::run(&place.backend, "echo early; kill -TERM 1; sleep 60").await;
    shell::assert_broke_off(&result);
    assert!(result.output.starts_with("early\n"), "{}", result.output);
    let refused = shell::refused(&place.backend, "echo never").await;
    assert!(matches!(refused, bosun_backend::BackendError::Unreachable { .. }), "{refused}");
    assert!(refused.to_string().contains("tells whether it runs"), "{refused}");
    let refused = support::write(&place.backend, "/a", "y", bosun_backend::Expect::Anything).await.unwrap_err();
    assert!(matches!(refused, bosun_backend::BackendError::Unreachable { .. }), "{refused}");
}

type Shared = Arc<dyn Backend>;

fn composite(default: impl Backend + 'static, routes: Vec<(&str, Shared)>) -> CompositeBackend {
    let route = |(prefix, backend): (&str, Shared)| Route {
        prefix: VirtualPath::parse(prefix).unwrap(),
        backend,
        access: Access::ReadWrite,
    };
    CompositeBackend::new(Arc::new(default), routes.into_iter().map(route).collect()).unwrap()
}

async fn app_mounts(project: &tempfile::TempDir) -> CompositeBackend {
    let mounts = bosun_backend::AppMounts {
        project: Arc::new(files(project)),
        store: Some(Arc::new(memory_store::MemoryStore::default())),
        project_id: "project".into(),
        files: std::collections::BTreeMap::new(),
        blobs: None,
        routes: Vec::new(),
    };
    mounts.mount().await.unwrap()
}

fn stored(kind: &str) -> StoreBackend {
    StoreBackend::new(Arc::new(memory_store::MemoryStore::default()), StoreScope::User.namespace(kind).unwrap())
}

fn values(database: &Arc<bosun_store::Database>) -> Arc<dyn bosun_backend::Store> {
    Arc::new(bosun_store::KeyValueStore::new(Arc::clone(database), Arc::new(bosun_agent::SystemClock)))
}

fn files(folder: &tempfile::TempDir) -> FilesystemBackend {
    FilesystemBackend::open(folder.path(), FilesystemOptions::default()).unwrap()
}

fn local(folder: &tempfile::TempDir) -> LocalShellBackend {
    LocalShellBackend::open(folder.path(), LocalShellOptions::default()).unwrap()
}
