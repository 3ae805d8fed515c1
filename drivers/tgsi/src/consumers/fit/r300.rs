//! Programs of Radeon 9500 to X1000, as Mesa's compiler below `r300/compiler` translates them from TGSI.
//!
//! That compiler removes code, pairs instructions of three components with those of one, schedules lookups and
//! allocates temporaries. None of that is modelled here, so counts of arithmetic, constants and temporaries are usually
//! too high. Operands that the hardware cannot read are counted:
//!
//! - In fragment programs of R300 an unsupported swizzle is assembled by copies, and the results of lookups are whole
//!   registers. Coordinates are read unswizzled from temporaries and inputs.
//! - In vertex programs an instruction reads one constant and one input: others cost a copy.
//!
//! Fragment programs of R500 have comparisons as conditions only: `IF` and a comparison that has no other use become
//! one instruction (`r500_transform_IF`).

use std::array::from_fn;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use tgsi::Shader;
use tgsi::scan::needed_channels;
use tgsi::shader::{Instruction, Register, Src};
use tgsi::tables::{File, Opcode, Semantic};
use tgsi_diagnostics::Span;

use super::registers::{
    Numbering, RegisterCount, buffer, count_nesting, count_semantics, is_texture_coordinate, number,
};
use super::reused::{count_constants, count_live};
use super::usage::{Resource, Usage};
use crate::consumers::opcodes::is_flow;

/// A hardware generation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Chip {
    /// R300 and R400.
    R300,
    /// R500.
    R500,
}

/// The driver allocates registers itself, so their numbers do not matter.
const RENUMBERED: Numbering = Numbering { temporaries_before: 0, immediates_after: None, is_renumbered: true };

/// Counts the resources that a fragment program would use.
pub(crate) fn count_fragment(shader: &Shader, chip: Chip, usage: &mut Usage) {
    let registers = RegisterCount::new(shader, RENUMBERED);
    let conditions = if chip == Chip::R500 { conditions(shader) } else { HashSet::new() };
    let mut program = Fragment { chip, nodes: Vec::new(), span: Span::default(), usage };
    program.usage.at_least(Resource::Phases, 1, Span::default());
    for (at, instruction) in shader.instructions.iter().enumerate() {
        registers.instruction(instruction, program.usage);
        program.instruction(instruction, conditions.contains(&at));
    }
    // Zero, a half and one are swizzles.
    count_constants(shader, |value| matches!(value.abs(), 0.0 | 0.5 | 1.0), usage);
    count_live(shader, true, usage);
    registers.declarations(shader, usage);
    count_nesting(shader, usage);
    count_semantics(shader, File::Input, Resource::Interpolators, is_texture_coordinate, usage);
    count_semantics(shader, File::Output, Resource::Colors, |semantic| semantic == Semantic::Color, usage);
}

/// Comparisons with an `IF` as their only use and no control flow in between, and these `IF`s.
fn conditions(shader: &Shader) -> HashSet<usize> {
    /// A component of a temporary written by a comparison.
    struct ComparisonResult {
        comparison: usize,
        flows: usize,
        reads: u32,
        condition: Option<usize>,
    }
    let mut found = HashSet::new();
    let mut finish = |truth: ComparisonResult| {
        if let (1, Some(condition)) = (truth.reads, truth.condition) {
            found.extend([truth.comparison, condition]);
        }
    };
    let mut truths: HashMap<(u32, u8), ComparisonResult> = HashMap::new();
    let mut flows = 0;
    for (at, instruction) in shader.instructions.iter().enumerate() {
        for (index, src) in instruction.src.iter().enumerate().filter(|(_, s)| s.register.file == File::Temporary) {
            let needed = needed_channels(instruction, index);
            let mut components: Vec<u8> = (0..4u8).filter(|c| needed & 1 << c != 0).collect();
            components.iter_mut().for_each(|c| *c = src.swizzle.get(usize::from(*c)).copied().unwrap_or(0));
            components.dedup();
            for component in components {
                if let Some(truth) = truths.get_mut(&(number(&src.register), component)) {
                    truth.reads += 1;
                    let is_next = instruction.opcode == Opcode::If && truth.flows == flows;
                    truth.condition = is_next.then_some(at);
                }
            }
        }
        flows += usize::from(is_flow(instruction.opcode));
        for dst in instruction.dst.iter().filter(|dst| dst.register.file == File::Temporary) {
            let register = number(&dst.register);
            for component in (0..4u8).filter(|c| dst.write_mask & 1 << c != 0) {
                truths.remove(&(register, component)).into_iter().for_each(&mut finish);
            }
            let is_comparison = matches!(instruction.opcode, Opcode::Seq | Opcode::Sne | Opcode::Sge | Opcode::Slt);
            if is_comparison && dst.write_mask.is_power_of_two() {
                let truth = ComparisonResult { comparison: at, flows, reads: 0, condition: None };
                truths.insert((register, dst.write_mask.trailing_zeros() as u8), truth);
            }
        }
    }
    truths.into_values().for_each(finish);
    found
}

/// The state of a fragment program.
struct Fragment<'u> {
    chip: Chip,
    /// By temporary: the node, from 0, in which its value is defined. A lookup with that coordinate is in the next node
    /// at the earliest.
    nodes: Vec<u32>,
    span: Span,
    usage: &'u mut Usage,
}

impl Fragment<'_> {
    fn instruction(&mut self, instruction: &Instruction, is_condition: bool) {
        use Opcode::*;
        self.span = instruction.span;
        let has_indirect = instruction.registers().any(Register::is_indirect);
        if has_indirect {
            self.usage.not_taken(self.span, "registers that are addressed indirectly");
        }
        let is_r500 = self.chip == Chip::R500;
        match instruction.opcode {
            Nop | End => {}
            Mov | Add | Mul | Mad | Min | Max | Cmp | Dp2 | Dp3 | Dp4 | Frc | Ex2 | Lg2 | Rcp | Rsq | Ddx | Ddy => {
                self.arithmetic(instruction);
            }
            Sin | Cos if is_r500 => self.arithmetic(instruction),
            Seq | Sne | Sge | Slt if is_condition => self.arithmetic(instruction),
            Tex | Txb | Txp => self.texture(instruction),
            Txl | Txd if is_r500 => self.texture(instruction),
            KillIf => self.texture(instruction),
            // It kills by a coordinate in a temporary.
            Kill => {
                self.copies(1);
                self.lookup(1);
            }
            If | Else | Endif | Bgnloop | Endloop | Brk | Cont if is_r500 => {
                // A condition is copied to the operand of IF, unless its producer can write there.
                let copy = u32::from(instruction.opcode == If && !is_condition);
                self.usage.add(Resource::Instructions, 1 + copy, self.span);
            }
            other => self.usage.not_taken(self.span, other.name()),
        }
    }

    fn copies(&mut self, count: u32) {
        self.usage.add(Resource::Alu, count, self.span);
        self.usage.add(Resource::Instructions, count, self.span);
    }

    fn arithmetic(&mut self, instruction: &Instruction) {
        let sources = instruction.src.iter().enumerate();
        let copies = |(index, src): (usize, &Src)| match self.chip {
            Chip::R300 => copies_of_swizzle(src, needed_channels(instruction, index)),
            Chip::R500 => 0,
        };
        let copies: u32 = sources.map(copies).sum();
        self.copies(1 + copies);
        let node = instruction.src.iter().map(|src| self.node_of(src)).max().unwrap_or(0);
        self.written(instruction, node);
    }

    fn texture(&mut self, instruction: &Instruction) {
        let Some(coordinate) = instruction.src.first() else { return };
        let read = needed_channels(instruction, 0);
        let is_register = matches!(coordinate.register.file, File::Temporary | File::Input);
        let is_swizzled = self.chip == Chip::R300 && !is_in_place(coordinate, read);
        let is_copied = !is_register || coordinate.negate || coordinate.absolute || is_swizzled;
        self.copies(u32::from(is_copied));
        // Inputs are available from the start.
        let is_first = coordinate.register.file == File::Input && !is_copied;
        let node = if is_first { 0 } else { self.node_of(coordinate) + 1 };
        self.lookup(node);
        let Some(dst) = instruction.dst.first() else { return };
        let is_partial = self.chip == Chip::R300 && dst.write_mask != 0xf;
        self.copies(u32::from(is_partial || dst.register.file == File::Output || instruction.saturate));
        self.written(instruction, node);
    }

    fn lookup(&mut self, node: u32) {
        self.usage.at_least(Resource::Phases, node.saturating_add(1), self.span);
        self.usage.add(Resource::Tex, 1, self.span);
        self.usage.add(Resource::Instructions, 1, self.span);
    }

    fn node_of(&self, src: &Src) -> u32 {
        let is_temporary = src.register.file == File::Temporary;
        let node = is_temporary.then(|| self.nodes.get(number(&src.register) as usize)).flatten();
        node.copied().unwrap_or(0)
    }

    fn written(&mut self, instruction: &Instruction, node: u32) {
        let Some(dst) = instruction.dst.first().filter(|dst| dst.register.file == File::Temporary) else { return };
        let index = number(&dst.register) as usize;
        if index >= self.nodes.len() {
            self.nodes.resize(index + 1, 0);
        }
        if let Some(slot) = self.nodes.get_mut(index) {
            *slot = if dst.write_mask == 0xf { node } else { node.max(*slot) };
        }
    }
}

pub(crate) fn is_in_place(src: &Src, read: u8) -> bool {
    src.swizzle.iter().zip(0u8..).all(|(&swizzle, channel)| read & 1 << channel == 0 || swizzle == channel)
}

/// The swizzles of x, y and z that R300 supports.
const SWIZZLES: [[u8; 3]; 8] = [[0, 1, 2], [0, 0, 0], [1, 1, 1], [2, 2, 2], [3, 3, 3], [1, 2, 0], [2, 0, 1], [3, 2, 1]];

/// The copies that assemble a swizzle: none if the hardware supports it, else one for each supported part.
pub(crate) fn copies_of_swizzle(src: &Src, read: u8) -> u32 {
    copies_of_components(src.swizzle, read)
}

/// The same for the source components of x, y, z and w.
pub(crate) fn copies_of_components(swizzle: [u8; 4], read: u8) -> u32 {
    static COPIES: LazyLock<[[u8; 8]; 64]> = LazyLock::new(|| {
        from_fn(|word| from_fn(|read| count_copies([word & 3, word >> 2 & 3, word >> 4].map(|c| c as u8), read as u8)))
    });
    let word = swizzle.iter().take(3).rev().fold(0, |word, &c| word << 2 | usize::from(c & 3));
    u32::from(COPIES[word][usize::from(read & 0b111)])
}

fn count_copies(components: [u8; 3], read: u8) -> u8 {
    let mut missing = read;
    let matched = |swizzle: &[u8; 3], missing: u8| {
        let channels = swizzle.iter().zip(&components).zip(0u8..);
        channels.fold(0u8, |mask, ((has, wants), channel)| mask | (u8::from(has == wants) << channel)) & missing
    };
    let mut parts = 0;
    while missing != 0 {
        let best = SWIZZLES.iter().map(|swizzle| matched(swizzle, missing)).max_by_key(|mask| mask.count_ones());
        let best = best.filter(|&mask| mask != 0).unwrap_or(missing);
        missing &= !best;
        parts += 1;
    }
    if parts > 1 { parts } else { 0 }
}

/// Counts the resources that a vertex program would use.
pub(crate) fn count_vertex(shader: &Shader, chip: Chip, usage: &mut Usage) {
    let registers = RegisterCount::new(shader, RENUMBERED);
    for instruction in &shader.instructions {
        registers.instruction(instruction, usage);
        vertex_instruction(instruction, chip, usage);
    }
    count_constants(shader, |value| matches!(value.abs(), 0.0 | 1.0), usage);
    count_live(shader, false, usage);
    registers.declarations(shader, usage);
    count_semantics(shader, File::Output, Resource::Interpolators, is_texture_coordinate, usage);
}

fn vertex_instruction(instruction: &Instruction, chip: Chip, usage: &mut Usage) {
    use Opcode::*;
    let is_r500 = chip == Chip::R500;
    let span = instruction.span;
    if instruction.dst.iter().any(|dst| dst.register.is_indirect()) {
        usage.not_taken(span, "destinations that are addressed indirectly");
    }
    let is_address = |register: &tgsi::shader::Indirect| register.component != 0 || register.index != 0;
    if instruction.registers().filter_map(|register| register.indirect.as_ref()).any(is_address) {
        usage.not_taken(span, "address registers other than ADDR[0].x");
    }
    if instruction.saturate && !is_r500 {
        usage.not_taken(span, "_SAT");
    }
    let count = match instruction.opcode {
        Nop | End => 0,
        Mov | Add | Mul | Mad | Min | Max | Dp2 | Dp3 | Dp4 | Dst | Frc | Ex2 | Exp | Lg2 | Log | Pow | Rcp | Rsq
        | Sge | Slt | Sin | Cos | Arl | Arr => 1,
        Seq | Sne if is_r500 => 1,
        Seq | Sne => 3,
        Cmp if is_r500 && reads_three_temporaries(instruction) => {
            usage.not_taken(span, "CMP of three temporaries");
            return;
        }
        Cmp if is_r500 => 1,
        Lit => 3,
        If | Else | Endif | Endloop | Brk if is_r500 => 1,
        Bgnloop if is_r500 => 2,
        other => {
            usage.not_taken(span, other.name());
            return;
        }
    };
    let copies = if count == 0 { 0 } else { copies_of_conflicts(instruction) };
    usage.add(Resource::Instructions, count + copies, span);
}

/// Whether the operands are three different temporaries.
fn reads_three_temporaries(instruction: &Instruction) -> bool {
    let temporaries = instruction.src.iter().filter(|src| src.register.file == File::Temporary);
    let mut numbers: Vec<u32> = temporaries.map(|src| number(&src.register)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.len() > 2
}

/// The copies needed because of several constants, or several inputs.
fn copies_of_conflicts(instruction: &Instruction) -> u32 {
    let class = |src: &Src| match src.register.file {
        File::Constant | File::Immediate => Some(File::Constant),
        File::Input => Some(File::Input),
        _ => None,
    };
    let conflict = |a: usize, b: usize| {
        let (Some(a), Some(b)) = (instruction.src.get(a), instruction.src.get(b)) else { return false };
        let is_same = a.register.file == b.register.file
            && number(&a.register) == number(&b.register)
            && buffer(&a.register) == buffer(&b.register)
            && a.register.indirect.is_none()
            && b.register.indirect.is_none();
        class(a).is_some() && class(a) == class(b) && !is_same
    };
    u32::from(conflict(1, 2) || conflict(0, 2)) + u32::from(conflict(1, 0))
}
