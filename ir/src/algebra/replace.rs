//! Replaces an instruction according to a rule.

use arrayvec::ArrayVec;

use super::Node;
use super::matcher::{Match, Matcher};
use crate::body::{AluFlags, Body, MAX_COMPONENTS};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Def, Inst, User};

/// Builds the replacement of an instruction in front of it, redirects all uses to it, and returns its value. The
/// instruction is left without uses.
///
/// An expression of constants is folded.
pub fn replace(body: &mut Body, matcher: &Matcher, m: &Match, inst: Inst) -> Option<Def> {
    let def = body.inst_def(inst)?;
    let count = usize::from(body.num_components(def));
    let rule = matcher.set().rules.get(usize::from(m.rule))?;
    let mut b = Builder::new(body, Cursor::Before(inst));
    let value = build(&mut b, matcher, m, rule.replacement, count)?;
    if body.bit_size(value.def) != body.bit_size(def) {
        debug_assert!(false, "the rule of line {} changes the size", rule.line);
        return None;
    }
    replace_uses(body, def, value, inst);
    Some(value.def)
}

/// Builds `count` components of a node. Recursion depth is bounded by the size of the rule.
fn build(b: &mut Builder<'_>, matcher: &Matcher, m: &Match, node: u16, count: usize) -> Option<AluSrc> {
    let set = matcher.set();
    match *set.nodes.get(usize::from(node))? {
        Node::Variable { index, select, .. } => m.selected(index, select),
        Node::Literal { literal, size } => {
            let bits = m.size(size);
            let def = b.constant(bits, &[literal.bits(bits, m.sizes[0])]);
            Some(AluSrc::component(def, 0))
        }
        Node::Op { op, exact, operands, .. } => {
            if let Some((values, bits)) = matcher.constant(b.body, node, count, m) {
                let equal = values.iter().all(|v| Some(v) == values.first());
                let kept = if equal { 1 } else { values.len() };
                let def = b.constant(bits, &values[..kept]);
                return Some(if equal { AluSrc::component(def, 0) } else { def.into() });
            }
            let info = op.info();
            let mut sources: ArrayVec<AluSrc, MAX_COMPONENTS> = ArrayVec::new();
            for (number, &operand) in set.operands_of(operands).iter().enumerate() {
                let count = match info.input_sizes.get(number) {
                    Some(0) | None => count,
                    Some(&sized) => usize::from(sized),
                };
                sources.push(build(b, matcher, m, operand, count)?);
            }
            b.flags = if exact { m.flags.union(AluFlags::EXACT) } else { m.flags };
            let def = b.alu_sized(op, count as u8, &sources);
            b.flags = AluFlags::NONE;
            Some(def.into())
        }
    }
}

/// Replaces all uses of `def` with `value`. ALU operands take the swizzle; other uses get a `mov` before `inst` if
/// needed.
pub(crate) fn replace_uses(body: &mut Body, def: Def, value: AluSrc, inst: Inst) {
    let count = body.num_components(def);
    if body.num_components(value.def) == count && value.swizzle.is_identity(usize::from(count)) {
        body.replace_all_uses(def, value.def);
        return;
    }
    let mut copy = None;
    for source in body.uses_vec(def) {
        let alu = match body.user(source) {
            User::Inst(user) => body.alu_op(user).is_some(),
            User::If(_) => false,
        };
        if alu {
            let swizzle = body.swizzle(source).compose(value.swizzle);
            body.set_src(source, value.def);
            body.set_swizzle(source, swizzle);
        } else {
            let copy = *copy.get_or_insert_with(|| Builder::new(body, Cursor::Before(inst)).mov(value, count));
            body.set_src(source, copy);
        }
    }
}
