//! Rules of ALU bundles.

use super::{Resources, Rule};
use crate::isa::alu::{
    AluBundle, AluOp, Branch, BranchOp, Component, Condition, Output, ScalarOperand, ScalarSource, Unit,
    UnitInstruction, Units, Vector, VectorOperand, VectorSource, repeat,
};
use crate::isa::{Register, Role, Width};

/// Bytes of a register, one bit each.
#[derive(Clone, Copy)]
struct Access {
    register: Register,
    bytes: u16,
}

/// The accesses of an instruction.
struct Accesses {
    reads: [Option<Access>; 2],
    write: Access,
}

fn component_bytes(width: Width, index: u32) -> u16 {
    let bytes = width.bits() / 8;
    (((1u32 << bytes) - 1) << (index * bytes % 16)) as u16
}

/// The components that a vector instruction reads of its sources.
fn read_components(vector: &Vector) -> [u32; 2] {
    let all = u32::MAX >> (32 - vector.width.components());
    let reduced = (1 << vector.op.row().reduces) - 1;
    match vector.op {
        _ if reduced != 0 => [reduced; 2],
        AluOp::Ffma | AluOp::FfmaRtz | AluOp::FfmaRtn | AluOp::FfmaRtp => [3, vector.components()],
        AluOp::Ichoose => [all, vector.components()],
        _ => [vector.components(); 2],
    }
}

fn vector_read(source: &VectorSource, width: Width, components: u32) -> Access {
    let mut bytes = 0;
    for index in (0..width.components()).filter(|index| components >> index & 1 != 0) {
        let (part, indices) = source.parts(width, index);
        bytes |= indices.iter().fold(0, |bytes, &index| bytes | component_bytes(part, index));
    }
    Access { register: source.register, bytes }
}

fn scalar_bytes(component: Component) -> u16 {
    let width = if component.is_full() { Width::W32 } else { Width::W16 };
    component_bytes(width, component.index().into())
}

fn scalar_read(source: &ScalarSource) -> Access {
    Access { register: source.register, bytes: scalar_bytes(source.component) }
}

fn accesses(instruction: UnitInstruction<'_>) -> (AluOp, Accesses) {
    let (op, first, second, write) = match instruction {
        UnitInstruction::Vector(vector) => {
            let [first, second] = read_components(vector);
            let second = match &vector.second {
                VectorOperand::Source(source) => Some(vector_read(source, vector.width, second)),
                VectorOperand::Immediate(_) => None,
            };
            let write = Access { register: vector.destination, bytes: vector.written_bytes() };
            (vector.op, vector_read(&vector.first, vector.width, first), second, write)
        }
        UnitInstruction::Scalar(scalar) => {
            let second = match &scalar.second {
                ScalarOperand::Source(source) => Some(scalar_read(source)),
                ScalarOperand::Immediate(_) => None,
            };
            let write = Access { register: scalar.destination, bytes: scalar_bytes(scalar.component) };
            (scalar.op, scalar_read(&scalar.first), second, write)
        }
    };
    // Unused operands are any.
    let [reads_first, reads_second] = op.reads();
    let first = reads_first.then_some(first);
    let second = second.filter(|_| reads_second);
    (op, Accesses { reads: [first, second], write })
}

/// The state of a check: the bytes that units have written before a stage.
struct Check<'a> {
    bundle: &'a AluBundle,
    resources: &'a Resources,
    /// Of r24 and r25.
    pipeline: [u16; 2],
    /// Of r31.
    condition: u16,
    /// Of r0.
    colour: u16,
}

/// The bytes of the last component.
const W: u16 = 0xf000;

pub(super) fn check(bundle: &AluBundle, resources: &Resources) -> Result<(), Rule> {
    let mut check = Check { bundle, resources, pipeline: [0; 2], condition: 0, colour: 0 };
    for stage in [false, true] {
        let instructions = bundle.instructions().filter(|(unit, _)| unit.is_second_stage() == stage);
        let mut found = Vec::new();
        for (unit, instruction) in instructions {
            let (op, accesses) = accesses(instruction);
            check_instruction(unit, instruction, op)?;
            for access in accesses.reads.iter().flatten() {
                check.read(access)?;
            }
            check.selection(op, instruction)?;
            found.push(accesses);
        }
        check_hazards(&found)?;
        for accesses in &found {
            check.write(&accesses.write)?;
        }
    }
    check.branch()
}

fn check_instruction(unit: Unit, instruction: UnitInstruction<'_>, op: AluOp) -> Result<(), Rule> {
    let row = op.row();
    if !row.units.contains(unit) {
        return Err(Rule::Unit(row.name, unit.name()));
    }
    let UnitInstruction::Vector(vector) = instruction else { return Ok(()) };
    let components = vector.components();
    // Functions that no other unit has.
    let is_function = row.units == Units::LUT;
    let is_float = !row.input.is_integer() || row.output == Output::Float;
    let has_width = match vector.width {
        Width::W8 => !is_float && row.reduces == 0,
        Width::W16 => !is_function,
        Width::W32 => true,
        Width::W64 => !is_function && row.reduces == 0,
    };
    if !has_width {
        return Err(Rule::Width(row.name, vector.width.bits()));
    }
    if is_function && components.count_ones() > 1 {
        return Err(Rule::SeveralComponents(row.name));
    }
    let parts = (vector.width.bits() / 16).max(1);
    let whole = (0..8).filter(|part| components >> (part / parts) & 1 != 0).fold(0, |mask, part| mask | 1 << part);
    if vector.width != Width::W8 && vector.mask != whole {
        return Err(Rule::Mask(row.name));
    }
    if vector.width == Width::W64 {
        let second = match &vector.second {
            VectorOperand::Source(source) => Some(source),
            VectorOperand::Immediate(_) => None,
        };
        let is_joined = |source: &VectorSource, index: u32| {
            let [low, high] = [0, 1].map(|part| source.swizzle.get(2 * index + part));
            low % 2 == 0 && high == low + 1
        };
        for source in [Some(&vector.first), second].into_iter().zip(op.reads()) {
            if let (Some(source), true) = source
                && (0..2).any(|index| components >> index & 1 != 0 && !is_joined(source, index))
            {
                return Err(Rule::Swizzle(row.name));
            }
        }
    }
    Ok(())
}

/// Checks that instructions of a stage do not depend on their order.
fn check_hazards(found: &[Accesses]) -> Result<(), Rule> {
    for (index, instruction) in found.iter().enumerate() {
        let write = instruction.write;
        // Unused results have the same register.
        if write.register == Register::UNUSED {
            continue;
        }
        // Operands of earlier units may be overwritten.
        for accesses in &found[index + 1..] {
            // Reads of r26 are embedded constants and those of r28 texels, not the values written there.
            let is_separate = matches!(write.register.role(), Role::LoadStore | Role::Texture);
            let reads = accesses.reads.iter().flatten().filter(|_| !is_separate);
            let mut all = reads.chain(Some(&accesses.write));
            if all.any(|access| access.register == write.register && access.bytes & write.bytes != 0) {
                return Err(Rule::Hazard(write.register.number()));
            }
        }
    }
    Ok(())
}

impl Check<'_> {
    fn read(&self, access: &Access) -> Result<(), Rule> {
        let register = access.register;
        let error = Err(Rule::Read(register.number()));
        match register.role() {
            _ if self.resources.is_work(register) || self.resources.is_uniform(register) => Ok(()),
            Role::Pipeline if access.bytes & !self.pipeline[usize::from(register.index_in_role() & 1)] == 0 => Ok(()),
            Role::Pipeline => Err(Rule::Pipeline(register.number())),
            Role::LoadStore if register != Register::CONSTANTS => error,
            Role::LoadStore if self.bundle.constants.is_none() => Err(Rule::Constants),
            Role::LoadStore => Ok(()),
            Role::Texture if !self.resources.chip.aliases_texture_registers() => Ok(()),
            // Write-outs store the program counter.
            Role::Condition if access.bytes & !self.condition == 0 || self.is_writeout() => Ok(()),
            Role::Condition => Err(Rule::Condition),
            _ => error,
        }
    }

    fn write(&mut self, access: &Access) -> Result<(), Rule> {
        let register = access.register;
        match register.role() {
            Role::Pipeline => self.pipeline[usize::from(register.index_in_role() & 1)] |= access.bytes,
            Role::Condition => self.condition |= access.bytes,
            _ => super::check_written(register, self.resources)?,
        }
        if register.number() == 0 {
            self.colour |= access.bytes;
        }
        Ok(())
    }

    fn is_writeout(&self) -> bool {
        operation(self.bundle.branch.as_ref()) == Some(BranchOp::Writeout)
    }

    /// Checks the condition of a selection.
    fn selection(&self, op: AluOp, instruction: UnitInstruction<'_>) -> Result<(), Rule> {
        let read = match (op, instruction) {
            (AluOp::Icsel | AluOp::Fcsel, _) => W,
            (AluOp::IcselV | AluOp::FcselV, UnitInstruction::Vector(vector)) => {
                let components = vector.components();
                let read = (0..vector.width.components()).filter(|index| components >> index & 1 != 0);
                read.fold(0, |bytes, index| bytes | component_bytes(vector.width, index))
            }
            _ => 0,
        };
        if read & !self.condition == 0 { Ok(()) } else { Err(Rule::Condition) }
    }

    fn branch(&self) -> Result<(), Rule> {
        let branch = self.bundle.branch.as_ref();
        let op = operation(branch);
        let needs_tag = matches!(op, Some(BranchOp::Writeout | BranchOp::TileBufferPending));
        if self.bundle.is_writeout != (needs_tag && self.resources.chip.has_writeout_tags()) {
            return Err(Rule::WriteoutTag);
        }
        if op == Some(BranchOp::Writeout) && self.colour != 0xffff {
            return Err(Rule::Colour);
        }
        let condition = match branch {
            None | Some(Branch::Jump { .. }) => return Ok(()),
            Some(Branch::Extended { op: BranchOp::Unconditional, .. }) => {
                return Err(Rule::Branch("is extended and unconditional"));
            }
            Some(Branch::Conditional { condition, .. }) => *condition,
            Some(Branch::Extended { conditions, .. }) => {
                let simple = Condition::ALL.iter().find(|&&condition| repeat(condition) == *conditions);
                *simple.ok_or(Rule::Branch("has several conditions"))?
            }
        };
        let reads = matches!(condition, Condition::False | Condition::True);
        if reads && self.condition & W != W { Err(Rule::Condition) } else { Ok(()) }
    }
}

fn operation(branch: Option<&Branch>) -> Option<BranchOp> {
    branch.map(|branch| match *branch {
        Branch::Jump { .. } => BranchOp::Unconditional,
        Branch::Conditional { op, .. } | Branch::Extended { op, .. } => op,
    })
}
