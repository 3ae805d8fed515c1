//! Messages to shared functions, functions of the mathematics unit, and targets of branches.

use super::Operand;
use super::bits::enumeration;

enumeration! {
    /// A unit outside of the execution unit.
    SharedFunction {
        Null = 0 "null" "None.";
        Math = 1 "math" "The mathematics unit; not used since Gen6.";
        Sampler = 2 "sampler" "Texture samples.";
        Gateway = 3 "gateway" "Barriers and time stamps.";
        SamplerCache = 4 "dp_sampler" "Reads through the cache of the sampler.";
        RenderCache = 5 "render" "Render targets and typed surfaces.";
        Urb = 6 "urb" "The buffer of vertices between stages.";
        ThreadSpawner = 7 "thread_spawner" "Threads.";
        ConstantCache = 9 "const" "Constants.";
        DataCache = 10 "data" "Memory, scratch space, atomic operations.";
        PixelInterpolator = 11 "pixel interp" "Interpolation at other positions.";
        DataCache1 = 12 "dp data 1" "As the data cache, since Gen7.5.";
        Cre = 13 "cre" "Checking and refinement of motion vectors, since Gen7.5.";
    }
}

/// A message of `send` or `sendc`. The first source of the instruction is the first register of the payload.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Message {
    /// The receiver.
    pub function: SharedFunction,
    /// The rest of the description.
    pub descriptor: Descriptor,
    /// Whether the thread ends.
    pub end_of_thread: bool,
}

/// The description of a message, 29 bits: bits 0 to 18 belong to the receiver.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Descriptor {
    /// A constant.
    Immediate(u32),
    /// The contents of a register, usually `a0.0<0,1,0>UD`.
    Register(Operand),
}

/// The number of bits of a descriptor.
pub(crate) const DESCRIPTOR_BITS: u32 = 29;

/// Returns a descriptor from its common fields.
///
/// * `function`: the 19 bits of the receiver
/// * `header`: whether the payload begins with a header
/// * `response`: the number of registers that the receiver writes, at most 31
/// * `payload`: the number of registers of the payload, at most 15
pub const fn descriptor(function: u32, header: bool, response: u32, payload: u32) -> u32 {
    function & 0x7_ffff | (header as u32) << 19 | (response & 31) << 20 | (payload & 15) << 25
}

impl Message {
    /// The constant description, if it is one.
    pub fn immediate(&self) -> Option<u32> {
        match self.descriptor {
            Descriptor::Immediate(bits) => Some(bits),
            Descriptor::Register(_) => None,
        }
    }

    /// The number of registers of the payload, if the description is a constant.
    pub fn payload_length(&self) -> Option<u32> {
        Some(self.immediate()? >> 25 & 15)
    }

    /// The number of registers that the receiver writes, if the description is a constant.
    pub fn response_length(&self) -> Option<u32> {
        Some(self.immediate()? >> 20 & 31)
    }

    /// Whether the payload begins with a header, if the description is a constant.
    pub fn has_header(&self) -> Option<bool> {
        Some(self.immediate()? >> 19 & 1 != 0)
    }
}

enumeration! {
    /// A function of `math`.
    MathFunction {
        Inv = 1 "inv" "Reciprocal.";
        Log = 2 "log" "Logarithm to base 2.";
        Exp = 3 "exp" "Power of 2.";
        Sqrt = 4 "sqrt" "Square root.";
        Rsq = 5 "rsq" "Reciprocal of the square root.";
        Sin = 6 "sin" "Sine.";
        Cos = 7 "cos" "Cosine.";
        Sincos = 8 "sincos" "Sine and cosine; not used since Gen6.";
        Fdiv = 9 "fdiv" "Quotient of floats.";
        Pow = 10 "pow" "Power: the first source, which must not be negative, to the second one.";
        IntDivMod = 11 "intdivmod" "Quotient of integers, and in the next register the remainder.";
        IntDiv = 12 "intdiv" "Quotient of integers.";
        IntMod = 13 "intmod" "Remainder of integers.";
    }
}

impl MathFunction {
    /// The number of sources that are read; the second source of others is null.
    pub fn sources(self) -> usize {
        if self.code() < MathFunction::Fdiv.code() { 1 } else { 2 }
    }

    /// Whether sources are integers.
    pub fn is_integer(self) -> bool {
        matches!(self, MathFunction::IntDivMod | MathFunction::IntDiv | MathFunction::IntMod)
    }
}

/// The targets of a branch: distances from the branch itself in units of 64 bits, the size of compacted instructions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Branch {
    /// The jump instruction pointer: the target if all channels leave.
    pub jip: i16,
    /// The update instruction pointer: the place at which the channels that leave are enabled again. 0 for
    /// instructions without one: `else`, `endif` and `while`.
    pub uip: i16,
}

/// What an instruction states besides its operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum Detail {
    /// Nothing.
    #[default]
    None,
    /// The function of `math`.
    Math(MathFunction),
    /// The message of `send` and `sendc`.
    Message(Message),
    /// The targets of `if`, `else`, `endif`, `while`, `break`, `cont` and `halt`.
    Branch(Branch),
}
