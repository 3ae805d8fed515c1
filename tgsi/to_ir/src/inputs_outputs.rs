//! Variables of inputs and outputs, and the derefs of their registers.
//!
//! The declared registers of a file form *groups*, each with one variable: a single register, or an array. A
//! declaration with an array number is an array; if an access has no array number, all declarations form one array if
//! they are consecutive in register, semantic and interpolation. If an index may address registers of several groups
//! without gaps, the access is to the *whole file*: an intrinsic on slots, with the first register as its base and all
//! registers as its range, instead of one on a variable. Then all accesses to outputs of that file have this form. The
//! remaining accesses (gaps, interpolation at another location) compare the index with each register.
//!
//! In stages with several vertices, an access with an outer index is to a variable with the vertices as its outermost
//! array dimension, an access without one to an ordinary variable. A declaration may have both, though shaders use one
//! of them.

use hashbrown::HashMap;

use tgsi_ir::entities::{Type, Variable};
use tgsi_ir::intrinsics::indices::InterpMode;
use tgsi_ir::slots::{FragResult, VaryingSlot};
use tgsi_ir::types::ScalarType;
use tgsi_ir::variable::{VariableData, VariableModes};

use super::declarations::{Context, range};
use crate::slots::{FIRST_EXTENDED_LOCATION, location_of};
use tgsi::shader::Declaration;
use tgsi::tables::{File, Interpolation, InterpolationLocation, Primitive, Processor, PropertyName, Semantic};

/// Maximum number of vertices of a patch.
const PATCH_VERTICES: u32 = 32;
/// Number of vertices of a geometry shader's input primitive if the shader does not specify it.
const MAX_PRIMITIVE_VERTICES: u32 = 6;

/// Registers that share a variable.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) first: i32,
    pub(super) last: i32,
    pub(super) is_array: bool,
    /// Number of the (first) declaration.
    declaration: usize,
    /// The ordinary variable and the per-vertex one.
    variables: [Option<(Variable, Type)>; 2],
    /// The component that a scalar variable holds.
    pub(super) scalar: Option<u8>,
}

/// The inputs or the outputs.
#[derive(Debug)]
pub(super) struct IoFile {
    pub(super) file: File,
    pub(super) groups: Vec<Group>,
    pub(super) of_register: HashMap<i32, usize>,
    /// First and last register of a file accessed as a whole.
    pub(super) whole: Option<(i32, i32)>,
}

impl IoFile {
    pub(super) fn new(file: File) -> IoFile {
        IoFile { file, groups: Vec::new(), of_register: HashMap::new(), whole: None }
    }

    pub(super) fn mode(&self) -> VariableModes {
        if self.file == File::Input { VariableModes::SHADER_IN } else { VariableModes::SHADER_OUT }
    }
}

const fn interpolation(mode: Interpolation) -> InterpMode {
    match mode {
        Interpolation::Constant => InterpMode::Flat,
        Interpolation::Linear => InterpMode::NoPerspective,
        Interpolation::Perspective => InterpMode::Smooth,
        Interpolation::Color => InterpMode::None,
    }
}

/// For an output with a single component: that component and its type.
fn scalar_output(fragment: bool, location: i32) -> Option<(u8, ScalarType)> {
    let slot = u8::try_from(location).ok()?;
    Some(if fragment {
        match slot {
            FragResult::DEPTH => (2, ScalarType::Float),
            FragResult::STENCIL => (1, ScalarType::Int),
            FragResult::SAMPLE_MASK => (0, ScalarType::Int),
            _ => return None,
        }
    } else {
        match slot {
            VaryingSlot::FOGC | VaryingSlot::PSIZ | VaryingSlot::EDGE => (0, ScalarType::Float),
            VaryingSlot::LAYER | VaryingSlot::VIEWPORT | VaryingSlot::PRIMITIVE_ID | VaryingSlot::VIEWPORT_MASK => {
                (0, ScalarType::Int)
            }
            _ => return None,
        }
    })
}

impl<'s> Context<'s> {
    pub(super) fn io(&self, file: File) -> &IoFile {
        if file == File::Input { &self.input_file } else { &self.output_file }
    }

    fn io_mut(&mut self, file: File) -> &mut IoFile {
        if file == File::Input { &mut self.input_file } else { &mut self.output_file }
    }

    /// Creates the variables of all declared inputs and outputs, in the order of their declarations.
    pub(super) fn declare_inputs_and_outputs(&mut self) {
        for file in [File::Input, File::Output] {
            self.group(file);
            for group in 0..self.io(file).groups.len() {
                let by_vertex = self.is_by_vertex(file, group);
                self.group_variable(file, group, by_vertex);
            }
        }
    }

    /// Whether the registers of a group are usually addressed by vertex. Texts show this with empty brackets, but the
    /// semantic already determines it.
    fn is_by_vertex(&self, file: File, group: usize) -> bool {
        let declaration = self.io(file).groups.get(group).and_then(|g| self.shader.declarations.get(g.declaration));
        let is_patch = declaration.and_then(|d| d.semantic).is_some_and(|semantic| semantic.name.is_patch());
        self.shader.processor.has_vertices(file) && (self.shader.processor == Processor::Geometry || !is_patch)
    }

    fn group(&mut self, file: File) {
        let shader = self.shader;
        let declarations: Vec<(usize, &Declaration)> = shader
            .declarations
            .iter()
            .enumerate()
            .filter(|(_, declaration)| declaration.file == file && declaration.first <= declaration.last)
            .collect();
        let any_array = self
            .usage
            .indirect
            .iter()
            .any(|&(accessed, array)| accessed == file && !self.array_bounds.contains_key(&(file, array)));
        let mut whole = self.file_bounds.get(&file).copied().filter(|_| any_array);
        let mut groups: Vec<(usize, i32, i32, bool)> = Vec::new();
        let mut sorted = if any_array { declarations.clone() } else { Vec::new() };
        if any_array && self.follow_each_other(&mut sorted) {
            if let (Some((number, first)), Some((_, last))) = (sorted.first(), sorted.last()) {
                groups.push((*number, i32::from(first.first), i32::from(last.last), true));
            }
            whole = None;
        } else {
            for (number, declaration) in declarations {
                let (first, last) = range(declaration);
                let indexed = declaration.array().is_some_and(|array| self.usage.indirect.contains(&(file, array)));
                if declaration.array().is_some() && (last > first || indexed) {
                    groups.push((number, first, last, true));
                } else {
                    groups.extend((first..=last).map(|register| (number, register, register, false)));
                }
            }
        }
        let io = self.io_mut(file);
        for (declaration, first, last, is_array) in groups {
            let group = Group { first, last, is_array, declaration, variables: [None; 2], scalar: None };
            for register in first..=last {
                io.of_register.entry(register).or_insert(io.groups.len());
            }
            io.groups.push(group);
        }
        io.whole = whole.filter(|&(first, last)| (first..=last).all(|register| io.of_register.contains_key(&register)));
    }

    /// Whether declarations are parts of a possible single declaration. Sorts them.
    fn follow_each_other(&self, declarations: &mut [(usize, &Declaration)]) -> bool {
        declarations.sort_by_key(|(_, declaration)| declaration.first);
        let is_attribute = self.shader.processor == Processor::Vertex;
        declarations.windows(2).all(|pair| {
            let [(_, a), (_, b)] = pair else { return false };
            let follows = i32::from(b.first) == i32::from(a.last) + 1
                && a.interpolation == b.interpolation
                && a.dimension == b.dimension
                && a.invariant == b.invariant;
            let semantics = match (a.semantic, b.semantic) {
                (Some(x), Some(y)) => {
                    x.name == y.name
                        && x.streams == y.streams
                        && u32::from(y.index) == u32::from(x.index) + u32::from(a.last - a.first) + 1
                }
                (None, None) => true,
                _ => false,
            };
            follows && (semantics || (is_attribute && a.file == File::Input))
        })
    }

    /// Returns the number of vertices of an arrayed variable of a file.
    fn vertices(&self, file: File) -> u32 {
        let property = |name| self.shader.property(name);
        match self.shader.processor {
            Processor::Geometry => property(PropertyName::GsInputPrimitive)
                .and_then(Primitive::from_value)
                .map_or(MAX_PRIMITIVE_VERTICES, |primitive| u32::from(primitive.input_vertices())),
            Processor::TessControl if file == File::Output => {
                property(PropertyName::TcsVerticesOut).filter(|&count| count != 0).unwrap_or(PATCH_VERTICES)
            }
            _ => PATCH_VERTICES,
        }
    }

    /// Returns the components of an output register that instructions write.
    pub(super) fn written_mask(&self, register: i32) -> u8 {
        let direct =
            usize::try_from(register).ok().and_then(|r| self.usage.output_masks.get(r)).copied().unwrap_or_default();
        self.usage.indirect_output_masks.iter().fold(direct, |mask, (&array, &written)| {
            let reaches =
                self.bounds(File::Output, array).is_some_and(|(first, last)| (first..=last).contains(&register));
            if reaches { mask | written } else { mask }
        })
    }

    /// Returns the variable of a group, creating it if necessary.
    pub(super) fn group_variable(&mut self, file: File, group: usize, by_vertex: bool) -> Option<(Variable, Type)> {
        let entry = self.io(file).groups.get(group)?;
        if let Some(existing) = entry.variables[usize::from(by_vertex)] {
            return Some(existing);
        }
        let (first, last, is_array) = (entry.first, entry.last, entry.is_array);
        let declaration = self.shader.declarations.get(entry.declaration)?;
        let processor = self.shader.processor;
        let offset = (first - i32::from(declaration.first)) as u32;
        let is_attribute = processor == Processor::Vertex && file == File::Input;
        let semantic = declaration.semantic.filter(|_| !is_attribute);
        let mut location = match semantic {
            Some(semantic) => location_of(processor, file, semantic.name, u32::from(semantic.index) + offset),
            None => location_of(processor, file, Semantic::Generic, first as u32),
        };
        let fragment_output = processor == Processor::Fragment && file == File::Output;
        if fragment_output
            && location == i32::from(FragResult::DATA0)
            && self.shader.property(PropertyName::FsColor0WritesAllCbufs).is_some_and(|value| value != 0)
        {
            location = i32::from(FragResult::COLOR);
        }

        let mut element = self.vec4;
        let mut scalar = None;
        if file == File::Output
            && !is_array
            && processor != Processor::TessControl
            && let Some((component, ty)) = scalar_output(fragment_output, location)
            && self.written_mask(first) & !(1 << component) == 0
        {
            element = self.ir.types.vector(ty, 1);
            scalar = Some(component);
        }
        let mut ty = element;
        if is_array {
            ty = self.ir.types.array(ty, (last - first) as u32 + 1);
        }
        if by_vertex {
            let vertices = self.vertices(file);
            ty = self.ir.types.array(ty, vertices);
        }
        let prefix = if file == File::Input { "in" } else { "out" };
        let mut data = VariableData::new(format!("{prefix}_{first}"), ty, self.io(file).mode());
        data.location = location;
        data.location_frac = scalar.unwrap_or(0);
        data.driver_location = first as u32;
        data.invariant = declaration.invariant;
        data.per_vertex = by_vertex;
        let tessellation = (processor == Processor::TessControl && file == File::Output)
            || (processor == Processor::TessEval && file == File::Input);
        data.patch = tessellation && !by_vertex;
        if let Some(mode) = declaration.interpolation {
            data.interpolation = interpolation(mode.mode);
            data.centroid = mode.location == InterpolationLocation::Centroid;
            data.sample = mode.location == InterpolationLocation::Sample;
        }
        // Only outputs of geometry shaders have streams, although a text may specify them for any register.
        if let Some(semantic) =
            declaration.semantic.filter(|_| processor == Processor::Geometry && file == File::Output)
        {
            data.streams = semantic
                .streams
                .iter()
                .enumerate()
                .fold(0, |bits, (position, stream)| bits | (stream & 3) << (2 * position));
        }
        let variable = self.ir.add_variable(data);
        self.note_slots(file, location, (last - first) as u32 + 1, tessellation && !by_vertex);
        let entry = self.io_mut(file).groups.get_mut(group)?;
        entry.variables[usize::from(by_vertex)] = Some((variable, ty));
        entry.scalar = scalar;
        entry.variables[usize::from(by_vertex)]
    }

    /// Records slots in the shader's information.
    fn note_slots(&mut self, file: File, location: i32, count: u32, patch: bool) {
        if location >= FIRST_EXTENDED_LOCATION {
            return;
        }
        let info = &mut self.ir.info;
        for slot in (location as u32..).take(count as usize) {
            match (slot, file) {
                (0..64, File::Input) => info.inputs_read |= 1 << slot,
                (0..64, _) => info.outputs_written |= 1 << slot,
                (64..96, File::Input) if patch => info.patch_inputs_read |= 1 << (slot - 64),
                (64..96, _) if patch => info.patch_outputs_written |= 1 << (slot - 64),
                _ => {}
            }
        }
    }
}
