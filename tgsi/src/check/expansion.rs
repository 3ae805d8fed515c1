//! Rules about the size of a shader after translation: calls of subroutines that are not kept are inlined, outputs are
//! stored at several points, values are merged after blocks, and an indirect access to several variables selects among
//! all of them. Each of these is a product of two counts that a text can make large, and the code of a subroutine
//! counts once per call.
//!
//! Considers only shaders with well-nested blocks; no other is converted.

use super::declared::described_file;
use super::{Findings, Rule};
use crate::call_graph::{CallGraph, Inlining, InliningThresholds};
use crate::shader::{Declaration, Instruction, Register, Shader};
use crate::structure::Structure;
use crate::tables::{File, Opcode, Processor};
use tgsi_diagnostics::Focus;

/// Applies the rules.
pub(super) fn check(shader: &Shader, structure: &Structure, findings: &mut Findings) {
    let parts = ShaderParts::new(shader, structure, findings.keep);
    calls(&parts, findings);
    stores(&parts, findings);
    reached(&parts, findings);
    merges(&parts, findings);
}

/// A shader divided into its subroutines, followed by the main program.
struct ShaderParts<'a> {
    shader: &'a Shader,
    structure: &'a Structure,
    /// The call graph and the calls to inline, or none if there are no calls.
    graph: Option<(CallGraph, Inlining)>,
}

impl<'a> ShaderParts<'a> {
    fn new(shader: &'a Shader, structure: &'a Structure, keep: Option<InliningThresholds>) -> ShaderParts<'a> {
        let graph = CallGraph::new(shader, structure).map(|graph| {
            let inlining = graph.inlining(&structure.sizes(), keep);
            (graph, inlining)
        });
        ShaderParts { shader, structure, graph }
    }

    fn main(&self) -> usize {
        self.structure.subroutines.len()
    }

    /// Returns the instructions with their numbers and parts. Omits those after END outside of subroutines.
    fn instructions(&self) -> impl Iterator<Item = (u32, &'a Instruction, usize)> + '_ {
        let mut next = 0;
        (0..).zip(&self.shader.instructions).map(move |(number, instruction)| {
            let subroutines = &self.structure.subroutines;
            next += usize::from(subroutines.get(next).is_some_and(|&(_, end)| number > end));
            let inside = subroutines.get(next).is_some_and(|&(begin, _)| number >= begin);
            (number, instruction, if inside { next } else { self.main() })
        })
    }

    /// Sums a size after inlining, or before if that is larger: subroutines that are never called are converted as
    /// well.
    fn total(&self, of_parts: Vec<u64>) -> u64 {
        let written = of_parts.iter().fold(0, |sum: u64, part| sum.saturating_add(*part));
        self.graph.as_ref().map_or(0, |(graph, inlining)| graph.inlined_size(of_parts, &inlining.stays)).max(written)
    }

    /// Returns the sum over the instructions of each part.
    fn sums(&self, of: impl Fn(&Instruction, bool) -> u64) -> Vec<u64> {
        let mut sums = vec![0u64; self.main() + 1];
        for (_, instruction, part) in self.instructions() {
            sums[part] = sums[part].saturating_add(of(instruction, part == self.main()));
        }
        sums
    }
}

/// Limits the amount of copied code and the nesting depth after inlining. The graph is acyclic, because recursion is an
/// error of the structure.
fn calls(parts: &ShaderParts<'_>, findings: &mut Findings) {
    let Some((graph, inlining)) = &parts.graph else { return };
    let shader = parts.shader;
    let first = graph.first_call().and_then(|call| shader.instructions.get(call as usize));
    let position = (first.map(|call| call.span).unwrap_or_default(), Focus::Mnemonic);
    let (copied, limit, keep) = (inlining.copied, findings.limits.expansion, findings.keep);
    if copied > limit {
        findings.report(Rule::CallsTooMany, position, || {
            let without = if keep.is_none() { "without subroutines " } else { "" };
            format!("{without}{copied} instructions would be copied to inline calls; {limit} is the limit")
        });
    }
    let limit = findings.limits.nesting;
    // The nesting is already too deep without any call.
    if u64::from(parts.structure.max_depth) > limit {
        return;
    }
    let mut depth = 0u64;
    let mut depths = vec![0u64; shader.instructions.len()];
    let mut deepest = vec![0u64; parts.main() + 1];
    for (number, instruction, part) in parts.instructions() {
        match instruction.opcode {
            Opcode::If | Opcode::Uif | Opcode::Bgnloop | Opcode::Switch => depth += 1,
            Opcode::Endif | Opcode::Endloop | Opcode::Endswitch => depth = depth.saturating_sub(1),
            _ => {}
        }
        depths[number as usize] = depth;
        deepest[part] = deepest[part].max(depth);
    }
    let deepest = graph.inlined_depth(deepest, &inlining.stays, |call| depths.get(call as usize).copied().unwrap_or(0));
    if deepest > limit {
        findings.report(Rule::NestingTooDeep, position, || {
            format!("with all calls inlined, blocks are nested {deepest} deep; {limit} is the limit")
        });
    }
}

/// Limits the number of output stores: at the end, at every EMIT, and before every RET of the main program.
/// Tessellation control shaders store outputs immediately.
fn stores(parts: &ShaderParts<'_>, findings: &mut Findings) {
    let shader = parts.shader;
    if shader.processor == Processor::TessControl {
        return;
    }
    let limit = findings.limits.expansion;
    let outputs = shader.declarations.iter().filter(|d| d.file == File::Output && d.first <= d.last);
    let outputs = outputs.fold(0u64, |sum, d| sum.saturating_add(u64::from(d.last - d.first) + 1));
    // Almost all shaders have few outputs or few instructions.
    if parts.graph.is_none() && outputs.saturating_mul(shader.instructions.len() as u64 + 1) <= limit {
        return;
    }
    let ends = parts.sums(|i, in_main| u64::from(i.opcode == Opcode::Emit || (in_main && i.opcode == Opcode::Ret)));
    // One for the end of the shader.
    let ends = parts.total(ends).saturating_add(1);
    if outputs.saturating_mul(ends) > limit {
        let most = limit.checked_div(outputs).unwrap_or(u64::MAX);
        let position =
            shader.declarations.iter().filter(|d| d.file == File::Output).max_by_key(|d| d.last - d.first.min(d.last));
        findings.report(Rule::TooManyStores, (position.map(|d| d.span).unwrap_or_default(), Focus::Register), || {
            format!("{outputs} outputs are stored more than {most} times; {limit} stores are the limit")
        });
    }
}

/// Limits the number of variables that indirect accesses select from: inputs, outputs of tessellation control shaders
/// and system values are variables, and an access selects one of all that the index may address. If their declarations
/// can form one array, the access is to that array.
fn reached(parts: &ShaderParts<'_>, findings: &mut Findings) {
    let shader = parts.shader;
    let mut files: [IndexableRegisters; 3] = Default::default();
    for (position, reach) in files.iter_mut().enumerate() {
        if let Some(file) = FILES.get(position) {
            *reach = IndexableRegisters::new(shader, *file);
        }
    }
    let limit = findings.limits.expansion;
    let most = files.iter().map(|reach| reach.span).max().unwrap_or(0);
    // An instruction has at most seven operands.
    if parts.graph.is_none() && most.saturating_mul(8 * CHOICE * shader.instructions.len() as u64) <= limit {
        return;
    }
    let of_instruction = |i: &Instruction| {
        let interpolates = matches!(i.opcode, Opcode::InterpCentroid | Opcode::InterpSample | Opcode::InterpOffset);
        i.registers().fold(0u64, |sum, register| {
            let reach = FILES.iter().position(|file| *file == register.file).and_then(|position| files.get(position));
            sum.saturating_add(reach.map_or(0, |reach| reach.of(shader, register, interpolates)))
        })
    };
    let total = parts.total(parts.sums(|i, _| of_instruction(i).saturating_mul(CHOICE)));
    if total > limit
        && let Some(worst) = shader.instructions.iter().max_by_key(|i| of_instruction(i))
    {
        findings.report(Rule::TooManyReached, (worst.span, Focus::Whole), || {
            format!("indices like this, which may address many registers, would expand to {total} instructions; {limit} is the limit")
        });
    }
}

/// Files with registers that become variables, among which an indirect access selects.
const FILES: [File; 3] = [File::Input, File::Output, File::SystemValue];

/// Instructions for each candidate register: a read, a comparison, a selection, constants.
const CHOICE: u64 = 4;

/// The registers of a file that an index may address.
#[derive(Default)]
struct IndexableRegisters {
    /// Number of registers from the first to the last.
    span: u64,
    /// Whether no register has several declarations.
    disjoint: bool,
    /// Whether the declarations have no gaps, so that the whole file can be accessed as one.
    whole: bool,
    /// Whether there is only one declaration.
    single: bool,
}

impl IndexableRegisters {
    fn new(shader: &Shader, file: File) -> IndexableRegisters {
        // Except where they are stored immediately, outputs have a copy, which is one array.
        if file == File::Output && shader.processor != Processor::TessControl {
            return IndexableRegisters::default();
        }
        let declared = shader.declarations.iter().filter(|d| d.file == file && d.first <= d.last);
        let mut ranges: Vec<(u64, u64)> = declared.map(|d| (u64::from(d.first), u64::from(d.last))).collect();
        ranges.sort_unstable();
        let (Some(&(first, _)), Some(last)) = (ranges.first(), ranges.iter().map(|range| range.1).max()) else {
            return IndexableRegisters::default();
        };
        let single = ranges.len() == 1 && described_file(file).is_some();
        let mut end = first;
        let (mut disjoint, mut whole) = (true, described_file(file).is_some());
        for (first, last) in ranges {
            disjoint &= first >= end;
            whole &= first <= end;
            end = end.max(last + 1);
        }
        IndexableRegisters { span: last - first + 1, disjoint, whole, single }
    }

    /// Returns the number of registers that an operand selects from. Interpolation requires a variable.
    fn of(&self, shader: &Shader, register: &Register, interpolates: bool) -> u64 {
        let Some(indirect) = register.indirect else { return 0 };
        let is_of = |d: &&Declaration| d.file == register.file && d.array() == Some(indirect.array_id);
        let mut parts = if indirect.array_id == 0 { None } else { Some(shader.declarations.iter().filter(is_of)) };
        match parts.as_mut().and_then(|parts| Some((parts.next()?, parts.next()))) {
            Some((_, None)) if self.disjoint => 0,
            None if self.single || (self.whole && !interpolates) => 0,
            _ => self.span,
        }
    }
}

/// Weight of a loop, relative to other blocks.
const LOOP: u64 = 4;

/// The limit on merges scales with the length of the shader, in units of this number of instructions: then the length
/// of the code itself is the cause, not a product.
const LONG: u64 = 1 << 14;

/// Limits the number of phis: after every block, a register written in it has a value that depends on the predecessor;
/// for loops also at the loop header.
fn merges(parts: &ShaderParts<'_>, findings: &mut Findings) {
    let shader = parts.shader;
    let length = (shader.instructions.len() as u64 / LONG).max(1);
    let limit = findings.limits.expansion.saturating_mul(2).saturating_mul(length);
    if parts.graph.is_none() && (shader.instructions.len() as u64).saturating_mul(LOOP) < limit / 64 {
        return;
    }
    let files: &[File] = if shader.processor == Processor::TessControl { &FILES_MERGED[..2] } else { &FILES_MERGED };
    // Writes of all subroutines count at every call.
    let mut by_calls = 0u64;
    if parts.graph.is_some() {
        let mut written = Writes::default();
        for (number, instruction, _) in parts.instructions().filter(|&(_, _, part)| part != parts.main()) {
            by_calls += written.of(files, instruction, number).filter(|&before| before == 0).count() as u64;
        }
    }
    let mut written = Writes::default();
    let mut blocks = OpenBlocks::default();
    let mut last_call = 0;
    let mut merged = vec![0u64; parts.main() + 1];
    let mut position = None;
    for (number, instruction, part) in parts.instructions() {
        match instruction.opcode {
            Opcode::If | Opcode::Uif | Opcode::Switch => blocks.open(number, 1, false),
            Opcode::Bgnloop => blocks.open(number, LOOP, false),
            Opcode::Case | Opcode::Default => {
                blocks.close_case();
                blocks.open(number, 1, true);
            }
            Opcode::Endswitch => {
                blocks.close_case();
                blocks.close();
            }
            Opcode::Endif | Opcode::Endloop => blocks.close(),
            _ => {}
        }
        let mut count = 0u64;
        if instruction.opcode == Opcode::Cal {
            let before = std::mem::replace(&mut last_call, number + 1);
            count = blocks.opened_since(before).saturating_mul(by_calls);
        }
        for before in written.of(files, instruction, number) {
            count = count.saturating_add(blocks.opened_since(before));
        }
        if merged[part] <= limit && count > 0 {
            position = Some(instruction.span);
        }
        merged[part] = merged[part].saturating_add(count);
    }
    let total = parts.total(merged);
    if total > limit
        && let Some(position) = position
    {
        findings.report(Rule::TooManyMerges, (position, Focus::Mnemonic), || {
            format!("registers written in blocks up to here must be merged after them, {total} times in all; {limit} is the limit")
        });
    }
}

/// Files with registers that need phis; the last one only if outputs are stored at the end.
const FILES_MERGED: [File; 3] = [File::Temporary, File::Address, File::Output];

/// For every register, the number of the last instruction that wrote it, plus 1.
#[derive(Default)]
struct Writes([Vec<u32>; 3]);

impl Writes {
    /// Returns the previous writer of each register that an instruction writes, and records the instruction as the new
    /// one.
    fn of(&mut self, files: &[File], instruction: &Instruction, number: u32) -> impl Iterator<Item = u32> {
        instruction.dst.iter().filter_map(move |dst| {
            let list = self.0.get_mut(files.iter().position(|file| *file == dst.register.file)?)?;
            let index = usize::try_from(dst.register.index).ok()?;
            if list.len() <= index {
                list.resize(index + 1, 0);
            }
            Some(std::mem::replace(list.get_mut(index)?, number + 1))
        })
    }
}

/// The blocks around an instruction: the number of the opening instruction, the accumulated weight, and whether it is a
/// case of a switch.
#[derive(Default)]
struct OpenBlocks(Vec<(u32, u64, bool)>);

impl OpenBlocks {
    fn open(&mut self, number: u32, weight: u64, is_case: bool) {
        let around = self.0.last().map_or(0, |block| block.1);
        self.0.push((number, around + weight, is_case));
    }

    fn close(&mut self) {
        self.0.pop();
    }

    fn close_case(&mut self) {
        self.0.pop_if(|block| block.2);
    }

    /// Returns the weight of the blocks that were opened since the instruction before this number, i.e. that do not
    /// contain it.
    fn opened_since(&self, number: u32) -> u64 {
        let known = self.0.partition_point(|block| block.0 < number);
        let weight =
            |count: usize| count.checked_sub(1).and_then(|position| self.0.get(position)).map_or(0, |block| block.1);
        weight(self.0.len()) - weight(known)
    }
}
