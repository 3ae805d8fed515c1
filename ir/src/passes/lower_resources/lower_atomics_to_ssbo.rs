//! Turns atomic counters into words of storage buffers, for targets without counters.
//!
//! ```text
//! 32 %1 = @atomic_counter_inc (%0) (base=1, range_base=4)         =>     32 %2 = iadd %0, 4
//!                                                                        32 %1 = @ssbo_atomic (1, %2, 1) (atomic_op=iadd)
//!
//! 32 %1 = @atomic_counter_pre_dec_deref (&counters[i])            =>     32 %2 = imul %i, 4
//!                                                                        32 %3 = @ssbo_atomic (b, %2, -1) (atomic_op=iadd)
//!                                                                        32 %1 = iadd %3, -1
//! ```
//!
//! The counters of binding b become storage buffer b. Each buffer of counters gets one variable, which replaces those
//! of the counters. Reading a counter becomes a load. A pre-decrement subtracts one from the returned old value, even
//! if the counter does not exist and the old value reads as 0.
//!
//! Counters with a deref that does not lead to a variable are kept. Cost: linear in the accesses times the lengths of
//! their paths.

use std::collections::BTreeMap;

use cranelift_entity::{PrimaryMap, SecondaryMap};

use crate::alu::AluOp;
use crate::body::{Body, DerefKind, InstData, Shape};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Def, Inst, Variable};
use crate::intrinsics::indices::AtomicOp;
use crate::intrinsics::{IndexKind, IntrinsicKind, IntrinsicOp};
use crate::shader::Shader;
use crate::types::{ScalarType, TypeData, TypeTable};
use crate::variable::{VariableData, VariableModes};

/// See the [module](self).
pub fn lower_atomics_to_ssbo(shader: &mut Shader) -> bool {
    let mut progress = false;
    let mut writes = false;
    let Shader { functions, types, variables, .. } = shader;
    for body in functions.values_mut().filter_map(|f| f.body.as_mut()) {
        let mut derefs: Vec<Inst> = Vec::new();
        progress |= body.visit_insts(|body, inst| {
            let Some(op) = body.intrinsic(inst).filter(|op| op.info().kind == IntrinsicKind::AtomicCounter) else {
                return false;
            };
            let Some(address) = address_of(body, types, variables, inst, op) else { return false };
            if is_by_deref(op) {
                derefs.push(body.def_inst(body.src(inst, 0)));
            }
            writes |= lower(body, inst, op, address);
            true
        });
        for deref in derefs {
            remove_unused(body, deref);
        }
    }
    if !progress {
        return false;
    }
    replace_variables(shader);
    shader.info.writes_memory |= writes;
    true
}

/// Returns whether a deref names the counter.
fn is_by_deref(op: IntrinsicOp) -> bool {
    op.info().index_slot(IndexKind::RangeBase).is_none()
}

/// The location of a counter: its binding, and its byte offset.
struct Address {
    binding: u32,
    /// The constant part of the byte offset.
    first: u32,
    /// Run-time array indices, each with the size of an element in bytes.
    indices: Vec<(Def, u32)>,
}

fn address_of(
    body: &Body,
    types: &TypeTable,
    variables: &PrimaryMap<Variable, VariableData>,
    inst: Inst,
    op: IntrinsicOp,
) -> Option<Address> {
    if !is_by_deref(op) {
        let (base, first) = (body.index(inst, IndexKind::Base), body.index(inst, IndexKind::RangeBase));
        return Some(Address { binding: base as u32, first: first as u32, indices: vec![(body.src(inst, 0), 1)] });
    }
    let mut indices = Vec::new();
    let mut deref = body.def_inst(body.src(inst, 0));
    loop {
        match *body.inst(deref) {
            InstData::Deref { kind: DerefKind::Var(variable), .. } => {
                let data = &variables[variable];
                // Each counter takes four bytes.
                return Some(Address { binding: data.binding, first: data.driver_location.wrapping_mul(4), indices });
            }
            InstData::Deref { kind: DerefKind::Array, ty, .. } => {
                indices.push((body.src(deref, 1), types.array_elements(ty).wrapping_mul(4)));
                deref = body.def_inst(body.src(deref, 0));
            }
            _ => return None,
        }
    }
}

/// Lowers an access. Returns whether it writes.
fn lower(body: &mut Body, inst: Inst, op: IntrinsicOp, address: Address) -> bool {
    use IntrinsicOp as I;
    let Some(def) = body.inst_def(inst) else { return false };
    let operands: Vec<Def> = (1..body.num_sources(inst)).map(|number| body.src(inst, number)).collect();
    let mut b = Builder::new(body, Cursor::Before(inst));
    let buffer = b.u32_const(address.binding);
    let offset = offset(&mut b, &address);
    let shape = Shape::new(1, 32);
    let (atomic, constant) = match op {
        I::AtomicCounterRead | I::AtomicCounterReadDeref => {
            let indices = [(IndexKind::AlignMul, 4)];
            let value = b.intrinsic_def(I::LoadSsbo, &[buffer, offset], &indices, shape);
            body.replace_all_uses(def, value);
            body.remove_inst(inst);
            return false;
        }
        I::AtomicCounterInc | I::AtomicCounterIncDeref => (AtomicOp::Iadd, Some(1)),
        I::AtomicCounterPreDec
        | I::AtomicCounterPreDecDeref
        | I::AtomicCounterPostDec
        | I::AtomicCounterPostDecDeref => (AtomicOp::Iadd, Some(u32::MAX)),
        I::AtomicCounterAdd | I::AtomicCounterAddDeref => (AtomicOp::Iadd, None),
        I::AtomicCounterMin | I::AtomicCounterMinDeref => (AtomicOp::Umin, None),
        I::AtomicCounterMax | I::AtomicCounterMaxDeref => (AtomicOp::Umax, None),
        I::AtomicCounterAnd | I::AtomicCounterAndDeref => (AtomicOp::Iand, None),
        I::AtomicCounterOr | I::AtomicCounterOrDeref => (AtomicOp::Ior, None),
        I::AtomicCounterXor | I::AtomicCounterXorDeref => (AtomicOp::Ixor, None),
        I::AtomicCounterExchange | I::AtomicCounterExchangeDeref => (AtomicOp::Xchg, None),
        I::AtomicCounterCompSwap | I::AtomicCounterCompSwapDeref => (AtomicOp::Cmpxchg, None),
        _ => return false,
    };
    let constant = constant.map(|value| b.u32_const(value));
    let sources: Vec<Def> = [buffer, offset].into_iter().chain(constant).chain(operands).collect();
    let ssbo = if atomic.is_swap() { I::SsboAtomicSwap } else { I::SsboAtomic };
    let mut value = b.intrinsic_def(ssbo, &sources, &[(IndexKind::AtomicOp, atomic as i32)], shape);
    if let (I::AtomicCounterPreDec | I::AtomicCounterPreDecDeref, Some(minus_one)) = (op, constant) {
        value = b.alu(AluOp::Iadd, &[value, minus_one]);
    }
    body.replace_all_uses(def, value);
    body.remove_inst(inst);
    true
}

/// Emits the byte offset of a counter.
fn offset(b: &mut Builder<'_>, address: &Address) -> Def {
    let mut known = address.first;
    let mut sum: Option<Def> = None;
    for &(index, bytes) in &address.indices {
        if let Some(constant) = b.body.constant_component(index, 0) {
            known = known.wrapping_add((constant as u32).wrapping_mul(bytes));
            continue;
        }
        let mut part = index;
        if bytes != 1 {
            let bytes = b.u32_const(bytes);
            part = b.alu(AluOp::Imul, &[index, bytes]);
        }
        sum = Some(sum.map_or(part, |sum| b.alu(AluOp::Iadd, &[sum, part])));
    }
    match sum {
        Some(sum) if known == 0 => sum,
        Some(sum) => {
            let known = b.u32_const(known);
            b.alu(AluOp::Iadd, &[sum, known])
        }
        None => b.u32_const(known),
    }
}

/// Removes an unused deref, and then those that lead to it.
fn remove_unused(body: &mut Body, mut deref: Inst) {
    while body.inst_block(deref).is_some()
        && let InstData::Deref { kind, .. } = *body.inst(deref)
        && body.inst_def(deref).is_some_and(|def| body.is_unused(def))
    {
        let parent = (!matches!(kind, DerefKind::Var(_))).then(|| body.def_inst(body.src(deref, 0)));
        body.remove_inst(deref);
        let Some(parent) = parent else { break };
        deref = parent;
    }
}

/// Adds a variable for each buffer of counters, and removes unused variables of counters.
fn replace_variables(shader: &mut Shader) {
    let is_counter = |types: &TypeTable, data: &VariableData| {
        data.mode == VariableModes::UNIFORM
            && matches!(types.get(types.without_arrays(data.ty)), TypeData::AtomicCounter)
    };
    let mut ends: BTreeMap<u32, u32> = BTreeMap::new();
    for (_, data) in shader.globals_with(VariableModes::UNIFORM) {
        if is_counter(&shader.types, data) {
            let end = data.driver_location.saturating_add(shader.types.array_elements(data.ty));
            let known = ends.entry(data.binding).or_default();
            *known = (*known).max(end);
        }
    }
    for (&binding, &end) in &ends {
        let word = shader.types.vector(ScalarType::Uint, 1);
        let ty = shader.types.intern(TypeData::Array { element: word, length: end, stride: 4 });
        let mut data = VariableData::new(format!("counter{binding}"), ty, VariableModes::MEM_SSBO);
        data.binding = binding;
        data.driver_location = data.binding;
        shader.add_variable(data);
    }
    let mut used: SecondaryMap<Variable, bool> = SecondaryMap::new();
    for body in shader.functions.values().filter_map(|f| f.body.as_ref()) {
        for inst in body.blocks().flat_map(|block| body.insts(block)) {
            if let InstData::Deref { kind: DerefKind::Var(variable), .. } = *body.inst(inst) {
                used[variable] = true;
            }
        }
    }
    let Shader { globals, variables, types, .. } = shader;
    globals.retain(|&variable| {
        let stays = used[variable] || !is_counter(types, &variables[variable]);
        if !stays {
            variables[variable].mode = VariableModes::NONE;
        }
        stays
    });
    shader.info.num_ssbos = shader.info.num_ssbos.max(shader.info.num_abos);
    if !shader.globals_with(VariableModes::UNIFORM).any(|(_, data)| is_counter(&shader.types, data)) {
        shader.info.num_abos = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alu::AluType;
    use crate::passes::tests::random_shaders::Random;
    use crate::run::run;
    use crate::shader::ShaderStage;
    use crate::text::print;
    use crate::validate::validate;
    use tgsi_environment::{AnalyticResources, Inputs, LaneRegisters, Outputs, RunLimits};

    const LANES: usize = 4;
    const OUTPUTS: usize = 40;

    fn is_counter_op(op: IntrinsicOp) -> bool {
        op.info().kind == IntrinsicKind::AtomicCounter
    }

    fn random_program(seed: u64) -> Shader {
        let random = &mut Random::new(seed);
        let mut shader = Shader::new(ShaderStage::Vertex);
        shader.info.num_abos = 2;
        let counter = shader.types.intern(TypeData::AtomicCounter);
        let row = shader.types.array(counter, 2);
        let grid = shader.types.array(row, 2);
        let variables: Vec<(Variable, Vec<crate::entities::Type>)> =
            [(vec![counter], 0, 1), (vec![row, counter], 1, 0), (vec![grid, row, counter], 1, 2)]
                .into_iter()
                .map(|(types, binding, first)| {
                    let mut data = VariableData::new("counters", types[0], VariableModes::UNIFORM);
                    (data.binding, data.driver_location) = (binding, first);
                    (shader.add_variable(data), types)
                })
                .collect();
        let mut b = Builder::at_end(shader.main_mut());
        let zero = b.u32_const(0);
        let lane = b.intrinsic_def(IntrinsicOp::LoadInput, &[zero], &[], Shape::new(1, 32));
        let mut values = vec![lane];
        let ops: Vec<IntrinsicOp> = IntrinsicOp::ALL.iter().copied().filter(|&op| is_counter_op(op)).collect();
        for register in 0..OUTPUTS as i32 {
            let op = ops[random.below(ops.len())];
            let one = b.u32_const(1);
            let bit = b.alu(AluOp::Iand, &[lane, one]);
            let mut index = |b: &mut Builder<'_>| {
                if random.below(2) == 0 {
                    return bit;
                }
                let value = random.below(2) as u32;
                b.u32_const(value)
            };
            let (address, indices) = if is_by_deref(op) {
                let number = index(&mut b);
                let number = b.body.constant_component(number, 0).map_or(2, |value| value as usize);
                let (variable, types) = &variables[number];
                let mut deref = b.deref_var(*variable, VariableModes::UNIFORM, types[0]);
                for &ty in &types[1..] {
                    let index = index(&mut b);
                    deref = b.deref_array(deref, index, ty);
                }
                (deref, vec![])
            } else {
                let (index, four) = (index(&mut b), b.u32_const(4));
                let bytes = b.alu(AluOp::Imul, &[index, four]);
                let binding = (register & 1, 4 * (register & 3));
                (bytes, vec![(IndexKind::Base, binding.0), (IndexKind::RangeBase, binding.1)])
            };
            let count = op.info().src_components.len();
            let mut sources = vec![address];
            sources.extend((1..count).map(|_| values[random.below(values.len())]));
            let value = b.intrinsic_def(op, &sources, &indices, Shape::new(1, 32));
            values.push(value);
            let ty = AluType::UINT32.to_i32();
            let indices = [(IndexKind::Base, register), (IndexKind::WriteMask, 1), (IndexKind::SrcType, ty)];
            b.intrinsic(IntrinsicOp::StoreOutput, &[value, zero], &indices, None);
        }
        shader
    }

    fn outcome(shader: &Shader) -> Outputs {
        let mut inputs = Inputs { lanes: LANES, inputs: LaneRegisters::new(LANES, 1), ..Inputs::default() };
        (0..LANES).for_each(|lane| inputs.inputs.set(0, 0, lane, lane as u32));
        inputs.counters = vec![vec![5, 0, 7, 0xffff_ffff, 3], vec![1, 2, 0, 0x8000_0000, 9, 6]];
        inputs.buffers =
            inputs.counters.iter().map(|words| words.iter().flat_map(|w| w.to_le_bytes()).collect()).collect();
        run(shader, &inputs, &mut AnalyticResources::default(), RunLimits::default()).expect("runs")
    }

    #[test]
    fn random_counters() {
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..200 {
            let before = random_program(seed);
            validate(&before).unwrap_or_else(|errors| panic!("seed {seed}: {errors}"));
            let mut after = before.clone();
            assert!(lower_atomics_to_ssbo(&mut after));
            validate(&after).unwrap_or_else(|errors| panic!("seed {seed}: {errors}\n{}", print(&after)));
            let (expected, found) = (outcome(&before), outcome(&after));
            assert_eq!(expected.outputs, found.outputs, "seed {seed}\n{}\n{}", print(&before), print(&after));
            for (number, counters) in expected.counters.iter().enumerate() {
                let bytes: Vec<u8> = counters.iter().flat_map(|word| word.to_le_bytes()).collect();
                assert_eq!(bytes, found.buffers[number], "seed {seed}, buffer {number}");
            }
            let ops = |shader: &Shader| {
                let body = shader.main();
                let insts = body.blocks().flat_map(|block| body.insts(block));
                insts.filter_map(|inst| body.intrinsic(inst)).filter(|&op| is_counter_op(op)).collect::<Vec<_>>()
            };
            seen.extend(ops(&before));
            assert!(ops(&after).is_empty());
            assert!(!lower_atomics_to_ssbo(&mut after));
            assert_eq!((after.info.num_abos, after.info.num_ssbos), (0, 2));
            let modes: Vec<VariableModes> = after.globals.iter().map(|&v| after.variables[v].mode).collect();
            assert_eq!(modes, [VariableModes::MEM_SSBO; 2]);
        }
        assert_eq!(seen.len(), 24, "each kind of access");
    }
}
