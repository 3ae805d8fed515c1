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
mod derefs;
mod floats;
mod helpers;
mod io;
mod memory;
mod operands;
mod recognize;
mod shared;
mod system_values;
mod texture;
mod values;
mod vector_opcodes;

use arrayvec::ArrayVec;
use cranelift_entity::{EntitySet, SecondaryMap};
use tgsi::shader::{Dst, Instruction, InstructionMemory, Register, Src};
use tgsi::tables::Opcode;
use tgsi_diagnostics::Span;
use tgsi_ir::analysis::{CallGraph, calls};
use tgsi_ir::body::InstData;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::{Body, Def, Function, Inst, Shader, Variable};
use tgsi_registers::chase;

use crate::consumers::options::{Dialect, TgsiOptions};
use crate::machine::{Program, Tgsi};
use crate::{DriverError, Located};
use declared::ShaderDeclarations;
use shared::{FixedRegisters, Shared};
pub(crate) use values::Value;
use values::Values;

/// The location of a register of the IR.
#[derive(Clone, Copy, Debug)]
enum RegisterStorage {
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
    pub(crate) declared: ShaderDeclarations,
    values: Values,
    storage: SecondaryMap<Def, Option<RegisterStorage>>,
    units: SecondaryMap<Def, Option<Unit>>,
    addresses: Vec<LoadedAddress>,
    /// Copies of inputs read by lookups of this block, each with the operand and its number of components.
    coordinates: ArrayVec<(Src, usize, Src), MAX_COORDINATES>,
    /// Vectors packed in this block with parts that have not changed, each with the operand.
    packed: ArrayVec<(PackedVector, Src), MAX_COORDINATES>,
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
type PackedVector = ArrayVec<Option<Component>, 4>;

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
    pub(crate) parts: Vec<SelectedFunction>,
    pub(crate) declared: ShaderDeclarations,
    /// The sizes of the arrays of temporaries, in order; array `n` has number `n + 1`.
    pub(crate) arrays: Vec<u32>,
}

/// A function.
pub(crate) struct SelectedFunction {
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
    let mut selected =
        Selected { parts: Vec::new(), declared: ShaderDeclarations::of(shader), arrays: fixed.arrays.clone() };
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
        selector.select_control_flow().map_err(|error| error.in_body(body, options.native_integers))?;
        selected.declared = selector.declared;
        selected.parts.push(SelectedFunction { function, depth: depths[function], program: selector.program });
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
                self.storage[def] = Some(RegisterStorage::Temp(self.program.new_temp()));
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

    fn select_instruction(&mut self, inst: Inst) -> Result<(), DriverError> {
        let body = self.body;
        self.at = Some(inst);
        match *body.inst(inst) {
            InstData::Alu { op, flags } => {
                if chase::is_folded(body, inst, self.options.modifiers()) {
                    return Ok(());
                }
                self.exact = flags.is_exact();
                let result = self.select_alu(inst, op);
                self.exact = false;
                result
            }
            InstData::LoadConst { .. } | InstData::Undef => Ok(()),
            InstData::Deref { kind, .. } => {
                if !self.shared_deref(inst, kind)? {
                    self.select_deref(inst, kind);
                }
                Ok(())
            }
            InstData::Tex(_) => self.select_texture(inst),
            InstData::Intrinsic { op, .. } => self.select_intrinsic(inst, op),
            InstData::Jump(kind) => self.select_jump(kind),
            InstData::Phi | InstData::ParallelCopy(_) => Err(DriverError::NotLowered { inst, what: "a phi" }),
            InstData::Call { callee, indirect } => self.select_call(inst, callee, indirect),
        }
    }
}

use declared::IoFile;
use operands::lane_mask;
