//! Splits operations on vectors that are built for them alone into operations on the parts.
//!
//! ```text
//! 32x3 %4 = vec3 %1.z, %1.w, %2.x       32x2 %6 = fmul %1.zw, %3.xy
//! 32x3 %5 = fmul %4, %3           =>    32 %7 = fmul %2.x, %3.z
//!                                       32x3 %5 = vec3 %6.x, %6.y, %7
//! ```
//!
//! That is two instructions instead of two copies and one: the parts write their components of the result. Parts that
//! are computed for the vector alone need no copy; such vectors are not split, except where product and sum fuse into
//! one instruction, since each part of the sum then absorbs its product:
//!
//! ```text
//! 32x2 %4 = fmul %0.xy, %1.zw           32x2 %4 = fmul %0.xy, %1.zw
//! 32 %5 = fmul %0.z, %2.x               32 %5 = fmul %0.z, %2.x
//! 32x3 %6 = vec3 %4.x, %4.y, %5    =>   32x2 %8 = fadd %4, %3.xy
//! 32x3 %7 = fadd %6, %3                 32 %9 = fadd %5, %3.z
//!                                       32x3 %7 = vec3 %8.x, %8.y, %9
//! ```

use arrayvec::ArrayVec;
use tgsi_ir::alu::AluOp;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::{Body, Builder, Cursor, Def, Inst, Shader, Swizzle};

/// The costs of instructions on the target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Costs {
    /// An instruction can read only one constant or immediate; others are copied.
    pub(crate) single_constant_operand: bool,
    /// An instruction can read only one input; others are copied.
    pub(crate) single_input_operand: bool,
    /// An operand can negate components separately: a vector of components of one value and their negations is an
    /// operand.
    pub(crate) per_component_negation: bool,
    /// The copies that form one vector become one instruction.
    pub(crate) merges_copies: bool,
    /// The number of instructions for `CMP`.
    pub(crate) selection: usize,
    /// The number of instructions for `SEQ` and `SNE`.
    pub(crate) equality: usize,
    /// A product that is used only by a sum fuses with the sum into one instruction.
    pub(crate) fuses_sums: bool,
}

impl Costs {
    /// The number of copies that operands need.
    fn copies(self, body: &Body, operands: &[Def]) -> usize {
        let beyond_one = |limited: bool, is_kind: &dyn Fn(Inst) -> bool| {
            let mut found: ArrayVec<Def, 4> = ArrayVec::new();
            let operands = operands.iter().map(|&def| without_negation(body, def));
            for def in operands.filter(|&def| limited && is_kind(body.def_inst(def))) {
                // Immediates can share a register.
                let is_same = |&other: &Def| {
                    other == def || body.def_constant(other).is_some() && body.def_constant(def).is_some()
                };
                if !found.iter().any(is_same) {
                    let _ = found.try_push(def);
                }
            }
            found.len().saturating_sub(1)
        };
        let is_constant = |inst: Inst| {
            body.inst_def(inst).is_some_and(|def| body.def_constant(def).is_some())
                || matches!(body.intrinsic(inst), Some(IntrinsicOp::LoadUbo | IntrinsicOp::LoadUniform))
        };
        let is_input = |inst: Inst| {
            matches!(body.intrinsic(inst), Some(IntrinsicOp::LoadInput | IntrinsicOp::LoadInterpolatedInput))
        };
        beyond_one(self.single_constant_operand, &is_constant) + beyond_one(self.single_input_operand, &is_input)
    }
}

/// Splits all functions. Returns whether anything changed.
pub(crate) fn split_operands(shader: &mut Shader, costs: Costs) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= body.visit_insts(|body, inst| split(body, inst, costs));
    }
    progress
}

/// Whether an operation is component-wise and can process several components at once.
fn is_vectorial(op: AluOp) -> bool {
    let is_scalar = matches!(
        op,
        AluOp::Frcp
            | AluOp::Frsq
            | AluOp::Fsqrt
            | AluOp::Fexp2
            | AluOp::Flog2
            | AluOp::Fsin
            | AluOp::Fcos
            | AluOp::Fpow
            | AluOp::Fneg
            | AluOp::Fabs
            | AluOp::Fsat
    );
    op.is_componentwise() && !op.is_vec_or_mov() && !is_scalar
}

/// Whether the value of a component is computed for the vector alone, so that it needs no copy.
fn is_free(body: &Body, vector: Inst, def: Def) -> bool {
    let producer = body.def_inst(def);
    let is_made = body.alu_op(producer).is_some_and(|op| !op.is_vec_or_mov()) || body.tex(producer).is_some();
    is_made && body.uses_of(def).all(|reader| body.user(reader) == tgsi_ir::User::Inst(vector))
}

/// The value of a component, or the operand of its negation.
fn negated_or_same(body: &Body, vector: Inst, part: usize) -> Def {
    without_negation(body, body.src(vector, part))
}

/// The operand if a value is a negation, or else the value.
fn without_negation(body: &Body, def: Def) -> Def {
    let producer = body.def_inst(def);
    if body.alu_op(producer) == Some(AluOp::Fneg) { body.src(producer, 0) } else { def }
}

/// The vector in source `number` of an instruction, if it has no other use and all of its parts need copies.
fn own_vector(body: &Body, inst: Inst, number: usize, costs: Costs) -> Option<Inst> {
    let def = body.src(inst, number);
    let vector = body.def_inst(def);
    body.alu_op(vector).filter(|op| op.is_vec())?;
    let is_operand = costs.per_component_negation && {
        let first = negated_or_same(body, vector, 0);
        (1..body.num_sources(vector)).all(|part| negated_or_same(body, vector, part) == first)
    };
    let is_own = body.bit_size(def) == 32
        && !is_operand
        && body.num_sources(vector) <= 4
        && body.uses_of(def).count() == 1
        && (0..body.num_sources(vector)).all(|part| !is_free(body, vector, body.src(vector, part)));
    is_own.then_some(vector)
}

/// A vector of products, if its only use is one sum, and it is the only use of the products.
fn own_products(body: &Body, def: Def) -> Option<Inst> {
    let vector = body.def_inst(def);
    body.alu_op(vector).filter(|op| op.is_vec())?;
    let is_product = |part: Def| body.alu_op(body.def_inst(part)) == Some(AluOp::Fmul) && is_free(body, vector, part);
    let is_own = body.bit_size(def) == 32
        && body.num_sources(vector) <= 4
        && body.uses_of(def).count() == 1
        && (0..body.num_sources(vector)).all(|part| is_product(body.src(vector, part)));
    is_own.then_some(vector)
}

/// The component of an operand, looked up in its vector.
fn component(body: &Body, inst: Inst, number: usize, vector: Option<Inst>, channel: usize) -> (Def, u8) {
    let selected = body.swizzle(body.source(inst, number)).get(channel);
    match vector {
        Some(vector) => {
            let source = body.source(vector, usize::from(selected));
            (body.src_def(source), body.swizzle(source).get(0))
        }
        None => (body.src(inst, number), selected),
    }
}

fn split(body: &mut Body, inst: Inst, costs: Costs) -> bool {
    let (Some(op), Some(def)) = (body.alu_op(inst), body.inst_def(inst)) else { return false };
    let count = usize::from(body.num_components(def));
    if !(2..=4).contains(&count) || body.bit_size(def) != 32 || !is_vectorial(op) || body.num_sources(inst) > 4 {
        return false;
    }
    let numbers = 0..body.num_sources(inst);
    let mut vectors: ArrayVec<Option<Inst>, 4> =
        numbers.clone().map(|number| own_vector(body, inst, number, costs)).collect();
    // A sum absorbs one product.
    let is_sum = op == AluOp::Fadd && costs.fuses_sums;
    let products =
        numbers.filter(|_| is_sum).find_map(|number| Some((number, own_products(body, body.src(inst, number))?)));
    if let Some((number, vector)) = products {
        vectors[number] = Some(vector);
    }
    if vectors.iter().all(Option::is_none) {
        return false;
    }
    // Channels with operands from the same values.
    let mut groups: ArrayVec<(ArrayVec<Def, 4>, ArrayVec<usize, 4>), 4> = ArrayVec::new();
    for channel in 0..count {
        let defs: ArrayVec<Def, 4> =
            (0..vectors.len()).map(|n| component(body, inst, n, vectors[n], channel).0).collect();
        match groups.iter_mut().find(|group| group.0 == defs) {
            Some(group) => group.1.push(channel),
            None => groups.push((defs, [channel].into_iter().collect())),
        }
    }
    let copies = |number: usize| {
        let mut defs: ArrayVec<Def, 4> = ArrayVec::new();
        for group in &groups {
            if !defs.contains(&group.0[number]) {
                defs.push(group.0[number]);
            }
        }
        match vectors[number] {
            Some(_) if products.is_some_and(|(of, _)| of == number) => defs.len(),
            Some(_) if costs.merges_copies => 1,
            Some(_) => defs.len(),
            None => 0,
        }
    };
    let whole: ArrayVec<Def, 4> =
        (0..vectors.len()).filter(|&n| vectors[n].is_none()).map(|n| body.src(inst, n)).collect();
    let weight = match op {
        AluOp::Fcsel | AluOp::FcselGt => costs.selection,
        AluOp::Seq | AluOp::Sne => costs.equality,
        _ => 1,
    };
    let before = weight + (0..vectors.len()).map(copies).sum::<usize>() + costs.copies(body, &whole);
    // Products have separate copies, whether a sum absorbs them or not.
    let beyond_product = |defs: &ArrayVec<Def, 4>| match products {
        Some((of, _)) => {
            let factors: ArrayVec<Def, 4> = body.sources(body.def_inst(defs[of])).map(|s| body.src_def(s)).collect();
            let all: ArrayVec<Def, 4> = factors.iter().copied().chain([defs[1 - of]]).collect();
            costs.copies(body, &all).saturating_sub(costs.copies(body, &factors))
        }
        None => costs.copies(body, defs),
    };
    let after: usize = groups.iter().map(|group| weight + beyond_product(&group.0)).sum();
    if after >= before || groups.len() < 2 {
        return false;
    }
    let flags = body.alu(inst).map(|(_, flags)| flags).unwrap_or_default();
    let mut parts = [None; 4];
    for (defs, channels) in &groups {
        let sources: ArrayVec<AluSrc, 4> = (0..vectors.len())
            .map(|number| {
                let mut swizzle = [0u8; 4];
                for (slot, &channel) in channels.iter().enumerate() {
                    swizzle[slot] = component(body, inst, number, vectors[number], channel).1;
                }
                AluSrc::new(defs[number], Swizzle::new(&swizzle))
            })
            .collect();
        let mut builder = Builder::new(body, Cursor::Before(inst));
        builder.flags = flags;
        let part = builder.alu_sized(op, channels.len() as u8, &sources);
        for (slot, &channel) in channels.iter().enumerate() {
            parts[channel] = Some(AluSrc::component(part, slot as u8));
        }
    }
    let parts: ArrayVec<AluSrc, 4> = parts.into_iter().flatten().collect();
    if parts.len() != count {
        return false;
    }
    let whole = Builder::new(body, Cursor::Before(inst)).vec(&parts);
    body.replace_all_uses(def, whole);
    body.remove_inst(inst);
    true
}
