//! Whether TGSI fits the consumer of a [`Profile`].
//!
//! [`limits`] has the limits, one table for each consumer and stage. The other files count a shader's use of them, each
//! as the compiler of one consumer does: [`i915`], [`nvfx`] (nv30 and nv40), [`r300`] (to r500), [`vgpu9`], and
//! [`plain`] for consumers that use TGSI one to one. Positions are those of the shader.
//!
//! The facts about the consumers are from Mesa 25.0.7. Its compilers are not run: counts are exact where they translate
//! single instructions, and estimates where they optimise or schedule.

mod i915;
mod i915_peephole;
mod limits;
mod nvfx;
mod plain;
pub(crate) mod r300;
mod registers;
mod reused;
mod usage;
mod vgpu9;

use tgsi::Shader;
use tgsi::tables::Processor;
use tgsi_compiler::Fit;

use super::profiles::Profile;
use limits::{Consumer, consumer};
use usage::{Resource, Usage};

/// Counts a shader's use of the limits of a consumer.
pub(crate) fn fit(profile: Profile, shader: &Shader) -> Fit {
    let consumer = consumer(profile, shader.processor);
    let mut usage = Usage::new(limits::of(consumer));
    match consumer {
        Consumer::I915Fragment => i915::count(shader, &mut usage),
        Consumer::Nv30Fragment => nvfx::count_fragment(shader, nvfx::Chip::Nv30, &mut usage),
        Consumer::Nv40Fragment => nvfx::count_fragment(shader, nvfx::Chip::Nv40, &mut usage),
        Consumer::Nv30Vertex => nvfx::count_vertex(shader, nvfx::Chip::Nv30, &mut usage),
        Consumer::Nv40Vertex => nvfx::count_vertex(shader, nvfx::Chip::Nv40, &mut usage),
        Consumer::R300Fragment | Consumer::R400Fragment => r300::count_fragment(shader, r300::Chip::R300, &mut usage),
        Consumer::R500Fragment => r300::count_fragment(shader, r300::Chip::R500, &mut usage),
        Consumer::R300Vertex => r300::count_vertex(shader, r300::Chip::R300, &mut usage),
        Consumer::R500Vertex => r300::count_vertex(shader, r300::Chip::R500, &mut usage),
        Consumer::Vgpu9Fragment | Consumer::Vgpu9Vertex => vgpu9::count(shader, &mut usage),
        Consumer::Vgpu10 => plain::count(shader, plain::is_of_vgpu10, &mut usage),
        Consumer::Interpreter if matches!(profile, Profile::Softpipe | Profile::I915) => {
            plain::count(shader, plain::is_interpreted, &mut usage);
        }
        // Code for virgl hosts is legal for them. Other drivers have opcodes that the interpreter lacks.
        Consumer::Virgl | Consumer::Interpreter => plain::count(shader, |_| true, &mut usage),
    }
    if let Some(lacking) = limits::lacking_stage(profile, shader.processor) {
        usage.not_taken(shader.processor_span, lacking);
    }
    usage.into_fit(profile.name(), shader.processor)
}

/// Whether shaders of a stage can read textures: whether the consumer has samplers there.
pub(crate) fn has_textures(profile: Profile, processor: Processor) -> bool {
    let mut limits = limits::of(consumer(profile, processor)).iter();
    limits.any(|limit| limit.resource == Resource::Samplers && limit.most != Some(0))
}

#[cfg(test)]
mod tests;
