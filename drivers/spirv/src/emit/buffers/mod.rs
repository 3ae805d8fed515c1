//! Constant buffers, storage buffers, shared memory, atomic counters.
//!
//! | IR | SPIR-V |
//! |---|---|
//! | `load_uniform`, `load_ubo` | `Uniform` block of vec4s, floats or unsigned integers, whichever most loads use |
//! | `load_ssbo`, `store_ssbo`, counters | `StorageBuffer` block of words (SPIR-V 1.0: `Uniform`, `BufferBlock`) |
//! | `load_shared`, `store_shared` | `Workgroup` array of words |
//! | a dynamic block number | an array of blocks; in the portable profile a selection of blocks |
//!
//! Reads out of bounds give zero and writes are dropped: accesses are guarded by a condition unless the place is
//! constant or bounded, or the target is robust.

mod atomics;
mod constants;
mod counters;
mod plan;
mod shared;
mod storage;
mod words;

use std::collections::BTreeMap;

use spirv::Decoration;
use tgsi_compiler::reflection::{Resource, ResourceKind};

use super::Emitter;
use super::reflection::default_binding;
use crate::module::{Class, Id};

use plan::Plan;
pub use words::{ArrayIndex, BoundsCheck, Length, Memory, ResultVectors};

/// The greatest number of a buffer: TGSI has no more, and neither do the bindings. Reads from buffers beyond it give
/// zero.
pub const LAST_BUFFER: u32 = 31;

/// A variable of constant buffers.
#[derive(Clone, Copy, Debug)]
struct ConstantVariable {
    id: Id,
    class: Class,
    /// Number of vec4s.
    slots: u32,
}

/// The emitter's state for buffers.
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
    /// Plans the buffers. Must be called first.
    pub(super) fn buffers_at_start(&mut self) -> Result<(), crate::error::SpirvError> {
        self.buffers.plan = Plan::new(self.shader, self.body, &self.classes);
        self.clear_shared_memory()
    }

    /// Assigns set and binding to a variable, and records them in the interface. `count` is the number of descriptors.
    pub(super) fn bind(&mut self, variable: Id, kind: ResourceKind, index: u32, count: u32, about: String) {
        let (set, binding) = default_binding(kind, self.shader.stage, index);
        // OpenGL has bindings only. Translators to its languages assign new numbers, and identify variables by set and
        // binding.
        if !self.options.opengl || self.options.portable {
            self.module.decorate(variable, Decoration::DescriptorSet, &[set]);
        }
        self.module.decorate(variable, Decoration::Binding, &[binding]);
        self.reflection.resources.push(Resource { kind, index, set, binding, count, about });
    }

    /// Names a variable, if names are requested.
    fn name_variable(&mut self, variable: Id, name: &str) {
        if self.options.names {
            self.module.name(variable, name);
        }
    }
}
