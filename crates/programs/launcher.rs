//! A program of a package. All of it is in the library beside it; `--cfg window` makes it the one with a window.

#[link(name = "bosun")]
unsafe extern "C" {
    #[cfg(not(window))]
    fn bosun_command_line() -> !;
    #[cfg(window)]
    fn bosun_window() -> !;
}

/// Here Tauri's packer writes the kind of the package, for an updater, which Bosun has not; it warns where it cannot.
#[cfg(window)]
#[used]
static KIND_OF_PACKAGE: [u8; 27] = *b"__TAURI_BUNDLE_TYPE_VAR_UNK";

fn main() {
    // SAFETY: both take nothing and need nothing to be set up.
    #[cfg(not(window))]
    unsafe {
        bosun_command_line()
    }
    #[cfg(window)]
    unsafe {
        bosun_window()
    }
}
