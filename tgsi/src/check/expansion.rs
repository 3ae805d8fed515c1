//! Rules about what a shader would become on its way: calls are replaced by what they call where subroutines do not
//! stay, outputs are stored at several points, values are merged after blocks, and an index that may reach several
//! variables chooses among all of them. Each of these is a product of things that a text has room for by thousands, and
//! what is in a subroutine comes once for every call of it.
//!
//! Only shaders whose blocks are well nested are looked at: no other is converted.

use super::declared::described_file;
use super::{Findings, Rule};
use crate::call_graph::{CallGraph, Inlining, KeepSubroutines};
use crate::shader::{Declaration, Instruction, Register, Shader};
use crate::structure::Structure;
use crate::tables::{File, Opcode, Processor};
use tgsi_diagnostics::Focus;

/// Applies the rules.
pub(super) fn check(shader: &Shader, structure: &Structure, findings: &mut Findings) {
    let parts = Parts::new(shader, structure, findings.keep);
    calls(&parts, findings);
    stores(&parts, findings);
    reached(&parts, findings);
    merges(&parts, findings);
}

/// A shader as its subroutines and, last, the main program.
struct Parts<'a> {
    shader: &'a Shader,
    structure: &'a Structure,
    /// The call graph, and the calls that are inlined; none if there are no calls.
    graph: Option<(CallGraph, Inlining)>,
}

impl<'a> Parts<'a> {
    fn new(shader: &'a Shader, structure: &'a Structure, keep: Option<KeepSubroutines>) -> Parts<'a> {
        let graph = CallGraph::new(shader, structure).map(|graph| {
            let inlining = graph.inlining(&structure.sizes(), keep);
            (graph, inlining)
        });
        Parts { shader, structure, graph }
    }

    fn main(&self) -> usize {
        self.structure.subroutines.len()
    }

    /// Instructions with their numbers and the parts that they are in. After the END, outside of subroutines, nothing
    /// is left.
    fn instructions(&self) -> impl Iterator<Item = (u32, &'a Instruction, usize)> + '_ {
        let mut next = 0;
        (0..).zip(&self.shader.instructions).map(move |(number, instruction)| {
            let subroutines = &self.structure.subroutines;
            next += usize::from(subroutines.get(next).is_some_and(|&(_, end)| number > end));
            let inside = subroutines.get(next).is_some_and(|&(begin, _)| number >= begin);
            (number, instruction, if inside { next } else { self.main() })
        })
    }

    /// Sums a size after inlining, or before if that is more: subroutines that nobody calls are converted, too.
    fn total(&self, of_parts: Vec<u64>) -> u64 {
        let written = of_parts.iter().fold(0, |sum: u64, part| sum.saturating_add(*part));
        self.graph.as_ref().map_or(0, |(graph, inlining)| graph.inlined_size(of_parts, &inlining.stays)).max(written)
    }

    /// The sum over the instructions of each part.
    fn sums(&self, of: impl Fn(&Instruction, bool) -> u64) -> Vec<u64> {
        let mut sums = vec![0u64; self.main() + 1];
        for (_, instruction, part) in self.instructions() {
            sums[part] = sums[part].saturating_add(of(instruction, part == self.main()));
        }
        sums
    }
}

/// Limits how much code is copied, and how deep blocks are, once calls are replaced by their subroutines. Without
/// recursion: that is an error of the structure.
fn calls(parts: &Parts<'_>, findings: &mut Findings) {
    let Some((graph, inlining)) = &parts.graph else { return };
    let shader = parts.shader;
    let first = graph.first_call().and_then(|call| shader.instructions.get(call as usize));
    let position = (first.map(|call| call.span).unwrap_or_default(), Focus::Mnemonic);
    let (copied, limit, keep) = (inlining.copied, findings.limits.expansion, findings.keep);
    if copied > limit {
        findings.report(Rule::CallsTooMany, position, || {
            let without = if keep.is_none() { "without subroutines " } else { "" };
            format!("{without}{copied} instructions would be copied to replace calls; {limit} is the limit")
        });
    }
    let limit = findings.limits.nesting;
    // Deeper than that they are without any call.
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
            format!("with all calls replaced blocks are nested {deepest} deep; {limit} is the limit")
        });
    }
}

/// Counts stores of outputs: at the end, at every EMIT, and before every RET of the main program. Tessellation control
/// shaders store at once.
fn stores(parts: &Parts<'_>, findings: &mut Findings) {
    let shader = parts.shader;
    if shader.processor == Processor::TessControl {
        return;
    }
    let limit = findings.limits.expansion;
    let outputs = shader.declarations.iter().filter(|d| d.file == File::Output && d.first <= d.last);
    let outputs = outputs.fold(0u64, |sum, d| sum.saturating_add(u64::from(d.last - d.first) + 1));
    // Nearly all shaders have few of one or the other.
    if parts.graph.is_none() && outputs.saturating_mul(shader.instructions.len() as u64 + 1) <= limit {
        return;
    }
    let ends = parts.sums(|i, in_main| u64::from(i.opcode == Opcode::Emit || (in_main && i.opcode == Opcode::Ret)));
    // One is the end of the shader.
    let ends = parts.total(ends).saturating_add(1);
    if outputs.saturating_mul(ends) > limit {
        let most = limit.checked_div(outputs).unwrap_or(u64::MAX);
        let position =
            shader.declarations.iter().filter(|d| d.file == File::Output).max_by_key(|d| d.last - d.first.min(d.last));
        findings.report(Rule::TooManyStores, (position.map(|d| d.span).unwrap_or_default(), Focus::Register), || {
            format!("{outputs} outputs are stored more often than {most} times; {limit} stores are the limit")
        });
    }
}

/// Counts the variables that indirect accesses select from: inputs, outputs of tessellation control shaders and system
/// values are variables, and an access selects one of all that the index may reach. Where they are declared as what can
/// be one array, that is what is accessed.
fn reached(parts: &Parts<'_>, findings: &mut Findings) {
    let shader = parts.shader;
    let mut files: [Reach; 3] = Default::default();
    for (position, reach) in files.iter_mut().enumerate() {
        if let Some(file) = FILES.get(position) {
            *reach = Reach::new(shader, *file);
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
            format!("with indices like this, which may reach many registers, there would be {total} instructions; {limit} is the limit")
        });
    }
}

/// Files whose registers are variables that an index chooses among.
const FILES: [File; 3] = [File::Input, File::Output, File::SystemValue];

/// Instructions for each register that may be chosen: a read, a comparison, a choice, constants.
const CHOICE: u64 = 4;

/// The registers of a file that an index may reach.
#[derive(Default)]
struct Reach {
    /// Registers from the first to the last.
    span: u64,
    /// Whether declarations share no register.
    disjoint: bool,
    /// Whether there is no gap between them, so that the whole file can be accessed as one.
    whole: bool,
    /// Whether there is one declaration only.
    single: bool,
}

impl Reach {
    fn new(shader: &Shader, file: File) -> Reach {
        // Outputs have a copy that is one array, but where they are stored at once.
        if file == File::Output && shader.processor != Processor::TessControl {
            return Reach::default();
        }
        let declared = shader.declarations.iter().filter(|d| d.file == file && d.first <= d.last);
        let mut ranges: Vec<(u64, u64)> = declared.map(|d| (u64::from(d.first), u64::from(d.last))).collect();
        ranges.sort_unstable();
        let (Some(&(first, _)), Some(last)) = (ranges.first(), ranges.iter().map(|range| range.1).max()) else {
            return Reach::default();
        };
        let single = ranges.len() == 1 && described_file(file).is_some();
        let mut end = first;
        let (mut disjoint, mut whole) = (true, described_file(file).is_some());
        for (first, last) in ranges {
            disjoint &= first >= end;
            whole &= first <= end;
            end = end.max(last + 1);
        }
        Reach { span: last - first + 1, disjoint, whole, single }
    }

    /// Registers among which an operand chooses. What is interpolated has to be a variable.
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

/// Blocks of a loop count for so many others.
const LOOP: u64 = 4;

/// Longer shaders may have as many merges for every so many instructions: the code itself is as long, and no product of
/// anything.
const LONG: u64 = 1 << 14;

/// Counts phis: after every block, a register that was written inside of it has a value that depends on the
/// predecessor, after and in front of a loop as well.
fn merges(parts: &Parts<'_>, findings: &mut Findings) {
    let shader = parts.shader;
    let length = (shader.instructions.len() as u64 / LONG).max(1);
    let limit = findings.limits.expansion.saturating_mul(2).saturating_mul(length);
    if parts.graph.is_none() && (shader.instructions.len() as u64).saturating_mul(LOOP) < limit / 64 {
        return;
    }
    let files: &[File] = if shader.processor == Processor::TessControl { &FILES_MERGED[..2] } else { &FILES_MERGED };
    // What any subroutine writes counts wherever one is called.
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
            format!("what is written in blocks up to here has to be merged behind them, in all {total} times; {limit} is the limit")
        });
    }
}

/// Files whose registers have a value for each way; the last one only where outputs are stored at the end.
const FILES_MERGED: [File; 3] = [File::Temporary, File::Address, File::Output];

/// For every register the number of the instruction that wrote it last, plus 1.
#[derive(Default)]
struct Writes([Vec<u32>; 3]);

impl Writes {
    /// Returns the previous writer of each register that an instruction writes, and records this instruction instead.
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

/// Blocks around an instruction: number of the instruction that opens each, what it and those around it weigh, and
/// whether it is a case of a switch.
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

    /// Weight of the blocks that were opened after the instruction before this number: in those it was not yet.
    fn opened_since(&self, number: u32) -> u64 {
        let known = self.0.partition_point(|block| block.0 < number);
        let weight =
            |count: usize| count.checked_sub(1).and_then(|position| self.0.get(position)).map_or(0, |block| block.1);
        weight(self.0.len()) - weight(known)
    }
}
