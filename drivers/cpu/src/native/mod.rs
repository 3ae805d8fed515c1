//! Machine code, by Cranelift: the stretches of a program that change nothing but planes and outputs. The interpreter
//! of the IR executes the rest, in the same order as without machine code; see [`tgsi_ir::run::native`].
//!
//! A value is one vector of four 32-bit lanes for each quad. There are no wider vectors in Cranelift, and no operation
//! that can trap is ever made.
//!
//! Code is made at run time (`jit`), or ahead of time for an object file (`write`). It holds no addresses. What it can
//! reach is in `context`: planes at offsets that are known when it is made, buffers behind a check of the length,
//! texels of textures that a run was asked for behind a clamp (`lookups`, `filters`), and what it calls (`calls`,
//! `sampling`).
//! `code` calls it, with or without the feature `machine-code`, which is needed to make it.

#[cfg_attr(not(feature = "machine-code"), allow(dead_code, reason = "only what makes code needs all of it"))]
mod calls;
mod code;
#[cfg_attr(not(feature = "machine-code"), allow(dead_code, reason = "only what makes code needs all of it"))]
mod context;
#[cfg_attr(not(feature = "machine-code"), allow(dead_code, reason = "only what makes code needs all of it"))]
mod gathers;
#[cfg_attr(not(feature = "machine-code"), allow(dead_code, reason = "only what makes code needs all of it"))]
mod sampling;
#[cfg_attr(not(feature = "machine-code"), allow(dead_code, reason = "only what makes code needs all of it"))]
mod slots;
#[cfg_attr(not(feature = "machine-code"), allow(dead_code, reason = "only what makes code needs all of it"))]
mod uniforms;

#[cfg(feature = "machine-code")]
mod alu;
#[cfg(feature = "machine-code")]
mod arrays;
#[cfg(feature = "machine-code")]
mod emit;
#[cfg(feature = "machine-code")]
mod faces;
#[cfg(feature = "machine-code")]
mod filters;
#[cfg(feature = "machine-code")]
mod invariants;
#[cfg(feature = "machine-code")]
mod jit;
#[cfg(feature = "machine-code")]
mod known_units;
#[cfg(feature = "machine-code")]
mod levels;
#[cfg(feature = "machine-code")]
mod lookups;
#[cfg(feature = "machine-code")]
mod processor;
#[cfg(feature = "machine-code")]
mod stretches;
#[cfg(feature = "machine-code")]
mod texels;
#[cfg(feature = "machine-code")]
mod textures;
#[cfg(feature = "machine-code")]
mod wide;
#[cfg(feature = "machine-code")]
mod write;

pub(crate) use code::{Code, Function};
#[cfg(feature = "machine-code")]
pub(crate) use jit::compile;
#[cfg(feature = "machine-code")]
pub(crate) use write::{Form, make, processor};

/// Sizes of what code finds at offsets that are part of it.
pub(crate) const SIZES: [usize; 2] = [size_of::<context::Context>(), size_of::<calls::Functions>()];

#[cfg(feature = "machine-code")]
use {
    crate::sampler::Known,
    cranelift_codegen::isa::TargetIsa,
    cranelift_codegen::{Context, ir},
    cranelift_frontend::{FunctionBuilder, FunctionBuilderContext},
    emit::{Emitter, signature},
    rustc_hash::FxHashMap,
    stretches::Stretch,
    target_lexicon::Architecture,
    tgsi_ir::run::program::Program,
};

/// Whether an extension of a processor may be used, by Cranelift's name.
#[cfg(feature = "machine-code")]
fn has(isa: &dyn TargetIsa, extension: &str) -> bool {
    isa.isa_flags().iter().any(|flag| flag.name == extension && flag.as_bool() == Some(true))
}

/// Whether a processor multiplies and adds vectors with one rounding.
#[cfg(feature = "machine-code")]
fn has_fma(isa: &dyn TargetIsa) -> bool {
    match isa.triple().architecture {
        Architecture::X86_64 => has(isa, "has_avx") && has(isa, "has_fma"),
        Architecture::Aarch64(_) => true,
        _ => false,
    }
}

/// Calls `visit` with each stretch and its function, before that is compiled. Returns the numbers of the ALU
/// instructions that the functions evaluate through calls.
#[cfg(feature = "machine-code")]
fn for_each_stretch<E>(
    program: &Program,
    stretches: &[Stretch],
    keep_inactive: bool,
    known: &[Known],
    isa: &dyn TargetIsa,
    mut visit: impl FnMut(&Stretch, &mut Context) -> Result<(), E>,
) -> Result<Vec<u32>, E> {
    let constants: FxHashMap<u32, u32> = program.constants().iter().copied().collect();
    let in_memory = arrays::planes_in_memory(program);
    let (call_conv, has_fma) = (isa.default_call_conv(), has_fma(isa));
    let mut instructions = Vec::new();
    let mut builder_context = FunctionBuilderContext::new();
    let mut context = Context::new();
    for stretch in stretches {
        context.func.signature = signature(call_conv);
        context.func.name = ir::UserFuncName::user(0, stretch.range.start);
        let builder = FunctionBuilder::new(&mut context.func, &mut builder_context);
        let mut emitter = Emitter::new(program, builder, keep_inactive, &constants, &mut instructions, call_conv);
        emitter.known = known;
        emitter.in_memory = &in_memory;
        emitter.has_fma = has_fma;
        emitter.is_x86 = isa.triple().architecture == Architecture::X86_64;
        emitter.function(stretch);
        visit(stretch, &mut context)?;
        context.clear();
    }
    Ok(instructions)
}
