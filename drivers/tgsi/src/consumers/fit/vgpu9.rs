//! Shaders of VGPU9 (Shader Model 3), as Mesa's `svga_tgsi_insn.c` translates them from TGSI.
//!
//! Counts are estimates: the driver adds instructions for the viewport, for two-sided lighting and for the formats of
//! bound textures and attributes, and further constants.

use tgsi::Shader;
use tgsi::shader::{Instruction, Src};
use tgsi::tables::{File, Opcode, Processor, Semantic};

use super::registers::{DeclaredRegisters, Numbering, RegisterCount, buffer, count_nesting, count_semantics, number};
use super::usage::{Resource, Usage};

/// Counts the resources that the driver would use for a shader.
pub(crate) fn count(shader: &Shader, usage: &mut Usage) {
    let constants = DeclaredRegisters::of(shader, File::Constant).end;
    let numbering = Numbering { temporaries_before: 0, immediates_after: Some(constants), is_renumbered: false };
    let registers = RegisterCount::new(shader, numbering);
    let taken = DeclaredRegisters::of(shader, File::Temporary).end;
    let is_vertex = shader.processor == Processor::Vertex;
    for instruction in &shader.instructions {
        registers.instruction(instruction, usage);
        let Some((instructions, scratch)) = cost(instruction, is_vertex) else {
            usage.not_taken(instruction.span, instruction.opcode.name());
            continue;
        };
        let copies = if instructions == 0 { 0 } else { copies_of_conflicts(instruction) };
        usage.add(Resource::Instructions, instructions + copies, instruction.span);
        let scratch = scratch.saturating_add(copies);
        if scratch > 0 {
            usage.at_least(Resource::Temporaries, taken.saturating_add(scratch), instruction.span);
        }
    }
    registers.declarations(shader, usage);
    count_nesting(shader, usage);
    if !is_vertex {
        count_semantics(shader, File::Output, Resource::Colors, |semantic| semantic == Semantic::Color, usage);
    }
}

/// The number of instructions for a TGSI instruction, and of temporaries within; `None` if it is not supported.
fn cost(instruction: &Instruction, is_vertex: bool) -> Option<(u32, u32)> {
    use Opcode::*;
    let components = instruction.dst.first().map_or(0, |dst| u32::from(dst.write_mask).count_ones());
    let by_stage = |vertex, fragment| if is_vertex { vertex } else { fragment };
    let is_changed = |src: &Src| src.negate || src.absolute || src.swizzle != [0, 1, 2, 3];
    Some(match instruction.opcode {
        Nop | Ret | Endsub => (0, 0),
        Mov | Add | Mul | Mad | Min | Max | Dp3 | Dp4 | Frc | Lrp | Pow | Ex2 | Lg2 | Rcp | Rsq | Tex | Txb | Txp
        | Txl | Txd | Ddx | Ddy | If | Else | Endif | Bgnloop | Endloop | Brk | Cal => (1, 0),
        Sge | Slt | Sgt | Sle => by_stage((1, 0), (3, 1)),
        Seq | Sne => (3, 1),
        Cmp => by_stage((3, 1), (1, 0)),
        Flr | Ceil | Dp2 | Sin | Cos => (2, 1),
        Kill => (2, 1),
        KillIf if instruction.src.first().is_some_and(is_changed) => (2, 1),
        KillIf => (1, 0),
        Bgnsub | End => (2, 0),
        Arl => (3, 1),
        Ssg => by_stage((1, 2), (3, 2)),
        Trunc => by_stage((4, 3), (3, 2)),
        Round => by_stage((5, 3), (4, 2)),
        Div => (components + 1, 1),
        Dst => (components + 1, 1),
        Sqrt => (6, 1),
        Exp => (components + 1, 1),
        Lit => (7, 2),
        Log => (components + 3, 2),
        _ => return None,
    })
}

/// The copies needed because of several constants, or several inputs.
fn copies_of_conflicts(instruction: &Instruction) -> u32 {
    let differs = |a: &Src, b: &Src| {
        let class = |src: &Src| match src.register.file {
            File::Constant | File::Immediate => Some(File::Constant),
            File::Input => Some(File::Input),
            _ => None,
        };
        let key = |src: &Src| (src.register.file, buffer(&src.register), number(&src.register));
        class(a).is_some() && class(a) == class(b) && key(a) != key(b)
    };
    let sources: Vec<&Src> = instruction.src.iter().collect();
    let (mut copies, mut rest) = (0, sources.as_slice());
    while let Some((first, others)) = rest.split_first() {
        copies += u32::from(others.iter().any(|other| differs(first, other)));
        rest = others;
    }
    copies
}
