//! Memory layout of variables during a run.
//!
//! A pointer is a 32-bit address. The top two bits select the memory: *private* cells (one copy per lane), *common*
//! cells (one copy for all lanes: uniforms, per-vertex inputs and outputs, shared variables), bytes of storage buffers,
//! bytes of uniform buffers. A cell is one word: a component of up to 32 bits, or half of a 64-bit component (low word
//! first). For samplers, images and atomic counters, the address is the unit.

use cranelift_entity::EntityRef;

use super::error::RunError;
use crate::alu::{AluType, BaseType, half};
use crate::entities::{Type, Variable};
use crate::memory_layout::MemoryLayout;
pub(super) use crate::memory_layout::component_bytes;
use crate::shader::{Shader, ShaderStage};
use crate::type_counts::{TypeCounts, UnitCounts, Units};
use crate::types::{ScalarType, TypeData};
use crate::variable::{Initializer, VariableModes};

/// The null address: reads give 0, writes are dropped.
pub(super) const NULL: u32 = u32::MAX;
/// First address of the common cells.
pub(super) const COMMON: u32 = 1 << 30;
/// First address of the storage buffers: block in bits 24 to 29, byte in bits 0 to 23.
pub(super) const STORAGE: u32 = 2 << 30;
/// First address of the uniform buffers.
pub(super) const UNIFORM: u32 = 3 << 30;
/// Shift of the block number in a buffer address.
pub(super) const BLOCK_SHIFT: u32 = 24;
/// Maximum number of blocks in buffer addresses.
const MAX_BLOCKS: u32 = 63;
/// The block of the address of push constants, which are constant buffer 0.
pub(super) const PUSH_CONSTANTS: u32 = MAX_BLOCKS;
/// Number of elements of a per-vertex array without a length: the maximum number of vertices of a patch.
pub(super) const UNSIZED_VERTICES: u32 = 32;
/// Maximum number of cells of each kind, and of vectors in one copy; shaders that exceed it are rejected.
pub(super) const MAX_CELLS: u32 = 1 << 24;
/// Shift of the buffer number in the address of a counter.
pub(super) const COUNTER_SHIFT: u32 = 16;

/// Modes with byte-addressed memory.
pub(super) const BYTE_MODES: VariableModes =
    VariableModes(VariableModes::MEM_SSBO.0 | VariableModes::MEM_UBO.0 | VariableModes::MEM_PUSH_CONST.0);

/// The memory of a variable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allocation {
    /// Address.
    pub address: u32,
    /// Number of cells.
    pub cells: u32,
    /// Address of the copy that framebuffer fetches read; [`NULL`] if absent.
    pub framebuffer: u32,
}

/// The register word of a cell of an input, output, uniform or system value.
#[derive(Clone, Copy, Debug)]
pub(super) struct IoCell {
    /// Register, relative to the first register of the variable.
    pub register: u32,
    /// Component of the register.
    pub component: u8,
    /// Type of the component.
    pub scalar: ScalarType,
}

/// A vector within a type.
#[derive(Clone, Copy, Debug)]
pub(super) struct VectorLeaf {
    /// Offset in cells.
    pub cell: u32,
    /// Offset in bytes, in buffers.
    pub byte: u32,
    /// Bytes from one component to the next, in buffers.
    pub step: u32,
    /// Type of the components.
    pub scalar: ScalarType,
    /// Number of components.
    pub components: u8,
}

/// Sizes of all types, and the memory of all variables that the code refers to.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// Number of cells of each type. Samplers and images in structs have none.
    cells: TypeCounts,
    units: UnitCounts,
    memory: MemoryLayout,
    allocations: Vec<Option<Allocation>>,
    /// Total number of private cells.
    pub private_cells: u32,
    /// Total number of common cells.
    pub common_cells: u32,
}

/// Whether a variable of this type is represented by its unit only.
pub(super) fn is_opaque(shader: &Shader, ty: Type) -> bool {
    matches!(
        shader.types.get(shader.types.without_arrays(ty)),
        TypeData::Sampler { .. }
            | TypeData::Texture { .. }
            | TypeData::Image { .. }
            | TypeData::AtomicCounter
            | TypeData::Opaque(_)
    )
}

/// Number of words of a component.
fn words(scalar: ScalarType) -> u32 {
    if scalar.bit_size() == 64 { 2 } else { 1 }
}

/// Converts the word of a register to a value.
pub(super) fn read(word: u32, scalar: ScalarType) -> u32 {
    match scalar {
        ScalarType::Bool => u32::from(word != 0),
        ScalarType::Float16 => half::from_f64(f32::from_bits(word).into(), false).into(),
        ScalarType::Int8 | ScalarType::Uint8 => word & 0xff,
        ScalarType::Int16 | ScalarType::Uint16 => word & 0xffff,
        _ => word,
    }
}

/// Converts a value to the word of a register.
pub(super) fn written(word: u32, scalar: ScalarType) -> u32 {
    match scalar {
        ScalarType::Bool if word != 0 => u32::MAX,
        ScalarType::Float16 => half::to_f32(word as u16).to_bits(),
        ScalarType::Int8 => word as i8 as u32,
        ScalarType::Int16 => word as i16 as u32,
        _ => word,
    }
}

/// Returns the scalar type whose conversion a lowered access of a type needs.
fn converted_scalar(ty: AluType, bits: u8) -> ScalarType {
    match (ty.base, bits) {
        (_, 1) => ScalarType::Bool,
        (BaseType::Float, 16) => ScalarType::Float16,
        (BaseType::Int, 8) => ScalarType::Int8,
        (BaseType::Int, 16) => ScalarType::Int16,
        _ => ScalarType::Uint,
    }
}

/// Converts the word of a register to a component of a lowered access.
pub(super) fn read_component(word: u32, ty: AluType, bits: u8) -> u32 {
    read(word, converted_scalar(ty, bits))
}

/// Converts a component of a lowered access to the word of a register.
pub(super) fn written_component(word: u32, ty: AluType, bits: u8) -> u32 {
    written(word, converted_scalar(ty, bits))
}

impl Layout {
    /// Computes the sizes of the types of a shader; no variable is allocated yet.
    pub fn new(shader: &Shader) -> Layout {
        Layout {
            cells: TypeCounts::new(&shader.types, |data| match data {
                TypeData::Vector { scalar, components } => vector_cells(*scalar, *components),
                TypeData::Matrix { scalar, columns, rows, .. } => vector_cells(*scalar, *rows) * u32::from(*columns),
                TypeData::Opaque(_) => 1,
                _ => 0,
            }),
            units: UnitCounts::new(&shader.types),
            memory: MemoryLayout::new(&shader.types),
            allocations: vec![None; shader.variables.len()],
            ..Layout::default()
        }
    }

    fn num_cells(&self, ty: Type) -> u32 {
        self.cells.of(ty)
    }

    /// The memory of a variable, if it was allocated.
    pub fn allocation(&self, variable: Variable) -> Option<Allocation> {
        self.allocations.get(variable.index()).copied().flatten()
    }

    /// All allocated variables.
    pub fn allocations(&self) -> impl Iterator<Item = (Variable, Allocation)> + '_ {
        self.allocations.iter().enumerate().filter_map(|(index, found)| Some((Variable::new(index), (*found)?)))
    }

    /// Allocates a variable if it has no memory yet.
    pub fn add(&mut self, shader: &Shader, variable: Variable) -> Result<Allocation, RunError> {
        if let Some(allocation) = self.allocation(variable) {
            return Ok(allocation);
        }
        let data = &shader.variables[variable];
        let mut cells = self.num_cells(data.ty);
        if let TypeData::Array { element, length: 0, .. } = *shader.types.get(data.ty) {
            cells = self.num_cells(element).saturating_mul(UNSIZED_VERTICES);
        }
        let opaque = is_opaque(shader, data.ty);
        let mut allocation = Allocation { address: NULL, cells, framebuffer: NULL };
        if opaque {
            let counter = matches!(shader.types.get(shader.types.without_arrays(data.ty)), TypeData::AtomicCounter);
            allocation.address = if counter {
                // The address of its first counter in the buffer.
                (data.binding << COUNTER_SHIFT).wrapping_add(data.driver_location)
            } else {
                data.binding
            };
        } else if data.mode.intersects(BYTE_MODES) {
            allocation.address = match data.mode {
                // Behind other variables in the buffer.
                VariableModes::MEM_PUSH_CONST => {
                    let first = data.driver_location.saturating_mul(16).min((1 << BLOCK_SHIFT) - 1);
                    UNIFORM | PUSH_CONSTANTS << BLOCK_SHIFT | first
                }
                _ if data.binding >= MAX_BLOCKS => NULL,
                VariableModes::MEM_SSBO => STORAGE | data.binding << BLOCK_SHIFT,
                _ => UNIFORM | data.binding << BLOCK_SHIFT,
            };
        } else {
            let common = is_common(shader, variable);
            let copies = if data.fb_fetch_output && data.mode == VariableModes::SHADER_OUT { 2 } else { 1 };
            let next = if common { &mut self.common_cells } else { &mut self.private_cells };
            let first = *next;
            let end = u64::from(first) + u64::from(cells) * copies;
            if end > u64::from(MAX_CELLS) {
                return Err(RunError::TooLarge { words: end });
            }
            *next = end as u32;
            allocation.address = if common { COMMON + first } else { first };
            if copies == 2 {
                allocation.framebuffer = allocation.address + cells;
            }
        }
        self.allocations[variable.index()] = Some(allocation);
        Ok(allocation)
    }

    /// Number of elements of an array-like type (`u32::MAX` if unbounded) and the distance between them, in the units
    /// of `modes`.
    pub fn elements(&self, shader: &Shader, ty: Type, modes: VariableModes) -> Option<(u32, u32)> {
        let bytes = modes.intersects(BYTE_MODES);
        match *shader.types.get(ty) {
            // An index beyond an array of samplers or images still gives a unit: the resources decide whether it
            // exists.
            TypeData::Array { element, .. } if is_opaque(shader, element) => {
                Some((u32::MAX, shader.types.array_elements(element)))
            }
            // Blocks with a distance are in one buffer, others have one each.
            TypeData::Array { element, length, stride: 0 } if bytes && is_block(shader, element) => {
                Some((length, shader.types.array_elements(element) << BLOCK_SHIFT))
            }
            _ if bytes => {
                let elements = self.memory.elements(&shader.types, ty)?;
                Some((if elements.length == 0 { u32::MAX } else { elements.length }, elements.distance))
            }
            TypeData::Array { element, length, .. } => {
                Some((if length == 0 { UNSIZED_VERTICES } else { length }, self.num_cells(element)))
            }
            TypeData::Matrix { scalar, columns, rows, .. } => Some((columns.into(), vector_cells(scalar, rows))),
            TypeData::Vector { scalar, components } => Some((components.into(), words(scalar))),
            _ => None,
        }
    }

    /// Distance in bytes between the components of an element of a type in a buffer, if they are not adjacent.
    pub fn component_distance(&self, shader: &Shader, ty: Type) -> Option<u32> {
        self.memory.elements(&shader.types, ty)?.component_distance
    }

    /// Distance between consecutive elements of a type in an array.
    pub fn stride(&self, ty: Type, modes: VariableModes) -> u32 {
        if modes.intersects(BYTE_MODES) { self.memory.stride(ty) } else { self.num_cells(ty) }
    }

    /// Offset of a field of a struct.
    pub fn field(&self, shader: &Shader, ty: Type, number: u32, modes: VariableModes) -> Option<u32> {
        if modes.intersects(BYTE_MODES) {
            return self.memory.field(&shader.types, ty, number);
        }
        self.cells.before_field(&shader.types, ty, number)
    }

    /// The units of a sampler or image in a variable of type `whole`; see [`UnitCounts::units`].
    pub fn units(&self, shader: &Shader, whole: Type, path: &[Option<u32>]) -> Option<Units> {
        self.units.units(&shader.types, whole, path)
    }

    /// The vectors that a type consists of, in order.
    pub fn leaves(&self, shader: &Shader, ty: Type) -> Result<Vec<VectorLeaf>, RunError> {
        let cells = self.num_cells(ty);
        if cells > MAX_CELLS {
            return Err(RunError::TooLarge { words: cells.into() });
        }
        let mut leaves = Vec::new();
        let mut pending = vec![(ty, 0u32, 0u32)];
        while let Some((ty, cell, byte)) = pending.pop() {
            match shader.types.get(ty) {
                TypeData::Vector { scalar, components } => {
                    let step = component_bytes(scalar.bit_size());
                    leaves.push(VectorLeaf { cell, byte, step, scalar: *scalar, components: *components });
                }
                TypeData::Matrix { scalar, columns, rows, .. } => {
                    let Some(elements) = self.memory.elements(&shader.types, ty) else { continue };
                    let step = elements.component_distance.unwrap_or(component_bytes(scalar.bit_size()));
                    for number in 0..u32::from(*columns) {
                        let byte = byte.saturating_add(elements.distance.saturating_mul(number));
                        let cell = cell + vector_cells(*scalar, *rows) * number;
                        leaves.push(VectorLeaf { cell, byte, step, scalar: *scalar, components: *rows });
                    }
                }
                TypeData::Array { element, length, .. } => {
                    let cells = self.num_cells(*element);
                    let distance = self.memory.elements(&shader.types, ty).map_or(0, |elements| elements.distance);
                    // Empty structs take no cells, so arrays of them may be arbitrarily long.
                    if cells == 0 {
                        continue;
                    }
                    for number in (0..*length).rev() {
                        let byte = byte.saturating_add(distance.saturating_mul(number));
                        pending.push((*element, cell + cells * number, byte));
                    }
                }
                TypeData::Struct { fields, .. } => {
                    for number in (0..fields.len()).rev() {
                        let at = |modes| self.field(shader, ty, number as u32, modes).unwrap_or(0);
                        let (cells, bytes) = (at(VariableModes::FUNCTION_TEMP), at(VariableModes::MEM_SSBO));
                        pending.push((fields[number].ty, cell + cells, byte.saturating_add(bytes)));
                    }
                }
                _ => {}
            }
        }
        Ok(leaves)
    }

    /// Maps the cells of an input, output or uniform to register words. `ty` may be the type of one vertex.
    pub fn io_cells(&self, shader: &Shader, ty: Type, compact: bool, first: u8) -> Result<Vec<IoCell>, RunError> {
        let leaves = self.leaves(shader, ty)?;
        let mut cells = Vec::new();
        let mut register = 0u32;
        for leaf in &leaves {
            let count = u32::from(leaf.components) * words(leaf.scalar);
            let start = u32::from(first) + if compact { cells.len() as u32 } else { 0 };
            let base = if compact { 0 } else { register };
            cells.extend((start..start + count).map(|word| IoCell {
                register: base + word / 4,
                component: (word % 4) as u8,
                scalar: leaf.scalar,
            }));
            register += 1 + u32::from(words(leaf.scalar) == 2 && leaf.components > 2);
        }
        Ok(cells)
    }

    /// The words of an initialiser, by cell of the type.
    pub fn initial_words(&self, shader: &Shader, ty: Type, initializer: &Initializer) -> Vec<(u32, u32)> {
        let mut result = Vec::new();
        let mut pending = vec![(ty, 0u32, initializer)];
        while let Some((ty, cell, initializer)) = pending.pop() {
            match (initializer, shader.types.get(ty)) {
                (Initializer::Null, _) => {}
                (Initializer::Vector(values), TypeData::Vector { scalar, components }) => {
                    for (number, &value) in (0u32..).zip(values.iter().take(usize::from(*components))) {
                        let at = cell + number * words(*scalar);
                        result.push((at, value as u32));
                        if words(*scalar) == 2 {
                            result.push((at + 1, (value >> 32) as u32));
                        }
                    }
                }
                (Initializer::Elements(parts), TypeData::Array { element, length, .. }) => {
                    let size = self.num_cells(*element);
                    for (number, part) in (0..*length).zip(parts) {
                        pending.push((*element, cell + size * number, part));
                    }
                }
                (Initializer::Elements(parts), TypeData::Matrix { scalar, columns, rows, .. }) => {
                    let column = vector_cells(*scalar, *rows);
                    for (number, part) in (0..u32::from(*columns)).zip(parts) {
                        let Initializer::Vector(values) = part else { continue };
                        for (row, &value) in (0u32..).zip(values.iter().take(usize::from(*rows))) {
                            let at = cell + column * number + row * words(*scalar);
                            result.push((at, value as u32));
                            if words(*scalar) == 2 {
                                result.push((at + 1, (value >> 32) as u32));
                            }
                        }
                    }
                }
                (Initializer::Elements(parts), TypeData::Struct { fields, .. }) => {
                    for (number, (field, part)) in fields.iter().zip(parts).enumerate() {
                        let offset = self.field(shader, ty, number as u32, VariableModes::FUNCTION_TEMP).unwrap_or(0);
                        pending.push((field.ty, cell + offset, part));
                    }
                }
                (Initializer::Pointer(variable), _) => {
                    let address = self.allocation(*variable).map_or(NULL, |allocation| allocation.address);
                    result.push((cell, address));
                }
                _ => {}
            }
        }
        result
    }
}

fn vector_cells(scalar: ScalarType, components: u8) -> u32 {
    u32::from(components) * words(scalar)
}

/// Whether a variable of this type is a block, or an array of blocks with a buffer each.
fn is_block(shader: &Shader, ty: Type) -> bool {
    matches!(shader.types.get(shader.types.without_arrays(ty)), TypeData::Struct { interface: true, .. })
}

/// Whether all lanes share the variable.
fn is_common(shader: &Shader, variable: Variable) -> bool {
    let data = &shader.variables[variable];
    if data.per_vertex || data.mode.intersects(VariableModes(VariableModes::UNIFORM.0 | VariableModes::MEM_SHARED.0)) {
        return true;
    }
    shader.stage == ShaderStage::TessCtrl && data.mode == VariableModes::SHADER_OUT
}
