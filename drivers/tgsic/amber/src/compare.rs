//! Comparisons of buffers with expected values.

use crate::buffer::{Buffer, Number, Value};
use crate::layout::Layout;

/// A relation between a number and the expected one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Relation {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    /// Equal within a tolerance.
    Close,
}

impl Relation {
    /// The relation with this name, in either dialect.
    pub(crate) fn from_name(name: &str) -> Option<Relation> {
        Some(match name {
            "EQ" | "==" => Relation::Equal,
            "NE" | "!=" => Relation::NotEqual,
            "LT" | "<" => Relation::Less,
            "LE" | "<=" => Relation::LessOrEqual,
            "GT" | ">" => Relation::Greater,
            "GE" | ">=" => Relation::GreaterOrEqual,
            "~=" => Relation::Close,
            _ => return None,
        })
    }

    fn symbol(self) -> &'static str {
        match self {
            Relation::Equal => "==",
            Relation::NotEqual => "!=",
            Relation::Less => "<",
            Relation::LessOrEqual => "<=",
            Relation::Greater => ">",
            Relation::GreaterOrEqual => ">=",
            Relation::Close => "~=",
        }
    }
}

/// The difference that counts as equal.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tolerance {
    /// The number.
    pub value: f64,
    /// Whether it is a part of the expected value, in hundredths.
    pub is_percent: bool,
}

/// The tolerance of numbers that are compared without one.
const NUMBERS: Tolerance = Tolerance { value: 0.000_001, is_percent: true };
/// The tolerance of colours that are compared without one.
const COLORS: Tolerance = Tolerance { value: 0.002, is_percent: false };

impl Tolerance {
    /// Whether numbers are equal. All NaN are.
    fn accepts(self, found: f64, expected: f64) -> bool {
        if found.is_nan() || expected.is_nan() {
            return found.is_nan() == expected.is_nan();
        }
        let limit = if self.is_percent { self.value / 100.0 * expected.abs() } else { self.value };
        // Infinities of one sign.
        found == expected || (found - expected).abs() <= limit
    }
}

/// Compares the numbers of a buffer from a byte on. Returns the first difference.
pub fn numbers(
    buffer: &Buffer,
    layout: &Layout,
    offset: usize,
    relation: Relation,
    tolerances: &[Tolerance],
    expected: &[Value],
) -> Result<(), String> {
    let count = layout.segments.len().max(1);
    for (number, &expected) in expected.iter().enumerate() {
        let element = (number / count).saturating_mul(layout.stride).saturating_add(offset);
        let found = layout.segments.get(number % count).and_then(|s| Number::read(&buffer.bytes, s, element));
        let Some(found) = found else {
            return Err(format!("value {number} at byte {element} is beyond the {} bytes", buffer.bytes.len()));
        };
        let expected = match (expected, layout.segments.get(number % count)) {
            // A float is compared in its precision, a half in that of floats.
            (Value::Float(value), Some(segment)) if segment.bits <= 32 => Value::Float(f64::from(value as f32)),
            (expected, _) => expected,
        };
        let tolerance = tolerances.first().copied().unwrap_or(NUMBERS);
        if !holds(relation, tolerance, found, expected) {
            let expected = match (expected, found) {
                (Value::Float(value), _) => value.to_string(),
                (Value::Integer(value), Number::Unsigned(_)) => value.to_string(),
                (Value::Integer(value), _) => (value as i64).to_string(),
            };
            return Err(format!("value {number}: expected {} {expected}, found {found}", relation.symbol()));
        }
    }
    Ok(())
}

fn holds(relation: Relation, tolerance: Tolerance, found: Number, expected: Value) -> bool {
    let order = match (found, expected) {
        (Number::Unsigned(found), Value::Integer(expected)) => Some(found.cmp(&expected)),
        (Number::Signed(found), Value::Integer(expected)) => Some(found.cmp(&(expected as i64))),
        (Number::Float(found), Value::Integer(expected)) => found.partial_cmp(&(expected as i64 as f64)),
        (_, Value::Float(expected)) => found.as_float().partial_cmp(&expected),
    };
    let float = match expected {
        Value::Integer(value) if matches!(found, Number::Unsigned(_)) => value as f64,
        Value::Integer(value) => value as i64 as f64,
        Value::Float(value) => value,
    };
    let is_equal = match (found, expected) {
        (Number::Unsigned(_) | Number::Signed(_), Value::Integer(_)) => order.is_some_and(|order| order.is_eq()),
        _ => NUMBERS.accepts(found.as_float(), float),
    };
    match relation {
        Relation::Equal => is_equal,
        Relation::NotEqual => !is_equal,
        Relation::Close => tolerance.accepts(found.as_float(), float),
        Relation::Less => order.is_some_and(|order| order.is_lt()),
        Relation::LessOrEqual => order.is_some_and(|order| order.is_le()),
        Relation::Greater => order.is_some_and(|order| order.is_gt()),
        Relation::GreaterOrEqual => order.is_some_and(|order| order.is_ge()),
    }
}

/// A rectangle of texels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Area {
    /// The first texel.
    pub corner: [u32; 2],
    /// Width and height.
    pub size: [u32; 2],
}

/// Compares the colours of an area. Returns the first difference, and the number of texels with one.
pub fn colors(buffer: &Buffer, area: Area, expected: &[f64], tolerances: &[Tolerance]) -> Result<(), String> {
    let Some(format) = &buffer.format else { return Err("the buffer has no texels".to_owned()) };
    let [width, height, _] = buffer.level_size(0);
    let [right, bottom] = [0, 1].map(|axis| area.corner[axis].checked_add(area.size[axis]));
    if right.is_none_or(|right| right > width) || bottom.is_none_or(|bottom| bottom > height) {
        return Err(format!("the area is not inside of {width} x {height}"));
    }
    let tolerance = |component: usize| match tolerances {
        [] => COLORS,
        [first] => *first,
        all => all.get(component).copied().unwrap_or(COLORS),
    };
    let (mut count, mut first) = (0usize, None);
    for row in area.corner[1]..bottom.unwrap_or(0) {
        for column in area.corner[0]..right.unwrap_or(0) {
            let at = (row as usize * width as usize + column as usize) * buffer.layout.stride;
            let texel = buffer.bytes.get(at..at + buffer.layout.stride).unwrap_or_default();
            let found = format.values(texel);
            let differs = |(component, (found, expected)): (usize, (&Option<f64>, &f64))| {
                // A component that the format lacks has any value.
                found.is_some_and(|found| !tolerance(component).accepts(*expected, found))
            };
            if found.iter().zip(expected).enumerate().any(differs) {
                count += 1;
                first.get_or_insert((column, row, found));
            }
        }
    }
    match first {
        None => Ok(()),
        Some((column, row, found)) => {
            let found: Vec<f64> = found.iter().take(expected.len()).flatten().copied().collect();
            Err(format!("{count} texels differ; at ({column}, {row}): expected {expected:?}, found {found:?}"))
        }
    }
}

/// Checks that buffers can be compared.
fn comparable(a: &Buffer, b: &Buffer) -> Result<(), String> {
    if a.type_name != b.type_name {
        return Err(format!("cannot compare {} with {}", a.type_name, b.type_name));
    }
    if a.bytes.len() != b.bytes.len() || a.size != b.size {
        return Err(format!("cannot compare {} bytes with {}", a.bytes.len(), b.bytes.len()));
    }
    Ok(())
}

/// Compares the bytes of two buffers.
pub fn bytes(a: &Buffer, b: &Buffer) -> Result<(), String> {
    comparable(a, b)?;
    let different = || a.bytes.iter().zip(&b.bytes).enumerate().filter(|(_, (a, b))| a != b);
    match different().next() {
        None => Ok(()),
        Some((at, (found, expected))) => {
            let count = different().count();
            Err(format!("{count} bytes differ; at byte {at}: expected {expected}, found {found}"))
        }
    }
}

/// Compares two buffers by the root of the mean square of the differences of their numbers.
pub fn root_mean_square(a: &Buffer, b: &Buffer, tolerance: f64) -> Result<(), String> {
    comparable(a, b)?;
    let (mut sum, mut count) = (0.0, 0usize);
    for element in 0..a.elements() {
        for segment in &a.layout.segments {
            let at = element * a.layout.stride;
            let read = |buffer: &Buffer| Number::read(&buffer.bytes, segment, at).map_or(0.0, Number::as_float);
            sum += (read(a) - read(b)).powi(2);
            count += 1;
        }
    }
    let error = (sum / count.max(1) as f64).sqrt();
    if error <= tolerance { Ok(()) } else { Err(format!("the difference is {error}, the tolerance {tolerance}")) }
}

/// Values of a byte.
const BINS: usize = 256;

/// Compares the histograms of the components of two images by the earth mover's distance: the sum of the differences of
/// their cumulative distributions. The greatest distance of a component counts.
pub fn histograms(a: &Buffer, b: &Buffer, tolerance: f64) -> Result<(), String> {
    comparable(a, b)?;
    if a.layout.segments.len() != 4 || a.layout.segments.iter().any(|segment| segment.bits != 8) {
        return Err("histograms have four components of a byte".to_owned());
    }
    let mut greatest = 0f64;
    for segment in &a.layout.segments {
        let mut bins = [0i64; BINS];
        for (buffer, sign) in [(a, 1), (b, -1)] {
            for texel in buffer.bytes.chunks_exact(a.layout.stride) {
                let byte = texel.get(segment.offset).copied().unwrap_or(0);
                bins[usize::from(byte)] += sign;
            }
        }
        let (mut total, mut sum) = (0i64, 0i64);
        for bin in bins {
            sum += bin;
            total += sum.abs();
        }
        greatest = greatest.max(total as f64 / a.elements().max(1) as f64 / BINS as f64);
    }
    if greatest <= tolerance { Ok(()) } else { Err(format!("the distance is {greatest}, the tolerance {tolerance}")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{DataType, Rules};
    use pretty_assertions::assert_eq;

    fn buffer(name: &str, values: &[Value]) -> Buffer {
        let ty = DataType::from_name(name).expect("a type");
        let layout = Layout::new(&ty, false, Rules::Std430).expect("a layout");
        let mut buffer = Buffer::new("b", name.to_owned(), &ty, layout.clone());
        assert!(buffer.write(&layout, 0, values));
        buffer
    }

    #[test]
    fn numbers_are_compared_by_relation() {
        let buffer = buffer("vec3<float>", &[1.0, 2.0, f64::NAN, 4.0, 5.0, 6.0].map(Value::Float));
        let compare = |relation: Relation, offset: usize, tolerances: &[Tolerance], expected: &[f64]| {
            let expected: Vec<Value> = expected.iter().map(|&value| Value::Float(value)).collect();
            numbers(&buffer, &buffer.layout, offset, relation, tolerances, &expected)
        };
        assert_eq!(compare(Relation::Equal, 0, &[], &[1.0, 2.0, f64::NAN, 4.0]), Ok(()));
        assert_eq!(compare(Relation::Greater, 16, &[], &[3.0, 4.5]), Ok(()));
        let close = Tolerance { value: 1.0, is_percent: true };
        assert_eq!(compare(Relation::Close, 16, &[close], &[4.03, 5.0]), Ok(()));
        let error = compare(Relation::Close, 16, &[close], &[4.05]).expect_err("too far");
        assert_eq!(error, "value 0: expected ~= 4.05, found 4");
        assert!(compare(Relation::Equal, 16, &[], &[4.0, 5.0, 6.0, 7.0]).is_err());
    }

    #[test]
    fn floats_have_a_precision() {
        let single = buffer("float", &[Value::Float(0.1)]);
        let check = |value: f64| numbers(&single, &single.layout, 0, Relation::Equal, &[], &[Value::Float(value)]);
        assert_eq!(check(0.1), Ok(()));
        assert!(check(0.100_000_1).is_err());
    }

    #[test]
    fn integers_have_signs() {
        let signed = buffer("int8", &[Value::Integer(u64::MAX)]);
        let check = |relation: Relation, value: i64| {
            numbers(&signed, &signed.layout, 0, relation, &[], &[Value::Integer(value as u64)])
        };
        assert_eq!(check(Relation::Equal, -1), Ok(()));
        assert_eq!(check(Relation::Less, 0), Ok(()));
        assert_eq!(check(Relation::NotEqual, 255), Ok(()));
        assert_eq!(check(Relation::GreaterOrEqual, 0), Err("value 0: expected >= 0, found -1".to_owned()));
    }

    #[test]
    fn colors_are_fractions() {
        let texels = [0, 0, 255, 255, 1, 0, 254, 255].map(Value::Integer);
        let mut image = buffer("B8G8R8A8_UNORM", &texels);
        image.size = Some([2, 1, 1]);
        let all = Area { corner: [0, 0], size: [2, 1] };
        let red = [1.0, 0.0, 0.0, 1.0];
        assert_eq!(colors(&image, Area { corner: [0, 0], size: [1, 1] }, &red, &[]), Ok(()));
        assert_eq!(colors(&image, all, &red, &[Tolerance { value: 0.01, is_percent: false }]), Ok(()));
        let error = colors(&image, all, &red, &[]).expect_err("a difference");
        assert!(error.starts_with("1 texels differ; at (1, 0): expected [1.0, 0.0, 0.0, 1.0]"), "{error}");
        assert!(colors(&image, Area { corner: [1, 0], size: [2, 1] }, &red, &[]).is_err());
    }

    #[test]
    fn buffers_are_compared() {
        let a = buffer("R8G8B8A8_UNORM", &[0, 10, 20, 30, 0, 10, 20, 30].map(Value::Integer));
        let b = buffer("R8G8B8A8_UNORM", &[0, 10, 20, 30, 0, 10, 22, 30].map(Value::Integer));
        assert_eq!(bytes(&a, &a), Ok(()));
        assert_eq!(bytes(&a, &b), Err("1 bytes differ; at byte 6: expected 22, found 20".to_owned()));
        assert_eq!(root_mean_square(&a, &b, 0.71), Ok(()));
        assert!(root_mean_square(&a, &b, 0.7).is_err());
        // One of two texels moves by two bins.
        assert_eq!(histograms(&a, &b, 1.0 / 256.0), Ok(()));
        assert!(histograms(&a, &b, 0.99 / 256.0).is_err());
        let other = buffer("float", &[Value::Float(1.0), Value::Float(2.0)]);
        assert!(bytes(&a, &other).is_err());
    }
}
