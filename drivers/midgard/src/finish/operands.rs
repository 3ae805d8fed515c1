//! Operands of the load/store and the texture unit: before the passes they become temporaries, afterwards registers.
//!
//! The units read r26 and r27, or r28 and r29. While an operand is a temporary, passes treat it as any other value.
//! Afterwards it is computed in the register if the register is free from the first instruction that computes it to the
//! one that reads it, and nothing else reads it; otherwise it is copied just before.

use std::collections::HashMap;

use tgsi_vec4::simple::{Destination, File, Instruction, Source};

use crate::isa::load_store::{LoadStore, Operand};
use crate::isa::{Chip, LoadStoreRegister, Register, Swizzle};
use crate::machine::{COORDINATES, MachineInstruction, MachineProgram, OPERANDS, Op, Operation, Selected, TEXELS};

/// The number of instructions over which an operand keeps its register.
const REACH: usize = 32;

/// The registers of operands: those of the load/store unit, then those of the texture unit.
const REGISTERS: usize = TEXELS as usize;

/// The register and the components of each operand of an operation, after the first source.
type Places = Vec<(u8, [u8; 4])>;

/// The operands of operations, by the number of the operation.
#[derive(Clone, Default, Debug)]
pub(super) struct Operands(HashMap<i32, Places>);

/// The number of an operand register.
fn register_of(file: File, index: i32) -> Option<usize> {
    usize::try_from(index).ok().filter(|&index| file == File::Special && index < REGISTERS)
}

/// Replaces operand registers by temporaries.
pub(super) fn make_virtual(program: &mut MachineProgram) -> Operands {
    let mut operands = Operands::default();
    let mut current: [Option<i32>; REGISTERS] = [None; REGISTERS];
    // Whether an operation has read the temporary.
    let mut is_read = [false; REGISTERS];
    for mut instruction in program.take_instructions() {
        let number = instruction.sources.first().filter(|source| source.file == File::Input).map(|source| source.index);
        let mut places = Places::new();
        let mut read = Vec::new();
        for source in &mut instruction.sources {
            if let Some(register) = register_of(source.file, source.index) {
                places.push((register as u8, source.swizzle));
                let temp = *current[register].get_or_insert_with(|| program.new_temp() as i32);
                (source.file, source.index) = (File::Temporary, temp);
                read.push(register);
            }
        }
        read.into_iter().for_each(|register| is_read[register] = true);
        if let Some(number) = number.filter(|_| !places.is_empty()) {
            operands.0.insert(number, places);
        }
        if let Some(to) = &mut instruction.destination
            && let Some(register) = register_of(to.file, to.index)
        {
            if current[register].is_none() || is_read[register] {
                current[register] = Some(program.new_temp() as i32);
                is_read[register] = false;
            }
            (to.file, to.index) = (File::Temporary, current[register].unwrap_or(0));
        }
        program.push(instruction);
    }
    operands
}

/// The accesses to a temporary.
#[derive(Clone, Copy, Default)]
struct Uses {
    reads: u32,
    /// The block of all writes, and the first of them; `None` if there are several blocks.
    block: Option<usize>,
    first: usize,
    writes: u32,
}

/// The state of the assignment.
struct Assignment<'a> {
    chip: Chip,
    uses: Vec<Uses>,
    first_temp: i32,
    operands: &'a Operands,
    /// For each register the number of the last instruction that reads it.
    busy: [Option<usize>; REGISTERS],
    /// The registers of temporaries that are computed there.
    renamed: HashMap<i32, u8>,
    /// The copies before instructions.
    copies: Vec<(usize, MachineInstruction)>,
}

/// Assigns registers to operands.
pub(super) fn assign(selected: &mut Selected, operands: &Operands, chip: Chip) {
    let program = &selected.program;
    let (uses, blocks) = uses(program);
    let mut assignment = Assignment {
        chip,
        uses,
        first_temp: program.first_temp() as i32,
        operands,
        busy: [None; REGISTERS],
        renamed: HashMap::new(),
        copies: Vec::new(),
    };
    let mut instructions = program.instructions().to_vec();
    let mut block = usize::MAX;
    for index in 0..instructions.len() {
        if blocks[index] != block {
            block = blocks[index];
            assignment.busy = [None; REGISTERS];
        }
        let instruction = &mut instructions[index];
        let Some(number) = instruction.sources.first().filter(|source| source.file == File::Input).map(|s| s.index)
        else {
            continue;
        };
        let Some(places) = operands.0.get(&number) else { continue };
        let is_exchanged = assignment.prefers_exchange(instruction, places, index, block);
        if is_exchanged && let Some(Operation::LoadStore(access)) = selected.operations.get_mut(number as usize) {
            exchange(access);
        }
        assignment.place(instruction, index, block, is_exchanged);
    }
    let Assignment { renamed, copies, .. } = assignment;
    for instruction in &mut instructions {
        if let Some(to) = &mut instruction.destination
            && let Some(&register) = renamed.get(&to.index).filter(|_| to.file == File::Temporary)
        {
            (to.file, to.index) = (File::Special, register.into());
        }
    }
    let program = &mut selected.program;
    program.take_instructions();
    let mut copies = copies.into_iter().peekable();
    for (index, instruction) in instructions.into_iter().enumerate() {
        while let Some((_, copy)) = copies.next_if(|&(before, _)| before == index) {
            program.push(copy);
        }
        program.push(instruction);
    }
}

/// The uses of temporaries, and the number of the block of each instruction.
fn uses(program: &MachineProgram) -> (Vec<Uses>, Vec<usize>) {
    let mut uses = vec![Uses::default(); program.temps()];
    let mut blocks = Vec::with_capacity(program.instructions().len());
    let mut block = 0;
    for (index, access) in program.accesses().iter().enumerate() {
        blocks.push(block);
        for temp in access.reads().iter().filter_map(|read| read.temp()) {
            uses[temp].reads += 1;
        }
        if let Some(temp) = access.written().and_then(|written| written.temp()) {
            let uses = &mut uses[temp];
            if uses.writes == 0 {
                (uses.block, uses.first) = (Some(block), index);
            } else if uses.block != Some(block) {
                uses.block = None;
            }
            uses.writes += 1;
        }
        if program.flow(index).is_some() {
            block += 1;
        }
    }
    (uses, blocks)
}

/// Exchanges r26 and r27 in an access.
fn exchange(access: &mut LoadStore) {
    let other = |operand: Operand| {
        let register = match operand.register {
            LoadStoreRegister::L0 => LoadStoreRegister::L1,
            LoadStoreRegister::L1 => LoadStoreRegister::L0,
            other => other,
        };
        Operand { register, ..operand }
    };
    if let Some(operand) = access.atomic_operand() {
        let operand = other(operand);
        access.swizzle = Swizzle(operand.component | (operand.register.code() as u8) << 2);
    }
    if access.stored_register().is_some() {
        access.register = Register::new(access.register.number() ^ 1).unwrap_or(access.register);
    }
    // Loads of uniforms have the number of a buffer in the fields of the address.
    if access.uniform_buffer().is_none() {
        access.argument = other(access.argument);
    }
    access.index = other(access.index);
}

impl Assignment<'_> {
    /// The register of the chip for an operand.
    fn physical(&self, register: u8, is_exchanged: bool) -> u8 {
        let is_load_store = register < COORDINATES;
        let register = if is_exchanged && is_load_store { register ^ 1 } else { register };
        if self.chip.aliases_texture_registers() && !is_load_store {
            register - COORDINATES + OPERANDS
        } else {
            register
        }
    }

    /// The temporary that holds all of an operand register, each value in its place, and that nothing else reads.
    fn whole(&self, instruction: &MachineInstruction, places: &Places, register: u8, block: usize) -> Option<i32> {
        let mut temp = None;
        let mut reads = 0;
        for (number, (source, &(place, components))) in instruction.sources.iter().skip(1).zip(places).enumerate() {
            if place != register {
                continue;
            }
            let read = instruction.channels(&info(instruction), number + 1);
            let is_in_place = (0..4).filter(|c| read >> c & 1 != 0).all(|c: usize| source.swizzle[c] == components[c]);
            if source.file != File::Temporary || !is_in_place || temp.is_some_and(|temp| temp != source.index) {
                return None;
            }
            temp = Some(source.index);
            reads += 1;
        }
        let temp = temp?;
        let uses = self.uses.get(usize::try_from(temp - self.first_temp).ok()?)?;
        (uses.reads == reads && uses.block == Some(block) && !self.renamed.contains_key(&temp)).then_some(temp)
    }

    /// Whether a temporary can be computed in a register.
    fn is_free(&self, temp: i32, register: u8, index: usize) -> bool {
        let uses = self.uses[(temp - self.first_temp) as usize];
        let is_near = uses.first + REACH > index && uses.first < index;
        is_near && self.busy[usize::from(register)].is_none_or(|busy| busy < uses.first)
    }

    /// Whether more operands are computed in place if r26 and r27 change places.
    fn prefers_exchange(&self, instruction: &MachineInstruction, places: &Places, index: usize, block: usize) -> bool {
        if instruction.op == Op::Texture {
            return false;
        }
        let count = |is_exchanged: bool| {
            let registers = (OPERANDS..COORDINATES).filter(|&register| {
                let temp = self.whole(instruction, places, register, block);
                temp.is_some_and(|temp| self.is_free(temp, self.physical(register, is_exchanged), index))
            });
            registers.count()
        };
        count(true) > count(false)
    }

    /// Places the operands of an instruction.
    fn place(&mut self, instruction: &mut MachineInstruction, index: usize, block: usize, is_exchanged: bool) {
        let number = instruction.sources.first().map_or(-1, |source| source.index);
        let Some(places) = self.operands.0.get(&number) else { return };
        for register in 0..REGISTERS as u8 {
            if !places.iter().any(|&(place, _)| place == register) {
                continue;
            }
            let physical = self.physical(register, is_exchanged);
            let whole = self.whole(instruction, places, register, block);
            let whole = whole.filter(|&temp| self.is_free(temp, physical, index));
            if let Some(temp) = whole {
                self.renamed.insert(temp, physical);
            } else {
                self.copy(instruction, places, register, physical, index);
            }
            self.busy[usize::from(physical)] = Some(index);
        }
        for (source, &(register, components)) in instruction.sources.iter_mut().skip(1).zip(places) {
            let physical = self.physical(register, is_exchanged);
            *source = Source::new(File::Special, physical.into()).swizzled(components);
        }
    }

    /// Copies the values of an operand register.
    fn copy(&mut self, instruction: &MachineInstruction, places: &Places, register: u8, physical: u8, index: usize) {
        let mut copies: Vec<(Source, u8, [u8; 4])> = Vec::new();
        for (number, (source, &(place, components))) in instruction.sources.iter().skip(1).zip(places).enumerate() {
            if place != register {
                continue;
            }
            let read = instruction.channels(&info(instruction), number + 1);
            let known = copies.iter().position(|(known, ..)| known.is_same_register(source));
            let known = known.unwrap_or_else(|| {
                copies.push((*source, 0, [0; 4]));
                copies.len() - 1
            });
            let (_, mask, swizzle) = &mut copies[known];
            for c in (0..4).filter(|c| read >> c & 1 != 0) {
                let to = components[c] & 3;
                *mask |= 1 << to;
                swizzle[usize::from(to)] = source.swizzle[c];
            }
        }
        for (source, mask, swizzle) in copies {
            let first = swizzle[mask.trailing_zeros() as usize & 3];
            let swizzle = [0, 1, 2, 3].map(|c: usize| if mask >> c & 1 != 0 { swizzle[c] } else { first });
            let to = Destination::new(File::Special, physical.into(), mask);
            self.copies.push((index, Instruction::new(Op::Mov, Some(to), [source.swizzled(swizzle)])));
        }
    }
}

fn info(instruction: &MachineInstruction) -> tgsi_vec4::simple::Info {
    use tgsi_vec4::simple::SimpleMachine;
    crate::machine::Machine::info(instruction.op)
}
