//! Lowers comparisons and selections to the form of `CMP`, for targets without integers.
//!
//! ```text
//! 32 %3 = slt %1, 0.0                    32 %3 = fneg %1
//! 32 %4 = fcsel %3, %a, %b         =>    32 %4 = fcsel_gt %3, %a, %b      CMP %4, %1, %a, %b
//!
//! 32 %3 = seq %truth, 0.0
//! 32 %4 = fcsel %3, %a, %b         =>    32 %4 = fcsel %truth, %b, %a
//!
//! 32 %3 = seq %truth, 0.0          =>    32 %3 = fadd 1.0, -%truth
//!
//! 32 %3 = slt %1, %2               =>    32 %3 = fcsel_gt (fadd %2, -%1), 1.0, 0.0      without SLT, SGE, SEQ, SNE
//! 32 %3 = sge %1, %2               =>    32 %3 = fcsel_gt (fadd %2, -%1), 0.0, 1.0
//! 32 %3 = sne %1, %2               =>    32 %3 = fcsel_gt |fadd %1, -%2|, 1.0, 0.0
//! 32 %3 = seq %1, %2               =>    32 %3 = fcsel_gt |fadd %1, -%2|, 0.0, 1.0
//!
//! 32 %3 = fcsel_gt (fadd %1, -%2), 1.0, 0.0
//! 32 %4 = seq %3, 0.0              =>    32 %4 = sge %2, %1                             the same, as a condition
//!
//! 32 %3 = fcsel_gt %1, 1.0, 0.0    =>    32 %3 = slt 0.0, %1                            where CMP is costly
//! 32 %3 = fcsel_gt %1, 0.0, 1.0    =>    32 %3 = fadd 1.0, -(slt 0.0, %1)
//! ```
//!
//! Must run after `lower_bool_to_float`: booleans are then 0.0 and 1.0. Without comparison opcodes, the result of
//! comparisons with NaN is undefined.

use tgsi_ir::alu::AluOp;
use tgsi_ir::body::AluFlags;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::{Body, Builder, Cursor, Def, Inst, Shader, User};

/// Lowers all functions. Returns whether anything changed.
pub(crate) fn lower_float_comparisons(shader: &mut Shader, has_comparisons: bool) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        for block in body.blocks_vec() {
            for inst in body.insts_vec(block) {
                progress |= fuse_selection(body, inst, has_comparisons);
            }
        }
        for block in body.blocks_vec() {
            for inst in body.insts_vec(block) {
                if invert_truth(body, inst, has_comparisons) {
                    progress = true;
                    continue;
                }
                if has_comparisons {
                    continue;
                }
                if invert_condition(body, inst) {
                    progress = true;
                    continue;
                }
                // Selections by comparisons already lowered use the same difference.
                progress |= lower_comparison(body, inst) || fuse_selection(body, inst, has_comparisons);
            }
        }
    }
    progress
}

/// Converts selections by floats that may be other than 0.0 and 1.0 to selections by 1-bit booleans. Must run before
/// `lower_bool_to_float`, so that selections by a float that exist afterwards are its own.
pub(crate) fn make_selections_boolean(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        for block in body.blocks_vec() {
            for inst in body.insts_vec(block) {
                if body.alu_op(inst) == Some(AluOp::Fcsel)
                    && let Some(def) = body.inst_def(inst)
                {
                    let count = body.num_components(def);
                    let [condition, a, b] = [0, 1, 2].map(|number| operand(body, inst, number));
                    let mut builder = Builder::new(body, Cursor::Before(inst));
                    let zero = builder.f32_const(0.0);
                    let truth = builder.alu_sized(AluOp::Fneu, count, &[condition, AluSrc::component(zero, 0)]);
                    let new = builder.alu_sized(AluOp::Bcsel, count, &[truth.into(), a, b]);
                    body.replace_all_uses(def, new);
                    body.remove_inst(inst);
                    progress = true;
                }
            }
        }
    }
    progress
}

pub(super) fn operand(body: &Body, inst: Inst, number: usize) -> AluSrc {
    let source = body.source(inst, number);
    AluSrc::new(body.src_def(source), body.swizzle(source))
}

/// Returns source `number` of the producer of an operand, with the swizzle of the operand.
pub(super) fn through(body: &Body, outer: AluSrc, number: usize) -> AluSrc {
    let inner = operand(body, body.def_inst(outer.def), number);
    AluSrc::new(inner.def, outer.swizzle.compose(inner.swizzle))
}

pub(super) fn is_zero(body: &Body, source: AluSrc, count: usize) -> bool {
    (0..count).all(|c| {
        let word = body.constant_component(source.def, usize::from(source.swizzle.get(c)));
        word.is_some_and(|word| word & 0x7fff_ffff == 0)
    })
}

/// The number in all components of an operand, if they are one constant.
fn constant(body: &Body, source: AluSrc, count: usize) -> Option<f32> {
    let word = |c: usize| body.constant_component(source.def, usize::from(source.swizzle.get(c)));
    let first = word(0)?;
    (1..count).all(|c| word(c) == Some(first)).then(|| f32::from_bits(first as u32))
}

/// Conservatively, whether a value is 0.0 or 1.0 in every component; limited in depth.
fn is_zero_or_one(body: &Body, def: Def) -> bool {
    const DEPTH: u32 = 4;
    fn look(body: &Body, def: Def, depth: u32) -> bool {
        let inst = body.def_inst(def);
        let all = |mut numbers: std::ops::Range<usize>| {
            depth > 0 && numbers.all(|number| look(body, body.src(inst, number), depth - 1))
        };
        match body.alu_op(inst) {
            Some(AluOp::Slt | AluOp::Sge | AluOp::Seq | AluOp::Sne) => true,
            Some(
                AluOp::FallEqual2
                | AluOp::FallEqual3
                | AluOp::FallEqual4
                | AluOp::FanyNequal2
                | AluOp::FanyNequal3
                | AluOp::FanyNequal4,
            ) => true,
            Some(AluOp::Mov) => all(0..1),
            Some(AluOp::Fmul | AluOp::Fmax | AluOp::Fmin) => all(0..2),
            Some(AluOp::Fcsel | AluOp::FcselGt) => all(1..3),
            None if body.is_phi(inst) => body.num_sources(inst) <= 4 && all(0..body.num_sources(inst)),
            _ => body
                .def_constant(def)
                .is_some_and(|words| words.iter().all(|&word| word == 0 || word == u64::from(1f32.to_bits()))),
        }
    }
    look(body, def, DEPTH)
}

/// A value that is greater than 0 where a comparison holds, or where it does not (`inverted`).
struct Test {
    value: AluSrc,
    negate: bool,
    absolute: bool,
    inverted: bool,
}

/// The test performed by a condition, if one operand of its comparison is 0.
fn test_of(body: &Body, condition: AluSrc, count: usize, has_comparisons: bool) -> Option<Test> {
    let op = body.alu_op(body.def_inst(condition.def))?;
    if op == AluOp::FcselGt {
        // An already lowered comparison.
        let inverted = match [1, 2].map(|number| constant(body, through(body, condition, number), count)) {
            [Some(1.0), Some(0.0)] => false,
            [Some(0.0), Some(1.0)] => true,
            _ => return None,
        };
        let value = through(body, condition, 0);
        return Some(Test { value, negate: false, absolute: false, inverted });
    }
    if !matches!(op, AluOp::Slt | AluOp::Sge | AluOp::Seq | AluOp::Sne) {
        return None;
    }
    let (a, b) = (through(body, condition, 0), through(body, condition, 1));
    let (value, is_first) = match (is_zero(body, a, count), is_zero(body, b, count)) {
        (_, true) => (a, true),
        (true, false) => (b, false),
        _ => return None,
    };
    let plain = Test { value, negate: false, absolute: false, inverted: false };
    let lowered = match body.alu_op(body.def_inst(value.def)) {
        Some(AluOp::FcselGt) if matches!(op, AluOp::Seq | AluOp::Sne) => test_of(body, value, count, has_comparisons),
        _ => None,
    };
    if let Some(test) = lowered {
        return Some(Test { inverted: test.inverted ^ (op == AluOp::Seq), ..test });
    }
    match op {
        AluOp::Slt => Some(Test { negate: is_first, ..plain }),
        AluOp::Seq if is_zero_or_one(body, value.def) => Some(Test { inverted: true, ..plain }),
        AluOp::Sne if is_zero_or_one(body, value.def) => Some(plain),
        AluOp::Sge if !has_comparisons => Some(Test { negate: is_first, inverted: true, ..plain }),
        AluOp::Sne if !has_comparisons => Some(Test { absolute: true, ..plain }),
        AluOp::Seq if !has_comparisons => Some(Test { absolute: true, inverted: true, ..plain }),
        _ => None,
    }
}

fn tested(builder: &mut Builder<'_>, test: &Test, count: u8) -> AluSrc {
    let mut value = test.value;
    if test.absolute {
        value = builder.alu_sized(AluOp::Fabs, count, &[value]).into();
    }
    if test.negate {
        value = builder.alu_sized(AluOp::Fneg, count, &[value]).into();
    }
    value
}

fn fuse_selection(body: &mut Body, inst: Inst, has_comparisons: bool) -> bool {
    if body.alu_op(inst) != Some(AluOp::Fcsel) {
        return false;
    }
    let Some(def) = body.inst_def(inst) else { return false };
    let count = body.num_components(def);
    let Some(test) = test_of(body, operand(body, inst, 0), usize::from(count), has_comparisons) else { return false };
    let (mut a, mut b) = (operand(body, inst, 1), operand(body, inst, 2));
    if test.inverted {
        std::mem::swap(&mut a, &mut b);
    }
    let flags = body.alu(inst).map_or(AluFlags::NONE, |(_, flags)| flags);
    let mut builder = Builder::new(body, Cursor::Before(inst));
    builder.flags = flags;
    let value = tested(&mut builder, &test, count);
    let new = builder.alu_sized(AluOp::FcselGt, count, &[value, a, b]);
    body.replace_all_uses(def, new);
    body.remove_inst(inst);
    true
}

/// Replaces selections of 0.0 and 1.0 by comparisons or inverted comparisons: NaN is not greater than 0. For targets
/// where `CMP` takes more instructions than `SLT` and `ADD`. Returns whether anything changed.
pub(crate) fn compare_instead_of_select(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        for block in body.blocks_vec() {
            for inst in body.insts_vec(block) {
                progress |= compare_instead(body, inst);
            }
        }
    }
    progress
}

fn compare_instead(body: &mut Body, inst: Inst) -> bool {
    let op = body.alu_op(inst);
    if !matches!(op, Some(AluOp::Fcsel | AluOp::FcselGt)) {
        return false;
    }
    let Some(def) = body.inst_def(inst) else { return false };
    let count = body.num_components(def);
    let [value, a, b] = [0, 1, 2].map(|number| operand(body, inst, number));
    let inverted = match [a, b].map(|source| constant(body, source, usize::from(count))) {
        [Some(1.0), Some(0.0)] => false,
        [Some(0.0), Some(1.0)] => true,
        _ => return false,
    };
    let is_zero_or_one = op == Some(AluOp::Fcsel) || is_zero_or_one(body, value.def);
    let mut builder = Builder::new(body, Cursor::Before(inst));
    let all = |def: Def| AluSrc::new(def, tgsi_ir::Swizzle::new(&[0; 4]));
    let mut new = if is_zero_or_one {
        builder.mov(value, count)
    } else {
        let zero = all(builder.f32_const(0.0));
        builder.alu_sized(AluOp::Slt, count, &[zero, value])
    };
    if inverted {
        let one = all(builder.f32_const(1.0));
        let negative = builder.alu_sized(AluOp::Fneg, count, &[new.into()]);
        new = builder.alu_sized(AluOp::Fadd, count, &[one, negative.into()]);
    }
    body.replace_all_uses(def, new);
    body.remove_inst(inst);
    true
}

/// Replaces the inversion of 0.0 and 1.0 by the difference from 1.0, unless the inverted value can be computed
/// directly.
fn invert_truth(body: &mut Body, inst: Inst, has_comparisons: bool) -> bool {
    let Some(def) = body.inst_def(inst).filter(|_| body.alu_op(inst) == Some(AluOp::Seq)) else { return false };
    let count = body.num_components(def);
    let (a, b) = (operand(body, inst, 0), operand(body, inst, 1));
    let truth = match (is_zero(body, a, usize::from(count)), is_zero(body, b, usize::from(count))) {
        (false, true) if is_zero_or_one(body, a.def) => a,
        (true, false) if is_zero_or_one(body, b.def) => b,
        _ => return false,
    };
    let has_opposite = !has_comparisons && test_of(body, truth, usize::from(count), false).is_some();
    if has_opposite || is_condition_of_next_if(body, inst, def) {
        return false;
    }
    let mut builder = Builder::new(body, Cursor::Before(inst));
    let one = builder.f32_const(1.0);
    let negative = builder.alu_sized(AluOp::Fneg, count, &[truth]);
    let one = AluSrc::new(one, tgsi_ir::Swizzle::new(&[0; 4]));
    let new = builder.alu_sized(AluOp::Fadd, count, &[one, negative.into()]);
    body.replace_all_uses(def, new);
    body.remove_inst(inst);
    true
}

/// Replaces an inverted test by the opposite comparison, if it is the condition of an `if` and the test has no other
/// uses. A difference used only by the test is compared by its operands.
fn invert_condition(body: &mut Body, inst: Inst) -> bool {
    let Some(def) = body.inst_def(inst).filter(|_| body.alu_op(inst) == Some(AluOp::Seq)) else { return false };
    let (truth, zero) = (operand(body, inst, 0), operand(body, inst, 1));
    let is_own = |body: &Body, value: Def| body.uses_of(value).count() == 1 && body.num_components(value) == 1;
    if body.alu_op(body.def_inst(truth.def)) != Some(AluOp::FcselGt)
        || !is_zero(body, zero, 1)
        || !is_own(body, truth.def)
        || !is_condition_of_next_if(body, inst, def)
    {
        return false;
    }
    let Some(Test { value, inverted, .. }) = test_of(body, truth, 1, false) else { return false };
    let difference = body.def_inst(value.def);
    let is_difference = body.alu_op(difference) == Some(AluOp::Fadd) && is_own(body, value.def);
    let parts = is_difference.then(|| [0, 1].map(|number| through(body, value, number)));
    let mut builder = Builder::new(body, Cursor::Before(inst));
    let (least, value) = match parts {
        // a + b is greater than 0 where -b is less than a.
        Some([a, b]) => (builder.alu_sized(AluOp::Fneg, 1, &[b]).into(), a),
        None => (zero, value),
    };
    let op = if inverted { AluOp::Slt } else { AluOp::Sge };
    let new = builder.alu_sized(op, 1, &[least, value]);
    body.replace_all_uses(def, new);
    body.remove_inst(inst);
    true
}

/// Whether all uses of a value are conditions of `terminate_if`.
fn only_kills_if(body: &Body, def: Def) -> bool {
    body.uses_of(def).all(|reader| match body.user(reader) {
        User::Inst(user) => body.intrinsic(user) == Some(IntrinsicOp::TerminateIf),
        User::If(_) => false,
    })
}

/// Whether all uses of a value are such conditions, also through a reduction of its components: `KILL_IF` itself tests
/// for less than 0.
fn only_kills(body: &Body, def: Def) -> bool {
    only_kills_if(body, def)
        || body.uses_of(def).all(|reader| {
            let User::Inst(user) = body.user(reader) else { return false };
            let is_any =
                matches!(body.alu_op(user), Some(AluOp::FanyNequal2 | AluOp::FanyNequal3 | AluOp::FanyNequal4));
            is_any && body.inst_def(user).is_some_and(|any| only_kills_if(body, any))
        })
}

/// Whether the only use of a comparison is the condition of the `if` after its block. Targets with branches combine
/// both in one instruction.
fn is_condition_of_next_if(body: &Body, inst: Inst, def: Def) -> bool {
    let mut readers = body.uses_of(def);
    let (Some(reader), None) = (readers.next(), readers.next()) else { return false };
    matches!(body.user(reader), User::If(id) if Some(body.block_before_if(id)) == body.inst_block(inst))
}

/// Lowers a comparison without an opcode.
fn lower_comparison(body: &mut Body, inst: Inst) -> bool {
    let Some(op) = body.alu_op(inst) else { return false };
    let Some(def) = body.inst_def(inst) else { return false };
    let (compared, all) = match op {
        AluOp::Slt | AluOp::Sge | AluOp::Seq | AluOp::Sne => (1, false),
        AluOp::FallEqual2 => (2, true),
        AluOp::FallEqual3 => (3, true),
        AluOp::FallEqual4 => (4, true),
        AluOp::FanyNequal2 => (2, false),
        AluOp::FanyNequal3 => (3, false),
        AluOp::FanyNequal4 => (4, false),
        _ => return false,
    };
    let (a, b) = (operand(body, inst, 0), operand(body, inst, 1));
    let count = if compared > 1 { compared } else { body.num_components(def) };
    let only_kills = op == AluOp::Slt && only_kills(body, def);
    if only_kills && (is_zero(body, b, usize::from(count)) || is_zero(body, a, usize::from(count)))
        || compared > 1 && !all && body.alu_op(body.def_inst(a.def)) == Some(AluOp::Slt) && only_kills_if(body, def)
        || compared == 1 && is_condition_of_next_if(body, inst, def)
    {
        return false;
    }
    let condition = AluSrc::new(def, tgsi_ir::Swizzle::IDENTITY);
    let test = test_of(body, condition, usize::from(count), false).filter(|_| compared == 1);
    let mut builder = Builder::new(body, Cursor::Before(inst));
    let (one, zero) = (builder.f32_const(1.0), builder.f32_const(0.0));
    let (one, zero) = (AluSrc::component(one, 0), AluSrc::component(zero, 0));
    if only_kills {
        let negative = builder.alu_sized(AluOp::Fneg, count, &[b]);
        let difference = builder.alu_sized(AluOp::Fadd, count, &[a, negative.into()]);
        let new = builder.alu_sized(AluOp::Slt, count, &[difference.into(), zero]);
        body.replace_all_uses(def, new);
        body.remove_inst(inst);
        return true;
    }
    let test = test.unwrap_or_else(|| {
        let (a, b) = if matches!(op, AluOp::Slt | AluOp::Sge) { (b, a) } else { (a, b) };
        let negative = builder.alu_sized(AluOp::Fneg, count, &[b]);
        let difference = builder.alu_sized(AluOp::Fadd, count, &[a, negative.into()]);
        Test {
            value: difference.into(),
            negate: false,
            absolute: !matches!(op, AluOp::Slt | AluOp::Sge),
            inverted: matches!(op, AluOp::Sge | AluOp::Seq) || all,
        }
    });
    let value = tested(&mut builder, &test, count);
    let (a, b) = if test.inverted { (zero, one) } else { (one, zero) };
    let mut new = builder.alu_sized(AluOp::FcselGt, count, &[value, a, b]);
    if compared > 1 {
        let parts = new;
        let part = |c: u8| AluSrc::component(parts, c);
        let combine = if all { AluOp::Fmin } else { AluOp::Fmax };
        new = builder.alu_sized(combine, 1, &[part(0), part(1)]);
        for c in 2..compared {
            new = builder.alu_sized(combine, 1, &[new.into(), part(c)]);
        }
    }
    body.replace_all_uses(def, new);
    body.remove_inst(inst);
    true
}
