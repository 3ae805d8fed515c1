//! A shader in executable form: one flat list of operations for all functions.
//!
//! Control flow is flattened with explicit ends: every list of the tree is followed by an operation that closes it
//! (`Else`, `EndIf`, `Continue`, `EndLoop`, `End`), which is where a jump goes on: a jump only takes lanes off the
//! mask. Phis become copies on the edges.

mod compile;
mod derefs;
mod instructions;

use super::RunError;
use super::derefs::{CopyPlan, DerefStep, ImagePlan};
use super::environment::{Inputs, Outputs, Resources, RunLimits};
use super::io::IoPlan;
use super::layout::Layout;
use super::machine::Machine;
use crate::alu::AluOp;
use crate::body::{MAX_INDICES, TexData};
use crate::entities::{Function, Inst};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::shader::Shader;

/// Where a value stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Value {
    /// First plane. The high words of 64-bit components follow all low ones.
    pub plane: u32,
    /// Components; 0 = no value.
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

/// A register or register array; its elements stand one after the other, each like a value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Register {
    /// First plane.
    pub plane: u32,
    /// Elements, at least 1.
    pub elements: u32,
    /// Components of an element.
    pub components: u8,
    /// Bits of a component.
    pub bits: u8,
}

impl Register {
    /// Planes of one element.
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
pub(super) enum Op {
    /// [`Program::alus`].
    Alu(u32),
    /// [`Program::intrinsics`].
    Intrinsic(u32),
    /// [`Program::derefs`].
    Deref(u32),
    /// [`Program::textures`].
    Texture(u32),
    /// Copies that happen at once: a range of [`Program::copies`].
    Copies {
        /// First.
        start: u32,
        /// Number.
        count: u32,
    },
    /// [`Program::calls`].
    Call(u32),
    /// Lanes with a condition go on; if there is none, at `otherwise`, which is the `Else`.
    If {
        /// The condition.
        condition: Value,
        /// Where the `Else` is.
        otherwise: u32,
    },
    /// The other lanes of the `If` go on; if there is none, at `end`, which is the `EndIf`.
    Else {
        /// Where the `EndIf` is.
        end: u32,
    },
    /// The lanes that are left meet; if there is none, go on at the end of the enclosing list.
    EndIf {
        /// End of the enclosing list.
        nobody: u32,
    },
    /// Enters a loop.
    Loop,
    /// Start of a continue construct: lanes that continued come back.
    Continue,
    /// Next iteration at `head` if lanes are left, else the end of the loop; if nobody comes out of it, go on at the
    /// end of the enclosing list.
    EndLoop {
        /// First operation of the body.
        head: u32,
        /// End of the enclosing list.
        nobody: u32,
    },
    /// Takes the lanes off, and goes on at the end of the list.
    Jump {
        /// The constructs that the lanes leave.
        kind: Leave,
        /// End of the list.
        end: u32,
    },
    /// End of a function.
    End,
}

/// The construct that a jump leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Leave {
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
pub(super) struct Alu {
    /// Opcode.
    pub op: AluOp,
    /// Size of the unsized types.
    pub bit_size: u8,
    /// Whether there is a loop over lanes for it.
    pub fast: bool,
    /// Number of sources.
    pub num_sources: u8,
    /// First source in [`Program::alu_sources`].
    pub sources: u32,
    /// Result.
    pub dest: Value,
}

/// A source of an ALU instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AluSource {
    /// Where the planes of its components stand in [`Program::planes`], swizzle applied.
    pub start: u32,
    /// Number of components.
    pub components: u8,
    /// Distance to the planes of the high words; 0 if there are none.
    pub high: u8,
}

/// An intrinsic.
#[derive(Clone, Copy, Debug)]
pub(super) struct Intrinsic {
    /// Opcode.
    pub op: IntrinsicOp,
    /// Number of sources.
    pub num_sources: u8,
    /// First source in [`Program::operands`].
    pub sources: u32,
    /// Result; no components if there is none.
    pub dest: Value,
    /// Constant indices.
    pub indices: [i32; MAX_INDICES],
    /// Index `base`, 0 if it has none.
    pub base: i32,
    /// Index `write_mask`, all components if it has none.
    pub write_mask: u32,
    /// Precomputed: index into the list of the program that the opcode implies.
    pub extra: u32,
    /// Origin, for errors.
    pub origin: Origin,
}

impl Intrinsic {
    /// A constant index, 0 if it has none.
    pub fn index(&self, kind: IndexKind) -> i32 {
        self.op.info().index_slot(kind).and_then(|slot| self.indices.get(slot)).copied().unwrap_or(0)
    }
}

/// The instruction that an operation comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    /// Function.
    pub function: Function,
    /// Instruction.
    pub inst: Inst,
}

/// Number of texture source kinds.
pub(super) const TEX_SOURCE_KINDS: usize = crate::body::TexSrcKind::ALL.len();

/// A texture instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Texture {
    /// Payload.
    pub data: TexData,
    /// Result.
    pub dest: Value,
    /// Sources by kind; no components = absent.
    pub sources: [Value; TEX_SOURCE_KINDS],
    /// Origin, for errors.
    pub origin: Origin,
}

/// One end of a copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Span {
    /// In the register file, else among the values.
    pub register: bool,
    /// First plane.
    pub plane: u32,
}

/// A copy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copy {
    /// Where to.
    pub dest: Span,
    /// Where from.
    pub source: Span,
    /// Planes.
    pub planes: u32,
}

/// A call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// Number of the callee in [`Program::functions`].
    pub callee: u32,
    /// First argument in [`Program::operands`].
    pub arguments: u32,
    /// Number of arguments.
    pub num_arguments: u16,
    /// Origin, for errors.
    pub origin: Origin,
}

/// A function.
#[derive(Clone, Debug, Default)]
pub(super) struct Routine {
    /// First operation.
    pub start: u32,
    /// Its parameters.
    pub parameters: Vec<Value>,
    /// Planes of its registers: first, number.
    pub registers: (u32, u32),
    /// Private cells of its variables: first, number.
    pub locals: Vec<(u32, u32)>,
    /// Words that initialisers put into private cells.
    pub initial: Vec<(u32, u32)>,
}

/// A shader prepared for running.
#[derive(Debug)]
pub struct Program<'a> {
    pub(super) shader: &'a Shader,
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
    /// Planes that hold a constant: plane, word.
    pub(super) constants: Vec<(u32, u32)>,
    pub(super) functions: Vec<Routine>,
    pub(super) layout: Layout,
    pub(super) io: IoPlan,
    pub(super) num_value_planes: u32,
    pub(super) num_register_planes: u32,
}

impl<'a> Program<'a> {
    /// Prepares a shader.
    ///
    /// # Errors
    /// If there is nothing to run, or the shader would not pass validation in a way that makes it impossible to run.
    /// An instruction that only some environments offer is an error when it is executed.
    pub fn new(shader: &'a Shader) -> Result<Program<'a>, RunError> {
        let entry = shader.entry_point().ok_or(RunError::NoEntryPoint)?;
        let program = Program {
            shader,
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
            functions: Vec::new(),
            layout: Layout::new(shader),
            io: IoPlan::default(),
            num_value_planes: 0,
            num_register_planes: 0,
        };
        if shader.functions[entry].body.is_none() {
            return Err(RunError::NoEntryPoint);
        }
        let mut program = compile::compile(program, entry)?;
        program.io = IoPlan::new(&program)?;
        Ok(program)
    }

    /// Runs the shader.
    ///
    /// # Errors
    /// If it does not end within the limits, or executes an instruction for which there are no surroundings.
    pub fn run(&self, inputs: &Inputs, resources: &mut dyn Resources, limits: RunLimits) -> Result<Outputs, RunError> {
        let mut machine = Machine::new(self, inputs, resources, limits)?;
        machine.execute(limits)?;
        Ok(machine.finish())
    }

    pub(super) fn function_name(&self, function: Function) -> String {
        self.shader.functions[function].name.clone()
    }

    /// The error that an instruction has no counterpart in the environment.
    pub(super) fn unsupported(&self, origin: Origin, name: &'static str) -> RunError {
        RunError::Unsupported { function: self.function_name(origin.function), inst: origin.inst, name }
    }
}
