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

use crate::machine::Program;
use crate::machine::access::{ARRAYS, Access, Traits, number};
use crate::machine::flow::block_from;
use crate::machine::operands::is_value;
use crate::target::opcodes::takes_modifiers;

/// Last writes, as places plus one.
pub(crate) struct Tracker {
    first_temp: u32,
    /// By register and component.
    last_write: Vec<[u32; 4]>,
    /// Last write to any array of temporaries.
    array_write: u32,
    /// First place of the block.
    pub(crate) block_start: usize,
}

impl Tracker {
    pub(crate) fn new(program: &Program) -> Tracker {
        Tracker {
            first_temp: program.first_temp,
            last_write: vec![[0; 4]; program.registers()],
            array_write: 0,
            block_start: 0,
        }
    }

    /// Records what an instruction writes.
    pub(crate) fn record(&mut self, place: usize, access: &Access) {
        if let Some(written) = access.written().filter(|w| w.is_dense()) {
            let mask = written.mask();
            for (c, last) in self.last_write[written.register()].iter_mut().enumerate() {
                if mask & 1 << c != 0 {
                    *last = place as u32 + 1;
                }
            }
        } else if access.traits.any(Traits::WRITES_ARRAY) {
            self.array_write = place as u32 + 1;
        }
    }

    /// Number of a register that is followed.
    pub(crate) fn register(&self, file: File, index: i32) -> Option<usize> {
        number(file, index, self.first_temp).filter(|&n| n < ARRAYS).map(|n| n as usize)
    }

    /// Place of the last write to a component within the block.
    pub(crate) fn definition(&self, register: usize, component: u8) -> Option<usize> {
        let place = self.last_write.get(register)?[usize::from(component & 3)].checked_sub(1)? as usize;
        (place >= self.block_start).then_some(place)
    }

    fn component_kept(&self, register: Option<usize>, component: u8, since: usize) -> bool {
        register
            .and_then(|register| self.last_write.get(register))
            .is_some_and(|last| last[usize::from(component & 3)] as usize <= since)
    }

    /// Whether components of a register still hold what they held when the instruction at `since` read them.
    pub(crate) fn is_kept(&self, register: &Register, mask: u8, since: usize) -> bool {
        if register.indirect.is_some() || register.dimension.is_some() {
            let indices = [register.indirect, register.dimension.and_then(|d| d.indirect)];
            let is_kept = |file, index, component| self.component_kept(self.register(file, index), component, since);
            if indices.into_iter().flatten().any(|i| !is_kept(i.file, i.index, i.component)) {
                return false;
            }
        }
        match register.file {
            File::Temporary if register.indirect.is_some() || register.index < self.first_temp as i32 => {
                self.array_write as usize <= since
            }
            File::Temporary | File::Address => {
                let number = self.register(register.file, register.index);
                (0..4u8).filter(|c| mask & 1 << c != 0).all(|c| self.component_kept(number, c, since))
            }
            File::Constant | File::Input | File::Immediate | File::SystemValue => true,
            _ => false,
        }
    }

    /// The place that wrote all components that a source reads, if it is one place of the block.
    pub(crate) fn single_definition(&self, instruction: &Instruction, access: &Access, source: usize) -> Option<usize> {
        let src = instruction.src.get(source)?;
        if src.register.indirect.is_some() {
            return None;
        }
        let register = self.register(src.register.file, src.register.index)?;
        let mask = access.mask(source);
        let mut found = None;
        for c in (0..4u8).filter(|c| mask & 1 << c != 0) {
            let place = self.definition(register, c)?;
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
    if !program.access.iter().any(|access| access.opcode == Opcode::Mov) {
        return false;
    }
    let mut tracker = Tracker::new(program);
    let mut changed = false;
    let mut next = 0;
    while let Some(block) = block_from(program, next) {
        next = block.end;
        tracker.block_start = block.start;
        for place in block.clone() {
            // What reads no temporary has nothing to propagate to.
            if program.access[place].reads().iter().any(|read| read.temp().is_some()) {
                for source in 0..program.instructions[place].src.len() {
                    if let Some(new) = propagated(program, &tracker, place, source) {
                        program.edit(place, |instruction| instruction.src[source] = new);
                        changed = true;
                    }
                }
            }
            tracker.record(place, &program.access[place]);
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

fn propagated(program: &mut Program, tracker: &Tracker, place: usize, source: usize) -> Option<Src> {
    let Program { instructions, access, immediates, rules, .. } = program;
    let instruction = &instructions[place];
    let src = *instruction.src.get(source)?;
    if src.register.file != File::Temporary || src.register.indirect.is_some() || !is_free_value(instruction, source) {
        return None;
    }
    let register = tracker.register(File::Temporary, src.register.index)?;
    let channels = access[place].channels(source);
    let mut found: Option<Src> = None;
    let mut words: Option<[u32; 4]> = None;
    let mut swizzle = [0u8; 4];
    let mut row = [0u32; 4];
    let mut different_rows = false;
    for c in (0..4usize).filter(|c| channels & 1 << c != 0) {
        let component = src.swizzle[c] & 3;
        let definition = tracker.definition(register, component)?;
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
            Some(first) if crate::machine::operands::same_register(first, from) => {}
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
    rules.allows_source(instruction, source, &new).then_some(new)
}
