//! The interface of a shader by name: the values that an application sets, and those that stages share.
//!
//! Languages with names have one. A front end assigns registers and units, and describes them here, so that values can
//! be given by name ([`Interface::set`]).

use std::fmt::Write;

use serde::Serialize;
use thiserror::Error;

/// The type of the components of a uniform.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ComponentType {
    /// 32-bit float.
    Float,
    /// 64-bit float: two words.
    Double,
    /// Signed 32-bit integer.
    Int,
    /// Unsigned 32-bit integer.
    Uint,
    /// Boolean: 0 or 1.
    Bool,
    /// Signed 64-bit integer: two words.
    Int64,
    /// Unsigned 64-bit integer: two words.
    Uint64,
}

/// A part of a uniform that is set by its own name: a scalar, a vector, a matrix, or an array of these.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct UniformMember {
    /// The name after that of the uniform: `[2].color`; empty if the uniform has no structs.
    pub path: String,
    /// Type of the components.
    pub component_type: ComponentType,
    /// Components of a scalar, vector or column.
    pub rows: u8,
    /// Columns of a matrix; 1 for scalars and vectors.
    pub columns: u8,
    /// Elements of an array, all dimensions together; `None` if it is not an array.
    pub length: Option<u32>,
    /// The register of the first column of the first element. Each column has its own register, or two for more than
    /// two doubles.
    pub register: u32,
    /// The first component in the register.
    pub component: u8,
    /// The location of the first element, for APIs that set uniforms by location; each element has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<u32>,
    /// Active uniforms that the part is: an array is one, an array of arrays one for each innermost array.
    #[serde(skip_serializing_if = "is_one")]
    pub num_active: u32,
}

/// Whether a count is 1, which is not written.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_one(count: &u32) -> bool {
    *count == 1
}

/// Whether a count is 0, which is not written.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl UniformMember {
    /// A scalar, vector or matrix.
    pub fn new(path: String, component_type: ComponentType, rows: u8, columns: u8, register: u32) -> UniformMember {
        let (length, location) = (None, None);
        UniformMember { path, component_type, rows, columns, length, register, component: 0, location, num_active: 1 }
    }

    /// Registers of a column.
    fn column_registers(&self) -> u32 {
        if self.component_type.is_wide() && self.rows > 2 { 2 } else { 1 }
    }

    /// Writes an element: the bits of the components of the columns in order. Missing registers of the buffer are added.
    fn write(&self, element: u32, values: &[u64], buffer: &mut Vec<u32>) {
        let registers = self.column_registers();
        let first = self.register + element * u32::from(self.columns) * registers;
        for (column, values) in values.chunks(usize::from(self.rows).max(1)).enumerate() {
            let start = 4 * (first as usize + column * registers as usize) + usize::from(self.component);
            let is_wide = self.component_type.is_wide();
            let words = values
                .iter()
                .flat_map(|&bits| std::iter::once(bits as u32).chain(is_wide.then_some((bits >> 32) as u32)));
            let words: Vec<u32> = words.collect();
            let end = start + words.len();
            if buffer.len() < end {
                buffer.resize(end.next_multiple_of(4), 0);
            }
            if let Some(place) = buffer.get_mut(start..end) {
                place.copy_from_slice(&words);
            }
        }
    }
}

/// A uniform, or fixed-function state.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct Uniform {
    /// Name.
    pub name: String,
    /// Type as in the source: `vec4[8]`.
    #[serde(rename = "type")]
    pub ty: String,
    /// The first register of four components: `CONST[0][register]`.
    pub register: u32,
    /// Registers that it takes: arrays end at the largest index that is used.
    pub num_registers: u32,
    /// Whether it is state of the fixed-function pipeline, such as `gl_Fog`.
    pub is_state: bool,
    /// The value of its initialiser: bits of the components in order. Of state the initial value that GL specifies:
    /// four words for each register, including those of array elements that are not used.
    pub initial: Option<Vec<u64>>,
    /// The parts that are set separately, by register.
    pub members: Vec<UniformMember>,
}

impl Uniform {
    /// A uniform without initial value.
    pub fn new(name: String, ty: String, register: u32, num_registers: u32, members: Vec<UniformMember>) -> Uniform {
        Uniform { name, ty, register, num_registers, is_state: false, initial: None, members }
    }

    /// Writes the initial value; zero without one.
    fn write_initial(&self, buffer: &mut Vec<u32>) {
        let end = 4 * (self.register as usize + self.num_registers as usize);
        if buffer.len() < end {
            buffer.resize(end, 0);
        }
        let Some(bits) = &self.initial else { return };
        if self.is_state {
            let words = bits.iter().map(|&bits| bits as u32);
            buffer.iter_mut().take(end).skip(4 * self.register as usize).zip(words).for_each(|(to, word)| *to = word);
            return;
        }
        let mut bits = bits.iter();
        for member in &self.members {
            let count = usize::from(member.rows) * usize::from(member.columns);
            for element in 0..member.length.unwrap_or(1) {
                let values: Vec<u64> = bits.by_ref().take(count).copied().collect();
                member.write(element, &values, buffer);
            }
        }
        buffer.truncate(buffer.len().max(end));
    }
}

impl ComponentType {
    /// Whether a component has two words.
    fn is_wide(self) -> bool {
        matches!(self, ComponentType::Double | ComponentType::Int64 | ComponentType::Uint64)
    }

    /// The bits of a value, as a buffer has them.
    pub fn bits(self, value: f64) -> u64 {
        match self {
            ComponentType::Float => (value as f32).to_bits().into(),
            ComponentType::Double => value.to_bits(),
            // Both ranges: 0xffffffff is -1.
            ComponentType::Int | ComponentType::Uint => (value as i64 as u32).into(),
            ComponentType::Bool => u64::from(value != 0.0),
            ComponentType::Uint64 if value > 0.0 => value as u64,
            ComponentType::Int64 | ComponentType::Uint64 => value as i64 as u64,
        }
    }
}

/// A sampler uniform.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct SamplerUniform {
    /// Name, with fields of structs: `material.diffuse`.
    pub name: String,
    /// Type as in the source.
    #[serde(rename = "type")]
    pub ty: String,
    /// The first unit.
    pub unit: u32,
    /// Units: the elements of arrays are consecutive.
    pub num_units: u32,
    /// The locations of the units, for APIs that set them by location; else empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<u32>,
    /// The texture unit of the application that the first unit has initially.
    #[serde(skip_serializing_if = "is_zero")]
    pub initial_unit: u32,
    /// Active uniforms: an array is one, an array of arrays one for each innermost array.
    #[serde(skip_serializing_if = "is_one")]
    pub num_active: u32,
}

impl SamplerUniform {
    /// A sampler, or an array of samplers.
    pub fn new(name: String, ty: String, unit: u32, num_units: u32) -> SamplerUniform {
        SamplerUniform { name, ty, unit, num_units, locations: Vec::new(), initial_unit: 0, num_active: 1 }
    }
}

/// An input or output.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct InterfaceVariable {
    /// Name.
    pub name: String,
    /// Type as in the source.
    #[serde(rename = "type")]
    pub ty: String,
    /// The slot ([`tgsi_ir::slots`]).
    pub location: i32,
    /// The number of the register.
    pub register: u32,
}

impl InterfaceVariable {
    /// An input or output.
    pub fn new(name: String, ty: String, location: i32, register: u32) -> InterfaceVariable {
        InterfaceVariable { name, ty, location, register }
    }
}

/// The kinds of resources of descriptor sets.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ResourceKind {
    /// Push constants; without set and binding. The register is the number of a constant buffer.
    PushConstants,
    /// A uniform block. The register is the number of a constant buffer.
    UniformBlock,
    /// A storage block. The register is the number of a buffer.
    StorageBlock,
    /// A storage image or storage texel buffer. The register is the number of an image.
    Image,
    /// A texture, with or without a sampler. The register is a unit.
    Texture,
    /// A sampler whose consumer keeps samplers apart from textures. The register is a unit.
    Sampler,
    /// A buffer of atomic counters. The register is its number.
    CounterBuffer,
}

/// The place of a resource in the sets of descriptors of an application.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, Serialize)]
pub struct Descriptor {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
}

/// A resource that the application binds by numbers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct Resource {
    /// Its kind.
    pub kind: ResourceKind,
    /// Name; empty if the module has none.
    pub name: String,
    /// Set and binding.
    pub descriptor: Descriptor,
    /// The first element of the descriptor array that the registers are; 0 unless elements are bound separately.
    pub element: u32,
    /// The sampler of a texture that is a separate descriptor, with its element; `None` if both are one descriptor, or
    /// the texture is only fetched.
    pub sampler: Option<(Descriptor, u32)>,
    /// The first register, by kind.
    pub register: u32,
    /// Number of registers: the elements of an array are consecutive.
    pub num_registers: u32,
    /// Byte offset in the constant buffer of the register; not 0 only where several blocks share a buffer.
    pub offset: u32,
    /// Size in bytes of a block without its run-time array; 0 for other kinds.
    pub size: u32,
    /// Active variables of a block or of counters: an array is one, an array of arrays one for each innermost array,
    /// and of an outermost array in a storage block the first element counts; 0 for other kinds.
    #[serde(skip_serializing_if = "is_zero")]
    pub num_active: u32,
    /// The members of a block, if the front end knows them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<BlockMember>,
}

/// A scalar, vector or matrix in a block, or an array of them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct BlockMember {
    /// The name by which an application finds it: with that of the block, if members are accessed through an instance.
    pub path: String,
    /// Type of the components.
    pub component_type: ComponentType,
    /// Components of a vector or column: 1 to 4.
    pub rows: u8,
    /// Columns; 1 for scalars and vectors.
    pub columns: u8,
    /// Length of an array; 0 for one at the end of a storage block.
    pub length: Option<u32>,
    /// Byte offset in the block.
    pub offset: u32,
    /// Bytes between elements of an array.
    pub array_stride: u32,
    /// Bytes between the columns of a matrix, or its rows.
    pub matrix_stride: u32,
    /// Whether a matrix is stored by rows.
    pub row_major: bool,
}

impl BlockMember {
    /// A member that is not an array.
    pub fn new(path: String, component_type: ComponentType, rows: u8, columns: u8, offset: u32) -> BlockMember {
        let (length, array_stride, matrix_stride, row_major) = (None, 0, 0, false);
        BlockMember { path, component_type, rows, columns, length, offset, array_stride, matrix_stride, row_major }
    }

    /// Writes the values of an element, by column, each with its components. Missing bytes of the block are added.
    pub fn write(&self, element: u32, values: &[f64], block: &mut Vec<u8>) {
        let bits: Vec<u64> = values.iter().map(|&value| self.component_type.bits(value)).collect();
        self.write_bits(element, &bits, block);
    }

    /// Writes an element, as [`write`](BlockMember::write), of components with these bits.
    pub fn write_bits(&self, element: u32, values: &[u64], block: &mut Vec<u8>) {
        let start = u64::from(self.offset) + u64::from(element) * u64::from(self.array_stride);
        let size: u64 = if self.component_type.is_wide() { 8 } else { 4 };
        let rows = u64::from(self.rows).max(1);
        for (number, bits) in (0u64..).zip(values) {
            let (column, row) = (number / rows, number % rows);
            let (line, place) = if self.row_major { (row, column) } else { (column, row) };
            let at = (start + line * u64::from(self.matrix_stride) + place * size) as usize;
            let bytes = bits.to_le_bytes();
            let bytes = bytes.get(..size as usize).unwrap_or_default();
            if block.len() < at + bytes.len() {
                block.resize((at + bytes.len()).next_multiple_of(16), 0);
            }
            if let Some(target) = block.get_mut(at..at + bytes.len()) {
                target.copy_from_slice(bytes);
            }
        }
    }
}

impl Resource {
    /// A resource of one register without sampler.
    pub fn new(kind: ResourceKind, name: String, descriptor: Descriptor, register: u32) -> Resource {
        let (sampler, num_registers) = (None, 1);
        let (element, offset, size, num_active, members) = (0, 0, 0, 0, Vec::new());
        Resource {
            kind,
            name,
            descriptor,
            element,
            sampler,
            register,
            num_registers,
            offset,
            size,
            num_active,
            members,
        }
    }

    /// The kind in words: `uniform block`.
    pub fn kind_name(&self) -> &'static str {
        match self.kind {
            ResourceKind::PushConstants => "push constants",
            ResourceKind::UniformBlock => "uniform block",
            ResourceKind::StorageBlock => "storage block",
            ResourceKind::Image => "image",
            ResourceKind::Texture => "texture",
            ResourceKind::Sampler => "sampler",
            ResourceKind::CounterBuffer => "counters",
        }
    }

    /// A line for people: `texture image (set 0, binding 3) with sampler (set 0, binding 4) = SAMP[0]`.
    fn to_text(&self) -> String {
        let kind = self.kind_name();
        let file = match self.kind {
            ResourceKind::PushConstants | ResourceKind::UniformBlock => "CONST",
            ResourceKind::StorageBlock => "BUFFER",
            ResourceKind::Image => "IMAGE",
            ResourceKind::Texture | ResourceKind::Sampler => "SAMP",
            ResourceKind::CounterBuffer => "HWATOMIC",
        };
        let place = |descriptor: &Descriptor, element: u32| {
            let Descriptor { set, binding } = descriptor;
            let element = if element == 0 { String::new() } else { format!(", element {element}") };
            format!(" (set {set}, binding {binding}{element})")
        };
        let mut text = format!("{kind} {}", self.name);
        if self.kind != ResourceKind::PushConstants {
            text += &place(&self.descriptor, self.element);
        }
        if let Some((sampler, element)) = &self.sampler {
            text += " with sampler";
            text += &place(sampler, *element);
        }
        let last = self.register + self.num_registers.max(1) - 1;
        text += &match self.register {
            first if first == last => format!(" = {file}[{first}]"),
            first => format!(" = {file}[{first}..{last}]"),
        };
        if self.size > 0 {
            text += &format!(", {} bytes", self.size);
        }
        if self.offset > 0 {
            text += &format!(" from byte {}", self.offset);
        }
        text
    }
}

/// A constant that is set before compilation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct SpecializationConstant {
    /// The number by which it is set.
    pub id: u32,
    /// Name; empty if the module has none.
    pub name: String,
    /// Type as in GLSL: `int`, `uint`, `float`, `bool`, `double`.
    #[serde(rename = "type")]
    pub ty: String,
    /// The bits of its default.
    pub default: u64,
    /// The bits that were used.
    pub value: u64,
}

impl SpecializationConstant {
    /// A constant with its default as value.
    pub fn new(id: u32, name: String, ty: String, default: u64) -> SpecializationConstant {
        SpecializationConstant { id, name, ty, default, value: default }
    }
}

/// A function that a subroutine uniform selects.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct Subroutine {
    /// The function.
    pub name: String,
    /// The value of uniforms that select it.
    pub index: u32,
}

impl Subroutine {
    /// A function with its number.
    pub fn new(name: String, index: u32) -> Subroutine {
        Subroutine { name, index }
    }
}

/// The interface of a shader.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
#[non_exhaustive]
pub struct Interface {
    /// Uniforms that are used, by register.
    pub uniforms: Vec<Uniform>,
    /// Samplers that are used, by unit.
    pub samplers: Vec<SamplerUniform>,
    /// Inputs that are used, by register.
    pub inputs: Vec<InterfaceVariable>,
    /// Outputs that are written, by register.
    pub outputs: Vec<InterfaceVariable>,
    /// Uniforms that are declared and not used.
    pub unused: Vec<String>,
    /// Resources of descriptor sets that are used, by kind and register.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<Resource>,
    /// Functions that subroutine uniforms select, by index.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subroutines: Vec<Subroutine>,
    /// Specialisation constants, by id.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub specialization: Vec<SpecializationConstant>,
    /// Outputs that the module captures in buffers, as the option `stream_output` of drivers takes them; empty without.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub stream_output: String,
    /// Variables that are captured: an array is one, and so is each member of a struct.
    #[serde(skip_serializing_if = "is_zero")]
    pub num_captured: u32,
}

/// A value that cannot be set.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum UniformError {
    /// No uniform has the name.
    #[error("there is no uniform `{name}`{}", hint(.known))]
    Unknown {
        /// The name.
        name: String,
        /// The closest name.
        known: Option<String>,
    },
    /// The name is that of a struct.
    #[error("`{name}` has several parts; set each, such as `{first}`")]
    Struct {
        /// The name.
        name: String,
        /// The name of the first part.
        first: String,
    },
    /// An index is not below the length.
    #[error("`{name}` has {length} elements")]
    Index {
        /// The name of the array.
        name: String,
        /// Its length.
        length: u32,
    },
    /// The number of values is not that of the components.
    #[error("`{name}` takes {expected} values{}, found {found}", if *.is_array { " an element" } else { "" })]
    Count {
        /// The name.
        name: String,
        /// Components of the uniform, or of an element.
        expected: usize,
        /// Values given.
        found: usize,
        /// Whether it is an array.
        is_array: bool,
    },
}

fn hint(known: &Option<String>) -> String {
    known.as_ref().map_or_else(String::new, |known| format!("; did you mean `{known}`?"))
}

impl Interface {
    /// The first constant buffer with the initial values of all uniforms: words from register 0.
    pub fn initial_constants(&self) -> Vec<u32> {
        let mut buffer = Vec::new();
        self.uniforms.iter().for_each(|uniform| uniform.write_initial(&mut buffer));
        buffer
    }

    /// Whether the shader declares a uniform or sampler of this name without using it, or uses the uniform but not this
    /// part. Values for it have no effect.
    pub fn is_unused(&self, name: &str) -> bool {
        let root = name.split(['.', '[']).next().unwrap_or(name);
        self.unused.iter().any(|unused| unused == root)
    }

    /// Sets a uniform in the first constant buffer. A name without index sets an array from its first element on, so
    /// does `a[3]` from the fourth. Matrices are in the order of columns. Elements that no shader uses have no
    /// register, and are left out.
    ///
    /// # Errors
    /// [`UniformError`]; the buffer is unchanged then.
    pub fn set(&self, name: &str, values: &[f64], buffer: &mut Vec<u32>) -> Result<(), UniformError> {
        self.set_components(name, values, ComponentType::bits, buffer)
    }

    /// Sets a uniform by name, as [`set`](Interface::set), to components with these bits. Integers of 64 bits have more
    /// values than floats.
    ///
    /// # Errors
    /// [`UniformError`]; the buffer is unchanged then.
    pub fn set_bits(&self, name: &str, values: &[u64], buffer: &mut Vec<u32>) -> Result<(), UniformError> {
        self.set_components(name, values, |_, bits| bits, buffer)
    }

    fn set_components<V: Copy>(
        &self,
        name: &str,
        values: &[V],
        bits_of: fn(ComponentType, V) -> u64,
        buffer: &mut Vec<u32>,
    ) -> Result<(), UniformError> {
        let root = name.split(['.', '[']).next().unwrap_or(name);
        let unknown = || {
            let names = self
                .uniforms
                .iter()
                .flat_map(|uniform| uniform.members.iter().map(|member| format!("{}{}", uniform.name, member.path)));
            let names: Vec<String> = names.collect();
            let known = tgsi_diagnostics::suggest(name, names.iter().map(String::as_str)).map(str::to_owned);
            UniformError::Unknown { name: name.to_owned(), known }
        };
        let uniform = self.uniforms.iter().find(|uniform| uniform.name == root).ok_or_else(unknown)?;
        let path = name.get(root.len()..).unwrap_or_default();
        // The member itself, or one of its elements.
        let element = path.rsplit_once('[').and_then(|(before, index)| {
            let index: u32 = index.strip_suffix(']')?.parse().ok()?;
            let is_array = |member: &&UniformMember| member.path == before && member.length.is_some();
            Some((uniform.members.iter().find(is_array)?, index))
        });
        let whole = uniform.members.iter().find(|member| member.path == path).map(|member| (member, 0));
        let Some((member, first)) = whole.or(element) else {
            let is_part = |member: &&UniformMember| {
                member.path.strip_prefix(path).is_some_and(|rest| rest.starts_with(['.', '[']))
            };
            let Some(part) = uniform.members.iter().find(is_part) else { return Err(unknown()) };
            return Err(UniformError::Struct { name: name.to_owned(), first: format!("{root}{}", part.path) });
        };
        let length = member.length.unwrap_or(1);
        if first >= length {
            return Err(UniformError::Index { name: format!("{root}{}", member.path), length });
        }
        let count = usize::from(member.rows) * usize::from(member.columns);
        let is_array = member.length.is_some();
        if count == 0 || values.is_empty() || !values.len().is_multiple_of(count) || !is_array && values.len() != count
        {
            let (expected, found) = (count, values.len());
            return Err(UniformError::Count { name: name.to_owned(), expected, found, is_array });
        }
        let end = 4 * (uniform.register as usize + uniform.num_registers as usize);
        if buffer.len() < end {
            buffer.resize(end, 0);
        }
        let registers = member.column_registers() * u32::from(member.columns);
        for (element, values) in (first..length).zip(values.chunks(count)) {
            let start = member.register.saturating_add(element.saturating_mul(registers));
            if start >= uniform.register + uniform.num_registers {
                break;
            }
            let bits: Vec<u64> = values.iter().map(|&value| bits_of(member.component_type, value)).collect();
            member.write(element, &bits, buffer);
        }
        Ok(())
    }

    /// Sets the element of a uniform that has a location, in the first constant buffer. Returns `false` if no uniform
    /// has the location.
    ///
    /// # Errors
    /// The number of values is not that of the components; the buffer is unchanged then.
    pub fn set_at_location(&self, location: u32, values: &[f64], buffer: &mut Vec<u32>) -> Result<bool, UniformError> {
        for uniform in &self.uniforms {
            for member in &uniform.members {
                let element = member.location.and_then(|first| location.checked_sub(first));
                let Some(element) = element.filter(|&element| element < member.length.unwrap_or(1)) else { continue };
                let (expected, found) = (usize::from(member.rows) * usize::from(member.columns), values.len());
                if expected != found {
                    let name = format!("{}{}", uniform.name, member.path);
                    return Err(UniformError::Count { name, expected, found, is_array: member.length.is_some() });
                }
                let bits: Vec<u64> = values.iter().map(|&value| member.component_type.bits(value)).collect();
                member.write(element, &bits, buffer);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The units of a sampler: of `a[2]` the third of the array `a`.
    pub fn unit(&self, name: &str) -> Option<u32> {
        if let Some(sampler) = self.samplers.iter().find(|sampler| sampler.name == name) {
            return Some(sampler.unit);
        }
        let (array, index) = name.strip_suffix(']')?.rsplit_once('[')?;
        let index: u32 = index.parse().ok()?;
        let sampler = self.samplers.iter().find(|sampler| sampler.name == array && index < sampler.num_units)?;
        Some(sampler.unit + index)
    }

    /// A table for people: a line for each uniform, sampler, input and output.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let range = |first: u32, count: u32| match count {
            0 | 1 => format!("[{first}]"),
            _ => format!("[{first}..{}]", first + count - 1),
        };
        for Uniform { name, ty, register, num_registers, is_state, .. } in &self.uniforms {
            let kind = if *is_state { "state" } else { "uniform" };
            let _ = writeln!(text, "{kind} {ty} {name} = CONST[0]{}", range(*register, *num_registers));
        }
        for SamplerUniform { name, ty, unit, num_units, .. } in &self.samplers {
            let _ = writeln!(text, "uniform {ty} {name} = SAMP{}", range(*unit, *num_units));
        }
        for resource in &self.resources {
            let _ = writeln!(text, "{}", resource.to_text());
        }
        for Subroutine { name, index } in &self.subroutines {
            let _ = writeln!(text, "subroutine {name} = {index}");
        }
        for SpecializationConstant { id, name, ty, default, value } in &self.specialization {
            let _ = write!(text, "specialization {ty} {name} = {id}, default 0x{default:x}");
            let _ = if value == default { writeln!(text) } else { writeln!(text, ", set to 0x{value:x}") };
        }
        for (kind, file, list) in [("in", "IN", &self.inputs), ("out", "OUT", &self.outputs)] {
            for InterfaceVariable { name, ty, register, .. } in list {
                let _ = writeln!(text, "{kind} {ty} {name} = {file}[{register}]");
            }
        }
        if !self.stream_output.is_empty() {
            let _ = writeln!(text, "stream output {}", self.stream_output);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface() -> Interface {
        use ComponentType::{Float, Int};
        let array = UniformMember { length: Some(3), ..UniformMember::new("[1].color".into(), Float, 3, 1, 2) };
        let lights = vec![UniformMember::new("[0].on".into(), Int, 1, 1, 1), array];
        let matrix = vec![UniformMember::new(String::new(), Float, 2, 2, 5)];
        Interface {
            uniforms: vec![
                Uniform::new("lights".into(), "Light[2]".into(), 1, 4, lights),
                Uniform::new("turn".into(), "mat2".into(), 5, 2, matrix),
            ],
            samplers: vec![SamplerUniform::new("images".into(), "sampler2D[3]".into(), 2, 3)],
            ..Interface::default()
        }
    }

    #[test]
    fn members_are_set_by_name() {
        let interface = interface();
        let mut buffer = Vec::new();
        interface.set("lights[0].on", &[-1.0], &mut buffer).expect("an integer");
        interface.set("lights[1].color[1]", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &mut buffer).expect("two elements");
        interface.set("turn", &[1.0, 2.0, 3.0, 4.0], &mut buffer).expect("a matrix");
        let float = |at: usize| f32::from_bits(buffer[at]);
        assert_eq!(buffer[4], u32::MAX);
        assert_eq!([12, 13, 14, 16, 18].map(float), [1.0, 2.0, 3.0, 4.0, 6.0]);
        assert_eq!([20, 21, 24, 25].map(float), [1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn wrong_values_are_errors() {
        let interface = interface();
        let error = |name: &str, count: usize| {
            let mut buffer = Vec::new();
            let error = interface.set(name, &vec![0.0; count], &mut buffer).expect_err("an error");
            assert!(buffer.is_empty());
            error.to_string()
        };
        assert_eq!(error("turm", 4), "there is no uniform `turm`; did you mean `turn`?");
        assert_eq!(error("lights", 1), "`lights` has several parts; set each, such as `lights[0].on`");
        assert_eq!(error("lights[1].color[3]", 3), "`lights[1].color` has 3 elements");
        assert_eq!(error("turn", 3), "`turn` takes 4 values, found 3");
        assert_eq!(error("lights[1].color", 4), "`lights[1].color` takes 3 values an element, found 4");
    }

    #[test]
    fn samplers_have_units() {
        let interface = interface();
        assert_eq!(
            ["images", "images[2]", "images[3]", "image"].map(|name| interface.unit(name)),
            [Some(2), Some(4), None, None]
        );
    }
}
