//! Disassembles modules, in the format of `spirv-dis`.

use rspirv::binary::Disassemble;
use tgsi_compiler::Code;

/// Disassembles a module; `None` if the code is not binary.
///
/// # Errors
/// The code is not a SPIR-V module.
pub fn disassemble(code: &Code) -> Option<Result<String, String>> {
    let Code::Binary(bytes) = code else { return None };
    if !bytes.starts_with(&spirv::MAGIC_NUMBER.to_le_bytes()) {
        return None;
    }
    let module = rspirv::dr::load_bytes(bytes).map_err(|error| error.to_string());
    Some(module.map(|module| module.disassemble() + "\n"))
}
