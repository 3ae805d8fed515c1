//! Storage buffers.

use smallvec::SmallVec;
use spirv::{Capability, Decoration, Op, StorageClass};
use tgsi_compiler::reflection::ResourceKind;
use tgsi_ir::intrinsics::indices::AccessFlags;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::{Def, Inst};

use super::plan::WordUse;
use super::{BoundsCheck, LAST_BUFFER, Length, Memory, ResultVectors};
use crate::emit::Emitter;
use crate::emit::memory_model::Qualifiers;
use crate::error::SpirvError;
use crate::module::{Class, Id, ValueType};

impl Emitter<'_> {
    pub(in crate::emit) fn emit_storage_buffer_access(
        &mut self,
        inst: Inst,
        op: IntrinsicOp,
    ) -> Result<(), SpirvError> {
        let body = self.body;
        match op {
            IntrinsicOp::StoreSsbo => {
                let value = body.src(inst, 0);
                let place = self.word_place(inst, 2)?;
                let mask = body.write_mask(inst);
                self.on_storage(inst, 1, &[], |e, memory| {
                    e.store_words(memory, place, value, mask)?;
                    Ok(ResultVectors::new())
                })?;
                Ok(())
            }
            IntrinsicOp::LoadSsbo => {
                let Some(def) = body.inst_def(inst) else { return Ok(()) };
                let class = self.storage_class(body.src(inst, 0));
                let types = self.chunk_types(def, class)?;
                let place = self.word_place(inst, 1)?;
                let chunks = self.on_storage(inst, 0, &types, |e, memory| e.load_words(memory, place, &types))?;
                self.define_words(def, &chunks, class)
            }
            IntrinsicOp::GetSsboSize => {
                let Some(def) = body.inst_def(inst) else { return Ok(()) };
                let chunks = self.on_storage(inst, 0, &[ValueType::UINT], |e, memory| {
                    let (words, four) = (e.length(memory), e.module.uint(4));
                    Ok(smallvec::smallvec![e.pure_of(Op::IMul, ValueType::UINT, &[words, four])])
                })?;
                self.define_words(def, &chunks, Class::Uint)
            }
            _ => {
                let Some(def) = body.inst_def(inst) else { return Ok(()) };
                let class = self.storage_class(body.src(inst, 0));
                let place = self.word_place(inst, 1)?;
                let types = self.chunk_types(def, class)?;
                let chunks = self.on_storage(inst, 0, &types, |e, memory| {
                    let old = e.on_word(memory, place, |e, pointer| e.atomic(inst, 2, memory, pointer))?;
                    Ok(smallvec::smallvec![old])
                })?;
                self.define_words(def, &chunks, class)
            }
        }
    }

    /// Returns the class of the words of a buffer.
    fn storage_class(&self, block: Def) -> Class {
        // Dynamically indexed buffers have the same type, so any number will do.
        let buffer = self.body.constant_component(block, 0).unwrap_or(0) as u32;
        self.buffers.plan.storage.get(&buffer).map_or(Class::Uint, WordUse::class)
    }

    /// Applies `access` to the buffer of a source; the result is zeros if there is no buffer with this number.
    fn on_storage(
        &mut self,
        inst: Inst,
        source: usize,
        types: &[ValueType],
        access: impl Fn(&mut Self, &Memory) -> Result<ResultVectors, SpirvError>,
    ) -> Result<ResultVectors, SpirvError> {
        let block = self.body.src(inst, source);
        let count = self.buffers.plan.indexed_storage;
        if let Some(buffer) = self.body.constant_component(block, 0) {
            let buffer = buffer as u32;
            return if buffer > LAST_BUFFER {
                Ok(self.zeros(types))
            } else if buffer < count && !self.options.portable {
                let index = self.module.uint(buffer);
                let memory = self.storage_element(index);
                access(self, &memory)
            } else {
                let mut memory = self.storage_of(buffer);
                if AccessFlags::from_i32(self.body.index(inst, IndexKind::Access)).contains(AccessFlags::IN_BOUNDS_AGX)
                {
                    memory.length = Length::Bound(u32::MAX);
                }
                access(self, &memory)
            };
        }
        let place = self.place(0, block, 0)?;
        let index = self.place_id(place);
        if !self.options.portable {
            let inside = |e: &mut Self| {
                let memory = e.storage_element(index);
                access(e, &memory)
            };
            return match self.check(place, 1, count) {
                BoundsCheck::Never => Ok(self.zeros(types)),
                BoundsCheck::Always => inside(self),
                BoundsCheck::If(condition) => self.if_then_values(condition, types, inside),
            };
        }
        let mut results = self.zeros(types);
        for buffer in 0..count {
            let number = self.module.uint(buffer);
            let chosen = self.pure_of(Op::IEqual, ValueType::BOOL, &[index, number]);
            let memory = self.storage_of(buffer);
            let own = self.if_then_values(chosen, types, |e| access(e, &memory))?;
            for ((result, own), &ty) in results.iter_mut().zip(own).zip(types) {
                *result = self.select(ty, chosen, own, *result);
            }
        }
        Ok(results)
    }

    /// Returns the variable of a storage buffer.
    fn storage_of(&mut self, buffer: u32) -> Memory {
        if let Some(&memory) = self.buffers.storage.get(&buffer) {
            return memory;
        }
        let found = self.buffers.plan.storage.get(&buffer).copied().unwrap_or_default();
        let memory = self.words_variable(found, ResourceKind::StorageBuffer, buffer, None, &format!("buffer{buffer}"));
        self.buffers.storage.insert(buffer, memory);
        memory
    }

    /// Returns an element of the array of dynamically indexed buffers.
    fn storage_element(&mut self, index: Id) -> Memory {
        let array = match self.buffers.storage_array {
            Some(array) => array,
            None => {
                let found = self.buffers.plan.storage.get(&0).copied().unwrap_or_default();
                let count = self.buffers.plan.indexed_storage;
                let array = self.words_variable(found, ResourceKind::StorageBuffer, 0, Some(count), "buffers");
                self.module.need(Capability::StorageBufferArrayDynamicIndexing);
                self.buffers.storage_array = Some(array);
                array
            }
        };
        let block = self.words_block_type(self.buffers.plan.storage.get(&0).copied().unwrap_or_default());
        let pointer = self.module.pointer_type(array.storage, block);
        let base = self.pure(Op::AccessChain, pointer, &[array.base.0, index.0]);
        Memory { base, ..array }
    }

    /// Creates the type of a block of words, decorated according to its accesses.
    fn words_block_type(&mut self, found: WordUse) -> Id {
        let word = self.module.value_type(ValueType::new(found.class(), 32, 1));
        let array = self.module.runtime_array_type(word, 4);
        let qualifiers: SmallVec<[Decoration; 4]> = [
            (!found.written, Decoration::NonWritable),
            // A query of the size is not an access.
            (!found.read && found.written, Decoration::NonReadable),
            // With Vulkan's memory model each access carries these flags.
            (found.coherent && !self.options.vulkan_memory_model, Decoration::Coherent),
            (found.volatile && !self.options.vulkan_memory_model, Decoration::Volatile),
        ]
        .into_iter()
        .filter_map(|(holds, decoration)| holds.then_some(decoration))
        .collect();
        let block = if self.module.at_least(1, 3) { Decoration::Block } else { Decoration::BufferBlock };
        self.block_type(array, block, &qualifiers)
    }

    /// Declares a variable of a block of words, or of an array of `count` blocks.
    pub(super) fn words_variable(
        &mut self,
        found: WordUse,
        kind: ResourceKind,
        index: u32,
        count: Option<u32>,
        name: &str,
    ) -> Memory {
        let block = self.words_block_type(found);
        let ty = count.map_or(block, |count| self.module.array_type(block, count, None));
        // Before SPIR-V 1.3 the storage class takes an extension.
        let storage = if self.module.at_least(1, 3) { StorageClass::StorageBuffer } else { StorageClass::Uniform };
        let base = self.module.global_variable(ty, storage, None);
        self.name_variable(base, name);
        // Two numbers may alias one buffer.
        if !found.shared && found.used {
            self.module.decorate(base, Decoration::Restrict, &[]);
        } else if self.buffers.plan.storage.len() + self.buffers.plan.counters.len() > 1 {
            self.module.decorate(base, Decoration::Aliased, &[]);
        }
        let about = match (found.read, found.written) {
            (true, true) => "read, written",
            (false, true) => "written",
            (true, false) => "read",
            (false, false) => "size",
        };
        self.bind(base, kind, index, count.unwrap_or(1), about.to_owned());
        let qualifiers = Qualifiers { coherent: found.coherent, volatile: found.volatile };
        Memory { base, storage, in_block: true, class: found.class(), length: Length::Bound(0), qualifiers }
    }
}
