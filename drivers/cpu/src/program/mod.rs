//! The lane program: a shader as a flat list of operations over numbered planes.
//!
//! A *plane* is one word for each lane of a block. A value has a plane for each component; 64-bit components have two,
//! the low words of all components first. Planes of values are assigned by liveness (`assign`): several values that
//! do not live at once share one. Registers, cells of variables and constants have planes of their own.
//!
//! Control flow is structured. `If`, `Else`, `EndIf`, `Loop`, `Continue` and `EndLoop` change the mask of active lanes;
//! the targets in them are where to go on if no lane is active. A jump takes its lanes off the mask. A phi has a plane
//! that the edges copy to.
//!
//! An operation of the ALU writes all lanes, active or not, unless its value is read outside of the loop that makes it:
//! then lanes that have left the loop keep what they have.

mod assign;
mod build;
pub(crate) mod operations;
mod print;

use tgsi_ir::Stage;
use tgsi_ir::alu::{AluOp, ExecutionMode};
use tgsi_ir::body::{MAX_INDICES, TexData, TexSrcKind};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};

pub(crate) use build::COUNTER_SHIFT;
pub use build::compile;

/// Most planes of a program.
pub const MAX_PLANES: u32 = 1 << 22;

/// How a program is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Inactive lanes keep the values they had, as in the interpreter of the IR. Derivatives and lookups inside
    /// divergent control flow see them, which the languages leave undefined; without it, their values are arbitrary.
    pub keep_inactive: bool,
}

/// Where a value stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Value {
    /// First plane.
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

/// An array of registers, or a single one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Register {
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
    /// An element as a value.
    pub fn element(self, index: u32) -> Option<Value> {
        let value = Value { plane: self.plane, components: self.components, bits: self.bits };
        (index < self.elements).then(|| Value { plane: self.plane + index * value.planes(), ..value })
    }
}

/// An operation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    /// One of the table, for one component.
    Lane {
        /// The row of the table.
        op: AluOp,
        /// Whether inactive lanes keep what they have.
        masked: bool,
        /// Result.
        dest: u32,
        /// Operands; those that the opcode lacks are 0.
        sources: [u32; 3],
    },
    /// An ALU instruction without a row: [`Program::generals`].
    General(u32),
    /// Copies that happen at once, of active lanes: [`Program::copies`].
    Copies(u32),
    /// [`Program::intrinsics`].
    Intrinsic(u32),
    /// [`Program::textures`].
    Texture(u32),
    /// A step along a path of derefs: [`Program::steps`].
    Step(u32),
    /// Lanes with a condition go on; if there is none, at `otherwise`, the `Else`.
    If { condition: u32, otherwise: u32 },
    /// The other lanes go on; if there is none, at `end`, the `EndIf`.
    Else { end: u32 },
    /// The lanes that are left meet; if there is none, go on at `nobody`.
    EndIf { nobody: u32 },
    /// Enters a loop.
    Loop,
    /// Lanes that continued come back.
    Continue,
    /// Next iteration at `head` if lanes are left in the loop; if nobody comes out of it, go on at `nobody`.
    EndLoop { head: u32, nobody: u32 },
    /// Takes the active lanes off the mask, and goes on at `end`.
    Jump { kind: Leave, end: u32 },
    /// The end of the shader.
    End,
}

/// What a jump leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Leave {
    /// The loop.
    Break,
    /// The iteration.
    Continue,
    /// The shader.
    Shader,
}

/// An ALU instruction without a row in the table.
#[derive(Clone, Debug)]
pub(crate) struct General {
    /// Opcode.
    pub op: AluOp,
    /// Size of the unsized types.
    pub bit_size: u8,
    /// Result.
    pub dest: Value,
    /// Planes of each source's components, and the distance to the planes of their high words (0: none).
    pub sources: Vec<(Vec<u32>, u32)>,
}

/// A copy of one plane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copy {
    /// To.
    pub dest: u32,
    /// From.
    pub source: u32,
}

/// An intrinsic.
#[derive(Clone, Debug)]
pub(crate) struct Intrinsic {
    /// Opcode.
    pub op: IntrinsicOp,
    /// Sources.
    pub sources: [Value; MAX_SOURCES],
    /// Number of them.
    pub num_sources: u8,
    /// Result; no components if there is none.
    pub dest: Value,
    /// Constant indices.
    pub indices: [i32; MAX_INDICES],
    /// Index `base`, 0 if it has none.
    pub base: i32,
    /// Index `write_mask`, all components if it has none.
    pub write_mask: u32,
    /// The last source, an offset, if it is a constant.
    pub offset: Option<u32>,
    /// The register of an access to one.
    pub register: u32,
}

/// Most sources of an intrinsic.
pub(crate) const MAX_SOURCES: usize = 6;

impl Intrinsic {
    /// A constant index, 0 if it has none.
    pub fn index(&self, kind: IndexKind) -> i32 {
        self.op.info().index_slot(kind).and_then(|slot| self.indices.get(slot)).copied().unwrap_or(0)
    }

    /// The sources.
    pub fn sources(&self) -> &[Value] {
        &self.sources[..usize::from(self.num_sources)]
    }
}

/// Number of kinds of texture sources.
const TEX_SOURCE_KINDS: usize = TexSrcKind::ALL.len();

/// A texture instruction.
#[derive(Clone, Debug)]
pub(crate) struct Texture {
    /// What it is.
    pub data: TexData,
    /// Result.
    pub dest: Value,
    /// Sources by kind; no components = absent.
    pub sources: [Value; TEX_SOURCE_KINDS],
}

impl Texture {
    /// The source of a kind.
    pub fn source(&self, kind: TexSrcKind) -> Option<Value> {
        let value = self.sources[kind as usize];
        (value.components != 0).then_some(value)
    }
}

/// The address that points nowhere: what is read there is 0, what is written there is lost.
pub(crate) const NULL: u32 = u32::MAX;

/// An index into what a pointer points at: cells of a variable, or units of samplers and images.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// The address that it makes.
    pub dest: Value,
    /// The address that it starts from.
    pub parent: Value,
    /// The index.
    pub index: Value,
    /// Number of elements; `u32::MAX` = no bound.
    pub bound: u32,
    /// Cells or units of an element.
    pub stride: u32,
}

impl Step {
    /// The address of an element.
    pub fn address(&self, parent: u32, index: i64) -> u32 {
        if parent == NULL || (self.bound != u32::MAX && !(0..i64::from(self.bound)).contains(&index)) {
            return NULL;
        }
        let distance = index.saturating_mul(self.stride.into()).saturating_add(parent.into());
        u32::try_from(distance).unwrap_or(NULL)
    }
}

/// A shader in executable form. It holds data only, and may be used by several threads at once.
#[derive(Clone, Debug)]
pub struct Program {
    pub(crate) ops: Vec<Op>,
    pub(crate) generals: Vec<General>,
    pub(crate) copies: Vec<Vec<Copy>>,
    pub(crate) intrinsics: Vec<Intrinsic>,
    pub(crate) textures: Vec<Texture>,
    pub(crate) steps: Vec<Step>,
    pub(crate) registers: Vec<Register>,
    /// Planes that hold a constant: plane, word.
    pub(crate) constants: Vec<(u32, u32)>,
    /// Planes of values, constants among them.
    pub(crate) value_planes: u32,
    /// Planes of registers and cells, behind those of values. They are zero at the start.
    pub(crate) state_planes: u32,
    /// First plane of the cells of variables.
    pub(crate) first_cell: u32,
    /// Number of cells.
    pub(crate) cells: u32,
    /// Words that initialisers put into cells: cell, word.
    pub(crate) initial: Vec<(u32, u32)>,
    pub(crate) stage: Stage,
    pub(crate) mode: ExecutionMode,
    pub(crate) scratch_size: u32,
    pub(crate) constant_data: Vec<u8>,
    pub(crate) first_ubo_buffer: u32,
    pub(crate) vertices_out: u32,
    pub(crate) patch_vertices: u32,
    pub(crate) output_registers: u32,
    /// Input registers that loads may read, those before them included.
    pub(crate) input_registers: u32,
    pub(crate) writes_memory: bool,
}

impl Program {
    /// The stage of the shader.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Number of output registers.
    pub fn output_registers(&self) -> usize {
        self.output_registers as usize
    }

    /// Whether a run may change buffers, counters or images. Blocks of such a program run one after the other.
    pub fn writes_memory(&self) -> bool {
        self.writes_memory
    }

    /// Number of operations.
    pub fn num_operations(&self) -> usize {
        self.ops.len()
    }

    /// Number of planes that a block has, one word a lane each.
    pub fn num_planes(&self) -> usize {
        self.value_planes as usize + self.state_planes as usize
    }
}
