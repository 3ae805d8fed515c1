//! Whether the operands of an instruction may be read later, or after part of its result has been written.
//!
//! Backends fuse instructions: a comparison into the selection or branch that uses it, a saturation into an expression,
//! several instructions into one opcode. The operands of the earlier instruction (the *producer*) are then read where
//! the later one (the *consumer*) is. SSA values are still available there; a register may have been overwritten.
//! Backends also split vector instructions into one instruction per component, which may overwrite operands of the next
//! one.
//!
//! [`LaterReads::may_read_later`] holds if
//!
//! 1. the producer reads no registers, whatever is between the two; or
//! 2. the consumer is after the producer in the same block, or is the `if` right after that block, and
//! 3. every register load that the producer reads is in that block as well, and
//! 4. no register that the producer reads, at any element and component, is written between the producer (inclusive)
//!    and the consumer: neither by a store, nor by an instruction that a store is folded into, and
//! 5. the same holds for the run-time indices of these registers, where they are read from registers.
//!
//! It covers registers only. The caller must ensure that the producer may be computed later (it has no side effects and
//! reads no memory that changes); ALU instructions always may.
//!
//! [`reads_own_destination`] holds if the instruction writes a register, and
//!
//! 1. some component of the result is computed from another component of the same register that is also written (`r.xy
//!    = r.yx`; `r.xy = r.xy` is fine); or
//! 2. an operand reads several components at once (a dot product) and some of them are written; or
//! 3. the run-time index of an operand, or of the destination, is read from a component that is written.
//!
//! Elements of an array are the same element unless both are known and differ.
//!
//! Building [`LaterReads`] takes time linear in the instructions, plus sorting; a query is logarithmic in the number of
//! writes to each register. It describes the body at the time it was built.

use cranelift_entity::SecondaryMap;
use tgsi_ir::{Block, Body, Def, Inst, User};

use crate::chase::{
    Operand, Register, accessed_register, chase_alu_dest, chase_alu_src, is_load_reg, is_store_reg, load_reg_for_def,
};
use crate::modifiers::ModifierPolicy;

/// The number of registers followed in a chain of run-time indices.
const MAX_INDEX_CHAIN: usize = 8;

/// The positions at which each register is written.
#[derive(Clone, Debug)]
pub struct LaterReads {
    /// By handle: the positions in program order, ascending.
    writes: SecondaryMap<Def, Vec<u32>>,
}

impl LaterReads {
    /// Collects the register writes of a body.
    pub fn of(body: &Body) -> LaterReads {
        let order = body.inst_order();
        let mut writes: SecondaryMap<Def, Vec<u32>> = SecondaryMap::new();
        for block in body.blocks() {
            for inst in body.insts(block).filter(|&inst| is_store_reg(body, inst)) {
                let Some(register) = accessed_register(body, inst) else { continue };
                // A folded store writes where its value is defined, any other one where it is.
                let positions = [order.index(inst), order.index(body.def_inst(body.src(inst, 0)))];
                writes[register.handle].extend(positions);
            }
        }
        for positions in writes.values_mut() {
            positions.sort_unstable();
        }
        LaterReads { writes }
    }

    /// Whether `consumer` may read the operands of `producer` at its own position. See the [module](self).
    pub fn may_read_later(&self, body: &Body, producer: Inst, consumer: User) -> bool {
        let loads: Vec<Inst> =
            body.sources(producer).filter_map(|source| load_reg_for_def(body, body.src_def(source))).collect();
        if loads.is_empty() {
            return true;
        }
        let Some(block) = body.inst_block(producer) else { return false };
        let Some(range) = range(body, block, producer, consumer) else { return false };
        loads.into_iter().all(|load| self.keeps(body, block, load, range))
    }

    /// Whether the register of a load is not written in a range of positions.
    fn keeps(&self, body: &Body, block: Block, load: Inst, (first, end): (u32, u32)) -> bool {
        let mut next = Some(load);
        for _ in 0..MAX_INDEX_CHAIN {
            let Some(load) = next else { return true };
            let Some(Register { handle, indirect, .. }) = accessed_register(body, load) else { return false };
            let positions = &self.writes[handle];
            let from = positions.partition_point(|&position| position < first);
            if body.inst_block(load) != Some(block) || positions.get(from).is_some_and(|&position| position < end) {
                return false;
            }
            next = indirect.and_then(|index| load_reg_for_def(body, index));
        }
        false
    }
}

/// The positions from the producer (inclusive) to the consumer; none if the consumer is not after it in the same block.
fn range(body: &Body, block: Block, producer: Inst, consumer: User) -> Option<(u32, u32)> {
    let order = body.inst_order();
    let first = order.index(producer);
    let end = match consumer {
        User::Inst(inst) if body.inst_block(inst) == Some(block) && !body.is_phi(inst) => order.index(inst),
        User::If(id) if body.following_if(block) == Some(id) => order.block_end(block),
        _ => return None,
    };
    (first < end).then_some((first, end))
}

/// Whether writing the result of an ALU instruction component by component would overwrite operands still to be read.
/// See the [module](self).
pub fn reads_own_destination(body: &Body, inst: Inst, policy: ModifierPolicy<'_>) -> bool {
    let (Some(op), Some(def)) = (body.alu_op(inst), body.inst_def(inst)) else { return false };
    let destination = chase_alu_dest(body, def, policy);
    let Operand::Register(written) = destination.operand else { return false };
    let mask = destination.write_mask;
    if written.indirect.is_some_and(|index| index_reads(body, index, written, mask)) {
        return true;
    }
    (0..body.num_sources(inst)).any(|number| {
        let source = chase_alu_src(body, inst, number, policy);
        let Operand::Register(read) = source.operand else { return false };
        if read.indirect.is_some_and(|index| index_reads(body, index, written, mask)) {
            return true;
        }
        if !may_be_same(read, written) {
            return false;
        }
        let is_written = |component: u8| mask & (1 << component) != 0;
        if op.is_vec() {
            let component = source.swizzle.get(0);
            // Each source defines one component.
            return is_written(number as u8) && is_written(component) && usize::from(component) != number;
        }
        if op.info().input_sizes.get(number).is_some_and(|&size| size != 0) || op.info().output_size != 0 {
            return source.swizzle.iter(body.alu_src_components(inst, number)).any(is_written);
        }
        (0..usize::from(body.num_components(def))).filter(|&component| is_written(component as u8)).any(|component| {
            let read = source.swizzle.get(component);
            usize::from(read) != component && is_written(read)
        })
    })
}

/// Whether two registers may be the same element.
fn may_be_same(a: Register, b: Register) -> bool {
    a.handle == b.handle && (a.indirect.is_some() || b.indirect.is_some() || a.base == b.base)
}

/// Whether a run-time index is read from a register component that is written.
fn index_reads(body: &Body, index: Def, written: Register, mask: u32) -> bool {
    let mut next = load_reg_for_def(body, index);
    for _ in 0..MAX_INDEX_CHAIN {
        let Some(load) = next.filter(|&load| is_load_reg(body, load)) else { return false };
        let Some(register) = accessed_register(body, load) else { return false };
        // An index is a scalar: a register of one component.
        if may_be_same(register, written) && mask & 1 != 0 {
            return true;
        }
        next = register.indirect.and_then(|index| load_reg_for_def(body, index));
    }
    next.is_some()
}
