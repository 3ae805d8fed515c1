//! Makes every register access trivial, by inserting movs between accesses and their neighbours where needed.
//!
//! ```text
//! 32 %3 = @load_reg (%r)                          32 %3 = @load_reg (%r)
//!         @store_reg (%1, %r)                     32 %4 = mov %3
//! 32 %5 = fadd %3, %2                      =>     32 %6 = mov %1
//!                                                         @store_reg (%6, %r)
//!                                                 32 %5 = fadd %4, %2
//! ```
//!
//! A **load** is trivial if every use is in its block (the `if` right after the block counts) and there is no store to
//! the register between the load and the use: the user may then read the register itself. A load through a run-time
//! index always gets a mov right after it: otherwise its index would have to stay live until the last use.
//!
//! A **store** is trivial if its value has no other use, is defined in the same block by an instruction that can write
//! a register (not a constant, an undefined value, another load or an operand that is read in place), if nothing
//! between that instruction and the store reads or writes components that the store writes, and if the handle and the
//! run-time index are defined before that instruction. A partial store needs an ALU instruction, the only kind with a
//! write mask.
//!
//! A forward walk makes loads trivial, a backward walk stores. Both are linear in instructions and sources. (The
//! backward walk of `nir_trivialize_registers` forgets *all* pending stores of a register at the producer of one of
//! them, so that a store of other components can be folded across a load; here only the components of that one store
//! are settled.)

use arrayvec::ArrayVec;
use cranelift_entity::SecondaryMap;
use log::trace;
use tgsi_ir::body::MAX_COMPONENTS;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::{Block, Body, Builder, Cursor, Def, Inst, InstData, Shader, Use, User};

use crate::chase::{Register, accessed_register, is_load_reg, is_store_reg, load_reg_for_def};

/// Whether a value is read in place, so that the backend emits no instruction for it: for example a uniform or an input
/// that is an operand of the machine. Such a value has no instruction that could write a register either.
pub type IsOperand<'a> = &'a dyn Fn(&Body, Def) -> bool;

/// For backends that emit an instruction for every value except constants and undefined values.
pub const NO_OPERANDS: IsOperand<'static> = &|_, _| false;

/// Makes every register access of all functions trivial. There must be no phis. A store of a value that is read in
/// place gets a mov. Returns whether anything changed.
pub fn trivialize_registers(shader: &mut Shader, is_operand: IsOperand<'_>) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= trivialize_body(body, is_operand);
    }
    progress
}

fn trivialize_body(body: &mut Body, is_operand: IsOperand<'_>) -> bool {
    let before = body.num_insts();
    let moved = move_declarations_up(body);
    // The state of both walks is shared by all blocks, so that the cost of a block is proportional to its size.
    let registers = RegisterNumbers::of(body);
    if registers.count == 0 {
        return false;
    }
    let mut loads = TrivialLoads { entered: SecondaryMap::new(), generation: vec![0; registers.count] };
    let mut stores = PendingStores::new(registers.count);
    for block in body.blocks_vec() {
        trivialize_loads(body, &registers, &mut loads, block);
        trivialize_stores(body, &registers, &mut stores, block, is_operand);
    }
    let made = body.num_insts() - before;
    trace!("trivialize_registers: {made} movs");
    moved || made > 0
}

/// Moves the declarations to the top of the start block, in order, so that a handle dominates every producer. Returns
/// whether any moved.
fn move_declarations_up(body: &mut Body) -> bool {
    let start = body.start_block();
    let declarations: Vec<Inst> =
        body.insts(start).filter(|&i| body.intrinsic(i) == Some(IntrinsicOp::DeclReg)).collect();
    let mut next = body.first_inst(start);
    let mut moved = false;
    for declaration in declarations {
        if next == Some(declaration) {
            next = body.next_inst(declaration);
        } else if let Some(other) = next {
            body.move_inst(Cursor::Before(other), declaration);
            moved = true;
        }
    }
    moved
}

/// Numbers the registers from 0, so that data about them is dense.
struct RegisterNumbers {
    number: SecondaryMap<Def, u32>,
    count: usize,
}

impl RegisterNumbers {
    fn of(body: &Body) -> RegisterNumbers {
        let mut numbers = RegisterNumbers { number: SecondaryMap::new(), count: 0 };
        for inst in body.insts(body.start_block()) {
            if body.intrinsic(inst) == Some(IntrinsicOp::DeclReg)
                && let Some(handle) = body.inst_def(inst)
            {
                numbers.number[handle] = numbers.count as u32;
                numbers.count += 1;
            }
        }
        numbers
    }

    fn get(&self, register: Register) -> usize {
        self.number[register.handle] as usize
    }
}

/// Loads that may still be trivial.
struct TrivialLoads {
    /// The generation of the register when the load was entered: the load may be folded into the current user if the
    /// register still has it.
    entered: SecondaryMap<Inst, Option<u32>>,
    /// Advances with every store to a register: loads entered before are no longer trivial.
    generation: Vec<u32>,
}

impl TrivialLoads {
    fn is_trivial(&self, body: &Body, registers: &RegisterNumbers, load: Inst) -> bool {
        let Some(register) = accessed_register(body, load) else { return false };
        self.entered[load] == Some(self.generation[registers.get(register)])
    }
}

fn trivialize_loads(body: &mut Body, registers: &RegisterNumbers, loads: &mut TrivialLoads, block: Block) {
    let mut next = body.first_inst(block);
    while let Some(inst) = next {
        for source in body.sources(inst) {
            trivialize_source_load(body, registers, loads, block, source);
        }
        if let Some(register) = accessed_register(body, inst) {
            if is_store_reg(body, inst) {
                loads.generation[registers.get(register)] += 1;
            } else if register.indirect.is_some() {
                trivialize_load(body, inst);
                // Only the mov right after it reads it.
                loads.entered[inst] = Some(loads.generation[registers.get(register)]);
            } else {
                loads.entered[inst] = Some(loads.generation[registers.get(register)]);
            }
        }
        next = body.next_inst(inst);
    }
    if let Some(id) = body.following_if(block) {
        trivialize_source_load(body, registers, loads, block, body.if_condition(id));
    }
}

/// Inserts a mov after the load that a source reads, unless the source may read the register itself.
fn trivialize_source_load(
    body: &mut Body,
    registers: &RegisterNumbers,
    loads: &TrivialLoads,
    block: Block,
    source: Use,
) {
    if let Some(load) = load_reg_for_def(body, body.src_def(source))
        && (body.inst_block(load) != Some(block) || !loads.is_trivial(body, registers, load))
    {
        trivialize_load(body, load);
    }
}

/// Inserts a mov right after a load and redirects all uses to it.
///
/// Uses that were visited before and found trivial read the mov as well: that is also correct, and the mov exists
/// anyway.
fn trivialize_load(body: &mut Body, load: Inst) {
    let Some(def) = body.inst_def(load) else { return };
    if let Some(reader) = body.single_use(def)
        && let User::Inst(user) = body.user(reader)
        && body.prev_inst(user) == Some(load)
        && body.alu_op(user).is_some()
    {
        return;
    }
    let value = Builder::new(body, Cursor::After(load)).copy(def);
    let mov = body.def_inst(value);
    body.replace_uses_except(def, value, mov);
}

/// For each component of a register (elements of an array are not distinguished) the store that may still be trivial.
type ComponentStores = ArrayVec<Option<Inst>, MAX_COMPONENTS>;

/// The state of the backward walk over a block.
struct PendingStores {
    by_register: Vec<ComponentStores>,
    /// Registers with entries in this block.
    touched: Vec<u32>,
    is_pending: SecondaryMap<Inst, bool>,
}

impl PendingStores {
    fn new(registers: usize) -> PendingStores {
        PendingStores {
            by_register: vec![ComponentStores::new(); registers],
            touched: Vec::new(),
            is_pending: SecondaryMap::new(),
        }
    }

    /// Clears the state of a block.
    fn clear(&mut self) {
        for register in self.touched.drain(..) {
            self.by_register[register as usize].clear();
        }
    }

    fn enter(&mut self, body: &Body, store: Inst, register: usize) {
        let mask = body.write_mask(store);
        let pending = &mut self.by_register[register];
        if pending.is_empty() {
            pending.extend([None; MAX_COMPONENTS]);
            self.touched.push(register as u32);
        }
        for (component, slot) in pending.iter_mut().enumerate() {
            if mask & (1 << component) != 0 {
                *slot = Some(store);
            }
        }
        self.is_pending[store] = true;
    }

    /// Returns the pending stores to components of a register, each once.
    fn overlapping(&self, register: usize, mask: u32) -> ArrayVec<Inst, MAX_COMPONENTS> {
        let mut result: ArrayVec<Inst, MAX_COMPONENTS> = ArrayVec::new();
        for (component, slot) in self.by_register[register].iter().enumerate() {
            if let Some(store) = *slot
                && mask & (1 << component) != 0
                && !result.contains(&store)
            {
                result.push(store);
            }
        }
        result
    }

    /// Removes a store that is known to be trivial, or was isolated.
    fn settle(&mut self, register: usize, store: Inst) {
        for slot in &mut self.by_register[register] {
            if *slot == Some(store) {
                *slot = None;
            }
        }
        self.is_pending[store] = false;
    }

    /// Isolates the pending stores to components of a register.
    fn isolate_overlapping(&mut self, body: &mut Body, register: usize, mask: u32) {
        for store in self.overlapping(register, mask) {
            self.settle(register, store);
            isolate_store(body, store);
        }
    }
}

fn trivialize_stores(
    body: &mut Body,
    registers: &RegisterNumbers,
    pending: &mut PendingStores,
    block: Block,
    is_operand: IsOperand<'_>,
) {
    let mut next = body.last_inst(block);
    // A trivial load that the `if` after the block reads is read at the end of the block, after every store. That needs
    // no handling here: the walk of the loads has inserted a mov if a store follows the load.
    while let Some(inst) = next {
        // Movs are inserted right before a store further down; the walk continues before `inst`.
        let value = body.inst_def(inst);
        if let Some(def) = value {
            settle_producer(body, registers, pending, def);
        }
        match accessed_register(body, inst) {
            Some(register) if is_load_reg(body, inst) => {
                let mask = value.map_or(0, |def| body.full_mask(def));
                pending.isolate_overlapping(body, registers.get(register), mask);
            }
            Some(register) if is_store_reg(body, inst) => {
                let mask = body.write_mask(inst);
                let number = registers.get(register);
                pending.isolate_overlapping(body, number, mask);
                if must_isolate(body, block, inst, register, is_operand) {
                    isolate_store(body, inst);
                } else {
                    pending.enter(body, inst, number);
                }
            }
            _ => {}
        }
        for source in body.sources(inst) {
            if let Some(load) = load_reg_for_def(body, body.src_def(source))
                && let Some(register) = accessed_register(body, load)
            {
                let mask = body.full_mask(body.src_def(source));
                pending.isolate_overlapping(body, registers.get(register), mask);
            }
        }
        next = body.prev_inst(inst);
    }
    pending.clear();
}

/// At a definition: if the value is that of a pending store, the store is trivial.
fn settle_producer(body: &Body, registers: &RegisterNumbers, pending: &mut PendingStores, def: Def) {
    if let Some(source) = body.single_use(def)
        && let User::Inst(store) = body.user(source)
        && is_store_reg(body, store)
        && body.source_number(source) == 0
        && pending.is_pending[store]
        && let Some(register) = accessed_register(body, store)
    {
        pending.settle(registers.get(register), store);
    }
}

/// Whether the producer of the value of a store cannot write the register.
fn must_isolate(body: &Body, block: Block, store: Inst, register: Register, is_operand: IsOperand<'_>) -> bool {
    let value = body.src(store, 0);
    let producer = body.def_inst(value);
    // A run-time index would have to be defined before the producer: such stores are always isolated. Handles are
    // defined at the top of the body.
    register.indirect.is_some()
        || body.single_use(value).is_none()
        || body.inst_block(producer) != Some(block)
        || matches!(body.inst(producer), InstData::LoadConst { .. } | InstData::Undef | InstData::Phi)
        || is_load_reg(body, producer)
        || is_operand(body, value)
        || (body.write_mask(store) != body.full_mask(value) && body.alu_op(producer).is_none())
}

/// Inserts a mov right before a store and stores its result.
fn isolate_store(body: &mut Body, store: Inst) {
    let source = body.source(store, 0);
    let value = body.src_def(source);
    let producer = body.def_inst(value);
    // A mov right before the store already isolates it.
    if body.prev_inst(store) == Some(producer) && body.alu_op(producer).is_some() && body.single_use(value).is_some() {
        return;
    }
    let copy = Builder::new(body, Cursor::Before(store)).copy(value);
    body.set_src(source, copy);
}
