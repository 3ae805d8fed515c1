//! Machine code, by Cranelift: compiles the stretches of a program that write only planes and outputs. The interpreter
//! of the IR executes the rest, in the same order as without machine code; see [`tgsi_ir::run::native`].
//!
//! A value is one vector of four 32-bit lanes for each quad. Cranelift has no wider vectors. No operation that can trap
//! is ever emitted.
//!
//! Code is compiled at run time (`jit`), or ahead of time for an object file (`write`). It contains no addresses. All
//! memory that it can access is in `context`: planes at offsets known at compile time, buffers behind a check of their
//! length, texels of known textures behind a clamp (`lookups`), and the functions that it calls (`calls`, `sampling`).
//! `code` calls it, with or without the feature `machine-code`, which is only needed to compile it.

#[cfg_attr(not(feature = "machine-code"), allow(dead_code, reason = "only code generation uses all of it"))]
mod calls;
mod code;
#[cfg_attr(not(feature = "machine-code"), allow(dead_code, reason = "only code generation uses all of it"))]
mod context;
#[cfg_attr(not(feature = "machine-code"), allow(dead_code, reason = "only code generation uses all of it"))]
mod gathers;
#[cfg_attr(not(feature = "machine-code"), allow(dead_code, reason = "only code generation uses all of it"))]
mod sampling;
#[cfg_attr(not(feature = "machine-code"), allow(dead_code, reason = "only code generation uses all of it"))]
mod slots;
#[cfg_attr(not(feature = "machine-code"), allow(dead_code, reason = "only code generation uses all of it"))]
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

/// Sizes of structures with offsets that are part of code.
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

/// Returns whether an extension of a processor may be used, by Cranelift's name.
#[cfg(feature = "machine-code")]
fn has(isa: &dyn TargetIsa, extension: &str) -> bool {
    isa.isa_flags().iter().any(|flag| flag.name == extension && flag.as_bool() == Some(true))
}

/// Returns whether a processor has fused multiply-add for vectors.
#[cfg(feature = "machine-code")]
fn has_fma(isa: &dyn TargetIsa) -> bool {
    match isa.triple().architecture {
        Architecture::X86_64 => has(isa, "has_avx") && has(isa, "has_fma"),
        Architecture::Aarch64(_) => true,
        _ => false,
    }
}

/// The state for the translation of a program's functions.
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
    /// Numbers of the ALU instructions that functions evaluate by calls.
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

    /// Translates a function into a context, replacing the previous one.
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
    /// the numbers of the ALU instructions that they evaluate by calls.
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
