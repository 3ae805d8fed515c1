//! Shared memory of a workgroup, scratch memory of an invocation, and the constant data of a shader.

use spirv::{BuiltIn, MemorySemantics, Op, Scope, StorageClass};
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::{Inst, ShaderStage};

use super::{Length, Memory};
use crate::emit::Emitter;
use crate::emit::memory_model::Qualifiers;
use crate::error::SpirvError;
use crate::module::{Class, Id, ValueType};

impl Emitter<'_> {
    pub(in crate::emit) fn emit_shared_memory_access(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), SpirvError> {
        let body = self.body;
        let memory = self.shared();
        match op {
            IntrinsicOp::LoadShared => self.load_from(inst, &memory),
            IntrinsicOp::StoreShared => self.store_to(inst, &memory),
            _ => {
                let Some(def) = body.inst_def(inst) else { return Ok(()) };
                let place = self.word_place(inst, 0)?;
                let old = self.on_word(&memory, place, |e, pointer| e.atomic(inst, 1, &memory, pointer))?;
                self.define_words(def, &[old], memory.class)
            }
        }
    }

    /// Emits `load_scratch`, `store_scratch`, `load_constant`.
    pub(in crate::emit) fn emit_private_memory_access(
        &mut self,
        inst: Inst,
        op: IntrinsicOp,
    ) -> Result<(), SpirvError> {
        match op {
            IntrinsicOp::LoadConstant => {
                let memory = self.constant_data();
                self.load_from(inst, &memory)
            }
            IntrinsicOp::LoadScratch => {
                let memory = self.scratch();
                self.load_from(inst, &memory)
            }
            _ => {
                let memory = self.scratch();
                self.store_to(inst, &memory)
            }
        }
    }

    fn load_from(&mut self, inst: Inst, memory: &Memory) -> Result<(), SpirvError> {
        let Some(def) = self.body.inst_def(inst) else { return Ok(()) };
        let types = self.chunk_types(def, memory.class)?;
        let place = self.word_place(inst, 0)?;
        let chunks = self.load_words(memory, place, &types)?;
        self.define_words(def, &chunks, memory.class)
    }

    fn store_to(&mut self, inst: Inst, memory: &Memory) -> Result<(), SpirvError> {
        let place = self.word_place(inst, 1)?;
        let mask = self.body.write_mask(inst);
        self.store_words(memory, place, self.body.src(inst, 0), mask)
    }

    /// Declares an array of `words` words that belongs to the module.
    fn own_words(&mut self, storage: StorageClass, class: Class, words: u32) -> (Id, Memory) {
        let word = self.module.value_type(ValueType::new(class, 32, 1));
        let ty = self.module.array_type(word, words.max(1), None);
        (
            ty,
            Memory {
                base: ty,
                storage,
                in_block: false,
                class,
                length: Length::Known(words),
                qualifiers: Qualifiers::default(),
            },
        )
    }

    fn shared(&mut self) -> Memory {
        if let Some(memory) = self.buffers.shared {
            return memory;
        }
        let class = self.buffers.plan.shared.class();
        let words = self.buffers.plan.shared_size.div_ceil(4);
        let (ty, memory) = self.own_words(StorageClass::Workgroup, class, words);
        let initializer = (self.clears_at_once() && !self.options.unguarded).then(|| self.module.null(ty));
        let base = self.module.global_variable(ty, StorageClass::Workgroup, initializer);
        self.name_variable(base, "shared_memory");
        let memory = Memory { base, ..memory };
        self.buffers.shared = Some(memory);
        memory
    }

    /// Returns whether shared memory may have an initializer: every device with Vulkan 1.3 supports it.
    pub(in crate::emit) fn clears_at_once(&self) -> bool {
        self.module.at_least(1, 6) && !self.options.portable
    }

    fn scratch(&mut self) -> Memory {
        if let Some(memory) = self.buffers.scratch {
            return memory;
        }
        let words = self.shader.scratch_size.div_ceil(4);
        let (_, memory) = self.own_words(StorageClass::Function, Class::Uint, words);
        let word = self.module.value_type(ValueType::UINT);
        let base = self.function_array(word, words.max(1), "scratch");
        let memory = Memory { base, ..memory };
        self.buffers.scratch = Some(memory);
        memory
    }

    /// Returns the shader's constant data: a variable that is only read.
    fn constant_data(&mut self) -> Memory {
        if let Some(memory) = self.buffers.constant_data {
            return memory;
        }
        let bytes = &self.shader.constant_data;
        let words: Vec<u32> = bytes
            .chunks(4)
            .map(|chunk| chunk.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte)))
            .collect();
        let (ty, memory) = self.own_words(StorageClass::Private, Class::Uint, words.len() as u32);
        let initializer = if words.iter().all(|&word| word == 0) {
            self.module.null(ty)
        } else {
            let parts: Vec<u32> = words.iter().map(|&word| self.module.uint(word).0).collect();
            self.module.constant_of(Op::ConstantComposite, ty, &parts)
        };
        let base = self.module.global_variable(ty, StorageClass::Private, Some(initializer));
        self.name_variable(base, "constant_data");
        let memory = Memory { base, ..memory };
        self.buffers.constant_data = Some(memory);
        memory
    }

    /// Zeroes shared memory before any read: each invocation clears every *n*th word, where *n* is the size of the
    /// workgroup, then all wait at a barrier.
    pub(super) fn clear_shared_memory(&mut self) -> Result<(), SpirvError> {
        if self.clears_at_once() || self.options.unguarded || self.shader.stage != ShaderStage::Compute {
            return Ok(());
        }
        let variables = self.shared_variables()?;
        let has_words = self.buffers.plan.shared.used && self.buffers.plan.shared_size > 0;
        if has_words {
            self.clear_shared_words()?;
        }
        if !variables.is_empty() {
            self.clear_shared_variables(&variables)?;
        }
        if has_words || !variables.is_empty() {
            let scope = self.module.uint(Scope::Workgroup as u32);
            let semantics = MemorySemantics::ACQUIRE_RELEASE | MemorySemantics::WORKGROUP_MEMORY;
            let semantics = self.module.uint(self.with_visibility(semantics).bits());
            self.push(Op::ControlBarrier, &[scope.0, scope.0, semantics.0]);
        }
        Ok(())
    }

    /// Loads the index of the invocation within its workgroup.
    fn invocation_index(&mut self) -> Id {
        let variable = self.module.built_in_input(BuiltIn::LocalInvocationIndex, ValueType::UINT);
        let uint = self.module.value_type(ValueType::UINT);
        self.pure(Op::Load, uint, &[variable.0])
    }

    /// Lets the first invocation clear shared variables that are not arrays of words.
    fn clear_shared_variables(&mut self, variables: &[(Id, Id)]) -> Result<(), SpirvError> {
        let (index, zero) = (self.invocation_index(), self.module.uint(0));
        let is_first = self.pure_of(Op::IEqual, ValueType::BOOL, &[index, zero]);
        self.if_then(is_first, |e| {
            for &(variable, ty) in variables {
                let zero = e.module.null(ty);
                e.store_shared(variable, zero, StorageClass::Workgroup, Qualifiers::default());
            }
            Ok(())
        })
    }

    fn clear_shared_words(&mut self) -> Result<(), SpirvError> {
        let memory = self.shared();
        let words = self.buffers.plan.shared_size.div_ceil(4);
        let start = self.invocation_index();
        let element = self.module.value_type(ValueType::new(memory.class, 32, 1));
        let pointer = self.module.pointer_type(StorageClass::Workgroup, element);
        let zero = self.module.null(element);
        let info = &self.shader.info;
        let product = info.workgroup_size.iter().fold(1u32, |product, &size| product.saturating_mul(size.max(1)));
        // If only the host knows the size of the workgroup, each invocation clears everything.
        let step = if info.workgroup_size_variable { 1 } else { product };
        let first = if info.workgroup_size_variable { self.module.uint(0) } else { start };
        let store = |e: &mut Self, index: Id| {
            let word = e.pure(Op::AccessChain, pointer, &[memory.base.0, index.0]);
            e.store_shared(word, zero, StorageClass::Workgroup, Qualifiers::default());
        };
        if step < words {
            self.for_each(first, step, words, store);
            return Ok(());
        }
        let length = self.module.uint(words);
        let has_one = self.is_below(first, length);
        self.if_then(has_one, |e| {
            store(e, first);
            Ok(())
        })
    }
}
