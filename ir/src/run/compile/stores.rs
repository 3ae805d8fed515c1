//! Finds outputs that a block need not clear, because each of its lanes stores them: there is exactly one store,
//! outside of `If`s, loops and functions, in a program without early exits. Executors store all existing lanes, and
//! zeros in inactive lanes of the last quad.

use crate::ShaderStage;
use crate::intrinsics::IntrinsicOp;
use crate::run::ops::Op;
use crate::run::program::Program;

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
