//! Other programs with the same expressions: other reads, other computations before and after, and other outputs, but
//! the same computations for the remaining outputs.

use super::keep::{is_insertion_point, is_plain, new_temporaries};
use super::{free_number, insert};
use crate::choices::Choices;
use tgsi::internals::structure;
use tgsi::shader::{Declaration, DeclarationSemantic, Dst, Instruction, Register, Shader, Src};
use tgsi::tables::{File, Opcode, OutputMode, Processor, Semantic};

/// Maximum number of outputs of a variant, which consumers support.
const MAX_OUTPUTS: i32 = 32;

/// Maximum number of changes in one variant.
const MAX_CHANGES: usize = 6;

/// Another program with the expressions of a shader.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The program. The remaining outputs keep their numbers.
    pub shader: Shader,
    /// Numbers of the removed outputs.
    pub dropped: Vec<u16>,
}

/// Returns a program that computes the outputs of a shader with the same expressions, except for dropped outputs,
/// within other code chosen by a seed. New outputs read intermediate values; parts of compound instructions are
/// computed again, and so are other instructions, at the start and at the end. Shaders with a malformed control
/// structure are unchanged, and so are fragment and compute shaders, which have no outputs to add.
pub fn change_surroundings(shader: &Shader, seed: u64) -> Variant {
    let mut choices = Choices::from_seed(seed);
    let mut variant = Variant { shader: shader.clone(), dropped: Vec::new() };
    variant.shader.forget_encoding();
    let has_varyings = !matches!(shader.processor, Processor::Fragment | Processor::Compute);
    if !has_varyings || structure(shader).is_err() || shader.instructions.is_empty() {
        return variant;
    }
    let changes: [fn(&mut Variant, &mut Choices<'_>); 6] =
        [read_result, repeat, repeat_part, compute_before, compute_after, drop_output];
    for _ in 0..1 + choices.below(MAX_CHANGES) {
        let number = choices.below(changes.len());
        changes[number](&mut variant, &mut choices);
    }
    variant.shader.order_by_kind();
    crate::reduce::relabel(&mut variant.shader);
    variant
}

/// Declares an output that the shader does not have yet.
fn new_output(shader: &mut Shader) -> Option<Register> {
    let number = free_number(shader, File::Output);
    if number >= MAX_OUTPUTS {
        return None;
    }
    // Outputs of tessellation control shaders are per vertex, except those of the patch.
    let name = if shader.processor == Processor::TessControl { Semantic::Patch } else { Semantic::Generic };
    let semantics = shader.declarations.iter().filter(|d| d.file == File::Output);
    let taken = semantics.filter_map(|d| {
        let of = d.semantic.filter(|semantic| semantic.name == name)?;
        Some(of.index.saturating_add(d.last.saturating_sub(d.first)).saturating_add(1))
    });
    let index = taken.max().unwrap_or(0);
    let mut declaration = Declaration::new(File::Output, number as u16, number as u16);
    declaration.semantic = Some(DeclarationSemantic { name, index, streams: [0; 4] });
    shader.declarations.push(declaration);
    Some(Register::new(File::Output, number))
}

/// Returns a repeatable instruction on floats, with its number.
fn some_computation(shader: &Shader, choices: &mut Choices<'_>) -> Option<(usize, Instruction)> {
    let start = choices.below(shader.instructions.len());
    let count = shader.instructions.len();
    (0..count.min(64)).map(|step| (start + step) % count).find_map(|number| {
        let candidate = &shader.instructions[number];
        let info = candidate.opcode.info();
        let replicates = info.output_mode == OutputMode::Replicate && !info.dst_type.is_64bit();
        let computes = is_plain(candidate.opcode) || replicates;
        (computes && candidate.dst.len() == 1 && candidate.src.len() >= 2).then(|| (number, candidate.clone()))
    })
}

/// Returns the instruction with a new output as its destination.
fn to_output(shader: &mut Shader, mut of: Instruction) -> Option<Instruction> {
    let mask = of.dst.first()?.write_mask;
    let output = new_output(shader)?;
    of.dst[0] = Dst::new(output).masked(mask);
    Some(of)
}

/// Returns the product or the sum within a compound instruction, or the whole of any other.
fn part(of: &Instruction) -> Instruction {
    let mut part = of.clone();
    let operands = match (of.opcode, &of.src[..]) {
        (Opcode::Mad | Opcode::Dp2 | Opcode::Dp3 | Opcode::Dp4, &[a, b, ..]) => {
            part.opcode = Opcode::Mul;
            [a, b]
        }
        (Opcode::Lrp, &[_, b, c]) => {
            part.opcode = Opcode::Add;
            [b, Src { negate: !c.negate, ..c }]
        }
        _ => return part,
    };
    part.src.clear();
    part.src.extend(operands);
    part.saturate = false;
    part
}

/// Adds an output that reads the result of an instruction.
fn read_result(variant: &mut Variant, choices: &mut Choices<'_>) {
    let shader = &mut variant.shader;
    let number = choices.below(shader.instructions.len());
    let Some(dst) = shader.instructions[number].dst.first().copied() else { return };
    let is_direct = dst.register.indirect.is_none() && dst.register.dimension.is_none();
    if dst.register.file != File::Temporary || !is_direct || !is_insertion_point(shader, number + 1) {
        return;
    }
    let Some(output) = new_output(shader) else { return };
    let copy = Instruction::with_operands(
        Opcode::Mov,
        Some(Dst::new(output).masked(dst.write_mask)),
        &[Src::new(dst.register)],
    );
    insert(shader, number + 1, vec![copy]);
}

/// Repeats an instruction before itself.
fn repeat(variant: &mut Variant, choices: &mut Choices<'_>) {
    repeated(&mut variant.shader, choices, |of| of.clone());
}

/// Repeats part of an instruction before it.
fn repeat_part(variant: &mut Variant, choices: &mut Choices<'_>) {
    repeated(&mut variant.shader, choices, part);
}

fn repeated(shader: &mut Shader, choices: &mut Choices<'_>, part: impl Fn(&Instruction) -> Instruction) {
    let Some((number, found)) = some_computation(shader, choices) else { return };
    if !is_insertion_point(shader, number) {
        return;
    }
    let Some(copy) = to_output(shader, part(&found)) else { return };
    insert(shader, number, vec![copy]);
}

/// Repeats an instruction with operands that are available at the start, or part of it, before all others.
fn compute_before(variant: &mut Variant, choices: &mut Choices<'_>) {
    let shader = &mut variant.shader;
    let Some((_, found)) = some_computation(shader, choices) else { return };
    let found = if choices.one_in(2) { found } else { part(&found) };
    let is_there = |register: &Register| {
        let is_fixed = register.indirect.is_none() && register.dimension.is_none_or(|d| d.indirect.is_none());
        is_fixed && matches!(register.file, File::Constant | File::Immediate | File::Input)
    };
    if !found.src.iter().all(|src| is_there(&src.register)) || !is_insertion_point(shader, 0) {
        return;
    }
    let Some(copy) = to_output(shader, found) else { return };
    insert(shader, 0, vec![copy]);
}

/// Repeats an instruction at the end, with the final values of its operands.
fn compute_after(variant: &mut Variant, choices: &mut Choices<'_>) {
    let shader = &mut variant.shader;
    let Some((_, found)) = some_computation(shader, choices) else { return };
    let Some(end) = shader.instructions.iter().position(|i| i.opcode == Opcode::End) else { return };
    let is_indexed = found
        .registers()
        .any(|r| r.indirect.is_some() || r.dimension.is_some_and(|dimension| dimension.indirect.is_some()));
    if is_indexed {
        return;
    }
    let Some(copy) = to_output(shader, found) else { return };
    insert(shader, end, vec![copy]);
}

/// Drops an output.
fn drop_output(variant: &mut Variant, choices: &mut Choices<'_>) {
    let shader = &mut variant.shader;
    let outputs = shader.instructions.iter().flat_map(Instruction::registers).filter(|r| r.file == File::Output);
    let is_indexed = outputs.into_iter().any(|r| r.indirect.is_some() || r.dimension.is_some());
    let candidates: Vec<usize> = (0..shader.declarations.len())
        .filter(|&position| {
            let d = &shader.declarations[position];
            let is_varying = d.semantic.is_some_and(|semantic| {
                matches!(semantic.name, Semantic::Generic | Semantic::TexCoord | Semantic::Color | Semantic::Fog)
            });
            d.file == File::Output && d.first == d.last && d.array_id.is_none() && is_varying
        })
        .collect();
    if is_indexed || candidates.is_empty() {
        return;
    }
    let gone = shader.declarations.remove(candidates[choices.below(candidates.len())]).first;
    let temporary = new_temporaries(shader, 1, false);
    for of in &mut shader.instructions {
        for register in of.registers_mut() {
            if register.file == File::Output && register.index == i32::from(gone) {
                *register = Register::new(File::Temporary, temporary);
            }
        }
    }
    variant.dropped.push(gone);
}
