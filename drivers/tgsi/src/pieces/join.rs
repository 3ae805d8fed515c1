//! Translated pieces, put together: constants and memory that carried registers become temporaries again.
//!
//! Temporaries of a piece are its own; they have numbers from [`OWN`] on until all pieces are there. Homes of carried registers have the numbers before.

use std::collections::HashMap;

use tgsi::Shader;
use tgsi::builder::ShaderBuilder;
use tgsi::scan::needed_channels;
use tgsi::shader::{Declaration, Immediate, Instruction, Register, Src};
use tgsi::tables::{BlockPart, File, ImmediateType, Opcode, Processor};

use super::cut::Carriers;
use super::{mov, registers_mut};
use crate::DriverError;

/// The first number of the temporaries of a piece.
const OWN: i32 = 1 << 24;

/// Components of a handle.
const HANDLE: u8 = 3;

/// What there is of the result.
pub(super) struct Joined {
    processor: Processor,
    /// The last one first, as they come: pieces that were kept by themselves would be there twice in the end.
    instructions: Vec<Instruction>,
    immediates: Vec<Immediate>,
    rows: HashMap<(ImmediateType, [u32; 4]), i32>,
    /// Temporaries of carried registers, by number of the register.
    homes: Vec<Option<u32>>,
    num_homes: u32,
    /// Most temporaries of a piece.
    temporaries: u32,
    addresses: u16,
}

impl Joined {
    /// Nothing yet, of a shader with so many carried registers, and room for so many instructions.
    pub(super) fn new(processor: Processor, carried: usize, room: usize) -> Joined {
        Joined {
            processor,
            instructions: Vec::with_capacity(room),
            immediates: Vec::new(),
            rows: HashMap::new(),
            homes: vec![None; carried],
            num_homes: 0,
            temporaries: 0,
            addresses: 0,
        }
    }

    fn home(&mut self, number: usize) -> Register {
        let next = self.num_homes;
        let home = *self.homes[number].get_or_insert(next);
        self.num_homes += u32::from(home == next);
        Register::new(File::Temporary, home as i32)
    }

    /// Puts a translated piece before the others. `live`: components of carried registers that are read behind it, then those that are read behind the piece before.
    pub(super) fn put(&mut self, translated: Shader, carriers: &Carriers, live: &mut [u8]) {
        let declared = |file: File| translated.declarations.iter().filter(move |d| d.file == file);
        let mut temporaries = declared(File::Temporary).map(|d| u32::from(d.last) + 1).max().unwrap_or(0);
        self.addresses = declared(File::Address).map(|d| d.last + 1).fold(self.addresses, u16::max);
        let immediates = translated.immediates;
        let mut instructions = translated.instructions;
        instructions.pop_if(|i| i.opcode == Opcode::End);
        let old_values = save_old_values(&mut instructions, carriers, &mut temporaries);
        self.temporaries = self.temporaries.max(temporaries);

        let mut piece: Vec<Instruction> = Vec::with_capacity(old_values.len() + instructions.len());
        let mut depth = 0usize;
        // Read by the piece, and what it writes whatever it does.
        let mut read: Vec<(usize, u8)> = Vec::new();
        for mut instruction in old_values.into_iter().chain(instructions) {
            match instruction.opcode.block() {
                Some(BlockPart::Opens) => depth += 1,
                Some(BlockPart::Closes) => depth = depth.saturating_sub(1),
                _ => {}
            }
            let store = stored(&instruction, carriers);
            if let Some((number, component)) = store {
                let Some(&value) = instruction.src.get(1) else { continue };
                let is_itself = carriers.of_constant(&value.register) == Some(number)
                    && usize::from(value.swizzle[0]) == component
                    && !value.absolute
                    && !value.negate;
                if is_itself {
                    continue;
                }
                instruction = mov(self.home(number), 1 << component, value.swizzled([value.swizzle[0]; 4]));
                if depth == 0 {
                    live[number] &= !(1 << component);
                }
            } else {
                for dst in &mut instruction.dst {
                    // What is stored to may be given by a handle.
                    if let Some(register) = carriers.of_constant(&dst.register) {
                        read.push((register, HANDLE));
                        dst.register = self.home(register);
                    } else {
                        self.rename(&mut dst.register, &immediates);
                    }
                }
            }
            for number in 0..instruction.src.len() {
                if let Some(register) = carriers.of_constant(&instruction.src[number].register) {
                    read.push((register, selected(&instruction, number)));
                    instruction.src[number].register = self.home(register);
                } else {
                    self.rename(&mut instruction.src[number].register, &immediates);
                }
            }
            for offset in instruction.texture.iter_mut().flat_map(|texture| &mut texture.offsets) {
                let mut register = Register::new(offset.file, offset.index);
                self.rename(&mut register, &immediates);
                offset.index = register.index;
            }
            if store.is_none() || !piece.last_mut().is_some_and(|before| take_up(before, &instruction)) {
                piece.push(instruction);
            }
        }
        for (number, mask) in read {
            live[number] |= mask;
        }
        self.instructions.extend(piece.into_iter().rev());
    }

    /// Puts an instruction of the source before the others, whose carried registers have been replaced by constants.
    pub(super) fn pass(&mut self, mut instruction: Instruction, carriers: &Carriers, immediates: &[Immediate]) {
        for register in registers_mut(&mut instruction) {
            match carriers.of_constant(register) {
                Some(number) => *register = self.home(number),
                None => self.rename(register, immediates),
            }
        }
        self.instructions.push(instruction);
    }

    /// Gives registers of a piece the numbers that they have while pieces are put together.
    fn rename(&mut self, register: &mut Register, immediates: &[Immediate]) {
        match register.file {
            File::Temporary => register.index += OWN,
            File::Immediate => {
                let immediate = usize::try_from(register.index).ok().and_then(|i| immediates.get(i));
                if let Some(immediate) = immediate {
                    register.index = self.row(immediate);
                }
            }
            _ => {}
        }
    }

    fn row(&mut self, immediate: &Immediate) -> i32 {
        let words = [0, 1, 2, 3].map(|c| immediate.word(c));
        *self.rows.entry((immediate.data_type, words)).or_insert_with(|| {
            self.immediates.push(Immediate::new(immediate.data_type, words));
            self.immediates.len() as i32 - 1
        })
    }

    /// The whole, with these declarations besides those of its own.
    pub(super) fn finish(self, declarations: Vec<Declaration>) -> Result<Shader, DriverError> {
        let temporaries = self.num_homes + self.temporaries;
        if temporaries > 0x7fff {
            return Err(DriverError::TooManyTemporaries(temporaries));
        }
        let number = |index: i32| if index < OWN { index } else { index - OWN + self.num_homes as i32 };
        let mut instructions = self.instructions;
        instructions.reverse();
        for instruction in &mut instructions {
            for register in registers_mut(instruction).filter(|r| r.file == File::Temporary) {
                register.index = number(register.index);
            }
            for offset in instruction.texture.iter_mut().flat_map(|texture| &mut texture.offsets) {
                if offset.file == File::Temporary {
                    offset.index = number(offset.index);
                }
            }
        }
        let mut builder = ShaderBuilder::new(self.processor);
        builder.append(instructions);
        builder.end();
        let mut shader = builder.finish()?;
        shader.declarations = declarations;
        if temporaries > 0 {
            shader.declarations.push(Declaration::new(File::Temporary, 0, (temporaries - 1) as u16));
        }
        if self.addresses > 0 {
            shader.declarations.push(Declaration::new(File::Address, 0, self.addresses - 1));
        }
        shader.immediates = self.immediates;
        Ok(shader)
    }
}

/// The component of a carried register that an instruction stores.
fn stored(instruction: &Instruction, carriers: &Carriers) -> Option<(usize, usize)> {
    if instruction.opcode != Opcode::Store {
        return None;
    }
    carriers.of_memory(&instruction.dst.first()?.register)
}

/// Components of its register that a source selects.
fn selected(instruction: &Instruction, number: usize) -> u8 {
    let channels = needed_channels(instruction, number);
    let swizzle = instruction.src[number].swizzle;
    (0..4).filter(|c| channels >> c & 1 != 0).fold(0, |mask, c| mask | 1 << (swizzle[c] & 3))
}

/// Copies of old values, for what reads them behind stores to the same components.
struct OldValues<'a> {
    carriers: &'a Carriers,
    /// Components that are stored so far.
    written: HashMap<usize, u8>,
    /// Places of the copies in the list.
    copies: HashMap<usize, usize>,
    moves: Vec<Instruction>,
}

impl OldValues<'_> {
    /// Makes an operand that reads these components of a carried register read a copy of them, if they are not what they were.
    fn keep(&mut self, register: &mut Register, components: u8, temporaries: &mut u32) {
        let Some(number) = self.carriers.of_constant(register) else { return };
        if self.written.get(&number).is_none_or(|mask| mask & components == 0) {
            return;
        }
        let place = *self.copies.entry(number).or_insert_with(|| {
            let copy = Register::new(File::Temporary, *temporaries as i32);
            *temporaries += 1;
            self.moves.push(mov(copy, 0, Src::new(self.carriers.constant(number))));
            self.moves.len() - 1
        });
        let Instruction { dst, src, .. } = &mut self.moves[place];
        if let (Some(dst), Some(src)) = (dst.first_mut(), src.first_mut()) {
            dst.write_mask |= components;
            *register = dst.register;
            let first = dst.write_mask.trailing_zeros() as u8;
            src.swizzle = [0, 1, 2, 3].map(|c| if dst.write_mask >> c & 1 != 0 { c } else { first });
        }
    }
}

/// Makes what reads a carried register behind a store to the same component read a copy of the old value; the copies, to come first, are returned.
fn save_old_values(instructions: &mut [Instruction], carriers: &Carriers, temporaries: &mut u32) -> Vec<Instruction> {
    let mut old = OldValues { carriers, written: HashMap::new(), copies: HashMap::new(), moves: Vec::new() };
    for instruction in instructions {
        let store = stored(instruction, carriers);
        if store.is_none() && old.written.is_empty() {
            continue;
        }
        for number in 0..instruction.src.len() {
            // Of what is stored one component is read, in whichever channel.
            let components = match store {
                Some(_) => 1 << (instruction.src[number].swizzle[0] & 3),
                None => selected(instruction, number),
            };
            old.keep(&mut instruction.src[number].register, components, temporaries);
        }
        match store {
            Some((register, component)) => *old.written.entry(register).or_default() |= 1 << component,
            None => instruction.dst.iter_mut().for_each(|dst| old.keep(&mut dst.register, HANDLE, temporaries)),
        }
    }
    old.moves
}

/// Lets a copy do what the one behind it does to another component of the same register. Returns whether it does.
fn take_up(before: &mut Instruction, behind: &Instruction) -> bool {
    let plain = |i: &Instruction| i.opcode == Opcode::Mov && !i.saturate && !i.precise;
    let (Some(to), Some(from)) = (behind.dst.first(), behind.src.first()) else { return false };
    if !plain(before) || !plain(behind) {
        return false;
    }
    let (Some(dst), Some(src)) = (before.dst.first_mut(), before.src.first_mut()) else { return false };
    let is_same = dst.register == to.register
        && src.register == from.register
        && src.register != dst.register
        && (src.absolute, src.negate) == (from.absolute, from.negate);
    if !is_same || dst.write_mask & to.write_mask != 0 {
        return false;
    }
    dst.write_mask |= to.write_mask;
    for c in (0..4).filter(|c| to.write_mask >> c & 1 != 0) {
        src.swizzle[c] = from.swizzle[c];
    }
    true
}
