//! What is made from the command line's own description: completions for shells, and manual pages.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::failure::Failure;
use crate::{Cli, Exit};

#[derive(Debug, Args)]
#[command(after_help = "\
For example, for bash:  bosun completions bash > ~/.local/share/bash-completion/completions/bosun
The packages bring the files for bash, zsh and fish.")]
pub(crate) struct CompletionsArgs {
    /// The shell that reads them.
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManualArgs {
    /// The folder the pages are written into.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub(crate) fn completions(args: &CompletionsArgs) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "bosun", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(Exit::Done)
}

/// One page for the program and one for each of its commands.
pub(crate) fn manual(args: &ManualArgs) -> Result<Exit, Failure> {
    let folder = &args.folder;
    clap_mangen::generate_to(Cli::command(), folder)
        .map_err(|source| Failure::Manual { folder: folder.clone(), source })?;
    Ok(Exit::Done)
}
