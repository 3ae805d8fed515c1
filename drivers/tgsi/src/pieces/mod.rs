//! Large shaders, translated piece by piece: memory and caches need to hold the IR of one piece, not of the whole, and time grows with length. A loop is in one piece.
//!
//! A shader is cut between instructions that are in no block, or in one side of an `IF` that is larger than pieces are; such an `IF` is in the result as it was. Each
//! [piece](Pieces::next) is a shader of its own, which goes the whole way through the IR:
//!
//! ```text
//! a piece, as it is translated:                        what becomes of it:
//!     MOV TEMP[3].xy, CONST[carried][3]                    ADD TEMP[0].x, TEMP[0].yyyy, IN[0].xxxx
//!     ADD TEMP[3].x, TEMP[3].yyyy, IN[0].xxxx
//!     STORE BUFFER[carried 3.x].x, IMM[0].xxxx, TEMP[3].xxxx
//! ```
//!
//! - **Carried registers** are the temporaries of the source, and its outputs, which are temporaries until the last piece copies them. Before a piece they are constants, of a
//!   buffer that the source does not have: like those, they are the same wherever they are read. After it they are words of memory that the source does not have, one buffer a
//!   component: stores are kept, and nothing else writes there. In the result both are the same temporary, the register's home.
//! - The **last piece comes first**: what its translation still reads is what the one before has to store. So what nobody needs goes, however far away it is made.
//! - A home that is written is not what it was: what reads the old value behind the store gets a copy of it ([`join`]).
//!
//! Shaders are left whole where the state between two instructions is more than that: subroutines, indices into temporaries or outputs, outputs that are read, stages that
//! emit vertices or share outputs, who was killed ([`cut`]). What a value may be (its range, that it is a truth value) is not known across a cut, and equal values on both
//! sides of it are computed on both. The result declares what the source does, used or not.

mod cut;
mod join;

use std::collections::HashMap;

use tgsi::Shader;
use tgsi::shader::{Declaration, Dst, Immediate, Instruction, InstructionMemory, Property, Register, Src};
use tgsi::tables::{File, ImmediateType, Opcode};
use tgsi::to_ir::{ToIrError, to_ir};
use tgsi_ir::passes::pipeline::{self, Level};
use thiserror::Error;

use crate::dialect::interface::Interface;
use crate::options::TgsiOptions;
use crate::{DriverError, translate_within};
use cut::{Carriers, Step, cut, is_large};
use join::Joined;

/// Why a shader of TGSI has no translation.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum TranslateError {
    /// It has no form in the IR.
    #[error(transparent)]
    ToIr(#[from] ToIrError),
    /// The driver has no form for it.
    #[error(transparent)]
    Driver(#[from] DriverError),
}

/// The whole way of a shader that was [checked](tgsi::check): through the IR, optimised, and back, in pieces if it is large.
///
/// # Errors
/// [`TranslateError`]: what the IR or TGSI cannot express.
pub fn translate_tgsi(shader: Shader, options: &TgsiOptions) -> Result<Shader, TranslateError> {
    let whole = |shader: Shader, interface: Option<&Interface>| {
        let mut ir = to_ir(&shader, &options.to_ir_options(Level::All))?;
        drop(shader);
        pipeline::into_ssa(&mut ir);
        pipeline::optimize(&mut ir, &options.compiler_options());
        Ok(translate_within(ir, interface, options)?)
    };
    let mut pieces = match Pieces::of(shader, options) {
        Ok(pieces) => pieces,
        Err(shader) => return whole(*shader, None),
    };
    while let Some(piece) = pieces.next() {
        let translated = whole(piece, Some(pieces.interface()))?;
        pieces.put(translated);
    }
    Ok(pieces.finish()?)
}

/// A large shader on its way, piece by piece.
pub struct Pieces {
    /// What is not translated yet.
    source: Shader,
    /// Its parts.
    steps: Vec<Step>,
    is_started: bool,
    /// What is read behind the `IF`s that the next piece is in, and on the other side, if that was translated.
    sides: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    carriers: Carriers,
    /// The pieces in which components of carried registers are first written: `u32::MAX` if in none.
    first_written: Vec<[u32; 4]>,
    /// Components of carried registers that are read behind the piece at hand.
    live: Vec<u8>,
    /// What others see, as far as it is known.
    interface: Interface,
    properties: Vec<Property>,
    joined: Joined,
    /// Place of a register in the list of those that the piece at hand names: `u32::MAX` for none.
    places: Vec<u32>,
    immediates: HashMap<i32, i32>,
}

impl Pieces {
    /// Cuts a shader.
    ///
    /// # Errors
    /// The shader as it was, if it is not large, or cannot be cut.
    pub fn of(shader: Shader, options: &TgsiOptions) -> Result<Pieces, Box<Shader>> {
        let Some((steps, carriers)) = cut(&shader, options) else { return Err(Box::new(shader)) };
        let count = carriers.count();
        let mut first_written = vec![[u32::MAX; 4]; count];
        let start = |(number, step): (usize, &Step)| match *step {
            Step::Piece(start) => Some((start, number as u32)),
            _ => None,
        };
        let mut starts = steps.iter().enumerate().filter_map(start).peekable();
        let mut piece = 0;
        for (place, instruction) in shader.instructions.iter().enumerate() {
            while let Some((_, number)) = starts.next_if(|&(start, _)| start <= place) {
                piece = number;
            }
            for dst in &instruction.dst {
                if let Some(number) = carriers.number(&dst.register) {
                    for c in (0..4).filter(|c| dst.write_mask >> c & 1 != 0) {
                        let first = &mut first_written[number][c];
                        *first = piece.min(*first);
                    }
                }
            }
        }
        Ok(Pieces {
            is_started: false,
            sides: Vec::new(),
            first_written,
            live: vec![0; count],
            interface: Interface::of(&shader),
            properties: shader.properties.clone(),
            // Room that is not used costs nothing.
            joined: Joined::new(shader.processor, count, 2 * shader.instructions.len()),
            places: vec![u32::MAX; count],
            immediates: HashMap::new(),
            carriers,
            steps,
            source: shader,
        })
    }

    /// Whether a shader is so large that it is cut if it can be.
    pub fn are_wanted(shader: &Shader, options: &TgsiOptions) -> bool {
        is_large(shader, options)
    }

    /// The declarations that a piece is to be translated with.
    pub fn interface(&self) -> &Interface {
        &self.interface
    }

    /// The next piece to be translated, from the end to the start; none after the first one.
    #[expect(clippy::should_implement_trait, reason = "the result of each is given back before the next")]
    pub fn next(&mut self) -> Option<Shader> {
        loop {
            let start = match self.steps.pop()? {
                Step::Piece(start) => start,
                step => {
                    self.pass(step);
                    continue;
                }
            };
            let number = self.steps.len() as u32;
            let is_last = !std::mem::replace(&mut self.is_started, true);
            let source = &mut self.source.instructions;
            let mut instructions = if start == 0 { std::mem::take(source) } else { source.split_off(start) };
            if is_last {
                instructions.pop_if(|i| i.opcode == Opcode::End);
            }
            return Some(self.piece(number, instructions, is_last));
        }
    }

    /// An instruction between pieces: it is the same in the result, and says what is read where.
    fn pass(&mut self, step: Step) {
        let Some(mut instruction) = self.source.instructions.pop() else { return };
        match step {
            Step::Endif => self.sides.push((self.live.clone(), None)),
            Step::Else => {
                if let Some((behind, other)) = self.sides.last_mut() {
                    *other = Some(std::mem::replace(&mut self.live, behind.clone()));
                }
            }
            Step::If | Step::Piece(_) => {
                let Some((behind, other)) = self.sides.pop() else { return };
                for (live, other) in self.live.iter_mut().zip(other.unwrap_or(behind)) {
                    *live |= other;
                }
                for src in &mut instruction.src {
                    if let Some(number) = self.carriers.number(&src.register) {
                        self.live[number] |= 1 << (src.swizzle[0] & 3);
                        src.register = self.carriers.constant(number);
                    }
                }
            }
        }
        self.joined.pass(instruction, &self.carriers, &self.source.immediates);
    }

    /// A piece as a shader of its own.
    fn piece(&mut self, number: u32, mut instructions: Vec<Instruction>, is_last: bool) -> Shader {
        let mut piece = Shader::new(self.source.processor);
        piece.processor_span = self.source.processor_span;
        piece.properties.clone_from(&self.properties);
        let kept = |d: &&Declaration| d.file != File::Temporary;
        piece.declarations.extend(self.source.declarations.iter().filter(kept).cloned());
        // What it names: carried registers with the components that it writes, and immediates.
        let mut named: Vec<(usize, u8)> = Vec::new();
        self.immediates.clear();
        for instruction in &mut instructions {
            for register in registers_mut(instruction) {
                if let Some(number) = self.carriers.number(register) {
                    *register = Register { file: File::Temporary, index: number as i32, ..*register };
                    if self.places[number] == u32::MAX {
                        self.places[number] = named.len() as u32;
                        named.push((number, 0));
                    }
                } else if register.file == File::Immediate {
                    register.index = self.immediate(&mut piece, register.index);
                }
            }
            for dst in &instruction.dst {
                if dst.register.file == File::Temporary {
                    named[self.places[dst.register.index as usize] as usize].1 |= dst.write_mask & 0xf;
                }
            }
            for offset in instruction.texture.iter_mut().flat_map(|texture| &mut texture.offsets) {
                if offset.file == File::Immediate {
                    offset.index = self.immediate(&mut piece, offset.index);
                }
            }
        }
        for &(number, _) in &named {
            self.places[number] = u32::MAX;
        }
        named.sort_unstable();
        let zero = piece.immediates.len() as i32;
        piece.immediates.push(Immediate::new(ImmediateType::Uint32, [0; 4]));
        if is_last {
            // Outputs of which only other pieces know.
            let others = self.carriers.outputs().filter(|&r| named.binary_search_by_key(&r, |n| n.0).is_err());
            let others: Vec<_> = others.map(|r| (r, 0)).collect();
            named.extend(others);
        }
        let temporary = |number: usize| Register::new(File::Temporary, number as i32);
        let mut all = Vec::with_capacity(instructions.len() + 2 * named.len() + 1);
        for &(register, _) in &named {
            let before = mask(|c| self.first_written[register][c] < number);
            if before != 0 {
                all.push(mov(temporary(register), before, Src::new(self.carriers.constant(register))));
            }
        }
        all.append(&mut instructions);
        for &(register, written) in &named {
            if let Some(output) = self.carriers.output(register).filter(|_| is_last) {
                let mask = mask(|c| self.first_written[register][c] != u32::MAX);
                if mask != 0 {
                    all.push(mov(output, mask, Src::new(temporary(register))));
                }
            }
            for c in (0..4).filter(|c| (self.live[register] & written) >> c & 1 != 0) {
                let word = self.carriers.memory(register, c);
                piece.declarations.push(Declaration::new(File::Buffer, word, word));
                let mut store = Instruction::new(Opcode::Store);
                store.memory = Some(InstructionMemory::default());
                store.dst.push(Dst::new(Register::new(File::Buffer, word.into())).masked(1));
                store.src.push(Src::new(Register::new(File::Immediate, zero)).swizzled([0; 4]));
                store.src.push(Src::new(temporary(register)).swizzled([c as u8; 4]));
                all.push(store);
            }
        }
        all.push(Instruction::new(Opcode::End));
        piece.instructions = all;
        if let Some(last) = self.carriers.count().checked_sub(1) {
            piece.declarations.push(Declaration::new(File::Temporary, 0, last as u16));
            let dimension = Some(self.carriers.buffer());
            piece.declarations.push(Declaration { dimension, ..Declaration::new(File::Constant, 0, last as u16) });
        }
        piece.order_by_kind();
        piece
    }

    /// The number that an immediate of the source has in a piece.
    fn immediate(&mut self, piece: &mut Shader, index: i32) -> i32 {
        *self.immediates.entry(index).or_insert_with(|| {
            let immediate = usize::try_from(index).ok().and_then(|i| self.source.immediates.get(i));
            piece.immediates.extend(immediate.cloned());
            piece.immediates.len() as i32 - 1
        })
    }

    /// Takes the translation of the piece that [`next`](Self::next) gave.
    pub fn put(&mut self, mut translated: Shader) {
        translated.declarations.retain(|d| !self.carriers.holds(d));
        // System values that the driver has found use for.
        self.interface = Interface::of(&translated);
        self.joined.put(translated, &self.carriers, &mut self.live);
    }

    /// The whole.
    ///
    /// # Errors
    /// [`DriverError`]: there are more temporaries than operands can name.
    pub fn finish(self) -> Result<Shader, DriverError> {
        let mut shader = self.joined.finish(self.interface.into_declarations())?;
        shader.properties = self.properties;
        shader.order_by_kind();
        Ok(shader)
    }
}

/// The registers of all operands.
fn registers_mut(instruction: &mut Instruction) -> impl Iterator<Item = &mut Register> {
    let Instruction { dst, src, .. } = instruction;
    dst.iter_mut().map(|d| &mut d.register).chain(src.iter_mut().map(|s| &mut s.register))
}

fn mask(is_in: impl Fn(usize) -> bool) -> u8 {
    (0..4).filter(|&c| is_in(c)).fold(0, |mask, c| mask | 1 << c)
}

fn mov(register: Register, write_mask: u8, value: Src) -> Instruction {
    let mut instruction = Instruction::new(Opcode::Mov);
    instruction.dst.push(Dst::new(register).masked(write_mask));
    instruction.src.push(value);
    instruction
}
