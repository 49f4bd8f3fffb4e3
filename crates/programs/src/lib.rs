//! Both programs in one library, as packages for Linux install them: the core, nine tenths of each, is there once.
//!
//! **Owns** the two entries that the small programs of a package call (`launcher.rs` beside this crate's manifest). **Must
//! not** do anything of its own. How the library is made to start the command line without the window's libraries is told
//! in `xtask/src/bundle/optional.rs`.
#![allow(unsafe_code, reason = "an entry has to keep its name")]
#![allow(
    clippy::disallowed_methods,
    reason = "there is no main to return from: the program that called has another standard library"
)]

use std::panic::catch_unwind;
use std::process::exit;

/// What a program of Rust's ends with when it panics.
const PANICKED: u8 = 101;

/// `bosun`.
#[unsafe(no_mangle)]
pub extern "C" fn bosun_command_line() -> ! {
    run(bosun_cli::main)
}

/// `bosun-desktop`.
#[unsafe(no_mangle)]
pub extern "C" fn bosun_window() -> ! {
    run(bosun_desktop::main)
}

/// Ends the program from in here: what this library has not written out yet is known to its own standard library alone.
fn run(program: fn() -> u8) -> ! {
    exit(catch_unwind(program).unwrap_or(PANICKED).into())
}
