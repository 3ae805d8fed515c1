//! Finds outputs that a block need not clear, because each of its lanes stores them: there is exactly one store,
//! outside of `If`s, loops and functions, in a program without early exits. Executors store all existing lanes, and
//! zeros in inactive lanes of the last quad.

use super::program::{Intrinsic, Op, Program};
use crate::ShaderStage;
use crate::intrinsics::IntrinsicOp;

/// Whether every lane stores a component of the outputs, by component.
pub(super) fn always_stored(program: &Program) -> Vec<bool> {
    let none = vec![false; program.output_registers() * 4];
    if !matches!(program.stage(), ShaderStage::Vertex | ShaderStage::TessEval | ShaderStage::Fragment) {
        return none;
    }
    // Number of stores to each component, and whether a store is on every path.
    let (mut stores, mut certain) = (vec![0u8; none.len()], none.clone());
    let mut depth = 0u32;
    for &op in program.ops() {
        match op {
            Op::If { .. } | Op::Loop => depth += 1,
            Op::EndIf { .. } | Op::EndLoop { .. } => depth = depth.saturating_sub(1),
            Op::Jump { .. } | Op::Call(_) => return none,
            Op::Intrinsic(number) => {
                let intrinsic = &program.intrinsics()[number as usize];
                match intrinsic.op {
                    IntrinsicOp::StoreOutput if intrinsic.offset.is_some() => {
                        for (_, at) in program.stored(intrinsic) {
                            stores[at as usize] = stores[at as usize].saturating_add(1);
                            certain[at as usize] = depth == 0;
                        }
                    }
                    IntrinsicOp::StoreOutput | IntrinsicOp::LoadOutput => return none,
                    _ => {}
                }
            }
            _ => {}
        }
    }
    stores.into_iter().zip(certain).map(|(count, certain)| certain && count == 1).collect()
}

impl Program {
    /// The planes and output components that a store with a constant location writes, without components out of range.
    pub fn stored(&self, intrinsic: &Intrinsic) -> impl Iterator<Item = (u32, u32)> {
        let value = self.sources_of(intrinsic).first().copied();
        let (plane, bits, components) = value.map_or((0, 0, 0), |value| (value.plane, value.bits, value.components));
        let planes = value.map_or(0, |value| value.planes());
        let end = self.output_registers() as u32 * 4;
        // Both words of a component are adjacent in outputs, while a value has all planes of low words first.
        let (each, components) = (u32::from(bits / 32).max(1), u32::from(components));
        (0..planes).filter(move |word| intrinsic.write_mask >> (word / each) & 1 != 0).filter_map(move |word| {
            let at = intrinsic.component(word).filter(|&at| at < end)?;
            Some((plane + word / each + word % each * components, at))
        })
    }
}
