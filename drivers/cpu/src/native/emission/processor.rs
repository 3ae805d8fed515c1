//! The target processor of code, and the compilation of functions for it.

use cranelift_codegen::isa::{self, OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{CodegenError, CodegenResult, Context};
use cranelift_module::{FuncId, Module, ModuleError, ModuleReloc};

use crate::native::limits::{MAX_BACKTRACKING, MAX_FRAME};

/// Returns whether an extension of a processor may be used, by Cranelift's name.
pub(in crate::native) fn has(isa: &dyn TargetIsa, extension: &str) -> bool {
    isa.isa_flags().iter().any(|flag| flag.name == extension && flag.as_bool() == Some(true))
}

/// A processor, with each of Cranelift's register allocators.
pub(crate) struct Processor {
    backtracking: OwnedTargetIsa,
    single_pass: OwnedTargetIsa,
}

impl Processor {
    /// Creates a processor from a builder.
    ///
    /// # Errors
    /// Cranelift does not support it.
    pub fn new(builder: isa::Builder) -> CodegenResult<Processor> {
        let with = |algorithm: &str| {
            let flags = flags(algorithm).map_err(|error| CodegenError::Unsupported(error.to_string()))?;
            builder.finish(flags)
        };
        Ok(Processor { backtracking: with("backtracking")?, single_pass: with("single_pass")? })
    }

    /// Returns Cranelift's description of it.
    pub fn isa(&self) -> &OwnedTargetIsa {
        &self.backtracking
    }

    /// Compiles the function of a context. If `quick` is set, or the function is large, registers are allocated in a
    /// single pass.
    ///
    /// # Errors
    /// Cranelift rejects it, or it would use too much of the stack.
    pub fn compile(&self, context: &mut Context, quick: bool) -> CodegenResult<()> {
        let function = &context.func;
        let parameters = function.layout.blocks().map(|block| function.dfg.block_params(block).len()).sum::<usize>();
        let is_large = function.dfg.num_insts() + parameters > MAX_BACKTRACKING;
        let isa: &dyn TargetIsa = if quick || is_large { &*self.single_pass } else { &*self.backtracking };
        let code = context.compile(isa, &mut Default::default()).map_err(|error| error.inner)?;
        let frame = code.buffer.frame_layout().map_or(0, |layout| layout.frame_to_fp_offset);
        if frame > MAX_FRAME {
            return Err(CodegenError::Unsupported(format!("a frame of {frame} bytes")));
        }
        Ok(())
    }

    /// Defines a function of a module with the code that was compiled in a context.
    ///
    /// # Errors
    /// The module rejects it.
    pub fn define(&self, module: &mut impl Module, id: FuncId, context: &Context) -> Result<(), Box<ModuleError>> {
        let Some(code) = context.compiled_code() else { return Ok(()) };
        let relocations = code.buffer.relocs().iter().map(|one| ModuleReloc::from_mach_reloc(one, &context.func, id));
        let relocations: Vec<ModuleReloc> = relocations.collect();
        module.define_function_bytes(id, code.buffer.alignment.into(), code.buffer.data(), &relocations)?;
        Ok(())
    }
}

fn flags(algorithm: &str) -> Result<settings::Flags, settings::SetError> {
    let mut flags = settings::builder();
    flags.set("opt_level", "speed")?;
    flags.set("regalloc_algorithm", algorithm)?;
    flags.set("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" })?;
    // A large frame touches each of its pages, so that it cannot skip the guard page of the stack.
    flags.set("enable_probestack", "true")?;
    flags.set("probestack_strategy", "inline")?;
    flags.set("unwind_info", "false")?;
    flags.set("is_pic", "false")?;
    Ok(settings::Flags::new(flags))
}

#[cfg(test)]
mod tests {
    use cranelift_codegen::ir::{AbiParam, InstBuilder, StackSlotData, StackSlotKind, types::I64};
    use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

    use super::*;

    /// Compiles a function with a stack slot of `bytes` bytes. Returns the size of its code.
    fn compiled(bytes: u32) -> CodegenResult<usize> {
        let processor = Processor::new(cranelift_native::builder().expect("code can be made")).expect("a processor");
        let mut context = Context::new();
        context.func.signature.returns.push(AbiParam::new(I64));
        let mut builder_context = FunctionBuilderContext::new();
        let mut builder = FunctionBuilder::new(&mut context.func, &mut builder_context);
        let entry = builder.create_block();
        builder.switch_to_block(entry);
        let slot = builder.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 4));
        let address = builder.ins().stack_addr(I64, slot, 0);
        builder.ins().return_(&[address]);
        builder.seal_all_blocks();
        builder.finalize();
        processor.compile(&mut context, false)?;
        Ok(context.compiled_code().map_or(0, |code| code.code_buffer().len()))
    }

    #[test]
    fn frames_are_bounded_and_touch_their_pages() {
        let [small, large] = [64, MAX_FRAME - 64].map(|bytes| compiled(bytes).expect("it is compiled"));
        assert!(large > small + 16, "{large} bytes do not touch the pages");
        assert!(compiled(MAX_FRAME + 64).is_err());
    }
}
