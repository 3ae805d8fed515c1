//! `passes`: lists the passes.

use tgsi_ir::passes::profiles::PROFILES;

use crate::status::{Failure, Status};
use crate::{output, pass_list};

/// Lists the passes. A star marks those of the pipelines.
pub fn list() -> Result<Status, Failure> {
    let mut text = String::new();
    for pass in pass_list::all() {
        let star = if pass.is_in_pipelines { '*' } else { ' ' };
        text += &format!("{star} {:<36} {}\n", pass.name, pass.about);
    }
    text += "* part of the pipelines `ssa` and `opt`\n\nProfiles of targets, which drivers run when they lower:\n";
    for profile in PROFILES {
        text += &format!("  {:<36} {}\n", profile.name, profile.about);
    }
    output::write_stdout(text.as_bytes())?;
    Ok(Status::Success)
}
