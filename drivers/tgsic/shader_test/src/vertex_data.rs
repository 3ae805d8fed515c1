//! The section of vertices: a line of columns, then a line for each vertex.
//!
//! ```text
//! piglit_vertex/float/2  color/vec3/float
//! -1 -1                  1 0 0
//! ```
//!
//! A fourth part of a column's head is an element of an array.

use crate::words::double;

/// The component type of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scalar {
    Float,
    Double,
    Int,
}

/// A column: an attribute.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Column {
    name: String,
    /// The element of an array of attributes.
    element: usize,
    scalar: Scalar,
    components: usize,
    values: Vec<[u32; 4]>,
    /// The third and fourth component of doubles.
    rest: Vec<[u32; 4]>,
}

/// The vertices of a file.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct VertexData {
    columns: Vec<Column>,
    rows: usize,
}

impl VertexData {
    /// Adds a line. Columns of an unknown type have no values.
    pub(crate) fn add(&mut self, line: &str) {
        if self.columns.is_empty() {
            self.columns = line.split_whitespace().filter_map(column).collect();
            return;
        }
        let mut words = line.split_whitespace();
        for column in &mut self.columns {
            if column.scalar == Scalar::Double {
                let mut value = [0.0, 0.0, 0.0, 1.0f64].map(f64::to_bits);
                for place in value.iter_mut().take(column.components) {
                    let Some(word) = words.next() else { return };
                    *place = double(word).unwrap_or(0);
                }
                let words_of =
                    |[a, b]: [u64; 2]| -> [u32; 4] { [a as u32, (a >> 32) as u32, b as u32, (b >> 32) as u32] };
                column.values.push(words_of([value[0], value[1]]));
                column.rest.push(words_of([value[2], value[3]]));
                continue;
            }
            let mut value = match column.scalar {
                Scalar::Float | Scalar::Double => [0.0f32, 0.0, 0.0, 1.0].map(f32::to_bits),
                Scalar::Int => [0, 0, 0, 1],
            };
            for place in value.iter_mut().take(column.components) {
                let Some(word) = words.next() else { return };
                let bits = word.strip_prefix("0x").and_then(|digits| u32::from_str_radix(digits, 16).ok());
                *place = match column.scalar {
                    Scalar::Float | Scalar::Double => bits.unwrap_or_else(|| word.parse().unwrap_or(0.0f32).to_bits()),
                    Scalar::Int => integer(word),
                };
            }
            column.values.push(value);
        }
        self.rows += 1;
    }

    /// The number of vertices.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// The values of an attribute by slot, four words a vertex: those of each element, and those of doubles that do not
    /// fit in the first four words.
    pub(crate) fn get(&self, name: &str) -> Vec<&[[u32; 4]]> {
        let elements = (0..).map_while(|element| {
            let column = self.columns.iter().find(|column| column.name == name && column.element == element)?;
            Some([column.values.as_slice(), column.rest.as_slice()])
        });
        elements.flatten().filter(|values| !values.is_empty()).collect()
    }
}

/// The word of an integer, decimal or hexadecimal.
fn integer(word: &str) -> u32 {
    let (is_negative, digits) = word.strip_prefix('-').map_or((false, word), |digits| (true, digits));
    let value = match digits.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).unwrap_or(0),
        None => digits.parse().unwrap_or(0i64) as u32,
    };
    if is_negative { value.wrapping_neg() } else { value }
}

/// Reads the head of a column.
fn column(head: &str) -> Option<Column> {
    let mut parts = head.split('/');
    let (name, second, third) = (parts.next()?, parts.next()?, parts.next()?);
    let scalar = |ty: &str| match ty {
        "float" | "half" => Some(Scalar::Float),
        "double" => Some(Scalar::Double),
        "int" | "uint" | "byte" | "ubyte" | "short" | "ushort" => Some(Scalar::Int),
        _ => None,
    };
    let digits = |ty: &str| ty.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(1);
    // The type of the components and their number, in either order.
    let (scalar, components) = match (third.parse(), scalar(second), scalar(third)) {
        (Ok(count), scalar, _) => (scalar?, count),
        (_, Some(scalar), None) => (scalar, digits(third)),
        (_, _, scalar) => (scalar?, digits(second)),
    };
    // Doubles are converted for an attribute whose type is given and has floats.
    let is_converted = third.parse::<usize>().is_err() && !third.starts_with('d');
    let scalar = if scalar == Scalar::Double && is_converted { Scalar::Float } else { scalar };
    let element = parts.next().and_then(|element| element.parse().ok()).unwrap_or(0);
    Some(Column { name: name.to_owned(), element, scalar, components, values: Vec::new(), rest: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_read() {
        let mut data = VertexData::default();
        for line in ["piglit_vertex/float/2 number/ivec2/int", "-1 0.5 3 -4", "1 2 0x10 -0x6"] {
            data.add(line);
        }
        assert_eq!(data.rows(), 2);
        let positions = data.get("piglit_vertex");
        assert_eq!(positions[0][0], [-1.0f32, 0.5, 0.0, 1.0].map(f32::to_bits));
        assert_eq!(data.get("number")[0][1], [16, 6u32.wrapping_neg(), 0, 1]);
        assert!(data.get("other").is_empty());
    }

    #[test]
    fn doubles_keep_their_size() {
        let mut data = VertexData::default();
        for line in ["a/double/3 b/double/dvec2 c/double/vec2", "1 2 3 0x4010000000000000 5 6 7"] {
            data.add(line);
        }
        let double = |value: f64| [value.to_bits() as u32, (value.to_bits() >> 32) as u32];
        let [one, two, three, four, five] = [1.0, 2.0, 3.0, 4.0, 5.0].map(double);
        assert_eq!(data.get("a")[0][0], [one, two].concat()[..]);
        assert_eq!(data.get("a")[1][0], [three, double(1.0)].concat()[..]);
        assert_eq!(data.get("b")[0][0], [four, five].concat()[..]);
        assert_eq!(data.get("c")[0][0], [6.0f32, 7.0, 0.0, 1.0].map(f32::to_bits));
    }
}
