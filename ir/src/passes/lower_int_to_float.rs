//! Integers become floats that hold the same numbers, for targets that have no integers.
//!
//! ```text
//! 32 %3 = f2i32 %1                     32 %3 = ftrunc %1
//! 32 %4 = load_const (3)               32 %4 = load_const (3.0)
//! 32 %5 = iadd %3, %4          =>      32 %5 = fadd %3, %4
//! 1  %6 = ilt %5, %2                   1  %6 = flt %5, %2
//! ```
//!
//! This is exact while all numbers are smaller than 2^24 and operands of unsigned opcodes are not negative. Values that only moves, vectors,
//! selections and phis hand on become floats if an integer instruction makes or reads them. Where a number meets somebody to whom bits matter it is
//! converted: an intrinsic that takes an index reads `f2i32` of it, an integer that an intrinsic made is read through `i2f32`. Constants that
//! intrinsics, textures and derefs read themselves stay integers. So the shader can be run after the pass as before, and a target knows what its
//! address registers do: they are those `f2i32`.
//!
//! Masks of booleans (`ineg(b2i32 c)`, `bcsel c, ~0, 0`) and logic on them become selections and logic on the booleans. Shifts by constants and the
//! low bits of a number become products and differences. Other bit operations, and integers of other sizes than 32 bits, are errors; the shader has
//! the same meaning as before then.

use cranelift_entity::SecondaryMap;
use thiserror::Error;

use crate::alu::{AluOp, BaseType};
use crate::body::{Body, InstData, Swizzle};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Def, Inst, Use, User};
use crate::shader::Shader;

/// An operation on integers that floats cannot do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("{inst}: {op} cannot be computed with floats")]
pub struct IntToFloatError {
    /// The instruction.
    pub inst: Inst,
    /// Its opcode.
    pub op: AluOp,
}

/// See the [module](self). Returns whether anything changed.
///
/// # Errors
/// [`IntToFloatError`]: the first operation that floats cannot do.
pub fn lower_int_to_float(shader: &mut Shader) -> Result<bool, IntToFloatError> {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= lower_masks(body);
        check(body)?;
    }
    for body in shader.bodies_mut() {
        progress |= lower_body(body);
    }
    Ok(progress)
}

// ---- masks ------------------------------------------------------------------------------------------------------------------

fn operand(body: &Body, inst: Inst, number: usize) -> AluSrc {
    let source = body.source(inst, number);
    AluSrc::new(body.src_def(source), body.swizzle(source))
}

/// Whether all of `count` components of an operand are one constant.
fn is_constant(body: &Body, source: AluSrc, count: u8, value: u64) -> bool {
    (0..usize::from(count))
        .all(|c| body.constant_component(source.def, usize::from(source.swizzle.get(c))) == Some(value))
}

/// The boolean of which an operand of `count` components is the mask.
fn mask_of(body: &Body, source: AluSrc, count: u8) -> Option<AluSrc> {
    let maker = body.def_inst(source.def);
    let inner = match body.alu_op(maker)? {
        AluOp::Ineg => {
            let number = operand(body, maker, 0);
            let below = body.def_inst(number.def);
            if body.alu_op(below) != Some(AluOp::B2i32) {
                return None;
            }
            let truth = operand(body, below, 0);
            AluSrc::new(truth.def, number.swizzle.compose(truth.swizzle))
        }
        AluOp::Bcsel => {
            let all = body.num_components(source.def);
            let is_mask = is_constant(body, operand(body, maker, 1), all, 0xffff_ffff)
                && is_constant(body, operand(body, maker, 2), all, 0);
            if !is_mask {
                return None;
            }
            operand(body, maker, 0)
        }
        _ => return None,
    };
    let truth = AluSrc::new(inner.def, source.swizzle.compose(inner.swizzle));
    (body.bit_size(truth.def) == 1 && count <= 16).then_some(truth)
}

/// Logic on masks becomes logic on booleans.
fn lower_masks(body: &mut Body) -> bool {
    let mut progress = false;
    for block in body.blocks_vec() {
        for inst in body.insts_vec(block) {
            let (Some(op), Some(def)) = (body.alu_op(inst), body.inst_def(inst)) else { continue };
            if !matches!(op, AluOp::Iand | AluOp::Ior | AluOp::Ixor | AluOp::Inot) || body.bit_size(def) != 32 {
                continue;
            }
            let count = body.num_components(def);
            let a = operand(body, inst, 0);
            let b = if op == AluOp::Inot { a } else { operand(body, inst, 1) };
            let (mask_a, mask_b) = (mask_of(body, a, count), mask_of(body, b, count));
            let has_form = match op {
                AluOp::Inot => mask_a.is_some(),
                AluOp::Iand => mask_a.is_some() || mask_b.is_some(),
                _ => mask_a.is_some() && mask_b.is_some(),
            };
            if !has_form {
                continue;
            }
            let mut builder = Builder::new(body, Cursor::Before(inst));
            let zero = AluSrc::component(builder.u32_const(0), 0);
            let select = |builder: &mut Builder<'_>, condition: AluSrc, value: AluSrc| {
                builder.alu_sized(AluOp::Bcsel, count, &[condition, value, zero])
            };
            let new = match (op, mask_a, mask_b) {
                (AluOp::Inot, Some(truth), _) => {
                    let truth = builder.alu_sized(AluOp::Inot, count, &[truth]);
                    let ones = AluSrc::component(builder.u32_const(u32::MAX), 0);
                    select(&mut builder, truth.into(), ones)
                }
                (AluOp::Iand | AluOp::Ior | AluOp::Ixor, Some(a), Some(b)) => {
                    let truth = builder.alu_sized(op, count, &[a, b]);
                    let ones = AluSrc::component(builder.u32_const(u32::MAX), 0);
                    select(&mut builder, truth.into(), ones)
                }
                (AluOp::Iand, Some(truth), None) => select(&mut builder, truth, b),
                (AluOp::Iand, None, Some(truth)) => select(&mut builder, truth, a),
                _ => continue,
            };
            body.replace_all_uses(def, new);
            body.remove_inst(inst);
            progress = true;
        }
    }
    progress
}

// ---- what becomes of an opcode --------------------------------------------------------------------------------------------------

/// What an ALU instruction is to this pass.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// No integers.
    Other,
    /// Hands values on whatever they are; its data are the sources from this one on.
    Passes(usize),
    /// Works on integers and has another form.
    Integer,
    /// Works on integers and has none.
    Impossible,
}

const fn float_form(op: AluOp) -> Option<AluOp> {
    Some(match op {
        AluOp::Iadd => AluOp::Fadd,
        AluOp::Isub => AluOp::Fsub,
        AluOp::Imul | AluOp::Amul | AluOp::Imul24 | AluOp::Imul24Relaxed => AluOp::Fmul,
        AluOp::Ineg => AluOp::Fneg,
        AluOp::Iabs => AluOp::Fabs,
        AluOp::Isign => AluOp::Fsign,
        AluOp::Imin | AluOp::Umin => AluOp::Fmin,
        AluOp::Imax | AluOp::Umax => AluOp::Fmax,
        AluOp::Ilt | AluOp::Ult => AluOp::Flt,
        AluOp::Ige | AluOp::Uge => AluOp::Fge,
        AluOp::Ieq => AluOp::Feq,
        AluOp::Ine => AluOp::Fneu,
        AluOp::BallIequal2 => AluOp::BallFequal2,
        AluOp::BallIequal3 => AluOp::BallFequal3,
        AluOp::BallIequal4 => AluOp::BallFequal4,
        AluOp::BanyInequal2 => AluOp::BanyFnequal2,
        AluOp::BanyInequal3 => AluOp::BanyFnequal3,
        AluOp::BanyInequal4 => AluOp::BanyFnequal4,
        AluOp::B2i32 => AluOp::B2f32,
        AluOp::I2f32 | AluOp::U2f32 | AluOp::I2i32 | AluOp::U2u32 => AluOp::Mov,
        AluOp::F2i32 => AluOp::Ftrunc,
        AluOp::F2u32 => AluOp::Ffloor,
        AluOp::I32cselGt => AluOp::FcselGt,
        AluOp::I32cselGe => AluOp::FcselGe,
        _ => return None,
    })
}

fn is_integer(base: BaseType) -> bool {
    matches!(base, BaseType::Int | BaseType::Uint)
}

/// Whether source `number` of an integer instruction is a number (and not a float or a boolean).
fn takes_number(op: AluOp, number: usize) -> bool {
    op.info().input_types.get(number).is_some_and(|ty| is_integer(ty.base))
}

fn kind(body: &Body, inst: Inst, op: AluOp) -> Kind {
    let Some(def) = body.inst_def(inst) else { return Kind::Other };
    let bits = |number: usize| body.bit_size(body.src(inst, number));
    let info = op.info();
    if op.is_vec_or_mov() {
        return if body.bit_size(def) == 32 { Kind::Passes(0) } else { Kind::Other };
    }
    if op == AluOp::Bcsel {
        return if body.bit_size(def) == 32 { Kind::Passes(1) } else { Kind::Other };
    }
    let numbers = (0..body.num_sources(inst)).filter(|&n| takes_number(op, n));
    let mut any = is_integer(info.output_type.base) && body.bit_size(def) != 1;
    for number in numbers {
        match bits(number) {
            // Opcodes of any width on booleans.
            1 => {}
            32 => any = true,
            _ => return Kind::Impossible,
        }
    }
    if !any {
        return Kind::Other;
    }
    let is_known = match op {
        AluOp::Imad | AluOp::Iadd3 | AluOp::Idiv | AluOp::Udiv | AluOp::Umod | AluOp::Irem | AluOp::Imod => true,
        AluOp::Ishl | AluOp::Ishr | AluOp::Ushr => constants(body, inst, 1).is_some(),
        AluOp::Iand => low_bits(body, inst).is_some(),
        _ => float_form(op).is_some(),
    };
    let narrow = matches!(body.bit_size(def), 1 | 32) && (0..body.num_sources(inst)).all(|n| matches!(bits(n), 1 | 32));
    if is_known && narrow { Kind::Integer } else { Kind::Impossible }
}

/// The constants that source `number` gives the components of the result.
fn constants(body: &Body, inst: Inst, number: usize) -> Option<Vec<u32>> {
    let source = operand(body, inst, number);
    let count = usize::from(body.num_components(body.inst_def(inst)?));
    (0..count)
        .map(|c| body.constant_component(source.def, usize::from(source.swizzle.get(c))).map(|w| w as u32))
        .collect()
}

/// The source of an `iand` that is all low bits: its number and the powers of two above them.
fn low_bits(body: &Body, inst: Inst) -> Option<(usize, Vec<u32>)> {
    [1, 0].into_iter().find_map(|number| {
        let words = constants(body, inst, number)?;
        let powers: Vec<u32> = words.iter().map(|w| w.wrapping_add(1)).collect();
        powers.iter().all(|p| p.is_power_of_two() && *p <= 1 << 24).then_some((number, powers))
    })
}

fn check(body: &Body) -> Result<(), IntToFloatError> {
    for block in body.blocks() {
        for inst in body.insts(block) {
            if let Some(op) = body.alu_op(inst)
                && kind(body, inst, op) == Kind::Impossible
            {
                return Err(IntToFloatError { inst, op });
            }
        }
    }
    Ok(())
}

// ---- what becomes of values ---------------------------------------------------------------------------------------------------------

/// The sources through which an instruction hands values on, and nothing if it does anything else.
fn passed(body: &Body, inst: Inst) -> Option<std::ops::Range<usize>> {
    let count = body.num_sources(inst);
    match body.inst(inst) {
        InstData::Phi => body.inst_def(inst).filter(|&d| body.bit_size(d) == 32).map(|_| 0..count),
        InstData::Alu { op, .. } => match kind(body, inst, *op) {
            Kind::Passes(first) => Some(first..count),
            _ => None,
        },
        _ => None,
    }
}

/// Which values will be floats that hold integers.
fn numbers(body: &Body) -> SecondaryMap<Def, bool> {
    let mut is_number: SecondaryMap<Def, bool> = SecondaryMap::new();
    let mut pending: Vec<Def> = Vec::new();
    for block in body.blocks() {
        for inst in body.insts(block) {
            let Some(op) = body.alu_op(inst) else { continue };
            if kind(body, inst, op) != Kind::Integer {
                continue;
            }
            if let Some(def) = body.inst_def(inst)
                && is_integer(op.info().output_type.base)
            {
                pending.push(def);
            }
            for number in 0..body.num_sources(inst) {
                let def = body.src(inst, number);
                if takes_number(op, number) && passed(body, body.def_inst(def)).is_some() {
                    pending.push(def);
                }
            }
        }
    }
    while let Some(def) = pending.pop() {
        if std::mem::replace(&mut is_number[def], true) {
            continue;
        }
        for reader in body.uses_of(def) {
            if let User::Inst(user) = body.user(reader)
                && let Some(range) = passed(body, user)
                && range.contains(&body.source_number(reader))
            {
                pending.extend(body.inst_def(user));
            }
        }
        let maker = body.def_inst(def);
        for number in passed(body, maker).into_iter().flatten() {
            let source = body.src(maker, number);
            if passed(body, body.def_inst(source)).is_some() {
                pending.push(source);
            }
        }
    }
    is_number
}

/// Where a conversion for a source stands.
fn before(body: &Body, inst: Inst, source: Use) -> Cursor {
    if !body.is_phi(inst) {
        return Cursor::Before(inst);
    }
    let block = body.phi_predecessor(source);
    match body.block_jump(block) {
        Some((jump, _)) => Cursor::Before(jump),
        None => Cursor::BlockEnd(block),
    }
}

fn lower_body(body: &mut Body) -> bool {
    let is_number = numbers(body);
    let all: Vec<Inst> = body.blocks_vec().into_iter().flat_map(|block| body.insts_vec(block)).collect();
    let integers: Vec<(Inst, AluOp)> = all
        .iter()
        .filter_map(|&inst| body.alu_op(inst).map(|op| (inst, op)))
        .filter(|&(inst, op)| kind(body, inst, op) == Kind::Integer)
        .collect();
    let mut progress = !integers.is_empty();
    let mut is_integer_inst: SecondaryMap<Inst, bool> = SecondaryMap::new();
    for &(inst, _) in &integers {
        is_integer_inst[inst] = true;
    }
    let mut copies: SecondaryMap<Def, Option<Def>> = SecondaryMap::new();
    // Every source gets what it wants: a number as float, or bits.
    for &inst in &all {
        let handed = passed(body, inst).filter(|_| body.inst_def(inst).is_some_and(|def| is_number[def]));
        for source in body.sources(inst) {
            let number = body.source_number(source);
            let wanted = if is_integer_inst[inst] {
                let bits = body.bit_size(body.src_def(source));
                bits == 32 && body.alu_op(inst).is_some_and(|op| takes_number(op, number))
            } else {
                handed.as_ref().is_some_and(|range| range.contains(&number))
            };
            let def = body.src_def(source);
            if wanted == is_number[def] || body.bit_size(def) != 32 {
                continue;
            }
            let maker = body.def_inst(def);
            let new = match (wanted, body.inst(maker)) {
                (true, InstData::Undef) => continue,
                (true, InstData::LoadConst { .. }) => match copies[def] {
                    Some(copy) => copy,
                    None => {
                        let words: Vec<u64> = body
                            .def_constant(def)
                            .unwrap_or(&[])
                            .iter()
                            .map(|&w| u64::from((w as u32 as i32 as f32).to_bits()))
                            .collect();
                        let copy = Builder::new(body, Cursor::After(maker)).constant(32, &words);
                        copies[def] = Some(copy);
                        copy
                    }
                },
                _ => {
                    let cursor = before(body, inst, source);
                    let op = if wanted { AluOp::I2f32 } else { AluOp::F2i32 };
                    Builder::new(body, cursor).alu(op, &[def])
                }
            };
            body.set_src(source, new);
            progress = true;
        }
    }
    for (inst, op) in integers {
        replace(body, inst, op);
    }
    progress
}

/// Gives an instruction whose numbers are floats already its new form.
fn replace(body: &mut Body, inst: Inst, op: AluOp) {
    let Some(def) = body.inst_def(inst) else { return };
    let flags = body.alu(inst).map(|(_, flags)| flags).unwrap_or_default();
    if let Some(form) = float_form(op) {
        let maker = body.def_inst(body.src(inst, 0));
        let is_whole = matches!(op, AluOp::F2i32 | AluOp::F2u32)
            && matches!(body.alu_op(maker), Some(AluOp::FroundEven | AluOp::Fceil | AluOp::Ftrunc | AluOp::Ffloor));
        body.set_inst(inst, InstData::Alu { op: if is_whole { AluOp::Mov } else { form }, flags });
        return;
    }
    let count = body.num_components(def);
    let sources: arrayvec::ArrayVec<AluSrc, 4> =
        (0..body.num_sources(inst).min(4)).map(|n| operand(body, inst, n)).collect();
    // Constants are floats by now.
    let float_constants = |body: &Body, number: usize| {
        constants(body, inst, number).map(|words| words.into_iter().map(f32::from_bits).collect::<Vec<f32>>())
    };
    let bit_constants = match op {
        AluOp::Ishl | AluOp::Ishr | AluOp::Ushr => float_constants(body, 1).map(|v| (1, v)),
        AluOp::Iand => [1, 0].into_iter().find_map(|n| {
            let is_low_bits = |m: &f32| *m >= 0.0 && (*m as u32).wrapping_add(1).is_power_of_two();
            float_constants(body, n).filter(|v| v.iter().all(is_low_bits)).map(|v| (n, v))
        }),
        _ => None,
    };
    let divides = sources.get(1).map(|&s| {
        (0..usize::from(count)).any(|c| {
            body.constant_component(s.def, usize::from(s.swizzle.get(c)))
                .is_none_or(|w| f32::from_bits(w as u32) == 0.0)
        })
    });
    let mut b = Builder::new(body, Cursor::Before(inst));
    b.flags = flags;
    let vector = |b: &mut Builder<'_>, values: &[f32]| -> AluSrc {
        let words: Vec<u64> = values.iter().map(|v| u64::from(v.to_bits())).collect();
        AluSrc::new(b.constant(32, &words), Swizzle::IDENTITY)
    };
    let new = match (op, sources.as_slice()) {
        (AluOp::Imad, &[x, y, z]) => {
            let product = b.alu_sized(AluOp::Fmul, count, &[x, y]);
            b.alu_sized(AluOp::Fadd, count, &[product.into(), z])
        }
        (AluOp::Iadd3, &[x, y, z]) => {
            let sum = b.alu_sized(AluOp::Fadd, count, &[x, y]);
            b.alu_sized(AluOp::Fadd, count, &[sum.into(), z])
        }
        (AluOp::Ishl | AluOp::Ishr | AluOp::Ushr, &[x, ..]) => {
            let Some((_, counts)) = bit_constants else { return };
            let sign = if op == AluOp::Ishl { 1 } else { -1 };
            let factors: Vec<f32> = counts.iter().map(|&n| 2f32.powi(sign * (n as i32 & 31))).collect();
            let factors = vector(&mut b, &factors);
            let product = b.alu_sized(AluOp::Fmul, count, &[x, factors]);
            if op == AluOp::Ishl { product } else { b.alu_sized(AluOp::Ffloor, count, &[product.into()]) }
        }
        (AluOp::Iand, &[x, y]) => {
            // x - 2^n * floor(x / 2^n)
            let Some((number, masks)) = bit_constants else { return };
            let x = if number == 1 { x } else { y };
            let powers: Vec<f32> = masks.iter().map(|&m| m + 1.0).collect();
            let (inverse, negative) = (
                vector(&mut b, &powers.iter().map(|p| 1.0 / p).collect::<Vec<_>>()),
                vector(&mut b, &powers.iter().map(|p| -p).collect::<Vec<_>>()),
            );
            let quotient = b.alu_sized(AluOp::Fmul, count, &[x, inverse]);
            let floor = b.alu_sized(AluOp::Ffloor, count, &[quotient.into()]);
            let multiple = b.alu_sized(AluOp::Fmul, count, &[floor.into(), negative]);
            b.alu_sized(AluOp::Fadd, count, &[multiple.into(), x])
        }
        (_, &[x, y]) => {
            let quotient = b.alu_sized(AluOp::Fdiv, count, &[x, y]);
            let round = if op == AluOp::Imod { AluOp::Ffloor } else { AluOp::Ftrunc };
            let whole = b.alu_sized(round, count, &[quotient.into()]);
            let mut result = whole;
            if matches!(op, AluOp::Umod | AluOp::Irem | AluOp::Imod) {
                let multiple = b.alu_sized(AluOp::Fmul, count, &[whole.into(), y]);
                result = b.alu_sized(AluOp::Fsub, count, &[x, multiple.into()]);
            }
            if divides == Some(true) {
                // The IR's quotient and remainder by zero are 0.
                let zero = AluSrc::component(b.f32_const(0.0), 0);
                let possible = b.alu_sized(AluOp::Fneu, count, &[y, zero]);
                result = b.alu_sized(AluOp::Bcsel, count, &[possible.into(), result.into(), zero]);
            }
            result
        }
        _ => return,
    };
    body.replace_all_uses(def, new);
    body.remove_inst(inst);
}
