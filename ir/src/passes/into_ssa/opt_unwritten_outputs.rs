//! Removes writes to outputs of values that the program never wrote.
//!
//! ```text
//! before:                                               after:
//!     %1 = load_const (0, 0)        // initial              %1 = load_const (0, 0)
//!     %2 = vec4 %x.x, %x.y, %1.x, %1.y                      %2 = vec4 %x.x, %x.y, %1.x, %1.y
//!     @store_deref (&out_0, %2) (wrmask=xyzw)               @store_deref (&out_0, %2) (wrmask=xy)
//! ```
//!
//! Registers, variables and outputs start as zero: an output that is assigned the initial value of a register, and was
//! not written before, is zero without the store. IR text cannot distinguish an initial zero from one that the program
//! wrote; stores of the latter are kept. So the passes that turn registers and variables into values mark initial
//! values ([`INITIAL`]), including those for out-of-range reads of arrays, and this pass, which runs right after them,
//! clears the marks.
//!
//! Only in stages with outputs that are read at the end and by no other invocation, and only where outputs are stored
//! by name. In a body with loops a component must have no other store at all; without loops, no earlier one.
//!
//! Linear: copies and vectors are followed for at most `LONGEST_CHAIN` steps.

use cranelift_entity::SecondaryMap;

use crate::alu::AluOp;
use crate::body::{Body, DerefKind, InstData};
use crate::entities::{Def, Inst, Variable};
use crate::intrinsics::IntrinsicOp;
use crate::shader::{Shader, ShaderStage};
use crate::variable::VariableModes;

/// Flag of a constant that is the initial value of a register or variable ([`Body::set_pass_flags`]).
pub const INITIAL: u8 = 2;

/// Maximum number of copies and vectors to follow between a store and a constant.
const LONGEST_CHAIN: usize = 32;

/// See the [module](self).
pub fn opt_unwritten_outputs(shader: &mut Shader) -> bool {
    let sees_the_end = matches!(shader.stage, ShaderStage::Vertex | ShaderStage::TessEval | ShaderStage::Fragment);
    // A call may write outputs.
    let is_alone = shader.functions.values().filter(|f| f.body.is_some()).count() == 1;
    let mut progress = false;
    for body in shader.bodies_mut() {
        let start = body.start_block();
        let marked: Vec<Inst> = body.insts(start).filter(|&inst| is_initial(body, inst)).collect();
        if marked.is_empty() {
            continue;
        }
        if sees_the_end && is_alone {
            progress |= drop_stores(body);
        }
        for inst in marked {
            body.set_pass_flags(inst, 0);
        }
    }
    progress
}

fn is_initial(body: &Body, inst: Inst) -> bool {
    matches!(body.inst(inst), InstData::LoadConst { .. }) && body.pass_flags(inst) == INITIAL
}

/// Facts about an output.
#[derive(Clone, Copy, Default)]
struct Output {
    /// It is accessed other than by its name, or copied.
    is_hidden: bool,
    /// Components with more than one store.
    again: u32,
    /// Components written so far.
    written: u32,
}

/// Returns the output that a store names.
fn stored_output(body: &Body, inst: Inst) -> Option<Variable> {
    if body.intrinsic(inst) != Some(IntrinsicOp::StoreDeref) {
        return None;
    }
    named_output(body, body.def_inst(body.src(inst, 0)))
}

fn named_output(body: &Body, inst: Inst) -> Option<Variable> {
    match *body.inst(inst) {
        InstData::Deref { kind: DerefKind::Var(variable), modes, .. } if modes == VariableModes::SHADER_OUT => {
            Some(variable)
        }
        _ => None,
    }
}

fn drop_stores(body: &mut Body) -> bool {
    let mut outputs: SecondaryMap<Variable, Output> = SecondaryMap::new();
    let mut stores = Vec::new();
    for inst in body.blocks().flat_map(|block| body.insts(block)) {
        if matches!(body.inst(inst), InstData::Intrinsic { op: IntrinsicOp::StoreOutput, .. }) {
            return false;
        }
        if let (Some(variable), Some(def)) = (named_output(body, inst), body.inst_def(inst)) {
            outputs[variable].is_hidden |= !body.uses_of(def).all(|source| {
                body.source_number(source) == 0
                    && body.user(source).inst().is_some_and(|user| {
                        matches!(body.intrinsic(user), Some(IntrinsicOp::StoreDeref | IntrinsicOp::LoadDeref))
                    })
            });
        }
        if let Some(variable) = stored_output(body, inst) {
            let mask = body.write_mask(inst);
            let output = &mut outputs[variable];
            output.again |= output.written & mask;
            output.written |= mask;
            stores.push((inst, variable));
        }
    }
    let has_loops = body.num_loops() != 0;
    for (_, variable) in &stores {
        let output = &mut outputs[*variable];
        output.written = if has_loops { output.again } else { 0 };
    }
    let mut progress = false;
    for (store, variable) in stores {
        let mask = body.write_mask(store);
        let output = &mut outputs[variable];
        let value = body.src(store, 1);
        let dropped = (0..u32::from(body.num_components(value)))
            .filter(|&c| mask & !output.written & 1 << c != 0 && comes_from_initial(body, value, c as u8))
            .fold(0, |dropped, c| dropped | 1 << c);
        output.written |= mask & !dropped;
        if dropped == 0 || output.is_hidden {
            continue;
        }
        progress = true;
        if mask == dropped {
            body.remove_inst(store);
        } else {
            body.set_write_mask(store, mask & !dropped);
        }
    }
    progress
}

/// Returns whether a component is an initial value.
fn comes_from_initial(body: &Body, value: Def, component: u8) -> bool {
    let (mut def, mut component) = (value, component);
    for _ in 0..LONGEST_CHAIN {
        let inst = body.def_inst(def);
        let source = match body.alu_op(inst) {
            Some(AluOp::Mov) => body.source(inst, 0),
            Some(op) if op.is_vec() => body.source(inst, usize::from(component)),
            _ => return is_initial(body, inst),
        };
        let selected = if body.alu_op(inst) == Some(AluOp::Mov) { component } else { 0 };
        component = body.swizzle(source).get(usize::from(selected));
        def = body.src_def(source);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::{lower_reg_intrinsics_to_ssa, opt_dce};
    use crate::validate::validate;
    use crate::{Builder, Shape};

    /// Builds a vertex shader that stores to outputs a register with only x written, and then a zero that the program
    /// wrote.
    fn shader() -> (Shader, Inst, Inst) {
        let mut shader = Shader::new(ShaderStage::Vertex);
        let ty = shader.types.vector(crate::types::ScalarType::Float, 4);
        let outputs = [0, 1].map(|i| {
            shader.add_variable(crate::variable::VariableData::new(format!("out_{i}"), ty, VariableModes::SHADER_OUT))
        });
        let mut b = Builder::at_end(shader.main_mut());
        let register = b.decl_reg(Shape::new(4, 32), 0);
        let x = b.constant(32, &[1, 2, 3, 4]);
        b.store_reg(x, register, 0, 1);
        let value = b.load_reg(register, 0);
        let deref = b.deref_var(outputs[0], VariableModes::SHADER_OUT, ty);
        let partly = b.store_deref(deref, value, 15);
        let zero = b.constant(32, &[0; 4]);
        let deref = b.deref_var(outputs[1], VariableModes::SHADER_OUT, ty);
        let whole = b.store_deref(deref, zero, 15);
        (shader, partly, whole)
    }

    #[test]
    fn what_the_program_writes_stays() {
        let (mut shader, partly, whole) = shader();
        assert!(!opt_unwritten_outputs(&mut shader));
        lower_reg_intrinsics_to_ssa(&mut shader);
        assert!(opt_unwritten_outputs(&mut shader));
        assert!(!opt_unwritten_outputs(&mut shader));
        opt_dce(&mut shader);
        validate(&shader).unwrap();
        let body = shader.main();
        assert_eq!(body.write_mask(partly), 1);
        assert_eq!(body.write_mask(whole), 15);
    }

    #[test]
    fn outputs_that_others_see_are_written() {
        let (mut shader, partly, _) = shader();
        shader.stage = ShaderStage::TessCtrl;
        lower_reg_intrinsics_to_ssa(&mut shader);
        assert!(!opt_unwritten_outputs(&mut shader));
        assert_eq!(shader.main().write_mask(partly), 15);
    }
}
