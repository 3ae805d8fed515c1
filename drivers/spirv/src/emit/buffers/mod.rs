//! Constant buffers, storage buffers, shared memory, atomic counters.
//!
//! | IR | SPIR-V |
//! |---|---|
//! | `load_uniform`, `load_ubo` | `Uniform` block of vec4s, floats or unsigned integers as most loads want |
//! | `load_ssbo`, `store_ssbo`, counters | `StorageBuffer` block of words (SPIR-V 1.0: `Uniform`, `BufferBlock`) |
//! | `load_shared`, `store_shared` | `Workgroup` array of words |
//! | a block number that the run says | an array of blocks; in the portable profile a selection of blocks |
//!
//! What is read outside is zero, what is written there is dropped: such accesses stand under a condition, unless the
//! place is known, bounded, or the target is said to be robust.

mod atomics;
mod constants;
mod counters;
mod plan;
mod shared;
mod storage;
mod words;

use std::collections::BTreeMap;

use spirv::Decoration;

use super::Emitter;
use crate::interface::{Resource, ResourceKind, default_binding};
use crate::module::{Class, Id};

use plan::Plan;
pub use words::{Check, Chunks, Length, Memory, Place};

/// The greatest number of a buffer: TGSI counts no further, and bindings have room for no more. What is read of a
/// buffer beyond is zero.
pub const LAST_BUFFER: u32 = 31;

/// A variable of constant buffers.
#[derive(Clone, Copy, Debug)]
struct ConstantVariable {
    id: Id,
    class: Class,
    /// vec4s.
    slots: u32,
}

/// State.
#[derive(Debug, Default)]
pub struct Buffers {
    plan: Plan,
    constants: BTreeMap<u32, ConstantVariable>,
    constant_array: Option<ConstantVariable>,
    storage: BTreeMap<u32, Memory>,
    storage_array: Option<Memory>,
    counters: BTreeMap<u32, Memory>,
    shared: Option<Memory>,
    push_constants: Option<Memory>,
    constant_data: Option<Memory>,
    scratch: Option<Memory>,
}

impl Emitter<'_> {
    /// Plans the buffers. Nothing else comes before it.
    pub(super) fn buffers_at_start(&mut self) -> Result<(), crate::error::SpirvError> {
        self.buffers.plan = Plan::new(self.shader, self.body, &self.classes);
        self.clear_shared_memory()
    }

    /// Gives a variable its set and binding, and says so in the interface. `count` is the number of descriptors.
    pub(super) fn bind(&mut self, variable: Id, kind: ResourceKind, index: u32, count: u32, about: String) {
        let (set, binding) = default_binding(kind, self.shader.stage, index);
        // OpenGL has bindings only. Translators to its languages number anew, and want to know which is which.
        if !self.options.opengl || self.options.portable {
            self.module.decorate(variable, Decoration::DescriptorSet, &[set]);
        }
        self.module.decorate(variable, Decoration::Binding, &[binding]);
        self.interface.resources.push(Resource { kind, index, set, binding, count, about });
    }

    /// Names a variable, if names are wanted.
    fn name_variable(&mut self, variable: Id, name: &str) {
        if self.options.names {
            self.module.name(variable, name);
        }
    }
}
