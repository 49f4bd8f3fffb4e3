//! The desktop binary. Everything is in the library, so that tests can drive it.
#![cfg_attr(all(not(debug_assertions), target_os = "windows"), windows_subsystem = "windows")]

fn main() -> std::process::ExitCode {
    bosun_desktop::main().into()
}
