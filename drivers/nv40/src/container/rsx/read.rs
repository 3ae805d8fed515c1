//! Readers. Each offset is checked. Time and memory are linear in the size of the file.

use std::collections::HashMap;

use super::{ATTRIBUTE, Attribute, CONSTANT, Constant, FragmentFile, HEADER, ParameterType, SLOT, UNUSED, VertexFile};
use crate::container::ReadError;
use crate::container::names::LONGEST_NAME;
use crate::isa::fragment::swap_halves;

/// Reads a `.vpo` file.
///
/// # Errors
/// [`ReadError`].
pub fn read_vpo(bytes: &[u8]) -> Result<VertexFile, ReadError> {
    let file = File::new(bytes, b"VP", "VP")?;
    let words = file.code()?;
    Ok(VertexFile {
        registers: file.u16(4, "the header")?,
        input_mask: file.u32(24, "the header")?,
        output_mask: file.u32(28, "the header")?,
        first_constant: file.u16(32, "the header")?,
        first_slot: file.u16(34, "the header")?,
        attributes: file.attributes()?,
        constants: file.constants(Ok)?,
        slots: words.chunks_exact(4).map(|words| [words[0], words[1], words[2], words[3]]).collect(),
    })
}

/// Reads a `.fpo` file.
///
/// # Errors
/// [`ReadError`].
pub fn read_fpo(bytes: &[u8]) -> Result<FragmentFile, ReadError> {
    let file = File::new(bytes, b"FP", "FP")?;
    let words: Vec<u32> = file.code()?.into_iter().map(swap_halves).collect();
    let mut tables =
        Tables { file: &file, code: words.len() as u32 * 4, numbers: HashMap::new(), tables: Vec::new(), size: 0 };
    let constants = file.constants(|offset| tables.read(offset))?;
    let tables = tables.tables;
    Ok(FragmentFile {
        registers: file.u16(4, "the header")?,
        control: file.u32(24, "the header")?,
        texcoords: file.u16(28, "the header")?,
        texcoords_2d: file.u16(30, "the header")?,
        texcoords_3d: file.u16(32, "the header")?,
        attributes: file.attributes()?,
        constants,
        tables,
        words,
    })
}

struct File<'a> {
    bytes: &'a [u8],
}

impl<'a> File<'a> {
    fn new(bytes: &'a [u8], magic: &[u8], name: &'static str) -> Result<File<'a>, ReadError> {
        if !bytes.starts_with(magic) {
            return Err(ReadError::Magic(name));
        }
        Ok(File { bytes })
    }

    /// A part of the file.
    fn part(&self, offset: u32, size: usize, what: &'static str) -> Result<&'a [u8], ReadError> {
        let start = offset as usize;
        let end = start.checked_add(size);
        end.and_then(|end| self.bytes.get(start..end)).ok_or(ReadError::Truncated(what, offset))
    }

    fn u16(&self, offset: u32, what: &'static str) -> Result<u16, ReadError> {
        let part = self.part(offset, 2, what)?;
        Ok(u16::from_be_bytes([part[0], part[1]]))
    }

    fn u32(&self, offset: u32, what: &'static str) -> Result<u32, ReadError> {
        Ok(word(self.part(offset, 4, what)?))
    }

    /// The entries of a table. Their number and offset are in the header.
    fn table(&self, number: u32, offset: u32, size: u32, what: &'static str) -> Result<&'a [u8], ReadError> {
        let number = self.u16(number, "the header")?;
        let offset = self.u32(offset, "the header")?;
        if offset < HEADER {
            return Err(ReadError::Offset(what, offset));
        }
        self.part(offset, usize::from(number) * size as usize, what)
    }

    fn attributes(&self) -> Result<Vec<Attribute>, ReadError> {
        let table = self.table(6, 12, ATTRIBUTE, "the table of attributes")?;
        let attribute = |entry: &[u8]| {
            Ok(Attribute { name: self.name(word(entry))?, index: word(&entry[4..]), ty: ParameterType(entry[8]) })
        };
        table.chunks_exact(ATTRIBUTE as usize).map(attribute).collect()
    }

    fn constants<I>(&self, mut index: impl FnMut(u32) -> Result<I, ReadError>) -> Result<Vec<Constant<I>>, ReadError> {
        let table = self.table(8, 16, CONSTANT, "the table of constants")?;
        let constant = |entry: &[u8]| {
            Ok(Constant {
                name: self.name(word(entry))?,
                index: index(word(&entry[4..]))?,
                ty: ParameterType(entry[8]),
                is_internal: entry[9] != 0,
                count: entry[10],
                value: [12, 16, 20, 24].map(|at| word(&entry[at..])),
            })
        };
        table.chunks_exact(CONSTANT as usize).map(constant).collect()
    }

    /// The words of the code.
    fn code(&self) -> Result<Vec<u32>, ReadError> {
        Ok(self.table(10, 20, SLOT, "the code")?.chunks_exact(4).map(word).collect())
    }

    /// The name at an offset. Bytes that are not UTF-8 are replaced.
    fn name(&self, offset: u32) -> Result<Option<String>, ReadError> {
        if offset == 0 {
            return Ok(None);
        }
        if offset < HEADER {
            return Err(ReadError::Offset("a name", offset));
        }
        let rest = self.bytes.get(offset as usize..).unwrap_or_default();
        let near = &rest[..rest.len().min(LONGEST_NAME + 1)];
        match near.iter().position(|&byte| byte == 0) {
            Some(end) => Ok(Some(String::from_utf8_lossy(&near[..end]).into_owned())),
            None if near.len() < rest.len() => Err(ReadError::Name(offset)),
            None => Err(ReadError::Truncated("a name", offset)),
        }
    }
}

/// The first word of at least four bytes.
fn word(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |&bytes| u32::from_be_bytes(bytes))
}

/// The tables of offsets that were read, each once.
struct Tables<'a> {
    file: &'a File<'a>,
    /// Bytes of the code.
    code: u32,
    /// The number of the table at an offset.
    numbers: HashMap<u32, usize>,
    tables: Vec<Vec<u32>>,
    /// Bytes of all tables.
    size: usize,
}

impl Tables<'_> {
    fn read(&mut self, offset: u32) -> Result<Option<usize>, ReadError> {
        if offset == UNUSED {
            return Ok(None);
        }
        if let Some(&number) = self.numbers.get(&offset) {
            return Ok(Some(number));
        }
        const TABLE: &str = "a table of offsets";
        if offset < HEADER {
            return Err(ReadError::Offset(TABLE, offset));
        }
        let size = (self.file.u32(offset, TABLE)? as usize).saturating_mul(4).saturating_add(4);
        let table: Vec<u32> = self.file.part(offset, size, TABLE)?[4..].chunks_exact(4).map(word).collect();
        self.size += size;
        if self.size > self.file.bytes.len() {
            return Err(ReadError::Overlap);
        }
        let is_invalid = |&&offset: &&u32| offset == 0 || !offset.is_multiple_of(SLOT) || offset >= self.code;
        if let Some(&offset) = table.iter().find(is_invalid) {
            return Err(ReadError::Offset("a uniform in the code", offset));
        }
        let number = self.tables.len();
        self.numbers.insert(offset, number);
        self.tables.push(table);
        Ok(Some(number))
    }
}
