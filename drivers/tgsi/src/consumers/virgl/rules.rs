//! The instructions that a target allows. Passes over the selected program query it before they change an instruction.
//!
//! For Mesa everything is allowed. The rules apply to single instructions, so that passes need not know the reasons.

use std::rc::Rc;

use tgsi::shader::{Instruction, Src};
use tgsi::tables::{File, Opcode, OperandType, Semantic};
use tgsi_ir::shader::ShaderStage;

use super::doubles::{half_for, is_of_doubles, is_readable, pair_of};

/// The permitted writes of an output.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum OutputForm {
    /// By any instruction with a float result.
    #[default]
    Any,
    /// All components at once.
    Whole,
    /// One component at a time.
    OneComponent,
    /// By `MOV` only, as it holds an integer.
    Copied,
    /// By opcodes with results that the host converts by their bits where the framebuffer gives the output an integer
    /// type.
    Bits,
}

/// The permitted reads of an input or system value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum InputForm {
    /// Like any register.
    #[default]
    Any,
    /// Without modifiers.
    Plain,
    /// Without modifiers, as floats.
    Float,
    /// By `MOV` to a temporary only.
    Copied,
    /// By `IMAX` with itself only.
    Integer,
}

/// Restrictions of results, in ascending order: allowed in all outputs, in those that need not preserve bits, in none.
const BY_BITS: u8 = 0;
const BY_VALUE: u8 = 1;
const NEVER: u8 = 2;

/// The rules of a target; by default everything is allowed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules(Option<Rc<Registers>>);

/// The forms of registers, by number.
#[derive(Debug, Default)]
struct Registers {
    outputs: Vec<OutputForm>,
    inputs: Vec<InputForm>,
    system_values: Vec<InputForm>,
}

/// Whether an input holds an integer that only integer opcodes read correctly.
pub(crate) fn is_integer_input(semantic: Semantic) -> bool {
    matches!(semantic, Semantic::Layer | Semantic::ViewportIndex)
}

/// Whether a system value must be copied to a temporary.
pub(crate) fn must_be_copied(semantic: Semantic) -> bool {
    system_value_form(semantic) == InputForm::Copied
}

fn system_value_form(semantic: Semantic) -> InputForm {
    use Semantic::*;
    match semantic {
        VertexId | InstanceId | PrimitiveId | VerticesIn | InvocationId | SampleId => InputForm::Plain,
        TessCoord | SamplePosition | TessOuter | TessInner => InputForm::Float,
        _ => InputForm::Copied,
    }
}

fn output_form(stage: ShaderStage, semantic: Semantic, is_converted: bool) -> OutputForm {
    use Semantic::*;
    match semantic {
        Color if stage == ShaderStage::Fragment && !is_converted => OutputForm::Bits,
        ClipVertex | ClipDistance => OutputForm::Whole,
        Color | BackColor if stage != ShaderStage::Fragment => OutputForm::Whole,
        TessOuter | TessInner => OutputForm::OneComponent,
        Layer | ViewportIndex | PrimitiveId | SampleMask | Stencil | EdgeFlag => OutputForm::Copied,
        _ => OutputForm::Any,
    }
}

fn input_form(semantic: Semantic) -> InputForm {
    match semantic {
        semantic if is_integer_input(semantic) => InputForm::Integer,
        Semantic::Face | Semantic::PrimitiveId | Semantic::ClipDistance => InputForm::Plain,
        _ => InputForm::Any,
    }
}

/// Builds a table by number from pairs.
fn table<T: Copy + Default>(rows: impl Iterator<Item = (u32, T)>) -> Vec<T> {
    let mut table = Vec::new();
    for (register, form) in rows {
        let register = register as usize;
        if table.len() <= register {
            table.resize(register + 1, T::default());
        }
        table[register] = form;
    }
    table
}

fn at<T: Copy + Default>(table: &[T], register: i32) -> T {
    usize::try_from(register).ok().and_then(|r| table.get(r)).copied().unwrap_or_default()
}

/// Whether the bits of a result are preserved if it is written to an output of an integer type: the host then wraps it
/// in `floatBitsToInt` or `floatBitsToUint`. Results of other opcodes are converted by value or do not compile;
/// saturation, which clamps the output itself, does not compile either.
pub(crate) fn keeps_bits(instruction: &Instruction) -> bool {
    use Opcode::*;
    !instruction.saturate
        && matches!(
            instruction.opcode,
            Mov | Fbfetch
                | Add
                | Mul
                | Div
                | Min
                | Max
                | Ex2
                | Lg2
                | Sin
                | Cos
                | Ddx
                | Ddy
                | DdxFine
                | DdyFine
                | Flr
                | Ceil
                | Round
                | Frc
                | Trunc
                | Ssg
                | InterpCentroid
                | InterpSample
                | InterpOffset
        )
}

/// Whether the host ignores the write mask of a 32-bit opcode: the results of the first components are stored to the
/// written ones.
pub(crate) fn forgets_mask(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(opcode, Not | Ineg | Brev | Popc | Lsb | Imsb | Umsb)
}

/// Whether the last two operands of an opcode, offset and width of a bit field, are shared by all components. The mask
/// is ignored, too.
pub(crate) fn is_scalar(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Ibfe | Opcode::Ubfe | Opcode::Bfi)
}

/// Whether an instruction has equal offsets and widths in all written components.
fn has_one_offset_and_width(instruction: &Instruction, mask: u8) -> bool {
    let last = instruction.src.len().saturating_sub(2);
    instruction.src[last..].iter().all(|src| (0..4).all(|c| mask & 1 << c == 0 || src.swizzle[c] == src.swizzle[0]))
}

impl Rules {
    /// The rules of virgl hosts for a shader, given the semantics of its outputs and inputs by register, and its system
    /// values. The outputs in `converted` need not preserve bits.
    pub(crate) fn of_virgl(
        stage: ShaderStage,
        outputs: Vec<(u32, Semantic)>,
        inputs: Vec<(u32, Semantic)>,
        system_values: &[Semantic],
        converted: &[u32],
    ) -> Rules {
        let form = |(register, semantic)| (register, output_form(stage, semantic, converted.contains(&register)));
        Rules(Some(Rc::new(Registers {
            outputs: table(outputs.into_iter().map(form)),
            inputs: table(inputs.into_iter().map(|(r, semantic)| (r, input_form(semantic)))),
            system_values: system_values.iter().map(|&s| system_value_form(s)).collect(),
        })))
    }

    /// Whether everything is allowed.
    pub(crate) fn allow_all(&self) -> bool {
        self.0.is_none()
    }

    /// The permitted writes of an output.
    pub(crate) fn output_form(&self, register: i32) -> OutputForm {
        self.0.as_ref().map_or(OutputForm::Any, |r| at(&r.outputs, register))
    }

    /// The greatest [restriction](Self::output_restriction) of instructions that may write an output instead of a copy.
    pub(crate) fn output_limit(&self, register: i32) -> Option<u8> {
        match self.output_form(register) {
            OutputForm::Any => Some(BY_VALUE),
            OutputForm::Bits => Some(BY_BITS),
            OutputForm::Whole | OutputForm::OneComponent | OutputForm::Copied => None,
        }
    }

    /// The restriction on outputs that the result of an instruction may be written to directly.
    pub(crate) fn output_restriction(&self, instruction: &Instruction) -> u8 {
        match self.may_write_outputs(instruction.opcode) {
            _ if self.allow_all() => BY_BITS,
            true if keeps_bits(instruction) => BY_BITS,
            true => BY_VALUE,
            false => NEVER,
        }
    }

    /// Whether results of an opcode may be written to outputs directly.
    pub(crate) fn may_write_outputs(&self, opcode: Opcode) -> bool {
        let info = opcode.info();
        self.allow_all()
            || opcode == Opcode::Mov
            || info.is_tex && !matches!(opcode, Opcode::Txq | Opcode::Txqs)
            || info.dst_type == OperandType::Float
                && !is_of_doubles(opcode)
                && !info.has_memory
                && opcode != Opcode::Clock
    }

    /// Whether an instruction fixes the components of its temporaries.
    pub(crate) fn keeps_places(&self, instruction: &Instruction) -> bool {
        let opcode = instruction.opcode;
        let is_vector = || instruction.dst.first().is_some_and(|d| d.write_mask.count_ones() > 1);
        !self.allow_all() && (forgets_mask(opcode) || is_scalar(opcode)) && is_vector()
    }

    /// Whether an opcode is one of doubles with a single result: its operands [mean the same](super::doubles) wherever
    /// that result is.
    pub(crate) fn is_single_double(&self, opcode: Opcode) -> bool {
        !self.allow_all() && is_of_doubles(opcode)
    }

    /// Whether an instruction is allowed.
    pub(crate) fn allows(&self, instruction: &Instruction) -> bool {
        self.allow_all()
            || instruction
                .dst
                .first()
                .is_none_or(|dst| dst.register.file != File::Output || self.may_write_outputs(instruction.opcode))
                && instruction.dst.first().is_none_or(|dst| self.allows_mask(instruction, dst.write_mask))
                && (0..instruction.src.len()).all(|s| self.allows_operand(instruction, s, &instruction.src[s]))
    }

    /// Whether several instructions may be combined to an instruction. `LRP` is excluded: hosts translate it to GLSL's
    /// `mix`, which need not return the value for equal endpoints, unlike a difference of 0.
    pub(crate) fn may_make(&self, instruction: &Instruction) -> bool {
        self.allow_all() || instruction.opcode != Opcode::Lrp && self.allows(instruction)
    }

    /// Whether an allowed instruction may write the components of `mask` instead.
    pub(crate) fn allows_mask(&self, instruction: &Instruction, mask: u8) -> bool {
        let Some(registers) = &self.0 else { return true };
        let opcode = instruction.opcode;
        let is_one = mask.count_ones() == 1;
        if let Some(dst) = instruction.dst.first()
            && dst.register.file == File::Output
        {
            let form = match dst.register.indirect {
                None => at(&registers.outputs, dst.register.index),
                Some(_) if registers.outputs.contains(&OutputForm::Bits) => OutputForm::Bits,
                Some(_) => OutputForm::Any,
            };
            let fits = match form {
                OutputForm::Any => true,
                OutputForm::Bits => keeps_bits(instruction),
                OutputForm::Whole => mask == 0xf,
                OutputForm::OneComponent => is_one,
                OutputForm::Copied => opcode == Opcode::Mov && mask == dst.write_mask,
            };
            if !fits {
                return false;
            }
        }
        let info = opcode.info();
        if info.dst_type == OperandType::Double {
            return matches!(mask, 0b0011 | 0b1100);
        }
        let is_first_ones = mask & (mask + 1) == 0;
        if is_of_doubles(opcode) {
            return is_one;
        }
        if is_scalar(opcode) {
            let is_own = instruction.dst.first().is_some_and(|dst| dst.write_mask == mask);
            return is_one || is_first_ones && is_own && has_one_offset_and_width(instruction, mask);
        }
        !forgets_mask(opcode) || is_one || is_first_ones
    }

    /// Whether an operand of an allowed instruction may be replaced by another one.
    pub(crate) fn allows_source(&self, instruction: &Instruction, source: usize, new: &Src) -> bool {
        // Selection handles constant steps of counters; other operands must be in a register.
        let counts = instruction.src.first().is_some_and(|s| s.register.file == File::HwAtomic);
        self.allow_all()
            || !(counts && new.register.file == File::Immediate) && self.allows_operand(instruction, source, new)
    }

    /// Whether an operand is allowed.
    pub(crate) fn allows_operand(&self, instruction: &Instruction, source: usize, src: &Src) -> bool {
        let Some(registers) = &self.0 else { return true };
        let opcode = instruction.opcode;
        let info = opcode.info();
        let ty = info.src_types.get(source).copied().unwrap_or(OperandType::Untyped);
        let is_plain = !src.absolute && !src.negate;
        let is_float = matches!(ty, OperandType::Float | OperandType::Untyped);
        if !is_plain && !is_float {
            return false;
        }
        if ty == OperandType::Double {
            let mask = instruction.dst.first().map_or(0b11, |d| d.write_mask);
            return matches!(src.register.file, File::Temporary | File::Constant)
                && is_readable(pair_of(src, half_for(opcode, mask)));
        }
        let form = match src.register.file {
            File::Immediate => return !(info.is_tex && source == 0),
            File::Input => at(&registers.inputs, src.register.index),
            File::SystemValue => at(&registers.system_values, src.register.index),
            _ => return true,
        };
        match form {
            InputForm::Any => true,
            InputForm::Plain => is_plain,
            InputForm::Float => is_plain && is_float,
            InputForm::Copied => {
                let to_temporary = instruction.dst.first().is_some_and(|d| d.register.file == File::Temporary);
                is_plain && opcode == Opcode::Mov && to_temporary && !instruction.saturate
            }
            InputForm::Integer => is_plain && opcode == Opcode::Imax,
        }
    }
}
