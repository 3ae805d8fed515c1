//! Numbers of blocks, and outputs that transform feedback captures.

use std::fmt::Write;

use tgsi_compiler::front_end::{BlockMember, Descriptor, Resource, ResourceKind};
use tgsi_ir::entities::Variable as IrVariable;

use crate::assign::Assigner;
use crate::packing::Packer;
use crate::program::{Block, Packing, Storage, VariableId};
use crate::types::{TypeData, TypeId};

/// Members of blocks that are described. Arrays of structs multiply them.
const MAX_MEMBERS: usize = 1 << 16;

/// Components that are captured.
const MAX_CAPTURES: usize = 1 << 10;

/// A part of a block that is to be described.
struct Part {
    ty: TypeId,
    path: String,
    offset: u32,
}

impl Assigner<'_> {
    /// Numbers the blocks in memory that are used: by their binding, else the next free number in the order of
    /// declaration. The elements of arrays of blocks are consecutive.
    pub(crate) fn blocks(&mut self, variables: &[(VariableId, Option<IrVariable>)]) {
        for storage in [Storage::Uniform, Storage::Buffer] {
            let program = self.program;
            let is_block = |id: VariableId| {
                let data = program.variable(id);
                data.storage == storage && data.block.is_some()
            };
            let used: Vec<(VariableId, IrVariable, u32)> = variables
                .iter()
                .filter(|&&(id, _)| is_block(id))
                .filter_map(|&(id, variable)| Some((id, variable.filter(|&variable| self.usage(variable).is_used)?)))
                .map(|(id, variable)| (id, variable, elements(self, program.variable(id).ty)))
                .collect();
            let unused =
                variables.iter().filter(|&&(id, _)| is_block(id) && !used.iter().any(|&(other, ..)| other == id));
            let unused: Vec<String> = unused.map(|&(id, _)| self.block_name(id)).collect();
            self.interface.unused.extend(unused);
            let explicit = used.iter().filter_map(|&(id, _, count)| {
                let first = program.variable(id).traits.binding?;
                Some((first, first.saturating_add(count)))
            });
            let mut taken: Vec<(u32, u32)> = explicit.collect();
            taken.sort_unstable();
            let (mut next, mut end) = (0u32, 0u32);
            for (id, variable, count) in used {
                let number = program.variable(id).traits.binding.unwrap_or_else(|| {
                    for &(start, end) in &taken {
                        if start < next.saturating_add(count) && next < end {
                            next = end;
                        }
                    }
                    let number = next;
                    next = next.saturating_add(count);
                    number
                });
                end = end.max(number.saturating_add(count));
                if let Some(data) = self.shader.variables.get_mut(variable) {
                    data.binding = number;
                    data.driver_location = number;
                    data.location = -1;
                }
                self.describe_block(id, number, count);
            }
            let info = &mut self.shader.info;
            if storage == Storage::Uniform {
                info.num_ubos = end;
            } else {
                info.num_ssbos = end;
            }
        }
    }

    fn block_name(&self, id: VariableId) -> String {
        let variable = self.program.variable(id);
        let name = variable.block.map_or(variable.name, |block| self.program.block(block).name);
        self.interner.spelling(name).to_owned()
    }

    fn describe_block(&mut self, id: VariableId, number: u32, count: u32) {
        let program = self.program;
        let variable = program.variable(id);
        let Some(block) = variable.block.map(|block| program.block(block)) else { return };
        let (kind, register) = match block.storage {
            Storage::Buffer => (ResourceKind::StorageBlock, number),
            // Constant buffer 0 is that of the default block.
            _ => (ResourceKind::UniformBlock, number.saturating_add(1)),
        };
        let descriptor = Descriptor { set: 0, binding: number };
        let mut resource = Resource::new(kind, self.block_name(id), descriptor, register);
        resource.num_registers = count;
        resource.size = block.size;
        resource.members = self.block_members(variable.ty, block);
        resource.num_active = resource.members.len() as u32;
        self.interface.resources.push(resource);
    }

    /// The members of a block, down to scalars, vectors and matrices.
    fn block_members(&self, ty: TypeId, block: &Block) -> Vec<BlockMember> {
        let types = &self.program.types;
        let fields = types.fields(types.without_arrays(ty));
        let mut packer = Packer::default();
        let mut found = Vec::new();
        for (field, member) in fields.iter().zip(&block.members) {
            let name = self.interner.spelling(field.name);
            let path = match block.has_instance {
                true => format!("{}.{name}", self.interner.spelling(block.name)),
                false => name.to_owned(),
            };
            let mut pending = vec![Part { ty: field.ty, path, offset: member.offset }];
            while let Some(part) = pending.pop().filter(|_| found.len() + pending.len() < MAX_MEMBERS) {
                self.describe_part(part, block.placement(), member.row_major, &mut packer, &mut pending, &mut found);
            }
        }
        found
    }

    fn describe_part(
        &self,
        part: Part,
        packing: Packing,
        row_major: bool,
        packer: &mut Packer,
        pending: &mut Vec<Part>,
        found: &mut Vec<BlockMember>,
    ) {
        let types = &self.program.types;
        let Part { ty, path, offset } = part;
        match types.get(ty) {
            TypeData::Array { element, length } if types.scalar(element).is_none() => {
                let stride = packer.stride(types, ty, packing, row_major);
                for number in (0..length.unwrap_or(1).min(MAX_MEMBERS as u32)).rev() {
                    let offset = offset.saturating_add(number.saturating_mul(stride));
                    pending.push(Part { ty: element, path: format!("{path}[{number}]"), offset });
                }
            }
            TypeData::Struct(_) => {
                let fields = types.fields(ty);
                let offsets = packer.offsets(types, fields, packing, row_major);
                for (field, at) in fields.iter().zip(offsets).rev() {
                    let path = format!("{path}.{}", self.interner.spelling(field.name));
                    pending.push(Part { ty: field.ty, path, offset: offset.saturating_add(at) });
                }
            }
            _ => {
                let (element, length, array_stride) = match types.get(ty) {
                    TypeData::Array { element, length } => {
                        (element, Some(length.unwrap_or(0)), packer.stride(types, ty, packing, row_major))
                    }
                    _ => (ty, None, 0),
                };
                let (scalar, rows, columns) = match types.get(element) {
                    TypeData::Vector { scalar, components } => (scalar, components, 1),
                    TypeData::Matrix { scalar, columns, rows } => (scalar, rows, columns),
                    _ => return,
                };
                let mut member = BlockMember::new(path, scalar.component_type(), rows, columns, offset);
                member.length = length;
                member.array_stride = array_stride;
                member.matrix_stride = packer.stride(types, element, packing, row_major);
                member.row_major = row_major && columns > 1;
                found.push(member);
            }
        }
    }

    /// Describes the outputs that transform feedback captures, as the option `stream_output` of drivers takes them.
    pub(crate) fn captures(&mut self, variables: &[(VariableId, Option<IrVariable>)]) {
        let program = self.program;
        for (stride, known) in self.shader.info.xfb_stride.iter_mut().zip(program.strides) {
            *stride = known.unwrap_or(0) / 4;
        }
        let mut pieces: Vec<(u32, u32, String)> = Vec::new();
        for &(id, variable) in variables {
            let data = program.variable(id);
            let (Some((buffer, offset)), Some(variable)) = (data.capture, variable) else { continue };
            let Some(ir) = self.shader.variables.get(variable).filter(|_| self.usage(variable).is_used) else {
                continue;
            };
            self.interface.num_captured += 1;
            let stream = u32::from(ir.streams & 3);
            let (mut register, mut at) = (ir.driver_location, offset);
            for (count, is_wide) in leaves(self, data.ty).into_iter().take(MAX_CAPTURES) {
                let (mut rest, mut component) = (count * if is_wide { 2 } else { 1 }, u32::from(ir.location_frac));
                while rest > 0 {
                    let count = rest.min(4 - component.min(3));
                    let mut text = format!("OUT[{register}].");
                    text.extend("xyzw".chars().skip(component as usize).take(count as usize));
                    let _ = write!(text, "->{buffer}@{at}/");
                    pieces.push((buffer, at, text));
                    let last = pieces.len() - 1;
                    if let Some((_, _, text)) = pieces.get_mut(last) {
                        let stride = program.strides.get(buffer as usize).copied().flatten().unwrap_or(0);
                        let _ = write!(text, "{stride}");
                        if stream > 0 {
                            let _ = write!(text, ":{stream}");
                        }
                    }
                    at = at.saturating_add(4 * count);
                    rest -= count;
                    component = 0;
                    register = register.saturating_add(1);
                }
            }
        }
        if pieces.is_empty() {
            return;
        }
        self.shader.info.has_transform_feedback_varyings = true;
        pieces.sort();
        let texts: Vec<String> = pieces.into_iter().map(|(_, _, text)| text).collect();
        self.interface.stream_output = texts.join(",");
    }
}

/// The elements of all dimensions of a type.
fn elements(assigner: &Assigner<'_>, mut ty: TypeId) -> u32 {
    let mut count = 1u32;
    while let TypeData::Array { element, length } = assigner.program.types.get(ty) {
        count = count.saturating_mul(length.unwrap_or(1));
        ty = element;
    }
    count
}

/// The components of each vector of a type, and whether they have 64 bits.
fn leaves(assigner: &Assigner<'_>, ty: TypeId) -> Vec<(u32, bool)> {
    let types = &assigner.program.types;
    let (mut found, mut pending) = (Vec::new(), vec![ty]);
    while let Some(ty) = pending.pop().filter(|_| found.len() < MAX_CAPTURES) {
        match types.get(ty) {
            TypeData::Array { element, length } => {
                pending.extend(std::iter::repeat_n(element, length.unwrap_or(1).min(MAX_CAPTURES as u32) as usize));
            }
            TypeData::Struct(_) => pending.extend(types.fields(ty).iter().rev().map(|field| field.ty)),
            TypeData::Vector { scalar, components } => found.push((components.into(), scalar.is_wide())),
            TypeData::Matrix { scalar, columns, rows } => {
                found.extend((0..columns).map(|_| (u32::from(rows), scalar.is_wide())));
            }
            _ => {}
        }
    }
    found
}
