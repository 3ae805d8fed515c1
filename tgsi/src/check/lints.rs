//! Lints: values that are never read, registers that are never written, unreachable code.
//!
//! [`super::check`] does not report them, because they concern neither drivers nor the meaning of a shader; they are
//! for authors of shaders. The analysis is flow-insensitive: a component counts as written if any instruction writes
//! it. An indirect access counts for all registers of the file.

use super::declared::{DeclaredRegisters, key};
use super::{Findings, Rule};
use crate::scan::needed_mask;
use crate::shader::{Instruction, Register, Shader};
use crate::structure::Structure;
use crate::tables::{BlockPart, File, Opcode};
use tgsi_diagnostics::Focus;
use tgsi_diagnostics::Span;

/// Applies the rules. Without `structure`, because the blocks are malformed, reachability is not checked.
pub(super) fn lint(shader: &Shader, structure: Option<&Structure>, findings: &mut Findings) {
    values(shader, &DeclaredRegisters::new(shader), findings);
    if let Some(structure) = structure {
        unreachable(shader, findings);
        uncalled(shader, structure, findings);
    }
}

/// Accessed components of the registers of a file: four bits per register.
#[derive(Default)]
struct Components {
    masks: Vec<u8>,
    /// Components accessed in all registers.
    every: u8,
}

/// Accesses of one kind (reads or writes) to `TEMP` and `ADDR`.
#[derive(Default)]
struct Accesses([Components; 2]);

impl Accesses {
    fn add(&mut self, register: &Register, mask: u8) {
        let Some(position) = position(register.file) else { return };
        let components = &mut self.0[position];
        if register.indirect.is_some() {
            components.every |= mask;
        } else if let Ok(index) = usize::try_from(register.index) {
            if components.masks.len() <= index {
                components.masks.resize(index + 1, 0);
            }
            components.masks[index] |= mask;
        }
    }

    /// Returns the accessed components of a register, or none for other files.
    fn of(&self, register: &Register) -> Option<u8> {
        let components = &self.0[position(register.file)?];
        let mask = usize::try_from(register.index).ok().and_then(|index| components.masks.get(index));
        Some(mask.copied().unwrap_or(0) | components.every)
    }
}

fn position(file: File) -> Option<usize> {
    [File::Temporary, File::Address].iter().position(|&other| other == file)
}

/// Returns the registers that hold the run-time parts of an operand's indices, with their components.
fn index_registers(register: &Register) -> impl Iterator<Item = (Register, u8)> {
    let indirects = [register.indirect, register.dimension.and_then(|d| d.indirect)];
    indirects.into_iter().flatten().map(|i| (Register::new(i.file, i.index), 1 << (i.component & 3)))
}

/// Returns everything that an instruction reads: registers, components, positions in the source.
fn reads(i: &Instruction) -> impl Iterator<Item = (Register, u8, Span)> + '_ {
    let sources = i.src.iter().enumerate().flat_map(|(number, src)| {
        let value = (src.register, needed_mask(i, number), src.span);
        std::iter::once(value).chain(index_registers(&src.register).map(|(r, mask)| (r, mask, src.span)))
    });
    let destinations = i.dst.iter().flat_map(|dst| index_registers(&dst.register).map(|(r, mask)| (r, mask, dst.span)));
    let offsets = i.texture.iter().flat_map(|texture| &texture.offsets).map(|offset| {
        let mask = offset.swizzle.iter().fold(0, |mask, component| mask | 1 << (component & 3));
        (Register::new(offset.file, offset.index), mask, offset.span)
    });
    sources.chain(destinations).chain(offsets)
}

fn show(register: &Register, mask: u8) -> String {
    let components: String = "xyzw".chars().enumerate().filter(|(c, _)| mask & 1 << c != 0).map(|(_, c)| c).collect();
    format!("{}[{}].{components}", register.file, register.index)
}

/// Reports registers that are read but never written, and vice versa. Undeclared registers are errors anyway.
fn values(shader: &Shader, declared: &DeclaredRegisters<'_>, findings: &mut Findings) {
    let (mut read, mut written) = (Accesses::default(), Accesses::default());
    for i in &shader.instructions {
        reads(i).for_each(|(register, mask, _)| read.add(&register, mask));
        i.dst.iter().for_each(|dst| written.add(&dst.register, dst.write_mask & 0xf));
    }
    let is_declared = |register: &Register| {
        u16::try_from(register.index).is_ok_and(|index| declared.contains(register.file, key(0, index)))
    };
    let mut reported = Accesses::default();
    for i in &shader.instructions {
        for (register, mask, span) in reads(i).filter(|(register, ..)| register.indirect.is_none()) {
            let Some(known) = written.of(&register) else { continue };
            let missing = mask & !known & !reported.of(&register).unwrap_or(0);
            if missing != 0 && is_declared(&register) {
                reported.add(&register, missing);
                findings.report(Rule::NeverWritten, (super::position(span, i), Focus::Whole), || {
                    format!("{} is read, but nothing writes it; it is 0", show(&register, missing))
                });
            }
        }
        // Memory operations have effects besides their result.
        if i.opcode.info().is_store {
            continue;
        }
        for dst in i.dst.iter().filter(|dst| dst.register.indirect.is_none()) {
            let mask = dst.write_mask & 0xf;
            if mask != 0 && read.of(&dst.register).is_some_and(|known| known & mask == 0) && is_declared(&dst.register)
            {
                findings.report(Rule::NeverRead, (super::position(dst.span, i), Focus::Whole), || {
                    format!("{} is written, but nothing reads it", show(&dst.register, mask))
                });
            }
        }
    }
}

/// Reports instructions after a jump, up to the end of their part of the block, and those before the first case of a
/// switch, once per unreachable region.
fn unreachable(shader: &Shader, findings: &mut Findings) {
    /// An unreachable region: its depth, the jump before it, whether it was reported.
    struct UnreachableRegion {
        depth: u32,
        jump: Span,
        opcode: Opcode,
        reported: bool,
    }
    let mut depth = 0u32;
    let mut dead: Option<UnreachableRegion> = None;
    for i in &shader.instructions {
        let part = i.opcode.block();
        let ends_part = match i.opcode {
            // END is not part of the main program's unreachable code.
            Opcode::End | Opcode::Bgnsub => depth == 0,
            _ => matches!(part, Some(BlockPart::Divides | BlockPart::Closes)),
        };
        if ends_part && dead.as_ref().is_some_and(|dead| dead.depth == depth) {
            dead = None;
        }
        if let Some(dead) = &mut dead
            && !std::mem::replace(&mut dead.reported, true)
        {
            let opcode = i.opcode;
            let finding = findings
                .report(Rule::Unreachable, (i.span, Focus::Mnemonic), || format!("this {opcode} is unreachable"));
            if let Some(finding) = finding {
                let says = if dead.opcode == Opcode::Switch {
                    "SWITCH jumps to one of its cases".to_owned()
                } else {
                    format!("control does not continue past this {}", dead.opcode)
                };
                finding.note(dead.jump, Focus::Mnemonic, says);
            }
        }
        match part {
            Some(BlockPart::Opens) => depth += 1,
            Some(BlockPart::Closes) => depth = depth.saturating_sub(1),
            Some(BlockPart::Divides) | None => {}
        }
        let leaves = match i.opcode {
            Opcode::Brk | Opcode::Cont | Opcode::Ret | Opcode::Switch => true,
            Opcode::End => depth > 0,
            _ => false,
        };
        if leaves && dead.is_none() {
            dead = Some(UnreachableRegion { depth, jump: i.span, opcode: i.opcode, reported: false });
        }
    }
}

/// Reports subroutines that are never called. In a shader without a main program, the first one is executed.
fn uncalled(shader: &Shader, structure: &Structure, findings: &mut Findings) {
    if structure.end as usize >= shader.instructions.len() {
        return;
    }
    let mut called = vec![false; shader.instructions.len()];
    for (i, &partner) in shader.instructions.iter().zip(&structure.partner) {
        if let (Opcode::Cal, Some(called)) = (i.opcode, called.get_mut(partner as usize)) {
            *called = true;
        }
    }
    for &(begin, _) in structure.subroutines.iter().filter(|(begin, _)| !called[*begin as usize]) {
        let span = shader.instructions[begin as usize].span;
        findings.report(Rule::UncalledSubroutine, (span, Focus::Mnemonic), || {
            format!("nothing calls the subroutine at instruction {}", shader.written.number(begin))
        });
    }
}
