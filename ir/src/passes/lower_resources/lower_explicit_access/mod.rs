//! Turns accesses to variables in memory by derefs into accesses by registers and byte offsets.
//!
//! ```text
//! type B: interface {vec4 a @0, mat4:16[8:64] m @16}
//! before:                                             after:
//!     %1 = deref_var &b (ubo B)
//!     %2 = deref_struct &%1->m
//!     %3 = deref_array &(*%2)[%i]                         %6 = imul %i, 4
//!     %4 = deref_array &(*%3)[2]
//!     %5 = @load_deref (%4)                               %5 = @load_ubo_vec4 (0, %6) (base=3)
//! ```
//!
//! | mode | becomes |
//! |---|---|
//! | `uniform` | `load_uniform`; the base is the `driver_location` in vec4 registers |
//! | `ubo` | `load_ubo`, with a run-time offset in vec4s `load_ubo_vec4`; the block is the `binding` plus the index in an array of blocks |
//! | `push_const` | the same from constant buffer 0, behind `driver_location` vec4 registers |
//! | `ssbo` | `load_ssbo`, `store_ssbo`, `ssbo_atomic`; a run-time length is computed from the size of the buffer |
//! | `shared` | `load_shared`, `store_shared`, `shared_atomic`; variables are placed behind the `shared_size` |
//!
//! In the default block (`uniform`), each scalar, vector, element and column takes a register, a 64-bit vector of more
//! than two components two; explicit layouts do not matter. In other memory, types have an explicit or the natural layout
//! (`memory_layout`). A column of a row-major matrix is accessed by components. Booleans are words: any that is not 0 is
//! true, and true is stored as all ones. A load from a block that would cross the end of a vec4 is split, so that
//! constants stay operands; so is an access to more than two components of 64 bits.
//!
//! A constant index beyond the end of an array reads zero and writes nothing. A run-time index is not checked: beyond
//! the end it may reach other parts of the buffer.
//!
//! Afterwards the accessed blocks are arrays of vec4, one variable for each block; variables in shared memory are removed,
//! the others describe the memory. The numbers of uniforms and blocks of the shader include the accessed ones.
//! Variables of samplers, images and counters are left alone, as are accesses that do not lead from a variable by fields
//! and elements. Copies are lowered before, by
//! [`lower_var_copies`](mod@crate::passes::variables::lower_var_copies).
//!
//! Cost: linear in the derefs of all accesses.

mod address;
mod emission;
mod variables;

use cranelift_entity::{PrimaryMap, SecondaryMap};

use crate::body::{Body, InstData};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Inst, Variable};
use crate::intrinsics::IntrinsicOp;
use crate::shader::Shader;
use crate::types::{TypeData, TypeTable};
use crate::variable::{VariableData, VariableModes};
use address::{Layouts, locate};
use emission::Access;
use variables::place_shared_variables;

/// The modes of memory.
const MODES: VariableModes = VariableModes(
    VariableModes::UNIFORM.0
        | VariableModes::MEM_UBO.0
        | VariableModes::MEM_PUSH_CONST.0
        | VariableModes::MEM_SSBO.0
        | VariableModes::MEM_SHARED.0,
);

/// See the [module](self).
pub fn lower_explicit_access(shader: &mut Shader) -> bool {
    if !has_memory_variables(shader) {
        return false;
    }
    let accessed = variables::accessed(shader);
    if accessed.is_empty() {
        return false;
    }
    let layouts = Layouts::new(&shader.types);
    let shared = place_shared_variables(shader, &layouts);
    let mut progress = false;
    let Shader { functions, types, variables, info, .. } = shader;
    let push_constants = 0u32.wrapping_sub(info.first_ubo_buffer());
    for body in functions.values_mut().filter_map(|function| function.body.as_mut()) {
        let context = Context { types, layouts: &layouts, variables, shared: &shared, push_constants };
        progress |= body.visit_insts(|body, inst| lower(body, &context, inst));
        if progress {
            remove_unused_derefs(body);
        }
    }
    progress | variables::finish(shader, &layouts, &accessed)
}

/// The properties of the shader that accesses depend on.
struct Context<'a> {
    types: &'a TypeTable,
    layouts: &'a Layouts,
    variables: &'a PrimaryMap<Variable, VariableData>,
    /// The offsets of variables in shared memory.
    shared: &'a SecondaryMap<Variable, Option<u32>>,
    /// The number of the block of push constants.
    push_constants: u32,
}

/// Whether the pass may have work.
pub(crate) fn has_memory_variables(shader: &Shader) -> bool {
    shader.globals_with(MODES).any(|(_, data)| is_memory(&shader.types, data))
}

/// Whether a variable is in memory that is accessed by registers or bytes.
fn is_memory(types: &TypeTable, data: &VariableData) -> bool {
    let is_data = || {
        matches!(
            types.get(types.without_arrays(data.ty)),
            TypeData::Vector { .. } | TypeData::Matrix { .. } | TypeData::Struct { .. }
        )
    };
    data.mode.intersects(MODES) && is_data()
}

/// Whether the pass lowers an intrinsic on a deref.
fn is_access(op: IntrinsicOp) -> bool {
    matches!(
        op,
        IntrinsicOp::LoadDeref
            | IntrinsicOp::StoreDeref
            | IntrinsicOp::DerefAtomic
            | IntrinsicOp::DerefAtomicSwap
            | IntrinsicOp::DerefBufferArrayLength
    )
}

fn lower(body: &mut Body, context: &Context<'_>, inst: Inst) -> bool {
    let Some(op) = body.intrinsic(inst).filter(|&op| is_access(op)) else { return false };
    let deref = body.src(inst, 0);
    if !body.deref_modes(deref).intersects(MODES) {
        return false;
    }
    let Some(address) = locate(body, context.types, context.layouts, context.variables, deref) else { return false };
    let data = &context.variables[address.variable];
    if !is_memory(context.types, data) {
        return false;
    }
    let ty = body.deref_type(deref).unwrap_or(data.ty);
    let builder = Builder::new(body, Cursor::Before(inst));
    let Some(access) = Access::new(builder, context, data, address, ty, inst) else { return false };
    match op {
        IntrinsicOp::LoadDeref => access.load(),
        IntrinsicOp::StoreDeref => access.store(),
        IntrinsicOp::DerefBufferArrayLength => access.length(),
        _ => access.atomic(op),
    }
}

/// Removes derefs of memory that no code uses.
fn remove_unused_derefs(body: &mut Body) {
    for block in body.blocks_vec().into_iter().rev() {
        for inst in body.insts_vec(block).into_iter().rev() {
            if matches!(*body.inst(inst), InstData::Deref { modes, .. } if modes.intersects(MODES))
                && body.inst_def(inst).is_some_and(|def| body.is_unused(def))
            {
                body.remove_inst(inst);
            }
        }
    }
}
