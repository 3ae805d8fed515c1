//! A shader in executable form: one flat list of operations for all functions.
//!
//! Control flow is flattened with explicit ends: every list of the tree is followed by an operation that closes it
//! (`Else`, `EndIf`, `Continue`, `EndLoop`, `End`). A jump only clears lanes of the mask and continues there. Phis
//! become copies on the edges.

mod compile;
mod derefs;
mod instructions;

use super::RunError;
use super::derefs::{CopyPlan, DerefStep, ImagePlan};
use super::io::IoPlan;
use super::layout::Layout;
use super::machine::Machine;
use super::native::NativeCode;
use std::ops::Range;
use std::sync::Arc;
use tgsi_environment::{Inputs, LaneRegisters, Outputs, Resources, RunLimits};

use cranelift_entity::PrimaryMap;
use hashbrown::HashSet;

use crate::alu::{AluOp, ExecutionMode};
use crate::body::{MAX_INDICES, TexData};
use crate::entities::{Function, Inst};
use crate::intrinsics::{DestComponents, IndexKind, IntrinsicKind, IntrinsicOp};
use crate::shader::{Shader, ShaderStage};
use crate::variable::VariableModes;

/// The location of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Value {
    /// First plane. The high words of 64-bit components follow all low ones.
    pub plane: u32,
    /// Number of components; 0 if there is no value.
    pub components: u8,
    /// Bits of a component.
    pub bits: u8,
}

impl Value {
    /// Number of planes.
    pub fn planes(self) -> u32 {
        u32::from(self.components) * if self.bits == 64 { 2 } else { 1 }
    }
}

/// A register or register array; its elements are consecutive, each laid out like a value.
#[derive(Clone, Copy, Debug, Default)]
pub struct Register {
    /// First plane.
    pub plane: u32,
    /// Number of elements, at least 1.
    pub elements: u32,
    /// Number of components of an element.
    pub components: u8,
    /// Bits of a component.
    pub bits: u8,
}

impl Register {
    /// Number of planes of one element.
    pub fn stride(self) -> u32 {
        Value { plane: 0, components: self.components, bits: self.bits }.planes()
    }

    /// Element `index` as a value of the register file.
    pub fn element(self, index: u32) -> Option<Value> {
        (index < self.elements).then(|| Value {
            plane: self.plane + index * self.stride(),
            components: self.components,
            bits: self.bits,
        })
    }
}

/// An operation.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// [`Program::alus`].
    Alu(u32),
    /// [`Program::intrinsics`].
    Intrinsic(u32),
    /// A deref; see [`Program::deref_values`].
    Deref(u32),
    /// [`Program::textures`].
    Texture(u32),
    /// A parallel copy: a range of [`Program::copies`].
    Copies {
        /// First.
        start: u32,
        /// Number.
        count: u32,
    },
    /// A call; see [`Program::call_values`] for its arguments.
    Call(u32),
    /// Activates the lanes with a true condition. If no lane remains, continues at `otherwise`, which is the `Else`.
    If {
        /// The condition.
        condition: Value,
        /// Index of the `Else`.
        otherwise: u32,
    },
    /// Activates the other lanes of the `If`. If no lane remains, continues at `end`, which is the `EndIf`.
    Else {
        /// Index of the `EndIf`.
        end: u32,
    },
    /// Activates the remaining lanes of both sides. If no lane remains, continues at the end of the enclosing list.
    EndIf {
        /// End of the enclosing list.
        nobody: u32,
    },
    /// Enters a loop.
    Loop,
    /// Start of a continue construct: activates the lanes that continued.
    Continue,
    /// Continues with the next iteration at `head` if lanes are left, otherwise after the loop. If no lane leaves the
    /// loop, continues at the end of the enclosing list.
    EndLoop {
        /// First operation of the body.
        head: u32,
        /// End of the enclosing list.
        nobody: u32,
    },
    /// Deactivates the lanes and continues at the end of the list.
    Jump {
        /// The constructs that the lanes leave.
        kind: Leave,
        /// End of the list.
        end: u32,
    },
    /// Executes machine code for a region and continues at `end`. See [`super::native`].
    Native {
        /// Number of the region.
        stretch: u32,
        /// The operation after the region.
        end: u32,
    },
    /// End of a function.
    End,
}

/// The construct that a jump leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leave {
    /// The innermost loop.
    Break,
    /// The iteration.
    Continue,
    /// The function.
    Return,
    /// The shader.
    Halt,
}

/// An ALU instruction.
#[derive(Clone, Copy, Debug)]
pub struct Alu {
    /// Opcode.
    pub op: AluOp,
    /// Size of the unsized types.
    pub bit_size: u8,
    /// Whether a loop over lanes implements it.
    pub fast: bool,
    /// Number of sources.
    pub num_sources: u8,
    /// First source; see [`Program::alu_source_planes`].
    pub sources: u32,
    /// Result.
    pub dest: Value,
}

/// A source of an ALU instruction.
#[derive(Clone, Copy, Debug, Default)]
pub struct AluSource {
    /// Start of the planes of its components in the program's list of planes, after swizzling.
    pub start: u32,
    /// Number of components.
    pub components: u8,
    /// Distance to the planes of the high words; 0 if there are no high words.
    pub high: u8,
}

/// An intrinsic.
#[derive(Clone, Copy, Debug)]
pub struct Intrinsic {
    /// Opcode.
    pub op: IntrinsicOp,
    /// Number of sources.
    pub num_sources: u8,
    /// First source; see [`Program::sources_of`].
    pub sources: u32,
    /// Result; has no components if absent.
    pub dest: Value,
    /// Constant indices.
    pub indices: [i32; MAX_INDICES],
    /// Index `base`; 0 if absent.
    pub base: i32,
    /// Index `write_mask`; all components if absent.
    pub write_mask: u32,
    /// A precomputed index into a list of the program, which depends on the opcode.
    pub extra: u32,
    /// The last source, which is the offset of loads and stores, if it is constant.
    pub offset: Option<u32>,
    /// Source instruction, for errors.
    pub origin: Origin,
}

impl Intrinsic {
    /// A constant index; 0 if absent.
    pub fn index(&self, kind: IndexKind) -> i32 {
        self.op.info().index_slot(kind).and_then(|slot| self.indices.get(slot)).copied().unwrap_or(0)
    }

    /// The component, counted over all registers, of word `word` of an access to inputs or outputs; `None` if it is out
    /// of the range of the access, or if the location is not constant.
    pub fn component(&self, word: u32) -> Option<u32> {
        let offset = self.offset?;
        let range = self.index(IndexKind::Range) as u32;
        if range != 0 && offset >= range {
            return None;
        }
        let register = (self.base as u32).wrapping_add(offset);
        let first = (self.index(IndexKind::Component) & 3) as u32;
        register.checked_mul(4)?.checked_add(first + word)
    }
}

/// The instruction that an operation was compiled from.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    /// Function.
    pub function: Function,
    /// Instruction.
    pub inst: Inst,
}

/// Number of texture source kinds.
pub const TEX_SOURCE_KINDS: usize = crate::body::TexSrcKind::ALL.len();

/// A texture instruction.
#[derive(Clone, Copy, Debug)]
pub struct Texture {
    /// Payload.
    pub data: TexData,
    /// Result.
    pub dest: Value,
    /// Sources by kind; absent ones have no components.
    pub sources: [Value; TEX_SOURCE_KINDS],
    /// Source instruction, for errors.
    pub origin: Origin,
}

/// The source or destination of a copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// Whether it is in the register file; otherwise it is a value.
    pub register: bool,
    /// First plane.
    pub plane: u32,
}

/// A copy.
#[derive(Clone, Copy, Debug)]
pub struct Copy {
    /// Destination.
    pub dest: Span,
    /// Source.
    pub source: Span,
    /// Number of planes.
    pub planes: u32,
}

/// A call.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Number of the callee in the program's list.
    pub callee: u32,
    /// First argument; see [`Program::call_values`].
    pub arguments: u32,
    /// Number of arguments.
    pub num_arguments: u16,
    /// Source instruction, for errors.
    pub origin: Origin,
}

/// A function.
#[derive(Clone, Debug, Default)]
pub struct Routine {
    /// First operation.
    pub start: u32,
    /// Parameters.
    pub parameters: Vec<Value>,
    /// Planes of its registers: first, count.
    pub(super) registers: (u32, u32),
    /// Private cells of its variables: first, count.
    pub locals: Vec<(u32, u32)>,
    /// Words of initialisers of private cells.
    pub initial: Vec<(u32, u32)>,
}

/// Modes of variables in buffers and shared memory.
const MEMORY_MODES: VariableModes = VariableModes(VariableModes::MEM_SSBO.0 | VariableModes::MEM_SHARED.0);

/// Properties of a shader outside of its code.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    pub stage: ShaderStage,
    pub float_controls_execution_mode: ExecutionMode,
    pub scratch_size: u32,
    pub constant_data: Vec<u8>,
    pub first_ubo_buffer: u32,
    /// Whether it has variables in memory that is visible to other invocations.
    pub has_memory_variables: bool,
    /// Maximum number of vertices that a geometry shader emits; 0 if unlimited.
    pub vertices_out: u32,
    /// Number of vertices of the output patch of a tessellation control shader; 0 means the number of lanes.
    pub patch_vertices: u32,
    /// Function names, for errors.
    pub functions: PrimaryMap<Function, String>,
}

impl Facts {
    fn new(shader: &Shader) -> Facts {
        Facts {
            stage: shader.stage,
            float_controls_execution_mode: shader.info.float_controls_execution_mode,
            scratch_size: shader.scratch_size,
            constant_data: shader.constant_data.clone(),
            first_ubo_buffer: shader.info.first_ubo_buffer(),
            has_memory_variables: shader.variables.values().any(|variable| variable.mode.intersects(MEMORY_MODES)),
            vertices_out: shader.info.gs.vertices_out,
            patch_vertices: shader.info.tess.tcs_vertices_out,
            functions: shader.functions.values().map(|function| function.name.clone()).collect(),
        }
    }
}

/// Whether an intrinsic may have an effect that is visible to other blocks of lanes.
fn writes_memory(op: IntrinsicOp) -> bool {
    use IntrinsicOp as I;
    let info = op.info();
    match info.kind {
        IntrinsicKind::AtomicCounter => true,
        // Loads and size queries have no effects.
        IntrinsicKind::Image => info.dest_components == DestComponents::None || !info.can_eliminate,
        _ => matches!(op, I::StoreSsbo | I::SsboAtomic | I::SsboAtomicSwap),
    }
}

/// A shader prepared for execution. It is immutable data, and may be used by several threads at once.
#[derive(Debug)]
pub struct Program {
    /// Properties of the shader outside of its code.
    pub(super) facts: Facts,
    pub(super) ops: Vec<Op>,
    pub(super) alus: Vec<Alu>,
    pub(super) alu_sources: Vec<AluSource>,
    pub(super) planes: Vec<u32>,
    pub(super) intrinsics: Vec<Intrinsic>,
    pub(super) operands: Vec<Value>,
    pub(super) derefs: Vec<DerefStep>,
    pub(super) textures: Vec<Texture>,
    pub(super) copies: Vec<Copy>,
    pub(super) calls: Vec<Call>,
    pub(super) registers: Vec<Register>,
    pub(super) copy_plans: Vec<CopyPlan>,
    pub(super) images: Vec<ImagePlan>,
    /// Constant planes: plane, word.
    pub(super) constants: Vec<(u32, u32)>,
    /// Planes that derivatives and textures read in inactive lanes.
    pub(super) read_inactive: Vec<u32>,
    pub(super) always_stored: Vec<bool>,
    pub(super) needs_planes: bool,
    /// By plane of values: whether inactive lanes must keep their words, because the value is used outside of the loop
    /// that defines it.
    pub(super) kept: Vec<bool>,
    pub(super) functions: Vec<Routine>,
    pub(super) layout: Layout,
    pub(super) io: IoPlan,
    pub(super) num_value_planes: u32,
    pub(super) num_register_planes: u32,
    pub(super) native: Option<Arc<dyn NativeCode>>,
}

impl Program {
    /// Prepares a shader.
    ///
    /// # Errors
    /// If there is nothing to execute, or the shader is invalid such that it cannot be executed. An instruction that
    /// only some environments support is an error when it is executed.
    pub fn new(shader: &Shader) -> Result<Program, RunError> {
        let entry = shader.entry_point().ok_or(RunError::NoEntryPoint)?;
        let program = Program {
            facts: Facts::new(shader),
            ops: Vec::new(),
            alus: Vec::new(),
            alu_sources: Vec::new(),
            planes: Vec::new(),
            intrinsics: Vec::new(),
            operands: Vec::new(),
            derefs: Vec::new(),
            textures: Vec::new(),
            copies: Vec::new(),
            calls: Vec::new(),
            registers: Vec::new(),
            copy_plans: Vec::new(),
            images: Vec::new(),
            constants: Vec::new(),
            read_inactive: Vec::new(),
            always_stored: Vec::new(),
            needs_planes: true,
            kept: Vec::new(),
            functions: Vec::new(),
            layout: Layout::new(shader),
            io: IoPlan::default(),
            num_value_planes: 0,
            num_register_planes: 0,
            native: None,
        };
        if shader.functions[entry].body.is_none() {
            return Err(RunError::NoEntryPoint);
        }
        let mut program = compile::compile(program, shader, entry)?;
        program.constants.sort_unstable_by_key(|&(plane, _)| plane);
        program.read_inactive = program.planes_read_inactive();
        program.io = IoPlan::new(&program, shader)?;
        program.always_stored = super::stores::always_stored(&program);
        Ok(program)
    }

    /// Executes the shader.
    ///
    /// # Errors
    /// If it does not end within the limits, or executes an instruction without a counterpart in the environment.
    pub fn run(&self, inputs: &Inputs, resources: &mut dyn Resources, limits: RunLimits) -> Result<Outputs, RunError> {
        self.run_blocks(inputs, 0..inputs.lanes, inputs.lanes, resources, limits, LaneRegisters::default())
    }

    /// Executes the shader for a range of lanes of the inputs, of any size, in consecutive blocks of `block` lanes,
    /// rounded up to whole quads. Each block executes like a separate run, but buffers, counters and resources are
    /// passed on from block to block. The outputs are those of the range of lanes; their shared memory is that of the
    /// last block. The output registers reuse the memory of `reused`, regardless of its content.
    ///
    /// # Errors
    /// Like [`run`](Self::run), with the limits applied to each block.
    pub fn run_blocks(
        &self,
        inputs: &Inputs,
        lanes: Range<usize>,
        block: usize,
        resources: &mut dyn Resources,
        limits: RunLimits,
        reused: LaneRegisters,
    ) -> Result<Outputs, RunError> {
        let block = block.next_multiple_of(4).max(4);
        let mut machine = Machine::new(self, inputs, lanes.clone(), block, resources, limits, reused)?;
        for first in lanes.clone().step_by(block) {
            machine.start_block(first, block.min(lanes.end - first));
            machine.run_ops(limits.steps)?;
            machine.finish_block();
        }
        Ok(machine.outputs)
    }

    /// All operations.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// ALU instructions, indexed by [`Op::Alu`].
    pub fn alus(&self) -> &[Alu] {
        &self.alus
    }

    /// Intrinsics, indexed by [`Op::Intrinsic`].
    pub fn intrinsics(&self) -> &[Intrinsic] {
        &self.intrinsics
    }

    /// Texture instructions, indexed by [`Op::Texture`].
    pub fn textures(&self) -> &[Texture] {
        &self.textures
    }

    /// Copies; [`Op::Copies`] is a range of them.
    pub fn copies(&self) -> &[Copy] {
        &self.copies
    }

    /// Registers.
    pub fn registers(&self) -> &[Register] {
        &self.registers
    }

    /// Constant planes of values, ascending: plane, word.
    pub fn constants(&self) -> &[(u32, u32)] {
        &self.constants
    }

    /// By plane of values: whether inactive lanes must keep their words, because the value is used outside of the loop
    /// that defines it.
    pub fn kept(&self) -> &[bool] {
        &self.kept
    }

    /// Number of planes of values.
    pub fn num_value_planes(&self) -> u32 {
        self.num_value_planes
    }

    /// Number of planes of registers.
    pub fn num_register_planes(&self) -> u32 {
        self.num_register_planes
    }

    /// The stage of the shader.
    pub fn stage(&self) -> ShaderStage {
        self.facts.stage
    }

    /// Rounding and denormal handling of floats.
    pub fn execution_mode(&self) -> ExecutionMode {
        self.facts.float_controls_execution_mode
    }

    /// The constant buffer that is uniform buffer 0.
    pub fn first_ubo_buffer(&self) -> u32 {
        self.facts.first_ubo_buffer
    }

    /// Number of output registers.
    pub fn output_registers(&self) -> usize {
        self.io.output_registers as usize
    }

    /// By component of the outputs: whether one operation stores it in all lanes, so that it need not be cleared
    /// before.
    pub fn always_stored(&self) -> &[bool] {
        &self.always_stored
    }

    /// Whether a run may change buffers, counters or images.
    pub fn writes_memory(&self) -> bool {
        self.facts.has_memory_variables || self.intrinsics.iter().any(|intrinsic| writes_memory(intrinsic.op))
    }

    /// The planes of source `number` of an ALU instruction, after swizzling.
    pub fn alu_source_planes(&self, alu: &Alu, number: usize) -> &[u32] {
        let source = self.alu_sources[alu.sources as usize + number];
        &self.planes[source.start as usize..source.start as usize + usize::from(source.components)]
    }

    /// For source `number` of an ALU instruction, the distance from the plane of a component's low word to the plane of
    /// its high word; 0 if there are no high words.
    pub fn alu_source_high(&self, alu: &Alu, number: usize) -> u8 {
        self.alu_sources[alu.sources as usize + number].high
    }

    /// The operands and the result of a deref.
    pub fn deref_values(&self, number: u32) -> [Value; 3] {
        let step = self.derefs[number as usize];
        [step.dest, step.parent, step.index]
    }

    /// The arguments of a call.
    pub fn call_values(&self, number: u32) -> &[Value] {
        let call = self.calls[number as usize];
        let first = call.arguments as usize;
        &self.operands[first..first + usize::from(call.num_arguments)]
    }

    /// The sources of an intrinsic.
    pub fn sources_of(&self, intrinsic: &Intrinsic) -> &[Value] {
        let start = intrinsic.sources as usize;
        &self.operands[start..start + usize::from(intrinsic.num_sources)]
    }

    fn planes_read_inactive(&self) -> Vec<u32> {
        use IntrinsicOp as I;
        let mut planes = Vec::new();
        for intrinsic in &self.intrinsics {
            if matches!(intrinsic.op, I::Ddx | I::DdxFine | I::DdxCoarse | I::Ddy | I::DdyFine | I::DdyCoarse)
                && let Some(source) = self.operands.get(intrinsic.sources as usize)
            {
                planes.extend(source.plane..source.plane + source.planes());
            }
        }
        for source in self.textures.iter().flat_map(|texture| &texture.sources) {
            planes.extend(source.plane..source.plane + source.planes());
        }
        planes.sort_unstable();
        planes.dedup();
        let constant: HashSet<u32> = self.constants.iter().map(|&(plane, _)| plane).collect();
        planes.retain(|plane| !constant.contains(plane));
        planes
    }

    pub(super) fn function_name(&self, function: Function) -> String {
        self.facts.functions.get(function).cloned().unwrap_or_default()
    }

    /// The error for an instruction without a counterpart in the environment.
    pub(super) fn unsupported(&self, origin: Origin, name: &'static str) -> RunError {
        RunError::Unsupported { function: self.function_name(origin.function), inst: origin.inst, name }
    }
}
