//! Integers that come from outside or go there, on targets that have none: they are floats there as well.
//!
//! ```text
//! 32x4 %2 = @load_uniform (%1) (base=3)          32x4 %2 = @load_uniform (%1) (base=3)
//! 32   %3 = i2f32 %2.x                     =>    32   %3 = mov %2.x
//! 32   %4 = fadd %3, %5                          32   %4 = fadd %3, %5
//! 32   %6 = f2i32 %4                             32   %6 = mov %4
//!           @store_output (%6, %7)                         @store_output (%6, %7)
//! ```
//!
//! To be run after [`lower_int_to_float`](mod@tgsi_ir::passes::lower_int_to_float), which leaves these conversions. Who feeds the target stores
//! floats in the constants, inputs and system values that [`OutsideIntegers`] lists. A component that is read as an integer in one place and as
//! a float in another cannot be both and is an error.

use std::collections::BTreeMap;

use tgsi_ir::alu::{AluOp, BaseType};
use tgsi_ir::body::InstData;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::passes::lower_int_to_float::{components_read, handed_to, is_index};
use tgsi_ir::{Body, Def, Inst, Shader, Use, User};

use crate::DriverError;
use crate::select::system_values;

/// Stands for all registers, where the index is a run-time one.
pub const EVERY_REGISTER: u32 = u32::MAX;

/// What a target without integers finds floats in where a shader has integers: masks of components.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct OutsideIntegers {
    /// By constant buffer and index in it.
    pub constants: BTreeMap<(u32, u32), u8>,
    /// By input register.
    pub inputs: BTreeMap<u32, u8>,
    /// By output register.
    pub outputs: BTreeMap<u32, u8>,
}

/// What an access designates.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Constant(u32, u32),
    Input(u32),
    Output(u32),
    Other(Inst),
}

/// Lowers. The first value that is integer and float is an error.
pub(super) fn lower_outside_integers(shader: &mut Shader) -> Result<OutsideIntegers, DriverError> {
    let mut found = OutsideIntegers::default();
    let mut numbers: BTreeMap<Place, (u8, Inst)> = BTreeMap::new();
    let mut floats: BTreeMap<Place, u8> = BTreeMap::new();
    for body in shader.bodies_mut() {
        let all: Vec<Inst> = body.blocks().flat_map(|block| body.insts(block).collect::<Vec<_>>()).collect();
        for inst in all {
            if let Some(def) = body.inst_def(inst)
                && body.bit_size(def) == 32
                && body.intrinsic(inst).is_some_and(comes_from_outside)
            {
                let (place, first) = place_of(body, inst);
                let number = as_number(body, def);
                if number != 0 {
                    numbers.entry(place).or_insert((0, inst)).0 |= ((number << first) & 0xf) as u8;
                }
                *floats.entry(place).or_default() |= ((as_float(body, def) << first) & 0xf) as u8;
            }
            lower(body, inst, &mut found);
        }
    }
    for (&place, &(mask, inst)) in &numbers {
        if mask & floats.get(&place).copied().unwrap_or(0) != 0 {
            return Err(DriverError::IntegerAndFloat { inst });
        }
        match place {
            Place::Constant(buffer, index) => *found.constants.entry((buffer, index)).or_default() |= mask,
            Place::Input(index) => *found.inputs.entry(index).or_default() |= mask,
            Place::Output(index) => *found.outputs.entry(index).or_default() |= mask,
            Place::Other(_) => {}
        }
    }
    Ok(found)
}

/// Whether an intrinsic loads what others put there.
pub(crate) fn comes_from_outside(op: IntrinsicOp) -> bool {
    use IntrinsicOp::*;
    let loads = matches!(
        op,
        LoadUniform | LoadUbo | LoadUboVec4 | LoadInput | LoadPerVertexInput | LoadOutput | LoadPerVertexOutput
    );
    loads || system_values::semantic(op).is_some()
}

/// Where a load or store of an output goes, and the component there of its first one.
fn place_of(body: &Body, inst: Inst) -> (Place, u32) {
    use IntrinsicOp::*;
    let Some(op) = body.intrinsic(inst) else { return (Place::Other(inst), 0) };
    let Some(last) = body.num_sources(inst).checked_sub(1) else { return (Place::Other(inst), 0) };
    let offset = body.constant_component(body.src(inst, last), 0);
    let index = |kind: IndexKind| body.index(inst, kind);
    let register = || offset.map_or(EVERY_REGISTER, |o| (o as u32).wrapping_add(index(IndexKind::Base) as u32));
    match op {
        LoadUniform => (Place::Constant(0, register()), 0),
        LoadUboVec4 | LoadUbo => {
            let buffer = body.constant_component(body.src(inst, 0), 0).map(|b| (b as u32).wrapping_add(1));
            let offset = body.constant_component(body.src(inst, 1), 0).map(|o| o as u32);
            let (row, first) = match (op, offset) {
                (LoadUbo, Some(bytes)) => (bytes / 16, bytes % 16 / 4),
                (LoadUboVec4, _) => (register(), index(IndexKind::Component) as u32 & 3),
                _ => return (Place::Other(inst), 0),
            };
            (buffer.map_or(Place::Other(inst), |buffer| Place::Constant(buffer, row)), first)
        }
        LoadInput | LoadPerVertexInput => (Place::Input(register()), index(IndexKind::Component) as u32 & 3),
        LoadOutput | LoadPerVertexOutput | StoreOutput | StorePerVertexOutput => {
            (Place::Output(register()), index(IndexKind::Component) as u32 & 3)
        }
        _ => (Place::Other(inst), 0),
    }
}

/// The components of a value that somebody reads.
fn read_by(body: &Body, source: Use) -> u16 {
    match body.user(source) {
        User::If(_) => 1,
        User::Inst(inst) => components_read(body, inst, source).into_iter().fold(0, |mask, c| mask | 1 << (c & 15)),
    }
}

/// The components of a loaded value that are read as integers: through conversions, and as an index.
fn as_number(body: &Body, def: Def) -> u16 {
    let mut mask = 0;
    for source in body.uses_of(def) {
        let User::Inst(reader) = body.user(source) else { continue };
        if is_index(body, source) {
            mask |= 1;
        }
        if let (Some(AluOp::I2f32 | AluOp::U2f32), Some(number)) = (body.alu_op(reader), body.inst_def(reader)) {
            let wanted = body.uses_of(number).fold(0, |mask, s| mask | read_by(body, s));
            let swizzle = body.swizzle(source);
            let wanted = (0..body.num_components(number)).filter(|c| wanted & 1 << c != 0);
            mask |= wanted.fold(0, |mask, c| mask | 1 << (swizzle.get(usize::from(c)) & 15));
        }
    }
    mask
}

/// The components of a loaded value that are read as floats, by whatever they are handed to.
fn as_float(body: &Body, def: Def) -> u16 {
    let mut result = 0;
    for component in 0..body.num_components(def).min(4) {
        let mut seen: std::collections::HashSet<(Def, u8)> = std::collections::HashSet::new();
        let mut pending = vec![(def, component)];
        while let Some((value, part)) = pending.pop() {
            if !seen.insert((value, part)) {
                continue;
            }
            for source in body.uses_of(value) {
                let User::Inst(reader) = body.user(source) else { continue };
                if read_by(body, source) & 1 << part == 0 {
                    continue;
                }
                let reached = handed_to(body, reader, source, part);
                if let Some(next) = body.inst_def(reader) {
                    pending.extend((0..16).filter(|c| reached & 1 << c != 0).map(|c| (next, c)));
                }
                let number = body.source_number(source);
                let is_float = |op: AluOp| {
                    !op.is_vec_or_mov()
                        && op.info().input_types.get(number).is_some_and(|ty| ty.base == BaseType::Float)
                };
                if reached == 0 && (body.alu_op(reader).is_some_and(is_float) || body.tex(reader).is_some()) {
                    result |= 1 << component;
                    pending.clear();
                    break;
                }
            }
        }
    }
    result
}

/// The store of an output that a source is the value of.
fn stores(body: &Body, source: Use) -> Option<Inst> {
    let User::Inst(inst) = body.user(source) else { return None };
    let is_store = matches!(body.intrinsic(inst), Some(IntrinsicOp::StoreOutput | IntrinsicOp::StorePerVertexOutput));
    (is_store && body.source_number(source) == 0).then_some(inst)
}

/// Whether all that reads a converted value writes it to an output, be it in a vector with others. Notes where.
fn goes_outside(body: &Body, def: Def, found: &mut OutsideIntegers) -> bool {
    let mut noted: Vec<(u32, u8)> = Vec::new();
    let note = |noted: &mut Vec<(u32, u8)>, store: Inst, components: u16| {
        let (place, first) = place_of(body, store);
        let written = components & body.index(store, IndexKind::WriteMask) as u16;
        if let Place::Output(index) = place {
            noted.push((index, ((written << first) & 0xf) as u8));
        }
    };
    for source in body.uses_of(def) {
        if let Some(store) = stores(body, source) {
            note(&mut noted, store, read_by(body, source));
            continue;
        }
        let User::Inst(vector) = body.user(source) else { return false };
        let (Some(op), Some(result)) = (body.alu_op(vector), body.inst_def(vector)) else { return false };
        if !op.is_vec_or_mov() {
            return false;
        }
        let parts = (0..16).fold(0, |mask, c| mask | handed_to(body, vector, source, c));
        for reader in body.uses_of(result) {
            let Some(store) = stores(body, reader) else { return false };
            note(&mut noted, store, parts);
        }
    }
    for (index, mask) in noted {
        *found.outputs.entry(index).or_default() |= mask;
    }
    true
}

/// Turns a conversion at the border into a move.
fn lower(body: &mut Body, inst: Inst, found: &mut OutsideIntegers) {
    let Some((op, flags)) = body.alu(inst) else { return };
    let Some(def) = body.inst_def(inst) else { return };
    if body.bit_size(def) != 32 || body.num_sources(inst) == 0 {
        return;
    }
    let is_at_border = match op {
        AluOp::I2f32 | AluOp::U2f32 => body.intrinsic(body.def_inst(body.src(inst, 0))).is_some_and(comes_from_outside),
        AluOp::F2i32 => goes_outside(body, def, found),
        _ => false,
    };
    if is_at_border {
        body.set_inst(inst, InstData::Alu { op: AluOp::Mov, flags });
    }
}
