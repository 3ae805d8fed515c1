//! The memory model. That of GLSL says by decorations of variables what others see; that of Vulkan says it at each
//! access: which are of memory that others use (`NonPrivate`), and which make what they wrote available, or what others
//! wrote visible.
//!
//! With Vulkan's, every access to storage buffers, images and shared memory is one of memory that others use, so that
//! barriers order it; `coherent` and `volatile` accesses are made available and visible to the queue family, which
//! needs no feature of a device as its whole would.

use smallvec::SmallVec;
use spirv::{ImageOperands, MemoryAccess, MemorySemantics, Op, Scope, StorageClass};

use super::Emitter;
use crate::module::Id;

/// What a variable is declared as.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Qualifiers {
    /// Others see what is written, and the reverse.
    pub coherent: bool,
    /// Others may write at any time.
    pub volatile: bool,
}

impl Emitter<'_> {
    /// The scope in which memory is shared by all.
    pub(super) fn widest_scope(&self) -> Scope {
        if self.options.vulkan_memory_model { Scope::QueueFamily } else { Scope::Device }
    }

    /// The same for a scope that was asked for.
    pub(super) fn known_scope(&self, scope: Scope) -> Scope {
        if scope == Scope::Device { self.widest_scope() } else { scope }
    }

    /// What barriers make of what was written, beside ordering it.
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

    /// The operands of a load or store behind its pointer and value.
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

    /// Loads from memory that others may use.
    pub(super) fn load_shared(&mut self, ty: Id, pointer: Id, storage: StorageClass, qualifiers: Qualifiers) -> Id {
        let mut words: SmallVec<[u32; 3]> = SmallVec::from_slice(&[pointer.0]);
        words.extend(self.pointer_operands(storage, qualifiers, false));
        self.result(Op::Load, ty, &words)
    }

    /// Stores to memory that others may use.
    pub(super) fn store_shared(&mut self, pointer: Id, value: Id, storage: StorageClass, qualifiers: Qualifiers) {
        let mut words: SmallVec<[u32; 4]> = SmallVec::from_slice(&[pointer.0, value.0]);
        words.extend(self.pointer_operands(storage, qualifiers, true));
        self.push(Op::Store, &words);
    }

    /// The operands of an access to a texel: the sample, if there is one, and what the memory model asks for.
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
