//! From TGSI to the IR.
//!
//! [`to_ir`] translates a shader of any stage and era; nothing is refused that has a meaning. What comes out is the
//! stage `parsed` of the pipeline:
//!
//! * `TEMP`s are registers (`decl_reg`); those of a declared array, and all of them when some access names no array,
//!   are elements of `shader_temp` array variables. Each used component of an `ADDR` is a scalar register of its own.
//! * Inputs and outputs are variables; `driver_location` is the number of the TGSI register, `location` as
//!   [`crate::slots`] says. Outputs are collected in shadow registers (an array variable where they are addressed
//!   indirectly) and stored at the end of `main`, to which every `RET` of it leads, and at each `EMIT`; tessellation
//!   control shaders store at once, because other invocations see their outputs.
//! * Samplers and images are variables too, made on first use; buffers, shared memory and counters are addressed by
//!   number (variables of constant buffers but the first and of counters only say which ranges are declared).
//! * A shader with subroutines keeps all state in variables, because registers belong to one function; each subroutine
//!   is a function.
//! * Next to nothing is optimised: every read of what may change loads, every write stores. Swizzles stand in the
//!   sources of ALU instructions; modifiers are instructions of their own.
//!
//! Meaning where TGSI or hardware leaves it open is that of the interpreter ([`tgsi_run`]): an undeclared register
//! reads 0 and drops writes, and so does an index outside its array.
//!
//! Translation is linear in the size of the shader and uses explicit stacks only.

mod alu;
mod alu64;
mod atomics;
mod control_flow;
mod declarations;
mod destinations;
mod inputs_outputs;
mod lanes;
mod memory;
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

use tgsi::call_graph::{CallGraph, KeepSubroutines};
use tgsi::shader::Shader;
use tgsi::structure::{MalformedShader, prepared};

use control_flow::Translator;
use declarations::Context;
use usage::Usage;

/// Options of [`to_ir`].
#[derive(Clone, Debug, Default)]
pub struct ToIrOptions {
    /// Name of the shader, for prints.
    pub name: String,
    /// `KILL` and `KILL_IF` become `demote`, for targets whose derivatives need the killed lanes.
    pub kill_is_demote: bool,
    /// The subroutines that are to stay functions: they are marked (`noinline`). Without it none.
    pub keep_subroutines: Option<KeepSubroutines>,
}

/// Translates a shader.
///
/// # Errors
/// [`MalformedShader`]: blocks that do not nest, calls without target, recursion, missing operands. A shader that the
/// check passes has no errors.
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
                data.remarks.push(String::from(NO_INLINE));
            }
            functions.insert(begin, context.ir.functions.push(data));
        }
    }
    context.subroutines = functions;

    // Bodies are built outside of the shader, so that types and variables can be made at the same time.
    let mut main = Body::new();
    // What an instruction becomes at most, passes included; large shaders are less dense.
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
        remarks: Vec::new(),
        body: None,
    }
}
