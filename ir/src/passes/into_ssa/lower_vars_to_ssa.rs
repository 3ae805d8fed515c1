//! Turns `function_temp` variables, and elements of arrays of them, into SSA values where no run-time index is
//! involved.
//!
//! ```text
//! before (function_temp vec4[2] a):            after:
//!     %1 = deref_var &a
//!     %2 = deref_array &(*%1)[1]
//!     @store_deref (%2, %x) (wrmask=xy)            %4 = vec4 %x.x, %x.y, %0.z, %0.w   (%0 = zero)
//!     %3 = @load_deref (%2)
//!     %5 = fneg %3                                 %5 = fneg %4
//! ```
//!
//! A variable becomes values if it is a vector or an array of vectors without an initialiser, and all its uses are
//! non-volatile loads and stores of the vectors with constant indices. (Copies are lowered before, by
//! [`lower_var_copies`](mod@crate::passes::variables::lower_var_copies).)
//!
//! Corner cases:
//! - Variables start as zero.
//! - A constant index out of the range of an array: a load gives 0, a store is removed.
//! - Derefs that are no longer used are left to dead code elimination, variables to
//!   [`remove_dead_variables`](mod@crate::passes::variables::remove_dead_variables).
//!
//! Cost: linear in the accesses, plus the phis.

use cranelift_entity::{PrimaryMap, SecondaryMap};

use crate::body::{Body, Shape};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Block, Inst, Variable};
use crate::intrinsics::IntrinsicOp;
use crate::passes::into_ssa::lower_reg_intrinsics_to_ssa::merge_components;
use crate::passes::into_ssa::phi_builder::{Initial, PhiBuilder};
use crate::passes::variables::deref_tree::{ArrayStep, DerefTree, Target, vector_shape};
use crate::shader::{Shader, ShaderStage};
use crate::types::TypeTable;
use crate::variable::{Initializer, VariableData, VariableModes};

/// See the [module](self).
pub fn lower_vars_to_ssa(shader: &mut Shader) -> bool {
    let mut progress = false;
    let Shader { functions, types, variables, stage, .. } = shader;
    for body in functions.values_mut().filter_map(|f| f.body.as_mut()) {
        progress |= lower_body(body, types, variables, *stage);
    }
    progress
}

fn lower_body(
    body: &mut Body,
    types: &TypeTable,
    variables: &PrimaryMap<Variable, VariableData>,
    stage: ShaderStage,
) -> bool {
    if body.locals.is_empty() {
        return false;
    }
    let tree = DerefTree::new(body, types, variables, stage);
    let mut becomes_values: SecondaryMap<Variable, bool> = SecondaryMap::new();
    for &variable in &body.locals {
        let data = &variables[variable];
        becomes_values[variable] = data.mode == VariableModes::FUNCTION_TEMP
            && matches!(data.initializer, None | Some(Initializer::Null))
            && tree.is_followed(variable);
    }
    for node in tree.nodes.iter().filter(|node| matches!(node.step, ArrayStep::Index(_))) {
        becomes_values[node.root] = false;
    }
    // In program order.
    let mut accesses: Vec<Vec<Inst>> = vec![Vec::new(); tree.nodes.len()];
    let mut out_of_bounds: Vec<Inst> = Vec::new();
    for inst in body.blocks().flat_map(|block| body.insts(block)) {
        match body.intrinsic(inst) {
            Some(IntrinsicOp::LoadDeref | IntrinsicOp::StoreDeref) => match tree.target(body.src(inst, 0)) {
                Target::Node(node) if becomes_values[tree.node(node).root] => accesses[node as usize].push(inst),
                Target::OutOfBounds(root) if variables[root].mode == VariableModes::FUNCTION_TEMP => {
                    out_of_bounds.push(inst);
                }
                _ => {}
            },
            Some(IntrinsicOp::CopyDeref) => {
                for root in (0..2).filter_map(|source| tree.root_of(tree.target(body.src(inst, source)))) {
                    becomes_values[root] = false;
                }
            }
            _ => {}
        }
    }
    let mut phis = PhiBuilder::new(body);
    for &inst in &out_of_bounds {
        if let Some(def) = body.inst_def(inst) {
            let zero = phis.zero(body, body.shape(def));
            body.replace_all_uses(def, zero);
        }
    }
    body.remove_insts(&out_of_bounds);
    let mut progress = !out_of_bounds.is_empty();
    for (node, accesses) in tree.nodes.iter().zip(&accesses) {
        if let Some(shape) = vector_shape(types, node.ty)
            && !accesses.is_empty()
            && becomes_values[node.root]
        {
            lower_vector(body, &mut phis, shape, accesses);
            progress = true;
        }
    }
    progress
}

fn lower_vector(body: &mut Body, phis: &mut PhiBuilder, shape: Shape, accesses: &[Inst]) {
    let stores = accesses.iter().filter(|&&inst| body.inst_def(inst).is_none());
    let writers: Vec<Block> = stores.filter_map(|&inst| body.inst_block(inst)).collect();
    phis.start(shape, Initial::Zero, writers);
    for &inst in accesses {
        let Some(block) = body.inst_block(inst) else { continue };
        if let Some(def) = body.inst_def(inst) {
            let value = phis.get(body, block);
            body.replace_all_uses(def, value);
            continue;
        }
        let stored = body.src(inst, 1);
        let full = (1u32 << shape.num_components) - 1;
        let mask = body.write_mask(inst) & full;
        if mask == 0 {
            continue;
        }
        let value = if mask == full {
            stored
        } else {
            let old = phis.get(body, block);
            merge_components(&mut Builder::new(body, Cursor::Before(inst)), stored, old, mask, shape)
        };
        phis.set(block, value);
    }
    phis.finish(body);
    body.remove_insts(accesses);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alu::AluOp;
    use crate::entities::{Def, Type};
    use crate::types::ScalarType;

    struct Fixture {
        shader: Shader,
        array: Variable,
        array_type: Type,
        vector_type: Type,
    }

    fn fixture(length: u32) -> Fixture {
        let mut shader = Shader::new(ShaderStage::Compute);
        let vector_type = shader.types.vector(ScalarType::Uint, 4);
        let array_type = shader.types.array(vector_type, length);
        let main = shader.entry_point().unwrap();
        let array = shader.add_local(main, "a", array_type);
        Fixture { shader, array, array_type, vector_type }
    }

    impl Fixture {
        fn element(&self, b: &mut Builder<'_>, index: Def) -> Def {
            let root = b.deref_var(self.array, VariableModes::FUNCTION_TEMP, self.array_type);
            b.deref_array(root, index, self.vector_type)
        }
    }

    #[test]
    fn elements_by_constant_become_values() {
        let mut f = fixture(2);
        let mut shader = f.shader.clone();
        let mut b = Builder::at_end(shader.main_mut());
        let x = b.constant(32, &[1, 2, 3, 4]);
        let (one, nine) = (b.u32_const(1), b.u32_const(9));
        let to = f.element(&mut b, one);
        b.store_deref(to, x, 3);
        let outside = f.element(&mut b, nine);
        b.store_deref(outside, x, 15);
        let from = f.element(&mut b, one);
        let value = b.load_deref(from, Shape::new(4, 32));
        let kept = b.alu(AluOp::Ineg, &[value]);
        let nothing = b.load_deref(outside, Shape::new(4, 32));
        let kept_too = b.alu(AluOp::Ineg, &[nothing]);
        f.shader = shader;
        assert!(lower_vars_to_ssa(&mut f.shader));
        assert!(!lower_vars_to_ssa(&mut f.shader));
        let body = f.shader.main();
        let vec = body.def_inst(body.src(body.def_inst(kept), 0));
        assert_eq!(body.alu_op(vec), Some(AluOp::Vec4));
        assert_eq!((body.src(vec, 0), body.src(vec, 1)), (x, x));
        assert_eq!(body.def_constant(body.src(vec, 2)), Some(&[0u64; 4][..]));
        assert_eq!(body.def_constant(body.src(body.def_inst(kept_too), 0)), Some(&[0u64; 4][..]));
    }

    #[test]
    fn a_variable_index_keeps_the_array() {
        let mut f = fixture(2);
        let mut shader = f.shader.clone();
        let mut b = Builder::at_end(shader.main_mut());
        let x = b.constant(32, &[1, 2, 3, 4]);
        let index = b.undef(1, 32);
        let zero = b.u32_const(0);
        let to = f.element(&mut b, index);
        let store = b.store_deref(to, x, 15);
        let from = f.element(&mut b, zero);
        let value = b.load_deref(from, Shape::new(4, 32));
        f.shader = shader;
        assert!(!lower_vars_to_ssa(&mut f.shader));
        assert!(f.shader.main().inst_block(store).is_some() && f.shader.main().is_def_live(value));
    }
}
