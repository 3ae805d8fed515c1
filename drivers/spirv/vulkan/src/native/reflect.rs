//! The interface of a module: its resources, inputs and outputs.

use super::blocks::{Block, Leaf, LeafClass};
use super::words::{Declaration, Declarations, EntryPoint};

const MODEL_VERTEX: u32 = 0;
const MODEL_FRAGMENT: u32 = 4;
const MODEL_COMPUTE: u32 = 5;
const MODE_LOWER_LEFT: u32 = 8;
const MODE_LOCAL_SIZE: u32 = 17;
const MODE_LOCAL_SIZE_ID: u32 = 38;
const CLASS_UNIFORM_CONSTANT: u32 = 0;
const CLASS_INPUT: u32 = 1;
const CLASS_UNIFORM: u32 = 2;
const CLASS_OUTPUT: u32 = 3;
const CLASS_PUSH_CONSTANT: u32 = 9;
const CLASS_STORAGE_BUFFER: u32 = 12;
const DECORATION_BUFFER_BLOCK: u32 = 3;
const DECORATION_BUILT_IN: u32 = 11;
const DECORATION_FLAT: u32 = 14;
const DECORATION_LOCATION: u32 = 30;
const DECORATION_COMPONENT: u32 = 31;
const DECORATION_INDEX: u32 = 32;
const DECORATION_BINDING: u32 = 33;
const DECORATION_SET: u32 = 34;
const BUILT_IN_WORKGROUP_SIZE: u32 = 25;
pub(super) const TYPE_BOOL: u32 = 20;
pub(super) const TYPE_INT: u32 = 21;
pub(super) const TYPE_FLOAT: u32 = 22;
pub(super) const TYPE_VECTOR: u32 = 23;
pub(super) const TYPE_MATRIX: u32 = 24;
const TYPE_IMAGE: u32 = 25;
const TYPE_SAMPLER: u32 = 26;
const TYPE_SAMPLED_IMAGE: u32 = 27;
pub(super) const TYPE_ARRAY: u32 = 28;
pub(super) const TYPE_RUNTIME_ARRAY: u32 = 29;
pub(super) const TYPE_STRUCT: u32 = 30;
const TYPE_POINTER: u32 = 32;

const DIM_BUFFER: u32 = 5;

/// Most elements of an array of descriptors.
const MAX_DESCRIPTORS: u32 = 64;

/// The stage of an entry point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NativeStage {
    /// Compute, with the size of workgroups.
    Compute([u32; 3]),
    /// Vertex.
    Vertex,
    /// Fragment.
    Fragment,
    /// Another stage: its execution model.
    Other(u32),
}

/// The type of an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImageType {
    /// The class of texels.
    pub class: LeafClass,
    /// SPIR-V's dimension: 0 to 3 are 1D, 2D, 3D, cube, 5 is a buffer, 6 a subpass.
    pub dim: u32,
    /// Whether it is declared for comparisons.
    pub is_depth: bool,
    /// Whether it has layers.
    pub is_array: bool,
    /// Whether it has several samples.
    pub is_multisampled: bool,
    /// SPIR-V's number of the format; 0 if unknown.
    pub format: u32,
}

/// The contents of a binding.
#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    /// A uniform block.
    Uniform(Block),
    /// A storage block.
    Storage(Block),
    /// A sampler.
    Sampler,
    /// A texture without a sampler, or a uniform texel buffer.
    Texture(ImageType),
    /// A texture with a sampler.
    Combined(ImageType),
    /// A storage image, or a storage texel buffer.
    Image(ImageType),
}

/// A resource.
#[derive(Clone, PartialEq, Debug)]
pub struct NativeResource {
    /// Set.
    pub set: u32,
    /// Binding.
    pub binding: u32,
    /// Number of descriptors.
    pub count: u32,
    /// Kind.
    pub kind: Kind,
}

/// An input or output: up to four components of a location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Varying {
    /// Location.
    pub location: u32,
    /// The first component.
    pub component: u32,
    /// The number of components.
    pub components: u32,
    /// The class of the components.
    pub class: LeafClass,
    /// Bits of a component.
    pub bits: u32,
    /// Whether it is not interpolated.
    pub is_flat: bool,
}

/// The interface of an entry point.
#[derive(Clone, PartialEq, Debug)]
pub struct NativeInterface {
    /// Name of the entry point.
    pub entry: String,
    /// Stage.
    pub stage: NativeStage,
    /// Push constants.
    pub push: Option<Block>,
    /// Resources that may be used, by set and binding.
    pub resources: Vec<NativeResource>,
    /// Inputs with a location.
    pub inputs: Vec<Varying>,
    /// Outputs with a location.
    pub outputs: Vec<Varying>,
    /// Numbers of the built-ins of inputs.
    pub built_ins: Vec<u32>,
    /// Whether positions count from the lower left, which Vulkan does not allow.
    pub is_lower_left: bool,
    /// Capabilities.
    pub capabilities: Vec<u32>,
    /// Opcodes in functions.
    pub opcodes: Vec<u32>,
}

impl NativeInterface {
    /// Describes an entry point: the one with this name, or else the first.
    ///
    /// # Errors
    /// The words are not a module, or the interface has unusual parts.
    pub fn new(words: &[u32], entry: Option<&str>) -> Result<NativeInterface, String> {
        let all = Declarations::new(words)?;
        let mut entries = all.entries.iter();
        let found = match entry {
            Some(name) => entries.find(|entry| entry.name == name),
            None => entries.next(),
        };
        let entry = found.ok_or("no such entry point")?;
        let stage = stage(&all, entry);
        let used = all.used_by(entry);
        let mut interface = NativeInterface {
            entry: entry.name.clone(),
            stage,
            push: None,
            resources: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            built_ins: Vec::new(),
            is_lower_left: all.modes.iter().any(|mode| mode[..] == [entry.function, MODE_LOWER_LEFT]),
            capabilities: all.capabilities.clone(),
            opcodes: all.opcodes.clone(),
        };
        for &id in &all.variables {
            let Some(&[pointer, class, ..]) = all.by_id.get(&id).map(|variable| &variable.operands[..]) else {
                continue;
            };
            let ty = pointee(&all, pointer)?;
            match class {
                CLASS_INPUT if entry.variables.contains(&id) => interface.varyings(&all, id, ty, true)?,
                CLASS_OUTPUT if entry.variables.contains(&id) => interface.varyings(&all, id, ty, false)?,
                CLASS_PUSH_CONSTANT if used.contains(&id) => interface.push = Some(Block::new(&all, ty)?),
                CLASS_UNIFORM_CONSTANT | CLASS_UNIFORM | CLASS_STORAGE_BUFFER if used.contains(&id) => {
                    interface.add_resource(&all, id, class, ty)?;
                }
                _ => {}
            }
        }
        interface.resources.sort_by_key(|resource| (resource.set, resource.binding));
        Ok(interface)
    }

    fn add_resource(&mut self, all: &Declarations, id: u32, class: u32, ty: u32) -> Result<(), String> {
        let (Some(set), Some(binding)) =
            (all.decoration(id, None, DECORATION_SET), all.decoration(id, None, DECORATION_BINDING))
        else {
            return Err("a resource without set and binding".to_owned());
        };
        let (mut ty, mut count) = (ty, 1u32);
        while let Some(Declaration { op: TYPE_ARRAY, operands }) = all.by_id.get(&ty) {
            ty = operands[0];
            count = count.saturating_mul(all.constant(operands[1]).unwrap_or(1));
        }
        if count > MAX_DESCRIPTORS {
            return Err("many descriptors".to_owned());
        }
        let declaration = all.by_id.get(&ty).ok_or("a resource without a type")?;
        let kind = match (class, declaration.op) {
            (CLASS_STORAGE_BUFFER, TYPE_STRUCT) => Kind::Storage(Block::new(all, ty)?),
            (CLASS_UNIFORM, TYPE_STRUCT) if all.decoration(ty, None, DECORATION_BUFFER_BLOCK).is_some() => {
                Kind::Storage(Block::new(all, ty)?)
            }
            (CLASS_UNIFORM, TYPE_STRUCT) => Kind::Uniform(Block::new(all, ty)?),
            (CLASS_UNIFORM_CONSTANT, TYPE_SAMPLER) => Kind::Sampler,
            (CLASS_UNIFORM_CONSTANT, TYPE_SAMPLED_IMAGE) => {
                let image = *declaration.operands.first().ok_or("a texture without a type")?;
                let image = image_type(all, all.by_id.get(&image).ok_or("a texture without a type")?)?;
                // Texel buffers have no sampler.
                if image.dim == DIM_BUFFER { Kind::Texture(image) } else { Kind::Combined(image) }
            }
            (CLASS_UNIFORM_CONSTANT, TYPE_IMAGE) => {
                let image = image_type(all, declaration)?;
                if declaration.operands.get(5) == Some(&2) { Kind::Image(image) } else { Kind::Texture(image) }
            }
            (_, op) => return Err(format!("a resource of type {op}")),
        };
        let resource = NativeResource { set, binding, count, kind };
        // Several variables may be views of one binding.
        let same = |other: &&mut NativeResource| (other.set, other.binding) == (set, binding);
        match self.resources.iter_mut().find(same) {
            None => self.resources.push(resource),
            Some(other) => other.merge(&resource)?,
        }
        Ok(())
    }

    fn varyings(&mut self, all: &Declarations, id: u32, ty: u32, is_input: bool) -> Result<(), String> {
        let decoration = |number| all.decoration(id, None, number);
        if let Some(built_in) = decoration(DECORATION_BUILT_IN) {
            if is_input {
                self.built_ins.push(built_in);
            }
            return Ok(());
        }
        if decoration(DECORATION_INDEX).is_some_and(|index| index > 0) {
            return Err("outputs for two sources".to_owned());
        }
        let is_flat = decoration(DECORATION_FLAT).is_some();
        let mut found = Vec::new();
        match (decoration(DECORATION_LOCATION), all.by_id.get(&ty)) {
            (Some(location), _) => {
                slots(all, ty, location, decoration(DECORATION_COMPONENT).unwrap_or(0), is_flat, &mut found)?;
            }
            (None, Some(Declaration { op: TYPE_STRUCT, operands })) => {
                for (member, &ty) in (0..).zip(operands) {
                    let decoration = |number| all.decoration(self_type(all, id), Some(member), number);
                    if let Some(built_in) = decoration(DECORATION_BUILT_IN) {
                        if is_input {
                            self.built_ins.push(built_in);
                        }
                        continue;
                    }
                    let location = decoration(DECORATION_LOCATION).ok_or("a varying without a location")?;
                    let component = decoration(DECORATION_COMPONENT).unwrap_or(0);
                    let is_flat = is_flat || decoration(DECORATION_FLAT).is_some();
                    slots(all, ty, location, component, is_flat, &mut found)?;
                }
            }
            _ => return Err("a varying without a location".to_owned()),
        }
        if is_input {
            self.inputs.extend(found)
        } else {
            self.outputs.extend(found)
        }
        Ok(())
    }
}

impl NativeResource {
    /// Adds another view of the same binding.
    fn merge(&mut self, other: &NativeResource) -> Result<(), String> {
        self.count = self.count.max(other.count);
        match (&mut self.kind, &other.kind) {
            (Kind::Uniform(a), Kind::Uniform(b)) | (Kind::Storage(a), Kind::Storage(b)) => {
                if b.size() > a.size() || b.stride > a.stride {
                    *a = b.clone();
                }
                Ok(())
            }
            (a, b) if *a == *b => Ok(()),
            (Kind::Combined(_), Kind::Sampler) => Ok(()),
            (Kind::Texture(image), Kind::Sampler | Kind::Combined(_)) => {
                self.kind = Kind::Combined(*image);
                Ok(())
            }
            _ => Err("a binding of two kinds".to_owned()),
        }
    }
}

fn stage(all: &Declarations, entry: &EntryPoint) -> NativeStage {
    match entry.model {
        MODEL_VERTEX => NativeStage::Vertex,
        MODEL_FRAGMENT => NativeStage::Fragment,
        MODEL_COMPUTE => {
            let mut size = [1; 3];
            for mode in all.modes.iter().filter(|mode| mode.first() == Some(&entry.function)) {
                match mode[1..] {
                    [MODE_LOCAL_SIZE, x, y, z] => size = [x, y, z],
                    [MODE_LOCAL_SIZE_ID, x, y, z] => size = [x, y, z].map(|id| all.constant(id).unwrap_or(1)),
                    _ => {}
                }
            }
            // A constant with this built-in has precedence.
            for (&id, constant) in &all.by_id {
                if all.decoration(id, None, DECORATION_BUILT_IN) == Some(BUILT_IN_WORKGROUP_SIZE)
                    && let [_, x, y, z] = constant.operands[..]
                {
                    size = [x, y, z].map(|id| all.constant(id).unwrap_or(1));
                }
            }
            NativeStage::Compute(size)
        }
        model => NativeStage::Other(model),
    }
}

fn pointee(all: &Declarations, pointer: u32) -> Result<u32, String> {
    match all.by_id.get(&pointer) {
        Some(Declaration { op: TYPE_POINTER, operands }) if operands.len() == 2 => Ok(operands[1]),
        _ => Err("a variable without a type".to_owned()),
    }
}

/// The type behind the pointer of a variable.
fn self_type(all: &Declarations, variable: u32) -> u32 {
    let pointer = all.by_id.get(&variable).map_or(0, |found| found.operands[0]);
    pointee(all, pointer).unwrap_or(0)
}

fn image_type(all: &Declarations, declaration: &Declaration) -> Result<ImageType, String> {
    let &[sampled, dim, depth, arrayed, samples, _, format, ..] = &declaration.operands[..] else {
        return Err("an image without a type".to_owned());
    };
    let class = scalar(all, sampled).filter(|&(_, bits)| bits == 32).ok_or("an image with texels of another width")?.0;
    Ok(ImageType { class, dim, is_depth: depth == 1, is_array: arrayed != 0, is_multisampled: samples != 0, format })
}

/// Class and bits of a scalar type.
pub(super) fn scalar(all: &Declarations, ty: u32) -> Option<(LeafClass, u32)> {
    let found = all.by_id.get(&ty)?;
    match (found.op, &found.operands[..]) {
        (TYPE_INT, &[bits, 0]) => Some((LeafClass::Uint, bits)),
        (TYPE_INT, &[bits, _]) => Some((LeafClass::Int, bits)),
        (TYPE_FLOAT, &[bits, ..]) => Some((LeafClass::Float, bits)),
        _ => None,
    }
}

/// Lists the locations of a type. Returns the number of locations.
fn slots(
    all: &Declarations,
    ty: u32,
    first: u32,
    component: u32,
    is_flat: bool,
    found: &mut Vec<Varying>,
) -> Result<(), String> {
    // The first type is the last of the stack.
    let mut types = vec![(ty, is_flat)];
    let mut location = first;
    while let Some((ty, is_flat)) = types.pop() {
        let declaration = all.by_id.get(&ty).ok_or("a varying without a type")?;
        match (declaration.op, &declaration.operands[..]) {
            (TYPE_ARRAY, &[element, length]) => {
                let length = all.constant(length).filter(|&length| length <= 64).ok_or("a long array of varyings")?;
                types.extend(std::iter::repeat_n((element, is_flat), length as usize));
            }
            (TYPE_MATRIX, &[column, count]) => types.extend(std::iter::repeat_n((column, is_flat), count as usize)),
            (TYPE_STRUCT, members) => {
                let is_flat = |member| is_flat || all.decoration(ty, Some(member), DECORATION_FLAT).is_some();
                types.extend(
                    (0..).zip(members).map(|(member, &ty)| (ty, is_flat(member))).collect::<Vec<_>>().iter().rev(),
                );
            }
            (op, operands) => {
                let (element, components) = match (op, operands) {
                    (TYPE_VECTOR, &[element, count]) => (element, count),
                    _ => (ty, 1),
                };
                let (class, bits) = scalar(all, element).ok_or("a varying of an unusual type")?;
                found.push(Varying { location, component, components, class, bits, is_flat });
                location = location.saturating_add(if bits == 64 && components > 2 { 2 } else { 1 });
            }
        }
        if types.len() > 256 || found.len() > 256 {
            return Err("many varyings".to_owned());
        }
    }
    Ok(())
}

impl Block {
    /// Describes a struct with offsets.
    pub(super) fn new(all: &Declarations, ty: u32) -> Result<Block, String> {
        let mut block = Block::default();
        block.add(all, ty)?;
        block.leaves.sort_by_key(|leaf: &Leaf| leaf.offset);
        Ok(block)
    }
}
