//! The operations of a program, and the values that they access.

use crate::alu::AluOp;
use crate::body::{MAX_INDICES, TexData, TexOp, TexSrcKind};
use crate::entities::{Function, Inst};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_environment::TextureLookup;

/// The location of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Value {
    /// First lane vector. The high words of 64-bit components follow all low ones.
    pub vector: u32,
    /// Number of components; 0 if there is no value.
    pub components: u8,
    /// Bits of a component.
    pub bits: u8,
}

impl Value {
    /// Number of lane vectors.
    pub fn vectors(self) -> u32 {
        u32::from(self.components) * if self.bits == 64 { 2 } else { 1 }
    }
}

/// A register or register array; its elements are consecutive, each laid out like a value.
#[derive(Clone, Copy, Debug, Default)]
pub struct Register {
    /// First lane vector.
    pub vector: u32,
    /// Number of elements, at least 1.
    pub elements: u32,
    /// Number of components of an element.
    pub components: u8,
    /// Bits of a component.
    pub bits: u8,
}

impl Register {
    /// Number of lane vectors of one element.
    pub fn stride(self) -> u32 {
        Value { vector: 0, components: self.components, bits: self.bits }.vectors()
    }

    /// Element `index` as a value of the register file.
    pub fn element(self, index: u32) -> Option<Value> {
        (index < self.elements).then(|| Value {
            vector: self.vector + index * self.stride(),
            components: self.components,
            bits: self.bits,
        })
    }
}

/// An operation.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// `Program::alus`.
    Alu(u32),
    /// `Program::intrinsics`.
    Intrinsic(u32),
    /// A deref; see `Program::deref_values`.
    Deref(u32),
    /// `Program::textures`.
    Texture(u32),
    /// A parallel copy: a range of `Program::copies`.
    Copies {
        /// First.
        start: u32,
        /// Number.
        count: u32,
    },
    /// A call; see `Program::call_values` for its arguments.
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
        if_empty: u32,
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
        if_empty: u32,
    },
    /// Deactivates the lanes and continues at the end of the list.
    Jump {
        /// The constructs that the lanes leave.
        kind: JumpTarget,
        /// End of the list.
        end: u32,
    },
    /// Executes machine code for a region and continues at `end`. See [`super::native`].
    Native {
        /// Number of the region.
        region: u32,
        /// The operation after the region.
        end: u32,
    },
    /// End of a function.
    End,
}

/// The construct that a jump leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JumpTarget {
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
    /// First source; see `Program::alu_source_vectors`.
    pub sources: u32,
    /// Result.
    pub dest: Value,
}

/// A source of an ALU instruction.
#[derive(Clone, Copy, Debug, Default)]
pub struct AluSource {
    /// Start of the lane vectors of its components in the program's list of lane vectors, after swizzling.
    pub start: u32,
    /// Number of components.
    pub components: u8,
    /// Distance to the lane vectors of the high words; 0 if there are no high words.
    pub high: u8,
}

/// An intrinsic.
#[derive(Clone, Copy, Debug)]
pub struct Intrinsic {
    /// Opcode.
    pub op: IntrinsicOp,
    /// Number of sources.
    pub num_sources: u8,
    /// First source; see `Program::sources_of`.
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

    /// The first component of the slot that is accessed, from 0 to 3.
    pub fn first_component(&self) -> u8 {
        (self.index(IndexKind::Component) & 3) as u8
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
        let first = u32::from(self.first_component());
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
pub const TEX_SOURCE_KINDS: usize = TexSrcKind::ALL.len();

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
    /// First lane vector.
    pub vector: u32,
}

/// A copy.
#[derive(Clone, Copy, Debug)]
pub struct Copy {
    /// Destination.
    pub dest: Span,
    /// Source.
    pub source: Span,
    /// Number of lane vectors.
    pub vectors: u32,
}

/// A call.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Number of the callee in the program's list.
    pub callee: u32,
    /// First argument; see `Program::call_values`.
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
    /// Lane vectors of its registers: first, count.
    pub(super) registers: (u32, u32),
    /// Private cells of its variables: first, count.
    pub locals: Vec<(u32, u32)>,
    /// Words of initialisers of private cells.
    pub initial: Vec<(u32, u32)>,
}

impl Texture {
    /// A source, if the instruction has it.
    pub fn source(&self, kind: TexSrcKind) -> Option<Value> {
        let value = self.sources[kind as usize];
        (value.components != 0).then_some(value)
    }

    /// Whether the instruction has no source that passes should have lowered.
    pub fn is_lowered(&self) -> bool {
        let unlowered = [TexSrcKind::TextureDerefIntrinsic, TexSrcKind::SamplerDerefIntrinsic, TexSrcKind::Plane];
        unlowered.into_iter().all(|kind| self.source(kind).is_none())
    }

    /// The kind of lookup; `None` for queries of sizes and samples.
    pub fn lookup(&self) -> Option<TextureLookup> {
        lookup_of(&self.data)
    }
}

/// The kind of lookup of an operation; `None` for queries of sizes and samples.
fn lookup_of(data: &TexData) -> Option<TextureLookup> {
    Some(match data.op {
        TexOp::Tex | TexOp::TexPrefetch => TextureLookup::Implicit,
        TexOp::Txb => TextureLookup::Bias,
        TexOp::Txl => TextureLookup::Explicit,
        TexOp::Txd => TextureLookup::Gradient,
        TexOp::Txf | TexOp::TxfMs | TexOp::TxfMsFb => TextureLookup::Fetch,
        TexOp::Lod => TextureLookup::QueryLod,
        TexOp::Tg4 => TextureLookup::Gather { component: data.component & 3 },
        TexOp::Txs | TexOp::QueryLevels | TexOp::TextureSamples | TexOp::SamplesIdentical | TexOp::SamplePos => {
            return None;
        }
    })
}
