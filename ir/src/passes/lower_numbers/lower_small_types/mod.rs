//! Turns integers of 8 and 16 bits and floats of 16 bits into 32-bit numbers, for targets without small types.
//!
//! ```text
//! 16 %3 = fadd %1, %2              32 %6 = unpack_half_2x16_split_x %1'    32 %7 = unpack_half_2x16_split_x %2'
//! 16 %4 = iadd %1, %2              32 %8 = fadd %6, %7                     32 %9 = iadd %1', %2'
//! 1  %5 = ilt %4, %2        =>     32 %3' = pack_half_2x16_split %8, 0.0   32 %b = ishl %9, 16 ...
//! ```
//!
//! A small value becomes a word with the value in its low bits; the others are unspecified, so sums, products, logic
//! and moves need no more than the 32-bit operation. Operations that need more read another form: zero-extended,
//! sign-extended, or a 32-bit float with the same value. Each form is emitted once, behind the definition. A result
//! that is already in such a form (a minimum, a negated float) has no word until one is read.
//!
//! Results are those of the opcode table. A 16-bit float is rounded after each operation that needs it, by packing, two
//! components at a time; denormals are kept. In shaders that round 16-bit or 32-bit floats toward zero, sums are
//! rounded to odd first. Where 16-bit denormals are flushed, results and unpacked halves are flushed explicitly. The
//! float controls for 16 bits are removed; those that preserve zeros, infinities and NaNs then apply to 32 bits. A NaN
//! may become another NaN.
//!
//! - Buffers, shared and scratch memory, push constants: whole words are loaded; components are extracted by the
//!   alignment of the access, or by the run-time offset if it is unknown. Whole words are stored, and parts of words by
//!   an atomic `iand` and an atomic `ior` (in scratch memory by loading and storing). The sizes of buffers should be
//!   multiples of 4: words that are partly beyond the end are beyond it.
//! - Inputs, outputs, uniforms and variables have 32-bit components; 16-bit floats are 32-bit floats there. Registers
//!   have words.
//! - Left alone, with conversions of their operands and results: atomics on small numbers, sums and products of floats
//!   of a subgroup, ballots, accesses by 64-bit addresses and pointers to memory
//!   ([`lower_explicit_access`](mod@crate::passes::lower_resources::lower_explicit_access) lowers the latter).
//!
//! Booleans of 8 and 16 bits are small numbers; those of 1 bit and 64-bit numbers are not lowered here. The emitted
//! code has `pack_half_2x16_split`, divisions and 1-bit booleans, which other passes lower.
//!
//! Cost: linear.

mod floats;
mod integers;
mod intrinsics;
mod memory;
mod values;
mod variables;

use crate::alu::ExecutionMode;
use crate::body::{Body, InstData};
use crate::entities::{Def, Inst};
use crate::shader::Shader;
use crate::types::TypeTable;
use values::{Form, Lowering};

/// See the [module](self). Returns whether there were small values that could be lowered.
pub fn lower_small_types(shader: &mut Shader) -> bool {
    if !has_small_values(shader) {
        return false;
    }
    let mode = shader.info.float_controls_execution_mode;
    let types = std::mem::take(&mut shader.types);
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= lower_body(body, &types, mode);
    }
    shader.types = types;
    for parameter in shader.functions.values_mut().flat_map(|function| &mut function.parameters) {
        if matches!(parameter.bit_size, 8 | 16) {
            parameter.bit_size = 32;
            progress = true;
        }
    }
    progress |= variables::widen_variables(shader);
    if progress {
        shader.info.float_controls_execution_mode = without_halves(mode);
    }
    progress
}

/// Returns whether there are values of 8 or 16 bits.
pub(crate) fn has_small_values(shader: &Shader) -> bool {
    let is_small = |body: &Body, def: Def| matches!(body.bit_size(def), 8 | 16);
    shader.functions.values().filter_map(|function| function.body.as_ref()).any(|body| {
        body.blocks().any(|block| {
            body.insts(block).any(|inst| {
                let mut copies = body.copies(inst).unwrap_or(&[]).iter().filter_map(|entry| entry.dest.expand());
                body.inst_def(inst).is_some_and(|def| is_small(body, def)) || copies.any(|def| is_small(body, def))
            })
        })
    })
}

/// Applies what 16-bit floats must preserve to 32-bit floats, and removes the other controls of 16-bit floats.
fn without_halves(mode: ExecutionMode) -> ExecutionMode {
    let mut bits = mode.0;
    // Signed zeros, infinities, NaN.
    for first in [0, 3, 6] {
        bits |= (bits >> first & 1) << (first + 1);
    }
    for first in (0..21).step_by(3) {
        bits &= !(1 << first);
    }
    ExecutionMode(bits)
}

fn lower_body(body: &mut Body, types: &TypeTable, mode: ExecutionMode) -> bool {
    let blocks = body.blocks_vec();
    let insts: Vec<(_, Vec<Inst>)> = blocks.into_iter().map(|block| (block, body.insts_vec(block))).collect();
    let mut lowering = Lowering::new(body, mode);
    let mut phis = Vec::new();
    for &inst in insts.iter().flat_map(|(_, insts)| insts) {
        lowering.find_kept(types, inst);
    }
    for (block, insts) in insts {
        for inst in insts {
            if lowering.body.is_phi(inst) {
                if let Some(def) = lowering.body.inst_def(inst).filter(|&def| lowering.is_small(def)) {
                    lowering.widen(def, Form::Word);
                    phis.push(inst);
                }
            } else {
                lower_inst(&mut lowering, types, inst);
            }
        }
        if let Some(id) = lowering.body.following_if(block) {
            let condition = lowering.body.if_condition(id);
            let def = lowering.body.src_def(condition);
            if lowering.is_small(def) {
                let value = lowering.form(def, Form::Zero);
                lowering.body.set_src(condition, value);
                lowering.progress = true;
            }
        }
    }
    // Values of the end of a loop are known now.
    for phi in phis {
        for number in 0..lowering.body.num_sources(phi) {
            lowering.set_source(phi, number, Form::Word);
        }
    }
    lowering.finish()
}

fn lower_inst(lowering: &mut Lowering<'_>, types: &TypeTable, inst: Inst) {
    let result = lowering.body.inst_def(inst).filter(|&def| lowering.is_small(def));
    match *lowering.body.inst(inst) {
        InstData::Alu { .. } => lowering.lower_alu(inst),
        InstData::Intrinsic { op, .. } => lowering.lower_intrinsic(types, inst, op),
        InstData::Tex(_) => lowering.lower_texture(inst),
        // Emitted where they are read.
        InstData::LoadConst { .. } | InstData::Undef => {
            if result.is_some() {
                lowering.remove_later(inst);
            }
        }
        InstData::Call { .. } => {
            for number in 0..lowering.body.num_sources(inst) {
                lowering.set_source(inst, number, Form::Word);
            }
        }
        InstData::Jump(_) => {
            for number in 0..lowering.body.num_sources(inst) {
                lowering.set_source(inst, number, Form::Zero);
            }
        }
        InstData::ParallelCopy(_) => {
            for number in 0..lowering.body.num_sources(inst) {
                lowering.set_source(inst, number, Form::Word);
            }
            let copies = lowering.body.copies(inst).unwrap_or(&[]);
            let dests: Vec<Def> = copies.iter().filter_map(|entry| entry.dest.expand()).collect();
            for def in dests.into_iter().filter(|&def| lowering.is_small(def)).collect::<Vec<_>>() {
                lowering.widen(def, Form::Word);
            }
        }
        InstData::Deref { .. } => lowering.keep_sources(inst),
        InstData::Phi => {}
    }
}
