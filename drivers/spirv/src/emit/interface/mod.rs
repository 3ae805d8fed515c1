//! Inputs and outputs: variables with locations, built-ins, what stages ask for.
//!
//! | file | holds |
//! |---|---|
//! | [`homes`] | where a slot lives: location or built-in |
//! | [`plan`] | what the shader accesses, and which slots are arrays |
//! | [`variables`] | the variables, their decorations and capabilities |
//! | [`access`] | loads, stores, interpolation |
//! | [`conventions`] | what OpenGL and Vulkan see differently |
//! | [`modes`] | execution modes |
//! | [`stream_output`] | what goes to buffers |
//! | [`geometry`], [`kill`], [`fetch`] | vertices and primitives; ends of fragments and derivatives; framebuffer fetch |

mod access;
mod conventions;
mod fetch;
mod geometry;
mod homes;
mod kill;
mod modes;
mod plan;
mod stream_output;
mod variables;

use rustc_hash::FxHashMap;
use tgsi_ir::intrinsics::indices::InterpMode;

use super::Emitter;
use crate::module::Id;

use homes::{Slot, Space};
use plan::{Plan, SlotData};
use variables::Port;

/// State.
#[derive(Debug, Default)]
pub struct Io {
    plan: Plan,
    capturing: stream_output::Capturing,
    /// Variables at locations: of outputs, of what kind, from which location on, which source of blending.
    ports: FxHashMap<(bool, Space, u32, u32), Port>,
    /// Variables of built-ins: of outputs, the number.
    built_ins: FxHashMap<(bool, u32), Id>,
    /// Subpass inputs by colour.
    attachments: FxHashMap<u32, Id>,
    workgroup_size: Option<Id>,
    is_helper_volatile: bool,
}

impl Emitter<'_> {
    /// Whether an input is the same all over a primitive.
    fn is_flat(&self, slot: Slot, data: SlotData) -> bool {
        data.interpolation == InterpMode::Flat
            || (data.interpolation == InterpMode::None && self.options.flat_shading && variables::is_color(slot))
    }
}
