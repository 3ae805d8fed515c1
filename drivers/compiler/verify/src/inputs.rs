//! Generates deterministic inputs of several kinds for any shader.

use std::collections::BTreeMap;

use tgsi::Shader;
use tgsi::tables::{File, Primitive, Processor, PropertyName, Semantic};
use tgsi_compiler::{InterfaceIntegers, is_integer};
use tgsi_environment::Random;
use tgsi_environment::special;
use tgsi_environment::{Inputs, LaneRegisters, MAX_LANES, SystemValue};

/// Kinds of values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InputKind {
    /// Floats in [-2, 2].
    Floats,
    /// Small integers, the last indices of constants, inputs and arrays of usual sizes, and the ones beyond them.
    Integers,
    /// The same integers as floats.
    IntegralFloats,
    /// A mixture of the above.
    Mixture,
    /// Zeros of both signs, infinities, denormals, extremes. The only NaNs are the integers -1 and `0x7fffffff`: the
    /// sign and payload of an operation on two NaNs are undefined, and a shader may inspect the bits.
    Special,
    /// Finite floats for which expansions of instructions are most likely to be wrong ([`special::FLOATS`]), and
    /// numbers with integral quotients.
    Edges,
}

impl InputKind {
    const ALL: [InputKind; 6] = [
        InputKind::Floats,
        InputKind::Integers,
        InputKind::IntegralFloats,
        InputKind::Mixture,
        InputKind::Special,
        InputKind::Edges,
    ];

    /// Returns the kind of the inputs with a given number.
    pub fn of_seed(seed: u64) -> InputKind {
        Self::ALL[(seed % Self::ALL.len() as u64) as usize]
    }
}

/// Words that are special as floats, as integers, or as both.
const SPECIAL: [u32; 16] = [
    0x0000_0000,
    0x8000_0000,
    0x7f80_0000,
    0xff80_0000,
    0x3f00_0000,
    0x0000_0001,
    0x8000_0001,
    0x007f_ffff,
    0x0080_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x3f80_0000,
    0xbf80_0000,
    0x4f00_0000,
    0xffff_ffff,
    0x7fff_ffff,
];

/// Last indices of arrays of usual sizes, and the ones after them. Smaller arrays are covered by small indices.
const USUAL_ENDS: [i32; 7] = [8, 15, 16, 31, 32, 63, 64];

/// Lanes of a run with [`InputKind::Edges`], so that one or two runs cover all of them.
const EDGE_LANES: usize = 16;

/// A generator of words.
struct Words {
    random: Random,
    /// Last indices of arrays and ranges, and the ones after them.
    ends: Vec<i32>,
    /// A number; some inputs are multiples of it.
    divisor: u32,
    /// The finite numbers of [`special::FLOATS`], except denormals.
    edges: Vec<f32>,
    next_edge: usize,
}

impl Words {
    fn new(shader: &Shader, seed: u64) -> Words {
        let mut random = Random::new(seed.wrapping_mul(0x5851_f42d_4c95_7f2d) ^ 0x1234_5678);
        let divisor = 2 + (random.bits() >> 8) as u32 % 1000;
        let edges: Vec<f32> = special::FLOATS.iter().copied().filter(|f| *f == 0.0 || f.is_normal()).collect();
        let next_edge = (random.bits() >> 8) as usize % edges.len();
        // Uses only facts that the IR of a shader has too, so that both get the same inputs.
        let mut last: BTreeMap<(File, Option<u16>), i32> = BTreeMap::new();
        for d in shader.declarations.iter().filter(|d| matches!(d.file, File::Constant | File::Input)) {
            let buffer = d.dimension.filter(|_| d.file == File::Constant);
            let last = last.entry((d.file, buffer)).or_insert(0);
            *last = (*last).max(d.last.into());
        }
        let mut ends: Vec<i32> = last.into_values().flat_map(|last| [last, last + 1]).chain(USUAL_ENDS).collect();
        ends.sort_unstable();
        ends.dedup();
        Words { random, ends, divisor, edges, next_edge }
    }

    /// Returns a small integer, or the end of an array.
    fn index(&mut self, bits: u64) -> i32 {
        let at = (bits >> 32) as usize;
        match self.ends.get(at / 4 % self.ends.len().max(1)) {
            Some(&end) if at.is_multiple_of(4) => end,
            _ => (bits >> 8) as i32 % 9 - 1,
        }
    }

    fn word(&mut self, kind: InputKind) -> u32 {
        let bits = self.random.bits();
        let pick = (bits >> 8) as usize;
        match kind {
            InputKind::Floats => (((bits >> 16) as u32 as f64 / f64::from(u32::MAX)) * 4.0 - 2.0) as f32,
            InputKind::Integers => return self.index(bits) as u32,
            InputKind::IntegralFloats => self.index(bits) as f32,
            InputKind::Special => return SPECIAL[pick % SPECIAL.len()],
            InputKind::Edges if !pick.is_multiple_of(4) => {
                self.next_edge += 1;
                self.edges[self.next_edge % self.edges.len()]
            }
            // Equal numbers, multiples, and their neighbours.
            InputKind::Edges => {
                let multiple = (self.divisor * [1, 1, 1, 2, 3, 7][pick / 4 % 6]) as f32;
                [multiple, multiple, -multiple, multiple - 1.0][pick / 32 % 4]
            }
            InputKind::Mixture => {
                return self.word(
                    [InputKind::Floats, InputKind::Integers, InputKind::IntegralFloats][(bits >> 40) as usize % 3],
                );
            }
        }
        .to_bits()
    }
}

/// Replaces words that are NaN as floats by numbers near 2 of the same sign. System values are not floats and stay
/// unchanged.
pub fn without_nan(inputs: &mut Inputs) {
    for_each_word(inputs, |word| {
        if f32::from_bits(*word).is_nan() {
            *word &= !0x4000_0000;
        }
    });
}

/// Limits inputs to values that a target without integers can represent. System values that are not floats stay
/// unchanged.
///
/// Integers that the shader reads become small and not negative: floats represent these, and unsigned operations on
/// them give the same results. Other integers become floats, and words that are not ordinary floats become numbers
/// between 1 and 2: such hardware has no denormals, and the expansions of comparisons and roundings do not keep
/// infinities and NaN.
pub fn without_integers(inputs: &mut Inputs, integers: &InterfaceIntegers) {
    let limit = |word: &mut u32| {
        let integer = *word as i32;
        let float = f32::from_bits(*word);
        if integer.unsigned_abs() < 1 << 16 {
            *word = (integer as f32).to_bits();
        } else if float != 0.0 && !float.is_normal() {
            *word = *word & 0x8000_0000 | 0x3f80_0000 | (*word & 0xff) << 15;
        }
    };
    for_each_word(inputs, limit);
    let values = inputs.system_values.iter_mut().filter(|(value, _)| value.bit_size() == 32 && !is_integer(**value));
    values.flat_map(|(_, columns)| columns).flatten().for_each(limit);
    // Small enough for products of two integers.
    integers.map_inputs(inputs, |word| {
        let integer = f32::from_bits(word).abs() as u32;
        if integer < 1 << 12 { integer } else { integer % 64 }
    });
}

/// Passes all words that are not system values to `change`.
fn for_each_word(inputs: &mut Inputs, change: impl Fn(&mut u32)) {
    for register in 0..inputs.inputs.len() {
        for component in 0..4 {
            inputs.inputs.component_mut(register, component).iter_mut().for_each(&change);
        }
    }
    inputs.vertices.iter_mut().flatten().flatten().for_each(&change);
    inputs.constants.iter_mut().flatten().for_each(&change);
    for bytes in inputs.buffers.iter_mut().flat_map(|buffer| buffer.chunks_exact_mut(4)) {
        let mut word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        change(&mut word);
        bytes.copy_from_slice(&word.to_le_bytes());
    }
}

/// Returns input set number `seed` for a shader.
pub fn make_inputs(shader: &Shader, seed: u64) -> Inputs {
    let kind = InputKind::of_seed(seed);
    let mut random = Words::new(shader, seed);
    let property = |name, default| shader.property(name).unwrap_or(default);
    let block = [
        property(PropertyName::CsFixedBlockWidth, 0),
        property(PropertyName::CsFixedBlockHeight, 1).max(1),
        property(PropertyName::CsFixedBlockDepth, 1).max(1),
    ];
    let block_size = block.iter().fold(1u64, |n, &b| n.saturating_mul(u64::from(b)));
    let block = if block_size == 0 || block_size > 64 { [4, 1, 1] } else { block };
    let memory = [File::Buffer, File::Image, File::Memory, File::HwAtomic];
    let has_memory = shader.declarations.iter().any(|declaration| memory.contains(&declaration.file));
    let lanes = match shader.processor {
        Processor::Geometry => 1,
        Processor::TessControl => (property(PropertyName::TcsVerticesOut, 4) as usize).clamp(1, 32),
        Processor::Compute => (block[0] * block[1] * block[2]) as usize,
        // Devices run more than four lanes in any order, which shows in memory.
        _ if kind == InputKind::Edges && !has_memory => EDGE_LANES,
        _ => 4,
    }
    .min(MAX_LANES);
    let mut inputs = Inputs { lanes, inputs: LaneRegisters::new(lanes, 0), ..Inputs::default() };
    let vertices = match shader.processor {
        Processor::Geometry => {
            let primitive = Primitive::from_value(property(PropertyName::GsInputPrimitive, 4));
            usize::from(primitive.unwrap_or(Primitive::Triangles).input_vertices())
        }
        Processor::TessControl | Processor::TessEval => 32,
        _ => 0,
    };
    let registers = |file| shader.declarations.iter().filter(move |d| d.file == file);
    let input_count = registers(File::Input).map(|d| usize::from(d.last) + 1).max().unwrap_or(0);
    inputs.vertices =
        (0..vertices).map(|_| (0..input_count).map(|_| std::array::from_fn(|_| random.word(kind))).collect()).collect();
    for declaration in registers(File::Input) {
        let semantic = declaration.semantic.map(|s| s.name);
        let patch = shader.processor == Processor::TessEval && semantic.is_some_and(Semantic::is_patch);
        for register in declaration.first..=declaration.last {
            for component in 0..4 {
                let mut word = random.word(kind);
                for lane in 0..lanes {
                    if !patch && lane > 0 {
                        word = random.word(kind);
                    }
                    // An input read without a vertex index is that of the first vertex.
                    if !patch && let Some(first) = inputs.vertices.first() {
                        word = first.get(usize::from(register)).map_or(0, |words| words[component]);
                    }
                    if semantic == Some(Semantic::Face) {
                        let front = if seed.is_multiple_of(2) { 1f32 } else { -1f32 };
                        word = if component == 0 { front.to_bits() } else { 0 };
                    }
                    inputs.inputs.set(usize::from(register), component, lane, word);
                }
            }
        }
    }
    // A shader may read the system value or `READ_HELPER`; both give the same answer.
    let asks = registers(File::SystemValue).any(|d| d.semantic.is_some_and(|s| s.name == Semantic::HelperInvocation));
    inputs.helpers = (0..lanes).map(|lane| asks && is_helper(lane as u32)).collect();
    for declaration in registers(File::SystemValue) {
        let Some(semantic) = declaration.semantic else { continue };
        let Some(value) = semantic.name.system_value() else { continue };
        let words = (0..4)
            .take(usize::from(value.num_components()) * usize::from(value.bit_size()).div_ceil(32))
            .map(|component| {
                (0..lanes).map(|lane| system_value(semantic.name, component, lane, block, kind, &mut random)).collect()
            })
            .collect();
        inputs.system_values.insert(value, words);
    }
    // Helpers cover no samples, other invocations at least one.
    if let Some(lanes) = inputs.system_values.get_mut(&SystemValue::SampleMaskIn).and_then(|words| words.first_mut()) {
        for (word, is_helper) in lanes.iter_mut().zip(&inputs.helpers) {
            *word = if *is_helper { 0 } else { (*word).max(1) };
        }
    }
    let buffers = registers(File::Constant)
        .chain(registers(File::ConstantBuffer))
        .map(|d| match d.file {
            File::Constant => (usize::from(d.dimension.unwrap_or(0)), usize::from(d.last) + 1),
            _ => (usize::from(d.last), 64),
        })
        .fold(Vec::<usize>::new(), |mut sizes, (buffer, size)| {
            if sizes.len() <= buffer {
                sizes.resize(buffer + 1, 0);
            }
            sizes[buffer] = sizes[buffer].max(size);
            sizes
        });
    inputs.constants = buffers.iter().map(|&size| (0..size * 4).map(|_| random.word(kind)).collect()).collect();
    let buffer_count = registers(File::Buffer).map(|d| usize::from(d.last) + 1).max().unwrap_or(0);
    // With small integers, most indices loaded from a buffer are in bounds.
    inputs.buffers =
        (0..buffer_count).map(|_| (0..256).flat_map(|_| random.word(kind).to_le_bytes()).collect()).collect();
    for declaration in registers(File::HwAtomic) {
        let buffer = usize::from(declaration.dimension.unwrap_or(0));
        if inputs.counters.len() <= buffer {
            inputs.counters.resize(buffer + 1, Vec::new());
        }
        let needed = usize::from(declaration.last) + 1;
        while inputs.counters[buffer].len() < needed {
            inputs.counters[buffer].push(random.word(InputKind::Integers));
        }
    }
    inputs.shared_size = 4096;
    inputs.framebuffer = LaneRegisters::new(lanes, 8);
    for register in 0..8 {
        for component in 0..4 {
            for lane in 0..lanes {
                inputs.framebuffer.set(register, component, lane, random.word(InputKind::Floats));
            }
        }
    }
    inputs
}

/// Returns whether a lane is a helper, in shaders that read this.
fn is_helper(lane: u32) -> bool {
    lane & 1 != 0
}

/// Returns a plausible word for a system value.
fn system_value(
    semantic: Semantic,
    component: usize,
    lane: usize,
    block: [u32; 3],
    kind: InputKind,
    random: &mut Words,
) -> u32 {
    let lane = lane as u32;
    let position = [lane % block[0], lane / block[0] % block[1], lane / block[0] / block[1]];
    match semantic {
        Semantic::ThreadId => position.get(component).copied().unwrap_or(0),
        Semantic::BlockSize => block.get(component).copied().unwrap_or(0),
        Semantic::GridSize => [4, 2, 2].get(component).copied().unwrap_or(0),
        Semantic::BlockId => [1, 1, 0].get(component).copied().unwrap_or(0),
        Semantic::InvocationId | Semantic::SubgroupInvocation if component == 0 => {
            if semantic == Semantic::InvocationId { lane } else { lane % 4 }
        }
        Semantic::SubgroupSize if component == 0 => 4,
        Semantic::SubgroupEqMask if component == 0 => 1 << (lane % 4),
        Semantic::SubgroupGeMask if component == 0 => 0xf << (lane % 4) & 0xf,
        Semantic::SubgroupGtMask if component == 0 => 0xe << (lane % 4) & 0xf,
        Semantic::SubgroupLeMask if component == 0 => (2 << (lane % 4)) - 1,
        Semantic::SubgroupLtMask if component == 0 => (1 << (lane % 4)) - 1,
        Semantic::SubgroupEqMask
        | Semantic::SubgroupGeMask
        | Semantic::SubgroupGtMask
        | Semantic::SubgroupLeMask
        | Semantic::SubgroupLtMask => 0,
        Semantic::Face => 0u32.wrapping_sub(lane & 1),
        Semantic::HelperInvocation => 0u32.wrapping_sub(is_helper(lane).into()),
        Semantic::VerticesIn if component == 0 => 4,
        Semantic::Position | Semantic::SamplePosition | Semantic::TessCoord | Semantic::PointCoord => {
            let is_special = matches!(kind, InputKind::Special | InputKind::Edges);
            random.word(if is_special { kind } else { InputKind::Floats })
        }
        Semantic::TessOuter | Semantic::TessInner => random.word(InputKind::Floats),
        _ => (random.random.bits() >> 16) as u32 % 7,
    }
}
