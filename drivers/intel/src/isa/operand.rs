//! Operands: registers, types, regions, swizzles.

use super::Immediate;
use super::bits::enumeration;

enumeration! {
    /// The type of the elements of a register operand.
    Type {
        Ud = 0 "UD" "Unsigned, 32 bits.";
        D = 1 "D" "Signed, 32 bits.";
        Uw = 2 "UW" "Unsigned, 16 bits.";
        W = 3 "W" "Signed, 16 bits.";
        Ub = 4 "UB" "Unsigned, 8 bits.";
        B = 5 "B" "Signed, 8 bits.";
        Df = 6 "DF" "Floating-point, 64 bits.";
        F = 7 "F" "Floating-point, 32 bits.";
    }
}

impl Type {
    /// The size of an element in bytes.
    pub fn size(self) -> u32 {
        match self {
            Type::Ub | Type::B => 1,
            Type::Uw | Type::W => 2,
            Type::Ud | Type::D | Type::F => 4,
            Type::Df => 8,
        }
    }

    /// Whether elements are integers.
    pub fn is_integer(self) -> bool {
        !matches!(self, Type::F | Type::Df)
    }

    /// Whether elements are signed integers.
    pub fn is_signed(self) -> bool {
        matches!(self, Type::B | Type::W | Type::D)
    }

    /// The number in instructions with three sources, if they have the type.
    pub(crate) fn three_source_code(self) -> Option<u32> {
        Type::THREE_SOURCE.iter().position(|&ty| ty == self).map(|index| index as u32)
    }

    /// The types of instructions with three sources, in the order of their numbers.
    pub const THREE_SOURCE: [Type; 4] = [Type::F, Type::D, Type::Ud, Type::Df];
}

enumeration! {
    /// The register file of a direct operand.
    File {
        Arf = 0 "A" "The architecture registers: flags, accumulators, addresses.";
        Grf = 1 "g" "The 128 general registers of 32 bytes.";
    }
}

/// The number of general registers.
pub const GENERAL_REGISTERS: u8 = 128;

/// Numbers of architecture registers; the lower four bits are the index within a kind.
pub mod arf {
    /// The null register: reads are undefined, writes have no effect.
    pub const NULL: u8 = 0x00;
    /// The address register, eight words.
    pub const ADDRESS: u8 = 0x10;
    /// The accumulators.
    pub const ACCUMULATOR: u8 = 0x20;
    /// The flag registers.
    pub const FLAG: u8 = 0x30;
    /// The mask registers, the first of which is the channel enable register.
    pub const MASK: u8 = 0x40;
    /// The mask stack.
    pub const MASK_STACK: u8 = 0x50;
    /// The depth of the mask stack.
    pub const MASK_STACK_DEPTH: u8 = 0x60;
    /// The state registers.
    pub const STATE: u8 = 0x70;
    /// The control register.
    pub const CONTROL: u8 = 0x80;
    /// The notification registers, for `wait`.
    pub const NOTIFICATION: u8 = 0x90;
    /// The instruction pointer.
    pub const IP: u8 = 0xa0;
    /// The thread dependency register.
    pub const THREAD_DEPENDENCY: u8 = 0xb0;
    /// The time stamp and performance registers.
    pub const TIMESTAMP: u8 = 0xc0;
}

/// The place of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Register {
    /// A register that the instruction names.
    Direct {
        /// The register file.
        file: File,
        /// The number of the register; of architecture registers a number of [`arf`].
        number: u8,
        /// The first byte within the register, 0 to 31. In align16 0 or 16, and in instructions with three sources
        /// a multiple of 4.
        offset: u8,
    },
    /// A place in the general registers that the address register states: the sum of a word of a0 and an offset is
    /// the number of a byte.
    Indirect {
        /// The word of the address register, 0 to 7. With a vertical stride of [`VerticalStride::Indexed`], the first
        /// of several.
        address: u8,
        /// The offset in bytes, -512 to 511; in align16 a multiple of 16.
        offset: i16,
    },
}

impl Register {
    /// The null register.
    pub const NULL: Register = Register::architecture(arf::NULL);

    /// A general register, from its first byte.
    pub const fn general(number: u8) -> Register {
        Register::Direct { file: File::Grf, number, offset: 0 }
    }

    /// An architecture register, from its first byte.
    pub const fn architecture(number: u8) -> Register {
        Register::Direct { file: File::Arf, number, offset: 0 }
    }

    /// Replaces the first byte of a direct register.
    pub const fn at(self, offset: u8) -> Register {
        match self {
            Register::Direct { file, number, .. } => Register::Direct { file, number, offset },
            Register::Indirect { .. } => self,
        }
    }

    /// Whether it is the null register.
    pub fn is_null(self) -> bool {
        matches!(self, Register::Direct { file: File::Arf, number: arf::NULL, .. })
    }

    /// Whether it is an accumulator.
    pub fn is_accumulator(self) -> bool {
        matches!(self, Register::Direct { file: File::Arf, number, .. } if number & 0xf0 == arf::ACCUMULATOR)
    }

    /// Whether it is an architecture register.
    pub fn is_architecture(self) -> bool {
        matches!(self, Register::Direct { file: File::Arf, .. })
    }
}

/// The distance of rows in elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[expect(missing_docs, reason = "the names state the numbers")]
pub enum VerticalStride {
    S0 = 0,
    S1 = 1,
    S2 = 2,
    S4 = 3,
    S8 = 4,
    S16 = 5,
    S32 = 6,
    /// Each row has its own word of the address register (`VxH`, or `Vx1` with a width of 1).
    Indexed = 15,
}

impl VerticalStride {
    /// All variants.
    pub const ALL: [VerticalStride; 8] = {
        use VerticalStride::*;
        [S0, S1, S2, S4, S8, S16, S32, Indexed]
    };

    /// The number in words.
    pub fn code(self) -> u32 {
        self as u32
    }

    /// Returns the variant with a number.
    pub fn from_code(code: u32) -> Option<VerticalStride> {
        VerticalStride::ALL.into_iter().find(|stride| stride.code() == code)
    }

    /// The number of elements, without [`VerticalStride::Indexed`].
    pub fn elements(self) -> Option<u32> {
        match self {
            VerticalStride::Indexed => None,
            VerticalStride::S0 => Some(0),
            _ => Some(1 << (self.code() - 1)),
        }
    }

    /// Returns the stride with a number of elements.
    pub fn from_elements(elements: u32) -> Option<VerticalStride> {
        VerticalStride::ALL.into_iter().find(|stride| stride.elements() == Some(elements))
    }
}

/// The number of elements of a row.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[expect(missing_docs, reason = "the names state the numbers")]
pub enum Width {
    W1 = 0,
    W2 = 1,
    W4 = 2,
    W8 = 3,
    W16 = 4,
}

impl Width {
    /// All variants, in the order of their numbers.
    pub const ALL: [Width; 5] = [Width::W1, Width::W2, Width::W4, Width::W8, Width::W16];

    /// The number in words.
    pub fn code(self) -> u32 {
        self as u32
    }

    /// Returns the variant with a number.
    pub fn from_code(code: u32) -> Option<Width> {
        Width::ALL.get(code as usize).copied()
    }

    /// The number of elements.
    pub fn elements(self) -> u32 {
        1 << self.code()
    }

    /// Returns the width with a number of elements.
    pub fn from_elements(elements: u32) -> Option<Width> {
        Width::ALL.into_iter().find(|width| width.elements() == elements)
    }
}

/// The distance of the elements of a row, or of a destination, in elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[expect(missing_docs, reason = "the names state the numbers")]
pub enum HorizontalStride {
    S0 = 0,
    S1 = 1,
    S2 = 2,
    S4 = 3,
}

impl HorizontalStride {
    /// All variants, in the order of their numbers.
    pub const ALL: [HorizontalStride; 4] = {
        use HorizontalStride::*;
        [S0, S1, S2, S4]
    };

    /// The number in words.
    pub fn code(self) -> u32 {
        self as u32
    }

    /// Returns the variant with a number of two bits.
    pub fn from_code(code: u32) -> HorizontalStride {
        HorizontalStride::ALL[(code & 3) as usize]
    }

    /// The number of elements.
    pub fn elements(self) -> u32 {
        match self {
            HorizontalStride::S0 => 0,
            _ => 1 << (self.code() - 1),
        }
    }

    /// Returns the stride with a number of elements.
    pub fn from_elements(elements: u32) -> Option<HorizontalStride> {
        HorizontalStride::ALL.into_iter().find(|stride| stride.elements() == elements)
    }
}

/// The component that each of four components reads; two bits for each, the first one lowest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Swizzle(pub u8);

impl Swizzle {
    /// Each component reads itself.
    pub const IDENTITY: Swizzle = Swizzle::new([0, 1, 2, 3]);

    /// A swizzle from four selectors; higher bits are dropped.
    pub const fn new(selectors: [u8; 4]) -> Swizzle {
        let [x, y, z, w] = selectors;
        Swizzle(x & 3 | (y & 3) << 2 | (z & 3) << 4 | (w & 3) << 6)
    }

    /// A swizzle that reads one component only.
    pub const fn replicate(selector: u8) -> Swizzle {
        Swizzle::new([selector; 4])
    }

    /// The selector of a component, 0 to 3.
    pub fn get(self, component: u8) -> u8 {
        self.0 >> (2 * (component & 3)) & 3
    }
}

/// The written components; the first one is the lowest bit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WriteMask(pub u8);

impl WriteMask {
    /// All components.
    pub const XYZW: WriteMask = WriteMask(15);

    /// Whether a component is written.
    pub fn contains(self, component: u8) -> bool {
        self.0 >> component & 1 != 0
    }
}

/// The elements that a source reads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Region {
    /// Channel `c` reads element `c / width * vertical + c % width * horizontal` from the first byte of the register.
    /// In align16 only [`Region::SCALAR`] in instructions with three sources.
    Align1 {
        /// The distance of rows.
        vertical: VerticalStride,
        /// The length of rows.
        width: Width,
        /// The distance of elements in a row.
        horizontal: HorizontalStride,
    },
    /// Channel `c` reads element `c / 4 * vertical + swizzle[c % 4]` from the first byte of the register.
    Align16 {
        /// The distance of vectors of four components: 4, or 0 for the same vector for all.
        vertical: VerticalStride,
        /// The components.
        swizzle: Swizzle,
    },
}

impl Region {
    /// One element for all channels: `<0,1,0>`.
    pub const SCALAR: Region = Region::align1(VerticalStride::S0, Width::W1, HorizontalStride::S0);
    /// Consecutive elements of two registers at most: `<8,8,1>`.
    pub const LINEAR: Region = Region::align1(VerticalStride::S8, Width::W8, HorizontalStride::S1);
    /// Consecutive vectors of four components: `<4>`.
    pub const VECTORS: Region = Region::swizzled(Swizzle::IDENTITY);
    /// The same vector of four components for all channels: `<0>`.
    pub const UNIFORM: Region = Region::Align16 { vertical: VerticalStride::S0, swizzle: Swizzle::IDENTITY };

    /// A region of elements.
    pub const fn align1(vertical: VerticalStride, width: Width, horizontal: HorizontalStride) -> Region {
        Region::Align1 { vertical, width, horizontal }
    }

    /// Consecutive vectors of four components with a swizzle.
    pub const fn swizzled(swizzle: Swizzle) -> Region {
        Region::Align16 { vertical: VerticalStride::S4, swizzle }
    }

    /// The element that a channel reads, counted from the first byte of the register. `None` if each row has its own
    /// address.
    pub fn element(self, channel: u32) -> Option<u32> {
        match self {
            Region::Align1 { vertical, width, horizontal } => {
                let width = width.elements();
                Some(channel / width * vertical.elements()? + channel % width * horizontal.elements())
            }
            Region::Align16 { vertical, swizzle } => {
                Some(channel / 4 * vertical.elements()? + u32::from(swizzle.get((channel & 3) as u8)))
            }
        }
    }
}

/// A register that an instruction reads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Operand {
    /// The place.
    pub register: Register,
    /// The type of the elements.
    pub ty: Type,
    /// The elements.
    pub region: Region,
    /// Whether the value is negated, after the absolute value.
    pub negate: bool,
    /// Whether the absolute value is read.
    pub absolute: bool,
}

impl Operand {
    /// An operand without modifiers.
    pub const fn new(register: Register, ty: Type, region: Region) -> Operand {
        Operand { register, ty, region, negate: false, absolute: false }
    }

    /// Inverts the sign.
    pub fn negated(self) -> Operand {
        Operand { negate: !self.negate, ..self }
    }

    /// Takes the absolute value.
    pub fn abs(self) -> Operand {
        Operand { absolute: true, negate: false, ..self }
    }
}

/// A source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    /// A register.
    Register(Operand),
    /// A constant; only the last source can be one.
    Immediate(Immediate),
}

impl Source {
    /// The register, unless it is a constant.
    pub fn operand(&self) -> Option<&Operand> {
        match self {
            Source::Register(operand) => Some(operand),
            Source::Immediate(_) => None,
        }
    }
}

impl From<Operand> for Source {
    fn from(operand: Operand) -> Source {
        Source::Register(operand)
    }
}

impl From<Immediate> for Source {
    fn from(immediate: Immediate) -> Source {
        Source::Immediate(immediate)
    }
}

/// A register that an instruction writes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Destination {
    /// The place.
    pub register: Register,
    /// The type of the elements.
    pub ty: Type,
    /// The distance of the elements; in align16 always 1.
    pub stride: HorizontalStride,
    /// The written components; in align1 always all.
    pub mask: WriteMask,
}

impl Destination {
    /// Consecutive elements of a register.
    pub const fn new(register: Register, ty: Type) -> Destination {
        Destination { register, ty, stride: HorizontalStride::S1, mask: WriteMask::XYZW }
    }

    /// Replaces the written components.
    pub const fn masked(self, mask: WriteMask) -> Destination {
        Destination { mask, ..self }
    }
}
