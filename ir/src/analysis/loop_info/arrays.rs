//! Indexed accesses to arrays, samplers and textures.

use cranelift_entity::SecondaryMap;

use crate::body::{Body, DerefKind, InstData};
use crate::entities::{Def, Inst, Variable};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::types::{TypeData, TypeTable};
use crate::variable::VariableModes;

use super::{IndexedArray, LoopAnalyzer};

impl LoopAnalyzer<'_> {
    /// The arrays of the function for which all dynamic indices are known in the iterations of the loop.
    pub(super) fn resolved_arrays(&self, body: &Body, accesses: &[(Def, IndexedArray)]) -> Vec<Variable> {
        let mut found: Vec<(Variable, u32)> = Vec::new();
        for variable in accesses.iter().filter_map(|(_, array)| local_of(body, array.inst)) {
            match found.iter().position(|f| f.0 == variable) {
                Some(at) => found[at].1 += 1,
                // A loop that indexes more arrays is not worth unrolling.
                None if found.len() < 16 => found.push((variable, 1)),
                None => {}
            }
        }
        found.retain(|&(variable, count)| count == self.indexed[variable]);
        found.into_iter().map(|f| f.0).collect()
    }
}

/// The variable of the function that a deref is based on.
pub(super) fn local_of(body: &Body, mut inst: Inst) -> Option<Variable> {
    loop {
        match *body.inst(inst) {
            InstData::Deref { kind: DerefKind::Var(variable), modes, .. } => {
                return (modes == VariableModes::FUNCTION_TEMP).then_some(variable);
            }
            InstData::Deref { kind: DerefKind::Array | DerefKind::Struct(_), .. } => {
                inst = body.def_inst(body.src(inst, 0));
            }
            _ => return None,
        }
    }
}

/// Counts the dynamically indexed derefs of each variable of the function.
pub(super) fn count_indexed(body: &Body) -> SecondaryMap<Variable, u32> {
    let mut indexed = SecondaryMap::new();
    if body.locals.is_empty() {
        return indexed;
    }
    for inst in body.blocks().flat_map(|block| body.insts(block)) {
        if matches!(body.inst(inst), InstData::Deref { kind: DerefKind::Array, .. })
            && body.constant_component(body.src(inst, 1), 0).is_none()
            && let Some(variable) = local_of(body, inst)
        {
            indexed[variable] += 1;
        }
    }
    indexed
}

/// The index of an access to an array, sampler or texture.
pub(super) fn indexed_access(body: &Body, types: &TypeTable, inst: Inst) -> Option<(Def, IndexedArray)> {
    let array = |length, modes| IndexedArray { inst, length, modes, is_sampler: false, out_of_bounds: None };
    match *body.inst(inst) {
        InstData::Deref { kind: DerefKind::Array, modes, .. } => {
            let length = match body.deref_type(body.src(inst, 0)).map(|ty| types.get(ty)) {
                Some(&TypeData::Array { length, .. }) => length,
                Some(&TypeData::Matrix { columns, .. }) => columns.into(),
                _ => 0,
            };
            let is_sampler = body.inst_def(inst).is_some_and(|def| {
                body.uses_of(def).any(|u| body.user(u).inst().is_some_and(|i| body.tex(i).is_some()))
            });
            Some((body.src(inst, 1), IndexedArray { is_sampler, ..array(length, modes) }))
        }
        InstData::Intrinsic { op, .. } => {
            let (handle, index) = match op {
                IntrinsicOp::LoadRegIndirect => (body.src(inst, 0), body.src(inst, 1)),
                IntrinsicOp::StoreRegIndirect => (body.src(inst, 1), body.src(inst, 2)),
                _ => return None,
            };
            let length = body.index(body.def_inst(handle), IndexKind::NumArrayElems) as u32;
            let base = body.base(inst);
            Some((index, array(length.saturating_sub(base), VariableModes::FUNCTION_TEMP)))
        }
        _ => None,
    }
}
