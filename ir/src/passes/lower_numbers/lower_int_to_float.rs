//! Turns integers into floats with the same values, for targets without integers.
//!
//! ```text
//! 32 %3 = f2i32 %1                     32 %3 = ftrunc %1
//! 32 %4 = load_const (3)               32 %4 = load_const (3.0)
//! 32 %5 = iadd %3, %4          =>      32 %5 = fadd %3, %4
//! 1  %6 = ilt %5, %2                   1  %6 = flt %5, %2
//! ```
//!
//! This is exact while all numbers are from -2^24 to 2^24 and operands of unsigned opcodes are not negative;
//! `divide.rs` emits quotients and remainders. Afterwards, rules lower emitted opcodes that the target lacks. Values
//! that moves, vectors, selections and phis forward become floats if an integer instruction defines or uses them, or if
//! they are used as an index. Components are treated separately, as those of one vector are often unrelated. Numbers
//! are converted where their bits matter: an intrinsic with an index operand reads an `f2i32` of it, an integer defined
//! by an intrinsic is read through `i2f32`. Constant operands of intrinsics, textures and derefs stay integers. So the
//! shader can still be run after the pass, and a target can identify the operations on its address registers: they are
//! those `f2i32`.
//!
//! Masks (`ineg(b2i32 c)`, `bcsel c, ~0, 0`, and moves, phis, selections and logic of them) are tested for 0, and logic
//! on them becomes logic on booleans: `iand a, b` of two masks is `bcsel (iand (ine a, 0), (ine b, 0)), ~0, 0`. A float
//! that is 0.0 or 1.0 may serve as a boolean, too. Shifts by constants and extraction of low bits become products and
//! differences. Other bit operations, and integers that do not have 32 bits, are errors; the shader then keeps its
//! meaning.

mod divide;
mod masks;

use cranelift_entity::SecondaryMap;
use thiserror::Error;

use crate::alu::{AluOp, BaseType};
use crate::analysis::float_range::FloatRanges;
use crate::body::{Body, InstData, Swizzle};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Def, Inst, Use, User};
use crate::intrinsics::IntrinsicOp;
use crate::options::CompilerOptions;
use crate::passes::opt_algebraic_lower;
use crate::shader::Shader;

use divide::{Divisor, divide, zero_is_unused};
use masks::lower_masks;

/// An integer operation that floats cannot compute.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("{op} cannot be computed with floats")]
pub struct IntToFloatError {
    /// The instruction.
    pub inst: Inst,
    /// The instruction of the source that it comes from, if it is known ([`Body::nearest_origin`]).
    pub origin: Option<u32>,
    /// Its opcode.
    pub op: AluOp,
}

/// See the [module](self). Returns whether anything changed.
///
/// # Errors
/// [`IntToFloatError`]: the first operation that floats cannot compute.
pub fn lower_int_to_float(shader: &mut Shader, options: &CompilerOptions) -> Result<bool, IntToFloatError> {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= lower_masks(body);
        check(body)?;
    }
    for body in shader.bodies_mut() {
        progress |= lower_body(body, options);
    }
    if progress {
        // Booleans become comparisons with result 0.0 or 1.0, so these are kept.
        opt_algebraic_lower(shader, &CompilerOptions { lower_scmp: false, ..options.clone() });
    }
    Ok(progress)
}

fn operand(body: &Body, inst: Inst, number: usize) -> AluSrc {
    let source = body.source(inst, number);
    AluSrc::new(body.src_def(source), body.swizzle(source))
}

/// How this pass treats an ALU instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IntegerTreatment {
    /// Has no integers.
    Other,
    /// Forwards values without interpreting them; its data are the sources from this one on.
    Passes(usize),
    /// Works on integers and has a float form.
    Integer,
    /// Works on integers and has no float form.
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
        AluOp::I32cselGt => AluOp::FcselGt,
        AluOp::I32cselGe => AluOp::FcselGe,
        _ => return None,
    })
}

fn is_integer(base: BaseType) -> bool {
    matches!(base, BaseType::Int | BaseType::Uint)
}

/// Returns whether source `number` of an integer instruction is a number (and not a float or a boolean).
fn takes_number(op: AluOp, number: usize) -> bool {
    op.info().input_types.get(number).is_some_and(|ty| is_integer(ty.base))
}

fn kind(body: &Body, inst: Inst, op: AluOp) -> IntegerTreatment {
    let Some(def) = body.inst_def(inst) else { return IntegerTreatment::Other };
    let bits = |number: usize| body.bit_size(body.src(inst, number));
    let info = op.info();
    if op.is_vec_or_mov() {
        return if body.bit_size(def) == 32 { IntegerTreatment::Passes(0) } else { IntegerTreatment::Other };
    }
    if op == AluOp::Bcsel {
        return if body.bit_size(def) == 32 { IntegerTreatment::Passes(1) } else { IntegerTreatment::Other };
    }
    let numbers = (0..body.num_sources(inst)).filter(|&n| takes_number(op, n));
    let mut any = is_integer(info.output_type.base) && body.bit_size(def) != 1;
    for number in numbers {
        match bits(number) {
            // Opcodes of any width, on booleans.
            1 => {}
            32 => any = true,
            _ => return IntegerTreatment::Impossible,
        }
    }
    if !any {
        return IntegerTreatment::Other;
    }
    let is_known = match op {
        AluOp::Imad | AluOp::Iadd3 | AluOp::Idiv | AluOp::Udiv | AluOp::Umod | AluOp::Irem | AluOp::Imod => true,
        AluOp::F2u32 => true,
        AluOp::Ishl | AluOp::Ishr | AluOp::Ushr => constants(body, inst, 1).is_some(),
        AluOp::Iand => low_bits(body, inst).is_some(),
        _ => float_form(op).is_some(),
    };
    let narrow = matches!(body.bit_size(def), 1 | 32) && (0..body.num_sources(inst)).all(|n| matches!(bits(n), 1 | 32));
    if is_known && narrow { IntegerTreatment::Integer } else { IntegerTreatment::Impossible }
}

/// Returns the constant components of source `number` that the instruction reads.
fn constants(body: &Body, inst: Inst, number: usize) -> Option<Vec<u32>> {
    let source = operand(body, inst, number);
    let count = usize::from(body.num_components(body.inst_def(inst)?));
    (0..count)
        .map(|c| body.constant_component(source.def, usize::from(source.swizzle.get(c))).map(|w| w as u32))
        .collect()
}

/// Returns the source of an `iand` that is a mask of low bits: its number, and the powers of two above the masks.
fn low_bits(body: &Body, inst: Inst) -> Option<(usize, Vec<u32>)> {
    [1, 0].into_iter().find_map(|number| {
        let words = constants(body, inst, number)?;
        let powers: Vec<u32> = words.iter().map(|w| w.wrapping_add(1)).collect();
        // Masks that exclude only the sign are more likely for the bits of a float.
        powers.iter().all(|p| p.is_power_of_two() && *p <= 1 << 28).then_some((number, powers))
    })
}

fn check(body: &Body) -> Result<(), IntToFloatError> {
    for block in body.blocks() {
        for inst in body.insts(block) {
            if let Some(op) = body.alu_op(inst)
                && kind(body, inst, op) == IntegerTreatment::Impossible
            {
                return Err(IntToFloatError { inst, origin: body.nearest_origin(inst), op });
            }
        }
    }
    Ok(())
}

/// A set of components of each value.
type Components = SecondaryMap<Def, u16>;

fn all_components(count: u8) -> u16 {
    u16::MAX >> (16 - u32::from(count.clamp(1, 16)))
}

/// Returns whether an instruction forwards 32-bit values without interpreting them.
fn is_transparent(body: &Body, inst: Inst) -> bool {
    match body.inst(inst) {
        InstData::Phi => body.inst_def(inst).is_some_and(|def| body.bit_size(def) == 32),
        InstData::Alu { op, .. } => matches!(kind(body, inst, *op), IntegerTreatment::Passes(_)),
        _ => false,
    }
}

/// For an instruction that forwards its operands: returns the component of `source` that becomes result component
/// `result`, if any.
fn forwarded_component(body: &Body, inst: Inst, source: Use, result: u8) -> Option<u8> {
    let number = body.source_number(source);
    let swizzle = body.swizzle(source);
    match body.alu_op(inst) {
        None => Some(result),
        Some(AluOp::Bcsel) if number == 0 => None,
        Some(AluOp::Mov | AluOp::Bcsel) => Some(swizzle.get(usize::from(result))),
        Some(_) => (number == usize::from(result)).then(|| swizzle.get(0)),
    }
}

/// For an instruction that forwards its operands (a phi, move, vector or selection): returns the components of its
/// 32-bit result, as a mask, that are component `component` of `source`; 0 for other instructions.
pub fn forwarded_mask(body: &Body, inst: Inst, source: Use, component: u8) -> u16 {
    let Some(def) = body.inst_def(inst).filter(|_| is_transparent(body, inst)) else { return 0 };
    let results = 0..body.num_components(def);
    results.filter(|&r| forwarded_component(body, inst, source, r) == Some(component)).fold(0, |mask, r| mask | 1 << r)
}

/// Returns whether a source is an index into storage that is addressed by whole elements, so that the value of an
/// address register can be used.
pub fn is_index(body: &Body, source: Use) -> bool {
    use IntrinsicOp::*;
    let User::Inst(inst) = body.user(source) else { return false };
    let number = body.source_number(source);
    match body.intrinsic(inst) {
        None => matches!(body.inst(inst), InstData::Deref { .. }) && number == 1,
        Some(StoreOutput | LoadRegIndirect | LoadInterpolatedInput) => number == 1,
        Some(StorePerVertexOutput) => number != 0,
        Some(StoreRegIndirect) => number == 2,
        Some(LoadUniform | LoadInput | LoadOutput) => number == 0,
        Some(LoadUbo | LoadUboVec4 | LoadPerVertexInput | LoadPerVertexOutput) => true,
        Some(_) => false,
    }
}

/// Returns the components that become floats with integer values.
fn numbers(body: &Body) -> Components {
    let mut is_number = Components::new();
    let mut pending: Vec<(Def, u8)> = Vec::new();
    for block in body.blocks() {
        for inst in body.insts(block) {
            let integer = body.alu_op(inst).filter(|&op| kind(body, inst, op) == IntegerTreatment::Integer);
            if let (Some(op), Some(def)) = (integer, body.inst_def(inst))
                && is_integer(op.info().output_type.base)
            {
                pending.extend((0..body.num_components(def)).map(|c| (def, c)));
            }
            for source in body.sources(inst) {
                let def = body.src_def(source);
                let number = body.source_number(source);
                let wanted = integer.is_some_and(|op| takes_number(op, number)) || is_index(body, source);
                if wanted && is_transparent(body, body.def_inst(def)) {
                    pending.extend(components_read(body, inst, source).into_iter().map(|c| (def, c)));
                }
            }
        }
    }
    while let Some((def, component)) = pending.pop() {
        if is_number[def] & 1 << component != 0 {
            continue;
        }
        is_number[def] |= 1 << component;
        for reader in body.uses_of(def) {
            if let User::Inst(user) = body.user(reader)
                && let Some(result) = body.inst_def(user)
            {
                let reached = forwarded_mask(body, user, reader, component);
                pending.extend((0..16).filter(|c| reached & 1 << c != 0).map(|c| (result, c)));
            }
        }
        let producer = body.def_inst(def);
        if !is_transparent(body, producer) {
            continue;
        }
        for source in body.sources(producer) {
            let value = body.src_def(source);
            if let Some(part) = forwarded_component(body, producer, source, component)
                && is_transparent(body, body.def_inst(value))
            {
                pending.push((value, part));
            }
        }
    }
    is_number
}

/// Returns the component that each channel of a source reads: for an ALU source after its swizzle, for others all
/// components.
pub fn components_read(body: &Body, inst: Inst, source: Use) -> Vec<u8> {
    let swizzle = body.swizzle(source);
    if body.alu_op(inst).is_some() {
        let count = body.alu_src_components(inst, body.source_number(source));
        (0..count).map(|c| swizzle.get(c)).collect()
    } else {
        (0..body.num_components(body.src_def(source))).collect()
    }
}

/// Returns where to insert a conversion of a source.
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

fn lower_body(body: &mut Body, options: &CompilerOptions) -> bool {
    let mut is_number = numbers(body);
    let all: Vec<Inst> = body.blocks_vec().into_iter().flat_map(|block| body.insts_vec(block)).collect();
    let integers: Vec<(Inst, AluOp)> = all
        .iter()
        .filter_map(|&inst| body.alu_op(inst).map(|op| (inst, op)))
        .filter(|&(inst, op)| kind(body, inst, op) == IntegerTreatment::Integer)
        .collect();
    let mut progress = !integers.is_empty();
    let mut is_integer_inst: SecondaryMap<Inst, bool> = SecondaryMap::new();
    for &(inst, _) in &integers {
        is_integer_inst[inst] = true;
    }
    // Gives every source the form that it needs: a number as a float, or bits.
    for &inst in &all {
        let is_transparent = is_transparent(body, inst);
        for source in body.sources(inst) {
            let def = body.src_def(source);
            if body.bit_size(def) != 32 {
                continue;
            }
            let number = body.source_number(source);
            let channels = components_read(body, inst, source);
            let is_vector = body.alu_op(inst).is_some_and(AluOp::is_vec);
            let wants_number = |channel: usize| match body.inst_def(inst) {
                Some(result) if is_transparent => {
                    is_number[result] & 1 << if is_vector { number } else { channel } != 0
                }
                _ => is_integer_inst[inst] && body.alu_op(inst).is_some_and(|op| takes_number(op, number)),
            };
            let wanted: Vec<bool> = (0..channels.len()).map(wants_number).collect();
            progress |= convert_operand(body, source, &channels, &wanted, &mut is_number);
        }
    }
    let mut ranges = FloatRanges::new();
    for (inst, op) in integers {
        replace(body, &mut ranges, inst, op, options);
    }
    progress
}

/// Makes a source read numbers in the channels with `wanted`, and bits in the others. Returns whether anything changed.
fn convert_operand(body: &mut Body, source: Use, channels: &[u8], wanted: &[bool], is_number: &mut Components) -> bool {
    let User::Inst(inst) = body.user(source) else { return false };
    // The value of a constant depends on its use; forwarded numbers are signed.
    let is_unsigned = !is_transparent(body, inst)
        && body
            .alu_op(inst)
            .and_then(|op| op.info().input_types.get(body.source_number(source)))
            .is_some_and(|ty| ty.base == BaseType::Uint);
    let def = body.src_def(source);
    let producer = body.def_inst(def);
    let differs = |(component, wanted): (&u8, &bool)| (is_number[def] & 1 << component != 0) != *wanted;
    let different = channels.iter().zip(wanted).filter(|&pair| differs(pair)).count();
    if different == 0 || (matches!(body.inst(producer), InstData::Undef)) {
        return false;
    }
    let is_alu = body.alu_op(inst).is_some();
    if let Some(words) = body.def_constant(def) {
        let words: Vec<u64> = channels
            .iter()
            .zip(wanted)
            .map(|(&component, &wanted)| {
                let word = words.get(usize::from(component)).copied().unwrap_or(0);
                let number = if is_unsigned { word as u32 as f32 } else { word as u32 as i32 as f32 };
                if wanted { u64::from(number.to_bits()) } else { word }
            })
            .collect();
        let cursor = before(body, inst, source);
        let copy = Builder::new(body, cursor).constant(32, &words);
        is_number[copy] = wanted.iter().enumerate().fold(0, |mask, (c, &w)| mask | u16::from(w) << c);
        body.set_src(source, copy);
        if is_alu {
            body.set_swizzle(source, Swizzle::IDENTITY);
        }
        return true;
    }
    let cursor = before(body, inst, source);
    let mut builder = Builder::new(body, cursor);
    if different == channels.len() {
        let op = if wanted.first() == Some(&true) { AluOp::I2f32 } else { AluOp::F2i32 };
        let converted = builder.alu(op, &[def]);
        body.set_src(source, converted);
        return true;
    }
    // Some components already have the right form.
    let mut parts: arrayvec::ArrayVec<AluSrc, 16> = arrayvec::ArrayVec::new();
    let mut conversions = [None; 2];
    for (&component, &wanted) in channels.iter().zip(wanted) {
        let is_right = (is_number[def] & 1 << component != 0) == wanted;
        let value = if is_right {
            def
        } else {
            let op = if wanted { AluOp::I2f32 } else { AluOp::F2i32 };
            *conversions[usize::from(wanted)].get_or_insert_with(|| builder.alu(op, &[def]))
        };
        if parts.try_push(AluSrc::component(value, component)).is_err() {
            return false;
        }
    }
    let vector = builder.vec(&parts);
    body.set_src(source, vector);
    if is_alu {
        body.set_swizzle(source, Swizzle::IDENTITY);
    }
    true
}

/// Returns whether the components of an operand are known to be integral.
fn is_whole(body: &Body, ranges: &mut FloatRanges, source: AluSrc, count: u8) -> bool {
    let is_computed = body.alu_op(body.def_inst(source.def)).is_some();
    is_computed && ranges.of(body, source, count.into()).is_integral()
}

/// Replaces an instruction with operands that have become floats by its float form.
fn replace(body: &mut Body, ranges: &mut FloatRanges, inst: Inst, op: AluOp, options: &CompilerOptions) {
    let Some(def) = body.inst_def(inst) else { return };
    let flags = body.alu(inst).map(|(_, flags)| flags).unwrap_or_default();
    if let Some(form) = float_form(op) {
        let source = operand(body, inst, 0);
        let is_whole = op == AluOp::F2i32 && is_whole(body, ranges, source, body.num_components(def));
        body.set_inst(inst, InstData::Alu { op: if is_whole { AluOp::Mov } else { form }, flags });
        return;
    }
    let count = body.num_components(def);
    let sources: arrayvec::ArrayVec<AluSrc, 4> =
        (0..body.num_sources(inst).min(4)).map(|n| operand(body, inst, n)).collect();
    // Constants are floats here.
    let float_constants = |body: &Body, number: usize| {
        constants(body, inst, number).map(|words| words.into_iter().map(f32::from_bits).collect::<Vec<f32>>())
    };
    let bit_constants = match op {
        AluOp::Ishl | AluOp::Ishr | AluOp::Ushr => float_constants(body, 1).map(|v| (1, v)),
        AluOp::Iand => [1, 0].into_iter().find_map(|n| {
            // The masks as floats: those above 2^24 have been rounded to the power of two.
            let power = |m: f32| {
                let next = if m < 16_777_216.0 { m + 1.0 } else { m };
                (m >= 0.0 && (next as u32).is_power_of_two()).then_some(next)
            };
            let powers: Option<Vec<f32>> = float_constants(body, n)?.into_iter().map(power).collect();
            powers.map(|p| (n, p))
        }),
        _ => None,
    };
    let mut b = Builder::new(body, Cursor::Before(inst));
    b.flags = flags;
    let vector = |b: &mut Builder<'_>, values: &[f32]| -> AluSrc {
        let words: Vec<u64> = values.iter().map(|v| u64::from(v.to_bits())).collect();
        AluSrc::new(b.constant(32, &words), Swizzle::IDENTITY)
    };
    let new = match (op, sources.as_slice()) {
        (AluOp::F2u32, &[x]) => {
            // As an unsigned number, a negative number or NaN is 0.
            let whole =
                if is_whole(b.body, ranges, x, count) { x } else { b.alu_sized(AluOp::Ftrunc, count, &[x]).into() };
            let zero = AluSrc::component(b.f32_const(0.0), 0);
            b.alu_sized(AluOp::Fmax, count, &[zero, whole])
        }
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
            let Some((number, powers)) = bit_constants else { return };
            let x = if number == 1 { x } else { y };
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
            let divisor = Divisor {
                source: y,
                constants: float_constants(b.body, 1),
                zero_is_unused: zero_is_unused(b.body, def, y),
            };
            divide(&mut b, op, count, x, &divisor, options).def
        }
        _ => return,
    };
    body.replace_all_uses(def, new);
    body.remove_inst(inst);
}
