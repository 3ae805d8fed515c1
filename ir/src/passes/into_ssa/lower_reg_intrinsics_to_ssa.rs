//! Turns registers that are not arrays into SSA values.
//!
//! ```text
//! before:                                          after:
//!     32x2 %0 = @decl_reg (num_components=2)
//!     loop {                                           loop {
//!                                                          %5 = phi b0: %zero, b1: %4
//!         %1 = @load_reg (%0)
//!         %2 = fadd %1, %x                                 %2 = fadd %5, %x
//!         @store_reg (%2, %0) (wrmask=x)                   %4 = vec2 %2.x, %5.y
//!         ...                                              ...
//! ```
//!
//! Corner cases:
//! - A register starts as zero: a read that no write reaches is a zero constant, and so is the source of a phi for such
//!   a path. (NIR uses undefined values there.)
//! - A partial write becomes a vector of new and old components; a write of no component is removed.
//! - `legacy_fabs` and `legacy_fneg` of a load and `legacy_fsat` of a store become instructions. Like the modifiers,
//!   these are well defined only for floats.
//! - The element number (`base`) of a non-array register is ignored.
//! - Array registers are kept, unless they are never read: then they are removed with all their writes.
//!
//! Cost: linear in the instructions, plus the blocks where values of a register meet. The walk is in memory order.

use std::ops::Range;

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, SecondaryMap};

use crate::alu::AluOp;
use crate::body::{Body, RareInst, Shape};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Block, Def, Inst, User};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::passes::into_ssa::phi_builder::Zeros;
use crate::passes::into_ssa::phi_slots::{PhiSlots, Value};
use crate::passes::scalar::opt_dce::is_register_store;
use crate::shader::Shader;

/// See the [module](self).
pub fn lower_reg_intrinsics_to_ssa(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= lower_body(body);
    }
    progress
}

/// Runs the pass on one body.
pub(crate) fn lower_body(body: &mut Body) -> bool {
    if !body.may_have(RareInst::Register) {
        return false;
    }
    let start = body.start_block();
    let decls: Vec<Inst> = body.insts(start).filter(|&i| is_declaration(body, i)).collect();
    let mut progress = false;
    let mut stays = false;
    let mut values: Vec<(Inst, Def)> = Vec::with_capacity(decls.len());
    for decl in decls {
        let Some(handle) = body.inst_def(decl) else { continue };
        if body.index(decl, IndexKind::NumArrayElems) == 0 {
            // An access other than a load or store (a parallel copy, halfway out of SSA) keeps the register.
            let is_only_accessed = !body.has_parallel_copies()
                || body.uses_of(handle).all(|u| matches!(body.user(u), User::Inst(i) if is_access(body, i)));
            if is_only_accessed {
                values.push((decl, handle));
            } else {
                stays = true;
            }
        } else if body.uses_of(handle).all(|u| matches!(body.user(u), User::Inst(i) if is_register_store(body, i))) {
            let accesses: Vec<Inst> = body.uses_of(handle).filter_map(|u| body.user(u).inst()).collect();
            body.remove_insts(&accesses);
            body.remove_inst(decl);
            progress = true;
        } else {
            stays = true;
        }
    }
    if !stays {
        body.set_has_none(RareInst::Register);
    }
    if values.is_empty() {
        return progress;
    }
    if body.is_one_block() {
        lower_one_block(body, &values);
    } else {
        lower_blocks(body, &values);
    }
    for (decl, _) in values {
        body.remove_inst(decl);
    }
    true
}

/// One walk, which tracks the current value of every register.
fn lower_one_block(body: &mut Body, registers: &[(Inst, Def)]) {
    let mut zeros = Zeros::default();
    let mut current: SecondaryMap<Def, Option<PackedOption<Def>>> = SecondaryMap::new();
    current.resize(body.num_defs());
    for &(_, handle) in registers {
        current[handle] = Some(PackedOption::default());
    }
    let mut next = body.first_inst(body.start_block());
    while let Some(inst) = next {
        next = body.next_inst(inst);
        if !is_access(body, inst) {
            continue;
        }
        let handle = body.src(inst, usize::from(is_register_store(body, inst)));
        let Some(value) = current[handle] else { continue };
        let shape = body.register_shape(handle);
        let old = |body: &mut Body| value.expand().unwrap_or_else(|| zeros.get(body, shape));
        if let Some(new) = lower_access(body, shape, inst, old) {
            current[handle] = Some(new.into());
        }
        body.remove_inst(inst);
    }
}

/// Maximum number of phi slots at a time: registers that need more take several walks.
const MAX_SLOTS: usize = 1 << 22;

/// Facts about a register, collected before the walk that lowers it.
struct Register {
    handle: Def,
    shape: Shape,
    /// Blocks that write it.
    writers: Vec<Block>,
    /// The last of them.
    written_in: PackedOption<Block>,
    /// Some block reads it before writing it: only then can values meet.
    is_exposed: bool,
}

/// Lowers all registers in one walk over the dominator tree, or in several if they need too many slots.
fn lower_blocks(body: &mut Body, handles: &[(Inst, Def)]) {
    let mut registers: Vec<Register> = handles
        .iter()
        .map(|&(_, handle)| {
            let shape = body.register_shape(handle);
            Register { handle, shape, writers: Vec::new(), written_in: PackedOption::default(), is_exposed: false }
        })
        .collect();
    let numbers = Numbers::new(&registers);
    for block in body.blocks() {
        for inst in body.insts(block) {
            let Some(number) = numbers.of_access(body, inst, 0..registers.len()) else { continue };
            let register = &mut registers[number];
            let (writes, reads) = match written_components(body, inst, register.shape) {
                Some((mask, full)) => (mask != 0, mask != 0 && mask != full),
                None => (false, true),
            };
            let is_written = register.written_in.expand() == Some(block);
            register.is_exposed |= reads && !is_written;
            if writes && !is_written {
                register.written_in = block.into();
                register.writers.push(block);
            }
        }
    }
    let mut slots = PhiSlots::new(body);
    let mut first = 0;
    while first < registers.len() {
        let mut end = first;
        while end < registers.len() && (end == first || slots.len() < MAX_SLOTS) {
            let register = &mut registers[end];
            if register.is_exposed {
                slots.add(end as u32, &register.writers);
            }
            register.writers = Vec::new();
            end += 1;
        }
        slots.settle();
        lower_some(body, &registers, first..end, &numbers, &mut slots);
        slots.finish(body, |_, number| registers[number as usize].shape);
        first = end;
    }
}

/// One walk over the dominator tree, which tracks the current value of each register of a range.
fn lower_some(body: &mut Body, registers: &[Register], range: Range<usize>, numbers: &Numbers, slots: &mut PhiSlots) {
    let dominance = body.dominance();
    let mut current = vec![Value::Initial; registers.len()];
    // The previous values of changed registers, and the length of that log at each block on the path down the tree.
    let mut before: Vec<(u32, Value)> = Vec::new();
    let mut marks: Vec<usize> = Vec::new();
    // The effects of unreachable blocks do not matter; their accesses are removed all the same.
    let unreachable: Vec<Block> = if dominance.preorder().len() == body.num_blocks() {
        Vec::new()
    } else {
        body.blocks().filter(|&block| !dominance.is_reachable(block)).collect()
    };
    for &block in dominance.preorder().iter().chain(&unreachable) {
        let depth = if dominance.is_reachable(block) { dominance.depth(block) as usize } else { 0 };
        if let Some(&mark) = marks.get(depth) {
            marks.truncate(depth);
            for (register, value) in before.drain(mark..).rev() {
                current[register as usize] = value;
            }
        }
        marks.push(before.len());
        for (register, value) in slots.at(block) {
            before.push((register, std::mem::replace(&mut current[register as usize], value)));
        }
        let mut next = body.first_inst(block);
        while let Some(inst) = next {
            next = body.next_inst(inst);
            let Some(number) = numbers.of_access(body, inst, range.clone()) else { continue };
            let (value, shape) = (current[number], registers[number].shape);
            if let Some(new) = lower_access(body, shape, inst, |body| slots.get(body, value, shape)) {
                current[number] = Value::Def(new);
                before.push((number as u32, value));
            }
            body.remove_inst(inst);
        }
        slots.leave(body, block, &current);
    }
}

/// The numbers of registers, by handle.
struct Numbers(SecondaryMap<Def, PackedOption<Def>>);

impl Numbers {
    fn new(registers: &[Register]) -> Numbers {
        let mut numbers = SecondaryMap::new();
        for (number, register) in registers.iter().enumerate() {
            numbers[register.handle] = Def::new(number).into();
        }
        Numbers(numbers)
    }

    /// Returns the number of the register in a range that an instruction reads or writes.
    fn of_access(&self, body: &Body, inst: Inst, range: Range<usize>) -> Option<usize> {
        let handle = match body.intrinsic(inst)? {
            IntrinsicOp::LoadReg | IntrinsicOp::LoadRegIndirect => body.src(inst, 0),
            IntrinsicOp::StoreReg | IntrinsicOp::StoreRegIndirect => body.src(inst, 1),
            _ => return None,
        };
        self.0[handle].expand().map(|number| number.index()).filter(|number| range.contains(number))
    }
}

fn is_declaration(body: &Body, inst: Inst) -> bool {
    body.intrinsic(inst) == Some(IntrinsicOp::DeclReg)
}

fn is_access(body: &Body, inst: Inst) -> bool {
    is_register_store(body, inst)
        || matches!(body.intrinsic(inst), Some(IntrinsicOp::LoadReg | IntrinsicOp::LoadRegIndirect))
}

/// Replaces a load with the value `old`, or returns the value of the register after a store, if it changes.
fn lower_access(body: &mut Body, shape: Shape, access: Inst, old: impl FnOnce(&mut Body) -> Def) -> Option<Def> {
    if let Some(def) = body.inst_def(access) {
        let mut value = old(body);
        let (abs, neg) = (body.index(access, IndexKind::LegacyFabs), body.index(access, IndexKind::LegacyFneg));
        let mut b = Builder::new(body, Cursor::Before(access));
        if abs != 0 {
            value = b.alu(AluOp::Fabs, &[value]);
        }
        if neg != 0 {
            value = b.alu(AluOp::Fneg, &[value]);
        }
        body.replace_all_uses(def, value);
        return None;
    }
    let (mask, full) = written_components(body, access, shape)?;
    if mask == 0 {
        return None;
    }
    let mut value = body.src(access, 0);
    if body.index(access, IndexKind::LegacyFsat) != 0 {
        value = Builder::new(body, Cursor::Before(access)).alu(AluOp::Fsat, &[value]);
    }
    if mask != full {
        let old = old(body);
        value = merge_components(&mut Builder::new(body, Cursor::Before(access)), value, old, mask, shape);
    }
    Some(value)
}

/// Returns the write mask of a store and the full mask of the register; `None` for a load.
fn written_components(body: &Body, access: Inst, shape: Shape) -> Option<(u32, u32)> {
    if body.inst_def(access).is_some() {
        return None;
    }
    let full = (1u32 << shape.num_components) - 1;
    Some((body.write_mask(access) & full, full))
}

/// Returns a vector with the components of `mask` from `new` and the others from `old`.
pub(crate) fn merge_components(b: &mut Builder<'_>, new: Def, old: Def, mask: u32, shape: Shape) -> Def {
    let sources: arrayvec::ArrayVec<AluSrc, 16> =
        (0..shape.num_components).map(|i| AluSrc::component(if mask >> i & 1 != 0 { new } else { old }, i)).collect();
    b.vec(&sources)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::JumpKind;
    use crate::shader::ShaderStage;

    #[test]
    fn partial_writes_in_a_loop() {
        let mut shader = Shader::new(ShaderStage::Compute);
        let body = shader.main_mut();
        let mut b = Builder::at_end(body);
        let shape = Shape::new(2, 32);
        let reg = b.decl_reg(shape, 0);
        let x = b.constant(32, &[1, 2]);
        let c = b.bool_const(true);
        let id = b.push_loop();
        let head = b.block();
        let old = b.load_reg(reg, 0);
        let sum = b.alu(AluOp::Iadd, &[old, x]);
        b.store_reg(sum, reg, 0, 1);
        let exit = b.push_if(c);
        b.jump(JumpKind::Break);
        b.end_if(exit);
        b.end_loop(id);
        let last = b.load_reg(reg, 0);
        let kept = b.alu(AluOp::Ineg, &[last]);
        assert!(lower_reg_intrinsics_to_ssa(&mut shader));
        assert!(!lower_reg_intrinsics_to_ssa(&mut shader));
        let body = shader.main();
        let phi = body.src(body.def_inst(sum), 0);
        assert!(body.is_phi(body.def_inst(phi)) && body.inst_block(body.def_inst(phi)) == Some(head));
        let merged = body.src(body.def_inst(kept), 0);
        let merge = body.def_inst(merged);
        assert_eq!(body.alu_op(merge), Some(AluOp::Vec2));
        assert_eq!((body.src(merge, 0), body.src(merge, 1)), (sum, phi));
        assert!(body.blocks().flat_map(|b| body.insts(b)).all(|i| body.intrinsic(i).is_none()));
    }

    #[test]
    fn values_pass_from_register_to_register() {
        let mut shader = Shader::new(ShaderStage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let shape = Shape::new(1, 32);
        let (p, q) = (b.decl_reg(shape, 0), b.decl_reg(shape, 0));
        let x = b.u32_const(3);
        b.store_reg(x, p, 0, 1);
        let y = b.load_reg(p, 0);
        b.store_reg(y, q, 0, 1);
        let z = b.load_reg(q, 0);
        b.store_reg(z, p, 0, 1);
        let w = b.load_reg(p, 0);
        let kept = b.alu(AluOp::Ineg, &[w]);
        lower_reg_intrinsics_to_ssa(&mut shader);
        let body = shader.main();
        assert_eq!(body.src(body.def_inst(kept), 0), x);
    }

    #[test]
    fn arrays_that_are_read_stay() {
        let mut shader = Shader::new(ShaderStage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let shape = Shape::new(1, 32);
        let (read, written) = (b.decl_reg(shape, 4), b.decl_reg(shape, 4));
        let x = b.u32_const(3);
        b.store_reg(x, read, 0, 1);
        b.store_reg(x, written, 0, 1);
        b.load_reg(read, 1);
        assert!(lower_reg_intrinsics_to_ssa(&mut shader));
        let body = shader.main();
        let count = body.insts(body.start_block()).filter(|&i| body.intrinsic(i) == Some(IntrinsicOp::DeclReg)).count();
        assert_eq!(count, 1);
        assert!(body.is_def_live(read) && !body.is_def_live(written));
    }
}
