//! The instructions of both stages over virtual registers, for the passes of [`tgsi_vec4`].
//!
//! | file | index |
//! |---|---|
//! | input | the number in the chip's instructions |
//! | output | of vertex programs the number in the chip's instructions; of fragment programs the colour, or [`DEPTH`] |
//! | uniform | the register of constant buffer 0 |
//! | constant | a row of literals |
//! | special | condition registers, then address registers |
//!
//! A guard is a [`Predicate`](crate::isa::Predicate): its condition is that of the chip. The condition of control flow
//! is the guard of `If` and `Kil`, which pass if any component passes.

use tgsi_ir::ShaderStage;
use tgsi_vec4::Flow;
use tgsi_vec4::simple::{BY_MASK, File, Info, Instruction, Results, SimpleMachine};

use crate::isa::Chip;
use crate::isa::fragment::Scale;
use crate::program::{Texture, TextureKind, Varying};

/// The special register of condition register 0; register 1 follows.
pub const CONDITIONS: u8 = 0;
/// The special register of address register 0; register 1 follows.
pub const ADDRESSES: u8 = 2;
/// The output of fragment programs that is the depth, in z. Colours have lower numbers.
pub const DEPTH: i32 = 4;

/// A lookup.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Lookup {
    /// At S0.
    Tex,
    /// At S0 divided by S0.w.
    Txp,
    /// At S0 with bias S1.x.
    Txb,
    /// At S0 with level of detail S1.x; of vertex programs S0.w.
    Txl,
    /// At S0 with derivatives S1, S2.
    Txd,
}

/// A lookup and its texture.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sample {
    /// The lookup.
    pub lookup: Lookup,
    /// The texture unit.
    pub unit: u8,
    /// The dimension.
    pub kind: TextureKind,
    /// Whether the sample is compared with a reference, z of the coordinates (w of those of a cube).
    pub is_shadow: bool,
}

macro_rules! codes {
    ($($code:ident $description:literal,)*) => {
        /// An operation, as [`isa`](crate::isa) defines it.
        #[cfg_attr(not(test), expect(dead_code, reason = "selection does not use all operations of the chips"))]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Code {
            $(#[doc = $description] $code,)*
            /// A lookup.
            Sample(Sample),
        }
    };
}

codes! {
    Mov "S0.",
    Mul "S0 * S1.",
    Add "S0 + S1.",
    Mad "S0 * S1 + S2.",
    Dp2 "Fragment programs after GeForce FX: dot product of two components.",
    Dp3 "Dot product of three components.",
    Dp4 "Dot product of four components.",
    Dph "Vertex programs: dot product of four components, with S0.w = 1.",
    Dp2a "Fragment programs after GeForce FX: dot product of two components, plus S2.x.",
    Dst "(1, S0.y * S1.y, S0.z, S1.w).",
    Min "Minimum.",
    Max "Maximum.",
    Slt "1 if S0 < S1, otherwise 0.",
    Sge "1 if S0 >= S1, otherwise 0.",
    Seq "1 if S0 = S1, otherwise 0.",
    Sne "1 if S0 and S1 differ, otherwise 0.",
    Sfl "0.",
    Str "1.",
    Frc "Difference of S0 and its floor.",
    Flr "Floor.",
    Ssg "Vertex programs: sign.",
    Rcp "1 / S0.x.",
    Rsq "1 / sqrt(S0.x); of fragment programs of the absolute value.",
    Ex2 "2 to the power of S0.x.",
    Lg2 "log2(S0.x).",
    Sin "sin(S0.x).",
    Cos "cos(S0.x).",
    Lit "Vertex programs, and fragment programs of GeForce FX: coefficients of lighting, with a power of 11 bits.",
    Lif "Fragment programs after GeForce FX: (1, y, 2^w if y > 0, 1) of S0.",
    Lrp "Fragment programs: S0 * S1 + (1 - S0) * S2.",
    Pow "Fragment programs of GeForce FX: S0.x to the power of S1.x.",
    Nrm "Fragment programs after GeForce FX: S0.xyz divided by its length.",
    Div "Fragment programs after GeForce FX: S0 / S1.x.",
    Divsq "Fragment programs after GeForce FX: S0 / sqrt(|S1.x|).",
    Ddx "Fragment programs: derivative along x, of x and y.",
    Ddy "Fragment programs: derivative along y, of x and y.",
    Arl "Vertex programs: floor, to an address register.",
    Arr "Vertex programs: nearest integer, to an address register.",
    Kil "Fragment programs: kills the fragment if any component passes the guard.",
    If "Executes the first side if any component passes the guard.",
    Else "Begins the other side.",
    EndIf "Ends the construct.",
    Loop "Begins a loop.",
    EndLoop "Ends a loop.",
    Brk "Leaves the loop.",
    Cont "Continues with the next iteration.",
    End "Ends the program.",
}

/// An opcode: the operation, and a factor of the result in fragment programs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Op {
    /// The operation.
    pub code: Code,
    /// The factor of the result, applied before saturation.
    pub scale: Scale,
}

impl From<Code> for Op {
    fn from(code: Code) -> Op {
        Op { code, scale: Scale::One }
    }
}

impl Code {
    /// Whether the operation reads x of its operands only, and writes the result to all components. In vertex programs,
    /// the scalar unit executes it.
    pub fn is_scalar(self) -> bool {
        use Code::{Cos, Ex2, Lg2, Pow, Rcp, Rsq, Sin};
        matches!(self, Rcp | Rsq | Ex2 | Lg2 | Sin | Cos | Pow)
    }
}

/// The machine of a stage and a chip.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Machine {
    /// The chip.
    pub chip: Chip,
    /// Vertex or fragment.
    pub stage: ShaderStage,
}

/// A program of the machine.
pub type Program = tgsi_vec4::Program<Machine>;

/// An instruction of the machine.
pub type MachineInstruction = Instruction<Op>;

impl SimpleMachine for Machine {
    type Op = Op;
    const COPY: Op = Op { code: Code::Mov, scale: Scale::One };

    fn info(op: Op) -> Info {
        const VECTOR: [u8; 4] = [0b1111; 4];
        const SCALAR: [u8; 4] = [0b0001; 4];
        match op.code {
            Code::Mov | Code::Mul | Code::Add | Code::Mad | Code::Min | Code::Max | Code::Frc | Code::Flr => {
                Info::COMPONENTWISE
            }
            Code::Slt | Code::Sge | Code::Seq | Code::Sne | Code::Sfl | Code::Str => Info::COMPONENTWISE,
            Code::Ssg | Code::Lrp | Code::Arl | Code::Arr => Info::COMPONENTWISE,
            Code::Div | Code::Divsq => Info { reads: [BY_MASK, 0b0001, 0, 0], ..Info::COMPONENTWISE },
            Code::Dp2 => Info::replicated([0b0011; 4]),
            Code::Dp2a => Info::replicated([0b0011, 0b0011, 0b0001, 0]),
            Code::Dp3 => Info::replicated([0b0111; 4]),
            Code::Dp4 => Info::replicated(VECTOR),
            Code::Dph => Info::replicated([0b0111, 0b1111, 0, 0]),
            code if code.is_scalar() => Info::replicated(SCALAR),
            // Each component of the result depends on the same components of the operands.
            Code::Dst => Info { results: Results::Fixed, ..Info::COMPONENTWISE },
            Code::Ddx | Code::Ddy => Info { results: Results::Fixed, ..Info::COMPONENTWISE },
            Code::Nrm => Info::fixed([0b0111, 0, 0, 0]),
            Code::Lit => Info::fixed([0b1011, 0, 0, 0]),
            Code::Lif => Info::fixed([0b1010, 0, 0, 0]),
            Code::Sample(sample) => Info::fixed(sample.reads()),
            Code::Kil => Info { has_effect: true, ..Info::fixed([0; 4]) },
            Code::If => Info::flow(Flow::If),
            Code::Else => Info::flow(Flow::Else),
            Code::EndIf => Info::flow(Flow::EndIf),
            Code::Loop => Info::flow(Flow::Loop),
            Code::EndLoop => Info::flow(Flow::EndLoop),
            Code::Brk => Info::flow(Flow::Break),
            Code::Cont => Info::flow(Flow::Continue),
            Code::End => Info::flow(Flow::End),
            _ => Info::COMPONENTWISE,
        }
    }

    fn accepts(&self, instruction: &MachineInstruction) -> bool {
        let is_vertex = self.stage == ShaderStage::Vertex;
        let code = instruction.op.code;
        let sources = &instruction.sources;
        let is_constant = |file: File| matches!(file, File::Uniform | File::Constant);
        // One input and one vector of constants in an instruction; an index concerns all of them.
        if instruction.registers_of(|source| source.file == File::Input) > 1
            || instruction.registers_of(|source| is_constant(source.file)) > 1
        {
            return false;
        }
        let to = instruction.destination;
        let mut relative = sources.iter().map(|source| source.relative).chain(to.map(|to| to.relative)).flatten();
        if let Some(first) = relative.next()
            && (!is_vertex || relative.any(|other| other != first))
        {
            return false;
        }
        if sources.iter().any(|source| source.file == File::Special || source.file == File::Output) {
            return false;
        }
        if instruction.saturate && is_vertex && self.chip == Chip::Nv30 {
            return false;
        }
        if let Code::Sample(_) = code {
            let is_register = |file: File| matches!(file, File::Temporary | File::Input);
            if instruction.saturate || !sources.iter().all(|source| is_register(source.file) && source.is_plain()) {
                return false;
            }
        }
        if let Some(to) = to.filter(|to| to.file == File::Special) {
            let to_address = to.index >= i32::from(ADDRESSES);
            // One condition register in an instruction.
            if !to_address && instruction.guard.is_some_and(|guard| i32::from(guard.register) != to.index) {
                return false;
            }
            // The scalar unit of vertex programs cannot surely write condition registers.
            let is_scalar = is_vertex && (code.is_scalar() || code == Code::Lit);
            let is_lookup = matches!(code, Code::Sample(_));
            return to_address == matches!(code, Code::Arl | Code::Arr) && !is_scalar && !is_lookup;
        }
        !matches!(code, Code::Arl | Code::Arr)
    }
}

impl Sample {
    /// The components of the coordinates, and of further operands, that the lookup reads.
    fn reads(self) -> [u8; 4] {
        let dimensions = match self.kind {
            TextureKind::D1 => 0b0001,
            TextureKind::D2 | TextureKind::Rect => 0b0011,
            TextureKind::D3 | TextureKind::Cube => 0b0111,
        };
        let reference = match (self.is_shadow, self.kind) {
            (false, _) => 0,
            (true, TextureKind::Cube | TextureKind::D3) => 0b1000,
            (true, _) => 0b0100,
        };
        let coordinates = dimensions | reference;
        match self.lookup {
            Lookup::Tex => [coordinates, 0, 0, 0],
            Lookup::Txp => [coordinates | 0b1000, 0, 0, 0],
            Lookup::Txb => [coordinates, 0b0001, 0, 0],
            // Vertex programs have the level in w of the only operand.
            Lookup::Txl => [coordinates | 0b1000, 0b0001, 0, 0],
            Lookup::Txd => [coordinates, dimensions, dimensions, 0],
        }
    }
}

/// A shader after selection: instructions over virtual registers, not optimised, and the interface.
#[derive(Clone, Debug)]
pub struct Selected {
    /// The instructions.
    pub program: Program,
    /// The inputs, by register.
    pub inputs: Vec<Varying>,
    /// The outputs, by register.
    pub outputs: Vec<Varying>,
    /// The textures, by unit.
    pub textures: Vec<Texture>,
    /// Registers of constant buffer 0 that may be read: one more than the greatest.
    pub uniforms: u16,
}
