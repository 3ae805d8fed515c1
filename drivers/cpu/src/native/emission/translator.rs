//! The translation of a program's regions and lookups to functions of Cranelift.

use cranelift_codegen::isa::{CallConv, TargetIsa};
use cranelift_codegen::{Context, ir};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use rustc_hash::FxHashMap;
use target_lexicon::Architecture;
use tgsi_ir::run::Program;

use super::emitter::{Emitter, FunctionContext};
use super::lookups::outlined::Outlined;
use super::processor::has;
use super::{function, lookups};
use crate::native::analysis::accesses::vectors_in_memory;
use crate::native::analysis::regions::Region;
use crate::sampler::KnownUnitState;

/// Returns whether a processor has fused multiply-add for vectors.
fn has_fma(isa: &dyn TargetIsa) -> bool {
    match isa.triple().architecture {
        Architecture::X86_64 => has(isa, "has_avx") && has(isa, "has_fma"),
        Architecture::Aarch64(_) => true,
        _ => false,
    }
}

/// The state for the translation of a program's functions.
pub(in crate::native) struct FunctionTranslator<'a> {
    program: &'a Program,
    keep_inactive: bool,
    known: &'a [KnownUnitState],
    constants: FxHashMap<u32, u32>,
    in_memory: Vec<bool>,
    call_conv: CallConv,
    has_fma: bool,
    is_x86: bool,
    builder_context: FunctionBuilderContext,
    /// Numbers of the ALU instructions that functions evaluate by calls.
    evaluated: Vec<u32>,
}

impl<'a> FunctionTranslator<'a> {
    pub fn new(
        program: &'a Program,
        keep_inactive: bool,
        known: &'a [KnownUnitState],
        isa: &dyn TargetIsa,
    ) -> FunctionTranslator<'a> {
        FunctionTranslator {
            program,
            keep_inactive,
            known,
            constants: program.constants().iter().copied().collect(),
            in_memory: vectors_in_memory(program),
            call_conv: isa.default_call_conv(),
            has_fma: has_fma(isa),
            is_x86: isa.triple().architecture == Architecture::X86_64,
            builder_context: FunctionBuilderContext::new(),
            evaluated: Vec::new(),
        }
    }

    /// Translates a function into a context, replacing the previous one.
    fn translate_function(
        &mut self,
        context: &mut Context,
        name: u32,
        signature: ir::Signature,
        outlined: &FxHashMap<u32, usize>,
        emit: impl FnOnce(Emitter<'_, '_>),
    ) {
        context.clear();
        context.func.signature = signature;
        context.func.name = ir::UserFuncName::user(0, name);
        let function = FunctionContext {
            program: self.program,
            keep_inactive: self.keep_inactive,
            constants: &self.constants,
            known: self.known,
            outlined,
            in_memory: &self.in_memory,
            call_conv: self.call_conv,
            has_fma: self.has_fma,
            is_x86: self.is_x86,
        };
        let builder = FunctionBuilder::new(&mut context.func, &mut self.builder_context);
        emit(Emitter::new(function, builder, &mut self.evaluated));
    }

    fn translate_lookup(&mut self, context: &mut Context, number: u32) {
        let texture = &self.program.textures()[number as usize];
        let signature = lookups::outlined::signature(self.call_conv);
        self.translate_function(context, number, signature, &FxHashMap::default(), |emitter| {
            emitter.emit_lookup(texture)
        });
    }

    /// Calls `visit` with each function before it is compiled: lookups that regions call, and the regions. Returns
    /// the numbers of the ALU instructions that they evaluate by calls.
    pub fn for_each<E>(
        mut self,
        regions: &[Region],
        mut visit: impl FnMut(Option<&Region>, &mut Context) -> Result<(), E>,
    ) -> Result<Vec<u32>, E> {
        let mut context = Context::new();
        let outlined = Outlined::choose(self.program, regions, self.known, |number| {
            self.translate_lookup(&mut context, number);
            context.func.dfg.num_insts()
        });
        for &number in &outlined.instructions {
            self.translate_lookup(&mut context, number);
            visit(None, &mut context)?;
        }
        for region in regions {
            let signature = function::signature(self.call_conv);
            self.translate_function(&mut context, region.range.start, signature, &outlined.functions, |emitter| {
                emitter.emit_region(region);
            });
            visit(Some(region), &mut context)?;
        }
        Ok(self.evaluated)
    }
}
