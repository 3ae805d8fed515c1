//! Lowers opcodes that pack a vector into a number, or unpack one, to opcodes on single components.
//!
//! ```text
//! 64 %2 = pack_64_4x16 %1     =>     32 %3 = pack_32_2x16_split %1.x, %1.y
//!                                    32 %4 = pack_32_2x16_split %1.z, %1.w
//!                                    64 %2 = pack_64_2x32_split %3, %4
//! ```
//!
//! With [`lower_pack_vectors`](CompilerOptions::lower_pack_vectors): bit patterns, pairs of 16-bit floats, and integers
//! that are truncated or clamped to their part. Opcodes that normalise floats are lowered by rules
//! (`lower_pack_unorm_4x8` and similar), some of which emit opcodes that this pass lowers. `pack_*_split` are lowered
//! by rules too (`lower_pack_split`), except `pack_32_4x8_split`, which becomes shifts with
//! [`lower_pack_32_4x8_split`](CompilerOptions::lower_pack_32_4x8_split).
//!
//! Cost: linear.

use crate::alu::AluOp;
use crate::entities::Def;
use crate::options::CompilerOptions;
use crate::passes::lower_numbers::arithmetic::{Arithmetic, replace_alu};
use crate::shader::Shader;

/// See the [module](self).
pub fn lower_pack(shader: &mut Shader, options: &CompilerOptions) -> bool {
    replace_alu(shader, |op, m| {
        if op == AluOp::Pack324x8Split && options.lower_pack_32_4x8_split {
            let bytes = [0, 1, 2, 3].map(|number| {
                let byte = m.source(number);
                m.op(AluOp::U2u32, &[byte])
            });
            return Some(side_by_side(m, &bytes, 8));
        }
        if !options.lower_pack_vectors {
            return None;
        }
        by_components(m, op, options)
    })
}

/// Returns the value of an opcode that packs a vector or unpacks a number, computed by opcodes on single components;
/// `None` for other opcodes.
pub(super) fn by_components(m: &mut Arithmetic<'_>, op: AluOp, options: &CompilerOptions) -> Option<Def> {
    let result = std::mem::replace(&mut m.components, 1);
    let new = lower(m, op, options);
    m.components = result;
    new
}

/// Places the parts in the bits of one word, the first in the lowest.
fn side_by_side(m: &mut Arithmetic<'_>, parts: &[Def], bits: u32) -> Def {
    let mut word = parts[0];
    for (&part, number) in parts[1..].iter().zip(1..) {
        let moved = m.ishl_imm(part, bits * number);
        word = m.ior(word, moved);
    }
    word
}

/// Returns the components of the only source.
fn parts<const COUNT: usize>(m: &mut Arithmetic<'_>) -> [Def; COUNT] {
    let source = m.source(0);
    std::array::from_fn(|component| m.builder.channel(source, component as u8))
}

fn lower(m: &mut Arithmetic<'_>, op: AluOp, options: &CompilerOptions) -> Option<Def> {
    use AluOp as O;
    Some(match op {
        O::Pack642x32 | O::Pack322x16 | O::PackHalf2x16 => {
            let split = match op {
                O::Pack642x32 => O::Pack642x32Split,
                O::Pack322x16 => O::Pack322x16Split,
                _ => O::PackHalf2x16Split,
            };
            let parts = parts::<2>(m);
            m.op(split, &parts)
        }
        O::Unpack642x32 | O::Unpack322x16 | O::UnpackHalf2x16 => {
            let (x, y) = match op {
                O::Unpack642x32 => (O::Unpack642x32SplitX, O::Unpack642x32SplitY),
                O::Unpack322x16 => (O::Unpack322x16SplitX, O::Unpack322x16SplitY),
                _ => (O::UnpackHalf2x16SplitX, O::UnpackHalf2x16SplitY),
            };
            let a = m.source(0);
            let halves = [m.op(x, &[a]), m.op(y, &[a])];
            m.builder.vec_of(&halves)
        }
        O::Pack644x16 => {
            let [x, y, z, w] = parts(m);
            let words = [m.op(O::Pack322x16Split, &[x, y]), m.op(O::Pack322x16Split, &[z, w])];
            m.op(O::Pack642x32Split, &words)
        }
        O::Unpack644x16 => {
            let a = m.source(0);
            let mut halves = Vec::new();
            for half in [O::Unpack642x32SplitX, O::Unpack642x32SplitY] {
                let word = m.op(half, &[a]);
                halves.extend([O::Unpack322x16SplitX, O::Unpack322x16SplitY].map(|part| m.op(part, &[word])));
            }
            m.builder.vec_of(&halves)
        }
        O::Pack324x8 => {
            let bytes = parts::<4>(m);
            if options.lower_pack_32_4x8_split {
                let words = bytes.map(|byte| m.op(O::U2u32, &[byte]));
                side_by_side(m, &words, 8)
            } else {
                m.op(O::Pack324x8Split, &bytes)
            }
        }
        O::Unpack324x8 => {
            let a = m.source(0);
            let bytes = [0, 8, 16, 24].map(|bit| {
                let moved = m.ushr_imm(a, bit);
                m.op(O::U2u8, &[moved])
            });
            m.builder.vec_of(&bytes)
        }
        O::PackUvec2ToUint => {
            // The upper part needs no mask.
            let [x, y] = parts(m);
            let low = m.iand_imm(x, 0xffff);
            side_by_side(m, &[low, y], 16)
        }
        O::PackUvec4ToUint => {
            let bytes = parts::<4>(m);
            side_by_side(m, &bytes, 8)
        }
        O::PackUint2x16 => {
            let most = m.int(0xffff);
            let words = parts::<2>(m).map(|part| m.op(O::Umin, &[part, most]));
            side_by_side(m, &words, 16)
        }
        O::PackSint2x16 => {
            let (least, most) = (m.int(-0x8000i32 as u32), m.int(0x7fff));
            let [x, y] = parts::<2>(m).map(|part| {
                let part = m.op(O::Imax, &[part, least]);
                m.op(O::Imin, &[part, most])
            });
            let low = m.iand_imm(x, 0xffff);
            side_by_side(m, &[low, y], 16)
        }
        _ => return None,
    })
}
