//! Texel buffers for languages that lack them: storage buffers of four-component vectors, or of words if there are
//! atomics. The host must convert the texels from their format.

use spirv::{Decoration, Op, StorageClass};
use tgsi_compiler::reflection::ResourceKind;
use tgsi_ir::Inst;

use super::units::{Element, Unit};
use crate::emit::Emitter;
use crate::error::SpirvError;
use crate::module::{Class, Id, ValueType};

/// A unit that is such a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TexelBlock {
    /// Texture or image.
    pub kind: ResourceKind,
    /// Its number.
    pub number: u32,
    /// The type of an element.
    pub element: ValueType,
    /// Whether the shader writes it.
    pub writes: bool,
}

impl Emitter<'_> {
    /// Returns the buffer of an element of a unit.
    ///
    /// # Errors
    /// [`SpirvError::Unsupported`] for a handle.
    pub fn block_of(
        &self,
        inst: Inst,
        kind: ResourceKind,
        unit: &Unit,
        element: Element,
        texel: ValueType,
        writes: bool,
    ) -> Result<TexelBlock, SpirvError> {
        match element {
            Element::Constant(number) => {
                Ok(TexelBlock { kind, number: unit.first.wrapping_add(number), element: texel, writes })
            }
            Element::Dynamic { .. } => {
                Err(SpirvError::Unsupported { inst, what: "a texel buffer accessed by a handle" })
            }
        }
    }

    /// Fetches a texel of a texture; zero if it does not exist.
    pub(super) fn fetch_from_block(
        &mut self,
        inst: Inst,
        unit: &Unit,
        ty: ValueType,
        coordinate: Id,
    ) -> Result<Id, SpirvError> {
        self.at_element(unit, ty, &mut |e, element| {
            let block = e.block_of(inst, ResourceKind::Texture, unit, element, ty, false)?;
            let length = e.texel_block_length(block);
            let exists = e.is_below(coordinate, length);
            e.if_then_value(exists, ty, |e| {
                let pointer = e.texel_block_pointer(block, coordinate);
                let ty = e.module.value_type(ty);
                Ok(e.result(Op::Load, ty, &[pointer.0]))
            })
        })
    }

    /// Returns the number of texels, signed.
    pub fn texel_block_size(&mut self, block: TexelBlock) -> Id {
        let length = self.texel_block_length(block);
        self.pure_of(Op::Bitcast, ValueType::new(Class::Int, 32, 1), &[length])
    }

    /// Returns the block of a texture or image unit.
    fn texel_block(&mut self, block: TexelBlock) -> Id {
        let TexelBlock { kind, number, element, writes } = block;
        if let Some(&id) = self.textures.blocks.get(&block) {
            return id;
        }
        let element_type = self.module.value_type(element);
        let array = self.module.runtime_array_type(element_type, 4 * u32::from(element.components));
        let decorations = [(None, Decoration::Block, &[][..]), (Some(0), Decoration::Offset, &[0][..])];
        let ty = self.module.decorated_type(Op::TypeStruct, &[array.0], &decorations);
        let id = self.module.global_variable(ty, StorageClass::StorageBuffer, None);
        self.bind(
            id,
            kind,
            number,
            1,
            format!("storage buffer {:?} x {}", element.class, element.components).to_lowercase(),
        );
        if !writes {
            self.module.decorate(id, Decoration::NonWritable, &[]);
        }
        if self.options.names {
            let name = if kind == ResourceKind::Image { "image" } else { "tex" };
            self.module.name(id, &format!("{name}{number}"));
        }
        self.textures.blocks.insert(block, id);
        id
    }

    /// Returns the number of texels.
    pub fn texel_block_length(&mut self, block: TexelBlock) -> Id {
        let block = self.texel_block(block);
        let uint = self.module.value_type(ValueType::UINT);
        self.result(Op::ArrayLength, uint, &[block.0, 0])
    }

    /// Returns a pointer to a texel.
    pub fn texel_block_pointer(&mut self, block: TexelBlock, index: Id) -> Id {
        let ty = self.module.value_type(block.element);
        let block = self.texel_block(block);
        let pointer = self.module.pointer_type(StorageClass::StorageBuffer, ty);
        let zero = self.module.uint(0);
        self.pure(Op::AccessChain, pointer, &[block.0, zero.0, index.0])
    }
}
