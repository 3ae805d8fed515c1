//! Uniform blocks, storage blocks and push constants.

use spirv::{Decoration, StorageClass};
use tgsi_ir::entities::{Type as IrType, Variable as IrVariable};
use tgsi_ir::types::TypeData as IrTypeData;
use tgsi_ir::variable::{VariableData, VariableModes};

use super::Slot;
use super::sizes::check_layout;
use crate::emit::Context;
use crate::emit::storage::{Memory, Storage};
use crate::error::SpirvError;
use crate::module::Global;
use crate::options::BindKind;
use crate::types::{TypeData, TypeId};

/// Kinds of blocks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum BlockKind {
    Push,
    Uniform,
    Storage,
}

/// A block that is used, or an array of blocks.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) kind: BlockKind,
    pub(super) slot: Slot,
    pub(super) global: u32,
    pub(super) variable: IrVariable,
    /// Number of blocks.
    pub(super) length: u32,
    /// Bytes of one block, without an array at its end that has no length.
    pub(super) size: u32,
    /// Whether it is in constant buffer 0, with others.
    pub(super) is_flat: bool,
    /// The number of the first constant buffer or buffer.
    pub(super) register: u32,
    /// Bytes before it in its buffer.
    pub(super) offset: u32,
}

/// The bytes of the registers that a block takes in a buffer with others; saturated, as its size may be.
pub(super) fn whole_registers(bytes: u32) -> u32 {
    bytes.saturating_add(15) & !15
}

impl Context<'_> {
    /// Creates the variable of a block.
    pub(super) fn block(&mut self, number: u32, global: &Global) -> Result<Storage, SpirvError> {
        let name = self.resource_name(number);
        let inner = self.module.types.without_arrays(global.ty);
        let TypeData::Struct { id, .. } = *self.module.types.get(inner) else {
            let found = self.module.types.kind(inner);
            return Err(SpirvError::WrongKind { id: global.id, found, expected: "a block" });
        };
        let decorations = &self.module.decorations;
        let is_storage = decorations.has(id, Decoration::BufferBlock);
        if !is_storage && !decorations.has(id, Decoration::Block) {
            return Err(SpirvError::Layout { what: name, decoration: "Block" });
        }
        check_layout(&self.module.types, inner, &name)?;
        let kind = match StorageClass::from_u32(global.class) {
            Some(StorageClass::PushConstant) => BlockKind::Push,
            Some(StorageClass::Uniform) if !is_storage => BlockKind::Uniform,
            _ => BlockKind::Storage,
        };
        let slot = self.slot(number);
        let length = self.num_descriptors(number, global.ty)?;
        let is_flat = match kind {
            BlockKind::Push => !self.has_block_at_zero(),
            BlockKind::Uniform => self.options.flat,
            BlockKind::Storage => false,
        };
        let mode = match kind {
            _ if is_flat => VariableModes::MEM_PUSH_CONST,
            BlockKind::Push | BlockKind::Uniform => VariableModes::MEM_UBO,
            BlockKind::Storage => VariableModes::MEM_SSBO,
        };
        let types = &self.module.types;
        let size = self.resources.sizes.bytes(types, inner);
        let ir_type = self.block_type(number, global.ty, if is_flat { whole_registers(size) } else { 0 })?;
        let mut data = VariableData::new(name, ir_type, mode);
        data.access = self.access_of(global.id, None);
        data.descriptor_set = slot.set;
        data.location = if is_flat { 0 } else { -1 };
        let variable = self.shader.add_variable(data);
        let block = Block { kind, slot, global: number, variable, length, size, is_flat, register: 0, offset: 0 };
        self.resources.blocks.push(block);
        Ok(Storage::Memory(Memory { variable, mode, ty: global.ty, row_major: false }))
    }

    /// Whether a uniform block is bound to constant buffer 0, so that push constants need another one.
    fn has_block_at_zero(&self) -> bool {
        let options = self.options;
        let is_bound = options.binds.iter().any(|bind| bind.kind == BindKind::Constant && bind.register == 0);
        (is_bound || self.environment == crate::options::Environment::Tgsic) && !options.flat
    }

    /// The type of a block, or of arrays of blocks; blocks in one buffer are `stride` bytes apart.
    fn block_type(&mut self, number: u32, ty: TypeId, stride: u32) -> Result<IrType, SpirvError> {
        let mut lengths = Vec::new();
        let mut inner = ty;
        while let TypeData::Array { element, length, .. } = *self.module.types.get(inner) {
            lengths.push(if length == 0 { self.unsized_length(number)? } else { length });
            inner = element;
        }
        let mut ir_type = self.laid_out_type(inner);
        let mut stride = stride;
        for &length in lengths.iter().rev() {
            ir_type = self.shader.types.intern(IrTypeData::Array { element: ir_type, length, stride });
            stride = stride.saturating_mul(length);
        }
        Ok(ir_type)
    }
}
