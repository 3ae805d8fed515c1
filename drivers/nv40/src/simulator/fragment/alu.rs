//! The opcodes of fragment programs that compute a result from operands.

use crate::isa::fragment::{Clamp, FragmentOp, Instruction, Precision};
use crate::simulator::arithmetic::{Arithmetic, Comparison, map2, xyz};
use crate::simulator::{UNDEFINED, half, saturate};

/// Packs numbers of `bits` bits into a word, the first one lowest.
fn pack<const N: usize>(values: [f32; N], bits: u32, convert: impl Fn(f32) -> f32) -> [f32; 4] {
    let word = values.into_iter().rev().fold(0, |word, value| word << bits | convert(value) as u32);
    [f32::from_bits(word); 4]
}

/// Returns the byte of a word.
fn byte(word: f32, number: u32) -> f32 {
    (word.to_bits() >> (8 * number) & 0xff) as f32
}

/// Computes a result, or returns `None` for opcodes without one.
pub(super) fn evaluate(math: Arithmetic, op: FragmentOp, [a, b, c]: [[f32; 4]; 3]) -> Option<[f32; 4]> {
    let compare = |comparison| map2(a, b, |a, b| math.compare(comparison, a, b));
    let x = a[0];
    Some(match op {
        FragmentOp::Mov => a,
        FragmentOp::Mul => map2(a, b, |a, b| math.multiply(a, b)),
        FragmentOp::Add => map2(a, b, |a, b| math.add(a, b)),
        FragmentOp::Mad => [0, 1, 2, 3].map(|i| math.multiply_add(a[i], b[i], c[i])),
        FragmentOp::Dp2 => [math.dot([a[0], a[1]], [b[0], b[1]]); 4],
        FragmentOp::Dp2a => [math.add(math.dot([a[0], a[1]], [b[0], b[1]]), c[0]); 4],
        FragmentOp::Dp3 => [math.dot(xyz(a), xyz(b)); 4],
        FragmentOp::Dp4 => [math.dot(a, b); 4],
        FragmentOp::Dst => math.distance(a, b),
        FragmentOp::Min => map2(a, b, |a, b| math.minimum(a, b)),
        FragmentOp::Max => map2(a, b, |a, b| math.maximum(a, b)),
        FragmentOp::Slt => compare(Comparison::Less),
        FragmentOp::Sge => compare(Comparison::GreaterEqual),
        FragmentOp::Sle => compare(Comparison::LessEqual),
        FragmentOp::Sgt => compare(Comparison::Greater),
        FragmentOp::Sne => compare(Comparison::NotEqual),
        FragmentOp::Seq => compare(Comparison::Equal),
        FragmentOp::Str => [1.0; 4],
        FragmentOp::Sfl => [0.0; 4],
        FragmentOp::Frc => a.map(|a| math.fraction(a)),
        FragmentOp::Flr => a.map(|a| math.floor(a)),
        FragmentOp::Rcp => [math.reciprocal(x); 4],
        FragmentOp::Rsq => [math.reciprocal_root(x.abs()); 4],
        FragmentOp::Ex2 => [math.exponential(x); 4],
        FragmentOp::Lg2 => [math.logarithm(x); 4],
        FragmentOp::Cos => [math.cosine(x); 4],
        FragmentOp::Sin => [math.sine(x); 4],
        FragmentOp::Pow => [f64::from(math.flush(x)).powf(f64::from(math.flush(b[0]))) as f32; 4],
        FragmentOp::Lit => math.lighting(a),
        FragmentOp::Lif => [1.0, a[1], if a[1] > 0.0 { math.exponential(a[3]) } else { 0.0 }, 1.0],
        FragmentOp::Lrp => {
            [0, 1, 2, 3].map(|i| math.multiply_add(a[i], b[i], math.multiply(math.add(1.0, -a[i]), c[i])))
        }
        FragmentOp::Rfl => {
            let factor = math.dot(xyz(a), xyz(b)) / math.dot(xyz(a), xyz(a));
            let [x, y, z] = [0, 1, 2].map(|i| math.multiply_add(math.multiply(2.0, factor), a[i], -b[i]));
            [x, y, z, UNDEFINED]
        }
        FragmentOp::X2d => {
            let x = math.multiply_add(b[1], c[1], math.multiply_add(b[0], c[0], a[0]));
            let y = math.multiply_add(b[1], c[3], math.multiply_add(b[0], c[2], a[1]));
            [x, y, x, y]
        }
        FragmentOp::Nrm => {
            let square = math.dot(xyz(a), xyz(a));
            let factor = math.reciprocal_root(square);
            let [x, y, z] = xyz(a).map(|a| if square == 0.0 { 0.0 } else { a * factor });
            [x, y, z, UNDEFINED]
        }
        FragmentOp::Div => a.map(|a| math.flush(math.flush(a) / math.flush(b[0]))),
        FragmentOp::Divsq => {
            let factor = math.reciprocal_root(b[0].abs());
            a.map(|a| if math.flush(a) == 0.0 { 0.0 } else { math.flush(a * factor) })
        }
        FragmentOp::Pk4b => pack(a, 8, |value| (127.0 * value.clamp(-128.0 / 127.0, 1.0) + 128.0).round()),
        FragmentOp::Pk4ub => pack(a, 8, |value| (255.0 * saturate(value)).round()),
        FragmentOp::Pk2us => pack([a[0], a[1]], 16, |value| (65535.0 * saturate(value)).round()),
        FragmentOp::Pk2h => pack([a[0], a[1]], 16, |value| half::from_float(value).into()),
        FragmentOp::Up4b => [0, 1, 2, 3].map(|number| (byte(x, number) - 128.0) / 127.0),
        FragmentOp::Up4ub => [0, 1, 2, 3].map(|number| byte(x, number) / 255.0),
        FragmentOp::Up2us => {
            let [low, high] = [x.to_bits() & 0xffff, x.to_bits() >> 16].map(|short| short as f32 / 65535.0);
            [low, high, low, high]
        }
        FragmentOp::Up2h => {
            let [low, high] = [x.to_bits() as u16, (x.to_bits() >> 16) as u16].map(half::to_float);
            [low, high, low, high]
        }
        FragmentOp::Nop
        | FragmentOp::Kil
        | FragmentOp::Ddx
        | FragmentOp::Ddy
        | FragmentOp::Tex
        | FragmentOp::Txp
        | FragmentOp::Txd
        | FragmentOp::Txl
        | FragmentOp::Txb
        | FragmentOp::Pkg
        | FragmentOp::Upg
        | FragmentOp::Fenct
        | FragmentOp::Fencb
        | FragmentOp::Brk
        | FragmentOp::Cal
        | FragmentOp::If
        | FragmentOp::Loop
        | FragmentOp::Rep
        | FragmentOp::Ret => return None,
    })
}

/// Rounds to a fixed-point number with this many steps in a unit, from `-range` up to below `range`.
fn fixed(value: f32, range: f32, steps: f32) -> f32 {
    if value.is_nan() { 0.0 } else { (value.clamp(-range, range - 1.0 / steps) * steps).round_ties_even() / steps }
}

/// The greatest values of the fixed-point formats.
const BELOW_TWO: f32 = 2.0 - 1.0 / 1024.0;
const BELOW_ONE: f32 = 1.0 - 1.0 / 256.0;

/// Applies the clamp of an operand.
pub(super) fn clamp(value: f32, clamp: Clamp) -> f32 {
    match clamp {
        Clamp::None | Clamp::Five => value,
        Clamp::Fp16 => half::round(value),
        Clamp::Two => value.clamp(-2.0, BELOW_TWO),
        Clamp::One => value.clamp(-1.0, BELOW_ONE),
        Clamp::Unit => value.clamp(0.0, 1.0),
    }
}

/// Applies expansion, scale, saturation and precision to a component of a result.
pub(super) fn finish(instruction: &Instruction, value: f32) -> f32 {
    let value = if instruction.expands { value * 2.0 - 1.0 } else { value };
    let value = match instruction.scale.factor() {
        1.0 => value,
        factor => value * factor,
    };
    let value = if instruction.saturate { saturate(value) } else { value };
    match instruction.precision {
        Precision::Fp32 => value,
        Precision::Fp16 => half::round(value),
        Precision::Fx12 => fixed(value, 2.0, 1024.0),
        Precision::Fx9 => fixed(value, 1.0, 256.0),
    }
}
