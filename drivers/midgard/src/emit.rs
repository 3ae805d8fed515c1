//! Emission: bundles of the instruction set, branches and tags.

mod alu;
mod branches;
mod units;

use tgsi_vec4::Flow;
use tgsi_vec4::simple::SimpleMachine;

use crate::MidgardError;
use crate::finish::Attempt;
use crate::isa::alu::{
    AluBundle, AluOp, Branch, BranchOp, Component, Scalar, ScalarSource, UnitInstruction, Vector, VectorOperand,
    VectorSource,
};
use crate::isa::texture::Barrier;
use crate::isa::{Body, Bundle, Chip, Register, Swizzle, Tag, encode_program};
use crate::machine::{Machine, Op, Operation, Selected};
use crate::program::{Program, Stage};
use crate::schedule::{BundledInstruction, BundledProgram, Place};

use alu::AluEmitter;
use branches::{Element, Jump};

/// The numbers of registers.
#[derive(Clone, Copy, Debug)]
struct Numbering {
    chip: Chip,
    /// The first work register that temporaries have.
    first: u32,
}

/// Emits a program.
pub(crate) fn emit(attempt: &Attempt, stage: Stage, chip: Chip) -> Result<Program, MidgardError> {
    let Attempt { selected, bundled: program, uniforms, registers, reserved } = attempt;
    let numbering = Numbering { chip, first: *reserved };
    let mut elements = Vec::new();
    let instructions = program.instructions();
    let mut start = 0;
    while let Some(first) = instructions.get(start) {
        if first.op.place == Place::Flow {
            elements.push(Element::Flow(flow(first)));
            start += 1;
            continue;
        }
        let count = instructions[start..]
            .iter()
            .take_while(|instruction| instruction.op.place != Place::Flow && instruction.op.bundle == first.op.bundle)
            .count();
        let members = &instructions[start..start + count];
        elements.push(Element::Bundle(bundle(selected, program, members, numbering)?));
        start += count;
    }
    let bundles = branches::place(elements)?;
    debug_assert_eq!(crate::isa::check_program(&bundles), Ok(()), "tags and targets are consistent");
    // Write-outs use r0 and r1.
    let least = if stage == Stage::Fragment { 2 } else { 0 };
    let work_registers = (registers + reserved).clamp(least, 16) as u8;
    #[cfg(debug_assertions)]
    {
        let resources =
            crate::isa::Resources { work_registers, ..crate::isa::Resources::new(chip, uniforms.len() as u8) };
        let checked = crate::isa::check_rules(&bundles, &resources);
        if let Err(error) = checked {
            let around = error.bundle.saturating_sub(1)..(error.bundle + 2).min(bundles.len());
            let options = crate::text::Options::new(chip);
            let text = crate::text::Listing { bundles: &bundles[around], options }.to_string();
            debug_assert!(false, "bundles follow the rules of the machine: {error}\n{text}");
        }
    }
    Ok(Program {
        chip,
        stage,
        words: encode_program(&bundles)?,
        work_registers,
        uniforms: uniforms.clone(),
        system_buffer: selected.system_buffer,
        system_rows: selected.system_rows.clone(),
        inputs: selected.inputs.clone(),
        outputs: selected.outputs.clone(),
        results: selected.results.clone(),
        textures: selected.textures.clone(),
        images: selected.images.clone(),
        stack: selected.stack,
        shared: selected.shared,
        workgroup: selected.workgroup,
        discards: selected.discards,
    })
}

fn flow(instruction: &BundledInstruction) -> Option<Flow> {
    Machine::info(instruction.op.op).flow
}

/// Emits the instructions of a bundle.
fn bundle(
    selected: &Selected,
    program: &BundledProgram,
    members: &[BundledInstruction],
    numbering: Numbering,
) -> Result<Bundle, MidgardError> {
    let operation = |member: &BundledInstruction| {
        member.sources.first().and_then(|source| selected.operations.get(source.index as usize))
    };
    let first = members.first().map(|member| member.op.place);
    let body = match first {
        Some(Place::LoadStore) => {
            let mut accesses = [None, None];
            for (slot, member) in accesses.iter_mut().zip(members) {
                if let Some(Operation::LoadStore(access)) = operation(member) {
                    *slot = Some(units::load_store(access, member, numbering));
                }
            }
            Body::LoadStore(crate::isa::load_store::LoadStoreBundle(accesses))
        }
        Some(Place::Texture) => match members.first() {
            Some(member) if member.op.op != Op::Barrier => match operation(member) {
                Some(Operation::Texture(texture)) => Body::Texture(units::texture(texture, member)),
                _ => Body::Barrier(Barrier::default()),
            },
            _ => Body::Barrier(Barrier::default()),
        },
        _ => Body::Alu(AluEmitter::new(&program.constants, numbering).emit(members)?),
    };
    Ok(Bundle { next: Tag::Break, body })
}

/// An empty bundle, for programs and branches that have none.
fn empty() -> Bundle {
    Bundle { next: Tag::Break, body: Body::Alu(AluBundle::default()) }
}

/// The bundle that repeats a write-out: r0, and the components of r1 that it has written, are written again.
fn repeated_write_out(bundle: &Bundle) -> Option<Bundle> {
    let Body::Alu(alu) = &bundle.body else { return None };
    let is_write_out = matches!(alu.branch, Some(Branch::Conditional { op: BranchOp::Writeout, .. }));
    let [Some(colour), Some(state)] = [0, 1].map(Register::new) else { return None };
    if !is_write_out {
        return None;
    }
    let copy = VectorSource::new(AluOp::Imov, colour);
    let unused = VectorSource::new(AluOp::Imov, Register::UNUSED);
    let mut repeated = AluBundle {
        vmul: Some(Vector::new(AluOp::Imov, colour, unused, copy.into())),
        branch: alu.branch,
        is_writeout: alu.is_writeout,
        ..AluBundle::default()
    };
    // The number of the target is an immediate, the address to return to is that of this bundle.
    for (_, instruction) in alu.instructions() {
        let UnitInstruction::Scalar(scalar) = instruction else { continue };
        if scalar.destination == state && scalar.component == Component::Full(2) {
            repeated.sadd = Some(*scalar);
        }
    }
    let counter = VectorSource { swizzle: Swizzle(0), ..VectorSource::new(AluOp::Iadd, Register::CONDITION) };
    let address = Vector::new(AluOp::Iadd, state, counter, VectorOperand::Immediate(0));
    repeated.vadd = Some(Vector { mask: 0xc0, ..address });
    let written = state_components(alu, state);
    let copied = |component: u8| {
        let unused = ScalarSource::new(AluOp::Imov, Register::UNUSED, 0);
        Scalar::new(AluOp::Imov, state, component, unused, ScalarSource::new(AluOp::Imov, state, component))
    };
    if written & 1 != 0 {
        repeated.smul = Some(copied(0));
    }
    if written & 2 != 0 {
        let source = VectorSource::new(AluOp::Imov, state);
        repeated.vlut = Some(Vector { mask: 0x0c, ..Vector::new(AluOp::Imov, state, unused, source.into()) });
    }
    Some(Bundle { next: Tag::Break, body: Body::Alu(repeated) })
}

/// The components of a register that a bundle writes.
fn state_components(alu: &AluBundle, register: Register) -> u32 {
    alu.instructions().fold(0, |written, (_, instruction)| match instruction {
        UnitInstruction::Vector(vector) if vector.destination == register => written | vector.components(),
        UnitInstruction::Scalar(scalar) if scalar.destination == register => written | 1 << scalar.component.index(),
        _ => written,
    })
}

/// Whether a bundle has a branch, or cannot have one.
fn has_branch(bundle: &Bundle) -> bool {
    !matches!(&bundle.body, Body::Alu(AluBundle { branch: None, .. }))
}

/// Adds a branch to a bundle.
fn set_branch(bundle: &mut Bundle, jump: Jump) {
    if let Body::Alu(alu) = &mut bundle.body {
        alu.branch = Some(jump.branch(false, Tag::Break, 0));
    }
}
