//! Forward propagation of copies within blocks: readers of a `MOV`'s destination read its source.
//!
//! ```text
//! MOV TEMP[5].xy, -CONST[0][1].zwzw
//! ADD TEMP[6].xy, TEMP[5].yxyx, TEMP[2]    =>    ADD TEMP[6].xy, -CONST[0][1].wzwz, TEMP[2]
//! ```
//!
//! [`Tracker`] is what this pass and [`combine`](super::combine) know at a place: for each component the last instruction of the block that wrote it.
//! A source that was read at place `p` still has its value at `q` if nothing wrote it since.

use tgsi::shader::{Instruction, Register, Src};
use tgsi::tables::{File, Opcode};

use super::flow::{Numbering, blocks};
use super::operands::{is_value, source_mask, takes_modifiers, written};
use super::{Immediates, Program};

/// Last writes, as places plus one.
pub(crate) struct Tracker {
    pub(crate) numbering: Numbering,
    first_temp: i32,
    last_write: Vec<u32>,
    /// Last write to any array of temporaries.
    array_write: u32,
    /// Last write to an output.
    output_write: u32,
    /// First place of the block.
    pub(crate) block_start: usize,
}

impl Tracker {
    pub(crate) fn new(program: &Program) -> Tracker {
        let numbering = Numbering::of(program);
        Tracker {
            numbering,
            first_temp: program.first_temp as i32,
            last_write: vec![0; numbering.len() * 4],
            array_write: 0,
            output_write: 0,
            block_start: 0,
        }
    }

    /// Records what an instruction writes.
    pub(crate) fn record(&mut self, place: usize, instruction: &Instruction) {
        match written(instruction) {
            Some((file, index, mask)) => match self.numbering.number(file, index) {
                Some(register) => {
                    for c in (0..4).filter(|c| mask & 1 << c != 0) {
                        self.last_write[register * 4 + c] = place as u32 + 1;
                    }
                }
                None if file == File::Temporary => self.array_write = place as u32 + 1,
                None => self.output_write = place as u32 + 1,
            },
            None if instruction.dst.first().is_some_and(|d| d.register.file == File::Temporary) => {
                self.array_write = place as u32 + 1;
            }
            None => self.output_write = place as u32 + 1,
        }
    }

    /// Place of the last write to a component within the block.
    pub(crate) fn definition(&self, file: File, index: i32, component: u8) -> Option<usize> {
        let register = self.numbering.number(file, index)?;
        let place = (*self.last_write.get(register * 4 + usize::from(component & 3))?).checked_sub(1)? as usize;
        (place >= self.block_start).then_some(place)
    }

    fn component_kept(&self, file: File, index: i32, component: u8, since: usize) -> bool {
        self.numbering
            .number(file, index)
            .is_some_and(|register| self.last_write[register * 4 + usize::from(component & 3)] as usize <= since)
    }

    /// Whether components of a register still hold what they held when the instruction at `since` read them.
    pub(crate) fn is_kept(&self, register: &Register, mask: u8, since: usize) -> bool {
        let indices = [register.indirect, register.dimension.and_then(|d| d.indirect)];
        if indices.into_iter().flatten().any(|i| !self.component_kept(i.file, i.index, i.component, since)) {
            return false;
        }
        match register.file {
            File::Temporary if register.indirect.is_some() || register.index < self.first_temp => {
                self.array_write as usize <= since
            }
            File::Temporary | File::Address => (0..4u8)
                .filter(|c| mask & 1 << c != 0)
                .all(|c| self.component_kept(register.file, register.index, c, since)),
            File::Constant | File::Input | File::Immediate | File::SystemValue => true,
            _ => false,
        }
    }

    /// The place that wrote all components that a source reads, if it is one place of the block.
    pub(crate) fn single_definition(&self, instruction: &Instruction, source: usize) -> Option<usize> {
        let src = instruction.src.get(source)?;
        if src.register.indirect.is_some() {
            return None;
        }
        let mask = source_mask(instruction, source);
        let mut found = None;
        for c in (0..4u8).filter(|c| mask & 1 << c != 0) {
            let place = self.definition(src.register.file, src.register.index, c)?;
            if found.is_some_and(|f| f != place) {
                return None;
            }
            found = Some(place);
        }
        found
    }
}

/// Modifiers of a source applied to a source that has modifiers itself.
pub(crate) fn apply_modifiers(outer: &Src, mut inner: Src) -> Src {
    if outer.absolute {
        inner.absolute = true;
        inner.negate = outer.negate;
    } else {
        inner.negate ^= outer.negate;
    }
    inner
}

/// Propagates copies. Returns whether anything changed.
pub(crate) fn propagate_copies(program: &mut Program) -> bool {
    let mut tracker = Tracker::new(program);
    let mut changed = false;
    for block in blocks(&program.instructions) {
        tracker.block_start = block.start;
        for place in block.start..block.end {
            let count = program.instructions[place].src.len();
            for source in 0..count {
                if let Some(new) = propagated(&program.instructions, &mut program.immediates, &tracker, place, source) {
                    program.instructions[place].src[source] = new;
                    changed = true;
                }
            }
            tracker.record(place, &program.instructions[place]);
        }
    }
    changed
}

/// Whether a source is a value that any register may supply.
fn is_free_value(instruction: &Instruction, source: usize) -> bool {
    let info = instruction.opcode.info();
    let resource = (info.is_tex && source + 1 == usize::from(info.num_src))
        || (source == 0
            && (info.is_store && instruction.opcode != Opcode::Store
                || matches!(
                    instruction.opcode,
                    Opcode::Load
                        | Opcode::Resq
                        | Opcode::Fbfetch
                        | Opcode::InterpCentroid
                        | Opcode::InterpOffset
                        | Opcode::InterpSample
                )));
    !resource
}

fn propagated(
    instructions: &[Instruction],
    immediates: &mut Immediates,
    tracker: &Tracker,
    place: usize,
    source: usize,
) -> Option<Src> {
    let instruction = &instructions[place];
    let src = *instruction.src.get(source)?;
    if src.register.file != File::Temporary || src.register.indirect.is_some() || !is_free_value(instruction, source) {
        return None;
    }
    let channels = tgsi::scan::needed_channels(instruction, source);
    let mut found: Option<Src> = None;
    let mut words: Option<[u32; 4]> = None;
    let mut swizzle = [0u8; 4];
    let mut row = [0u32; 4];
    let mut different_rows = false;
    for c in (0..4usize).filter(|c| channels & 1 << c != 0) {
        let component = src.swizzle[c] & 3;
        let definition = tracker.definition(File::Temporary, src.register.index, component)?;
        let copy = instructions.get(definition)?;
        let from = copy.src.first()?;
        if copy.opcode != Opcode::Mov || copy.saturate || !is_value(from) || from.register.file == File::Output {
            return None;
        }
        let selected = from.swizzle[usize::from(component)] & 3;
        if !tracker.is_kept(&from.register, 1 << selected, definition) {
            return None;
        }
        swizzle[c] = selected;
        let plain = from.register.file == File::Immediate && !from.absolute && !from.negate;
        if plain {
            row[c] = immediates.row(from.register.index)[usize::from(selected)];
        }
        match &found {
            None => {
                found = Some(*from);
                words = plain.then_some([0; 4]);
            }
            Some(first) if super::operands::same_register(first, from) => {}
            Some(_) if words.is_some() && plain => different_rows = true,
            Some(_) => return None,
        }
    }
    let mut from = found?;
    if channels == 0 {
        return None;
    }
    if words.is_some() && different_rows {
        from.register = Register::new(File::Immediate, immediates.intern(row));
        swizzle = [0, 1, 2, 3];
    }
    let first = (0..4usize).find(|c| channels & 1 << c != 0)?;
    for c in 0..4 {
        if channels & 1 << c == 0 {
            swizzle[c] = swizzle[first];
        }
    }
    let info = instruction.opcode.info();
    let wide = info.src_types.get(source).is_some_and(|t| t.is_64bit());
    if wide && from.register.file != File::Immediate {
        let split = |a: usize| swizzle[a] & 1 != 0 || swizzle[a + 1] != swizzle[a] + 1;
        if (channels & 3 != 0 && split(0)) || (channels & 12 != 0 && split(2)) {
            return None;
        }
    }
    if (from.absolute || from.negate) && !takes_modifiers(instruction.opcode, source) {
        return None;
    }
    // Index registers are few: keep an indirect operand where an instruction with one already stands.
    let mut new = apply_modifiers(&src, Src { swizzle, ..from });
    new.span = src.span;
    Some(new)
}
