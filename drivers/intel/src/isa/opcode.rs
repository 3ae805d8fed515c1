//! The table of opcodes.

use super::Chip;

/// The form of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Form {
    /// Neither operands nor control fields.
    Nop,
    /// No operands.
    Plain,
    /// A destination and one source.
    Unary,
    /// A destination and two sources.
    Binary,
    /// A destination and three sources, align16 only.
    Ternary,
    /// A destination and two sources, and a [`MathFunction`](super::MathFunction).
    Math,
    /// A destination, one source, and a [`Message`](super::Message).
    Send,
    /// A destination, one source, and a [`Branch`](super::Branch). The operands are null or the instruction pointer.
    Branch,
}

impl Form {
    /// The number of sources in [`Instruction::sources`](super::Instruction::sources).
    pub fn sources(self) -> usize {
        match self {
            Form::Nop | Form::Plain => 0,
            Form::Unary | Form::Send | Form::Branch => 1,
            Form::Binary | Form::Math => 2,
            Form::Ternary => 3,
        }
    }

    /// Whether instructions have a destination.
    pub fn has_destination(self) -> bool {
        !matches!(self, Form::Nop | Form::Plain)
    }
}

/// A row of the table of opcodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    /// The opcode.
    pub opcode: Opcode,
    /// The number in words.
    pub code: u32,
    /// The name in listings.
    pub name: &'static str,
    /// The form.
    pub form: Form,
    /// The generations that have the opcode.
    pub chips: &'static [Chip],
    /// The result in words; `a`, `b` and `c` are the sources.
    pub description: &'static str,
}

macro_rules! opcodes {
    ($($variant:ident $code:literal $name:literal $form:ident $chips:ident $description:literal;)*) => {
        /// An opcode.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub enum Opcode {
            $(#[doc = $description] $variant,)*
        }

        /// The rows, in the order of their numbers.
        static TABLE: &[Row] = &[$(Row {
            opcode: Opcode::$variant,
            code: $code,
            name: $name,
            form: Form::$form,
            chips: $chips,
            description: $description,
        },)*];

        impl Opcode {
            /// All opcodes, in the order of their numbers.
            pub const ALL: &[Opcode] = &[$(Opcode::$variant,)*];
        }
    };
}

const BOTH: &[Chip] = &Chip::ALL;
const GEN75: &[Chip] = &[Chip::Gen75];

opcodes! {
    Illegal 0 "illegal" Plain BOTH "Raises an exception.";
    Mov 1 "mov" Unary BOTH "a, converted to the type of the destination.";
    Sel 2 "sel" Binary BOTH "a where the predicate or the condition holds, otherwise b.";
    Movi 3 "movi" Binary BOTH "Elements of registers that words of the address register select.";
    Not 4 "not" Unary BOTH "The inverted bits of a.";
    And 5 "and" Binary BOTH "Bits that are set in a and in b.";
    Or 6 "or" Binary BOTH "Bits that are set in a or in b.";
    Xor 7 "xor" Binary BOTH "Bits that are set in one of a and b.";
    Shr 8 "shr" Binary BOTH "a shifted right by b bits, filled with zeros.";
    Shl 9 "shl" Binary BOTH "a shifted left by b bits.";
    Dim 10 "dim" Unary GEN75 "A constant of 64 bits.";
    Asr 12 "asr" Binary BOTH "a shifted right by b bits, filled with the sign.";
    Cmp 16 "cmp" Binary BOTH "All bits where the condition on a and b holds, otherwise zero.";
    Cmpn 17 "cmpn" Binary BOTH "As cmp, with other rules for NaN.";
    F32to16 19 "f32to16" Unary BOTH "a, converted to a float of 16 bits.";
    F16to32 20 "f16to32" Unary BOTH "a, converted from a float of 16 bits.";
    Bfrev 23 "bfrev" Unary BOTH "The bits of a in reverse order.";
    Bfe 24 "bfe" Ternary BOTH "a bits of c from bit b on.";
    Bfi1 25 "bfi1" Binary BOTH "A mask of a bits from bit b on.";
    Bfi2 26 "bfi2" Ternary BOTH "b shifted to the bits of mask a, and c outside of the mask.";
    Jmpi 32 "jmpi" Binary BOTH "Adds b to the instruction pointer.";
    Brd 33 "brd" Binary BOTH "Diverging branch.";
    If 34 "if" Branch BOTH "Enables the channels whose predicate holds, until else or endif.";
    Brc 35 "brc" Binary BOTH "Converging branch.";
    Else 36 "else" Branch BOTH "Enables the channels that if disabled.";
    Endif 37 "endif" Branch BOTH "Enables the channels of the surrounding block.";
    While 39 "while" Branch BOTH "Jumps to the beginning of a loop for channels whose predicate holds.";
    Break 40 "break" Branch BOTH "Leaves a loop.";
    Cont 41 "cont" Branch BOTH "Leaves an iteration of a loop.";
    Halt 42 "halt" Branch BOTH "Disables channels until the place that it states.";
    Calla 43 "calla" Binary GEN75 "Call of an absolute address.";
    Call 44 "call" Binary BOTH "Call.";
    Ret 45 "ret" Binary BOTH "Return from a call.";
    Wait 48 "wait" Binary BOTH "Waits until a notification register is not zero, and decrements it.";
    Send 49 "send" Send BOTH "Sends a message.";
    Sendc 50 "sendc" Send BOTH "Sends a message after those of preceding threads with the same pixels.";
    Math 56 "math" Math BOTH "A function of the mathematics unit.";
    Add 64 "add" Binary BOTH "a + b.";
    Mul 65 "mul" Binary BOTH "a * b.";
    Avg 66 "avg" Binary BOTH "The average of integers, rounded up.";
    Frc 67 "frc" Unary BOTH "a - floor(a).";
    Rndu 68 "rndu" Unary BOTH "a, rounded up.";
    Rndd 69 "rndd" Unary BOTH "a, rounded down.";
    Rnde 70 "rnde" Unary BOTH "a, rounded to the nearest number, and to even.";
    Rndz 71 "rndz" Unary BOTH "a, rounded to zero.";
    Mac 72 "mac" Binary BOTH "a * b + the accumulator.";
    Mach 73 "mach" Binary BOTH "The upper half of a * b, of which the accumulator holds a part.";
    Lzd 74 "lzd" Unary BOTH "The number of zeros above the highest set bit.";
    Fbh 75 "fbh" Unary BOTH "The number of bits above the highest one that differs from the sign.";
    Fbl 76 "fbl" Unary BOTH "The number of the lowest set bit.";
    Cbit 77 "cbit" Unary BOTH "The number of set bits.";
    Addc 78 "addc" Binary BOTH "a + b, and the carry in the accumulator.";
    Subb 79 "subb" Binary BOTH "a - b, and the borrow in the accumulator.";
    Sad2 80 "sad2" Binary BOTH "The sum of two absolute differences.";
    Sada2 81 "sada2" Binary BOTH "As sad2, added to the accumulator.";
    Dp4 84 "dp4" Binary BOTH "The dot product of four components.";
    Dph 85 "dph" Binary BOTH "The dot product of three components, plus the fourth component of b.";
    Dp3 86 "dp3" Binary BOTH "The dot product of three components.";
    Dp2 87 "dp2" Binary BOTH "The dot product of two components.";
    Line 89 "line" Binary BOTH "a.0 * b + a.3.";
    Pln 90 "pln" Binary BOTH "a.0 * b + a.1 * (the register after b) + a.3.";
    Mad 91 "mad" Ternary BOTH "a + b * c.";
    Lrp 92 "lrp" Ternary BOTH "a * b + (1 - a) * c.";
    Nop 126 "nop" Nop BOTH "Nothing.";
}

impl Opcode {
    /// The row of the table.
    pub fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// Returns the opcode of a generation with a number.
    pub fn from_code(code: u32, chip: Chip) -> Option<Opcode> {
        let index = TABLE.binary_search_by_key(&code, |row| row.code).ok()?;
        let row = &TABLE[index];
        row.chips.contains(&chip).then_some(row.opcode)
    }

    /// Returns the opcode of a generation with a name.
    pub fn from_name(name: &str, chip: Chip) -> Option<Opcode> {
        TABLE.iter().find(|row| row.name == name && row.chips.contains(&chip)).map(|row| row.opcode)
    }

    /// The form.
    pub fn form(self) -> Form {
        self.row().form
    }

    /// The name in listings.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Whether a generation has the opcode.
    pub fn is_in(self, chip: Chip) -> bool {
        self.row().chips.contains(&chip)
    }

    /// Whether the instruction sends a message.
    pub fn is_send(self) -> bool {
        self.form() == Form::Send
    }

    /// Whether the instruction computes with bits: and, or, xor, not.
    pub fn is_logic(self) -> bool {
        matches!(self, Opcode::And | Opcode::Or | Opcode::Xor | Opcode::Not)
    }

    /// Whether the accumulator is a further source.
    pub fn reads_accumulator(self) -> bool {
        matches!(self, Opcode::Mac | Opcode::Mach | Opcode::Sada2)
    }

    /// Whether the branch has an update instruction pointer.
    pub fn has_uip(self) -> bool {
        matches!(self, Opcode::If | Opcode::Break | Opcode::Cont | Opcode::Halt)
    }

    /// Whether the condition of the instruction is written to the flag register. That of `sel` is not.
    pub fn writes_flag(self) -> bool {
        !matches!(self, Opcode::Sel | Opcode::If | Opcode::While)
    }
}
