//! Instruction selection: IR in register form to TGSI over virtual temporaries.
//!
//! Every SSA value is bound to a [`Value`]: the register that holds it and the places of its components. Constants,
//! plain inputs, uniforms and system values, movs, and vectors with all components in one register need no instruction:
//! the value is bound to the existing register. Such bindings are only to registers that do not change. Registers of
//! the IR may change, so they are read at the use; the chase functions of [`tgsi_registers`] find them.

mod address;
mod alu;
mod alu64;
mod bit_fields;
mod control_flow;
pub(crate) mod declared;
mod floats;
mod helpers;
mod io;
mod memory;
mod recognize;
mod shared;
mod system_values;
mod texture;
mod values;
mod vector_opcodes;

use arrayvec::ArrayVec;
use cranelift_entity::{EntitySet, SecondaryMap};
use tgsi::builder::BuildError;
use tgsi::shader::{Dst, Instruction, InstructionMemory, Register, Src};
use tgsi::tables::{File, Opcode};
use tgsi_diagnostics::Span;
use tgsi_ir::alu::AluOp;
use tgsi_ir::analysis::{CallGraph, calls};
use tgsi_ir::body::{DerefKind, InstData};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::{Body, Def, Function, Inst, Shader, Use, Variable};
use tgsi_registers::chase;
use tgsi_registers::chase::Operand;

use crate::consumers::options::{Dialect, TgsiOptions};
use crate::machine::{Program, Tgsi};
use crate::{DriverError, Located};
use address::AddressUse;
use declared::{ArrayKey, Declared};
use shared::{FixedRegisters, Shared};
pub(crate) use values::Value;
use values::Values;

/// The location of a register of the IR.
#[derive(Clone, Copy, Debug)]
enum Storage {
    Temp(u32),
    /// First register, number of elements, array number.
    Array(u32, u32, u16),
}

/// The unit that a deref of a sampler or image refers to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit {
    pub(crate) variable: Variable,
    /// The constant part of the unit number, including the binding.
    pub(crate) base: u32,
    /// The run-time part, a scalar.
    pub(crate) dynamic: Option<Value>,
}

/// A loaded component of an address register.
#[derive(Clone, Copy, Debug)]
struct LoadedAddress {
    source: Option<(Opcode, Src)>,
    /// The time of the last use, for replacement.
    used: u64,
}

pub(crate) struct Selector<'a> {
    pub(crate) shader: &'a Shader,
    pub(crate) body: &'a Body,
    function: Function,
    pub(crate) options: &'a TgsiOptions,
    pub(crate) program: Program,
    pub(crate) declared: Declared,
    values: Values,
    storage: SecondaryMap<Def, Option<Storage>>,
    units: SecondaryMap<Def, Option<Unit>>,
    addresses: Vec<LoadedAddress>,
    /// Copies of inputs read by lookups of this block, each with the operand and its number of components.
    coordinates: ArrayVec<(Src, usize, Src), MAX_COORDINATES>,
    /// Vectors packed in this block with parts that have not changed, each with the operand.
    packed: ArrayVec<(Parts, Src), MAX_COORDINATES>,
    clock: u64,
    /// Whether an integer was used as an index although the target has no integers.
    integer_index: bool,
    fixed: &'a FixedRegisters,
    /// The registers that derefs of shared variables refer to.
    shared: SecondaryMap<Def, Option<Shared>>,
    /// The functions that may be called.
    callable: &'a EntitySet<Function>,
    /// The current instruction.
    at: Option<Inst>,
    /// Whether it is exact.
    exact: bool,
    /// The last query of a texture's sizes: its block and index, while its result is unchanged.
    size_query: Option<(Option<tgsi_ir::Block>, usize)>,
    /// The temporary that records kills, if needed.
    killed: Option<Register>,
}

/// The components of a packed vector.
type Parts = ArrayVec<Option<Component>, 4>;

/// A component of a register.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Component {
    register: Register,
    component: u8,
    absolute: bool,
    negate: bool,
}

/// The maximum number of copies of coordinates, and of packed vectors, kept for later lookups of a block.
const MAX_COORDINATES: usize = 8;

/// The maximum number of registers of a file that operands can address; for temporaries, of those in arrays. (Other
/// temporaries may be more before they are packed.)
const MAX_REGISTERS: u32 = 0x8000;

/// The selected code.
pub(crate) struct Selected {
    /// The entry point, then the subroutines.
    pub(crate) parts: Vec<Part>,
    pub(crate) declared: Declared,
    /// The sizes of the arrays of temporaries, in order; array `n` has number `n + 1`.
    pub(crate) arrays: Vec<u32>,
}

/// A function.
pub(crate) struct Part {
    pub(crate) function: Function,
    /// The maximum depth of nested calls that lead to it.
    pub(crate) depth: u32,
    pub(crate) program: Program,
}

/// The functions that can be called, and the maximum depth of nested calls that lead to each.
fn callable(shader: &Shader, entry: Function) -> (EntitySet<Function>, SecondaryMap<Function, u32>) {
    let mut callable = EntitySet::new();
    let mut depths: SecondaryMap<Function, u32> = SecondaryMap::new();
    // Most shaders have no calls; then their instructions need not be visited.
    if shader.functions.len() == 1 {
        return (callable, depths);
    }
    let graph = CallGraph::new(&shader.functions);
    let (reachable, recursive) = (graph.reachable([entry]), graph.recursive());
    // Callers first.
    for function in graph.bottom_up().into_iter().rev().filter(|&function| reachable.contains(function)) {
        if function != entry && !recursive.contains(function) && shader.functions[function].body.is_some() {
            callable.insert(function);
        }
        for (_, callee) in shader.functions[function].body.iter().flat_map(calls) {
            depths[callee] = depths[callee].max(depths[function] + 1);
        }
    }
    (callable, depths)
}

/// Selects the entry point and its callees.
pub(crate) fn select(shader: &Shader, options: &TgsiOptions) -> Result<Selected, Located> {
    let entry = shader.entry_point().ok_or(DriverError::NoEntryPoint)?;
    let fixed = FixedRegisters::of(shader)?;
    let (callable, depths) = callable(shader, entry);
    let others = shader.functions.keys().filter(|&function| callable.contains(function));
    let mut selected = Selected { parts: Vec::new(), declared: Declared::of(shader), arrays: fixed.arrays.clone() };
    let count =
        usize::from(options.address_registers.clamp(1, 3)) * usize::from(options.address_components.clamp(1, 4));
    for function in std::iter::once(entry).chain(others) {
        let body = shader.functions[function].body.as_ref().ok_or(DriverError::NoEntryPoint)?;
        let mut selector = Selector {
            shader,
            body,
            function,
            options,
            program: Program::new(Tgsi::new(options), fixed.end),
            declared: std::mem::take(&mut selected.declared),
            values: Values::new(body.num_defs()),
            storage: SecondaryMap::new(),
            units: SecondaryMap::new(),
            addresses: vec![LoadedAddress { source: None, used: 0 }; count],
            coordinates: ArrayVec::new(),
            packed: ArrayVec::new(),
            clock: 0,
            integer_index: false,
            fixed: &fixed,
            shared: SecondaryMap::new(),
            callable: &callable,
            at: None,
            exact: false,
            size_query: None,
            killed: None,
        };
        selector.declare_registers();
        selector.program.reserve(expected_length(body));
        if function != entry {
            selector.clear_arrays();
        }
        selector.begin_helpers();
        selector.control_flow().map_err(|error| error.in_body(body, options.native_integers))?;
        selected.declared = selector.declared;
        selected.parts.push(Part { function, depth: depths[function], program: selector.program });
    }
    Ok(selected)
}

/// A generous estimate of the number of instructions: unused capacity costs little, whereas growing copies everything.
fn expected_length(body: &Body) -> usize {
    let expected = |inst: Inst| match *body.inst(inst) {
        // Values copied to another register than their own.
        InstData::Alu { op, .. } if op.is_vec_or_mov() => 2,
        InstData::Alu { .. } | InstData::Tex(_) => 1,
        InstData::Intrinsic { op, .. } => usize::from(op != IntrinsicOp::StoreReg && body.inst_def(inst).is_none()),
        _ => 0,
    };
    // `IF`, `ELSE` and `ENDIF` correspond to blocks.
    let count: usize = body.blocks().map(|block| 1 + body.insts(block).map(expected).sum::<usize>()).sum();
    count + count / 8
}

/// The lanes that a component mask covers for values of `bits` bits.
fn lane_mask(components: u32, bits: u8) -> u8 {
    if bits == 64 {
        (0..2).filter(|c| components & 1 << c != 0).fold(0, |m, c| m | 3 << (2 * c))
    } else {
        (components & 0xf) as u8
    }
}

impl Selector<'_> {
    fn declare_registers(&mut self) {
        let body = self.body;
        let start = body.start_block();
        let declarations: Vec<Inst> =
            body.insts(start).filter(|&i| body.intrinsic(i) == Some(IntrinsicOp::DeclReg)).collect();
        // Arrays have fixed registers.
        let mut arrays = self.fixed.storage_of(self.function, body);
        for &inst in &declarations {
            if body.index(inst, IndexKind::NumArrayElems) > 0 {
                let array = arrays.next();
                if let Some(def) = body.inst_def(inst) {
                    self.storage[def] = array;
                }
            }
        }
        for &inst in &declarations {
            if let Some(def) = body.inst_def(inst)
                && self.storage[def].is_none()
            {
                self.storage[def] = Some(Storage::Temp(self.program.new_temp()));
            }
        }
    }

    fn emit_instruction(&mut self, mut instruction: Instruction) {
        if let Some(origin) = self.at.and_then(|inst| self.body.origin(inst)) {
            instruction.span = Span::new(origin, origin + 1);
        }
        let info = instruction.opcode.info();
        // Virgl hosts transform comparisons that are not precise as if there were no NaN.
        let compares = self.options.dialect == Dialect::Virgl && info.src_types.iter().any(|t| t.is_float());
        instruction.precise |= self.exact && (info.dst_type.is_float() || compares);
        // Add a memory word where the text form has one, and remove an empty one elsewhere, so that text is read to the
        // same tokens.
        if instruction.opcode.info().has_memory {
            instruction.memory.get_or_insert_default();
        } else if instruction.memory == Some(InstructionMemory::default()) {
            instruction.memory = None;
        }
        self.replace_what_cannot_be_named(&mut instruction);
        if let Some(dst) = instruction.dst.first()
            && instruction.opcode != Opcode::Store
        {
            let register = dst.register;
            self.forget_addresses_of(&register);
        }
        for dst in &instruction.dst {
            self.forget_packed_of(&dst.register);
        }
        self.program.push(instruction);
    }

    fn emit(&mut self, opcode: Opcode, dst: Dst, src: &[Src]) {
        self.emit_saturated(opcode, dst, src, false);
    }

    fn emit_saturated(&mut self, opcode: Opcode, dst: Dst, src: &[Src], saturate: bool) {
        let mut instruction = Instruction::new(opcode);
        instruction.saturate = saturate;
        instruction.dst.push(dst);
        instruction.src.extend(src.iter().copied().take(5));
        self.emit_instruction(instruction);
    }

    /// Emits an instruction with a new temporary as its result, and returns that.
    fn computed(&mut self, opcode: Opcode, mask: u8, src: &[Src]) -> Src {
        let temp = self.temp();
        self.emit(opcode, Dst::new(temp).masked(mask), src);
        Src::new(temp)
    }

    /// Emits an instruction without destination.
    fn emit_bare(&mut self, opcode: Opcode, src: &[Src]) {
        let mut instruction = Instruction::new(opcode);
        instruction.src.extend(src.iter().copied().take(5));
        self.emit_instruction(instruction);
    }

    /// Creates a temporary.
    fn temp(&mut self) -> Register {
        let index = self.program.new_temp();
        Register::new(File::Temporary, index as i32)
    }

    /// Creates an immediate.
    fn immediate(&mut self, words: [u32; 4]) -> Value {
        let number = self.program.constants.intern(words);
        Value::new(Register::new(File::Immediate, number))
    }

    /// Creates an immediate with one word in all channels.
    fn word(&mut self, word: u32) -> Src {
        self.immediate([word; 4]).source([0, 1, 2, 3])
    }

    /// Creates a number for computing indices: a float where there are no integers.
    fn number(&mut self, value: u32) -> Src {
        if self.options.native_integers { self.word(value) } else { self.float(value as f32) }
    }

    fn float(&mut self, value: f32) -> Src {
        self.word(value.to_bits())
    }

    /// The register that holds an SSA value.
    fn value(&mut self, def: Def) -> Value {
        if let Some(value) = self.values.get(def) {
            return value;
        }
        let body = self.body;
        let value = match body.inst(body.def_inst(def)) {
            InstData::LoadConst { .. } => {
                let words = body.def_constant(def).unwrap_or(&[]);
                let mut row = [0; 4];
                if body.bit_size(def) == 64 {
                    for (k, &word) in words.iter().take(2).enumerate() {
                        row[2 * k] = word as u32;
                        row[2 * k + 1] = (word >> 32) as u32;
                    }
                } else {
                    for (lane, &word) in row.iter_mut().zip(words) {
                        *lane = word as u32;
                    }
                }
                self.immediate(row)
            }
            data => {
                // Undefined: use zero.
                debug_assert!(matches!(data, InstData::Undef), "{def:?} has uses but was not selected");
                self.immediate([0; 4])
            }
        };
        self.values.set(def, value);
        value
    }

    fn is_undef(&self, def: Def) -> bool {
        matches!(self.body.inst(self.body.def_inst(def)), InstData::Undef)
    }

    /// Binds a value to a new temporary and returns the temporary.
    fn bind_temp(&mut self, def: Def) -> Register {
        let register = self.temp();
        self.values.set(def, Value::new(register));
        register
    }

    /// The value of a register operand of the IR. Loads the address register if needed.
    fn register_value(&mut self, register: chase::Register) -> Value {
        match self.storage[register.handle] {
            Some(Storage::Temp(temp)) => Value::new(Register::new(File::Temporary, temp as i32)),
            Some(Storage::Array(first, elements, array)) => {
                let operand = self.array_element(first, elements, array, register);
                let value = operand.map_or_else(|| self.immediate([0; 4]), Value::new);
                if self.options.has_single_addresses() && value.register.indirect.is_some() {
                    // The next operand needs the address register.
                    return Value::new(self.computed(Opcode::Mov, 0xf, &[value.source([0, 1, 2, 3])]).register);
                }
                value
            }
            None => self.immediate([0; 4]),
        }
    }

    /// An element of an array of temporaries; none if it is outside.
    fn array_element(&mut self, first: u32, elements: u32, array: u16, register: chase::Register) -> Option<Register> {
        match register.indirect {
            None if register.base < elements => Some(Register::new(File::Temporary, (first + register.base) as i32)),
            None => None,
            Some(index) => {
                let base = i64::from(register.base as i32);
                let range = -base..i64::from(elements) - base;
                let (slot, offset) = self.load_address_within(index, AddressUse::Index, range);
                let base = i64::from(first) + i64::from(register.base as i32) + i64::from(offset);
                Some(Register::new(File::Temporary, base as i32).indexed_by(slot.0, slot.1, array))
            }
        }
    }

    /// An operand of a non-ALU instruction.
    fn operand(&mut self, source: Use) -> Value {
        match chase::chase_src(self.body, source) {
            Operand::Ssa(def) => self.value(def),
            Operand::Register(register) => self.register_value(register),
        }
    }

    /// Source `number` of an intrinsic or texture instruction.
    fn source(&mut self, inst: Inst, number: usize) -> Value {
        self.operand(self.body.source(inst, number))
    }

    /// Source `number` of an ALU instruction with its modifiers, and its swizzle.
    fn alu_source(&mut self, inst: Inst, number: usize) -> (Value, tgsi_ir::Swizzle) {
        let chased = chase::chase_alu_src(self.body, inst, number, self.options.modifiers());
        let mut value = match chased.operand {
            Operand::Ssa(def) => self.value(def),
            Operand::Register(register) => self.register_value(register),
        };
        if chased.absolute {
            value.absolute = true;
            value.negate = false;
        }
        value.negate ^= chased.negate;
        (value, chased.swizzle)
    }

    /// The destination of an ALU instruction's result, with a mask of lanes, and whether it is saturated. SSA values
    /// get a temporary.
    fn alu_destination(&mut self, def: Def) -> (Dst, bool) {
        let dest = chase::chase_alu_dest(self.body, def, self.options.modifiers());
        let register = match dest.operand {
            Operand::Ssa(def) => self.bind_temp(def),
            Operand::Register(register) => self.destination_register(register),
        };
        (Dst::new(register).masked(lane_mask(dest.write_mask, self.body.bit_size(def))), dest.saturate)
    }

    fn destination_register(&mut self, register: chase::Register) -> Register {
        match self.storage[register.handle] {
            Some(Storage::Temp(temp)) => Register::new(File::Temporary, temp as i32),
            Some(Storage::Array(first, elements, array)) => {
                match self.array_element(first, elements, array, register) {
                    Some(element) => element,
                    // Writes outside an array are dropped: the temporary is never read.
                    None => self.temp(),
                }
            }
            None => self.temp(),
        }
    }

    /// The destination of a non-ALU instruction's result.
    fn destination(&mut self, def: Def) -> Register {
        match chase::chase_dest(self.body, def) {
            Operand::Ssa(def) => self.bind_temp(def),
            Operand::Register(register) => self.destination_register(register),
        }
    }

    /// Sets a value to the content of a register: by binding if it stays SSA, by a `MOV` otherwise.
    fn bind_or_move(&mut self, def: Def, value: Value) {
        if let Operand::Ssa(_) = chase::chase_dest(self.body, def) {
            self.values.set(def, value);
            return;
        }
        let register = self.destination(def);
        let mask = self.full_lanes(def);
        self.emit(Opcode::Mov, Dst::new(register).masked(mask), &[value.source([0, 1, 2, 3])]);
    }

    /// Like [`Selector::bind_or_move`] for a register that may change: always copies.
    fn copy_to(&mut self, def: Def, mut value: Value) {
        let mask = self.full_lanes(def);
        let is_indexed = matches!(chase::chase_dest(self.body, def), Operand::Register(r) if r.indirect.is_some());
        if self.options.has_single_addresses() && is_indexed && value.register.indirect.is_some() {
            // The destination needs the address register.
            value = Value::new(self.computed(Opcode::Mov, mask, &[value.source([0, 1, 2, 3])]).register);
        }
        let register = self.destination(def);
        self.emit(Opcode::Mov, Dst::new(register).masked(mask), &[value.source([0, 1, 2, 3])]);
    }

    /// The mask of the components of a value, as lanes.
    fn full_lanes(&self, def: Def) -> u8 {
        lane_mask(chase::full_mask(self.body, def), self.body.bit_size(def))
    }

    fn instruction(&mut self, inst: Inst) -> Result<(), DriverError> {
        let body = self.body;
        self.at = Some(inst);
        match *body.inst(inst) {
            InstData::Alu { op, flags } => {
                if chase::is_folded(body, inst, self.options.modifiers()) {
                    return Ok(());
                }
                self.exact = flags.is_exact();
                let result = self.alu(inst, op);
                self.exact = false;
                result
            }
            InstData::LoadConst { .. } | InstData::Undef => Ok(()),
            InstData::Deref { kind, .. } => {
                if !self.shared_deref(inst, kind)? {
                    self.deref(inst, kind);
                }
                Ok(())
            }
            InstData::Tex(_) => self.texture(inst),
            InstData::Intrinsic { op, .. } => self.intrinsic(inst, op),
            InstData::Jump(kind) => self.jump(kind),
            InstData::Phi | InstData::ParallelCopy(_) => Err(DriverError::NotLowered { inst, what: "a phi" }),
            InstData::Call { callee, indirect } => self.call(inst, callee, indirect),
        }
    }

    /// Selects derefs of samplers and images.
    fn deref(&mut self, inst: Inst, kind: DerefKind) {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return };
        match kind {
            DerefKind::Var(variable) => {
                let base = self.shader.variables[variable].binding;
                self.units[def] = Some(Unit { variable, base, dynamic: None });
            }
            DerefKind::Array => {
                let Some(parent) = self.units[body.src(inst, 0)] else { return };
                let stride = body.deref_type(def).map_or(1, |ty| self.shader.types.array_elements(ty).max(1));
                let mut unit = parent;
                // A constant beyond the array is treated like a run-time index: no operand may refer to the register
                // that it would reach.
                let length = body.deref_type(body.src(inst, 0)).map(|ty| self.shader.types.array_elements(ty) / stride);
                let named = body
                    .constant_component(body.src(inst, 1), 0)
                    .filter(|&index| length.is_none_or(|length| index < u64::from(length)))
                    .map(|index| u64::from(unit.base).saturating_add(index.saturating_mul(u64::from(stride))))
                    .filter(|&base| base <= tgsi::limits::MAX_OPERAND_INDEX as u64);
                match named {
                    Some(base) => unit.base = base as u32,
                    None => {
                        // The index is read here: a register may change before the deref is used.
                        let mut index = self.source(inst, 1);
                        self.note_index(body.src(inst, 1));
                        if let Some((value, offset)) = self.offset_of_unit(body.src(inst, 1), &unit, stride) {
                            index = value;
                            unit.base = unit.base.wrapping_add_signed(offset);
                        }
                        let (multiply, add) = match self.options.native_integers {
                            true => (Opcode::Umul, Opcode::Uadd),
                            false => (Opcode::Mul, Opcode::Add),
                        };
                        let mut sum = if stride == 1 {
                            self.computed(Opcode::Mov, 1, &[index.lane(0)])
                        } else {
                            let stride = self.number(stride);
                            self.computed(multiply, 1, &[index.lane(0), stride])
                        };
                        if let Some(outer) = unit.dynamic {
                            sum = self.computed(add, 1, &[outer.lane(0), sum.swizzled([0; 4])]);
                        }
                        unit.dynamic = Some(Value::new(sum.register));
                    }
                }
                self.units[def] = Some(unit);
            }
            _ => {}
        }
    }

    /// The unit that a deref refers to.
    fn unit(&self, inst: Inst, deref: Def) -> Result<Unit, DriverError> {
        self.units[deref].ok_or(DriverError::NotLowered { inst, what: "a deref of a value other than a variable" })
    }

    /// Whether an ALU opcode only moves bits.
    fn is_move(op: AluOp) -> bool {
        op.is_vec_or_mov()
    }
}

use declared::IoFile;

impl Selector<'_> {
    /// Whether a run-time offset may lead to registers of several variables.
    fn reaches_others(&self, file: IoFile, inst: Inst) -> bool {
        let range = self.body.index(inst, IndexKind::Range);
        self.declared.reaches_others(file, self.body.index(inst, IndexKind::Base), range)
    }

    /// An input or output register: `base + offset`. With a run-time offset it is in the array of the variable, or in
    /// the whole file if the access exceeds the variable. None where there is no register: an access by a constant
    /// beyond the file.
    fn io_register(&mut self, file: IoFile, inst: Inst, offset: Use) -> Result<Option<Register>, DriverError> {
        let tgsi_file = file.tgsi();
        let base = self.body.index(inst, IndexKind::Base);
        let def = self.body.src_def(offset);
        let named = |add: i32| {
            let index = i64::from(base) + i64::from(add);
            // The limit of an operand in a token; with an address, the constant part may be below the file.
            i16::try_from(index).map(i32::from).map_err(|_| BuildError::TooManyRegisters(tgsi_file))
        };
        // A variable beyond the range of operands; an access that reaches there from another one finds no register.
        if base as u32 >= MAX_REGISTERS && self.declared.has_register(file, base as u32) {
            return Err(BuildError::TooManyRegisters(tgsi_file).into());
        }
        Ok(match self.body.constant_component(def, 0) {
            Some(constant) => {
                named(constant as i32).ok().filter(|&index| index >= 0).map(|index| Register::new(tgsi_file, index))
            }
            None => {
                // An access that reaches several variables refers to the one in the source.
                let reaches_others = self.reaches_others(file, inst);
                let range = if reaches_others { i64::MIN..i64::MAX } else { self.declared.offsets_within(file, base) };
                let (slot, add) = match self.register_that_hosts_index(file, base, def).filter(|_| reaches_others) {
                    Some(add) => (self.load_difference(def, add), add),
                    None => self.load_address_of_source(offset, AddressUse::Index, range),
                };
                let array = if reaches_others {
                    0
                } else {
                    let first = self.declared.array_of(file, base as u32);
                    self.declared.array_number(ArrayKey { file, first })
                };
                Some(Register::new(tgsi_file, named(add)?).indexed_by(slot.0, slot.1, array))
            }
        })
    }

    /// Binds a value to zero.
    fn bind_zero(&mut self, def: Def) {
        let zero = self.immediate([0; 4]);
        self.bind_or_move(def, zero);
    }
}
