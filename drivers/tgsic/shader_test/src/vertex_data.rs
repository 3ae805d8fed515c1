//! The section of vertices: a line of columns, then a line for each vertex.
//!
//! ```text
//! piglit_vertex/float/2  color/vec3/float
//! -1 -1                  1 0 0
//! ```

/// The component type of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scalar {
    Float,
    Int,
}

/// A column: an attribute.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Column {
    name: String,
    scalar: Scalar,
    components: usize,
    values: Vec<[u32; 4]>,
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
            let mut value = match column.scalar {
                Scalar::Float => [0.0f32, 0.0, 0.0, 1.0].map(f32::to_bits),
                Scalar::Int => [0, 0, 0, 1],
            };
            for place in value.iter_mut().take(column.components) {
                let Some(word) = words.next() else { return };
                let bits = word.strip_prefix("0x").and_then(|digits| u32::from_str_radix(digits, 16).ok());
                *place = match column.scalar {
                    Scalar::Float => bits.unwrap_or_else(|| word.parse().unwrap_or(0.0f32).to_bits()),
                    Scalar::Int => bits.unwrap_or_else(|| word.parse().unwrap_or(0i64) as u32),
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

    /// The values of an attribute, four words a vertex.
    pub(crate) fn get(&self, name: &str) -> Option<&[[u32; 4]]> {
        self.columns.iter().find(|column| column.name == name).map(|column| column.values.as_slice())
    }
}

/// Reads the head of a column.
fn column(head: &str) -> Option<Column> {
    let mut parts = head.split('/');
    let (name, second, third) = (parts.next()?, parts.next()?, parts.next()?);
    let (ty, components) = match third.parse() {
        Ok(count) => (second, count),
        Err(_) => (third, second.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(1)),
    };
    let scalar = match ty {
        "float" | "double" | "half" => Scalar::Float,
        "int" | "uint" | "byte" | "ubyte" | "short" | "ushort" => Scalar::Int,
        _ => return None,
    };
    Some(Column { name: name.to_owned(), scalar, components, values: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_read() {
        let mut data = VertexData::default();
        for line in ["piglit_vertex/float/2 number/ivec2/int", "-1 0.5 3 -4", "1 2 0x10 6"] {
            data.add(line);
        }
        assert_eq!(data.rows(), 2);
        let positions = data.get("piglit_vertex").expect("a column");
        assert_eq!(positions[0], [-1.0f32, 0.5, 0.0, 1.0].map(f32::to_bits));
        assert_eq!(data.get("number").expect("a column")[1], [16, 6, 0, 1]);
        assert!(data.get("other").is_none());
    }
}
