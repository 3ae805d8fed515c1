//! The peephole pass of Mesa's i915 (`i915_fpc_optimize.c`): instructions that it removes are not counted.
//!
//! It considers adjacent instructions only, and assumes that every temporary is dead after the second of them. Where
//! that is wrong, the program is wrong, but only its size matters here.

use tgsi::Shader;
use tgsi::shader::{Dst, Instruction, Register, Src};
use tgsi::tables::{Opcode, TextureTarget};

use super::i915::coordinate_mask;

/// The swizzle that reads 0.0.
pub(crate) const ZERO: u8 = 4;
/// The swizzle that reads 1.0.
pub(crate) const ONE: u8 = 5;

/// All components.
const XYZW: u8 = 0xf;

/// An instruction after the pass.
#[derive(Clone, Copy)]
pub(crate) struct PeepholeInstruction<'s> {
    /// The original instruction.
    pub(crate) instruction: &'s Instruction,
    /// The opcode; `NOP` if it was removed.
    pub(crate) opcode: Opcode,
    /// The destination.
    pub(crate) dst: Option<Dst>,
    /// The sources. Swizzles may be [`ZERO`] and [`ONE`].
    pub(crate) src: [Option<Src>; 3],
}

/// Returns the instructions after the pass.
pub(crate) fn peephole(shader: &Shader) -> Vec<PeepholeInstruction<'_>> {
    let steps = shader.instructions.iter().map(|instruction| PeepholeInstruction {
        instruction,
        opcode: instruction.opcode,
        dst: instruction.dst.first().copied(),
        src: std::array::from_fn(|index| instruction.src.get(index).copied()),
    });
    let mut steps: Vec<PeepholeInstruction<'_>> = steps.filter(|step| !copies_itself(step)).collect();
    for second in 1..steps.len() {
        let (before, after) = steps.split_at_mut(second);
        if let (Some(current), Some(next)) = (before.last_mut(), after.first_mut()) {
            write_to_destination_of_copy(current, next);
            absorb_copy_of_operand(current, next);
            join_copies(current, next);
            read_source_of_copy(current, next);
        }
    }
    steps
}

fn same_register(a: &Register, b: &Register) -> bool {
    a.file == b.file
        && a.index == b.index
        && a.indirect.is_some() == b.indirect.is_some()
        && a.dimension.is_some() == b.dimension.is_some()
}

fn same_source(a: &Src, b: &Src) -> bool {
    same_register(&a.register, &b.register) && a.absolute == b.absolute && a.negate == b.negate
}

/// Whether the components of the mask are read unswizzled.
fn is_unswizzled(src: &Src, mask: u8) -> bool {
    src.swizzle.iter().zip(0u8..).all(|(&swizzle, channel)| mask & 1 << channel == 0 || swizzle == channel)
}

fn is_plain(src: &Src) -> bool {
    !src.absolute && !src.negate
}

/// `MOV TEMP[0].xy, TEMP[0]`.
fn copies_itself(step: &PeepholeInstruction<'_>) -> bool {
    let (Some(dst), Some(src)) = (&step.dst, &step.src[0]) else { return false };
    step.opcode == Opcode::Mov
        && !step.instruction.saturate
        && is_plain(src)
        && is_unswizzled(src, dst.write_mask)
        && same_register(&src.register, &dst.register)
}

/// Makes an instruction followed by a copy of its whole result write the destination of the copy.
fn write_to_destination_of_copy(current: &mut PeepholeInstruction<'_>, next: &mut PeepholeInstruction<'_>) {
    let (Some(dst), Some(copy), Some(src)) = (current.dst, next.dst, next.src[0]) else { return };
    if next.opcode == Opcode::Mov
        && current.opcode != Opcode::Nop
        && !next.instruction.saturate
        && is_plain(&src)
        && dst.write_mask == XYZW
        && copy.write_mask == XYZW
        && is_unswizzled(&src, XYZW)
        && same_register(&src.register, &dst.register)
    {
        next.opcode = Opcode::Nop;
        current.dst = Some(copy);
    }
}

/// The swizzle with which an operation returns its other operand.
fn neutral_element(opcode: Opcode) -> Option<u8> {
    match opcode {
        Opcode::Add => Some(ZERO),
        Opcode::Mul | Opcode::Dp2 | Opcode::Dp3 | Opcode::Dp4 => Some(ONE),
        _ => None,
    }
}

/// Merges `MUL OUT[0].xyz, a, b` and `MOV OUT[0].w, b` into one instruction.
fn absorb_copy_of_operand(current: &mut PeepholeInstruction<'_>, next: &mut PeepholeInstruction<'_>) {
    let (Some(neutral), Some(dst), Some(copy)) = (neutral_element(current.opcode), current.dst, next.dst) else {
        return;
    };
    let ([Some(a), Some(b), _], Some(src)) = (current.src, next.src[0]) else { return };
    if next.opcode != Opcode::Mov
        || current.instruction.saturate != next.instruction.saturate
        || !same_register(&copy.register, &dst.register)
        || same_register(&src.register, &dst.register)
        || !is_unswizzled(&a, dst.write_mask)
        || !is_unswizzled(&b, dst.write_mask)
        || !is_unswizzled(&src, copy.write_mask)
    {
        return;
    }
    let neutral = |src: Src| {
        let swizzle = std::array::from_fn(|c| if copy.write_mask & 1 << c == 0 { c as u8 } else { neutral });
        Some(Src { swizzle, ..src })
    };
    let whole = |src: Src| Some(Src { swizzle: [0, 1, 2, 3], ..src });
    if same_source(&src, &b) {
        (current.src[0], current.src[1]) = (neutral(a), whole(b));
    } else if same_source(&src, &a) {
        (current.src[0], current.src[1]) = (whole(a), neutral(b));
    } else {
        return;
    }
    next.opcode = Opcode::Nop;
    current.dst = Some(Dst { write_mask: dst.write_mask | copy.write_mask, ..dst });
}

/// Merges two copies of parts of one register to another.
fn join_copies(current: &mut PeepholeInstruction<'_>, next: &mut PeepholeInstruction<'_>) {
    let (Some(first), Some(second)) = (current.dst, next.dst) else { return };
    let (Some(a), Some(b)) = (current.src[0], next.src[0]) else { return };
    if current.opcode == Opcode::Mov
        && next.opcode == Opcode::Mov
        && current.instruction.saturate == next.instruction.saturate
        && same_register(&first.register, &second.register)
        && same_source(&a, &b)
        && !same_register(&a.register, &first.register)
    {
        let of = |c: usize| if second.write_mask & 1 << c == 0 { a.swizzle[c] } else { b.swizzle[c] };
        next.src[0] = Some(Src { swizzle: std::array::from_fn(of), ..b });
        next.dst = Some(Dst { write_mask: first.write_mask | second.write_mask, ..second });
        current.opcode = Opcode::Nop;
    }
}

/// Makes a lookup read the source of a copy of its coordinate.
fn read_source_of_copy(current: &mut PeepholeInstruction<'_>, next: &mut PeepholeInstruction<'_>) {
    let Some(texture) = &next.instruction.texture else { return };
    let (Some(copy), Some(src), Some(coordinate)) = (current.dst, current.src[0], next.src[0]) else { return };
    if current.opcode == Opcode::Mov
        && matches!(next.opcode, Opcode::Tex | Opcode::Txb | Opcode::Txp)
        && matches!(texture.target, TextureTarget::Texture2D | TextureTarget::Rect)
        && same_register(&coordinate.register, &copy.register)
        && is_unswizzled(&src, coordinate_mask(next.opcode, texture.target))
    {
        next.src[0] = Some(src);
        current.opcode = Opcode::Nop;
    }
}
