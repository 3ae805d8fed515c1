//! SPIR-V text: `spirv-as` of SPIRV-Tools assembles it, so that it is read as a module.

use std::io::{Error, ErrorKind, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// Whether an input is SPIR-V text: by its extension, or by its first instruction.
pub fn is_assembly(path: &Path, bytes: &[u8]) -> bool {
    let extension = path.extension().and_then(std::ffi::OsStr::to_str);
    if matches!(extension, Some("spvasm")) {
        return true;
    }
    let mut rest = bytes;
    loop {
        rest = rest.trim_ascii_start();
        if !rest.starts_with(b";") {
            return rest.starts_with(b"OpCapability ");
        }
        let end = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        rest = rest.get(end..).unwrap_or_default();
    }
}

/// The words of a module in text form.
///
/// # Errors
/// `spirv-as` is missing, or rejects the text.
pub fn assemble(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let mut command = Command::new("spirv-as");
    // The newest version reads all texts: numbers of values stay as they are written.
    command.args(["--preserve-numeric-ids", "--target-env", "spv1.6", "-o", "-", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| match error.kind() {
        ErrorKind::NotFound => Error::new(error.kind(), "SPIR-V text needs spirv-as (package spirv-tools)"),
        _ => error,
    })?;
    let mut input = child.stdin.take().ok_or(ErrorKind::BrokenPipe)?;
    let text = bytes.to_vec();
    // The process may write before it has read everything.
    let writer = std::thread::spawn(move || input.write_all(&text));
    let mut words = Vec::new();
    let mut messages = String::new();
    if let Some(output) = &mut child.stdout {
        output.read_to_end(&mut words)?;
    }
    if let Some(errors) = &mut child.stderr {
        errors.read_to_string(&mut messages)?;
    }
    let is_success = child.wait()?.success();
    // A process that fails need not read its input.
    let written = writer.join().unwrap_or(Ok(()));
    if !is_success {
        let message = messages.lines().next().unwrap_or("spirv-as rejects the text").to_owned();
        return Err(Error::new(ErrorKind::InvalidData, message));
    }
    written.map(|()| words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_recognized_by_its_first_instruction() {
        let text = b"; SPIR-V\n; Version: 1.0\n\n               OpCapability Shader\n";
        assert!(is_assembly(Path::new("a.txt"), text));
        assert!(is_assembly(Path::new("a.spvasm"), b""));
        assert!(!is_assembly(Path::new("a.tgsi"), b"; OpCapability \nFRAG\n"));
    }
}
