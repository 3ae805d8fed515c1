//! Primitives from vertices.

/// The way to form primitives from vertices. Names are those of Vulkan; quads are OpenGL's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names are those of the interfaces")]
pub enum Topology {
    PointList,
    LineList,
    LineListWithAdjacency,
    LineStrip,
    LineStripWithAdjacency,
    LineLoop,
    TriangleList,
    TriangleListWithAdjacency,
    TriangleStrip,
    TriangleStripWithAdjacency,
    TriangleFan,
    Quads,
    QuadStrip,
    PatchList,
}

impl Topology {
    /// The number of assembled primitives that have one number: the triangles of a quad.
    pub fn parts(self) -> u32 {
        if matches!(self, Topology::Quads | Topology::QuadStrip) { 2 } else { 1 }
    }

    /// The topology with a name of Vulkan: `TRIANGLE_LIST`.
    pub fn from_name(name: &str) -> Option<Topology> {
        Some(match name {
            "POINT_LIST" => Topology::PointList,
            "LINE_LIST" => Topology::LineList,
            "LINE_LIST_WITH_ADJACENCY" => Topology::LineListWithAdjacency,
            "LINE_STRIP" => Topology::LineStrip,
            "LINE_STRIP_WITH_ADJACENCY" => Topology::LineStripWithAdjacency,
            "TRIANGLE_LIST" => Topology::TriangleList,
            "TRIANGLE_LIST_WITH_ADJACENCY" => Topology::TriangleListWithAdjacency,
            "TRIANGLE_STRIP" => Topology::TriangleStrip,
            "TRIANGLE_STRIP_WITH_ADJACENCY" => Topology::TriangleStripWithAdjacency,
            "TRIANGLE_FAN" => Topology::TriangleFan,
            "PATCH_LIST" => Topology::PatchList,
            _ => return None,
        })
    }

    /// The topology with a name of OpenGL: `GL_TRIANGLE_STRIP`.
    pub fn from_gl_name(name: &str) -> Option<Topology> {
        Some(match name {
            "GL_POINTS" => Topology::PointList,
            "GL_LINES" => Topology::LineList,
            "GL_LINE_LOOP" => Topology::LineLoop,
            "GL_LINE_STRIP" => Topology::LineStrip,
            "GL_LINES_ADJACENCY" => Topology::LineListWithAdjacency,
            "GL_LINE_STRIP_ADJACENCY" => Topology::LineStripWithAdjacency,
            "GL_TRIANGLES" => Topology::TriangleList,
            "GL_TRIANGLES_ADJACENCY" => Topology::TriangleListWithAdjacency,
            "GL_TRIANGLE_STRIP" => Topology::TriangleStrip,
            "GL_TRIANGLE_STRIP_ADJACENCY" => Topology::TriangleStripWithAdjacency,
            "GL_TRIANGLE_FAN" => Topology::TriangleFan,
            "GL_QUADS" => Topology::Quads,
            "GL_QUAD_STRIP" => Topology::QuadStrip,
            "GL_PATCHES" => Topology::PatchList,
            _ => return None,
        })
    }
}

/// The vertex of a primitive that flat inputs come from.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Provoking {
    /// The first one, as in Vulkan.
    First,
    /// The last one, as in OpenGL.
    #[default]
    Last,
}

/// The part of triangles that is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum PolygonMode {
    /// The inside.
    #[default]
    Fill,
    /// The edges.
    Line,
    /// The corners.
    Point,
    /// The smallest rectangle around the triangle with sides along x and y (`GL_NV_fill_rectangle`).
    Rectangle,
}

/// A primitive: places of its vertices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Primitive {
    /// A point.
    Point([usize; 1]),
    /// A line.
    Line([usize; 2]),
    /// A triangle.
    Triangle([usize; 3]),
}

impl Primitive {
    /// The places of the vertices.
    pub fn places(&self) -> &[usize] {
        match self {
            Primitive::Point(places) => places,
            Primitive::Line(places) => places,
            Primitive::Triangle(places) => places,
        }
    }

    /// The same primitive of vertices that are `first` places later.
    pub fn moved(&self, first: usize) -> Primitive {
        match *self {
            Primitive::Point(places) => Primitive::Point(places.map(|place| first + place)),
            Primitive::Line(places) => Primitive::Line(places.map(|place| first + place)),
            Primitive::Triangle(places) => Primitive::Triangle(places.map(|place| first + place)),
        }
    }
}

/// The form of the primitives of a stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Points.
    Points,
    /// Lines.
    Lines,
    /// Triangles.
    Triangles,
}

/// The vertices of primitives in order, with adjacent ones. Patches have `patch` vertices. Vertices of an incomplete
/// primitive are omitted.
pub fn assemble(topology: Topology, count: usize, patch: usize, provoking: Provoking) -> Vec<Vec<usize>> {
    let lists = |size: usize| -> Vec<Vec<usize>> {
        (0..count / size.max(1)).map(|number| (number * size..(number + 1) * size).collect()).collect()
    };
    let windows = |size: usize| 0..(count + 1).saturating_sub(size);
    match topology {
        Topology::PointList => lists(1),
        Topology::LineList => lists(2),
        Topology::LineListWithAdjacency => lists(4),
        Topology::TriangleList => lists(3),
        Topology::TriangleListWithAdjacency => lists(6),
        Topology::PatchList => lists(patch),
        Topology::LineStrip => windows(2).map(|at| vec![at, at + 1]).collect(),
        Topology::LineLoop if count < 2 => Vec::new(),
        Topology::LineLoop => (0..count).map(|at| vec![at, (at + 1) % count]).collect(),
        Topology::LineStripWithAdjacency => windows(4).map(|at| (at..at + 4).collect()).collect(),
        Topology::TriangleStrip => windows(3).map(|at| strip_triangle(at, provoking).to_vec()).collect(),
        Topology::TriangleFan if provoking == Provoking::First => {
            windows(3).map(|at| vec![at + 1, at + 2, 0]).collect()
        }
        Topology::TriangleFan => windows(3).map(|at| vec![0, at + 1, at + 2]).collect(),
        Topology::Quads => {
            let quads = (0..count / 4).map(|at| 4 * at);
            quads.flat_map(|at| halves([at, at + 1, at + 2, at + 3], provoking)).collect()
        }
        // The vertices around a quad, of which the last one provokes, or the first.
        Topology::QuadStrip => {
            let quads = (0..(count / 2).saturating_sub(1)).map(|at| 2 * at);
            let around = |at: usize| match provoking {
                Provoking::First => [at, at + 1, at + 3, at + 2],
                Provoking::Last => [at + 2, at, at + 1, at + 3],
            };
            quads.flat_map(|at| halves(around(at), provoking)).collect()
        }
        Topology::TriangleStripWithAdjacency => {
            let triangles = (count / 2).saturating_sub(2);
            (0..triangles).map(|at| adjacent_triangle(at, triangles, provoking).to_vec()).collect()
        }
    }
}

/// The triangles of a quad: the vertices around it, of which the first or the last one provokes.
fn halves([a, b, c, d]: [usize; 4], provoking: Provoking) -> [Vec<usize>; 2] {
    match provoking {
        Provoking::First => [vec![a, b, c], vec![a, c, d]],
        Provoking::Last => [vec![a, b, d], vec![b, c, d]],
    }
}

/// A triangle of a strip.
pub fn strip_triangle(at: usize, provoking: Provoking) -> [usize; 3] {
    match (at.is_multiple_of(2), provoking) {
        (true, _) => [at, at + 1, at + 2],
        (false, Provoking::First) => [at, at + 2, at + 1],
        (false, Provoking::Last) => [at + 1, at, at + 2],
    }
}

/// A triangle of a strip with adjacent vertices, of which every second one is on the strip: corners alternate with the
/// vertices beyond the edges after them.
fn adjacent_triangle(at: usize, triangles: usize, provoking: Provoking) -> [usize; 6] {
    let first = 2 * at;
    let (is_first, is_last) = (at == 0, at + 1 == triangles);
    let before = if is_first { first + 1 } else { first - 2 };
    let after = if is_last { first + 5 } else { first + 6 };
    match (at.is_multiple_of(2), provoking) {
        (true, _) => [first, before, first + 2, after, first + 4, first + 3],
        (false, Provoking::Last) => [first + 2, before, first, first + 3, first + 4, after],
        (false, Provoking::First) => [first, first + 3, first + 4, after, first + 2, before],
    }
}

/// The primitive of assembled vertices, without adjacent ones; `None` for patches.
pub fn primitive(topology: Topology, vertices: &[usize]) -> Option<Primitive> {
    match (topology, vertices) {
        (Topology::PatchList, _) => None,
        (Topology::LineListWithAdjacency | Topology::LineStripWithAdjacency, &[_, a, b, _]) => {
            Some(Primitive::Line([a, b]))
        }
        (_, &[a, _, b, _, c, _]) => Some(Primitive::Triangle([a, b, c])),
        (_, &[a]) => Some(Primitive::Point([a])),
        (_, &[a, b]) => Some(Primitive::Line([a, b])),
        (_, &[a, b, c]) => Some(Primitive::Triangle([a, b, c])),
        _ => None,
    }
}

/// The primitives of a strip of vertices, from place `first` on.
pub fn strip(form: Form, first: usize, count: usize, provoking: Provoking) -> Vec<Primitive> {
    let windows = |size: usize| 0..(count + 1).saturating_sub(size);
    match form {
        Form::Points => windows(1).map(|at| Primitive::Point([first + at])).collect(),
        Form::Lines => windows(2).map(|at| Primitive::Line([first + at, first + at + 1])).collect(),
        Form::Triangles => {
            let triangles = windows(3).map(|at| Primitive::Triangle(strip_triangle(at, provoking)));
            triangles.map(|triangle| triangle.moved(first)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn topologies_form_primitives() {
        let of = |topology: Topology, count: usize, provoking: Provoking| -> Vec<Primitive> {
            let assembled = assemble(topology, count, 3, provoking);
            assembled.iter().filter_map(|vertices| primitive(topology, vertices)).collect()
        };
        let all = |topology: Topology, count: usize| of(topology, count, Provoking::First);
        let last = |topology: Topology, count: usize| of(topology, count, Provoking::Last);
        let triangles =
            |list: &[[usize; 3]]| -> Vec<Primitive> { list.iter().copied().map(Primitive::Triangle).collect() };
        assert_eq!(all(Topology::TriangleStrip, 5), triangles(&[[0, 1, 2], [1, 3, 2], [2, 3, 4]]));
        assert_eq!(all(Topology::TriangleFan, 4), triangles(&[[1, 2, 0], [2, 3, 0]]));
        assert_eq!(all(Topology::TriangleList, 5), triangles(&[[0, 1, 2]]));
        assert_eq!(all(Topology::TriangleListWithAdjacency, 6), triangles(&[[0, 2, 4]]));
        assert_eq!(all(Topology::LineStripWithAdjacency, 5), [Primitive::Line([1, 2]), Primitive::Line([2, 3])]);
        assert_eq!(all(Topology::PatchList, 6), []);
        assert_eq!(all(Topology::TriangleStrip, 2), []);
        assert_eq!(all(Topology::TriangleStripWithAdjacency, 9), triangles(&[[0, 2, 4], [2, 6, 4]]));
        assert_eq!(last(Topology::TriangleStripWithAdjacency, 9), triangles(&[[0, 2, 4], [4, 2, 6]]));
        assert_eq!(last(Topology::TriangleStrip, 5), triangles(&[[0, 1, 2], [2, 1, 3], [2, 3, 4]]));
        assert_eq!(last(Topology::TriangleFan, 4), triangles(&[[0, 1, 2], [0, 2, 3]]));
        assert_eq!(last(Topology::Quads, 7), triangles(&[[0, 1, 3], [1, 2, 3]]));
        assert_eq!(last(Topology::QuadStrip, 5), triangles(&[[2, 0, 3], [0, 1, 3]]));
        assert_eq!(all(Topology::Quads, 4), triangles(&[[0, 1, 2], [0, 2, 3]]));
        assert_eq!(all(Topology::QuadStrip, 4), triangles(&[[0, 1, 3], [0, 3, 2]]));
        let lines = [[0, 1], [1, 2], [2, 0]].map(Primitive::Line);
        assert_eq!(last(Topology::LineLoop, 3), lines);
        let strip = |form: Form| strip(form, 4, 3, Provoking::Last);
        assert_eq!(strip(Form::Lines), [Primitive::Line([4, 5]), Primitive::Line([5, 6])]);
        assert_eq!(strip(Form::Triangles), [Primitive::Triangle([4, 5, 6])]);
        let adjacent = assemble(Topology::TriangleStripWithAdjacency, 10, 0, Provoking::Last);
        assert_eq!(adjacent, [[0, 1, 2, 6, 4, 3], [4, 0, 2, 5, 6, 8], [4, 2, 6, 9, 8, 7]]);
    }
}
