//! Emits accesses by registers and byte offsets.

use arrayvec::ArrayVec;

use crate::alu::{AluOp, AluType, BaseType};
use crate::body::{MAX_COMPONENTS, Shape};
use crate::builder::Builder;
use crate::entities::{Def, Inst, Type};
use crate::intrinsics::indices::AccessFlags as Flags;
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::memory_layout::component_bytes;
use crate::passes::lower_indirects::index_tree::zero;
use crate::passes::lower_resources::lower_explicit_access::Context;
use crate::passes::lower_resources::lower_explicit_access::address::{Address, Terms};
use crate::types::{ScalarType, TypeData};
use crate::variable::{VariableData, VariableModes};

/// The alignment of a constant offset.
const MAX_ALIGN: u32 = 1 << 30;

/// The components of a value.
type Components = ArrayVec<Def, MAX_COMPONENTS>;

/// An access to be emitted.
pub(super) struct Access<'a> {
    b: Builder<'a>,
    data: &'a VariableData,
    address: Address,
    inst: Inst,
    /// Shape of the accessed value; of one component for an array.
    shape: Shape,
    scalar: ScalarType,
    /// Number of bytes of the block, or registers of the variable; 0 if unknown.
    extent: u32,
    /// The distance of elements of an array.
    stride: u32,
    push_constants: u32,
    /// The run-time part of the address in bytes or registers, and in vec4s, once emitted.
    bytes: Option<Def>,
    vec4s: Option<Def>,
    block: Option<Def>,
}

impl<'a> Access<'a> {
    /// `ty` is the type that the deref points to. Returns `None` if the access cannot be lowered.
    pub fn new(
        b: Builder<'a>,
        context: &Context<'a>,
        data: &'a VariableData,
        mut address: Address,
        ty: Type,
        inst: Inst,
    ) -> Option<Access<'a>> {
        let (types, layouts) = (context.types, context.layouts);
        let (scalar, components) = match *types.get(ty) {
            TypeData::Vector { scalar, components } if scalar.bit_size() > 0 => (scalar, components),
            TypeData::Array { .. } => (ScalarType::Uint, 1),
            _ => return None,
        };
        let extent = match data.mode {
            VariableModes::UNIFORM => layouts.registers.of(data.ty),
            VariableModes::MEM_SHARED => {
                address.constant = address.constant.saturating_add(context.shared[address.variable]?);
                0
            }
            // Several variables may share the buffer, one behind the other.
            VariableModes::MEM_PUSH_CONST => {
                let first = data.driver_location.saturating_mul(16);
                address.constant = address.constant.saturating_add(first);
                layouts.memory.size(data.ty).bytes.saturating_add(first)
            }
            _ => layouts.memory.size(types.without_arrays(data.ty)).bytes,
        };
        let stride = layouts.memory.elements(types, ty).map_or(0, |elements| elements.distance);
        Some(Access {
            b,
            data,
            address,
            inst,
            shape: Shape::new(components, scalar.bit_size()),
            scalar,
            extent,
            stride,
            push_constants: context.push_constants,
            bytes: None,
            vec4s: None,
            block: None,
        })
    }

    /// Flags of the instruction and the variable.
    fn flags(&self) -> i32 {
        Flags::from_i32(self.b.body.index(self.inst, IndexKind::Access)).union(self.data.access).to_i32()
    }

    fn replace(self, value: Def) -> bool {
        let body = self.b.body;
        if let Some(old) = body.inst_def(self.inst) {
            body.replace_all_uses(old, value);
        }
        body.remove_inst(self.inst);
        true
    }

    /// Replaces an access beyond the end of an array.
    fn remove(mut self) -> bool {
        match self.b.body.inst_def(self.inst) {
            Some(def) => {
                let shape = self.b.body.shape(def);
                let zero = zero(&mut self.b, shape);
                self.replace(zero)
            }
            None => {
                self.b.body.remove_inst(self.inst);
                true
            }
        }
    }

    /// Lowers a load.
    pub fn load(mut self) -> bool {
        if self.address.is_beyond {
            return self.remove();
        }
        let Shape { num_components, bit_size } = self.shape;
        // Booleans are words.
        let memory = Shape::new(num_components, if bit_size == 1 { 32 } else { bit_size });
        let bytes = component_bytes(memory.bit_size);
        let value = match self.address.component_distance {
            _ if self.data.mode == VariableModes::UNIFORM => self.load_uniform(memory),
            _ if bytes == 8 && num_components > 2 && self.address.component_distance.is_none() => {
                self.load_by_parts(memory, bytes, 2)
            }
            Some(distance) if num_components > 1 => self.load_by_parts(memory, distance, 1),
            _ if self.reads_constants() && self.crosses_vec4(u32::from(num_components) * bytes) => {
                self.load_by_parts(memory, bytes, 1)
            }
            _ => self.load_memory(0, memory),
        };
        let value = if bit_size == 1 {
            let zero = zero(&mut self.b, memory);
            self.b.alu(AluOp::Ine, &[value, zero])
        } else {
            value
        };
        self.replace(value)
    }

    fn reads_constants(&self) -> bool {
        self.data.mode.intersects(VariableModes::MEM_UBO.union(VariableModes::MEM_PUSH_CONST))
    }

    /// The greatest power of two that divides all strides.
    fn alignment(&self) -> u32 {
        let lowest = |stride: u32| if stride == 0 { MAX_ALIGN } else { (1 << stride.trailing_zeros()).min(MAX_ALIGN) };
        self.address.terms.iter().map(|&(_, stride)| lowest(stride)).min().unwrap_or(MAX_ALIGN)
    }

    /// Whether an access at the start of the vector may cross the end of a vec4.
    fn crosses_vec4(&self, bytes: u32) -> bool {
        let align = self.alignment().min(16);
        // The last of the possible places within a vec4.
        let first = self.address.constant % align + 16 - align;
        let place = if align == 16 { self.address.constant % 16 } else { first };
        place + bytes > 16
    }

    /// Loads a vector in parts of `width` components that are `distance` bytes apart.
    fn load_by_parts(&mut self, shape: Shape, distance: u32, width: u8) -> Def {
        let mut components = Components::new();
        let mut first = 0;
        while first < shape.num_components {
            let count = width.min(shape.num_components - first);
            let part = Shape::new(count, shape.bit_size);
            let value = self.load_memory(distance.saturating_mul(u32::from(first)), part);
            components.extend((0..count).map(|c| self.b.channel(value, c)));
            first += count;
        }
        self.b.vec_of(&components)
    }

    fn load_uniform(&mut self, shape: Shape) -> Def {
        let offset = match self.sum() {
            Some(offset) => offset,
            None => self.b.u32_const(0),
        };
        let width = if shape.bit_size == 64 { shape.num_components.min(2) } else { shape.num_components };
        let first = self.load_register(offset, 0, Shape::new(width, shape.bit_size));
        if width == shape.num_components {
            return first;
        }
        let rest = self.load_register(offset, 1, Shape::new(shape.num_components - width, shape.bit_size));
        let mut components: Components = (0..width).map(|c| self.b.channel(first, c)).collect();
        components.extend((width..shape.num_components).map(|c| self.b.channel(rest, c - width)));
        self.b.vec_of(&components)
    }

    /// Loads from a register of a uniform: the first one, or the second one of a vector that takes two.
    fn load_register(&mut self, offset: Def, number: u32, shape: Shape) -> Def {
        let at = self.address.constant.saturating_add(number);
        let base = self.data.driver_location.saturating_add(at);
        let range = if self.address.terms.is_empty() { 1 } else { self.extent.saturating_sub(at).max(1) };
        let indices = [
            (IndexKind::Base, base as i32),
            (IndexKind::Range, range as i32),
            (IndexKind::DestType, alu_type(self.scalar).to_i32()),
        ];
        self.b.intrinsic_def(IntrinsicOp::LoadUniform, &[offset], &indices, shape)
    }

    /// Loads `shape` at `bytes` behind the start of the vector.
    fn load_memory(&mut self, bytes: u32, shape: Shape) -> Def {
        let at = self.address.constant.saturating_add(bytes);
        let size = u32::from(shape.num_components) * component_bytes(shape.bit_size);
        let aligned = [(IndexKind::AlignMul, self.align_mul()), (IndexKind::AlignOffset, self.align_offset(at))];
        let access = (IndexKind::Access, self.flags());
        if self.data.mode == VariableModes::MEM_SHARED {
            let offset = self.byte_offset(at);
            return self.b.intrinsic_def(IntrinsicOp::LoadShared, &[offset], &aligned, shape);
        }
        let block = self.block();
        if self.data.mode == VariableModes::MEM_SSBO {
            let offset = self.byte_offset(at);
            let indices = [access, aligned[0], aligned[1]];
            return self.b.intrinsic_def(IntrinsicOp::LoadSsbo, &[block, offset], &indices, shape);
        }
        // An index in vec4s stays one: address registers count them.
        let is_direct = self.address.terms.is_empty();
        if self.alignment().is_multiple_of(16)
            && at.is_multiple_of(4)
            && at % 16 + size <= 16
            && shape.bit_size == 32
            && let Some(offset) = self.sum_of_vec4s()
        {
            let (base, component) = ((at / 16) as i32, (at % 16 / 4) as i32);
            let indices = [access, (IndexKind::Base, base), (IndexKind::Component, component)];
            return self.b.intrinsic_def(IntrinsicOp::LoadUboVec4, &[block, offset], &indices, shape);
        }
        let offset = self.byte_offset(at);
        let (range_base, range) = match i32::try_from(self.extent) {
            _ if is_direct => (at as i32, size as i32),
            Ok(extent) if extent > 0 => (0, extent),
            _ => (0, -1),
        };
        let range = [(IndexKind::RangeBase, range_base), (IndexKind::Range, range)];
        let indices = [access, aligned[0], aligned[1], range[0], range[1]];
        self.b.intrinsic_def(IntrinsicOp::LoadUbo, &[block, offset], &indices, shape)
    }

    /// Lowers a store.
    pub fn store(mut self) -> bool {
        if !self.data.mode.intersects(VariableModes::MEM_SSBO.union(VariableModes::MEM_SHARED)) {
            return false;
        }
        if self.address.is_beyond {
            return self.remove();
        }
        let mut value = self.b.body.src(self.inst, 1);
        let mask = self.b.body.write_mask(self.inst);
        if self.shape.bit_size == 1 {
            value = self.b.alu(AluOp::B2b32, &[value]);
        }
        match self.address.component_distance {
            Some(distance) if self.shape.num_components > 1 => {
                for component in (0..self.shape.num_components).filter(|c| mask >> c & 1 != 0) {
                    let part = self.b.channel(value, component);
                    self.store_memory(distance.saturating_mul(component.into()), part, 1);
                }
            }
            // Two words or four fit a register of most targets.
            _ if self.shape.bit_size == 64 && self.shape.num_components > 2 => {
                for first in (0..self.shape.num_components).step_by(2) {
                    let count = (self.shape.num_components - first).min(2);
                    let components: Components = (first..first + count).map(|c| self.b.channel(value, c)).collect();
                    let part = self.b.vec_of(&components);
                    self.store_memory(8 * u32::from(first), part, mask >> first & ((1 << count) - 1));
                }
            }
            _ => self.store_memory(0, value, mask),
        }
        self.b.body.remove_inst(self.inst);
        true
    }

    fn store_memory(&mut self, bytes: u32, value: Def, mask: u32) {
        if mask == 0 {
            return;
        }
        let at = self.address.constant.saturating_add(bytes);
        let offset = self.byte_offset(at);
        let mask = (IndexKind::WriteMask, mask as i32);
        let aligned = [(IndexKind::AlignMul, self.align_mul()), (IndexKind::AlignOffset, self.align_offset(at))];
        if self.data.mode == VariableModes::MEM_SHARED {
            let indices = [mask, aligned[0], aligned[1]];
            self.b.intrinsic(IntrinsicOp::StoreShared, &[value, offset], &indices, None);
            return;
        }
        let block = self.block();
        let indices = [mask, (IndexKind::Access, self.flags()), aligned[0], aligned[1]];
        self.b.intrinsic(IntrinsicOp::StoreSsbo, &[value, block, offset], &indices, None);
    }

    /// Lowers an atomic.
    pub fn atomic(mut self, op: IntrinsicOp) -> bool {
        let is_shared = self.data.mode == VariableModes::MEM_SHARED;
        if !is_shared && self.data.mode != VariableModes::MEM_SSBO || self.shape.num_components != 1 {
            return false;
        }
        if self.address.is_beyond {
            return self.remove();
        }
        let mut sources: ArrayVec<Def, 4> = ArrayVec::new();
        if !is_shared {
            sources.push(self.block());
        }
        sources.push(self.byte_offset(self.address.constant));
        sources.extend(self.b.body.sources(self.inst).skip(1).take(2).map(|source| self.b.body.src_def(source)));
        let new = match (op, is_shared) {
            (IntrinsicOp::DerefAtomic, true) => IntrinsicOp::SharedAtomic,
            (IntrinsicOp::DerefAtomic, false) => IntrinsicOp::SsboAtomic,
            (_, true) => IntrinsicOp::SharedAtomicSwap,
            (_, false) => IntrinsicOp::SsboAtomicSwap,
        };
        let mut indices: ArrayVec<(IndexKind, i32), 2> = ArrayVec::new();
        indices.push((IndexKind::AtomicOp, self.b.body.index(self.inst, IndexKind::AtomicOp)));
        if !is_shared {
            indices.push((IndexKind::Access, self.flags()));
        }
        let value = self.b.intrinsic_def(new, &sources, &indices, self.shape);
        self.replace(value)
    }

    /// Lowers the length of an array at the end of a storage buffer.
    pub fn length(mut self) -> bool {
        if self.data.mode != VariableModes::MEM_SSBO || self.stride == 0 {
            return false;
        }
        if self.address.is_beyond {
            return self.remove();
        }
        let block = self.block();
        let access = [(IndexKind::Access, self.flags())];
        let size = self.b.intrinsic_def(IntrinsicOp::GetSsboSize, &[block], &access, Shape::new(1, 32));
        let start = self.byte_offset(self.address.constant);
        let end = self.b.alu(AluOp::Umax, &[size, start]);
        let start = self.b.alu(AluOp::Ineg, &[start]);
        let rest = self.b.alu(AluOp::Iadd, &[end, start]);
        let stride = self.b.u32_const(self.stride);
        let length = self.b.alu(AluOp::Udiv, &[rest, stride]);
        self.replace(length)
    }

    fn align_mul(&self) -> i32 {
        self.alignment() as i32
    }

    fn align_offset(&self, at: u32) -> i32 {
        (at & (self.alignment() - 1)) as i32
    }

    /// The byte offset of a place in the block.
    fn byte_offset(&mut self, constant: u32) -> Def {
        match self.sum() {
            None => self.b.u32_const(constant),
            Some(sum) if constant == 0 => sum,
            Some(sum) => {
                let constant = self.b.u32_const(constant);
                self.b.alu(AluOp::Iadd, &[sum, constant])
            }
        }
    }

    /// The run-time part of the address in bytes or registers; `None` without run-time indices.
    fn sum(&mut self) -> Option<Def> {
        if self.bytes.is_none() {
            self.bytes = sum(&mut self.b, &self.address.terms, 1);
        }
        self.bytes
    }

    /// The run-time part of the address in vec4s.
    fn sum_of_vec4s(&mut self) -> Option<Def> {
        if self.vec4s.is_none() {
            self.vec4s = sum(&mut self.b, &self.address.terms, 16);
        }
        self.vec4s
    }

    /// The number of the block.
    fn block(&mut self) -> Def {
        if let Some(block) = self.block {
            return block;
        }
        let first = match self.data.mode {
            VariableModes::MEM_PUSH_CONST => self.push_constants,
            _ => self.data.binding.saturating_add(self.address.block),
        };
        let block = match sum(&mut self.b, &self.address.block_terms, 1) {
            None => self.b.u32_const(first),
            Some(sum) if first == 0 => sum,
            Some(sum) => {
                let first = self.b.u32_const(first);
                self.b.alu(AluOp::Iadd, &[sum, first])
            }
        };
        self.block = Some(block);
        block
    }
}

/// Emits a sum of products.
fn sum(b: &mut Builder<'_>, terms: &Terms, unit: u32) -> Option<Def> {
    let mut sum = None;
    for &(index, stride) in terms {
        let index = word(b, index);
        let term = match stride / unit {
            1 => index,
            stride => {
                let stride = b.u32_const(stride);
                b.alu(AluOp::Imul, &[index, stride])
            }
        };
        sum = Some(match sum {
            Some(sum) => b.alu(AluOp::Iadd, &[sum, term]),
            None => term,
        });
    }
    sum
}

/// An index as a word.
fn word(b: &mut Builder<'_>, index: Def) -> Def {
    match b.body.bit_size(index) {
        32 => index,
        _ => b.alu(AluOp::U2u32, &[index]),
    }
}

fn alu_type(scalar: ScalarType) -> AluType {
    let base = match scalar {
        ScalarType::Int8 | ScalarType::Int16 | ScalarType::Int | ScalarType::Int64 => BaseType::Int,
        ScalarType::Bool | ScalarType::Uint8 | ScalarType::Uint16 | ScalarType::Uint | ScalarType::Uint64 => {
            BaseType::Uint
        }
        ScalarType::Float16 | ScalarType::Float | ScalarType::Double | ScalarType::Void => BaseType::Float,
    };
    AluType::new(base, component_bytes(scalar.bit_size()) as u8 * 8)
}
