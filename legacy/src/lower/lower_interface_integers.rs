//! Converts the integers of a shader's interface to floats, for targets without integers.
//!
//! ```text
//! 32x4 %2 = @load_uniform (%1) (base=3)          32x4 %2 = @load_uniform (%1) (base=3)
//! 32   %3 = i2f32 %2.x                     =>    32   %3 = mov %2.x
//! 32   %4 = fadd %3, %5                          32   %4 = fadd %3, %5
//! 32   %6 = f2i32 %4                             32   %6 = mov %4
//!           @store_output (%6, %7)                         @store_output (%6, %7)
//! ```
//!
//! Must run after [`lower_int_to_float`](mod@tgsi_ir::passes::lower_numbers::lower_int_to_float), which leaves these
//! conversions. The application must store floats in the constants and inputs listed by [`InterfaceIntegers`] (and in
//! all integer system values), and gets floats in the listed outputs. A component that one instruction uses as an
//! integer and another as a float is an error; so is one that a run-time index may reach both ways.
//!
//! Linear: uses as floats, and forwarding of loaded integers, are computed for all values at once.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use tgsi_environment::{EVERY_REGISTER, InterfaceIntegers, is_integer};
use tgsi_ir::alu::{AluOp, BaseType};
use tgsi_ir::body::InstData;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::passes::lower_numbers::lower_int_to_float::{components_read, forwarded_mask, is_index};
use tgsi_ir::{Body, Builder, Cursor, Def, Inst, Shader, Use, User};

use super::LowerError;

/// The maximum length of a range with registers listed individually.
const LONGEST_RANGE: u32 = 256;

/// A file or a constant buffer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Bank {
    Constants(u32),
    Inputs,
    Outputs,
    /// A single system value.
    Other(Inst),
}

/// The registers that an access may reach, and the first component accessed.
struct AccessRange {
    bank: Bank,
    registers: std::ops::RangeInclusive<u32>,
    first: u32,
    /// Whether it may begin at any component.
    any: bool,
}

impl AccessRange {
    /// Converts components of an access to components of the registers.
    fn mask(&self, components: u16) -> u8 {
        if self.any && components != 0 { 0xf } else { ((components << self.first) & 0xf) as u8 }
    }
}

/// Masks of components by bank and register.
#[derive(Default)]
struct Masks {
    registers: BTreeMap<(Bank, u32), (u8, Option<Inst>)>,
}

impl Masks {
    fn note(&mut self, reach: &AccessRange, components: u16, inst: Inst) {
        let mask = reach.mask(components);
        if mask == 0 {
            return;
        }
        for register in reach.registers.clone() {
            let entry = self.registers.entry((reach.bank, register)).or_default();
            entry.0 |= mask;
            entry.1.get_or_insert(inst);
        }
    }

    /// The components of the registers that an access may reach. For one that may reach any register, only those that
    /// apply to all.
    fn at(&self, reach: &AccessRange, unions: &BTreeMap<Bank, (u8, u8)>) -> u8 {
        let (_, every) = unions.get(&reach.bank).copied().unwrap_or_default();
        if *reach.registers.start() == EVERY_REGISTER {
            return every;
        }
        let registers = reach.registers.clone();
        registers.fold(every, |mask, r| mask | self.registers.get(&(reach.bank, r)).map_or(0, |entry| entry.0))
    }

    /// By bank: the union of all masks, and the mask that applies to every register.
    fn unions(&self) -> BTreeMap<Bank, (u8, u8)> {
        let mut unions: BTreeMap<Bank, (u8, u8)> = BTreeMap::new();
        for (&(bank, register), &(mask, _)) in &self.registers {
            let every = if register == EVERY_REGISTER { mask } else { 0 };
            let union = unions.entry(bank).or_default();
            *union = (union.0 | mask, union.1 | every);
        }
        unions
    }
}

fn insts_of(body: &Body) -> Vec<Inst> {
    body.blocks().flat_map(|block| body.insts(block)).collect()
}

/// The 32-bit loads of interface values, and their results.
fn loads<'a>(body: &'a Body, all: &'a [Inst]) -> impl Iterator<Item = (Inst, Def)> + 'a {
    let loads = all.iter().filter(move |&&inst| body.intrinsic(inst).is_some_and(is_interface_load));
    loads.filter_map(|&inst| body.inst_def(inst).map(|def| (inst, def))).filter(|&(_, def)| body.bit_size(def) == 32)
}

/// Whether a load reads an integer system value.
fn is_integer_value(body: &Body, inst: Inst) -> bool {
    body.intrinsic(inst).and_then(IntrinsicOp::system_value).is_some_and(is_integer)
}

/// Lowers a shader. Returns an error for the first value used as both integer and float.
pub(super) fn lower_interface_integers(shader: &mut Shader) -> Result<InterfaceIntegers, LowerError> {
    let mut found = InterfaceIntegers::default();
    let mut float_outputs = BTreeMap::new();
    let (mut numbers, mut floats) = (Masks::default(), Masks::default());
    let first_buffer = shader.info.first_ubo_buffer();
    for body in shader.bodies_mut() {
        let all = insts_of(body);
        let float_reads = float_reads(body, &all);
        for (inst, def) in loads(body, &all) {
            let reach = reach_of(body, inst, first_buffer);
            numbers.note(&reach, as_number(body, def), inst);
            floats.note(&reach, float_reads[def], inst);
        }
    }
    let number_unions = numbers.unions();
    for body in shader.bodies_mut() {
        let all = insts_of(body);
        // A register read as an integer by one load is an integer for all.
        let integers = loads(body, &all).map(|(inst, def)| {
            let reach = reach_of(body, inst, first_buffer);
            let is_number = match reach.bank {
                Bank::Other(_) if is_integer_value(body, inst) => 0xf,
                _ => numbers.at(&reach, &number_unions),
            };
            (def, u16::from(is_number) >> reach.first)
        });
        let integers: Vec<(Def, u16)> = integers.collect();
        let computed = all.iter().filter_map(|&inst| floats_made(body, inst));
        let loaded = integers.iter().map(|&(def, is_number)| (def, !is_number));
        note_handed_on(body, computed.chain(loaded).collect(), &mut float_outputs);
        note_handed_on(body, integers, &mut found.outputs);
        for &inst in &all {
            lower(body, inst, &mut found);
        }
        for (_, def) in loads(body, &all).collect::<Vec<_>>() {
            convert_indices(body, def);
        }
    }
    let unions = floats.unions();
    let known = |bank: Bank| unions.get(&bank).copied().unwrap_or_default();
    let any_buffer = unions.iter().filter(|(bank, _)| matches!(bank, Bank::Constants(_))).fold(0, |m, (_, u)| m | u.0);
    for (&(bank, register), &(mask, inst)) in &numbers.registers {
        let (all, every) = known(bank);
        let mut conflicts = if register == EVERY_REGISTER {
            all
        } else {
            every | floats.registers.get(&(bank, register)).map_or(0, |entry| entry.0)
        };
        match bank {
            Bank::Constants(EVERY_REGISTER) => conflicts |= any_buffer,
            Bank::Constants(_) => conflicts |= known(Bank::Constants(EVERY_REGISTER)).0,
            _ => {}
        }
        if mask & conflicts != 0
            && let Some(inst) = inst
        {
            return Err(LowerError::IntegerAndFloat { inst });
        }
        match bank {
            Bank::Constants(buffer) => *found.constants.entry((buffer, register)).or_default() |= mask,
            Bank::Inputs => *found.inputs.entry(register).or_default() |= mask,
            Bank::Outputs => *found.outputs.entry(register).or_default() |= mask,
            Bank::Other(_) => {}
        }
    }
    found.mixed_outputs = in_both(&found.outputs, &float_outputs);
    Ok(found)
}

/// The intersection of two tables of masks.
fn in_both(first: &BTreeMap<u32, u8>, second: &BTreeMap<u32, u8>) -> BTreeMap<u32, u8> {
    let at = |masks: &BTreeMap<u32, u8>, register: u32| {
        [register, EVERY_REGISTER].iter().filter_map(|key| masks.get(key)).fold(0, |all, mask| all | mask)
    };
    let common =
        first.keys().chain(second.keys()).map(|&register| (register, at(first, register) & at(second, register)));
    common.filter(|&(_, mask)| mask != 0).collect()
}

/// The components of an instruction's result that are floats: results of float operations and lookups, and constants
/// that are not small integers.
fn floats_made(body: &Body, inst: Inst) -> Option<(Def, u16)> {
    let def = body.inst_def(inst).filter(|&def| body.bit_size(def) == 32)?;
    if let Some(words) = body.def_constant(def) {
        let is_float = |&(_, &word): &(usize, &u64)| f32::from_bits(word as u32).is_normal();
        return Some((def, words.iter().enumerate().filter(is_float).fold(0, |mask, (c, _)| mask | 1 << (c & 15))));
    }
    let is_float = match (body.tex(inst), body.alu_op(inst)) {
        (Some(tex), _) => tex.dest_type.base == BaseType::Float,
        (None, Some(op)) => {
            let is_transparent =
                || body.sources(inst).any(|source| (0..16).any(|c| forwarded_mask(body, inst, source, c) != 0));
            op.info().output_type.base == BaseType::Float && !is_transparent()
        }
        (None, None) => false,
    };
    is_float.then_some((def, u16::MAX))
}

/// Whether an intrinsic loads an interface value.
pub fn is_interface_load(op: IntrinsicOp) -> bool {
    use IntrinsicOp::*;
    let loads = matches!(
        op,
        LoadUniform | LoadUbo | LoadUboVec4 | LoadInput | LoadPerVertexInput | LoadOutput | LoadPerVertexOutput
    );
    loads || op.system_value().is_some()
}

/// The registers that a load, or the store of an output, may reach.
fn reach_of(body: &Body, inst: Inst, first_buffer: u32) -> AccessRange {
    use IntrinsicOp::*;
    let of = |bank, registers, first| AccessRange { bank, registers, first, any: false };
    let other = of(Bank::Other(inst), 0..=0, 0);
    let Some(op) = body.intrinsic(inst) else { return other };
    let Some(last) = body.num_sources(inst).checked_sub(1) else { return other };
    let index = |kind: IndexKind| body.index(inst, kind);
    let (base, range) = (body.base(inst), index(IndexKind::Range) as u32);
    let every = EVERY_REGISTER..=EVERY_REGISTER;
    let constant = |number: usize| body.constant_component(body.src(inst, number), 0).map(|value| value as u32);
    let direct = constant(last).map(|offset| offset.wrapping_add(base)).map(|register| register..=register);
    // Accesses to inputs and outputs stay within their range.
    let indirect =
        if (1..=LONGEST_RANGE).contains(&range) { base..=base.saturating_add(range - 1) } else { every.clone() };
    let component = u32::from(body.component(inst));
    let buffer = || Bank::Constants(constant(0).map_or(EVERY_REGISTER, |buffer| buffer.wrapping_add(first_buffer)));
    match op {
        LoadUniform => of(Bank::Constants(0), direct.unwrap_or(every), 0),
        LoadUboVec4 => of(buffer(), direct.unwrap_or(every), component),
        LoadUbo => match constant(1) {
            Some(bytes) => of(buffer(), bytes / 16..=bytes / 16, bytes % 16 / 4),
            None => {
                let first = index(IndexKind::AlignOffset) as u32 % 16 / 4;
                AccessRange { any: index(IndexKind::AlignMul) < 16, ..of(buffer(), every, first) }
            }
        },
        LoadInput | LoadPerVertexInput => of(Bank::Inputs, direct.unwrap_or(indirect), component),
        LoadOutput | LoadPerVertexOutput | StoreOutput | StorePerVertexOutput => {
            of(Bank::Outputs, direct.unwrap_or(indirect), component)
        }
        _ => other,
    }
}

/// The components of a value read by a use.
fn read_by(body: &Body, source: Use) -> u16 {
    match body.user(source) {
        User::If(_) => 1,
        User::Inst(inst) => components_read(body, inst, source).into_iter().fold(0, |mask, c| mask | 1 << (c & 15)),
    }
}

/// The components of a value that an ALU instruction reads for those components of its result that have uses.
fn read_for_result(body: &Body, inst: Inst, source: Use, number: usize) -> u16 {
    let all = read_by(body, source);
    let Some((op, def)) = body.alu_op(inst).zip(body.inst_def(inst)) else { return all };
    let is_by_component = op.info().output_size == 0 && op.info().input_sizes.get(number) == Some(&0);
    if !is_by_component {
        return all;
    }
    let used = body.uses_of(def).fold(0, |mask, reader| mask | read_by(body, reader));
    let swizzle = body.swizzle(source);
    let channels = (0..body.num_components(def)).filter(|c| used >> c & 1 != 0);
    channels.fold(0, |mask, c| mask | 1 << (swizzle.get(usize::from(c)) & 15))
}

/// The components of a loaded value that are used as integers: through conversions, and as an index.
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

/// The components of all values that are used as floats, directly or by forwarding.
fn float_reads(body: &Body, all: &[Inst]) -> SecondaryMap<Def, u16> {
    let mut reads: SecondaryMap<Def, u16> = SecondaryMap::new();
    reads.resize(body.num_defs());
    let mut pending: Vec<(Def, u16)> = Vec::new();
    for &inst in all {
        let is_texture = body.tex(inst).is_some();
        let Some(op) = body.alu_op(inst) else {
            if is_texture {
                pending.extend(body.sources(inst).map(|source| (body.src_def(source), u16::MAX)));
            }
            continue;
        };
        if op.is_vec_or_mov() {
            continue;
        }
        for (number, source) in body.sources(inst).enumerate() {
            let is_float = op.info().input_types.get(number).is_some_and(|ty| ty.base == BaseType::Float);
            // A forwarding selection counts as the uses of its result.
            if is_float && (0..16).all(|c| forwarded_mask(body, inst, source, c) == 0) {
                pending.push((body.src_def(source), read_for_result(body, inst, source, number)));
            }
        }
    }
    while let Some((def, mask)) = pending.pop() {
        let new = mask & !reads[def];
        if new == 0 {
            continue;
        }
        reads[def] |= new;
        let producer = body.def_inst(def);
        for source in body.sources(producer) {
            let forwarded = (0..16).filter(|&c| forwarded_mask(body, producer, source, c) & new != 0);
            let from = forwarded.fold(0, |mask, c| mask | 1 << c);
            if from != 0 {
                pending.push((body.src_def(source), from));
            }
        }
    }
    reads
}

/// Records the outputs to which components of values are forwarded unchanged.
fn note_handed_on(body: &Body, mut pending: Vec<(Def, u16)>, outputs: &mut BTreeMap<u32, u8>) {
    let mut known: SecondaryMap<Def, u16> = SecondaryMap::new();
    while let Some((def, mask)) = pending.pop() {
        let new = mask & !known[def];
        if new == 0 {
            continue;
        }
        known[def] |= new;
        for source in body.uses_of(def) {
            if let Some(store) = stores(body, source) {
                note_output(body, store, new, outputs);
            } else if let User::Inst(reader) = body.user(source)
                && let Some(result) = body.inst_def(reader)
            {
                let forwarded = (0..16).filter(|c| new >> c & 1 != 0);
                let reached = forwarded.fold(0, |mask, c| mask | forwarded_mask(body, reader, source, c));
                if reached != 0 {
                    pending.push((result, reached));
                }
            }
        }
    }
}

/// Records the output components of a store.
fn note_output(body: &Body, store: Inst, components: u16, outputs: &mut BTreeMap<u32, u8>) {
    let reach = reach_of(body, store, 0);
    let mask = reach.mask(components & body.write_mask(store) as u16);
    if mask != 0 {
        for register in reach.registers {
            *outputs.entry(register).or_default() |= mask;
        }
    }
}

/// The output store that stores a source, if any.
fn stores(body: &Body, source: Use) -> Option<Inst> {
    let User::Inst(inst) = body.user(source) else { return None };
    let is_store = matches!(body.intrinsic(inst), Some(IntrinsicOp::StoreOutput | IntrinsicOp::StorePerVertexOutput));
    (is_store && body.source_number(source) == 0).then_some(inst)
}

/// Whether all uses of a converted value store it to an output, possibly in a vector with others. Records the outputs.
fn is_stored_to_interface(body: &Body, def: Def, found: &mut InterfaceIntegers) -> bool {
    let mut noted: Vec<(Inst, u16)> = Vec::new();
    for source in body.uses_of(def) {
        if let Some(store) = stores(body, source) {
            noted.push((store, read_by(body, source)));
            continue;
        }
        let User::Inst(vector) = body.user(source) else { return false };
        let (Some(op), Some(result)) = (body.alu_op(vector), body.inst_def(vector)) else { return false };
        if !op.is_vec_or_mov() {
            return false;
        }
        let parts = (0..16).fold(0, |mask, c| mask | forwarded_mask(body, vector, source, c));
        for reader in body.uses_of(result) {
            let Some(store) = stores(body, reader) else { return false };
            noted.push((store, parts));
        }
    }
    for (store, components) in noted {
        note_output(body, store, components, &mut found.outputs);
    }
    true
}

/// Converts a loaded value to an integer where it is an index: the loaded number is a float.
fn convert_indices(body: &mut Body, def: Def) {
    let indices: Vec<Use> = body.uses_of(def).filter(|&source| is_index(body, source)).collect();
    if indices.is_empty() {
        return;
    }
    let load = body.def_inst(def);
    let mut b = Builder::new(body, Cursor::After(load));
    let index = b.alu(AluOp::F2i32, &[def]);
    indices.into_iter().for_each(|source| body.set_src(source, index));
}

/// Replaces a conversion at the interface by a move.
fn lower(body: &mut Body, inst: Inst, found: &mut InterfaceIntegers) {
    let Some((op, flags)) = body.alu(inst) else { return };
    let Some(def) = body.inst_def(inst) else { return };
    if body.bit_size(def) != 32 || body.num_sources(inst) == 0 {
        return;
    }
    let is_at_interface = match op {
        AluOp::I2f32 | AluOp::U2f32 => body.intrinsic(body.def_inst(body.src(inst, 0))).is_some_and(is_interface_load),
        AluOp::F2i32 => is_stored_to_interface(body, def, found),
        _ => false,
    };
    if is_at_interface {
        body.set_inst(inst, InstData::Alu { op: AluOp::Mov, flags });
    }
}
