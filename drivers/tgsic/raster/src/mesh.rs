//! Triangles: a built-in square or sphere, or a file in Wavefront's OBJ format.

use std::io::BufRead;

use thiserror::Error;

/// A property of a vertex, four floats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attribute {
    /// Position: x, y, z, 1.
    Position,
    /// Texture coordinates: u, v, 0, 1; v points up.
    TextureCoordinate,
    /// Normal: x, y, z, 0.
    Normal,
    /// Colour: red, green, blue, 1; white if the file has none.
    Color,
}

impl Attribute {
    /// All of them, in the default order of the inputs of vertex shaders.
    pub const ALL: [Attribute; 4] =
        [Attribute::Position, Attribute::TextureCoordinate, Attribute::Normal, Attribute::Color];

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Attribute::Position => "position",
            Attribute::TextureCoordinate => "texcoord",
            Attribute::Normal => "normal",
            Attribute::Color => "color",
        }
    }
}

/// A vertex.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Vertex {
    /// Values in the order of [`Attribute::ALL`].
    pub attributes: [[f32; 4]; 4],
}

impl Vertex {
    /// Returns the value of an attribute.
    pub fn get(&self, attribute: Attribute) -> [f32; 4] {
        self.attributes[attribute as usize]
    }
}

/// Triangles.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Mesh {
    /// Vertices.
    pub vertices: Vec<Vertex>,
    /// Three vertex indices for each triangle, all in bounds.
    pub triangles: Vec<[u32; 3]>,
}

/// A file that is not a mesh.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum MeshError {
    /// The OBJ parser rejects it.
    #[error("not a mesh in Wavefront OBJ format: {0}")]
    Format(String),
    /// It has no triangles.
    #[error("the mesh has no triangles")]
    Empty,
}

impl Mesh {
    /// Returns a square from -1 to 1 in x and y at z = 0, with texture coordinates from 0 to 1.
    pub fn quad() -> Mesh {
        let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
        let vertex = |[x, y]: [f32; 2]| Vertex {
            attributes: [[x, y, 0.0, 1.0], [x * 0.5 + 0.5, y * 0.5 + 0.5, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0], [1.0; 4]],
        };
        Mesh { vertices: corners.map(vertex).to_vec(), triangles: vec![[0, 1, 2], [0, 2, 3]] }
    }

    /// Returns a sphere of radius 1 around the origin, seen from outside, with texture coordinates by longitude and
    /// latitude.
    pub fn sphere() -> Mesh {
        const ROWS: u32 = 32;
        const COLUMNS: u32 = 64;
        let vertex = |row: u32, column: u32| {
            let (u, v) = (column as f32 / COLUMNS as f32, row as f32 / ROWS as f32);
            let (longitude, latitude) = (u * std::f32::consts::TAU, (v - 0.5) * std::f32::consts::PI);
            let (x, z) = (-latitude.cos() * longitude.cos(), latitude.cos() * longitude.sin());
            // The front is at positive z, like the normal of the square; in clip space, near is at negative z.
            let (y, normal) = (latitude.sin(), [x, latitude.sin(), z, 0.0]);
            Vertex { attributes: [[x, y, -z, 1.0], [u, v, 0.0, 1.0], normal, [1.0; 4]] }
        };
        let rows = (0..=ROWS).flat_map(|row| (0..=COLUMNS).map(move |column| vertex(row, column)));
        let corners = (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| row * (COLUMNS + 1) + column));
        let above = COLUMNS + 1;
        let triangles = corners.flat_map(|at| [[at, at + 1, at + above + 1], [at, at + above + 1, at + above]]);
        Mesh { vertices: rows.collect(), triangles: triangles.collect() }
    }

    /// Parses Wavefront OBJ. Polygons become triangles, materials are ignored. Missing normals are computed from the
    /// faces around a vertex.
    ///
    /// # Errors
    /// The text is not an OBJ file, or has no faces.
    pub fn from_obj(text: &mut impl BufRead) -> Result<Mesh, MeshError> {
        let options = tobj::LoadOptions { triangulate: true, single_index: true, ..tobj::LoadOptions::default() };
        let no_materials = |_: &std::path::Path| Ok((Vec::new(), Default::default()));
        let (models, _) =
            tobj::load_obj_buf(text, &options, no_materials).map_err(|error| MeshError::Format(error.to_string()))?;
        let mut mesh = Mesh::default();
        for tobj::Model { mesh: model, .. } in models {
            let base = mesh.vertices.len() as u32;
            let count = model.positions.len() / 3;
            let triple = |values: &[f32], at: usize| values.get(3 * at..3 * at + 3).map(|v| [v[0], v[1], v[2]]);
            let pair = |values: &[f32], at: usize| values.get(2 * at..2 * at + 2).map(|v| [v[0], v[1]]);
            for at in 0..count {
                let [x, y, z] = triple(&model.positions, at).unwrap_or_default();
                let [u, v] = pair(&model.texcoords, at).unwrap_or_default();
                let [nx, ny, nz] = triple(&model.normals, at).unwrap_or_default();
                let [red, green, blue] = triple(&model.vertex_color, at).unwrap_or([1.0; 3]);
                let attributes = [[x, y, z, 1.0], [u, v, 0.0, 1.0], [nx, ny, nz, 0.0], [red, green, blue, 1.0]];
                mesh.vertices.push(Vertex { attributes });
            }
            let triangles = model.indices.chunks_exact(3).filter(|t| t.iter().all(|&i| (i as usize) < count));
            let first = mesh.triangles.len();
            mesh.triangles.extend(triangles.map(|t| [base + t[0], base + t[1], base + t[2]]));
            if model.normals.is_empty() {
                mesh.add_normals(first, base as usize);
            }
        }
        if mesh.triangles.is_empty() { Err(MeshError::Empty) } else { Ok(mesh) }
    }

    /// Sets the normals of the vertices from `base` on to those of the triangles from `first` on, weighted by area.
    fn add_normals(&mut self, first: usize, base: usize) {
        let position = |mesh: &Mesh, index: u32| mesh.vertices[index as usize].get(Attribute::Position);
        for number in first..self.triangles.len() {
            let triangle = self.triangles[number];
            let [a, b, c] = triangle.map(|index| position(self, index));
            let (u, v) = (difference(b, a), difference(c, a));
            let normal = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
            for index in triangle {
                let sum = &mut self.vertices[index as usize].attributes[Attribute::Normal as usize];
                sum.iter_mut().zip(normal).for_each(|(sum, value)| *sum += value);
            }
        }
        for vertex in &mut self.vertices[base..] {
            let normal = &mut vertex.attributes[Attribute::Normal as usize];
            let length = normal.iter().map(|x| x * x).sum::<f32>().sqrt();
            if length > 0.0 {
                normal.iter_mut().for_each(|x| *x /= length);
            }
        }
    }

    /// Moves and scales the mesh to fit the cube from -1 to 1, keeping its proportions.
    pub fn fit(&mut self) {
        let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
        for vertex in &self.vertices {
            for (axis, &x) in vertex.get(Attribute::Position).iter().take(3).enumerate() {
                (low[axis], high[axis]) = (low[axis].min(x), high[axis].max(x));
            }
        }
        let half = (0..3).map(|axis| (high[axis] - low[axis]) * 0.5).fold(0.0, f32::max);
        if !(half.is_finite() && half > 0.0) {
            return;
        }
        for vertex in &mut self.vertices {
            let position = &mut vertex.attributes[Attribute::Position as usize];
            for (axis, x) in position.iter_mut().take(3).enumerate() {
                *x = (*x - (low[axis] + high[axis]) * 0.5) / half;
            }
        }
    }
}

fn difference(a: [f32; 4], b: [f32; 4]) -> [f32; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_of_a_file_become_triangles_with_normals() {
        let text = "v 0 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\nf 1 2 3 4\n";
        let mut mesh = Mesh::from_obj(&mut text.as_bytes()).expect("a mesh");
        assert_eq!(mesh.triangles.len(), 2);
        assert!(mesh.vertices.iter().all(|v| v.get(Attribute::Normal) == [0.0, 0.0, 1.0, 0.0]));
        assert!(mesh.vertices.iter().all(|v| v.get(Attribute::Color) == [1.0; 4]));
        mesh.fit();
        let mut corners: Vec<_> = mesh.vertices.iter().map(|v| v.get(Attribute::Position).map(|x| x as i32)).collect();
        corners.sort_unstable();
        assert_eq!(corners, [[-1, -1, 0, 1], [-1, 1, 0, 1], [1, -1, 0, 1], [1, 1, 0, 1]]);
    }

    /// Each triangle of the front half is counter-clockwise on the screen.
    #[test]
    fn spheres_are_seen_from_outside() {
        let mesh = Mesh::sphere();
        let is_front = |triangle: &[u32; 3]| {
            let [a, b, c] = triangle.map(|index| mesh.vertices[index as usize].get(Attribute::Position));
            let (u, v) = (difference(b, a), difference(c, a));
            (u[0] * v[1] - u[1] * v[0], a[2] + b[2] + c[2])
        };
        let visible = mesh.triangles.iter().map(is_front).filter(|&(_, depth)| depth < -0.1);
        assert!(visible.clone().count() > 1000);
        assert!(visible.clone().all(|(area, _)| area >= -1e-6));
    }

    #[test]
    fn what_is_no_mesh_is_an_error() {
        assert_eq!(Mesh::from_obj(&mut &b"v 0 0 0\n"[..]), Err(MeshError::Empty));
        assert!(matches!(Mesh::from_obj(&mut &b"v 0 zero 0\nf 1 2 3\n"[..]), Err(MeshError::Format(_))));
        assert!(Mesh::from_obj(&mut &b"v 0 0 0\nf 1 2 9\n"[..]).is_err());
    }
}
