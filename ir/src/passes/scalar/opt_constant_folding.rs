//! Evaluates instructions on constants.
//!
//! ```text
//! before:                                  after:
//!     %0 = load_const (1.0, 2.0)               %3 = load_const (2.0, 4.0)
//!     %1 = fadd %0, %0                         (%0, %1 as dead code)
//!     @terminate_if (%true)                    @terminate
//! ```
//!
//! - ALU instructions: evaluated by [`crate::alu::evaluate`] under the execution mode of the shader, with the same bits
//!   as in executors; so `exact` does not matter.
//! - `terminate_if`, `demote_if`: removed or made unconditional.
//! - Derivatives of constants: the executors' result for `x - x`, which is 0, or NaN in components that are not finite.
//! - Subgroup and quad operations that forward a value, and votes, of a constant. (Not those that may select a lane
//!   that does not exist.)
//! - `load_constant` with a constant offset: the bytes of the shader's constant data, 0 beyond them.
//! - Textures: a constant texture or sampler offset moves into the index; a zero bias and a zero offset are removed.
//!
//! - After an `if` with a constant condition: phis with the same constant on every path that can be taken.
//!
//! One sweep in program order; users of a folded value are folded in the same sweep (except phis around loops), so that
//! a sequence of `if`s, each decided by the previous one, is decided as a whole. The `if`s themselves are left to
//! [`opt_dead_cf`](mod@crate::passes::control_flow::opt_dead_cf).

use arrayvec::ArrayVec;
use cranelift_entity::EntitySet;

use crate::alu::{self, AluOp, ExecutionMode};
use crate::body::{Body, InstData, MAX_COMPONENTS, TexOp, TexSrcKind};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Block, Def, Inst};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::shader::Shader;

type Values = ArrayVec<u64, MAX_COMPONENTS>;

/// See the [module](self).
pub fn opt_constant_folding(shader: &mut Shader) -> bool {
    let Shader { functions, constant_data, info, .. } = shader;
    let context = Context { mode: info.float_controls_execution_mode, constant_data };
    let mut progress = false;
    for body in functions.values_mut().filter_map(|f| f.body.as_mut()) {
        progress |= context.fold_body(body);
    }
    progress
}

struct Context<'a> {
    mode: ExecutionMode,
    constant_data: &'a [u8],
}

impl Context<'_> {
    fn fold_body(&self, body: &mut Body) -> bool {
        let mut progress = false;
        let mut unreachable = UnreachableBlocks::default();
        for block in body.blocks_vec() {
            progress |= unreachable.enter(body, block);
            let mut next = body.first_inst(block);
            while let Some(inst) = next {
                next = body.next_inst(inst);
                progress |= match *body.inst(inst) {
                    InstData::Alu { .. } => match fold_alu(body, inst, self.mode) {
                        Some(values) => replace(body, inst, &values),
                        None => false,
                    },
                    InstData::Intrinsic { op, .. } => self.fold_intrinsic(body, inst, op),
                    InstData::Tex(_) => fold_tex(body, inst),
                    _ => false,
                };
            }
            unreachable.leave(body, block);
        }
        progress
    }

    fn fold_intrinsic(&self, body: &mut Body, inst: Inst, op: IntrinsicOp) -> bool {
        use IntrinsicOp as I;
        match op {
            I::TerminateIf => return fold_condition(body, inst, I::Terminate),
            I::DemoteIf => return fold_condition(body, inst, I::Demote),
            _ => {}
        }
        let Some(def) = body.inst_def(inst) else { return false };
        let shape = body.shape(def);
        let values: Option<Values> = match op {
            I::LoadConstant => self.load_constant(body, inst, def),
            I::Ddx | I::DdxFine | I::DdxCoarse | I::Ddy | I::DdyFine | I::DdyCoarse => {
                body.def_constant(body.src(inst, 0)).map(|v| v.iter().map(|&c| derivative(c, shape.bit_size)).collect())
            }
            I::ReadFirstInvocation
            | I::AsUniform
            | I::QuadSwapHorizontal
            | I::QuadSwapVertical
            | I::QuadSwapDiagonal
            | I::VoteAny
            | I::VoteAll
            | I::QuadVoteAny
            | I::QuadVoteAll => body.def_constant(body.src(inst, 0)).map(|v| v.iter().copied().collect()),
            I::VoteIeq => body.def_constant(body.src(inst, 0)).map(|_| [truth(shape.bit_size)].into_iter().collect()),
            I::VoteFeq => {
                let bits = body.bit_size(body.src(inst, 0));
                // A NaN is not even equal to itself.
                body.def_constant(body.src(inst, 0))
                    .filter(|v| !v.iter().any(|&c| is_nan(c, bits)))
                    .map(|_| [truth(shape.bit_size)].into_iter().collect())
            }
            I::InverseBallot => {
                let mask = body.def_constant(body.src(inst, 0));
                let ones = truth(body.bit_size(body.src(inst, 0)));
                mask.and_then(|v| {
                    let value = if v.iter().all(|&c| c == ones) {
                        truth(shape.bit_size)
                    } else if v.iter().all(|&c| c == 0) {
                        0
                    } else {
                        return None;
                    };
                    Some([value].into_iter().collect())
                })
            }
            _ => None,
        };
        match values {
            Some(values) if values.len() == usize::from(shape.num_components) => replace(body, inst, &values),
            _ => false,
        }
    }

    fn load_constant(&self, body: &Body, inst: Inst, def: Def) -> Option<Values> {
        let offset = body.constant_component(body.src(inst, 0), 0)?;
        let base = u64::from(body.base(inst));
        let range = u64::from(body.index(inst, IndexKind::Range) as u32);
        let shape = body.shape(def);
        let bytes = u64::from(shape.bit_size / 8);
        if bytes == 0 {
            return None;
        }
        let component = |i: u8| -> u64 {
            let within = offset.saturating_add(u64::from(i) * bytes);
            let start = base.saturating_add(within);
            if range != 0 && within.saturating_add(bytes) > range {
                return 0;
            }
            let range = usize::try_from(start).ok().and_then(|s| Some(s..s.checked_add(bytes as usize)?));
            match range.and_then(|p| self.constant_data.get(p)) {
                Some(data) => data.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)),
                None => 0,
            }
        };
        Some((0..shape.num_components).map(component).collect())
    }
}

/// Blocks found unreachable so far because of constant conditions.
#[derive(Default)]
struct UnreachableBlocks {
    blocks: EntitySet<Block>,
    any: bool,
}

impl UnreachableBlocks {
    /// Enters a block: replaces phis that have the same constant on every path that can be taken.
    fn enter(&mut self, body: &mut Body, block: Block) -> bool {
        if !self.any {
            return false;
        }
        let predecessors = body.predecessors(block);
        let unreachable = predecessors.iter().filter(|&&predecessor| self.blocks.contains(predecessor)).count();
        if unreachable == 0 || self.blocks.contains(block) {
            return false;
        }
        // Back edges from blocks not visited yet count as reachable.
        if unreachable == predecessors.len() {
            self.blocks.insert(block);
            return false;
        }
        let mut progress = false;
        for phi in body.phis(block).collect::<Vec<Inst>>() {
            let (Some(def), Some(values)) = (body.inst_def(phi), self.only_constant(body, phi)) else { continue };
            let bit_size = body.bit_size(def);
            let cursor = Cursor::after_phis(body, block);
            let new = Builder::new(body, cursor).constant(bit_size, &values);
            body.replace_all_uses(def, new);
            body.remove_inst(phi);
            progress = true;
        }
        progress
    }

    /// Returns the constant of a phi on every path that can be taken.
    fn only_constant(&self, body: &Body, phi: Inst) -> Option<Values> {
        let reachable = body.phi_sources(phi).filter(|&(predecessor, _)| !self.blocks.contains(predecessor));
        let mut values = reachable.map(|(_, source)| body.def_constant(body.src_def(source)));
        let first = values.next()??;
        values.all(|other| other == Some(first)).then(|| first.iter().copied().collect())
    }

    /// Leaves a block: the side of a following `if` that is not taken is unreachable.
    fn leave(&mut self, body: &Body, block: Block) {
        let Some(id) = body.following_if(block).filter(|_| body.structured) else { return };
        let Some(condition) = body.constant_component(body.src_def(body.if_condition(id)), 0) else { return };
        // The rest of the side follows, block by block.
        let side = if condition != 0 { body.else_list(id) } else { body.then_list(id) };
        self.blocks.insert(side.first);
        self.any = true;
    }
}

/// Returns the bits of a true boolean of a size.
fn truth(bit_size: u8) -> u64 {
    if bit_size >= 64 { u64::MAX } else { (1 << bit_size) - 1 }
}

fn is_nan(bits: u64, bit_size: u8) -> bool {
    let (exponent, mantissa) = match bit_size {
        16 => (0x7c00, 0x3ff),
        32 => (0x7f80_0000, 0x7f_ffff),
        _ => (0x7ff0_0000_0000_0000, 0xf_ffff_ffff_ffff),
    };
    bits & exponent == exponent && bits & mantissa != 0
}

/// Returns the derivative of a constant, which is the constant minus itself: a NaN has the executors' bits, as integer
/// operations can observe them.
fn derivative(bits: u64, bit_size: u8) -> u64 {
    let mut result = [0];
    alu::evaluate(AluOp::Fsub, bit_size, 1, &[&[bits], &[bits]], ExecutionMode::DEFAULT, &mut result);
    result[0]
}

/// Evaluates an ALU instruction with constant operands; returns the components of its result.
pub(crate) fn fold_alu(body: &Body, inst: Inst, mode: ExecutionMode) -> Option<Values> {
    let (op, _) = body.alu(inst)?;
    let def = body.inst_def(inst)?;
    let count = body.num_components(def);
    let mut storage: ArrayVec<Values, MAX_COMPONENTS> = ArrayVec::new();
    for (number, source) in body.sources(inst).enumerate() {
        let constant = body.def_constant(body.src_def(source))?;
        let components = body.alu_src_components(inst, number);
        let swizzle = body.swizzle(source);
        let mut values = Values::new();
        for selector in swizzle.iter(components.min(MAX_COMPONENTS)) {
            values.push(*constant.get(usize::from(selector))?);
        }
        storage.try_push(values).ok()?;
    }
    let sources: ArrayVec<&[u64], MAX_COMPONENTS> = storage.iter().map(|v| v.as_slice()).collect();
    let mut result = [0u64; MAX_COMPONENTS];
    alu::evaluate(op, body.alu_bit_size(inst), count, &sources, mode, &mut result);
    Some(result.into_iter().take(usize::from(count)).collect())
}

fn replace(body: &mut Body, inst: Inst, values: &[u64]) -> bool {
    let Some(def) = body.inst_def(inst) else { return false };
    let bit_size = body.bit_size(def);
    let new = Builder::new(body, Cursor::Before(inst)).constant(bit_size, values);
    body.replace_all_uses(def, new);
    body.remove_inst(inst);
    true
}

fn fold_condition(body: &mut Body, inst: Inst, unconditional: IntrinsicOp) -> bool {
    let Some(condition) = body.constant_component(body.src(inst, 0), 0) else { return false };
    if condition != 0 {
        Builder::new(body, Cursor::Before(inst)).intrinsic(unconditional, &[], &[], None);
    }
    body.remove_inst(inst);
    true
}

fn fold_tex(body: &mut Body, inst: Inst) -> bool {
    let mut progress = false;
    for kind in [TexSrcKind::TextureOffset, TexSrcKind::SamplerOffset] {
        let Some(source) = body.tex_src(inst, kind) else { continue };
        let Some(offset) = body.constant_component(body.src_def(source), 0) else { continue };
        if let Some(tex) = body.tex_mut(inst) {
            let index = if kind == TexSrcKind::TextureOffset { &mut tex.texture_index } else { &mut tex.sampler_index };
            *index = index.wrapping_add(offset as u32);
        }
        body.remove_source(inst, body.source_number(source));
        progress = true;
    }
    if let Some(source) = body.tex_src(inst, TexSrcKind::Bias)
        && body.tex(inst).is_some_and(|t| t.op == TexOp::Txb)
        && let Some(bias) = body.constant_component(body.src_def(source), 0)
    {
        // Zero of either sign.
        let sign = 1u64 << (body.bit_size(body.src_def(source)).max(1) - 1);
        if bias & !sign == 0 {
            body.remove_source(inst, body.source_number(source));
            if let Some(tex) = body.tex_mut(inst) {
                tex.op = TexOp::Tex;
            }
            progress = true;
        }
    }
    if let Some(source) = body.tex_src(inst, TexSrcKind::Offset)
        && body.def_constant(body.src_def(source)).is_some_and(|v| v.iter().all(|&c| c == 0))
    {
        body.remove_source(inst, body.source_number(source));
        progress = true;
    }
    progress
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alu::AluType;
    use crate::body::{Shape, Swizzle, TexData};
    use crate::builder::AluSrc;
    use crate::run::run;
    use crate::shader::ShaderStage;
    use tgsi_environment::SamplerDim;
    use tgsi_environment::{AnalyticResources, Inputs, RunLimits};

    fn source(shader: &Shader, user: Def) -> Vec<u64> {
        let body = shader.main();
        body.def_constant(body.src(body.def_inst(user), 0)).unwrap().to_vec()
    }

    #[test]
    fn chains_and_swizzles() {
        let mut shader = Shader::new(ShaderStage::Fragment);
        let mut b = Builder::at_end(shader.main_mut());
        let x = b.constant(32, &[1.0f32.to_bits().into(), 2.0f32.to_bits().into()]);
        let sum = b.alu_sized(AluOp::Fadd, 2, &[x.into(), AluSrc::new(x, Swizzle::new(&[1, 1]))]);
        let dot = b.alu(AluOp::Fdot2, &[sum, x]);
        let less = b.alu(AluOp::Flt, &[x, sum]);
        let derivative = b.intrinsic_def(IntrinsicOp::Ddx, &[x], &[], Shape::new(2, 32));
        for def in [dot, less, derivative] {
            b.intrinsic(IntrinsicOp::StorePreamble, &[def], &[], None);
        }
        assert!(opt_constant_folding(&mut shader));
        assert!(!opt_constant_folding(&mut shader));
        let body = shader.main();
        let stored: Vec<Vec<u64>> = body
            .insts(body.start_block())
            .filter(|&i| body.intrinsic(i) == Some(IntrinsicOp::StorePreamble))
            .map(|i| body.def_constant(body.src(i, 0)).unwrap().to_vec())
            .collect();
        let bits = |v: f32| u64::from(v.to_bits());
        assert_eq!(stored, [vec![bits(3.0 + 8.0)], vec![1, 1], vec![0, 0]]);
    }

    /// A derivative of a constant folds to the bits that a run gives.
    #[test]
    fn derivatives_of_all_kinds_of_numbers() {
        use IntrinsicOp as I;
        const SINGLES: [u64; 12] = [
            0,
            0x8000_0000,
            1,
            0x3f80_0000,
            0x7f7f_ffff,
            0x7f80_0000,
            0xff80_0000,
            0x7f80_0001,
            0xffbf_ffff,
            0x7fc0_0000,
            0xffc0_0123,
            0xffff_ffff,
        ];
        const HALVES: [u64; 12] =
            [0, 0x8000, 1, 0x3c00, 0x7bff, 0x7c00, 0xfc00, 0x7c01, 0xfdff, 0x7e00, 0xfe12, 0xffff];
        let mut shader = Shader::new(ShaderStage::Fragment);
        let mut b = Builder::at_end(shader.main_mut());
        let zero = b.u32_const(0);
        let mut register = 0;
        for op in [I::Ddx, I::DdxFine, I::DdxCoarse, I::Ddy, I::DdyFine, I::DdyCoarse] {
            for (bits, values) in [(32, SINGLES), (16, HALVES)] {
                for four in values.chunks(4) {
                    let value = b.constant(bits, four);
                    let mut value = b.intrinsic_def(op, &[value], &[], Shape::new(4, bits));
                    if bits == 16 {
                        value = b.alu(AluOp::U2u32, &[value]);
                    }
                    let ty = AluType::UINT32.to_i32();
                    let indices = [(IndexKind::Base, register), (IndexKind::WriteMask, 15), (IndexKind::SrcType, ty)];
                    b.intrinsic(I::StoreOutput, &[value, zero], &indices, None);
                    register += 1;
                }
            }
        }
        let result = |shader: &Shader| {
            let inputs = Inputs { lanes: 4, ..Inputs::default() };
            run(shader, &inputs, &mut AnalyticResources::default(), RunLimits::default()).unwrap().outputs
        };
        let before = result(&shader);
        assert!(opt_constant_folding(&mut shader));
        let body = shader.main();
        assert!(!body.insts(body.start_block()).any(|i| body.alu_op(i).is_some() || body.intrinsic(i) == Some(I::Ddy)));
        assert_eq!(before, result(&shader));
    }

    #[test]
    fn conditions_and_textures() {
        let mut shader = Shader::new(ShaderStage::Fragment);
        let mut b = Builder::at_end(shader.main_mut());
        let (yes, no) = (b.bool_const(true), b.bool_const(false));
        let dropped = b.intrinsic(IntrinsicOp::TerminateIf, &[no], &[], None);
        b.intrinsic(IntrinsicOp::DemoteIf, &[yes], &[], None);
        let coord = b.undef(2, 32);
        let minus_zero = b.f32_const(-0.0);
        let three = b.u32_const(3);
        let offset = b.constant(32, &[0, 0]);
        let mut data = TexData::new(TexOp::Txb, SamplerDim::Dim2D, AluType::FLOAT32);
        data.texture_index = 2;
        let sources = [
            (TexSrcKind::Coord, coord),
            (TexSrcKind::Bias, minus_zero),
            (TexSrcKind::TextureOffset, three),
            (TexSrcKind::Offset, offset),
        ];
        let tex = b.texture(data, &sources);
        assert!(opt_constant_folding(&mut shader));
        assert!(!opt_constant_folding(&mut shader));
        let body = shader.main();
        assert!(body.inst_block(dropped).is_none());
        assert!(body.insts(body.start_block()).any(|i| body.intrinsic(i) == Some(IntrinsicOp::Demote)));
        let tex = body.def_inst(tex);
        assert_eq!(body.num_sources(tex), 1);
        let data = body.tex(tex).unwrap();
        assert_eq!((data.op, data.texture_index), (TexOp::Tex, 5));
    }

    /// Each condition of the sequence becomes known once the previous one is.
    #[test]
    fn rows_of_conditions() {
        let mut shader = Shader::new(ShaderStage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let offset = b.u32_const(0);
        let unknown = b.intrinsic_def(IntrinsicOp::LoadPushConstant, &[offset], &[], Shape::new(1, 32));
        let zero = b.u32_const(0);
        let (mut known, mut phis) = (zero, Vec::new());
        for _ in 0..100 {
            let condition = b.alu(AluOp::Ine, &[known, zero]);
            let branch = b.push_if(condition);
            b.end_if(branch);
            let sides = [b.body.then_list(branch).last, b.body.else_list(branch).last];
            known = b.phi(Shape::new(1, 32), &[(sides[0], unknown), (sides[1], known)]);
            phis.push(known);
        }
        b.intrinsic(IntrinsicOp::StorePreamble, &[known], &[], None);
        assert!(opt_constant_folding(&mut shader));
        assert!(!opt_constant_folding(&mut shader));
        let body = shader.main();
        assert!(phis.iter().all(|&phi| body.inst_block(body.def_inst(phi)).is_none()));
        let store = body.insts(body.body_list().last).find(|&i| body.intrinsic(i) == Some(IntrinsicOp::StorePreamble));
        assert_eq!(body.constant_component(body.src(store.unwrap(), 0), 0), Some(0));
    }

    #[test]
    fn constant_data() {
        let mut shader = Shader::new(ShaderStage::Compute);
        shader.constant_data = (1..=8).collect();
        let mut b = Builder::at_end(shader.main_mut());
        let four = b.u32_const(4);
        let indices = [(IndexKind::Base, 0), (IndexKind::Range, 8)];
        let loaded = b.intrinsic_def(IntrinsicOp::LoadConstant, &[four], &indices, Shape::new(2, 32));
        let unknown = b.undef(2, 32);
        let sum = b.alu(AluOp::Iadd, &[loaded, unknown]);
        assert!(opt_constant_folding(&mut shader));
        assert_eq!(source(&shader, sum), [0x0807_0605, 0]);
    }
}
