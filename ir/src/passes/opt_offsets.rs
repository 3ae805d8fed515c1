//! Constants that are added to an offset go into the `base` of the access.
//!
//! ```text
//! before:                                          after:
//!     %2 = iadd %1, 4                                  %3 = @load_shared (%1) (base=20)
//!     %3 = @load_shared (%2) (base=16)
//! ```
//!
//! An offset that is all constant becomes 0. How far a base may grow says [`OffsetOptions`], for each kind of access. The sum of both is modulo 2^32 here; hardware may add
//! without wrapping around, so that only sums that are said not to wrap are taken apart, unless [`OffsetOptions::allow_wrap`]. The extent that a uniform may be read from shrinks with it, and is
//! no longer known if an offset may be below 0. Linear: a chain of sums is followed by a bounded number of steps.

use crate::alu::AluOp;
use crate::body::{AluFlags, Body};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Def, Inst};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::shader::Shader;

/// Sums that are followed from one offset.
const MAX_STEPS: usize = 32;

/// The greatest `base` of each kind of access; 0: it stays as it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OffsetOptions {
    /// `load_uniform`, vec4 registers.
    pub uniform_max: u32,
    /// `load_ubo_vec4`, vec4 registers.
    pub ubo_vec4_max: u32,
    /// Shared memory, bytes.
    pub shared_max: u32,
    /// Push constants, kernel arguments, constant data of the shader: bytes.
    pub constant_max: u32,
    /// Base and offset are added modulo 2^32.
    pub allow_wrap: bool,
}

impl OffsetOptions {
    /// The greatest base and the source with the offset.
    fn of(&self, op: IntrinsicOp) -> Option<(u32, usize)> {
        use IntrinsicOp as I;
        Some(match op {
            I::LoadUniform => (self.uniform_max, 0),
            I::LoadUboVec4 => (self.ubo_vec4_max, 1),
            I::LoadShared | I::SharedAtomic | I::SharedAtomicSwap => (self.shared_max, 0),
            I::StoreShared => (self.shared_max, 1),
            I::LoadPushConstant | I::LoadKernelInput | I::LoadConstant => (self.constant_max, 0),
            _ => return None,
        })
    }
}

/// See the [module](self).
pub fn opt_offsets(shader: &mut Shader, options: &OffsetOptions) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        for block in body.blocks_vec() {
            let mut next = body.first_inst(block);
            while let Some(inst) = next {
                next = body.next_inst(inst);
                if let Some((max, source)) = body.intrinsic(inst).and_then(|op| options.of(op)) {
                    progress |= fold(body, inst, source, max, options.allow_wrap);
                }
            }
        }
    }
    progress
}

fn fold(body: &mut Body, inst: Inst, source: usize, max: u32, allow_wrap: bool) -> bool {
    let offset = body.src(inst, source);
    if max == 0 || body.bit_size(offset) != 32 {
        return false;
    }
    let base = body.index(inst, IndexKind::Base) as u32;
    let has_range = body.intrinsic(inst).is_some_and(|op| op.info().index_slot(IndexKind::Range).is_some());
    let range = if has_range { body.index(inst, IndexKind::Range) as u32 } else { 0 };
    // (what is left of the offset, what goes to the base): the last of those that fit.
    let mut best: Option<(Option<(Def, u8)>, u32)> = None;
    let (mut rest, mut sum) = (Some((offset, 0u8)), 0u32);
    for _ in 0..MAX_STEPS {
        let Some((def, component)) = rest else { break };
        let Some((next, constant)) = split(body, def, component, allow_wrap) else { break };
        rest = next;
        let Some(new_sum) = sum.checked_add(constant).or_else(|| allow_wrap.then(|| sum.wrapping_add(constant))) else {
            break;
        };
        sum = new_sum;
        let new_base = if allow_wrap { Some(base.wrapping_add(sum)) } else { base.checked_add(sum) };
        let stays_inside = range == 0 || allow_wrap || sum < range;
        if constant != 0 && stays_inside && new_base.is_some_and(|new_base| new_base <= max) {
            best = Some((rest, sum));
        }
    }
    let Some((rest, sum)) = best else { return false };
    let mut b = Builder::new(body, Cursor::Before(inst));
    let offset = match rest {
        Some((def, component)) => b.channel(def, component),
        None => b.u32_const(0),
    };
    let place = body.source(inst, source);
    body.set_src(place, offset);
    body.set_index(inst, IndexKind::Base, base.wrapping_add(sum) as i32);
    if range != 0 {
        // What is not negative starts later and ends where it did.
        let shrunk = if allow_wrap && rest.is_some() { 0 } else { range.saturating_sub(sum) };
        body.set_index(inst, IndexKind::Range, shrunk as i32);
    }
    true
}

/// A component of a value as something and a constant.
fn split(body: &Body, def: Def, component: u8, allow_wrap: bool) -> Option<(Option<(Def, u8)>, u32)> {
    if let Some(value) = body.constant_component(def, usize::from(component)) {
        return Some((None, value as u32));
    }
    let inst = body.try_def_inst(def)?;
    let (op, flags) = body.alu(inst)?;
    let operand = |number: usize| {
        let source = body.source(inst, number);
        (body.src_def(source), body.swizzle(source).get(usize::from(component)))
    };
    match op {
        AluOp::Mov => Some((Some(operand(0)), 0)),
        AluOp::Iadd if allow_wrap || flags.contains(AluFlags::NO_UNSIGNED_WRAP) => [0, 1].iter().find_map(|&number| {
            let (def, component) = operand(number);
            let constant = body.constant_component(def, usize::from(component))?;
            Some((Some(operand(1 - number)), constant as u32))
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Shape;
    use crate::run::{AnalyticResources, Inputs, LaneRegisters, RunLimits, run};
    use crate::shader::Stage;
    use crate::text::print;
    use crate::validate::validate;

    /// Random sums as offsets, some of which wrap around: the same is read before and after.
    #[test]
    fn random_sums() {
        let mut changed = 0;
        for seed in 0..500u64 {
            let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            let mut below = |limit: u64| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 20) % limit
            };
            let mut shader = Shader::new(Stage::Vertex);
            let mut b = Builder::at_end(shader.main_mut());
            let zero = b.u32_const(0);
            let vec4 = Shape::new(4, 32);
            let input = b.intrinsic_def(IntrinsicOp::LoadInput, &[zero], &[], vec4);
            for register in 0..6 {
                let mut offset = match below(3) {
                    0 => b.u32_const(below(8) as u32),
                    _ => b.channel(input, below(4) as u8),
                };
                for _ in 0..below(4) {
                    let constant = match below(4) {
                        0 => b.i32_const(-(below(4) as i32)),
                        _ => b.u32_const(below(5) as u32),
                    };
                    let order = if below(2) == 0 { [offset, constant] } else { [constant, offset] };
                    offset = b.alu(AluOp::Iadd, &order);
                }
                let base = [(IndexKind::Base, below(4) as i32), (IndexKind::Range, 0)];
                let value = if below(2) == 0 {
                    b.intrinsic_def(IntrinsicOp::LoadUniform, &[offset], &base, vec4)
                } else {
                    b.intrinsic_def(IntrinsicOp::LoadUboVec4, &[zero, offset], &base[..1], vec4)
                };
                let ty = crate::alu::AluType::UINT32.to_i32();
                let indices = [(IndexKind::Base, register), (IndexKind::WriteMask, 15), (IndexKind::SrcType, ty)];
                b.intrinsic(IntrinsicOp::StoreOutput, &[value, zero], &indices, None);
            }
            validate(&shader).unwrap();
            let words: Vec<u32> = (1..60).collect();
            let mut inputs = Inputs {
                lanes: 4,
                inputs: LaneRegisters::new(4, 1),
                constants: vec![words.clone(), words.iter().map(|w| w * 100).collect()],
                ..Inputs::default()
            };
            for lane in 0..4 {
                for (component, value) in [0, 1 + lane as u32, 7, u32::MAX - 1].into_iter().enumerate() {
                    inputs.inputs.set(0, component, lane, value);
                }
            }
            let result = |shader: &Shader| {
                run(shader, &inputs, &mut AnalyticResources::default(), RunLimits::default()).unwrap().outputs
            };
            let before = shader.clone();
            let options =
                OffsetOptions { uniform_max: 10, ubo_vec4_max: 100, allow_wrap: true, ..OffsetOptions::default() };
            changed += usize::from(opt_offsets(&mut shader, &options));
            validate(&shader).unwrap();
            assert_eq!(result(&before), result(&shader), "{}\n{}", print(&before), print(&shader));
            assert!(!opt_offsets(&mut shader, &options), "{}\n{}", print(&before), print(&shader));
        }
        assert!(changed > 400, "{changed}");
    }
}
