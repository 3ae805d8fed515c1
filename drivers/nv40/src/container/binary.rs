//! Programs as one array of 32-bit numbers, for loaders in C that also set uniforms and link stages.
//!
//! Numbers are little-endian. The 14 numbers of the header:
//!
//! | number | vertex | fragment |
//! |---|---|---|
//! | 0 | the bytes `NV4P` | |
//! | 1 | the chip: 0 `nv30`, 1 `nv40`, 2 `rsx` | |
//! | 2 | 0 | 4 |
//! | 3 | temporary registers | R registers |
//! | 4 | attributes that are read, one bit each | texture coordinates that are read, one bit each |
//! | 5 | outputs that are written: method 0x1ff4 | control register |
//! | 6 | constants that are used, literals included | instructions |
//! | 7 to 13 | numbers of the entries of the seven tables | |
//!
//! The tables follow in this order:
//!
//! | table | an entry |
//! |---|---|
//! | slots | four words of code |
//! | literals | constant, four words |
//! | branches | slot, target |
//! | uniforms | slot, number: in vertex programs each slot with a constant, in fragment programs each slot to overwrite |
//! | inputs, outputs | register, location, number, component, mask |
//! | textures | unit, dimension (0 1D, 1 2D, 2 3D, 3 cube, 4 rectangle), whether it is compared |

use super::{ContainerError, ReadError, check};
use crate::isa::{Chip, fragment, vertex};
use crate::program::{FragmentProgram, Literal, Program, Texture, TextureKind, Varying, VertexProgram};

const MAGIC: [u8; 4] = *b"NV4P";
const HEADER: usize = 14;
const VERTEX: u32 = 0;
const FRAGMENT: u32 = 4;
const CHIPS: [Chip; 3] = [Chip::Nv30, Chip::Nv40, Chip::Rsx];
const KINDS: [TextureKind; 5] =
    [TextureKind::D1, TextureKind::D2, TextureKind::D3, TextureKind::Cube, TextureKind::Rect];
/// The bits of the control register for depth, export of 32 bits, and killing.
const DEPTH: u32 = 0xe;
const FULL: u32 = 0x40;
const KILL: u32 = 0x80;

/// Returns a program as one array.
///
/// # Errors
/// [`ContainerError::Program`] if a number of the program is invalid.
pub fn write_binary(program: &Program) -> Result<Vec<u8>, ContainerError> {
    check::program(program)?;
    let mut tables = Tables::default();
    let header = match program {
        Program::Vertex(program) => {
            tables.slots = program.slots.clone();
            tables.literals = program.literals.iter().map(literal_numbers).collect();
            let decoded = |slot: u16| vertex::decode(&program.slots[usize::from(slot)], program.chip).ok();
            let entry = |slot: u16, number: Option<u16>| [slot, number.unwrap_or_default()].map(u32::from);
            let branches = program.branches.iter();
            let target = |slot: u16| decoded(slot).and_then(|slot| slot.branch).map(|branch| branch.target);
            tables.branches = branches.map(|&slot| entry(slot, target(slot))).collect();
            let uniforms = program.constant_slots.iter();
            let constant = |slot: u16| decoded(slot).and_then(|slot| slot.constant);
            tables.uniforms = uniforms.map(|&slot| entry(slot, constant(slot))).collect();
            tables.set_interface(&program.inputs, &program.outputs, &program.textures);
            let (inputs, outputs) = (program.input_mask(), program.output_mask());
            [VERTEX, program.temporaries.into(), inputs, outputs, program.constants.into()]
        }
        Program::Fragment(program) => {
            let code = &program.program;
            tables.slots = code.words.as_chunks().0.to_vec();
            tables.uniforms = code.patches.iter().map(|patch| [patch.slot, patch.constant]).collect();
            tables.set_interface(&program.inputs, &program.outputs, &program.textures);
            let (texcoords, instructions) = (program.texcoords().into(), code.instructions(program.chip));
            [FRAGMENT, program.registers.into(), texcoords, program.control(), instructions]
        }
    };
    let chip = chip_of(program);
    let magic = u32::from_le_bytes(MAGIC);
    let number = CHIPS.iter().position(|&other| other == chip).unwrap_or_default() as u32;
    let mut words = vec![magic, number];
    words.extend(header);
    words.extend(tables.numbers());
    tables.append(&mut words);
    Ok(words.iter().flat_map(|word| word.to_le_bytes()).collect())
}

fn chip_of(program: &Program) -> Chip {
    match program {
        Program::Vertex(program) => program.chip,
        Program::Fragment(program) => program.chip,
    }
}

fn literal_numbers(literal: &Literal) -> [u32; 5] {
    let [x, y, z, w] = literal.words;
    [literal.constant.into(), x, y, z, w]
}

/// The tables, as numbers.
#[derive(Default)]
struct Tables {
    slots: Vec<[u32; 4]>,
    literals: Vec<[u32; 5]>,
    branches: Vec<[u32; 2]>,
    uniforms: Vec<[u32; 2]>,
    inputs: Vec<[u32; 5]>,
    outputs: Vec<[u32; 5]>,
    textures: Vec<[u32; 3]>,
}

impl Tables {
    fn set_interface(&mut self, inputs: &[Varying], outputs: &[Varying], textures: &[Texture]) {
        let numbers = |varying: &Varying| {
            let Varying { register, location, number, component, mask } = *varying;
            [register, location as u32, number.into(), component.into(), mask.into()]
        };
        self.inputs = inputs.iter().map(numbers).collect();
        self.outputs = outputs.iter().map(numbers).collect();
        let kind = |kind: TextureKind| KINDS.iter().position(|&other| other == kind).unwrap_or_default() as u32;
        let texture = |texture: &Texture| [texture.unit.into(), kind(texture.kind), texture.is_shadow.into()];
        self.textures = textures.iter().map(texture).collect();
    }

    fn numbers(&self) -> [u32; 7] {
        let Tables { slots, literals, branches, uniforms, inputs, outputs, textures } = self;
        let lengths = [slots.len(), literals.len(), branches.len(), uniforms.len(), inputs.len(), outputs.len()];
        let [slots, literals, branches, uniforms, inputs, outputs] = lengths.map(|length| length as u32);
        [slots, literals, branches, uniforms, inputs, outputs, textures.len() as u32]
    }

    fn append(&self, words: &mut Vec<u32>) {
        let tables = [
            self.slots.as_flattened(),
            self.literals.as_flattened(),
            self.branches.as_flattened(),
            self.uniforms.as_flattened(),
            self.inputs.as_flattened(),
            self.outputs.as_flattened(),
            self.textures.as_flattened(),
        ];
        tables.iter().for_each(|table| words.extend_from_slice(table));
    }
}

/// The numbers, and the number of those that have been read.
struct Reader<'a> {
    words: &'a [u32],
    position: usize,
}

impl Reader<'_> {
    /// The entries of the next table.
    fn table<const N: usize>(&mut self, count: u32) -> Result<Vec<[u32; N]>, ReadError> {
        let rest = &self.words[self.position..];
        let table = (count as usize).checked_mul(N).and_then(|length| rest.get(..length));
        let table = table.ok_or(ReadError::Truncated("a table", self.position as u32 * 4))?;
        self.position += table.len();
        Ok(table.as_chunks().0.to_vec())
    }
}

/// Converts a number of a file.
fn narrow<T: TryFrom<u32>>(what: &'static str, number: u32) -> Result<T, ReadError> {
    T::try_from(number).map_err(|_| ReadError::Number(what, number))
}

fn varyings(table: &[[u32; 5]]) -> Result<Vec<Varying>, ReadError> {
    let varying = |&[register, location, number, component, mask]: &[u32; 5]| {
        let location = location.cast_signed();
        let (number, component) = (narrow("a register", number)?, narrow("a component", component)?);
        Ok(Varying { register, location, number, component, mask: narrow("a mask", mask)? })
    };
    table.iter().map(varying).collect()
}

fn textures(table: &[[u32; 3]]) -> Result<Vec<Texture>, ReadError> {
    let texture = |&[unit, kind, is_shadow]: &[u32; 3]| {
        let known = KINDS.get(kind as usize).copied();
        let kind = known.ok_or(ReadError::Number("a dimension", kind))?;
        Ok(Texture { unit: narrow("a unit", unit)?, kind, is_shadow: is_shadow != 0 })
    };
    table.iter().map(texture).collect()
}

fn firsts(table: &[[u32; 2]]) -> Result<Vec<u16>, ReadError> {
    table.iter().map(|entry| narrow("a slot", entry[0])).collect()
}

/// Reads an array of [`write_binary`].
///
/// # Errors
/// [`ReadError`] if a table exceeds the file, or a number the limits of the chip.
pub fn read_binary(bytes: &[u8]) -> Result<Program, ReadError> {
    if !bytes.starts_with(&MAGIC) {
        return Err(ReadError::Magic("NV4P"));
    }
    let words: Vec<u32> = bytes.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
    let header = words.get(..HEADER).ok_or(ReadError::Truncated("the header", 0))?;
    let chip = *CHIPS.get(header[1] as usize).ok_or(ReadError::Number("the chip", header[1]))?;
    let mut rest = Reader { words: &words, position: HEADER };
    let slots: Vec<[u32; 4]> = rest.table(header[7])?;
    let literals: Vec<[u32; 5]> = rest.table(header[8])?;
    let branches: Vec<[u32; 2]> = rest.table(header[9])?;
    let uniforms: Vec<[u32; 2]> = rest.table(header[10])?;
    let (inputs, outputs) = (varyings(&rest.table(header[11])?)?, varyings(&rest.table(header[12])?)?);
    let textures = textures(&rest.table(header[13])?)?;
    let registers = narrow("the number of registers", header[3])?;
    let program = match header[2] {
        VERTEX => {
            let literal = |&[constant, x, y, z, w]: &[u32; 5]| {
                Ok(Literal { constant: narrow("a constant", constant)?, words: [x, y, z, w] })
            };
            Program::Vertex(VertexProgram {
                chip,
                slots,
                temporaries: registers,
                inputs,
                outputs,
                constants: narrow("the number of constants", header[6])?,
                literals: literals.iter().map(literal).collect::<Result<_, ReadError>>()?,
                branches: firsts(&branches)?,
                constant_slots: firsts(&uniforms)?,
                textures,
            })
        }
        FRAGMENT => {
            let patches = uniforms.iter().map(|&[slot, constant]| fragment::Patch { constant, slot });
            let control = header[5];
            Program::Fragment(FragmentProgram {
                chip,
                program: fragment::Program { words: slots.into_flattened(), patches: patches.collect() },
                registers,
                inputs,
                outputs,
                exports_full: control & FULL != 0,
                writes_depth: control & DEPTH != 0,
                kills: control & KILL != 0,
                textures,
            })
        }
        stage => return Err(ReadError::Number("the stage", stage)),
    };
    check::program(&program)?;
    Ok(program)
}
