//! Vulkan's rules for the interface of two modules: every input has an output at its location, of the same type, and
//! either both or neither are per patch.

use std::path::Path;
use std::process::Command;

use tgsi_compiler::reflection::{Reflection, Varying};

/// Runs `spirv-val` on a module.
///
/// # Errors
/// Its message, if it rejects the module.
pub fn validate(folder: &Path, name: &str, module: &[u8]) -> Result<(), String> {
    let file = folder.join(name);
    std::fs::write(&file, module).expect("a file");
    let output = Command::new("spirv-val").args(["--target-env", "vulkan1.1"]).arg(&file).output().expect("spirv-val");
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()),
    }
}

/// Compares the reflected interfaces of two stages.
///
/// # Errors
/// The input without an output.
pub fn link(writer: &Reflection, reader: &Reflection) -> Result<(), String> {
    let key = |varying: &Varying| (varying.location, varying.component, varying.ty, varying.patch);
    for input in &reader.inputs {
        if !writer.outputs.iter().any(|output| key(output) == key(input)) {
            return Err(format!("no output for {input:?}"));
        }
        // Most devices have 32 locations; linked shaders may have more slots of patches.
        if !input.patch && input.location >= 32 {
            return Err(format!("no such location: {input:?}"));
        }
    }
    Ok(())
}
