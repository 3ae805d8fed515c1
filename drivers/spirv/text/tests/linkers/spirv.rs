//! Vulkan's rules for the interface of two modules: every input has an output at its location, of the same type, and
//! either both or neither are per patch.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

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
pub fn link(writer: &str, reader: &str) -> Result<(), String> {
    let [writer, reader]: [Value; 2] = [writer, reader].map(|json| serde_json::from_str(json).expect("JSON"));
    let list = |json: &Value, name: &str| json[name].as_array().cloned().unwrap_or_default();
    let outputs = list(&writer, "outputs");
    for input in list(&reader, "inputs") {
        let is_same =
            |output: &Value| ["location", "component", "type", "patch"].iter().all(|key| output[key] == input[key]);
        if !outputs.iter().any(is_same) {
            return Err(format!("no output for {input}"));
        }
        // Most devices have 32 locations; linked shaders may have more slots of patches.
        if input["patch"] == false && input["location"].as_u64().is_none_or(|location| location >= 32) {
            return Err(format!("no such location: {input}"));
        }
    }
    Ok(())
}
