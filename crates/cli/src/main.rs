//! The command line's binary. Everything is in the library, so that packages can put both programs into one.

fn main() -> std::process::ExitCode {
    bosun_cli::main().into()
}
