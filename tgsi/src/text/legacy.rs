//! Rewrites older TGSI to current TGSI during parsing.
//!
//! * Removed opcodes: the table [`OPCODES`] has their names, operands and replacements.
//! * Removed files: `RES` (now buffers, images, sampler views), `RLOCAL` and similar (now `MEMORY`), `TEMPX`, `IMMX`,
//!   `PRED`.
//! * Compute texts that consist of subroutines only, one of which was called by the driver.
//!
//! A rewrite needs scratch registers and constants. During parsing these have provisional numbers far outside the valid
//! range, because the declarations of the text are only known at its end. [`Legacy::finish`] assigns the final numbers,
//! declares the registers, and updates the labels, which are instruction numbers.

use super::error::ParseErrorKind;
use super::legacy_rewrite::Rewriter;
pub(crate) use super::legacy_table::*;
use crate::limits::{MAX_LABEL, MAX_OLD_DECLARATIONS, MAX_OPERAND_INDEX};
use crate::shader::{Declaration, Immediate, Instruction, ItemKind, Register, Shader, Src, Written};
use crate::tables::{File, ImmediateType, MemoryType, Opcode, TextureTarget};
use tgsi_diagnostics::Diagnostic;
use tgsi_diagnostics::Span;

/// First provisional register number of scratch temporaries and constants.
const SCRATCH: i32 = 1 << 20;
/// First provisional register number of `TEMPX`, `PRED` and `IMMX`. Offsets of operands may reach slightly below.
const ARRAY: i32 = 1 << 24;
/// Lowest provisional number.
const PROVISIONAL: i32 = 1 << 18;
/// Lowest provisional number of an array.
const PROVISIONAL_ARRAY: i32 = 1 << 22;

/// Indices of `RES` that denoted memory.
const MEMORY_RESOURCES: [(i32, MemoryType); 4] = [
    (32767, MemoryType::Global),
    (32766, MemoryType::Shared),
    (32765, MemoryType::Private),
    (32764, MemoryType::Input),
];

#[derive(Clone, Copy, Debug)]
struct Resource {
    first: u16,
    last: u16,
    file: File,
    target: Option<TextureTarget>,
}

#[derive(Clone, Copy, Debug)]
struct TemporaryArray {
    file: LegacyFile,
    id: u16,
    first: u16,
    last: u16,
    /// Number of its first register among the registers of all arrays.
    base: i32,
}

/// Registers and declarations that the older constructs of a text need.
#[derive(Default)]
pub(crate) struct Legacy {
    /// For each instruction of the text, the (first) instruction of the shader that it became.
    numbers: Vec<u32>,
    scratch: i32,
    resources: Vec<Resource>,
    arrays: Vec<TemporaryArray>,
    /// Number of registers of all arrays.
    array_registers: i32,
    /// Constants of rewrites.
    constants: Vec<Immediate>,
    /// Elements of `IMMX`, in runs: first index, last index, position of the first among the elements.
    elements: Vec<Immediate>,
    element_runs: Vec<(u16, u16, i32)>,
    memories: [bool; 4],
    /// Mnemonics of old instructions, by the number of the replacement.
    names: Vec<(u32, &'static str)>,
}

impl Legacy {
    /// Records that the next instruction of the text begins here.
    pub(crate) fn begin_instruction(&mut self, shader: &Shader) {
        self.numbers.push(shader.instructions.len() as u32);
    }

    pub(crate) fn declare_resource(&mut self, first: u16, last: u16, file: File, target: Option<TextureTarget>) {
        self.resources.push(Resource { first, last, file, target });
    }

    pub(crate) fn declare_temporaries(&mut self, file: LegacyFile, id: u16, first: u16, last: u16) {
        self.arrays.push(TemporaryArray { file, id, first, last, base: self.array_registers });
        self.array_registers += (last - first) as i32 + 1;
    }

    /// Declares the elements `first..=last` of `IMMX`, before their values are appended.
    pub(crate) fn declare_elements(&mut self, first: u16, last: u16) {
        self.element_runs.push((first, last, self.elements.len() as i32));
    }

    /// Appends the value of the next element.
    pub(crate) fn push_element(&mut self, words: arrayvec::ArrayVec<u32, 4>, span: Span) {
        self.elements.push(Immediate { data_type: ImmediateType::Float32, words, span });
    }

    /// Whether the maximum number of declarations of old files is reached.
    pub(crate) fn is_full(&self) -> bool {
        self.resources.len().max(self.arrays.len()).max(self.element_runs.len()) >= MAX_OLD_DECLARATIONS
    }

    /// Returns the register of a memory area and marks it for declaration.
    pub(crate) fn memory(&mut self, memory: MemoryType) -> Register {
        self.memories[memory as usize] = true;
        Register::new(File::Memory, memory.value() as i32)
    }

    /// Translates a register of an old file to one of a current file, with the target if it is an image. Returns none
    /// if it is not declared.
    pub(crate) fn register(
        &mut self,
        file: LegacyFile,
        register: Register,
    ) -> Option<(Register, Option<TextureTarget>)> {
        let mut register = register;
        match file {
            LegacyFile::Memory(memory) => Some((self.memory(memory), None)),
            LegacyFile::Resource => {
                let memory = MEMORY_RESOURCES.iter().find(|(index, _)| *index == register.index);
                if let Some(&(_, memory)) = memory {
                    return Some((self.memory(memory), None));
                }
                let holds = |r: &&Resource| (r.first as i32..=r.last as i32).contains(&register.index);
                let resource = self.resources.iter().rev().find(holds);
                register.file = resource.map_or(File::Buffer, |r| r.file);
                let target = resource.filter(|r| r.file == File::Image).and_then(|r| r.target);
                Some((register, target))
            }
            LegacyFile::TempArray | LegacyFile::Predicate => {
                let id = register.dimension.map_or(0, |dimension| dimension.index);
                let indirect = register.indirect.is_some();
                let holds = |a: &&TemporaryArray| {
                    let inside = (a.first as i32..=a.last as i32).contains(&register.index) || indirect;
                    a.file == file && a.id as i32 == id && inside
                };
                let array = self.arrays.iter().rev().find(holds)?;
                register.index = ARRAY + array.base + register.index - array.first as i32;
                register.file = File::Temporary;
                register.dimension = None;
                Some((register, None))
            }
            LegacyFile::ImmediateArray => {
                let indirect = register.indirect.is_some();
                let holds = |&&(first, last, _): &&(u16, u16, i32)| {
                    (first as i32..=last as i32).contains(&register.index) || indirect
                };
                let &(first, _, base) = self.element_runs.iter().find(holds)?;
                let position = base + register.index - first as i32;
                register.index = ARRAY + position;
                register.file = File::Immediate;
                register.dimension = None;
                Some((register, None))
            }
        }
    }

    /// Whether a register is in a declared array of this old file.
    pub(crate) fn is_array_of(&self, file: LegacyFile, register: Register) -> bool {
        let position = register.index - ARRAY;
        let holds = |a: &TemporaryArray| (a.base..=a.base + (a.last - a.first) as i32).contains(&position);
        register.file == File::Temporary && self.arrays.iter().any(|a| a.file == file && holds(a))
    }

    /// Returns a scratch temporary. All rewrites share them: none is live across instructions of the text.
    pub(crate) fn scratch(&mut self, number: i32) -> Register {
        self.scratch = self.scratch.max(number + 1);
        Register::new(File::Temporary, SCRATCH + number)
    }

    /// Returns a source with a constant.
    pub(crate) fn constant(&mut self, data_type: ImmediateType, words: [u32; 4]) -> Src {
        let same = |i: &Immediate| i.data_type == data_type && i.words.as_slice() == words;
        let position = self.constants.iter().position(same).unwrap_or_else(|| {
            self.constants.push(Immediate::new(data_type, words));
            self.constants.len() - 1
        });
        Src::new(Register::new(File::Immediate, SCRATCH + position as i32))
    }

    /// Appends a current instruction to the shader, clamped according to its suffix.
    pub(crate) fn push(&mut self, shader: &mut Shader, instruction: Instruction, suffixes: Suffixes) {
        Rewriter::new(self, shader, suffixes, instruction.span).push(instruction);
    }

    /// Appends the replacement of an old instruction.
    ///
    /// # Errors
    ///
    /// The opcode cannot be rewritten.
    pub(crate) fn rewrite(
        &mut self,
        shader: &mut Shader,
        row: &'static LegacyOpcode,
        instruction: &super::legacy_rewrite::OldInstruction,
        suffixes: Suffixes,
    ) -> Result<(), ParseErrorKind> {
        let first = shader.instructions.len() as u32;
        Rewriter::new(self, shader, suffixes, instruction.span).rewrite(row, instruction)?;
        self.names.extend((first..shader.instructions.len() as u32).map(|number| (number, row.name)));
        Ok(())
    }

    /// Assigns final numbers to provisional registers, declares them, and updates labels.
    ///
    /// # Errors
    ///
    /// There are not enough register numbers left.
    pub(crate) fn finish(
        &mut self,
        shader: &mut Shader,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<(), ParseErrorKind> {
        self.move_labels(shader);
        self.number_immediates(shader)?;
        self.number_temporaries(shader)?;
        for memory in MemoryType::ALL {
            if self.memories[*memory as usize] && !is_declared(shader, File::Memory, memory.value() as u16) {
                let mut declaration = Declaration::new(File::Memory, memory.value() as u16, memory.value() as u16);
                declaration.memory_type = *memory;
                shader.insert_declarations([declaration].into_iter());
            }
        }
        // Only for old texts, not for current ones that merely lack something.
        let old = !self.resources.is_empty() || self.memories.contains(&true);
        let mut written =
            Written { numbers: std::mem::take(&mut self.numbers), names: std::mem::take(&mut self.names) };
        let is_same = written.names.is_empty() && written.numbers.len() == shader.instructions.len();
        if old && let Some((entry, span)) = add_main(shader) {
            diagnostics.push(ParseErrorKind::NoMain(written.number(entry)).at(span));
            written.numbers.iter_mut().chain(written.names.iter_mut().map(|(number, _)| number)).for_each(|n| *n += 2);
        }
        if !is_same {
            shader.written = written;
        }
        Ok(())
    }

    fn move_labels(&self, shader: &mut Shader) {
        let (before, after) = (self.numbers.len() as u32, shader.instructions.len() as u32);
        if before == after {
            return;
        }
        for instruction in &mut shader.instructions {
            if let Some(label) = &mut instruction.label {
                // A label after the end stays after the end, which is earlier if lines were not understood.
                let moved = self.numbers.get(*label as usize).copied();
                *label = moved.unwrap_or_else(|| (*label - before).saturating_add(after)).min(MAX_LABEL);
            }
        }
    }

    fn number_immediates(&self, shader: &mut Shader) -> Result<(), ParseErrorKind> {
        if self.constants.is_empty() && self.elements.is_empty() {
            return Ok(());
        }
        let elements_at = shader.immediates.len() as i32;
        let mut added = self.elements.clone();
        let mut constants_at = Vec::with_capacity(self.constants.len());
        for constant in &self.constants {
            let there = shader.immediates.iter().chain(&added).position(|i| i == constant);
            constants_at.push(there.unwrap_or(shader.immediates.len() + added.len()) as i32);
            if there.is_none() {
                added.push(constant.clone());
            }
        }
        // After all others, before the first instruction if possible.
        let last = shader.order.iter().rposition(|&kind| kind == ItemKind::Immediate).map_or(0, |last| last + 1);
        let at = shader.first_instruction().max(last);
        shader.order.splice(at..at, added.iter().map(|_| ItemKind::Immediate));
        shader.immediates.append(&mut added);
        if shader.immediates.len() as i64 > MAX_OPERAND_INDEX {
            return Err(ParseErrorKind::NoRegisters("constants"));
        }
        patch(shader, File::Immediate, |index| match index {
            PROVISIONAL_ARRAY.. => elements_at + (index - ARRAY),
            _ => constants_at.get((index - SCRATCH) as usize).copied().unwrap_or(0),
        });
        Ok(())
    }

    fn number_temporaries(&self, shader: &mut Shader) -> Result<(), ParseErrorKind> {
        let added = self.scratch + self.array_registers;
        if added == 0 {
            return Ok(());
        }
        let declared = shader.declarations.iter().filter(|d| d.file == File::Temporary).map(|d| d.last as i32 + 1);
        let used = shader.instructions.iter().flat_map(Instruction::registers).filter(|r| r.file == File::Temporary);
        let used = used.map(|r| r.index + 1).filter(|&index| index < PROVISIONAL);
        let arrays_at = declared.chain(used).max().unwrap_or(0).max(0);
        let scratch_at = arrays_at + self.array_registers;
        let last = scratch_at + self.scratch - 1;
        if last as i64 > MAX_OPERAND_INDEX {
            return Err(ParseErrorKind::NoRegisters("scratch temporaries"));
        }
        let declaration = Declaration::new(File::Temporary, arrays_at as u16, last as u16);
        shader.insert_declarations([declaration].into_iter());
        patch(shader, File::Temporary, |index| match index {
            PROVISIONAL_ARRAY.. => arrays_at + (index - ARRAY),
            _ => scratch_at + (index - SCRATCH),
        });
        Ok(())
    }
}

/// Replaces the provisional numbers of a file.
fn patch(shader: &mut Shader, file: File, number: impl Fn(i32) -> i32) {
    for instruction in &mut shader.instructions {
        for register in instruction.registers_mut() {
            if register.file == file && register.index >= PROVISIONAL {
                register.index = number(register.index);
            }
        }
        for offset in instruction.texture.iter_mut().flat_map(|t| &mut t.offsets) {
            if offset.file == file && offset.index >= PROVISIONAL {
                offset.index = number(offset.index);
            }
        }
    }
}

fn is_declared(shader: &Shader, file: File, index: u16) -> bool {
    shader.declarations.iter().any(|d| d.file == file && (d.first..=d.last).contains(&index))
}

/// Compute programs used to be a set of subroutines, one of which the driver called. If there is nothing else, adds a
/// main program that calls the first subroutine without callers. Returns the original number and the position of that
/// subroutine.
fn add_main(shader: &mut Shader) -> Option<(u32, Span)> {
    if shader.processor != crate::tables::Processor::Compute {
        return None;
    }
    let mut inside = false;
    let mut subroutines = Vec::new();
    for (number, instruction) in shader.instructions.iter().enumerate() {
        match instruction.opcode {
            Opcode::Bgnsub if !inside => {
                inside = true;
                subroutines.push(number as u32);
            }
            Opcode::Endsub if inside => inside = false,
            _ if inside => {}
            _ => return None,
        }
    }
    let called = |entry: u32| shader.instructions.iter().any(|i| i.opcode == Opcode::Cal && i.label == Some(entry));
    // Searches callers of only a few subroutines, to stay linear.
    let entry = subroutines.iter().copied().take(64).find(|&entry| !called(entry)).or(subroutines.first().copied())?;
    let span = shader.instructions.get(entry as usize).map(|i| i.span).unwrap_or_default();
    // An END inside the subroutine now returns from it.
    let body = shader.instructions.iter_mut().skip(entry as usize).take_while(|i| i.opcode != Opcode::Endsub);
    for instruction in body.filter(|i| i.opcode == Opcode::End) {
        instruction.opcode = Opcode::Ret;
    }
    for label in shader.instructions.iter_mut().filter_map(|i| i.label.as_mut()) {
        *label = label.saturating_add(2).min(MAX_LABEL);
    }
    let at = shader.first_instruction();
    let call = Instruction { label: Some(entry + 2), span, ..Instruction::new(Opcode::Cal) };
    let end = Instruction { span, ..Instruction::new(Opcode::End) };
    shader.order.splice(at..at, [ItemKind::Instruction; 2]);
    shader.instructions.splice(0..0, [call, end]);
    Some((entry, span))
}
