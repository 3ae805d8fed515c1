//! Splits register arrays with run-time indices into plain registers, one per element, and turns indexed accesses into
//! a balanced tree of `if`s over them.
//!
//! ```text
//! 32   %9 = @decl_reg (num_components=4, num_array_elems=3, ...)     32 %10 = @decl_reg (num_components=4, num_array_elems=0, ...)
//! 32x4 %3 = @load_reg_indirect (%9, %i) (base=0)                =>   32 %11 = ...
//!                                                                    if ilt %i, 1 { ... @load_reg (%10) ... } else { ... }
//! ```
//!
//! It does for registers what [`lower_indirect_derefs`](mod@crate::passes::lower_indirects::lower_indirect_derefs) does
//! for variables, without SSA form of the elements: a long array costs no phis. An out-of-range read gives zero, and an
//! out-of-range write is dropped. Arrays without run-time indices are kept, and so are arrays with accesses that would
//! become more than [`MAX_LEAVES`].

use crate::body::{Body, Shape};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Def, Inst};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::passes::lower_indirects::index_tree::{index_tree, wide_index, zero};
use crate::passes::lower_indirects::lower_indirect_derefs::MAX_LEAVES;
use crate::shader::Shader;

/// See the [module](self). Returns whether anything changed.
pub fn lower_indirect_registers(shader: &mut Shader) -> bool {
    let mut progress = false;
    let mut leaves = 0;
    for body in shader.bodies_mut() {
        let arrays: Vec<Def> = body
            .insts(body.start_block())
            .filter(|&i| body.intrinsic(i) == Some(IntrinsicOp::DeclReg) && body.index(i, IndexKind::NumArrayElems) > 0)
            .filter_map(|i| body.inst_def(i))
            .collect();
        // Accesses, with the index of their array among the lowered ones.
        let mut accesses: Vec<(Inst, usize)> = Vec::new();
        let mut elements: Vec<Vec<Def>> = Vec::new();
        let mut arrays_gone: Vec<Inst> = Vec::new();
        for array in arrays {
            let users: Vec<Inst> = body.uses_of(array).filter_map(|u| body.user(u).inst()).collect();
            // An access other than a load or store (a parallel copy, halfway out of SSA) keeps the array.
            if !users.iter().all(|&i| is_access(body, i)) {
                continue;
            }
            let indirect = users.iter().filter(|&&i| is_indirect(body, i)).count() as u64;
            let length = body.index(body.def_inst(array), IndexKind::NumArrayElems) as u32;
            let more = indirect.saturating_mul(u64::from(length));
            if indirect == 0 || leaves + more > MAX_LEAVES {
                continue;
            }
            leaves += more;
            let shape = body.register_shape(array);
            let cursor = Cursor::Before(body.def_inst(array));
            let declare = |_| Builder::new(body, cursor).decl_reg(shape, 0);
            elements.push((0..length).map(declare).collect());
            arrays_gone.push(body.def_inst(array));
            accesses.extend(users.into_iter().map(|i| (i, elements.len() - 1)));
            progress = true;
        }
        if accesses.is_empty() {
            continue;
        }
        let mut array_of = cranelift_entity::SecondaryMap::<Inst, u32>::new();
        for &(inst, number) in &accesses {
            array_of[inst] = number as u32 + 1;
        }
        // Each indexed access splits its block: from the last to the first, the code after a split is moved only once.
        for block in body.blocks_vec().into_iter().rev() {
            for inst in body.insts_vec(block).into_iter().rev() {
                if let Some(number) = array_of[inst].checked_sub(1) {
                    lower(body, inst, &elements[number as usize]);
                }
            }
        }
        body.remove_insts(&arrays_gone);
    }
    progress
}

fn is_access(body: &Body, inst: Inst) -> bool {
    is_indirect(body, inst) || matches!(body.intrinsic(inst), Some(IntrinsicOp::LoadReg | IntrinsicOp::StoreReg))
}

fn is_indirect(body: &Body, inst: Inst) -> bool {
    matches!(body.intrinsic(inst), Some(IntrinsicOp::LoadRegIndirect | IntrinsicOp::StoreRegIndirect))
}

/// Lowers an access to an array split into these registers.
fn lower(body: &mut Body, inst: Inst, elements: &[Def]) {
    let base = i64::from(body.index(inst, IndexKind::Base));
    let index = is_indirect(body, inst).then(|| body.src(inst, body.num_sources(inst) - 1));
    let result = body.inst_def(inst);
    let mut b = Builder::new(body, Cursor::Before(inst));
    let mut access = |b: &mut Builder<'_>, element: Option<i64>| {
        let register = element.and_then(|e| elements.get(usize::try_from(base + e).ok()?)).copied();
        access_element(b, inst, register)
    };
    let value = match index {
        Some(index) => {
            let index = wide_index(&mut b, index);
            index_tree(&mut b, index, 1, -base..=elements.len() as i64 - 1 - base, &mut access)
        }
        None => access(&mut b, Some(0)),
    };
    if let (Some(result), Some(value)) = (result, value) {
        body.replace_all_uses(result, value);
    }
    body.remove_inst(inst);
}

/// Emits the access to one register, or to none.
fn access_element(b: &mut Builder<'_>, inst: Inst, register: Option<Def>) -> Option<Def> {
    let carry = |b: &mut Builder<'_>, new: Inst, kinds: &[IndexKind]| {
        for &kind in kinds {
            let value = b.body.index(inst, kind);
            b.body.set_index(new, kind, value);
        }
    };
    let Some(result) = b.body.inst_def(inst) else {
        let (value, mask) = (b.body.src(inst, 0), b.body.write_mask(inst));
        let store = b.store_reg(value, register?, 0, mask);
        carry(b, store, &[IndexKind::LegacyFsat]);
        return None;
    };
    let Some(register) = register else {
        let shape: Shape = b.body.shape(result);
        return Some(zero(b, shape));
    };
    let value = b.load_reg(register, 0);
    let load = b.body.def_inst(value);
    carry(b, load, &[IndexKind::LegacyFabs, IndexKind::LegacyFneg]);
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::run;
    use crate::shader::ShaderStage;
    use crate::types::ScalarType;
    use crate::validate::validate;
    use crate::variable::{VariableData, VariableModes};
    use tgsi_environment::{AnalyticResources, Inputs, RunLimits};

    /// Builds a shader that puts 1, 2, 3 into an array and 9 into element `write`. Its two outputs are -|element
    /// `read`| and the three elements as a number.
    fn shader(write: i32, read: i32) -> Shader {
        let mut shader = Shader::new(ShaderStage::Vertex);
        let float = shader.types.vector(ScalarType::Float, 1);
        let out = VariableModes::SHADER_OUT;
        let outs: Vec<_> = (0..2)
            .map(|n| {
                let mut data = VariableData::new(format!("out_{n}"), float, out);
                data.driver_location = n;
                shader.add_variable(data)
            })
            .collect();
        let mut b = Builder::at_start(shader.main_mut());
        let array = b.decl_reg(Shape::new(1, 32), 3);
        let mut b = Builder::at_end(shader.main_mut());
        // The vertex number is 0 in the runs below, which the passes cannot determine.
        let id = b.intrinsic_def(IntrinsicOp::LoadVertexId, &[], &[], Shape::new(1, 32));
        for n in 0..3 {
            let value = b.f32_const((n + 1) as f32);
            b.store_reg(value, array, n, 1);
        }
        let nine = b.f32_const(9.0);
        // The base is one too high, which the index compensates.
        let index = b.i32_const(write - 1);
        let index = b.alu(crate::alu::AluOp::Iadd, &[id, index]);
        b.store_reg_indirect(nine, array, index, 1, 1);
        let index = b.i32_const(read - 2);
        let index = b.alu(crate::alu::AluOp::Iadd, &[id, index]);
        let found = b.load_reg_indirect(array, index, 2);
        let load = b.body.def_inst(found);
        b.body.set_index(load, IndexKind::LegacyFabs, 1);
        b.body.set_index(load, IndexKind::LegacyFneg, 1);
        let mut sum = b.f32_const(0.0);
        for n in 0..3 {
            let ten = b.f32_const(10.0);
            let value = b.load_reg(array, n);
            sum = b.alu(crate::alu::AluOp::Fmul, &[sum, ten]);
            sum = b.alu(crate::alu::AluOp::Fadd, &[sum, value]);
        }
        for (variable, value) in outs.into_iter().zip([found, sum]) {
            let deref = b.deref_var(variable, out, float);
            b.store_deref(deref, value, 1);
        }
        shader
    }

    #[test]
    fn elements_inside_and_outside() {
        for write in [0, 1, 2, 3, -1, i32::MAX] {
            for read in [0, 1, 2, 3, -1, i32::MIN + 2] {
                let mut shader = shader(write, read);
                validate(&shader).expect("valid");
                assert!(lower_indirect_registers(&mut shader));
                validate(&shader).expect("valid");
                assert!(!lower_indirect_registers(&mut shader));
                let body = shader.main();
                assert!(!body.blocks().flat_map(|b| body.insts(b)).any(|i| is_indirect(body, i)));
                let mut table = [1.0, 2.0, 3.0f32];
                if let Some(element) = usize::try_from(write).ok().and_then(|n| table.get_mut(n)) {
                    *element = 9.0;
                }
                let found = usize::try_from(read).ok().and_then(|n| table.get(n)).map_or(0.0, |v| -v);
                let sum = table.iter().fold(0.0, |sum, value| sum * 10.0 + value);
                let inputs = Inputs { lanes: 1, ..Inputs::default() };
                let outputs = run(&shader, &inputs, &mut AnalyticResources::default(), RunLimits::default()).unwrap();
                let results = [0, 1].map(|register| f32::from_bits(outputs.outputs.get(register, 0, 0)));
                assert_eq!(results, [found, sum], "{write} {read}");
            }
        }
    }

    #[test]
    fn an_array_without_indices_stays() {
        let mut shader = Shader::new(ShaderStage::Vertex);
        let mut b = Builder::at_start(shader.main_mut());
        let array = b.decl_reg(Shape::new(1, 32), 3);
        let value = b.f32_const(1.0);
        b.store_reg(value, array, 2, 1);
        assert!(!lower_indirect_registers(&mut shader));
    }
}
