//! Combines a sum of products of the components of two vectors to a dot product, if it has the order of `DP3` or `DP4`.
//!
//! ```text
//! 32 %2 = fmul %0.y, %1.y
//! 32 %3 = fmad %0.x, %1.x, %2                 32 %4 = fdot3_mad %0.yxz, %1.yxz
//! 32 %4 = fmad %0.z, %1.z, %3            =>
//! ```
//!
//! Constants need not be components of one vector. The result has the same bits. It replaces the last instruction
//! regardless of other uses of the others, so equal expressions are computed alike everywhere.

use arrayvec::ArrayVec;
use tgsi_ir::alu::AluOp;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::{AluFlags, Body, Builder, Cursor, Def, Inst, Shader, Swizzle};

/// The maximum number of products.
const MAX_TERMS: usize = 4;

/// A component of a value.
type Component = (Def, u8);

/// The factors of each product, in the order of addition.
type DotFactors = ArrayVec<[Component; 2], MAX_TERMS>;

/// Forms dot products, in replicated form if the target has those. Returns whether anything changed.
pub(crate) fn form_dot_products(shader: &mut Shader, replicates: bool) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        // The last sum of a chain comes first: the sums that it adds to then have no uses.
        for block in body.blocks_vec().into_iter().rev() {
            let mut next = body.last_inst(block);
            while let Some(inst) = next {
                next = body.prev_inst(inst);
                progress |= body.alu_op(inst) == Some(AluOp::Fmad) && form(body, inst, replicates);
            }
        }
    }
    progress
}

/// Replaces a sum by a dot product, if possible.
fn form(body: &mut Body, last: Inst, replicates: bool) -> bool {
    let is_read_scalar = |&def: &Def| body.num_components(def) == 1 && body.uses_of(def).next().is_some();
    let Some(def) = body.inst_def(last).filter(is_read_scalar) else { return false };
    let Some(mut terms) = terms(body, last) else { return false };
    let op = match (terms.len(), replicates) {
        (3, false) => AluOp::Fdot3Mad,
        (4, false) => AluOp::Fdot4Mad,
        (3, true) => AluOp::Fdot3MadReplicated,
        (4, true) => AluOp::Fdot4MadReplicated,
        _ => return false,
    };
    if !align(body, &mut terms) {
        return false;
    }
    let [a, b] = [0, 1].map(|factor| vector(body, last, &terms, factor));
    let product = Builder::new(body, Cursor::Before(last)).alu_sized(op, 1, &[a, b]);
    body.replace_all_uses(def, product);
    true
}

fn operand(body: &Body, inst: Inst, number: usize, component: u8) -> Component {
    let source = AluSrc::of(body, body.source(inst, number));
    (source.def, source.swizzle.get(usize::from(component)))
}

/// The products summed by a scalar `fmad`, if it sums products only.
fn terms(body: &Body, last: Inst) -> Option<DotFactors> {
    let mut terms = DotFactors::new();
    let (mut inst, mut component) = (last, 0);
    loop {
        let (op, flags) = body.alu(inst)?;
        let is_sum = op == AluOp::Fmad;
        if !(is_sum || op == AluOp::Fmul) || flags.contains(AluFlags::EXACT) {
            return None;
        }
        terms.try_push([0, 1].map(|number| operand(body, inst, number, component))).ok()?;
        if !is_sum {
            terms.reverse();
            return Some(terms);
        }
        let addend = operand(body, inst, 2, component);
        (inst, component) = (body.def_inst(addend.0), addend.1);
    }
}

fn is_constant(body: &Body, (def, component): Component) -> bool {
    body.constant_component(def, usize::from(component)).is_some()
}

/// Exchanges factors so that all first ones are of one value, and so are the second ones. Returns whether they are.
fn align(body: &Body, terms: &mut DotFactors) -> bool {
    let kind = |factor: Component| (!is_constant(body, factor)).then_some(factor.0);
    let [a, b] = terms[0].map(kind);
    for term in terms.iter_mut() {
        if term.map(kind) == [b, a] {
            term.swap(0, 1);
        }
        if term.map(kind) != [a, b] {
            return false;
        }
    }
    // Not for products of constants only.
    a.is_some() || b.is_some()
}

/// Returns one of the vectors that are multiplied.
fn vector(body: &mut Body, before: Inst, terms: &DotFactors, factor: usize) -> AluSrc {
    let components: ArrayVec<Component, MAX_TERMS> = terms.iter().map(|term| term[factor]).collect();
    let first = components[0].0;
    if components.iter().all(|&(def, _)| def == first) {
        let selectors: ArrayVec<u8, MAX_TERMS> = components.iter().map(|&(_, component)| component).collect();
        return AluSrc::new(first, Swizzle::new(&selectors));
    }
    let words: ArrayVec<u64, MAX_TERMS> = components
        .iter()
        .map(|&(def, component)| body.constant_component(def, usize::from(component)).unwrap_or_default())
        .collect();
    Builder::new(body, Cursor::Before(before)).constant(32, &words).into()
}
