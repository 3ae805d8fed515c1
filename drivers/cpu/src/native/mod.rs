//! Machine code, by Cranelift: the stretches of a program that change nothing but planes and outputs. The interpreter
//! of the IR executes the rest, in the same order as without machine code; see [`tgsi_ir::run::native`].
//!
//! A value is one vector of four 32-bit lanes for each quad. There are no wider vectors in Cranelift, and no operation
//! that can trap is ever made.
//!
//! Code is made at run time (`jit`), or ahead of time for an object file (`write`). It holds no addresses. What it can
//! reach is in `context`: planes at offsets that are known when it is made, buffers behind a check of the length,
//! texels of textures that a run was asked for behind a clamp (`lookups`), and what it calls (`calls`,
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
mod areas;
#[cfg(feature = "machine-code")]
mod arrays;
#[cfg(feature = "machine-code")]
mod emit;
#[cfg(feature = "machine-code")]
mod invariants;
#[cfg(feature = "machine-code")]
mod jit;
#[cfg(feature = "machine-code")]
mod lookups;
#[cfg(feature = "machine-code")]
mod processor;
#[cfg(feature = "machine-code")]
mod stretches;
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
    cranelift_codegen::isa::{CallConv, TargetIsa},
    cranelift_codegen::{Context, ir},
    cranelift_frontend::{FunctionBuilder, FunctionBuilderContext},
    emit::Emitter,
    lookups::Outlined,
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

/// What the functions of a program are made with.
#[cfg(feature = "machine-code")]
struct FunctionTranslator<'a> {
    program: &'a Program,
    keep_inactive: bool,
    known: &'a [Known],
    constants: FxHashMap<u32, u32>,
    in_memory: Vec<bool>,
    call_conv: CallConv,
    has_fma: bool,
    is_x86: bool,
    builder_context: FunctionBuilderContext,
    /// Numbers of the ALU instructions that functions evaluate through calls.
    instructions: Vec<u32>,
}

#[cfg(feature = "machine-code")]
impl<'a> FunctionTranslator<'a> {
    fn new(
        program: &'a Program,
        keep_inactive: bool,
        known: &'a [Known],
        isa: &dyn TargetIsa,
    ) -> FunctionTranslator<'a> {
        FunctionTranslator {
            program,
            keep_inactive,
            known,
            constants: program.constants().iter().copied().collect(),
            in_memory: arrays::planes_in_memory(program),
            call_conv: isa.default_call_conv(),
            has_fma: has_fma(isa),
            is_x86: isa.triple().architecture == Architecture::X86_64,
            builder_context: FunctionBuilderContext::new(),
            instructions: Vec::new(),
        }
    }

    /// Makes a function in the place of that of a context.
    fn make(
        &mut self,
        context: &mut Context,
        name: u32,
        signature: ir::Signature,
        outlined: &FxHashMap<u32, usize>,
        make: impl FnOnce(Emitter<'_, '_>),
    ) {
        context.clear();
        context.func.signature = signature;
        context.func.name = ir::UserFuncName::user(0, name);
        let builder = FunctionBuilder::new(&mut context.func, &mut self.builder_context);
        let (instructions, call_conv) = (&mut self.instructions, self.call_conv);
        let constants = &self.constants;
        let mut emitter =
            Emitter::new(self.program, builder, self.keep_inactive, constants, instructions, outlined, call_conv);
        emitter.known = self.known;
        emitter.in_memory = &self.in_memory;
        emitter.has_fma = self.has_fma;
        emitter.is_x86 = self.is_x86;
        make(emitter);
    }

    fn make_lookup(&mut self, context: &mut Context, number: u32) {
        let texture = &self.program.textures()[number as usize];
        let signature = lookups::signature(self.call_conv);
        self.make(context, number, signature, &FxHashMap::default(), |emitter| emitter.lookup(texture));
    }

    /// Calls `visit` with each function before it is compiled: lookups that stretches call, and the stretches. Returns
    /// the numbers of the ALU instructions that they evaluate through calls.
    fn for_each<E>(
        mut self,
        stretches: &[Stretch],
        mut visit: impl FnMut(Option<&Stretch>, &mut Context) -> Result<(), E>,
    ) -> Result<Vec<u32>, E> {
        let mut context = Context::new();
        let outlined = Outlined::choose(self.program, stretches, self.known, |number| {
            self.make_lookup(&mut context, number);
            context.func.dfg.num_insts()
        });
        for &number in &outlined.instructions {
            self.make_lookup(&mut context, number);
            visit(None, &mut context)?;
        }
        for stretch in stretches {
            let signature = emit::signature(self.call_conv);
            self.make(&mut context, stretch.range.start, signature, &outlined.functions, |emitter| {
                emitter.function(stretch);
            });
            visit(Some(stretch), &mut context)?;
        }
        Ok(self.instructions)
    }
}
