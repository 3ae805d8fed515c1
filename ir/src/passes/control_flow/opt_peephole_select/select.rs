//! Builds the selection that replaces a phi.

use arrayvec::ArrayVec;

use super::scalar_behind;
use crate::alu::AluOp;
use crate::body::{InstData, MAX_COMPONENTS, Swizzle};
use crate::builder::{AluSrc, Builder};
use crate::entities::Def;

type Components = ArrayVec<AluSrc, MAX_COMPONENTS>;

/// Emits `bcsel condition, yes, no` with a scalar condition, without the components that are equal in both.
pub(super) fn select(b: &mut Builder<'_>, condition: Def, yes: Def, no: Def) -> Def {
    if yes == no {
        return yes;
    }
    let count = b.body.num_components(yes);
    let parts =
        |b: &Builder<'_>, def: Def| -> Components { (0..count).map(|i| scalar_behind(b.body, def, i)).collect() };
    let (yes_parts, no_parts) = (parts(b, yes), parts(b, no));
    let mut different: ArrayVec<usize, MAX_COMPONENTS> =
        (0..usize::from(count)).filter(|&i| either(b, yes_parts[i], no_parts[i]).is_none()).collect();
    // Selecting another constant component is free; inserting an equal one into the result takes a copy.
    let is_const = |&s: &AluSrc| b.body.def_constant(s.def).is_some();
    if !different.is_empty() && different.iter().all(|&i| is_const(&yes_parts[i]) && is_const(&no_parts[i])) {
        different = (0..usize::from(count))
            .filter(|&i| different.contains(&i) || is_const(&yes_parts[i]) && is_const(&no_parts[i]))
            .collect();
    }
    // Assembling the result costs as much as it saves, unless one of the sides is an assembled vector anyway.
    let is_vector = |def: Def| b.body.alu_op(b.body.def_inst(def)).is_some_and(AluOp::is_vec_or_mov);
    // Vectors exist for some numbers of components only.
    let partial = (is_vector(yes) || is_vector(no))
        && different.len() < usize::from(count)
        && (different.len() <= 1 || AluOp::vec(different.len() as u8).is_some());
    if !partial {
        // A side that is a vector assembled from constants becomes one constant.
        let operand = |b: &mut Builder<'_>, def: Def, parts: &Components| match parts
            .iter()
            .all(|p| b.body.def_constant(p.def).is_some())
        {
            true => gather(b, parts.clone()),
            false => def.into(),
        };
        let (yes, no) = (operand(b, yes, &yes_parts), operand(b, no, &no_parts));
        return b.alu_sized(AluOp::Bcsel, count, &[AluSrc::component(condition, 0), yes, no]);
    }
    let mut result: Components =
        yes_parts.iter().zip(&no_parts).map(|(&yes, &no)| either(b, yes, no).unwrap_or(yes)).collect();
    if !different.is_empty() {
        let sources = [
            AluSrc::component(condition, 0),
            gather(b, different.iter().map(|&i| yes_parts[i]).collect()),
            gather(b, different.iter().map(|&i| no_parts[i]).collect()),
        ];
        let selected = b.alu_sized(AluOp::Bcsel, different.len() as u8, &sources);
        for (number, &i) in different.iter().enumerate() {
            result[i] = AluSrc::component(selected, number as u8);
        }
    }
    let whole = gather(b, result);
    b.mov(whole, count)
}

/// Returns the component that can replace both: the same one, or the one that is defined.
fn either(b: &Builder<'_>, yes: AluSrc, no: AluSrc) -> Option<AluSrc> {
    let is_undef = |s: AluSrc| matches!(b.body.inst(b.body.def_inst(s.def)), InstData::Undef);
    let bits = |s: AluSrc| b.body.constant_component(s.def, usize::from(s.swizzle.get(0)));
    if is_undef(yes) {
        return Some(no);
    }
    let same = yes == no || bits(yes).is_some_and(|v| bits(no) == Some(v));
    (same || is_undef(no)).then_some(yes)
}

/// Returns single components as one operand: a swizzle if they belong to one value, a new constant if they are
/// constants, otherwise a vector.
fn gather(b: &mut Builder<'_>, parts: Components) -> AluSrc {
    let Some(&first) = parts.first() else { return AluSrc::new(b.undef(1, 32), Swizzle::IDENTITY) };
    if parts.iter().all(|p| p.def == first.def) {
        let swizzle = parts.iter().enumerate().fold(Swizzle(0), |s, (i, p)| s.with(i, p.swizzle.get(0)));
        return AluSrc::new(first.def, swizzle);
    }
    let bits = |p: &AluSrc| b.body.constant_component(p.def, usize::from(p.swizzle.get(0)));
    let values: Option<ArrayVec<u64, MAX_COMPONENTS>> = parts.iter().map(bits).collect();
    match values {
        Some(values) => {
            let bit_size = b.body.bit_size(first.def);
            b.constant(bit_size, &values).into()
        }
        None => b.vec(&parts).into(),
    }
}
