//! Moves conversions from before phis to after them.
//!
//! ```text
//! before:                              after:
//!     if %c {                              if %c {
//!         %1 = b2i32 %a                    } else {
//!         %2 = ineg %1                     }
//!     } else {                             %4 = phi: %a, false
//!     }                                    %5 = b2i32 %4
//!     %3 = phi: %2, 0                      %3 = ineg %5
//! ```
//!
//! 1. Phis become phis of a narrower type if all their values come from one kind of conversion from that type (or are
//!    constants with an equal in the narrower type, or other such phis, also around loops). The kinds are the
//!    conversions of booleans (`b2i32`, `b2f32`, and the mask `ineg (b2i32)`), widening conversions of floats and of
//!    integers. Booleans then reach their tests without conversions.
//! 2. If all uses of a phi convert it to one narrower type, the conversion moves before it.
//!
//! Both are exact. Phis of constants only are left alone, except masks, which cost nothing.
//!
//! The set of phis is found optimistically: all are assumed to qualify, and those with another source, and their users,
//! are withdrawn. Linear.

use arrayvec::ArrayVec;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

use crate::alu::{AluOp, BaseType};
use crate::body::{AluFlags, Body, InstData, MAX_COMPONENTS, Shape};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Block, Def, Inst};
use crate::shader::Shader;

/// See the [module](self).
pub fn opt_phi_precision(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut().filter(|body| !body.is_one_block()) {
        for kind in kinds_of_sources(body) {
            progress |= convert_after(body, kind);
        }
        progress |= convert_before(body);
    }
    progress
}

/// Conversions by a single instruction.
const CONVERSIONS: [AluOp; 8] = {
    use AluOp as O;
    [O::B2i32, O::B2f32, O::F2f32, O::F2f64, O::I2i32, O::I2i64, O::U2u32, O::U2u64]
};

/// A kind of conversion from a narrower type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum WideningConversion {
    /// A boolean to 0 and all ones.
    Mask,
    /// A single opcode.
    Op(AluOp),
}

impl WideningConversion {
    fn bit_size(self) -> u8 {
        match self {
            WideningConversion::Mask => 32,
            WideningConversion::Op(op) => op.info().output_type.bit_size,
        }
    }

    /// Returns the operand of a value that is such a conversion.
    fn input(self, body: &Body, def: Def) -> Option<AluSrc> {
        let operand = |def: Def, op: AluOp| {
            let inst = body.def_inst(def);
            let source = (body.alu_op(inst) == Some(op)).then(|| body.source(inst, 0))?;
            Some(AluSrc::new(body.src_def(source), body.swizzle(source)))
        };
        match self {
            WideningConversion::Op(op) => operand(def, op),
            WideningConversion::Mask => {
                let number = operand(def, AluOp::Ineg)?;
                let boolean = operand(number.def, AluOp::B2i32)?;
                Some(AluSrc::new(boolean.def, number.swizzle.compose(boolean.swizzle)))
            }
        }
    }

    /// Returns the bits of the narrower type that convert to these.
    fn narrow(self, bits: u64, narrow_size: u8) -> Option<u64> {
        // A true boolean is all ones.
        let yes = u64::MAX >> (64 - u32::from(narrow_size));
        match self {
            WideningConversion::Mask => match bits {
                0 => Some(0),
                0xffff_ffff => Some(yes),
                _ => None,
            },
            WideningConversion::Op(AluOp::B2i32) => (bits <= 1).then_some(bits * yes),
            WideningConversion::Op(AluOp::B2f32) => match bits {
                0 => Some(0),
                _ if bits == u64::from(1f32.to_bits()) => Some(yes),
                _ => None,
            },
            WideningConversion::Op(AluOp::U2u32 | AluOp::U2u64) => (bits >> narrow_size == 0).then_some(bits),
            WideningConversion::Op(AluOp::I2i32 | AluOp::I2i64) => {
                let unused = 64 - u32::from(self.bit_size());
                let value = (bits << unused) as i64 >> unused;
                let narrow_unused = 64 - u32::from(narrow_size);
                (value << narrow_unused >> narrow_unused == value).then_some(bits & (u64::MAX >> narrow_unused))
            }
            // Floats of other sizes are left alone: a NaN may not be preserved.
            WideningConversion::Op(_) => None,
        }
    }

    fn widen(self, b: &mut Builder<'_>, value: Def) -> Def {
        match self {
            WideningConversion::Op(op) => b.alu(op, &[value]),
            WideningConversion::Mask => {
                let number = b.alu(AluOp::B2i32, &[value]);
                b.alu(AluOp::Ineg, &[number])
            }
        }
    }
}

/// Returns the kinds of conversions among the sources of phis. Constants other than 0 may be masks.
fn kinds_of_sources(body: &Body) -> ArrayVec<WideningConversion, { CONVERSIONS.len() + 1 }> {
    let mut has_masks = false;
    let mut ops: ArrayVec<AluOp, { CONVERSIONS.len() }> = ArrayVec::new();
    for source in body.blocks().flat_map(|block| body.phis(block)).flat_map(|phi| body.sources(phi)) {
        match *body.inst(body.src_inst(source)) {
            InstData::Alu { op: AluOp::Ineg, .. } => has_masks = true,
            InstData::Alu { op, .. } if CONVERSIONS.contains(&op) && !ops.contains(&op) => ops.push(op),
            InstData::LoadConst { .. } if !has_masks => {
                has_masks = body.constant_component(body.src_def(source), 0).is_some_and(|v| v != 0);
            }
            _ => {}
        }
    }
    let in_order = CONVERSIONS.into_iter().filter(|op| ops.contains(op)).map(WideningConversion::Op);
    has_masks.then_some(WideningConversion::Mask).into_iter().chain(in_order).collect()
}

/// Whether a phi is assumed to qualify, and whether it has a conversion as a source.
#[derive(Clone, Copy, Default)]
struct Candidate {
    qualifies: bool,
    /// Also set if something else makes it worthwhile.
    converted: bool,
}

/// Runs the first part for one kind.
fn convert_after(body: &mut Body, kind: WideningConversion) -> bool {
    // Most bodies have many phis and no work for this pass.
    let converted_inputs = |phi: Inst| {
        let def = body.inst_def(phi).filter(|&def| body.bit_size(def) == kind.bit_size())?;
        let inputs = body.sources(phi).filter_map(|s| kind.input(body, body.src_def(s)));
        let size = inputs.map(|input| body.bit_size(input.def)).find(|&size| size < body.bit_size(def));
        Some((size, size.is_some() || is_useful_mask(body, kind, phi)))
    };
    let all_phis = || body.blocks().flat_map(|block| body.phis(block));
    if !all_phis().any(|phi| converted_inputs(phi).is_some_and(|(_, converted)| converted)) {
        return false;
    }
    let phis: Vec<Inst> = all_phis().collect();
    let mut candidates: SecondaryMap<Inst, Candidate> = SecondaryMap::new();
    // One narrower size for all phis of a run: phis that need another one are left to the next run.
    let mut narrow_size = 0;
    for &phi in &phis {
        let Some((size, converted)) = converted_inputs(phi) else { continue };
        if narrow_size == 0 {
            narrow_size = size.unwrap_or(0);
        }
        candidates[phi] = Candidate { qualifies: true, converted };
    }
    if narrow_size == 0 && kind == WideningConversion::Mask {
        narrow_size = 1;
    }
    if narrow_size == 0 || narrow_size >= kind.bit_size() {
        return false;
    }
    withdraw(body, kind, narrow_size, &phis, &mut candidates);
    spread_converted(body, &phis, &mut candidates);
    let chosen: Vec<Inst> =
        phis.into_iter().filter(|&phi| candidates[phi].qualifies && candidates[phi].converted).collect();
    rebuild(body, kind, narrow_size, &chosen)
}

/// Returns whether a phi of constants is worth turning into a boolean: a mask, if one of them is not 0.
fn is_useful_mask(body: &Body, kind: WideningConversion, phi: Inst) -> bool {
    kind == WideningConversion::Mask
        && body.sources(phi).any(|s| body.constant_component(body.src_def(s), 0).is_some_and(|v| v != 0))
}

/// Withdraws candidates with a source that is neither a conversion nor a constant nor a candidate, and their users.
fn withdraw(
    body: &Body,
    kind: WideningConversion,
    narrow_size: u8,
    phis: &[Inst],
    candidates: &mut SecondaryMap<Inst, Candidate>,
) {
    let mut work: Vec<Inst> = Vec::new();
    for &phi in phis {
        let fits = body.sources(phi).all(|source| {
            let def = body.src_def(source);
            let producer = body.def_inst(def);
            match body.inst(producer) {
                InstData::Phi => candidates[producer].qualifies,
                InstData::Undef => true,
                InstData::LoadConst { .. } => body
                    .constant(producer)
                    .is_some_and(|values| values.iter().all(|&v| kind.narrow(v, narrow_size).is_some())),
                _ => kind.input(body, def).is_some_and(|input| body.bit_size(input.def) == narrow_size),
            }
        });
        if candidates[phi].qualifies && !fits {
            work.push(phi);
        }
    }
    while let Some(phi) = work.pop() {
        if !std::mem::take(&mut candidates[phi].qualifies) {
            continue;
        }
        let Some(def) = body.inst_def(phi) else { continue };
        work.extend(body.uses_of(def).filter_map(|u| body.user(u).inst()).filter(|&user| candidates[user].qualifies));
    }
}

/// Includes phis that use, or are used by, a phi with a conversion.
fn spread_converted(body: &Body, phis: &[Inst], candidates: &mut SecondaryMap<Inst, Candidate>) {
    let mut work: Vec<Inst> =
        phis.iter().copied().filter(|&phi| candidates[phi].qualifies && candidates[phi].converted).collect();
    while let Some(phi) = work.pop() {
        let readers =
            body.inst_def(phi).into_iter().flat_map(|def| body.uses_of(def)).filter_map(|u| body.user(u).inst());
        let read = body.sources(phi).map(|s| body.src_inst(s));
        for other in readers.chain(read) {
            if candidates[other].qualifies && !std::mem::replace(&mut candidates[other].converted, true) {
                work.push(other);
            }
        }
    }
}

fn rebuild(body: &mut Body, kind: WideningConversion, narrow_size: u8, chosen: &[Inst]) -> bool {
    // The new phis come first, since they may use each other.
    let mut narrow: SecondaryMap<Inst, PackedOption<Def>> = SecondaryMap::new();
    for &phi in chosen {
        let (Some(def), Some(block)) = (body.inst_def(phi), body.inst_block(phi)) else { continue };
        let shape = Shape::new(body.num_components(def), narrow_size);
        let new = Builder::new(body, Cursor::BlockStart(block)).phi(shape, &[]);
        narrow[phi] = new.into();
    }
    for &phi in chosen {
        let (Some(def), Some(new)) = (body.inst_def(phi), narrow[phi].expand()) else { continue };
        let count = body.num_components(def);
        let sources: Vec<(Block, Def)> = body.phi_sources(phi).map(|(block, s)| (block, body.src_def(s))).collect();
        for (block, value) in sources {
            let producer = body.def_inst(value);
            let narrowed = if let Some(other) = narrow[producer].expand() {
                other
            } else {
                let cursor = Cursor::before_jump(body, block);
                narrow_value(&mut Builder::new(body, cursor), kind, narrow_size, value, count)
            };
            body.add_phi_source(body.def_inst(new), block, narrowed);
        }
    }
    // Searched once for all phis of a block, which are consecutive.
    let mut last: Option<(Block, Cursor)> = None;
    for &phi in chosen {
        let (Some(def), Some(new), Some(block)) = (body.inst_def(phi), narrow[phi].expand(), body.inst_block(phi))
        else {
            continue;
        };
        let cursor = match last {
            Some((last, cursor)) if last == block => cursor,
            _ => Cursor::after_phis(body, block),
        };
        last = Some((block, cursor));
        let wide = kind.widen(&mut Builder::new(body, cursor), new);
        body.replace_all_uses(def, wide);
    }
    // Phis that used each other now use the converted values, so the old ones are unused.
    let mut progress = false;
    for &phi in chosen {
        let Some(def) = body.inst_def(phi) else { continue };
        debug_assert!(body.is_unused(def));
        body.remove_inst(phi);
        progress = true;
    }
    progress
}

/// Returns the value of the narrower type that corresponds to a source of a phi.
fn narrow_value(b: &mut Builder<'_>, kind: WideningConversion, narrow_size: u8, value: Def, count: u8) -> Def {
    if let Some(input) = kind.input(b.body, value) {
        return b.mov(input, count);
    }
    let values: Option<ArrayVec<u64, MAX_COMPONENTS>> =
        b.body.def_constant(value).and_then(|values| values.iter().map(|&v| kind.narrow(v, narrow_size)).collect());
    match values {
        Some(values) => b.constant(narrow_size, &values),
        None => b.undef(count, narrow_size),
    }
}

/// Runs the second part.
fn convert_before(body: &mut Body) -> bool {
    let mut progress = false;
    let mut phis: Vec<Inst> = Vec::new();
    for block in body.blocks_vec() {
        phis.clear();
        phis.extend(body.phis(block));
        for &phi in &phis {
            progress |= convert_sources(body, phi);
        }
    }
    progress
}

fn convert_sources(body: &mut Body, phi: Inst) -> bool {
    let Some(def) = body.inst_def(phi) else { return false };
    let mut common: Option<(AluOp, AluFlags)> = None;
    for source in body.uses_of(def) {
        let Some((user, (op, flags))) = body.user(source).inst().and_then(|i| Some((i, body.alu(i)?))) else {
            return false;
        };
        let count = usize::from(body.num_components(def));
        let whole = body.inst_def(user).is_some_and(|d| usize::from(body.num_components(d)) == count)
            && body.swizzle(source).is_identity(count);
        let (input, output) = (op.info().input_types[0], op.info().output_type);
        let is_number = input.base != BaseType::Bool && output.base != BaseType::Bool;
        let narrows = op.is_conversion() && is_number && output.bit_size > 1 && output.bit_size < body.bit_size(def);
        if !narrows || !whole || common.is_some_and(|(other, _)| other != op) {
            return false;
        }
        common = Some((op, common.map_or(flags, |(_, other)| other.union(flags))));
    }
    let Some((op, flags)) = common else { return false };
    let shape = Shape::new(body.num_components(def), op.info().output_type.bit_size);
    let sources: Vec<(Block, Def)> = body.phi_sources(phi).map(|(block, s)| (block, body.src_def(s))).collect();
    let converted: Vec<(Block, Def)> = sources
        .into_iter()
        .map(|(block, value)| {
            let cursor = Cursor::before_jump(body, block);
            let mut b = Builder::new(body, cursor);
            b.flags = flags;
            (block, b.alu(op, &[value]))
        })
        .collect();
    let Some(block) = body.inst_block(phi) else { return false };
    let new = Builder::new(body, Cursor::BlockStart(block)).phi(shape, &converted);
    for source in body.uses_vec(def) {
        if let Some(user) = body.user(source).inst()
            && let Some(result) = body.inst_def(user)
        {
            body.replace_all_uses(result, new);
            body.remove_inst(user);
        }
    }
    body.remove_inst(phi);
    true
}
