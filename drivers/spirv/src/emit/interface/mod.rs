//! Inputs and outputs: variables with locations, built-ins, execution modes.
//!
//! | file | holds |
//! |---|---|
//! | [`slot_location`] | the place of a slot: location or built-in |
//! | [`plan`] | the slots that the shader accesses, and their grouping into arrays |
//! | [`variables`] | the variables, their decorations and capabilities |
//! | [`instruction_access`] | the slots and indices of an instruction |
//! | [`access`], [`store`] | loads and interpolation; stores |
//! | [`conventions`] | differences between OpenGL and Vulkan |
//! | [`modes`] | execution modes |
//! | [`stream_output`] | capture of outputs in buffers |
//! | [`geometry`], [`kill`], [`fetch`] | vertices and primitives; termination of fragments and derivatives; framebuffer fetch |

mod access;
mod conventions;
mod fetch;
mod geometry;
mod instruction_access;
mod kill;
mod modes;
mod plan;
mod slot_location;
mod store;
mod stream_output;
mod variables;

use rustc_hash::FxHashMap;
use tgsi_ir::intrinsics::indices::InterpMode;

use super::Emitter;
use crate::module::Id;

use plan::{Plan, SlotData};
use slot_location::{Slot, Space};
use variables::InterfaceVariable;

/// The emitter's state for inputs and outputs.
#[derive(Debug, Default)]
pub struct Io {
    plan: Plan,
    capturing: stream_output::Capturing,
    /// Variables at locations, by: whether an output, kind, first location, blending source.
    ports: FxHashMap<(bool, Space, u32, u32), InterfaceVariable>,
    /// Variables of built-ins, by: whether an output, number.
    built_ins: FxHashMap<(bool, u32), Id>,
    /// Subpass inputs by colour.
    attachments: FxHashMap<u32, Id>,
    workgroup_size: Option<Id>,
    is_helper_volatile: bool,
}

impl Emitter<'_> {
    /// Returns whether an input is constant over a primitive.
    fn is_flat(&self, slot: Slot, data: SlotData) -> bool {
        data.interpolation == InterpMode::Flat
            || (data.interpolation == InterpMode::None && self.options.flat_shading && variables::is_color(slot))
    }
}
