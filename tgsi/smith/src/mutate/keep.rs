//! Mutations that preserve the results of a shader.

use super::{free_number, insert};
use crate::choices::Choices;
use tgsi::internals::structure;
use tgsi::shader::{Declaration, Dst, Immediate, Indirect, Instruction, Register, Shader, Src};
use tgsi::tables::{BlockPart, File, ImmediateType, Opcode, OutputMode};

/// Applies one mutation, if possible.
pub(super) fn mutate(shader: &mut Shader, choices: &mut Choices<'_>) {
    if structure(shader).is_err() || shader.instructions.is_empty() {
        return;
    }
    let changes: [fn(&mut Shader, &mut Choices<'_>); 8] =
        [dead_code, loop_once, always_taken, split_mask, copy_source, permute_components, into_array, out_of_arrays];
    let number = choices.below(changes.len());
    changes[number](shader, choices);
}

/// Declares new temporaries.
pub(super) fn new_temporaries(shader: &mut Shader, count: u16, array: bool) -> i32 {
    let first = free_number(shader, File::Temporary);
    let mut declaration = Declaration::new(File::Temporary, first as u16, first as u16 + count - 1);
    if array {
        let numbers = shader.declarations.iter().filter(|d| d.file == File::Temporary);
        declaration.array_id = Some(numbers.filter_map(|d| d.array_id).max().unwrap_or(0) + 1);
    }
    shader.declarations.push(declaration);
    shader.order_by_kind();
    first
}

fn new_immediate(shader: &mut Shader, words: [u32; 4]) -> Src {
    shader.immediates.push(Immediate::new(ImmediateType::Uint32, words));
    shader.order_by_kind();
    Src::new(Register::new(File::Immediate, shader.immediates.len() as i32 - 1))
}

/// Whether instructions can be inserted before a number: not between a `SWITCH` and its first label, and not after the
/// main program.
pub(super) fn is_insertion_point(shader: &Shader, number: usize) -> bool {
    let at = |number: usize| shader.instructions.get(number).map(|i| i.opcode);
    let outside = matches!(at(number), None | Some(Opcode::Bgnsub))
        || number > 0
            && matches!(at(number - 1), Some(Opcode::End | Opcode::Endsub))
            && at(number) != Some(Opcode::Endif);
    !(outside || number > 0 && at(number - 1) == Some(Opcode::Switch))
}

/// Whether an opcode computes 32-bit values channel by channel.
pub(super) fn is_plain(opcode: Opcode) -> bool {
    let info = opcode.info();
    info.output_mode == OutputMode::Componentwise
        && !info.dst_type.is_64bit()
        && info.src_types.iter().all(|ty| !ty.is_64bit())
        && !matches!(opcode, Opcode::ReadInvoc | Opcode::ReadHelper)
}

/// Inserts computations with unused results.
fn dead_code(shader: &mut Shader, choices: &mut Choices<'_>) {
    let number = choices.below(shader.instructions.len());
    let source = choices.below(shader.instructions.len());
    let mut copy = shader.instructions[source].clone();
    if !is_insertion_point(shader, number) || !is_plain(copy.opcode) || copy.dst.is_empty() {
        return;
    }
    let temporary = new_temporaries(shader, 1, false);
    copy.dst[0] = Dst::new(Register::new(File::Temporary, temporary)).masked(copy.dst[0].write_mask);
    insert(shader, number, vec![copy]);
}

/// Returns a range of whole blocks in one block, without jumps out of it except returns.
fn range(shader: &Shader, choices: &mut Choices<'_>) -> Option<(usize, usize)> {
    let first = choices.below(shader.instructions.len());
    if !is_insertion_point(shader, first) {
        return None;
    }
    let wanted = 1 + choices.below(8);
    let mut depth = 0;
    let mut last = None;
    for (number, instruction) in shader.instructions.iter().enumerate().skip(first) {
        match (instruction.opcode, instruction.opcode.block()) {
            // Jumps that stay inside would be allowed, but only the outermost ones are easy to recognise.
            (Opcode::Brk | Opcode::Cont | Opcode::End | Opcode::Bgnsub | Opcode::Endsub, _) => break,
            (_, Some(BlockPart::Opens)) => depth += 1,
            (_, Some(BlockPart::Closes)) => depth -= 1,
            (_, Some(BlockPart::Divides)) if depth == 0 => break,
            _ => {}
        }
        if depth < 0 {
            break;
        }
        if depth == 0 {
            last = Some(number);
            if number + 1 - first >= wanted {
                break;
            }
        }
    }
    last.map(|last| (first, last))
}

/// Wraps a range in a loop that is left after one iteration.
fn loop_once(shader: &mut Shader, choices: &mut Choices<'_>) {
    let Some((first, last)) = range(shader, choices) else { return };
    let bare = |opcode| Instruction::with_operands(opcode, None, &[]);
    insert(shader, last + 1, vec![bare(Opcode::Brk), bare(Opcode::Endloop)]);
    insert(shader, first, vec![bare(Opcode::Bgnloop)]);
}

/// Wraps a range in a branch that is always taken.
fn always_taken(shader: &mut Shader, choices: &mut Choices<'_>) {
    let Some((first, last)) = range(shader, choices) else { return };
    let in_else = choices.one_in(2);
    let condition = new_immediate(shader, [u32::from(!in_else); 4]).replicated(0);
    let bare = |opcode| Instruction::with_operands(opcode, None, &[]);
    insert(shader, last + 1, vec![bare(Opcode::Endif)]);
    let mut opening = vec![Instruction::with_operands(Opcode::Uif, None, &[condition])];
    if in_else {
        opening.push(bare(Opcode::Else));
    }
    insert(shader, first, opening);
}

/// Splits an instruction into two, each for some of the components.
fn split_mask(shader: &mut Shader, choices: &mut Choices<'_>) {
    let number = choices.below(shader.instructions.len());
    let whole = shader.instructions[number].clone();
    let Some(dst) = whole.dst.first().copied() else { return };
    // The second one must not read the registers that the first one writes.
    let sees = |register: &Register| {
        let index = |indirect: Option<Indirect>| indirect.is_some_and(|i| i.file == dst.register.file);
        register.file == dst.register.file
            || index(register.indirect)
            || index(register.dimension.and_then(|d| d.indirect))
    };
    let splits = is_plain(whole.opcode) || whole.opcode.info().output_mode == OutputMode::Replicate;
    let first_mask = dst.write_mask & (1 + choices.below(14) as u8);
    if !splits
        || whole.src.iter().any(|src| sees(&src.register))
        || dst.register.indirect.is_some_and(|i| i.file == dst.register.file)
        || first_mask == 0
        || first_mask == dst.write_mask
    {
        return;
    }
    let mut first = whole;
    first.dst[0].write_mask = first_mask;
    shader.instructions[number].dst[0].write_mask = dst.write_mask & !first_mask;
    insert(shader, number, vec![first]);
}

/// Copies a source to a new temporary first.
fn copy_source(shader: &mut Shader, choices: &mut Choices<'_>) {
    let number = choices.below(shader.instructions.len());
    let computes = matches!(
        shader.instructions[number].opcode.info().output_mode,
        OutputMode::Componentwise | OutputMode::Replicate | OutputMode::ChannelDependent
    );
    let count = shader.instructions[number].src.len();
    if !computes || count == 0 || !is_insertion_point(shader, number) {
        return;
    }
    let position = choices.below(count);
    let temporary = new_temporaries(shader, 1, false);
    let register = Register::new(File::Temporary, temporary);
    let from = Src::new(shader.instructions[number].src[position].register);
    shader.instructions[number].src[position].register = register;
    insert(shader, number, vec![Instruction::with_operands(Opcode::Mov, Some(Dst::new(register)), &[from])]);
}

/// Returns a temporary that is only accessed directly and not in an array.
fn plain_temporary(shader: &Shader, choices: &mut Choices<'_>) -> Option<i32> {
    let unnamed = |register: &Register| register.file == File::Temporary && register.indirect.is_some();
    let any_indirect = shader
        .instructions
        .iter()
        .flat_map(Instruction::registers)
        .any(|r| unnamed(r) && r.indirect.is_some_and(|i| i.array_id == 0));
    if any_indirect {
        return None;
    }
    let plain: Vec<i32> = shader
        .declarations
        .iter()
        .filter(|d| d.file == File::Temporary && d.array_id.is_none() && d.first <= d.last)
        .flat_map(|d| i32::from(d.first)..=i32::from(d.last))
        .take(256)
        .collect();
    choices.pick(&plain)
}

/// Whether a register is used as an index or a texel offset.
fn is_index(shader: &Shader, temporary: i32) -> bool {
    shader.instructions.iter().any(|instruction| {
        let offsets = instruction.texture.iter().flat_map(|t| &t.offsets);
        let mut offsets = offsets.map(|offset| (offset.file, offset.index));
        let mut indices = instruction.registers().flat_map(|register| {
            [register.indirect, register.dimension.and_then(|d| d.indirect)].into_iter().flatten()
        });
        offsets.any(|named| named == (File::Temporary, temporary))
            || indices.any(|i| (i.file, i.index) == (File::Temporary, temporary))
    })
}

/// Permutes the components of a temporary.
fn permute_components(shader: &mut Shader, choices: &mut Choices<'_>) {
    let Some(temporary) = plain_temporary(shader, choices) else { return };
    let is_it = |register: &Register| register.file == File::Temporary && register.index == temporary;
    // Only channel-wise operations can write other channels, and only sources with values have meaningful swizzles.
    let fits = shader.instructions.iter().all(|i| {
        let writes = i.dst.iter().any(|dst| is_it(&dst.register));
        let reads = i.src.iter().any(|src| is_it(&src.register));
        let mode = i.opcode.info().output_mode;
        let computes = matches!(mode, OutputMode::Componentwise | OutputMode::Replicate | OutputMode::ChannelDependent);
        let reads_only = computes || matches!(mode, OutputMode::NoOutput);
        (!writes || is_plain(i.opcode)) && (!reads || reads_only)
    });
    if !fits || is_index(shader, temporary) {
        return;
    }
    let mut to = [0u8, 1, 2, 3];
    for position in (1..4).rev() {
        to.swap(position, choices.below(position + 1));
    }
    for i in &mut shader.instructions {
        for src in i.src.iter_mut().filter(|src| is_it(&src.register)) {
            src.swizzle = src.swizzle.map(|component| to[usize::from(component & 3)]);
        }
        let Some(dst) = i.dst.first_mut().filter(|dst| is_it(&dst.register)) else { continue };
        dst.write_mask = (0..4u8).filter(|c| dst.write_mask >> c & 1 != 0).fold(0, |m, c| m | 1 << to[usize::from(c)]);
        for src in &mut i.src {
            let old = src.swizzle;
            for channel in 0..4 {
                src.swizzle[usize::from(to[channel])] = old[channel];
            }
        }
    }
}

/// Replaces a temporary with an element of an array, sometimes with a run-time index.
fn into_array(shader: &mut Shader, choices: &mut Choices<'_>) {
    let Some(temporary) = plain_temporary(shader, choices) else { return };
    if is_index(shader, temporary) {
        return;
    }
    let first = new_temporaries(shader, 3, true);
    let array_id = shader.declarations.last().and_then(|d| d.array_id).unwrap_or(0);
    let address = free_number(shader, File::Address);
    shader.declarations.push(Declaration::new(File::Address, address as u16, address as u16));
    shader.order_by_kind();
    let one = new_immediate(shader, [1; 4]);
    for i in &mut shader.instructions {
        let registers = i.src.iter_mut().map(|src| &mut src.register);
        for register in registers.chain(i.dst.iter_mut().map(|dst| &mut dst.register)) {
            if register.file == File::Temporary && register.index == temporary && register.indirect.is_none() {
                register.index = first + 1;
                if choices.one_in(2) {
                    register.index = first;
                    register.indirect = Some(Indirect { file: File::Address, index: address, component: 0, array_id });
                }
            }
        }
    }
    let set = Dst::new(Register::new(File::Address, address)).masked(1);
    insert(shader, 0, vec![Instruction::with_operands(Opcode::Uarl, Some(set), &[one])]);
}

/// Turns arrays with only direct accesses into plain temporaries.
fn out_of_arrays(shader: &mut Shader, _: &mut Choices<'_>) {
    let mut indirect =
        shader.instructions.iter().flat_map(Instruction::registers).filter(|r| r.file == File::Temporary);
    if indirect.any(|register| register.indirect.is_some()) {
        return;
    }
    for declaration in shader.declarations.iter_mut().filter(|d| d.file == File::Temporary) {
        declaration.array_id = None;
    }
}
