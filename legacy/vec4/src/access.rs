//! The registers that an instruction reads and writes, computed once when it is created or changed, since passes visit
//! every instruction many times.
//!
//! Registers have numbers ([`Reg`]): special registers come first, then virtual temporaries, so that tables by number
//! are dense. Registers of a fixed location and outputs have numbers far above; the few passes that track them use
//! separate rows.

use arrayvec::ArrayVec;

/// The number of special registers (address registers, flags) that are distinguished.
pub const SPECIAL_REGISTERS: u32 = 8;

/// The maximum number of sources of an instruction.
pub const MAX_SOURCES: usize = 5;

const FIXED: u32 = 1 << 26;
const OUTPUTS: u32 = 1 << 27;

/// The maximum number of registers that an instruction can read: each source with its index registers, and other
/// operands.
const MAX_READS: usize = 20;

/// The number of reads stored inline.
const FEW_READS: usize = 4;

/// The number of a directly addressed register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Reg(u32);

impl Reg {
    /// An address register or flags: a register that is tracked but not allocated. None from [`SPECIAL_REGISTERS`] on.
    #[inline]
    pub const fn special(index: u32) -> Option<Reg> {
        if index < SPECIAL_REGISTERS { Some(Reg(index)) } else { None }
    }

    /// Virtual temporary `index`, counted from 0.
    #[inline]
    pub const fn temp(index: u32) -> Reg {
        Reg(SPECIAL_REGISTERS + index)
    }

    /// A register with a fixed location: an element of an array, or one that functions share.
    #[inline]
    pub const fn fixed(index: u32) -> Reg {
        Reg(FIXED + index)
    }

    /// An output.
    #[inline]
    pub const fn output(index: u32) -> Reg {
        Reg(OUTPUTS + index)
    }

    /// Temporary `index` of a program in which the temporaries below `first_temp` are fixed.
    #[inline]
    pub const fn numbered(index: u32, first_temp: u32) -> Reg {
        if index < first_temp { Reg::fixed(index) } else { Reg::temp(index - first_temp) }
    }

    /// The row in tables of special registers and virtual temporaries; none for other registers.
    #[inline]
    pub const fn dense(self) -> Option<usize> {
        if self.0 < FIXED { Some(self.0 as usize) } else { None }
    }

    /// The number of a virtual temporary, counted from 0; none for other registers.
    #[inline]
    pub const fn as_temp(self) -> Option<usize> {
        if self.0 >= SPECIAL_REGISTERS && self.0 < FIXED { Some((self.0 - SPECIAL_REGISTERS) as usize) } else { None }
    }

    /// The number of a fixed register; none for other registers.
    #[inline]
    pub const fn as_fixed(self) -> Option<usize> {
        if self.0 >= FIXED && self.0 < OUTPUTS { Some((self.0 - FIXED) as usize) } else { None }
    }

    /// The number of an output; none for other registers.
    #[inline]
    pub const fn as_output(self) -> Option<usize> {
        if self.0 >= OUTPUTS { Some((self.0 - OUTPUTS) as usize) } else { None }
    }
}

/// A set of properties of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traits(u32);

impl Traits {
    /// No properties.
    pub const NONE: Traits = Traits(0);

    // Properties of the opcode.
    /// Each channel of the result depends only on the same channel of the sources.
    pub const COMPONENTWISE: Traits = Traits(1);
    /// Every channel of the result is the same.
    pub const REPLICATED: Traits = Traits(1 << 1);
    /// Works on values of two components; all its operands are such pairs.
    pub const PAIRS: Traits = Traits(1 << 2);
    /// Ends a block: [`Machine::flow`](super::Machine::flow) returns the kind of control flow.
    pub const FLOW: Traits = Traits(1 << 3);
    /// Has an effect besides writing the destination.
    pub const EFFECT: Traits = Traits(1 << 4);
    /// Constrains the components of its temporaries.
    pub const CONSTRAINS: Traits = Traits(1 << 6);
    /// May omit unused components of the result.
    pub const NARROWS: Traits = Traits(1 << 7);
    /// Copies its source, possibly with modifiers or saturation.
    pub const COPY: Traits = Traits(1 << 5);
    // Properties of the operands.
    /// Reads a fixed register, or a temporary through an index register.
    pub const READS_FIXED: Traits = Traits(1 << 8);
    /// Writes a fixed register, or a temporary through an index register.
    pub const WRITES_FIXED: Traits = Traits(1 << 9);
    /// Writes through an index register.
    pub const WRITES_INDIRECT: Traits = Traits(1 << 10);
    /// Reads an output.
    pub const READS_OUTPUT: Traits = Traits(1 << 11);
    /// Writes an output.
    pub const WRITES_OUTPUT: Traits = Traits(1 << 12);
    /// Reads all outputs, or may write any.
    pub const OUTPUT_BARRIER: Traits = Traits(1 << 13);
    /// Writes an output through an index register.
    pub const WRITES_OUTPUT_SOMEWHERE: Traits = Traits(1 << 14);
    /// May store all components of its result regardless of the mask: see
    /// [`Machine::stores_whole`](super::Machine::stores_whole).
    pub const STORES_WHOLE: Traits = Traits(1 << 15);
    /// Writes components of its result under a condition, so that it reads the destination: the accesses include that
    /// read, unless the destination is an output.
    pub const GUARDED: Traits = Traits(1 << 31);

    /// A machine-specific property: there are 15.
    pub const fn own(number: u32) -> Traits {
        Traits(1 << (16 + number % 15))
    }

    /// Whether the sets intersect.
    #[inline]
    pub const fn any(self, others: Traits) -> bool {
        self.0 & others.0 != 0
    }

    /// The union.
    #[inline]
    pub const fn with(self, others: Traits) -> Traits {
        Traits(self.0 | others.0)
    }

    /// The difference.
    #[inline]
    pub const fn without(self, others: Traits) -> Traits {
        Traits(self.0 & !others.0)
    }

    /// Adds `others` if `condition` holds.
    #[inline]
    pub fn add(&mut self, others: Traits, condition: bool) {
        if condition {
            self.0 |= others.0;
        }
    }
}

/// Components of a register that an instruction reads or writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Components(u32);

impl Components {
    const NONE: Components = Components(0);

    /// The components of `mask`, bit 0 = x.
    #[inline]
    pub const fn new(register: Reg, mask: u8) -> Components {
        Components(register.0 << 4 | (mask & 0xf) as u32)
    }

    /// The register.
    #[inline]
    pub const fn register(self) -> Reg {
        Reg(self.0 >> 4)
    }

    /// The components, bit 0 = x.
    #[inline]
    pub const fn mask(self) -> u8 {
        self.0 as u8 & 0xf
    }

    /// The row in tables of special registers and virtual temporaries; none for other registers.
    #[inline]
    pub const fn dense(self) -> Option<usize> {
        self.register().dense()
    }

    /// The number of the virtual temporary; none for other registers.
    #[inline]
    pub const fn temp(self) -> Option<usize> {
        self.register().as_temp()
    }
}

/// The number of accesses to each component of a register: none, one, or more.
#[derive(Clone, Copy, Default, Debug)]
pub struct AccessCounts {
    any: u8,
    more: u8,
}

impl AccessCounts {
    /// Counts an access.
    #[inline]
    pub fn add(&mut self, mask: u8) {
        self.more |= self.any & mask;
        self.any |= mask;
    }

    /// Whether any of the components was accessed.
    #[inline]
    pub fn has_any(self, mask: u8) -> bool {
        self.any & mask != 0
    }

    /// Whether each of the components was accessed exactly once.
    #[inline]
    pub fn are_one(self, mask: u8) -> bool {
        self.any & !self.more & mask == mask
    }
}

/// The reads of an instruction, in order. Few instructions have more than fit inline.
#[derive(Clone, PartialEq, Debug)]
enum Reads {
    Few(ArrayVec<Components, FEW_READS>),
    Many(Box<ArrayVec<Components, MAX_READS>>),
}

impl Reads {
    #[inline]
    fn push(&mut self, read: Components) {
        match self {
            Reads::Few(few) => {
                if few.try_push(read).is_err() {
                    let mut many: Box<ArrayVec<_, MAX_READS>> = Box::default();
                    many.extend(few.iter().copied());
                    many.push(read);
                    *self = Reads::Many(many);
                }
            }
            Reads::Many(many) => {
                debug_assert!(!many.is_full(), "MAX_READS covers every instruction");
                let _ = many.try_push(read);
            }
        }
    }

    #[inline]
    fn get(&self) -> &[Components] {
        match self {
            Reads::Few(few) => few,
            Reads::Many(many) => many,
        }
    }

    #[inline]
    fn get_mut(&mut self) -> &mut [Components] {
        match self {
            Reads::Few(few) => few,
            Reads::Many(many) => many,
        }
    }
}

/// The registers that an instruction reads and writes.
#[derive(Clone, PartialEq, Debug)]
pub struct RegisterAccess<Opcode> {
    reads: Reads,
    written: Components,
    channels: [u8; MAX_SOURCES],
    masks: [u8; MAX_SOURCES],
    /// The properties.
    pub traits: Traits,
    /// The opcode.
    pub opcode: Opcode,
}

/// Returns the components that a swizzle selects for channels.
#[inline]
pub const fn swizzled(channels: u8, swizzle: [u8; 4]) -> u8 {
    (channels & 1) << (swizzle[0] & 3)
        | (channels >> 1 & 1) << (swizzle[1] & 3)
        | (channels >> 2 & 1) << (swizzle[2] & 3)
        | (channels >> 3 & 1) << (swizzle[3] & 3)
}

impl<Opcode> RegisterAccess<Opcode> {
    /// Creates an access without reads and writes.
    #[inline]
    pub fn new(opcode: Opcode, traits: Traits) -> RegisterAccess<Opcode> {
        RegisterAccess {
            reads: Reads::Few(ArrayVec::new()),
            written: Components::NONE,
            channels: [0; MAX_SOURCES],
            masks: [0; MAX_SOURCES],
            traits,
            opcode,
        }
    }

    /// Records the channels of a source on which the result depends, and its swizzle. Returns the components. The
    /// register itself must be recorded by [`read`](Self::read).
    #[inline]
    pub fn source(&mut self, source: usize, channels: u8, swizzle: [u8; 4]) -> u8 {
        let mask = swizzled(channels, swizzle);
        if let (Some(known), Some(components)) = (self.channels.get_mut(source), self.masks.get_mut(source)) {
            (*known, *components) = (channels, mask);
        }
        mask
    }

    /// Records a read of components of a register.
    #[inline]
    pub fn read(&mut self, register: Reg, mask: u8) {
        self.reads.push(Components::new(register, mask));
    }

    /// Records the components of a register that the result is written to.
    #[inline]
    pub fn write(&mut self, register: Reg, mask: u8) {
        self.written = Components::new(register, mask);
    }

    /// Renames temporaries: `location` returns the new temporary and the new place of each component. Channels and
    /// masks of sources must be recorded again.
    #[inline]
    pub fn rename(&mut self, location: impl Fn(usize) -> (u32, [u8; 4])) {
        let moved = |components: Components| {
            let Some((temp, to)) = components.temp().map(&location) else { return components };
            Components::new(Reg::temp(temp), swizzled(components.mask(), to))
        };
        for read in self.reads.get_mut() {
            *read = moved(*read);
        }
        self.written = moved(self.written);
    }

    /// The registers read: sources, index registers and other operands, one entry per occurrence. Registers addressed
    /// by a run-time index are not included.
    #[inline]
    pub fn reads(&self) -> &[Components] {
        self.reads.get()
    }

    /// The register written; none if it is not tracked, or if nothing is written.
    #[inline]
    pub fn written(&self) -> Option<Components> {
        (self.written != Components::NONE).then_some(self.written)
    }

    /// The channels of a source on which the result depends, before the swizzle.
    #[inline]
    pub fn channels(&self, source: usize) -> u8 {
        self.channels.get(source).copied().unwrap_or(0)
    }

    /// The components of a source on which the result depends, after the swizzle.
    #[inline]
    pub fn mask(&self, source: usize) -> u8 {
        self.masks.get(source).copied().unwrap_or(0)
    }
}
