//! Phis of vectors become a phi for each component, and a vector of these.
//!
//! ```text
//! before:                                       after:
//!     block b2:                                     block b2:
//!     32x2 %4 = load_const (0, 1)                   32x2 %4 = load_const (0, 1)
//!     // succs: b3                                  32   %7 = mov %4.x
//!                                                   32   %8 = mov %4.y
//!                                                   // succs: b3
//!     block b3:                                     block b3:
//!     32x2 %5 = phi b1: %3, b2: %4                  32   %9 = phi b1: %10, b2: %7
//!                                                   32  %11 = phi b1: %12, b2: %8
//!                                                   32x2 %5 = vec2 %9, %11
//! ```
//!
//! Unless all are asked for, only those of which at least one operand comes in parts anyway: from an ALU instruction
//! that works by components, a `vec` or `mov`, a constant, a load of an input, a uniform, a buffer or global memory, a
//! load through a deref of anything but a temporary (which may become a value that does not), an interpolation, or
//! another phi that is split. Phis that depend on each other only are taken to be split. Undefined values do not count
//! as parts.
//!
//! Which are split is found by assuming that all are and taking back those without such an operand, then those that
//! counted on them.
//!
//! Cost: linear in phi operands times components.

use arrayvec::ArrayVec;
use cranelift_entity::SecondaryMap;

use crate::body::{Body, InstData, MAX_COMPONENTS, Shape, SourceSpec, Swizzle};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Block, Def, Inst, User};
use crate::intrinsics::IntrinsicOp;
use crate::shader::Shader;
use crate::variable::VariableModes;

/// See the [module](self).
pub fn lower_phis_to_scalar(shader: &mut Shader, lower_all: bool) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        let phis: Vec<(Block, Inst)> =
            body.blocks().flat_map(|block| body.phis(block).map(move |phi| (block, phi))).collect();
        let vectors: Vec<(Block, Inst)> = phis.into_iter().filter(|&(_, phi)| vector(body, phi).is_some()).collect();
        let kept = if lower_all { SecondaryMap::new() } else { find_kept(body, &vectors) };
        for (block, phi) in vectors {
            if !kept[phi] {
                split(body, block, phi, 1);
                progress = true;
            }
        }
    }
    progress
}

/// The value of a phi, if it is a vector.
fn vector(body: &Body, phi: Inst) -> Option<Def> {
    body.inst_def(phi).filter(|&def| body.num_components(def) > 1)
}

/// The phis that are not split.
fn find_kept(body: &Body, phis: &[(Block, Inst)]) -> SecondaryMap<Inst, bool> {
    let mut kept = SecondaryMap::new();
    let mut parts: SecondaryMap<Inst, u32> = SecondaryMap::new();
    let mut work = Vec::new();
    for &(_, phi) in phis {
        parts[phi] = body.sources(phi).filter(|&source| comes_in_parts(body, body.src_inst(source))).count() as u32;
        if parts[phi] == 0 {
            work.push(phi);
        }
    }
    while let Some(phi) = work.pop() {
        kept[phi] = true;
        let Some(def) = body.inst_def(phi) else { continue };
        for source in body.uses_of(def) {
            let User::Inst(user) = body.user(source) else { continue };
            if body.is_phi(user) {
                parts[user] -= 1;
                if parts[user] == 0 {
                    work.push(user);
                }
            }
        }
    }
    kept
}

/// Whether components of a value are made one by one, or can be. Of a phi that is assumed.
fn comes_in_parts(body: &Body, inst: Inst) -> bool {
    use IntrinsicOp as I;
    match *body.inst(inst) {
        InstData::Alu { op, .. } => op.info().output_size == 0 || op.is_vec(),
        InstData::Phi | InstData::LoadConst { .. } => true,
        InstData::Intrinsic { op: I::LoadDeref, .. } => {
            let temporaries = VariableModes(VariableModes::FUNCTION_TEMP.0 | VariableModes::SHADER_TEMP.0);
            !body.deref_modes(body.src(inst, 0)).intersects(temporaries)
        }
        InstData::Intrinsic { op, .. } => matches!(
            op,
            I::InterpDerefAtCentroid
                | I::InterpDerefAtSample
                | I::InterpDerefAtOffset
                | I::InterpDerefAtVertex
                | I::LoadUniform
                | I::LoadUbo
                | I::LoadSsbo
                | I::LoadGlobal
                | I::LoadGlobalConstant
                | I::LoadInput
                | I::LoadPerPrimitiveInput
        ),
        _ => false,
    }
}

/// A phi becomes phis of up to `width` components, and a vector of these.
pub(crate) fn split(body: &mut Body, block: Block, phi: Inst, width: u8) {
    let Some(def) = body.inst_def(phi) else { return };
    let Shape { num_components, bit_size } = body.shape(def);
    let operands: Vec<(Block, Def)> =
        body.phi_sources(phi).map(|(from, source)| (from, body.src_def(source))).collect();
    let mut parts = Vec::new();
    for first in (0..num_components).step_by(width.into()) {
        let count = width.min(num_components - first);
        let selectors: ArrayVec<u8, MAX_COMPONENTS> = (first..first + count).collect();
        let mut sources = Vec::with_capacity(operands.len());
        for &(from, operand) in &operands {
            let cursor = Cursor::before_jump(body, from);
            let is_undef = matches!(body.inst(body.def_inst(operand)), InstData::Undef);
            let mut builder = Builder::new(body, cursor);
            let part = if is_undef {
                builder.undef(count, bit_size)
            } else {
                builder.mov(AluSrc::new(operand, Swizzle::new(&selectors)), count)
            };
            sources.push(SourceSpec::phi(from, part));
        }
        let part = body.create_inst(InstData::Phi, &sources, Some(Shape::new(count, bit_size)));
        body.insert_inst(Cursor::Before(phi), part);
        if let Some(part) = body.inst_def(part) {
            parts.extend((0..count).map(|component| AluSrc::component(part, component)));
        }
    }
    let cursor = Cursor::after_phis(body, block);
    let vector = Builder::new(body, cursor).vec(&parts);
    body.replace_all_uses(def, vector);
    body.remove_inst(phi);
}
