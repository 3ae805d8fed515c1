//! A shader prepared for running: operands bound to locations, opcodes classified, control flow resolved.
//!
//! Invariants: every [`Op`] has the operands that its opcode needs; `Cell::Row` lies inside the register words of the
//! run; `partner` is as in [`Structure`](tgsi::internals::Structure).

use hashbrown::HashMap;
use std::collections::BTreeSet;

use arrayvec::ArrayVec;
use bitvec::vec::BitVec;

use tgsi::MalformedShader;
use tgsi::internals::{NO_PARTNER, prepared};
use tgsi::shader::{Dst, Indirect, Register, Shader, Src, TextureOffset};
use tgsi::tables::{Class, File, Opcode, OperandType, OutputMode, Processor, PropertyName, Semantic, TextureTarget};
use tgsi_diagnostics::Span;

/// A shader prepared for running; see [`run`](super::run).
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) processor: Processor,
    pub(super) code: Vec<Op>,
    pub(super) layout: Layout,
    /// Semantic of the first `SV` register of each declaration.
    pub(super) system_values: Vec<(usize, Semantic)>,
    /// Targets of the declared sampler views.
    pub(super) view_targets: Targets,
    /// Targets of the declared images.
    pub(super) image_targets: Targets,
    /// Buffers with declared counters.
    pub(super) counter_buffers: BTreeSet<u16>,
    /// `GS_MAX_OUTPUT_VERTICES`.
    pub(super) max_output_vertices: usize,
    /// Output vertices of a tessellation control shader; none means one per lane.
    pub(super) patch_vertices: Option<usize>,
    /// `LEGACY_MATH_RULES`: zero times any number is zero.
    pub(super) legacy_math: bool,
}

/// Targets of declared resources, by unit.
#[derive(Clone, Debug, Default)]
pub(super) struct Targets(Vec<Option<TextureTarget>>);

impl Targets {
    fn set(&mut self, first: u16, last: u16, target: TextureTarget) {
        let (first, last) = (usize::from(first), usize::from(last));
        if self.0.len() <= last {
            self.0.resize(last + 1, None);
        }
        if let Some(range) = self.0.get_mut(first..=last) {
            range.fill(Some(target));
        }
    }

    /// Returns the target of a unit, if it is declared.
    pub(super) fn get(&self, unit: u32) -> Option<TextureTarget> {
        self.0.get(unit as usize).copied().flatten()
    }
}

/// The existing registers and their locations.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    processor: Processor,
    files: [FileLayout; 5],
    arrays: HashMap<(File, u16), (i64, i64)>,
    pub(super) immediates: Vec<[u32; 4]>,
    /// Rows (register components) of all files.
    pub(super) rows: usize,
}

/// Registers of one per-lane file.
#[derive(Clone, Debug, Default)]
pub(super) struct FileLayout {
    /// First row of register 0.
    pub(super) first_row: usize,
    /// One bit per register.
    pub(super) declared: BitVec,
}

/// The location of a register's words. Lane-invariant, except for [`Cell::Row`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    /// Reads as 0, drops writes.
    Nowhere,
    /// Per-lane words: the row of component x.
    Row(usize),
    /// An immediate.
    Immediate([u32; 4]),
    /// A vec4 of a constant buffer.
    Constant { buffer: usize, vector: usize },
    /// An input of a vertex of the primitive or patch.
    Vertex { vertex: usize, register: usize },
    /// An output of a vertex of the patch.
    OutputVertex { vertex: usize, register: usize },
    /// A patch output.
    PatchOutput { register: usize },
}

/// The location of an operand.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operand {
    /// Known at preparation.
    Direct(Cell),
    /// Depends on index registers: see [`Address`].
    Indirect(Address),
    /// The operand names a resource.
    Resource,
}

/// A register reference with an index that is computed at run time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address {
    pub(super) file: File,
    pub(super) index: i32,
    pub(super) index_register: Option<IndexRegister>,
    /// Outer index, or none without a dimension.
    pub(super) outer: Option<i32>,
    pub(super) outer_register: Option<IndexRegister>,
    /// First and last register that the index may address.
    pub(super) bounds: (i64, i64),
}

/// A register component that holds an index.
#[derive(Clone, Copy, Debug)]
pub(super) struct IndexRegister {
    pub(super) cell: Cell,
    pub(super) component: u8,
}

/// A prepared source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub(super) operand: Operand,
    pub(super) swizzle: [u8; 4],
    /// Channels that the opcode reads.
    pub(super) channels: u8,
    /// Modifiers: `word & and ^ xor`, followed by two's complement negation.
    pub(super) and: u32,
    pub(super) xor: u32,
    pub(super) negate_integer: bool,
    /// File of the register.
    pub(super) file: File,
    /// Index and indices of a resource.
    pub(super) address: Address,
}

/// A prepared destination.
#[derive(Clone, Copy, Debug)]
pub(super) struct Destination {
    pub(super) operand: Operand,
    pub(super) file: File,
}

/// A prepared texel offset.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offset {
    pub(super) cell: Cell,
    pub(super) swizzle: [u8; 3],
}

/// A prepared instruction.
#[derive(Clone, Debug)]
pub(super) struct Op {
    pub(super) opcode: Opcode,
    pub(super) class: Class,
    pub(super) saturate: bool,
    pub(super) write_mask: u8,
    pub(super) partner: u32,
    /// `BRK` only: whether it leaves a switch.
    pub(super) leaves_switch: bool,
    pub(super) destination: Option<Destination>,
    pub(super) sources: ArrayVec<Source, 5>,
    /// Target of the texture or memory word.
    pub(super) target: Option<TextureTarget>,
    pub(super) offsets: ArrayVec<Offset, 4>,
    pub(super) span: Span,
}

/// The index of a per-lane file in [`Layout::files`].
const fn lane_file(file: File) -> Option<usize> {
    match file {
        File::Temporary => Some(0),
        File::Output => Some(1),
        File::Address => Some(2),
        File::Input => Some(3),
        File::SystemValue => Some(4),
        _ => None,
    }
}

impl Layout {
    fn new(shader: &Shader) -> Layout {
        let mut layout = Layout {
            processor: shader.processor,
            files: Default::default(),
            arrays: HashMap::new(),
            immediates: shader
                .immediates
                .iter()
                .map(|immediate| std::array::from_fn(|component| immediate.word(component)))
                .collect(),
            rows: 0,
        };
        for declaration in &shader.declarations {
            let (first, last) = (usize::from(declaration.first), usize::from(declaration.last));
            if last < first {
                continue;
            }
            let Some(file) = lane_file(declaration.file) else { continue };
            let declared = &mut layout.files[file].declared;
            if declared.len() <= last {
                declared.resize(last + 1, false);
            }
            declared[first..=last].fill(true);
            if let Some(array) = declaration.array() {
                let range = layout.arrays.entry((declaration.file, array)).or_insert((first as i64, last as i64));
                *range = (range.0.min(first as i64), range.1.max(last as i64));
            }
        }
        for file in &mut layout.files {
            file.first_row = layout.rows;
            layout.rows += file.declared.len() * 4;
        }
        layout
    }

    /// Returns the registers of a per-lane file.
    pub(super) fn file(&self, file: File) -> &FileLayout {
        // Other files have no per-lane registers; the caller passes only those that do.
        &self.files[lane_file(file).unwrap_or(0)]
    }

    /// Returns the number of the last declared register plus one.
    pub(super) fn count(&self, file: File) -> usize {
        self.file(file).declared.len()
    }

    /// Returns the cell of a register with known indices.
    pub(super) fn cell(&self, file: File, outer: Option<i64>, index: i64, bounds: (i64, i64)) -> Cell {
        let Ok(register) = usize::try_from(index) else { return Cell::Nowhere };
        match file {
            File::Immediate => self.immediates.get(register).map_or(Cell::Nowhere, |&words| Cell::Immediate(words)),
            File::Constant | File::ConstantBuffer => match usize::try_from(outer.unwrap_or(0)) {
                Ok(buffer) => Cell::Constant { buffer, vector: register },
                Err(_) => Cell::Nowhere,
            },
            _ => {
                let Some(layout) = lane_file(file).map(|position| &self.files[position]) else { return Cell::Nowhere };
                let exists = layout.declared.get(register).is_some_and(|bit| *bit);
                if !exists || index < bounds.0 || index > bounds.1 {
                    return Cell::Nowhere;
                }
                match outer {
                    Some(vertex) if self.processor.has_vertices(file) => match usize::try_from(vertex) {
                        Ok(vertex) if file == File::Input => Cell::Vertex { vertex, register },
                        Ok(vertex) => Cell::OutputVertex { vertex, register },
                        Err(_) => Cell::Nowhere,
                    },
                    Some(outer) if outer != 0 => Cell::Nowhere,
                    _ if file == File::Output && self.processor == Processor::TessControl => {
                        Cell::PatchOutput { register }
                    }
                    _ => Cell::Row(layout.first_row + register * 4),
                }
            }
        }
    }

    fn index_register(&self, indirect: Option<Indirect>) -> Option<IndexRegister> {
        indirect.map(|indirect| IndexRegister {
            cell: self.cell(indirect.file, None, i64::from(indirect.index), UNBOUNDED),
            component: indirect.component & 3,
        })
    }

    fn address(&self, register: &Register) -> Address {
        let array = register.indirect.map_or(0, |indirect| indirect.array_id);
        Address {
            file: register.file,
            index: register.index,
            index_register: self.index_register(register.indirect),
            outer: register.dimension.map(|dimension| dimension.index),
            outer_register: self.index_register(register.dimension.and_then(|dimension| dimension.indirect)),
            bounds: self.arrays.get(&(register.file, array)).copied().unwrap_or(UNBOUNDED),
        }
    }

    fn operand(&self, address: &Address) -> Operand {
        if address.file.is_resource() {
            Operand::Resource
        } else if address.index_register.is_some() || address.outer_register.is_some() {
            Operand::Indirect(*address)
        } else {
            Operand::Direct(self.cell(
                address.file,
                address.outer.map(i64::from),
                i64::from(address.index),
                address.bounds,
            ))
        }
    }

    fn source(&self, source: &Src, operand: OperandType, channels: u8) -> Source {
        let address = self.address(&source.register);
        let (mut and, mut xor, mut negate_integer) = (u32::MAX, 0, false);
        if !operand.is_64bit() {
            if source.absolute {
                and = 0x7fff_ffff;
            }
            if source.negate {
                if operand.is_float() {
                    xor = 0x8000_0000;
                } else {
                    negate_integer = true;
                }
            }
        }
        Source {
            operand: self.operand(&address),
            swizzle: source.swizzle.map(|component| component & 3),
            channels,
            and,
            xor,
            negate_integer,
            file: source.register.file,
            address,
        }
    }

    fn destination(&self, destination: &Dst) -> Destination {
        let address = self.address(&destination.register);
        Destination { operand: self.operand(&address), file: destination.register.file }
    }

    fn offset(&self, offset: &TextureOffset) -> Offset {
        Offset {
            cell: self.cell(offset.file, None, i64::from(offset.index), UNBOUNDED),
            swizzle: offset.swizzle.map(|component| component & 3),
        }
    }
}

const UNBOUNDED: (i64, i64) = (i64::MIN, i64::MAX);

impl Program {
    /// Prepares a shader.
    ///
    /// # Errors
    /// [`MalformedShader`]: blocks do not nest, or an instruction lacks operands.
    pub fn new(shader: &Shader) -> Result<Program, MalformedShader> {
        let structure = prepared(shader)?;
        let layout = Layout::new(shader);
        let mut code = Vec::with_capacity(shader.instructions.len());
        for (number, instruction) in shader.instructions.iter().enumerate() {
            let opcode = instruction.opcode;
            let info = opcode.info();
            let write_mask = instruction.dst.first().map_or(0, |dst| dst.write_mask & 0xf);
            let partner = structure.partner.get(number).copied().unwrap_or(NO_PARTNER);
            let leaves_switch = opcode == Opcode::Brk
                && shader.instructions.get(partner as usize).is_some_and(|i| i.opcode == Opcode::Endswitch);
            let mut sources: ArrayVec<Source, 5> = instruction
                .src
                .iter()
                .take(info.src_types.len())
                .enumerate()
                .map(|(number, src)| layout.source(src, opcode.source_type(number), channels_read(opcode, write_mask)))
                .collect();
            // The resource that STORE names as its destination is read like a source.
            if let (Opcode::Store, Some(dst)) = (opcode, instruction.dst.first()) {
                sources.push(layout.source(&Src::new(dst.register), OperandType::Uint, 0xf));
            }
            code.push(Op {
                opcode,
                class: opcode.class(),
                saturate: instruction.saturate,
                write_mask,
                partner,
                leaves_switch,
                destination: instruction.dst.first().map(|dst| layout.destination(dst)),
                sources,
                target: instruction
                    .texture
                    .as_ref()
                    .map(|texture| texture.target)
                    .or_else(|| instruction.memory.map(|memory| memory.target)),
                offsets: instruction
                    .texture
                    .iter()
                    .flat_map(|texture| &texture.offsets)
                    .map(|offset| layout.offset(offset))
                    .collect(),
                span: instruction.span,
            });
        }
        let mut program = Program {
            processor: shader.processor,
            code,
            layout,
            system_values: Vec::new(),
            view_targets: Targets::default(),
            image_targets: Targets::default(),
            counter_buffers: shader.counter_buffers(),
            max_output_vertices: shader
                .property(PropertyName::GsMaxOutputVertices)
                .map_or(usize::MAX, |number| number as usize),
            patch_vertices: shader.property(PropertyName::TcsVerticesOut).map(|number| number as usize),
            legacy_math: shader.property(PropertyName::LegacyMathRules).is_some_and(|value| value != 0),
        };
        for declaration in &shader.declarations {
            match declaration.file {
                File::SystemValue => {
                    if let Some(semantic) = declaration.semantic {
                        program.system_values.push((usize::from(declaration.first), semantic.name));
                    }
                }
                File::SamplerView => {
                    if let Some(view) = declaration.sampler_view {
                        program.view_targets.set(declaration.first, declaration.last, view.target);
                    }
                }
                File::Image => {
                    if let Some(image) = declaration.image {
                        program.image_targets.set(declaration.first, declaration.last, image.target);
                    }
                }
                _ => {}
            }
        }
        Ok(program)
    }
}

/// The channels of the sources that an opcode reads for `write_mask`.
fn channels_read(opcode: Opcode, write_mask: u8) -> u8 {
    match opcode {
        Opcode::Dp2 => 0x3,
        Opcode::Dp3 => 0x7,
        Opcode::If | Opcode::Uif | Opcode::Switch | Opcode::Case | Opcode::Emit | Opcode::Endprim => 0x1,
        Opcode::Rcp
        | Opcode::Rsq
        | Opcode::Sqrt
        | Opcode::Ex2
        | Opcode::Lg2
        | Opcode::Pow
        | Opcode::Sin
        | Opcode::Cos => 0x1,
        // The lane number is in x, independent of the write mask.
        Opcode::ReadInvoc => 0xf,
        _ if opcode.info().output_mode == OutputMode::Componentwise && opcode.class() != Class::Wide => write_mask,
        _ => 0xf,
    }
}
