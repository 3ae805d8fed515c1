//! `man` and `completions`: manual pages and shell completions, generated from the definition of the arguments.

use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Arguments;
use crate::output;
use crate::status::{Failure, Status};

/// Prints completions for a shell.
pub fn completions(shell: Shell) -> Result<Status, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "tgsic", &mut text);
    output::write_stdout(&text)?;
    Ok(Status::Success)
}

/// Prints tgsic(1), or writes it and a page for each subcommand to a folder.
pub fn pages(folder: Option<&Path>) -> Result<Status, Failure> {
    let command = Arguments::command();
    if let Some(folder) = folder {
        let failure = |error| Failure::Write { path: folder.to_owned(), error };
        std::fs::create_dir_all(folder).map_err(failure)?;
        clap_mangen::generate_to(command, folder).map_err(failure)?;
    } else {
        let mut text = Vec::new();
        let rendered = clap_mangen::Man::new(command).render(&mut text);
        rendered.map_err(|error| Failure::Usage(error.to_string()))?;
        output::write_stdout(&text)?;
    }
    Ok(Status::Success)
}
