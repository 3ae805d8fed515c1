//! Operands: registers that may be read as a kind, and registers that may be written.

use super::Features;
use super::generator::Generator;
use super::registers::{Array, RegisterType, usable};
use tgsi::shader::{Dimension, Dst, Indirect, Register, Src};
use tgsi::tables::{File, ImmediateType, Processor};
use tgsi_environment::special;

/// The register of a destination, so that the write can be recorded.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    Temporary(usize),
    Output(usize),
    /// An element of an array, or `NULL`.
    Other,
}

/// A destination of an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Destination {
    pub(super) dst: Dst,
    pub(super) target: Target,
}

/// Floats for immediates.
const FLOATS: [f32; 20] = [
    0.0,
    1.0,
    -1.0,
    0.5,
    2.0,
    -0.5,
    3.0,
    0.25,
    -0.0,
    10.0,
    255.0,
    0.1,
    1e-3,
    -7.5,
    1e30,
    1e-30,
    f32::INFINITY,
    0.999,
    65504.0,
    16777216.0,
];
/// Multiples of a half up to 8.
const SMALL_FLOATS: [f32; 12] = [0.0, 1.0, -1.0, 0.5, 2.0, -0.5, 1.5, -2.0, 3.0, 8.0, -4.5, 4.0];
/// Integers for immediates.
const INTEGERS: [u32; 20] = [
    0,
    1,
    2,
    3,
    4,
    5,
    8,
    16,
    31,
    32,
    33,
    255,
    u32::MAX,
    u32::MAX - 1,
    0x8000_0000,
    0x7fff_ffff,
    0xffff,
    0x5555_5555,
    12,
    7,
];
/// 64-bit floats for immediates.
const DOUBLES: [f64; 14] =
    [0.0, 1.0, -1.0, 0.5, 2.0, -0.5, 1.5, -3.25, 1e10, 1e-10, 1e300, f64::INFINITY, 4294967296.0, 0.1];
/// 64-bit integers for immediates.
const LONGS: [u64; 14] = [
    0,
    1,
    2,
    3,
    5,
    63,
    64,
    u64::MAX,
    u64::MAX - 1,
    1 << 63,
    (1 << 63) - 1,
    1 << 32,
    0xffff_ffff,
    0x1234_5678_9abc_def0,
];

impl Generator<'_> {
    /// Returns some of the components of `of`, in whole pairs for kinds that have pairs.
    pub(super) fn mask_of(&mut self, of: u8, kind: RegisterType) -> u8 {
        let of = usable(of, kind);
        let drawn = if self.choices.below(3) == 0 { 15 } else { self.choices.below(16) as u8 };
        let mask = usable(if kind.is_wide() { drawn | drawn << 1 & 10 | drawn >> 1 & 5 } else { drawn } & of, kind);
        if mask == 0 { of } else { mask }
    }

    /// Returns a register to write a value of `kind` to.
    pub(super) fn destination(&mut self, kind: RegisterType) -> Destination {
        let way = self.choices.below(16);
        if way >= 13
            && let Some(array) = self.array_of(kind)
        {
            let register = self.element(array, way == 15);
            let mask = self.mask_of(15, kind);
            return Destination { dst: Dst::new(register).masked(mask), target: Target::Other };
        }
        if (11..13).contains(&way)
            && let Some(destination) = self.output_destination(kind)
        {
            return destination;
        }
        let position = self.temporary_to_write(kind);
        let mask = self.mask_of(15, kind);
        self.to_temporary(position, mask)
    }

    /// Returns some components of a temporary as a destination.
    pub(super) fn to_temporary(&self, position: usize, mask: u8) -> Destination {
        let register = self.temporaries[position].register;
        Destination { dst: Dst::new(register).masked(mask), target: Target::Temporary(position) }
    }

    /// Returns an output that holds values of `kind`.
    fn output_destination(&mut self, kind: RegisterType) -> Option<Destination> {
        let fits: Vec<usize> =
            (0..self.outputs.len()).filter(|&position| self.outputs[position].kind == kind).collect();
        let position = self.choices.pick(&fits)?;
        let output = self.outputs[position];
        let element = self.choices.below(usize::from(output.array.size)) as u16;
        let register = self.output_register(position, element);
        let mask = self.mask_of(output.components, kind);
        let number = usize::from(output.array.first + element);
        Some(Destination { dst: Dst::new(register).masked(mask), target: Target::Output(number) })
    }

    /// Returns an output register of this invocation.
    pub(super) fn output_register(&self, position: usize, element: u16) -> Register {
        let output = self.outputs[position];
        let mut register = output.array.at(element);
        if output.per_vertex && self.stage == Processor::TessControl {
            let indirect = self.own_vertex;
            register.dimension = Some(Dimension { index: 0, indirect });
        }
        register
    }

    /// Returns a temporary of a kind, sometimes a new one.
    pub(super) fn temporary_to_write(&mut self, kind: RegisterType) -> usize {
        let known: Vec<usize> = self.temporaries_of(kind).collect();
        let most = if kind == RegisterType::Scratch { 4 } else { 3 };
        if known.len() < most && (known.is_empty() || self.choices.one_in(3)) {
            return self.new_temporary(kind);
        }
        self.choices.pick(&known).unwrap_or(0)
    }

    /// Returns the temporaries of exactly this kind.
    fn temporaries_of(&self, kind: RegisterType) -> impl Iterator<Item = usize> {
        (0..self.temporaries.len()).filter(move |&position| self.temporaries[position].kind == kind)
    }

    fn array_of(&mut self, kind: RegisterType) -> Option<Array> {
        let fits: Vec<Array> = self.arrays.iter().copied().filter(|array| array.kind == kind).collect();
        self.choices.pick(&fits)
    }

    /// Returns a source to read as `kind` in the channels of `needed`; 64-bit kinds are read in whole pairs.
    pub(super) fn source(&mut self, kind: RegisterType, needed: u8) -> Src {
        let (register, components) = self.readable(kind);
        let swizzle = self.swizzle(kind, components, needed);
        Src::new(register).swizzled(swizzle)
    }

    /// Returns such a source with modifiers, if the kind has any.
    pub(super) fn modified_source(&mut self, kind: RegisterType, needed: u8) -> Src {
        let mut source = self.source(kind, needed);
        match (kind, self.choices.below(8)) {
            (_, way @ 5..) if kind.is_float() => (source.negate, source.absolute) = (way != 6, way != 5),
            (RegisterType::Integer, 7) => source.negate = true,
            _ => {}
        }
        source
    }

    /// Returns a swizzle that reads only components of `components`, in all channels.
    fn swizzle(&mut self, kind: RegisterType, components: u8, needed: u8) -> [u8; 4] {
        let mut swizzle = [0; 4];
        if kind.is_wide() {
            let pairs: Vec<u8> = [0, 2].into_iter().filter(|&pair| components >> pair & 3 == 3).collect();
            for pair in [0usize, 2] {
                let natural = pair as u8;
                let chosen = if pairs.contains(&natural) && self.choices.below(3) < 2 {
                    natural
                } else {
                    self.choices.pick(&pairs).unwrap_or(0)
                };
                (swizzle[pair], swizzle[pair + 1]) = (chosen, chosen + 1);
            }
            return swizzle;
        }
        let all: Vec<u8> = (0..4).filter(|component| components >> component & 1 != 0).collect();
        let natural = self.choices.below(3) == 0;
        for channel in 0..4u8 {
            let own = components >> channel & 1 != 0;
            let chosen = if own && (natural || needed >> channel & 1 == 0) {
                channel
            } else {
                self.choices.pick(&all).unwrap_or(0)
            };
            swizzle[usize::from(channel)] = chosen;
        }
        swizzle
    }

    /// Returns a register that can be read as `kind`, with its components.
    fn readable(&mut self, kind: RegisterType) -> (Register, u8) {
        for _ in 0..3 {
            let found = match self.choices.below(16) {
                0..7 => self.written_temporary(kind),
                7 => self.written_output(kind),
                8 => self.array_element(kind),
                9..11 => self.input(kind),
                11..13 => self.constant(kind),
                13 => self.system_value(kind),
                _ => None,
            };
            if let Some(found) = found {
                return found;
            }
        }
        self.immediate(kind)
    }

    /// Returns a float for an immediate.
    fn float(&mut self) -> f32 {
        let special = self.choices.one_in(4).then(|| self.choices.pick(special::FLOATS)).flatten();
        special.unwrap_or_else(|| self.choices.of(FLOATS))
    }

    /// Returns an integer for an immediate.
    fn integer(&mut self) -> u32 {
        let special = self.choices.one_in(8).then(|| self.choices.pick(special::INTEGERS)).flatten();
        special.unwrap_or_else(|| self.choices.of(INTEGERS))
    }

    fn written_temporary(&mut self, kind: RegisterType) -> Option<(Register, u8)> {
        let fits: Vec<(Register, u8)> = self
            .temporaries
            .iter()
            .zip(&self.state.temporaries)
            .filter(|(temporary, _)| temporary.kind.serves(kind))
            .map(|(temporary, &written)| (temporary.register, usable(written, kind)))
            .filter(|&(_, written)| written != 0)
            .collect();
        self.choices.pick(&fits)
    }

    fn written_output(&mut self, kind: RegisterType) -> Option<(Register, u8)> {
        let mut fits = Vec::new();
        for (position, output) in self.outputs.iter().enumerate() {
            if !output.kind.serves(kind) {
                continue;
            }
            for element in 0..output.array.size {
                let written = self.state.outputs.get(usize::from(output.array.first + element)).copied().unwrap_or(0);
                let written = usable(written, kind);
                if written != 0 {
                    fits.push((position, element, written));
                }
            }
        }
        let (position, element, written) = self.choices.pick(&fits)?;
        Some((self.output_register(position, element), written))
    }

    fn array_element(&mut self, kind: RegisterType) -> Option<(Register, u8)> {
        let fits: Vec<Array> = self.arrays.iter().copied().filter(|array| array.kind.serves(kind)).collect();
        let array = self.choices.pick(&fits)?;
        let indirect = self.choices.one_in(2);
        Some((self.element(array, indirect), 15))
    }

    /// Returns an element of an array, with a run-time index if requested and possible.
    fn element(&mut self, array: Array, indirect: bool) -> Register {
        let size = array.array.size;
        if indirect && let Some((index, bound)) = self.index(size) {
            let offset = self.choices.below(usize::from(size) - usize::from(bound)) as u16;
            let mut register = array.array.at(offset);
            let array_id = if self.choices.one_in(6) { 0 } else { array.array.array_id };
            register.indirect = Some(Indirect { array_id, ..index });
            return register;
        }
        let element = self.choices.below(usize::from(size)) as u16;
        array.array.at(element)
    }

    /// Returns a component of an index register that is below `size`, with its bound.
    pub(super) fn index(&mut self, size: u16) -> Option<(Indirect, u8)> {
        if !self.features.contains(Features::INDIRECT) {
            return None;
        }
        let mut fits = Vec::new();
        for (position, bounds) in self.state.bounds.iter().enumerate() {
            for (component, bound) in bounds.iter().enumerate() {
                if let Some(bound) = bound
                    && u16::from(*bound) < size
                {
                    fits.push((position, component as u8, *bound));
                }
            }
        }
        let (position, component, bound) = self.choices.pick(&fits)?;
        let register = self.indices[position];
        Some((Indirect { file: register.file, index: register.index, component, array_id: 0 }, bound))
    }

    fn input(&mut self, kind: RegisterType) -> Option<(Register, u8)> {
        if matches!(kind, RegisterType::Small | RegisterType::Scratch | RegisterType::Scrap) {
            return None;
        }
        let fits: Vec<_> = self.inputs.iter().copied().filter(|i| usable(i.components, kind) != 0).collect();
        let input = self.choices.pick(&fits)?;
        let size = input.array.size;
        let element = self.choices.below(usize::from(size)) as u16;
        let mut register = input.array.at(element);
        if size > 1
            && self.choices.one_in(2)
            && let Some((index, bound)) = self.index(size)
        {
            let offset = self.choices.below(usize::from(size) - usize::from(bound)) as u16;
            register = input.array.at(offset);
            register.indirect = Some(Indirect { array_id: input.array.array_id, ..index });
        }
        if let Some(vertices) = input.vertices {
            register.dimension = Some(match self.index(vertices) {
                Some((index, bound)) if self.choices.one_in(3) => {
                    let first = self.choices.below(usize::from(vertices) - usize::from(bound));
                    Dimension { index: first as i32, indirect: Some(index) }
                }
                _ => Dimension { index: self.choices.below(usize::from(vertices)) as i32, indirect: None },
            });
        }
        Some((register, usable(input.components, kind)))
    }

    fn constant(&mut self, kind: RegisterType) -> Option<(Register, u8)> {
        if matches!(kind, RegisterType::Small | RegisterType::Scratch | RegisterType::Scrap) {
            return None;
        }
        let buffer = if self.integers { self.choices.below(2) as u16 } else { 0 };
        self.builder.constant_range(buffer, 0, 3);
        let vector = self.choices.below(4) as i32;
        let mut register = Register::new_2d(File::Constant, buffer.into(), vector);
        match self.choices.below(6) {
            4 => {
                if let Some((index, bound)) = self.index(4) {
                    register.index = self.choices.below(4 - usize::from(bound)) as i32;
                    register.indirect = Some(index);
                }
            }
            5 if self.integers => {
                if let Some((index, 0..=1)) = self.index(2) {
                    self.builder.constant_range(0, 0, 3);
                    self.builder.constant_range(1, 0, 3);
                    register.dimension = Some(Dimension { index: 0, indirect: Some(index) });
                }
            }
            _ => {}
        }
        Some((register, 15))
    }

    fn system_value(&mut self, kind: RegisterType) -> Option<(Register, u8)> {
        let fits: Vec<(Register, u8)> = self
            .system_values
            .iter()
            .filter(|value| value.kind.serves(kind))
            .map(|value| (value.register, value.components))
            .collect();
        self.choices.pick(&fits)
    }

    /// Returns an immediate; its position is up to the builder.
    fn immediate(&mut self, kind: RegisterType) -> (Register, u8) {
        let source = match kind {
            RegisterType::Double => {
                let values = [self.choices.of(DOUBLES), self.choices.of(DOUBLES)];
                self.builder.immediate_f64(&values)
            }
            RegisterType::Long => {
                let values = [self.choices.of(LONGS), self.choices.of(LONGS)];
                self.builder.immediate_u64(&values)
            }
            RegisterType::Integer => {
                let values = [self.integer(), self.integer()];
                self.builder.immediate(ImmediateType::Int32, &values)
            }
            RegisterType::Small | RegisterType::Scratch => {
                let values = [self.choices.of(SMALL_FLOATS), self.choices.of(SMALL_FLOATS)];
                self.builder.immediate_f32(&values)
            }
            RegisterType::Finite => {
                let finite = |value: f32| if value.is_finite() { value } else { 1.0 };
                let values = [self.float(), self.float()].map(finite);
                self.builder.immediate_f32(&values)
            }
            RegisterType::Float | RegisterType::Leaf | RegisterType::Scrap => {
                let values = [self.float(), self.float()];
                self.builder.immediate_f32(&values)
            }
        };
        let components = source.swizzle.iter().fold(0, |mask, component| mask | 1 << component);
        (source.register, components)
    }
}
