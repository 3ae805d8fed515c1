//! What an instruction reads and writes, found once, when it is made or changed: the passes look at every instruction many times.
//!
//! Registers have numbers: address registers come first, then virtual temporaries, so that tables by number are dense. Elements of arrays and outputs
//! stand far behind ([`ARRAYS`], [`OUTPUTS`]); they are followed by few passes, which give them places of their own.

use std::sync::LazyLock;

use arrayvec::ArrayVec;
use tgsi::scan::needed_channels;
use tgsi::shader::{Dst, Instruction, Register, Src};
use tgsi::tables::{File, Opcode};

use crate::target::opcodes::{
    has_effect, is_componentwise, is_flow, is_permutable, is_replicated, moves_in_pairs, reads_resource,
};

/// Address registers that are told apart. Their numbers are 0 and up.
pub(crate) const ADDRESS_REGISTERS: u32 = 8;

/// Numbers of elements of arrays of temporaries start here.
pub(crate) const ARRAYS: u32 = 1 << 26;

/// Numbers of outputs start here.
pub(crate) const OUTPUTS: u32 = 1 << 27;

/// Most registers that an instruction can read: each operand with its index registers, and texel offsets.
const MAX_READS: usize = 20;

/// Registers read that need no room elsewhere.
const FEW_READS: usize = 4;

/// A set of properties of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Traits(u32);

impl Traits {
    // Of the opcode.
    /// See [`is_componentwise`].
    pub(crate) const COMPONENTWISE: Traits = Traits(1);
    /// See [`is_replicated`].
    pub(crate) const REPLICATED: Traits = Traits(1 << 1);
    /// See [`moves_in_pairs`].
    pub(crate) const PAIRS: Traits = Traits(1 << 2);
    /// See [`is_flow`].
    pub(crate) const FLOW: Traits = Traits(1 << 3);
    /// See [`has_effect`].
    pub(crate) const EFFECT: Traits = Traits(1 << 4);
    /// Reads of every source the channels that it writes.
    const PLAIN: Traits = Traits(1 << 5);
    /// Says where components of its temporaries may stand.
    pub(crate) const CONSTRAINS: Traits = Traits(1 << 6);
    /// May leave out channels that are not needed.
    pub(crate) const NARROWS: Traits = Traits(1 << 7);
    // Of the operands.
    /// Reads an element of an array of temporaries.
    pub(crate) const READS_ARRAY: Traits = Traits(1 << 8);
    /// Writes an element of an array of temporaries.
    pub(crate) const WRITES_ARRAY: Traits = Traits(1 << 9);
    /// Writes through an index register.
    pub(crate) const WRITES_INDIRECT: Traits = Traits(1 << 10);
    /// Reads an output.
    pub(crate) const READS_OUTPUT: Traits = Traits(1 << 11);
    /// Writes an output.
    pub(crate) const WRITES_OUTPUT: Traits = Traits(1 << 12);
    /// Sees all outputs, or may write any.
    pub(crate) const OUTPUT_BARRIER: Traits = Traits(1 << 13);

    /// Writes an output through an index register, or one of several dimensions.
    pub(crate) const WRITES_OUTPUT_SOMEWHERE: Traits = Traits(1 << 14);

    /// Targets that store [whole results](crate::TgsiOptions::whole_results) store all components of its result,
    /// whatever the mask says: an atomic operation on a buffer or on shared memory.
    pub(crate) const STORES_WHOLE: Traits = Traits(1 << 15);

    /// Whether any of `others` is there.
    pub(crate) fn any(self, others: Traits) -> bool {
        self.0 & others.0 != 0
    }

    /// Both.
    pub(crate) const fn with(self, others: Traits) -> Traits {
        Traits(self.0 | others.0)
    }

    fn add(&mut self, others: Traits, condition: bool) {
        if condition {
            self.0 |= others.0;
        }
    }

    fn of_opcode(opcode: Opcode) -> Traits {
        let info = opcode.info();
        let wide = info.dst_type.is_64bit() || info.src_types.iter().any(|t| t.is_64bit());
        let mut traits = Traits(0);
        traits.add(Traits::COMPONENTWISE, is_componentwise(opcode));
        traits.add(Traits::REPLICATED, is_replicated(opcode));
        traits.add(Traits::PAIRS, moves_in_pairs(opcode));
        traits.add(Traits::FLOW, is_flow(opcode));
        traits.add(Traits::EFFECT, has_effect(opcode));
        traits.add(Traits::PLAIN, is_componentwise(opcode) && reads_what_it_writes(opcode));
        let fixes = !is_permutable(opcode) || info.is_tex || reads_resource(opcode) || opcode == Opcode::Store;
        traits.add(Traits::CONSTRAINS, fixes || wide);
        let narrows = is_permutable(opcode) || (!info.is_store && !wide);
        traits.add(Traits::NARROWS, narrows && opcode != Opcode::Clock);
        let shows = matches!(opcode, Opcode::Emit | Opcode::Endprim | Opcode::Barrier | Opcode::Fbfetch | Opcode::Cal);
        traits.add(Traits::OUTPUT_BARRIER, shows);
        traits.add(Traits::STORES_WHOLE, info.is_store && opcode != Opcode::Store);
        traits
    }
}

fn reads_what_it_writes(opcode: Opcode) -> bool {
    let mut instruction = Instruction::new(opcode);
    let info = opcode.info();
    if info.num_dst != 1 {
        return false;
    }
    instruction.src.extend((0..info.num_src).map(|_| Src::new(Register::new(File::Temporary, 0))));
    (0..16).all(|mask| {
        instruction.dst.clear();
        instruction.dst.push(Dst::new(Register::new(File::Temporary, 0)).masked(mask));
        (0..instruction.src.len()).all(|source| needed_channels(&instruction, source) == mask)
    })
}

/// The properties of each opcode.
static OPCODES: LazyLock<Vec<Traits>> = LazyLock::new(|| {
    let mut table = vec![Traits(0); 256];
    for &opcode in Opcode::ALL {
        table[opcode as usize] = Traits::of_opcode(opcode);
    }
    table
});

/// Components of a register that an instruction reads or writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Components(u32);

impl Components {
    const NONE: Components = Components(0);

    fn new(number: u32, mask: u8) -> Components {
        Components(number << 4 | u32::from(mask & 0xf))
    }

    /// Number of the register.
    pub(crate) fn register(self) -> usize {
        (self.0 >> 4) as usize
    }

    /// The components, bit 0 = x.
    pub(crate) fn mask(self) -> u8 {
        self.0 as u8 & 0xf
    }

    /// Number of the virtual temporary, counted from 0; none if it is no such.
    pub(crate) fn temp(self) -> Option<usize> {
        let number = self.0 >> 4;
        (ADDRESS_REGISTERS..ARRAYS).contains(&number).then(|| (number - ADDRESS_REGISTERS) as usize)
    }

    /// Whether it is a virtual temporary or an address register.
    pub(crate) fn is_dense(self) -> bool {
        self.0 >> 4 < ARRAYS
    }

    /// Whether it is an output.
    pub(crate) fn is_output(self) -> bool {
        self.0 >> 4 >= OUTPUTS
    }
}

/// How often the components of a register are accessed: never, once, or more often.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Counts {
    any: u8,
    more: u8,
}

impl Counts {
    /// One more access.
    pub(crate) fn add(&mut self, mask: u8) {
        self.more |= self.any & mask;
        self.any |= mask;
    }

    /// Whether each of the components was accessed once.
    pub(crate) fn are_one(self, mask: u8) -> bool {
        self.any & !self.more & mask == mask
    }
}

/// What an instruction reads, in order. Few read more than has room in place.
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
            // There is room for all that an instruction can have.
            Reads::Many(many) => {
                let _ = many.try_push(read);
            }
        }
    }
}

impl std::ops::Deref for Reads {
    type Target = [Components];

    #[inline]
    fn deref(&self) -> &[Components] {
        match self {
            Reads::Few(few) => few,
            Reads::Many(many) => many,
        }
    }
}

impl std::ops::DerefMut for Reads {
    fn deref_mut(&mut self) -> &mut [Components] {
        match self {
            Reads::Few(few) => few,
            Reads::Many(many) => many,
        }
    }
}

/// What an instruction reads and writes.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Access {
    reads: Reads,
    written: Components,
    channels: [u8; 5],
    masks: [u8; 5],
    /// Properties.
    pub(crate) traits: Traits,
    /// Opcode.
    pub(crate) opcode: Opcode,
}

/// Number of a temporary.
fn temporary(index: i32, first_temp: u32) -> Option<u32> {
    let index = u32::try_from(index).ok()?;
    Some(if index < first_temp { ARRAYS + index } else { ADDRESS_REGISTERS + (index - first_temp) })
}

/// Number of a register that is addressed directly, none if it is not followed.
pub(crate) fn number(file: File, index: i32, first_temp: u32) -> Option<u32> {
    match file {
        File::Temporary => temporary(index, first_temp),
        File::Address => u32::try_from(index).ok().filter(|&n| n < ADDRESS_REGISTERS),
        File::Output => Some(OUTPUTS + u32::try_from(index).ok()?),
        _ => None,
    }
}

/// The components that a swizzle selects for channels.
fn swizzled(channels: u8, swizzle: [u8; 4]) -> u8 {
    let bit = |channel: usize| (channels >> channel & 1) << (swizzle[channel] & 3);
    bit(0) | bit(1) | bit(2) | bit(3)
}

impl Access {
    /// Looks at an instruction. Temporaries below `first_temp` are elements of arrays.
    pub(crate) fn of(instruction: &Instruction, first_temp: u32) -> Access {
        let mut access = Access {
            reads: Reads::Few(ArrayVec::new()),
            written: Components::NONE,
            channels: [0; 5],
            masks: [0; 5],
            traits: OPCODES[instruction.opcode as usize],
            opcode: instruction.opcode,
        };
        access.operands(instruction, first_temp);
        access
    }

    fn operands(&mut self, instruction: &Instruction, first_temp: u32) {
        let resource = instruction.src.first().map(|src| src.register.file);
        if !matches!(resource, Some(File::Buffer | File::Memory)) {
            self.traits.0 &= !Traits::STORES_WHOLE.0;
        }
        let plain = instruction.dst.first().filter(|_| self.traits.any(Traits::PLAIN)).map(|dst| dst.write_mask & 0xf);
        for (source, src) in instruction.src.iter().enumerate() {
            let channels = plain.unwrap_or_else(|| needed_channels(instruction, source));
            let mask = swizzled(channels, src.swizzle);
            self.channels[source] = channels;
            self.masks[source] = mask;
            self.index_registers(&src.register, first_temp);
            let is_direct = src.register.indirect.is_none();
            match src.register.file {
                File::Temporary if !is_direct || src.register.index < first_temp as i32 => {
                    self.traits.0 |= Traits::READS_ARRAY.0;
                }
                File::Output => self.traits.0 |= Traits::READS_OUTPUT.0,
                File::Temporary | File::Address => {}
                _ => continue,
            }
            if is_direct && mask != 0 {
                self.read(src.register.file, src.register.index, mask, first_temp);
            }
        }
        for dst in &instruction.dst {
            let register = &dst.register;
            self.index_registers(register, first_temp);
            // A handle in a register is the destination of a store.
            if instruction.opcode == Opcode::Store && register.file == File::Temporary {
                self.read(File::Temporary, register.index, 0x3, first_temp);
            }
            let is_indirect = register.indirect.is_some();
            self.traits.add(Traits::WRITES_INDIRECT, is_indirect);
            match register.file {
                File::Temporary => {
                    self.traits.add(Traits::WRITES_ARRAY, is_indirect || register.index < first_temp as i32);
                }
                File::Output => {
                    self.traits.add(Traits::WRITES_OUTPUT, true);
                    let somewhere = Traits::OUTPUT_BARRIER.with(Traits::WRITES_OUTPUT_SOMEWHERE);
                    self.traits.add(somewhere, is_indirect || register.dimension.is_some());
                }
                _ => {}
            }
        }
        if let Some(dst) = instruction.dst.first()
            && instruction.opcode != Opcode::Store
            && dst.register.indirect.is_none()
            && dst.register.dimension.is_none()
            && let Some(number) = number(dst.register.file, dst.register.index, first_temp)
        {
            self.written = Components::new(number, dst.write_mask);
        }
        for offset in instruction.texture.iter().flat_map(|t| &t.offsets) {
            let mask = offset.swizzle.iter().fold(0, |mask, &c| mask | 1 << (c & 3));
            self.read(offset.file, offset.index, mask, first_temp);
        }
    }

    fn index_registers(&mut self, register: &Register, first_temp: u32) {
        if let Some(indirect) = register.indirect {
            self.read(indirect.file, indirect.index, 1 << (indirect.component & 3), first_temp);
        }
        if let Some(indirect) = register.dimension.and_then(|d| d.indirect) {
            self.read(indirect.file, indirect.index, 1 << (indirect.component & 3), first_temp);
        }
    }

    fn read(&mut self, file: File, index: i32, mask: u8, first_temp: u32) {
        if let Some(number) = number(file, index, first_temp) {
            self.reads.push(Components::new(number, mask));
        }
    }

    /// What the instruction reads and writes once temporaries have become others, none of them an output: `place_of` gives the number of the new one, counted from 0,
    /// and where the components are. `instruction` is the new one.
    pub(crate) fn rename(&mut self, instruction: &Instruction, place_of: impl Fn(usize) -> (u32, [u8; 4])) {
        let moved = |components: Components| {
            let Some((number, place)) = components.temp().map(&place_of) else { return components };
            let mask = components.mask();
            let bit = |c: usize| (mask >> c & 1) << place[c];
            Components::new(ADDRESS_REGISTERS + number, bit(0) | bit(1) | bit(2) | bit(3))
        };
        for read in self.reads.iter_mut() {
            *read = moved(*read);
        }
        self.written = moved(self.written);
        let plain = instruction.dst.first().filter(|_| self.traits.any(Traits::PLAIN)).map(|dst| dst.write_mask & 0xf);
        for (source, src) in instruction.src.iter().enumerate() {
            let channels = plain.unwrap_or_else(|| needed_channels(instruction, source));
            self.channels[source] = channels;
            self.masks[source] = swizzled(channels, src.swizzle);
        }
    }

    /// The registers read: sources, texel offsets, index registers; each as often as it stands there. Registers that are addressed by a run-time index
    /// are not among them.
    pub(crate) fn reads(&self) -> &[Components] {
        &self.reads
    }

    /// The register written; none if there is none that is followed, or none written at all.
    pub(crate) fn written(&self) -> Option<Components> {
        (self.written != Components::NONE).then_some(self.written)
    }

    /// Channels of a source on which the result depends, before the swizzle.
    pub(crate) fn channels(&self, source: usize) -> u8 {
        self.channels.get(source).copied().unwrap_or(0)
    }

    /// Components of a source on which the result depends, after the swizzle.
    pub(crate) fn mask(&self, source: usize) -> u8 {
        self.masks.get(source).copied().unwrap_or(0)
    }
}
