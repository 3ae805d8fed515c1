//! The memory model. GLSL's declares visibility by decorations of variables; Vulkan's declares it at each access:
//! whether the memory is shared (`NonPrivate`), and whether the access makes its writes available, or writes of others
//! visible.
//!
//! With Vulkan's model, every access to storage buffers, images and shared memory is `NonPrivate`, so that barriers
//! order it. `coherent` and `volatile` accesses are made available and visible to the queue family: the scope `Device`
//! would need a device feature.

use smallvec::SmallVec;
use spirv::{ImageOperands, MemoryAccess, MemorySemantics, Op, Scope, StorageClass};

use super::Emitter;
use crate::module::Id;

/// The memory qualifiers of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Qualifiers {
    /// Writes are visible to other invocations, and theirs to this one.
    pub coherent: bool,
    /// Other invocations may write at any time.
    pub volatile: bool,
}

impl Emitter<'_> {
    /// Returns the widest scope available.
    pub(super) fn widest_scope(&self) -> Scope {
        if self.options.vulkan_memory_model { Scope::QueueFamily } else { Scope::Device }
    }

    /// Limits a scope to the widest one available.
    pub(super) fn known_scope(&self, scope: Scope) -> Scope {
        if scope == Scope::Device { self.widest_scope() } else { scope }
    }

    /// Adds the availability and visibility operations that barriers with an order need.
    pub(super) fn with_visibility(&self, semantics: MemorySemantics) -> MemorySemantics {
        let orders = [MemorySemantics::ACQUIRE, MemorySemantics::RELEASE, MemorySemantics::ACQUIRE_RELEASE];
        if !self.options.vulkan_memory_model || !orders.iter().any(|order| semantics.contains(*order)) {
            return semantics;
        }
        let both = semantics.contains(MemorySemantics::ACQUIRE_RELEASE);
        let mut all = semantics;
        if both || semantics.contains(MemorySemantics::RELEASE) {
            all |= MemorySemantics::MAKE_AVAILABLE;
        }
        if both || semantics.contains(MemorySemantics::ACQUIRE) {
            all |= MemorySemantics::MAKE_VISIBLE;
        }
        all
    }

    /// Returns the memory operands of a load or store.
    fn pointer_operands(&mut self, storage: StorageClass, qualifiers: Qualifiers, stores: bool) -> SmallVec<[u32; 2]> {
        let is_shared = matches!(storage, StorageClass::StorageBuffer | StorageClass::Workgroup);
        if !self.options.vulkan_memory_model || !is_shared {
            return SmallVec::new();
        }
        let mut access = MemoryAccess::NON_PRIVATE_POINTER;
        if qualifiers.volatile {
            access |= MemoryAccess::VOLATILE;
        }
        let mut operands: SmallVec<[u32; 2]> = SmallVec::new();
        if qualifiers.coherent || qualifiers.volatile {
            access |= if stores { MemoryAccess::MAKE_POINTER_AVAILABLE } else { MemoryAccess::MAKE_POINTER_VISIBLE };
            operands.push(self.module.uint(Scope::QueueFamily as u32).0);
        }
        operands.insert(0, access.bits());
        operands
    }

    /// Loads from memory that other invocations may access.
    pub(super) fn load_shared(&mut self, ty: Id, pointer: Id, storage: StorageClass, qualifiers: Qualifiers) -> Id {
        let mut words: SmallVec<[u32; 3]> = SmallVec::from_slice(&[pointer.0]);
        words.extend(self.pointer_operands(storage, qualifiers, false));
        self.result(Op::Load, ty, &words)
    }

    /// Stores to memory that other invocations may access.
    pub(super) fn store_shared(&mut self, pointer: Id, value: Id, storage: StorageClass, qualifiers: Qualifiers) {
        let mut words: SmallVec<[u32; 4]> = SmallVec::from_slice(&[pointer.0, value.0]);
        words.extend(self.pointer_operands(storage, qualifiers, true));
        self.push(Op::Store, &words);
    }

    /// Returns the image operands of a texel access: the sample, if there is one, and those of the memory model.
    pub(super) fn texel_operands(
        &mut self,
        sample: Option<Id>,
        qualifiers: Qualifiers,
        stores: bool,
    ) -> SmallVec<[u32; 4]> {
        let (mut bits, mut ids) = (ImageOperands::NONE, SmallVec::<[u32; 4]>::new());
        if let Some(sample) = sample {
            bits |= ImageOperands::SAMPLE;
            ids.push(sample.0);
        }
        if self.options.vulkan_memory_model {
            bits |= ImageOperands::NON_PRIVATE_TEXEL;
            if qualifiers.volatile {
                bits |= ImageOperands::VOLATILE_TEXEL;
            }
            if qualifiers.coherent || qualifiers.volatile {
                bits |= if stores { ImageOperands::MAKE_TEXEL_AVAILABLE } else { ImageOperands::MAKE_TEXEL_VISIBLE };
                ids.push(self.module.uint(Scope::QueueFamily as u32).0);
            }
        }
        if !bits.is_empty() {
            ids.insert(0, bits.bits());
        }
        ids
    }
}
