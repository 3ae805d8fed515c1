//! Splits arrays of arrays: where no access indexes a level at run time, each element becomes a variable of its own.
//!
//! ```text
//! before:                                              after:
//!     decl_var  vec4[2][8] a                               decl_var  vec4[8] a[0][*]
//!                                                          decl_var  vec4[8] a[1][*]
//!     %1 = deref_var &a
//!     %2 = deref_array &(*%1)[1]                           %2 = deref_var &a[1][*]
//!     %3 = deref_array &(*%2)[%i]                          %3 = deref_array &(*%2)[%i]
//! ```
//!
//! Variables of a function whose type is arrays of vectors (or matrices, whose columns are a level as well), that are
//! accessed in simple ways only. Each level is decided on its own: a run-time index keeps it. A copy with a wildcard at
//! a level that is split becomes loads and stores
//! ([`lower_var_copies`](mod@crate::passes::variables::lower_var_copies)), and so do the copies that reach across one.
//! An access beyond the end of a split level reads 0 or does nothing. Initialisers are split as well.
//!
//! A variable is split if it then has at most [`MAX_PARTS`] parts, and if it keeps a level: what is indexed by
//! constants alone becomes values in [`lower_vars_to_ssa`](mod@crate::passes::into_ssa::lower_vars_to_ssa) as it is.
//!
//! Cost: linear in the accesses and the parts.

use cranelift_entity::{PrimaryMap, SecondaryMap};

use crate::body::{Body, DerefKind, InstData};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Def, Inst, Type, Variable};
use crate::intrinsics::IntrinsicOp;
use crate::passes::variables::access_times::FIRST_WORD;
use crate::passes::variables::deref_tree::{DerefTree, Place, Step};
use crate::passes::{lower_var_copies, split_var_copies};
use crate::shader::{Shader, Stage};
use crate::types::{TypeData, TypeTable};
use crate::variable::{Initializer, VariableData, VariableModes};

/// Most variables that one becomes.
pub const MAX_PARTS: u64 = 1024;

/// See the [module](self).
pub fn split_array_vars(shader: &mut Shader) -> bool {
    let mut progress = false;
    let Shader { functions, types, variables, stage, .. } = shader;
    for body in functions.values_mut().filter_map(|f| f.body.as_mut()) {
        progress |= split(body, types, variables, *stage);
    }
    progress
}

/// Levels of arrays of a variable, the outermost first.
#[derive(Clone)]
struct Levels {
    lengths: Vec<u32>,
    split: Vec<bool>,
    /// The variables that it becomes, in the order of their indices, the last level fastest.
    parts: Vec<Variable>,
    /// Type of a part.
    ty: Type,
}

impl Levels {
    fn of(types: &mut TypeTable, mut ty: Type) -> Option<Levels> {
        let mut lengths = Vec::new();
        let whole = ty;
        while !matches!(types.get(ty), TypeData::Vector { .. }) {
            let (element, length) = types.element(ty)?;
            lengths.push(length);
            ty = element;
        }
        let split = vec![true; lengths.len()];
        (lengths.len() > 1).then_some(Levels { lengths, split, parts: Vec::new(), ty: whole })
    }

    fn num_parts(&self) -> u64 {
        let split = self.lengths.iter().zip(&self.split).filter(|(_, split)| **split);
        split.fold(1, |n, (&length, _)| n.saturating_mul(length.into()))
    }
}

fn split(
    body: &mut Body,
    types: &mut TypeTable,
    variables: &mut PrimaryMap<Variable, VariableData>,
    stage: Stage,
) -> bool {
    let is_deep = |ty: Type| {
        let element = match *types.get(ty) {
            TypeData::Array { element, .. } => element,
            _ => return false,
        };
        matches!(types.get(element), TypeData::Array { .. } | TypeData::Matrix { .. })
    };
    if !body.locals.iter().any(|&v| is_deep(variables[v].ty)) {
        return false;
    }
    let tree = DerefTree::new(body, types, variables, stage, FIRST_WORD);
    let mut levels: SecondaryMap<Variable, Option<Levels>> = SecondaryMap::new();
    for &variable in &body.locals {
        if tree.is_followed(variable) && variables[variable].mode == VariableModes::FUNCTION_TEMP {
            levels[variable] = Levels::of(types, variables[variable].ty);
        }
    }
    for node in &tree.nodes {
        // Where merged paths have "some element" stands either a run-time index, which has a node of its own, or a
        // wildcard.
        if let (Step::Index(_), Some(levels)) = (node.step, &mut levels[node.root]) {
            levels.split[tree.path_len(node) - 1] = false;
        }
    }
    let mut any = false;
    for &variable in &body.locals {
        let keep = levels[variable]
            .as_ref()
            .is_some_and(|l| l.num_parts() <= MAX_PARTS && l.split.contains(&true) && l.split.contains(&false));
        if !keep {
            levels[variable] = None;
        }
        any |= keep;
    }
    if !any {
        return false;
    }
    lower_copies(body, types, &|def| match tree.place(def) {
        Place::Node(node) | Place::Component(node, _) => levels[tree.node(node).root].is_some(),
        Place::Outside(root) => levels[root].is_some(),
        Place::Unknown => false,
    });
    for variable in body.locals.clone() {
        if let Some(levels) = &mut levels[variable] {
            make_parts(body, types, variables, variable, levels);
        }
    }
    let old: Vec<Variable> = body.locals.iter().copied().filter(|&v| levels[v].is_some()).collect();
    rewrite(body, types, variables, &tree, &levels);
    for variable in old {
        variables[variable].mode = VariableModes::NONE;
    }
    true
}

/// Copies of what is no longer one thing become loads and stores.
pub(crate) fn lower_copies(body: &mut Body, types: &mut TypeTable, is_split: &dyn Fn(Def) -> bool) {
    for copy in split_var_copies::copies(body) {
        if !is_split(body.src(copy, 0)) && !is_split(body.src(copy, 1)) {
            continue;
        }
        let before = body.prev_inst(copy);
        let block = body.inst_block(copy);
        if split_var_copies::split(body, types, copy) {
            // The pieces stand where the copy stood.
            let mut next = before.map_or_else(|| block.and_then(|b| body.first_inst(b)), |b| body.next_inst(b));
            while let Some(inst) = next {
                next = body.next_inst(inst);
                match *body.inst(inst) {
                    InstData::Intrinsic { op: IntrinsicOp::CopyDeref, .. } => {
                        if !lower_var_copies::lower(body, types, inst) {
                            break;
                        }
                    }
                    InstData::Deref { .. } | InstData::LoadConst { .. } => {}
                    _ => break,
                }
            }
        } else {
            lower_var_copies::lower(body, types, copy);
        }
    }
}

fn make_parts(
    body: &mut Body,
    types: &mut TypeTable,
    variables: &mut PrimaryMap<Variable, VariableData>,
    variable: Variable,
    levels: &mut Levels,
) {
    let mut ty = types.without_arrays(levels.ty);
    if let TypeData::Matrix { scalar, rows, .. } = *types.get(ty) {
        ty = types.vector(scalar, rows);
    }
    for (&length, _) in levels.lengths.iter().zip(&levels.split).rev().filter(|(_, split)| !**split) {
        ty = types.array(ty, length);
    }
    levels.ty = ty;
    let mut indices = vec![0u32; levels.lengths.len()];
    for _ in 0..levels.num_parts() {
        let original = &variables[variable];
        let mut name = original.name.clone();
        for (&index, &split) in indices.iter().zip(&levels.split) {
            name += &if split { format!("[{index}]") } else { "[*]".to_string() };
        }
        let mut part = VariableData::new(name, ty, VariableModes::FUNCTION_TEMP);
        part.initializer = original.initializer.as_ref().map(|i| part_of_initializer(i, &indices, &levels.split));
        let part = variables.push(part);
        body.locals.push(part);
        levels.parts.push(part);
        // The next combination of the split levels, the last fastest.
        for ((index, &length), &split) in indices.iter_mut().zip(&levels.lengths).zip(&levels.split).rev() {
            if !split {
                continue;
            }
            *index += 1;
            if *index < length {
                break;
            }
            *index = 0;
        }
    }
}

/// What an initialiser says of a part. As deep as the type is.
fn part_of_initializer(initializer: &Initializer, indices: &[u32], split: &[bool]) -> Initializer {
    let (Some((&index, indices)), Some((&is_split, split))) = (indices.split_first(), split.split_first()) else {
        return initializer.clone();
    };
    match initializer {
        Initializer::Elements(elements) if is_split => elements
            .get(index as usize)
            .map_or(Initializer::Null, |element| part_of_initializer(element, indices, split)),
        Initializer::Elements(elements) => {
            Initializer::Elements(elements.iter().map(|e| part_of_initializer(e, indices, split)).collect())
        }
        other => other.clone(),
    }
}

/// Accesses to the parts. The variables and their derefs go.
fn rewrite(
    body: &mut Body,
    types: &TypeTable,
    variables: &PrimaryMap<Variable, VariableData>,
    tree: &DerefTree,
    levels: &SecondaryMap<Variable, Option<Levels>>,
) {
    let mut dead: Vec<Inst> = Vec::new();
    for block in body.blocks_vec() {
        for inst in body.insts_vec(block) {
            let Some(op @ (IntrinsicOp::LoadDeref | IntrinsicOp::StoreDeref)) = body.intrinsic(inst) else { continue };
            let deref = body.src(inst, 0);
            // Places of derefs that were made since are not in the tree: their paths say it.
            let mut steps: Vec<(Option<Def>, Inst)> = Vec::new();
            let mut at = body.def_inst(deref);
            let root = loop {
                match *body.inst(at) {
                    InstData::Deref { kind: DerefKind::Var(variable), .. } => break Some(variable),
                    InstData::Deref { kind: DerefKind::Array, .. } => {
                        steps.push((Some(body.src(at, 1)), at));
                        at = body.def_inst(body.src(at, 0));
                    }
                    _ => break None,
                }
            };
            let Some(levels) = root.filter(|&v| tree.is_followed(v)).and_then(|v| levels[v].as_ref()) else { continue };
            steps.reverse();
            let mut part = 0u64;
            let mut is_outside = false;
            let mut kept: Vec<Def> = Vec::new();
            for (level, &(index, _)) in steps.iter().enumerate() {
                let Some(index) = index else { continue };
                let constant = body.constant_component(index, 0);
                // Beyond the end of any level, also of one that is kept: what indexes the elements of such an element
                // kept no level from being split.
                let length = levels.lengths.get(level).copied().map(u64::from);
                is_outside |= constant.zip(length).is_some_and(|(i, length)| i >= length);
                match (levels.split.get(level), constant) {
                    (Some(true), Some(i)) => part = part.wrapping_mul(length.unwrap_or(1)).wrapping_add(i),
                    // A level that is kept, or a component of the vector.
                    _ => kept.push(index),
                }
            }
            let mut b = Builder::new(body, Cursor::Before(inst));
            if is_outside {
                if let (IntrinsicOp::LoadDeref, Some(def)) = (op, b.body.inst_def(inst)) {
                    let shape = b.body.shape(def);
                    let zero = b.constant(shape.bit_size, &[0; 16][..usize::from(shape.num_components)]);
                    body.replace_all_uses(def, zero);
                }
                dead.push(inst);
                continue;
            }
            let Some(&variable) = levels.parts.get(part as usize) else { continue };
            let mut ty = variables[variable].ty;
            let mut place = b.deref_var(variable, VariableModes::FUNCTION_TEMP, ty);
            for index in kept {
                ty = match *types.get(ty) {
                    TypeData::Array { element, .. } => element,
                    // The type of the component is that of the access.
                    _ => b.body.deref_type(deref).unwrap_or(ty),
                };
                place = b.deref_array(place, index, ty);
            }
            let source = body.source(inst, 0);
            body.set_src(source, place);
        }
    }
    let root_is_split = |place: Place| match place {
        Place::Node(node) | Place::Component(node, _) => levels[tree.node(node).root].is_some(),
        Place::Outside(root) => levels[root].is_some(),
        Place::Unknown => false,
    };
    // Those that lowered copies have made are not in the tree, but their parents are.
    let mut is_old: SecondaryMap<Def, bool> = SecondaryMap::new();
    for inst in body.blocks().flat_map(|block| body.insts(block)) {
        let (InstData::Deref { kind, .. }, Some(def)) = (body.inst(inst), body.inst_def(inst)) else { continue };
        let is_var = matches!(kind, DerefKind::Var(_));
        if root_is_split(tree.place(def)) || !is_var && is_old[body.src(inst, 0)] {
            is_old[def] = true;
            dead.push(inst);
        }
    }
    body.remove_insts(&dead);
    body.locals.retain(|&variable| levels[variable].is_none());
}
