//! Converts TGSI to the IR.
//!
//! [`to_ir`] translates a shader of any stage and era, and rejects none that has a meaning. The result is the stage
//! `parsed` of the pipeline:
//!
//! * `TEMP`s are registers (`decl_reg`); those of a declared array, or all of them if some access has no array number,
//!   are elements of `shader_temp` array variables. Each used component of an `ADDR` is a scalar register.
//! * Inputs and outputs are variables; `driver_location` is the number of the TGSI register, `location` is defined by
//!   [`crate::slots`]. Outputs are collected in shadow registers (an array variable if they are addressed indirectly)
//!   and stored at each `EMIT` and at the end of `main`, to which its `RET`s jump. Tessellation control shaders store
//!   immediately, because other invocations can read their outputs.
//! * Samplers and images are variables too, created on first use; buffers, shared memory and counters are addressed by
//!   number (the variables of counters and of constant buffers other than the first only describe the declared ranges).
//! * A shader with subroutines keeps all state in variables, because registers belong to one function; each subroutine
//!   becomes a function.
//! * Almost nothing is optimised: every read of mutable state loads, every write stores. Swizzles are part of the
//!   sources of ALU instructions; modifiers are separate instructions.
//!
//! Meaning where TGSI or hardware leaves it open is that of the interpreter (`tgsi-run`): an undeclared register
//! reads 0 and drops writes, and so does an index outside its array.
//!
//! Translation takes linear time and uses explicit stacks only.

mod alu;
mod alu64;
mod atomics;
mod computed_lanes;
mod control_flow;
mod declarations;
mod destinations;
mod inputs_outputs;
mod io_accesses;
mod lanes;
mod memory;
pub mod opcodes;
mod packing;
mod properties;
pub mod slots;
mod sources;
#[cfg(test)]
mod tests;
mod texture_queries;
mod textures;
mod usage;

use hashbrown::HashMap;

use tgsi_ir::shader::{FunctionData, NO_INLINE};
use tgsi_ir::{Body, Shader as IrShader};

use tgsi::MalformedShader;
use tgsi::internals::{CallGraph, prepared};
use tgsi::shader::Shader;

pub use tgsi::internals::InliningThresholds;

use control_flow::Translator;
use declarations::Context;
use usage::Usage;

/// Options of [`to_ir`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ToIrOptions {
    /// Name of the shader, for prints.
    pub name: String,
    /// `KILL` and `KILL_IF` become `demote`, for targets that need the killed lanes for derivatives.
    pub kill_is_demote: bool,
    /// Which subroutines are kept as functions, marked `noinline`; none if all are inlined.
    pub keep_subroutines: Option<InliningThresholds>,
}

impl ToIrOptions {
    /// Returns the options with [`keep_subroutines`](Self::keep_subroutines).
    #[must_use]
    pub fn with_keep_subroutines(self, keep_subroutines: Option<InliningThresholds>) -> ToIrOptions {
        ToIrOptions { keep_subroutines, ..self }
    }
}

/// Translates a shader.
///
/// # Errors
/// [`MalformedShader`]: blocks that do not nest, calls without target, recursion, missing operands. A shader that
/// passes the check has no errors.
pub fn to_ir(shader: &Shader, options: &ToIrOptions) -> Result<IrShader, MalformedShader> {
    let structure = prepared(shader)?;
    let usage = Usage::of(shader, &structure);
    let subroutines = structure.subroutines.clone();
    let mut context = Context::new(shader, options, structure, usage);
    context.fill_info();
    context.declare_buffers();
    context.declare_inputs_and_outputs();

    let mut functions = HashMap::new();
    if context.usage.calls {
        let inlining = options.keep_subroutines.and_then(|keep| {
            let graph = CallGraph::new(shader, &context.structure)?;
            Some(graph.inlining(&context.structure.sizes(), Some(keep)))
        });
        for (position, &(begin, _)) in subroutines.iter().enumerate() {
            let mut data = subroutine(begin);
            if inlining.as_ref().is_some_and(|inlining| inlining.stays[position]) {
                data.attributes.push(String::from(NO_INLINE));
            }
            functions.insert(begin, context.ir.functions.push(data));
        }
    }
    context.subroutines = functions;

    // Bodies are built outside the shader, so that types and variables can be created at the same time.
    let mut main = Body::new();
    // Upper bound of the expansion of an instruction, passes included; large shaders are less dense.
    let count = shader.instructions.len();
    main.reserve_insts((12 * count).min(6 * count + 100_000));
    let mut translator = Translator::main(&mut context, &mut main);
    translator.declare_registers();
    translator.translate(0, shader.instructions.len() as u32);
    *context.ir.main_mut() = main;

    for (begin, end) in subroutines {
        let Some(&function) = context.subroutines.get(&begin) else { continue };
        let mut body = Body::new();
        Translator::subroutine(&mut context, &mut body).translate(begin + 1, end);
        context.ir.functions[function].body = Some(body);
    }
    context.finish_info();
    Ok(context.ir)
}

fn subroutine(begin: u32) -> FunctionData {
    FunctionData {
        name: format!("sub_{begin}"),
        parameters: Vec::new(),
        is_entry_point: false,
        is_exported: false,
        attributes: Vec::new(),
        body: None,
    }
}
