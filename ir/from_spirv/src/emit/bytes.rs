//! Blocks in the memory of a workgroup: all begin at byte 0, so that they share it.
//!
//! ```text
//! %p = OpAccessChain %to_float %block %1 %i     32 %1 = imul %i, 16
//! %x = OpLoad %float %p                         32 %2 = iadd %1, 64
//!                                               32 %3 = @load_shared (%2)
//! ```

use arrayvec::ArrayVec;
use spirv::Decoration;
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::Shape;
use tgsi_ir::entities::Def;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};

use super::pointer::Step;
use super::storage::Storage;
use super::{Context, Emitter};
use crate::error::SpirvError;
use crate::module::Global;
use crate::resources::sizes::{check_layout, component_bytes};
use crate::types::{TypeData, TypeId};

/// The alignment of constant addresses.
const MAX_ALIGN: u32 = 1 << 30;

/// A scalar or vector in memory that is addressed in bytes.
#[derive(Clone, Copy, Debug)]
struct BytePlace {
    /// The sum of the run-time offsets.
    index: Option<Def>,
    /// It is a multiple of this power of two.
    align: u32,
    constant: u32,
    /// Bytes between components, if they are not adjacent.
    component_distance: Option<u32>,
}

impl Context<'_> {
    /// The storage of a variable in the memory of a workgroup, if its type is a block.
    ///
    /// # Errors
    /// The layout is not complete.
    pub(super) fn shared_block(&mut self, global: &Global) -> Result<Option<Storage>, SpirvError> {
        let module = &*self.module;
        let is_block = match module.types.get(global.ty) {
            TypeData::Struct { id, .. } => module.decorations.has(*id, Decoration::Block),
            _ => false,
        };
        if !is_block {
            return Ok(None);
        }
        check_layout(&module.types, global.ty, module.name(global.id))?;
        let size = self.resources.sizes.bytes(&module.types, global.ty);
        let limit = self.options.limits.scalars.saturating_mul(4);
        if u64::from(size) > limit {
            return Err(SpirvError::TooLarge { what: "bytes of a block", count: size.into(), limit });
        }
        let info = &mut self.shader.info;
        info.shared_size = info.shared_size.max(size.next_multiple_of(4));
        Ok(Some(Storage::Bytes(global.ty)))
    }
}

impl Emitter<'_, '_, '_> {
    /// Follows steps in a block.
    fn byte_place(&mut self, mut ty: TypeId, steps: &[Step]) -> BytePlace {
        let mut place = BytePlace { index: None, align: MAX_ALIGN, constant: 0, component_distance: None };
        // Those of the member that leads to a matrix.
        let (mut matrix_stride, mut row_major) = (0, false);
        for &step in steps {
            match self.context.module.types.get(ty).clone() {
                TypeData::Struct { members, .. } => {
                    let Step::Part(number) = step else { break };
                    let Some(member) = members.get(number as usize) else { break };
                    place.constant = place.constant.saturating_add(member.offset.unwrap_or(0));
                    (matrix_stride, row_major) = (member.matrix_stride, member.row_major);
                    ty = member.ty;
                }
                TypeData::Array { element, stride, .. } => {
                    self.add_step(&mut place, step, stride);
                    ty = element;
                }
                TypeData::Matrix { scalar, rows, .. } => {
                    let bytes = component_bytes(scalar.bit_size());
                    place.component_distance = row_major.then_some(matrix_stride);
                    self.add_step(&mut place, step, if row_major { bytes } else { matrix_stride });
                    ty = self.context.vector_type(scalar, rows);
                }
                TypeData::Vector { scalar, .. } => {
                    let bytes = component_bytes(scalar.bit_size());
                    let distance = place.component_distance.take().unwrap_or(bytes);
                    self.add_step(&mut place, step, distance);
                    ty = self.context.vector_type(scalar, 1);
                }
                _ => break,
            }
        }
        place
    }

    fn add_step(&mut self, place: &mut BytePlace, step: Step, distance: u32) {
        match step {
            Step::Part(number) => place.constant = place.constant.saturating_add(number.saturating_mul(distance)),
            Step::Index(index) => {
                let distance_def = self.constant(32, &[distance.into()]);
                let offset = self.b.alu(AluOp::Imul, &[index, distance_def]);
                place.index = Some(match place.index {
                    Some(sum) => self.b.alu(AluOp::Iadd, &[sum, offset]),
                    None => offset,
                });
                place.align = place.align.min(1 << distance.trailing_zeros().min(30));
            }
        }
    }

    /// The address of a place, and the facts about its alignment.
    fn byte_address(&mut self, place: &BytePlace, bytes: u32) -> (Def, [(IndexKind, i32); 2]) {
        let constant = place.constant.saturating_add(bytes);
        let number = self.constant(32, &[constant.into()]);
        let address = match place.index {
            Some(index) => self.b.alu(AluOp::Iadd, &[index, number]),
            None => number,
        };
        let offset = constant & (place.align - 1);
        (address, [(IndexKind::AlignMul, place.align as i32), (IndexKind::AlignOffset, offset as i32)])
    }

    /// The parts of a vector that are accessed each: the first component, the number of components, and the byte.
    fn byte_parts(place: &BytePlace, shape: Shape) -> ArrayVec<(u8, u8, u32), 4> {
        let bytes = component_bytes(shape.bit_size);
        let distance = place.component_distance.unwrap_or(bytes);
        let most = match place.component_distance {
            Some(_) => 1,
            // Four words.
            None => (16 / bytes).min(4) as u8,
        };
        (0..shape.num_components.min(4))
            .step_by(most.into())
            .map(|first| (first, (shape.num_components - first).min(most), u32::from(first).saturating_mul(distance)))
            .collect()
    }

    /// Loads a scalar or vector from a block.
    pub(super) fn load_bytes(&mut self, block: TypeId, steps: &[Step], shape: Shape) -> Def {
        let place = self.byte_place(block, steps);
        let mut components: ArrayVec<Def, 4> = ArrayVec::new();
        for (_, count, bytes) in Self::byte_parts(&place, shape) {
            let (address, aligned) = self.byte_address(&place, bytes);
            let part_shape = Shape::new(count, shape.bit_size);
            let part = self.b.intrinsic_def(IntrinsicOp::LoadShared, &[address], &aligned, part_shape);
            if count == shape.num_components {
                return part;
            }
            components.extend((0..count).map(|component| self.b.channel(part, component)));
        }
        self.b.vec_of(&components)
    }

    /// Stores a scalar or vector to a block.
    pub(super) fn store_bytes(&mut self, block: TypeId, steps: &[Step], value: Def) {
        let place = self.byte_place(block, steps);
        let shape = Shape::new(self.b.body.num_components(value), self.b.body.bit_size(value));
        for (first, count, bytes) in Self::byte_parts(&place, shape) {
            let part = if count == shape.num_components {
                value
            } else {
                let components: ArrayVec<Def, 4> =
                    (first..first + count).map(|component| self.b.channel(value, component)).collect();
                self.b.vec_of(&components)
            };
            let (address, [mul, offset]) = self.byte_address(&place, bytes);
            let indices = [(IndexKind::WriteMask, (1 << count) - 1), mul, offset];
            self.b.intrinsic(IntrinsicOp::StoreShared, &[part, address], &indices, None);
        }
    }

    /// The address of a word in a block.
    pub(crate) fn byte_offset(&mut self, block: TypeId, steps: &[Step]) -> Def {
        let place = self.byte_place(block, steps);
        self.byte_address(&place, 0).0
    }
}
