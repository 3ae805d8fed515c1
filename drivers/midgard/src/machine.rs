//! The instructions of the machine over virtual registers, for the passes of [`tgsi_vec4`].
//!
//! | file | index |
//! |---|---|
//! | temporary | a virtual register; after allocation a work register |
//! | uniform | an entry of [`Selected::uniforms`] |
//! | constant | a row of literals, embedded in bundles |
//! | input | an entry of [`Selected::operations`]: the source of a load, a store or a texture operation. Its swizzle is that of the loaded value |
//! | special | operands and results of the load/store and the texture unit, see the constants of this module |
//!
//! Special registers from [`CONDITION`] on exist in bundles only.

use tgsi_vec4::Flow;
use tgsi_vec4::simple::{BY_MASK, File, Info, Instruction, SimpleMachine};

use crate::isa::Chip;
use crate::isa::alu::{AluOp, Clamp, Output};
use crate::isa::load_store::LoadStore;
use crate::isa::texture::Texture;
use crate::program::{FragmentOutput, SystemRow, UniformRow, Varying};

/// The special register of r26, as an operand of the load/store unit; r27 follows.
pub(crate) const OPERANDS: u8 = 0;
/// The special register of r28, as an operand of the texture unit; r29 follows.
pub(crate) const COORDINATES: u8 = 2;
/// The special register of r28, as a result of the texture unit; r29 follows.
pub(crate) const TEXELS: u8 = 4;
/// The special register of r31 in a bundle.
pub(crate) const CONDITION: u8 = 8;
/// The special register of r24 in a bundle; r25 follows.
pub(crate) const PIPELINE: u8 = 9;
/// The special register of r0 in the bundle of a write-out; r1 follows.
pub(crate) const WRITE_OUT: u8 = 11;

/// An opcode. Operands are listed in order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Op {
    /// A copy: of bits without modifiers, otherwise of floats.
    Mov,
    /// An operation of the ALU by component, or with one result.
    Alu(AluOp),
    /// A copy of floats with a limit.
    Clamped(Clamp),
    /// Where the first operand is true the second one, otherwise the third one.
    Select,
    /// The lower or the upper half of a word, as a float of 32 bits.
    FromHalf {
        /// Whether the half is the upper one.
        is_upper: bool,
    },
    /// A float, converted to 16 bits in the lower half of the word; the upper half is undefined.
    ToHalf,
    /// A load: the operation, its address in two components, its index.
    Load,
    /// A store: the operation, the value, the address, the index.
    Store,
    /// An atomic operation: the operation, the operands, the address. The result is in all components.
    Atomic,
    /// An operation of the texture unit: the operation, coordinates, further operands.
    Texture,
    /// Begins a conditional construct on the first component of the operand.
    If,
    /// Begins the other side.
    Else,
    /// Ends the construct.
    EndIf,
    /// Begins a loop.
    Loop,
    /// Ends a loop.
    EndLoop,
    /// Leaves the loop.
    Break,
    /// Continues with the next iteration.
    Continue,
    /// Ends the fragment, if there is an operand on its condition.
    Discard,
    /// Writes a colour, and depth and stencil value if they are stated, to a render target.
    WriteOut {
        /// The number of the render target; [`DEPTH_ONLY`] for none.
        target: u8,
        /// Whether there is a depth, after the colour.
        has_depth: bool,
        /// Whether there is a stencil value, last.
        has_stencil: bool,
    },
    /// Waits for the threads of the workgroup.
    Barrier,
}

/// The render target of a write-out without a colour.
pub(crate) const DEPTH_ONLY: u8 = 0xff;

/// An operation of the load/store or the texture unit, without the registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operation {
    LoadStore(LoadStore),
    Texture(Texture),
}

/// The machine of a chip.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Machine {
    pub(crate) chip: Chip,
}

/// The number of a register, 0 or 1, as a result of the texture unit.
pub(crate) fn texel_register(file: File, index: i32) -> Option<usize> {
    let number = index.checked_sub(TEXELS.into()).filter(|_| file == File::Special)?;
    usize::try_from(number).ok().filter(|&number| number < 2)
}

/// A program of the machine.
pub(crate) type MachineProgram = tgsi_vec4::Program<Machine>;

/// An instruction of the machine.
pub(crate) type MachineInstruction = Instruction<Op>;

/// The operand of the first [`OPERANDS`], [`COORDINATES`] or [`TEXELS`] register of a group.
pub(crate) fn is_special(file: File, index: i32, group: u8) -> bool {
    file == File::Special && (i32::from(group)..i32::from(group) + 2).contains(&index)
}

impl Op {
    /// Whether the ALU executes the opcode.
    pub(crate) fn is_alu(self) -> bool {
        matches!(self, Op::Mov | Op::Alu(_) | Op::Clamped(_) | Op::Select | Op::FromHalf { .. } | Op::ToHalf)
    }

    /// Whether the modifiers of sources are those of floats.
    pub(crate) fn has_float_sources(self) -> bool {
        match self {
            Op::Mov | Op::Select | Op::Clamped(_) | Op::FromHalf { .. } | Op::ToHalf => true,
            Op::Alu(op) => !op.row().input.is_integer(),
            _ => false,
        }
    }

    /// Whether the result can be clamped to 0..1.
    fn saturates(self) -> bool {
        match self {
            Op::Mov | Op::Select | Op::FromHalf { .. } => true,
            Op::Alu(op) => op.row().output == Output::Float,
            _ => false,
        }
    }
}

impl SimpleMachine for Machine {
    type Op = Op;
    const COPY: Op = Op::Mov;

    fn info(op: Op) -> Info {
        match op {
            Op::Mov | Op::Clamped(_) | Op::Select | Op::FromHalf { .. } | Op::ToHalf => Info::COMPONENTWISE,
            Op::Alu(op) => match op.row().reduces {
                0 => Info::COMPONENTWISE,
                count => Info::replicated([(1 << count) - 1, (1 << count) - 1, 0, 0]),
            },
            Op::Load => Info { reads: [BY_MASK, 0b0011, 0b0011, 0], ..Info::COMPONENTWISE },
            Op::Store => Info { has_effect: true, ..Info::fixed([0, 0b1111, 0b0011, 0b0011]) },
            Op::Atomic => Info { has_effect: true, ..Info::replicated([0, 0b1111, 0b0011, 0b0011]) },
            Op::Texture => Info { reads: [BY_MASK, 0b1111, 0b1111, 0], ..Info::COMPONENTWISE },
            Op::If => Info { reads: [0b0001, 0, 0, 0], ..Info::flow(Flow::If) },
            Op::Else => Info::flow(Flow::Else),
            Op::EndIf => Info::flow(Flow::EndIf),
            Op::Loop => Info::flow(Flow::Loop),
            Op::EndLoop => Info::flow(Flow::EndLoop),
            Op::Break => Info::flow(Flow::Break),
            Op::Continue => Info::flow(Flow::Continue),
            Op::Discard => Info { has_effect: true, ..Info::fixed([0b0001, 0, 0, 0]) },
            Op::WriteOut { .. } => Info { has_effect: true, ..Info::fixed([0b1111, 0b0001, 0b0001, 0]) },
            Op::Barrier => Info { has_effect: true, ..Info::fixed([0; 4]) },
        }
    }

    fn accepts(&self, instruction: &MachineInstruction) -> bool {
        let op = instruction.op;
        let to_texels = instruction.destination.is_some_and(|to| is_special(to.file, to.index, TEXELS));
        if instruction.saturate && !op.saturates() {
            return false;
        }
        let has_modifiers = instruction.sources.iter().any(|source| !source.is_plain());
        match op {
            Op::Load | Op::Store | Op::Atomic | Op::Texture => {
                let is_operand = |index: usize, file, number| match (op, index) {
                    (_, 0) => file == File::Input,
                    _ if file == File::Temporary => true,
                    (Op::Texture, _) => is_special(file, number, COORDINATES),
                    _ => is_special(file, number, OPERANDS),
                };
                let mut sources = instruction.sources.iter().enumerate();
                let are_operands = sources.all(|(index, source)| is_operand(index, source.file, source.index));
                are_operands && !has_modifiers && to_texels == (op == Op::Texture)
            }
            _ => {
                // Registers of operands can be written only.
                let is_readable = |file, index| match file {
                    File::Special => is_special(file, index, TEXELS),
                    File::Input | File::Output => false,
                    _ => true,
                };
                let are_readable = instruction.sources.iter().all(|source| is_readable(source.file, source.index));
                are_readable
                    && !to_texels
                    && (!has_modifiers || op.has_float_sources() && op.is_alu())
                    && !(op == Op::Select && instruction.sources.first().is_some_and(|source| !source.is_plain()))
            }
        }
    }
}

/// A shader after selection: instructions over virtual registers, not optimised, and the interface.
#[derive(Clone, Debug)]
pub(crate) struct Selected {
    pub(crate) program: MachineProgram,
    /// The operations that instructions name as inputs.
    pub(crate) operations: Vec<Operation>,
    /// The rows of uniform buffers that instructions name as uniforms.
    pub(crate) uniforms: Vec<UniformRow>,
    pub(crate) system_buffer: u32,
    pub(crate) system_rows: Vec<SystemRow>,
    pub(crate) inputs: Vec<Varying>,
    pub(crate) outputs: Vec<Varying>,
    pub(crate) results: Vec<FragmentOutput>,
    pub(crate) textures: Vec<crate::program::Texture>,
    pub(crate) images: Vec<crate::program::Texture>,
    /// The bytes of storage that arrays take in each thread.
    pub(crate) stack: u32,
    pub(crate) shared: u32,
    pub(crate) workgroup: Option<[u32; 3]>,
    pub(crate) discards: bool,
}
