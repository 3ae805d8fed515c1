//! What a library on the way would get wrong without a word, or panics at, found in the module before it is asked.

use spirv::Op;

use crate::driver::TextTarget;
use crate::error::TextError;

/// Refuses a module that would not mean the same in the language.
///
/// # Errors
/// [`TextError::Lacks`].
pub fn refuse(words: &[u32], target: &TextTarget) -> Result<(), TextError> {
    let language = target.language;
    let by_naga = !language.is_by_cross();
    let mut at = 5;
    while let Some(&first) = words.get(at) {
        let length = (first >> 16).max(1) as usize;
        let operands = words.get(at + 1..at + length).unwrap_or_default();
        let opcode = first & 0xffff;
        let is = |op: Op| opcode == op as u32;
        // naga carries on with a vector where a bit cast makes 64 bits.
        let is_wide = (is(Op::TypeInt) || is(Op::TypeFloat)) && operands.get(1) == Some(&64);
        if is_wide && by_naga {
            return Err(TextError::Lacks(language.name(), "64-bit numbers on this way".to_owned()));
        }
        if by_naga && let Some(what) = lacking(opcode, operands) {
            return Err(TextError::Lacks(language.name(), format!("{what} on this way")));
        }
        at += length;
    }
    Ok(())
}

/// What naga does not know, or panics at, of types.
fn lacking(opcode: u32, operands: &[u32]) -> Option<&'static str> {
    // Result, texel, dimensionality, depth, layers, samples, sampled, format.
    if opcode != Op::TypeImage as u32 || operands.len() < 8 {
        return None;
    }
    let (dim, layers, samples, sampled, format) =
        (operands[2], operands[4] != 0, operands[5] != 0, operands[6], operands[7]);
    if dim == spirv::Dim::DimBuffer as u32 {
        return Some("texel buffers");
    }
    if samples && layers {
        return Some("multisampled textures with layers");
    }
    if sampled == 2 && samples {
        return Some("multisampled images");
    }
    if sampled == 2 && dim == spirv::Dim::DimCube as u32 {
        return Some("images of cubes");
    }
    if sampled == 2 && format == spirv::ImageFormat::Unknown as u32 {
        return Some("images without a format");
    }
    None
}
