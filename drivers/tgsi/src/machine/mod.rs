//! The program between instruction selection and the finished shader: TGSI instructions over any number of virtual
//! temporaries and immediates.
//!
//! * `TEMP` below [`first_temp`](Program::first_temp) are elements of arrays or shared by functions: their location is
//!   fixed. The others are virtual: accessed without index registers, and numbered by allocation.
//! * `IMM` refers to a row of [`Immediates`]; the words used are packed at the end.
//! * `ADDR` registers are physical.
//!
//! Control flow is in the instruction list, without `END`. Each function is a separate program until they are joined.
//!
//! The data structures and most passes are those of [`tgsi_vec4`]; this module implements its machine interface: the
//! accesses of instructions ([`access`]), and their transformations.

mod access;
mod allocate;
mod constants;
mod merge;
pub(crate) mod operands;
pub(crate) mod propagate;

use tgsi::shader::Instruction;
use tgsi::tables::{File, Opcode};
use tgsi_vec4::{Flow, Machine, Reg, RegisterCopy, Traits};

use crate::consumers::options::TgsiOptions;
use crate::consumers::virgl::rules::Rules;
use operands::is_direct;

/// TGSI as supported by a target.
#[derive(Clone, Debug)]
pub(crate) struct Tgsi {
    /// The restrictions on instructions. Passes create no others.
    pub(crate) rules: Rules,
    /// The options of the target, which fit the stage.
    pub(crate) options: TgsiOptions,
}

/// A program of TGSI instructions.
pub(crate) type Program = tgsi_vec4::Program<Tgsi>;

/// The registers that an instruction reads and writes.
pub(crate) type RegisterAccess = tgsi_vec4::RegisterAccess<Opcode>;

/// Rows of immediates.
pub(crate) type Immediates = tgsi_vec4::Constants;

/// The register for a direct access to a file, if the file is tracked: temporaries, address registers, outputs.
#[inline]
pub(crate) fn register(file: File, index: i32, first_temp: u32) -> Option<Reg> {
    match file {
        File::Temporary => Some(Reg::numbered(u32::try_from(index).ok()?, first_temp)),
        File::Address => Reg::special(u32::try_from(index).ok()?),
        File::Output => Some(Reg::output(u32::try_from(index).ok()?)),
        _ => None,
    }
}

/// Number of a virtual temporary, counted from 0.
#[inline]
pub(crate) fn virtual_temp(file: File, index: i32, first_temp: u32) -> Option<usize> {
    if file != File::Temporary {
        return None;
    }
    Some(u32::try_from(index).ok()?.checked_sub(first_temp)? as usize)
}

impl Tgsi {
    /// TGSI as a target with these options takes it.
    pub(crate) fn new(options: &TgsiOptions) -> Tgsi {
        Tgsi { rules: Rules::default(), options: options.clone() }
    }
    /// Whether an instruction is cheapest with its result in x and y.
    pub(crate) fn prefers_xy(&self, opcode: Opcode) -> bool {
        self.options.two_component_derivatives && matches!(opcode, Opcode::Ddx | Opcode::Ddy)
    }
}

impl Machine for Tgsi {
    type Instruction = Instruction;
    type Opcode = Opcode;

    #[inline]
    fn access(&self, instruction: &Instruction, first_temp: u32) -> RegisterAccess {
        access::of(instruction, first_temp)
    }

    #[inline]
    fn flow(opcode: Opcode) -> Option<Flow> {
        Some(match opcode {
            Opcode::If | Opcode::Uif => Flow::If,
            Opcode::Else => Flow::Else,
            Opcode::Endif => Flow::EndIf,
            Opcode::Bgnloop => Flow::Loop,
            Opcode::Endloop => Flow::EndLoop,
            Opcode::Brk => Flow::Break,
            Opcode::Cont => Flow::Continue,
            Opcode::End => Flow::End,
            Opcode::Cal => Flow::Call,
            _ => return None,
        })
    }

    #[inline]
    fn register_copy(&self, copy: &Instruction, first_temp: u32) -> Option<RegisterCopy> {
        let (dst, src) = (copy.dst.first()?, copy.src.first()?);
        if src.negate || src.absolute || !is_direct(&dst.register) || !is_direct(&src.register) {
            return None;
        }
        Some(RegisterCopy {
            from: register(src.register.file, src.register.index, first_temp)?,
            to: register(dst.register.file, dst.register.index, first_temp)?,
            mask: dst.write_mask,
            swizzle: src.swizzle,
            saturates: copy.saturate,
        })
    }

    fn narrowed(&self, instruction: &Instruction, mut needed: u8) -> Option<u8> {
        let mask = instruction.dst.first()?.write_mask;
        // A load returns 0 in all components unless all words up to the last one are in the buffer: keep the last one.
        if instruction.opcode == Opcode::Load {
            needed |= 0x80u8.unbounded_shr(mask.leading_zeros());
        }
        (needed != mask && self.rules.allows_mask(instruction, needed)).then_some(needed)
    }

    #[inline]
    fn set_mask(&self, instruction: &mut Instruction, mask: u8) {
        if let Some(dst) = instruction.dst.first_mut() {
            dst.write_mask = mask;
        }
    }

    #[inline]
    fn stores_whole(&self, access: &RegisterAccess) -> bool {
        access.traits.any(Traits::STORES_WHOLE)
            && if access.opcode.info().is_tex {
                self.options.tex_ignores_write_mask
            } else {
                !self.options.masked_results
            }
    }
}
