//! Spells a module so that SPIRV-Cross writes what it means.
//!
//! | module | spelt | because SPIRV-Cross |
//! |---|---|---|
//! | `OpBitcast` of a 64-bit float to two words, and back | `UnpackDouble2x32`, `PackDouble2x32` | writes nothing for it in GLSL |

use std::collections::{HashMap, HashSet};

use spirv::{GlslStd450Op, Op};

/// The words of a module, spelt.
pub fn spell_cross(words: &[u32]) -> Vec<u32> {
    let mut out = words.get(..5).unwrap_or_default().to_vec();
    // 64-bit floats, vectors of two integers, and what is of these types.
    let (mut doubles, mut pairs) = (HashSet::new(), HashSet::new());
    let mut types: HashMap<u32, u32> = HashMap::new();
    let imports = has_import(words);
    let mut glsl = None;
    let mut at = 5;
    while let Some(&first) = words.get(at) {
        let length = (first >> 16).max(1) as usize;
        let instruction = words.get(at..at + length).unwrap_or_default();
        let is = |op: Op| first & 0xffff == op as u32;
        let mut spelt = None;
        match *instruction {
            [_, id, ..] if is(Op::ExtInstImport) => glsl = Some(id),
            // The set, where the module does not have it.
            [..] if is(Op::MemoryModel) && !imports => {
                let id = words.get(3).copied().unwrap_or(1);
                if let Some(bound) = out.get_mut(3) {
                    *bound = id + 1;
                }
                glsl = Some(id);
                out.extend([6 << 16 | Op::ExtInstImport as u32, id]);
                let name = b"GLSL.std.450\0\0\0\0";
                out.extend(name.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])));
            }
            [_, id, 64, ..] if is(Op::TypeFloat) => {
                doubles.insert(id);
            }
            [_, id, _, 2] if is(Op::TypeVector) => {
                pairs.insert(id);
            }
            [_, ty, id, value] if is(Op::Bitcast) => {
                let from = types.get(&value).copied().unwrap_or_default();
                let op = match (doubles.contains(&from), doubles.contains(&ty)) {
                    (true, false) if pairs.contains(&ty) => Some(GlslStd450Op::UnpackDouble2x32),
                    (false, true) if pairs.contains(&from) => Some(GlslStd450Op::PackDouble2x32),
                    _ => None,
                };
                spelt = op.zip(glsl).map(|(op, set)| [6 << 16 | Op::ExtInst as u32, ty, id, set, op as u32, value]);
            }
            _ => {}
        }
        if let [_, ty, id, ..] = *instruction
            && (doubles.contains(&ty) || pairs.contains(&ty))
        {
            types.insert(id, ty);
        }
        match spelt {
            Some(spelt) => out.extend(spelt),
            None => out.extend(instruction),
        }
        at += length;
    }
    out
}

/// Whether the module imports a set of instructions.
fn has_import(words: &[u32]) -> bool {
    let mut at = 5;
    while let Some(&first) = words.get(at) {
        if first & 0xffff == Op::ExtInstImport as u32 {
            return true;
        }
        if first & 0xffff == Op::MemoryModel as u32 {
            return false;
        }
        at += (first >> 16).max(1) as usize;
    }
    false
}
