//! Writers.

use tgsi_compiler::front_end::Interface;

use super::{ATTRIBUTE, Attribute, CONSTANT, Constant, FragmentFile, HEADER, UNUSED, VertexFile};
use crate::container::ContainerError;
use crate::isa::fragment::ps3_bytes;
use crate::program::{FragmentProgram, VertexProgram};

/// Returns a vertex program as a `.vpo` file.
///
/// # Errors
/// [`ContainerError`] if the format cannot represent the program.
pub fn write_vpo(program: &VertexProgram, interface: &Interface) -> Result<Vec<u8>, ContainerError> {
    VertexFile::new(program, interface)?.bytes()
}

/// Returns a fragment program as a `.fpo` file.
///
/// # Errors
/// [`ContainerError`] if the format cannot represent the program.
pub fn write_fpo(program: &FragmentProgram, interface: &Interface) -> Result<Vec<u8>, ContainerError> {
    FragmentFile::new(program, interface)?.bytes()
}

/// A file; its header is written last.
struct Writer {
    bytes: Vec<u8>,
    /// Offsets of attributes, constants and code.
    offsets: [u32; 3],
    /// Where an entry needs the offset of a name.
    names: Vec<(usize, String)>,
}

impl Writer {
    fn new() -> Writer {
        Writer { bytes: vec![0; HEADER as usize], offsets: [0; 3], names: Vec::new() }
    }

    fn u32(&mut self, number: u32) {
        self.bytes.extend(number.to_be_bytes());
    }

    fn offset(&self) -> Result<u32, ContainerError> {
        let limit = u32::MAX.into();
        u32::try_from(self.bytes.len()).map_err(|_| ContainerError::Limit("bytes", self.bytes.len() as u64, limit))
    }

    fn name(&mut self, name: Option<&String>) {
        self.names.extend(name.map(|name| (self.bytes.len(), name.clone())));
        self.u32(0);
    }

    fn attributes(&mut self, attributes: &[Attribute]) -> Result<(), ContainerError> {
        self.offsets[0] = self.offset()?;
        for Attribute { name, index, ty } in attributes {
            self.name(name.as_ref());
            self.u32(*index);
            self.bytes.extend([ty.0, 0, 0, 0]);
        }
        debug_assert_eq!(self.offset()?, HEADER + attributes.len() as u32 * ATTRIBUTE);
        Ok(())
    }

    fn constants<I>(&mut self, constants: &[Constant<I>], index: impl Fn(&I) -> u32) -> Result<(), ContainerError> {
        self.offsets[1] = self.offset()?;
        for constant in constants {
            self.name(constant.name.as_ref());
            self.u32(index(&constant.index));
            self.bytes.extend([constant.ty.0, u8::from(constant.is_internal), constant.count, 0]);
            constant.value.into_iter().for_each(|word| self.u32(word));
        }
        debug_assert_eq!(self.offset()?, self.offsets[1] + constants.len() as u32 * CONSTANT);
        Ok(())
    }

    /// Writes the names and the code.
    fn code(&mut self, code: &[u8]) -> Result<(), ContainerError> {
        for (place, name) in std::mem::take(&mut self.names) {
            let offset = self.offset()?;
            self.bytes[place..place + 4].copy_from_slice(&offset.to_be_bytes());
            self.bytes.extend(name.into_bytes());
            self.bytes.push(0);
        }
        self.bytes.resize(self.bytes.len().next_multiple_of(16), 0);
        self.offsets[2] = self.offset()?;
        self.bytes.extend(code);
        self.offset().map(drop)
    }

    /// Writes the header: the four numbers after the magic, and the words after the offsets.
    fn finish(mut self, magic: [u8; 2], numbers: [usize; 4], words: [u32; 3]) -> Result<Vec<u8>, ContainerError> {
        const NUMBERS: [&str; 4] = ["registers", "attributes", "constants", "instructions"];
        let mut header = vec![magic[0], magic[1], 0, 0];
        for (what, number) in NUMBERS.into_iter().zip(numbers) {
            let limit = u16::MAX.into();
            let number = u16::try_from(number).map_err(|_| ContainerError::Limit(what, number as u64, limit))?;
            header.extend(number.to_be_bytes());
        }
        header.extend(self.offsets.into_iter().chain(words).flat_map(u32::to_be_bytes));
        self.bytes[..header.len()].copy_from_slice(&header);
        Ok(self.bytes)
    }
}

/// Two numbers in a word, the first in the upper half.
fn pair(first: u16, second: u16) -> u32 {
    u32::from(first) << 16 | u32::from(second)
}

impl VertexFile {
    /// Returns the bytes of the file.
    ///
    /// # Errors
    /// [`ContainerError::Limit`].
    pub fn bytes(&self) -> Result<Vec<u8>, ContainerError> {
        let mut writer = Writer::new();
        writer.attributes(&self.attributes)?;
        writer.constants(&self.constants, |&index| index)?;
        let code: Vec<u8> = self.slots.as_flattened().iter().flat_map(|word| word.to_be_bytes()).collect();
        writer.code(&code)?;
        let numbers = [self.registers.into(), self.attributes.len(), self.constants.len(), self.slots.len()];
        let start = pair(self.first_constant, self.first_slot);
        writer.finish(*b"VP", numbers, [self.input_mask, self.output_mask, start])
    }
}

impl FragmentFile {
    /// Returns the bytes of the file.
    ///
    /// # Errors
    /// [`ContainerError::Limit`].
    pub fn bytes(&self) -> Result<Vec<u8>, ContainerError> {
        let mut writer = Writer::new();
        writer.attributes(&self.attributes)?;
        let mut tables = Vec::new();
        for table in &self.tables {
            tables.push(writer.offset()?);
            writer.u32(table.len() as u32);
            table.iter().for_each(|&offset| writer.u32(offset));
        }
        let index = |&table: &Option<usize>| table.and_then(|table| tables.get(table).copied()).unwrap_or(UNUSED);
        writer.constants(&self.constants, index)?;
        writer.code(&ps3_bytes(&self.words))?;
        let slots = self.words.len().div_ceil(4);
        let numbers = [self.registers.into(), self.attributes.len(), self.constants.len(), slots];
        let (first, second) = (pair(self.texcoords, self.texcoords_2d), pair(self.texcoords_3d, 0));
        writer.finish(*b"FP", numbers, [self.control, first, second])
    }
}
