//! Primitives from vertices.

use crate::script::Topology;

/// A primitive: places of its vertices. The first one is provoking.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Primitive {
    Point([usize; 1]),
    Line([usize; 2]),
    Triangle([usize; 3]),
}

/// The form of the primitives of a stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    Points,
    Lines,
    Triangles,
}

/// The vertices of primitives in order, with adjacent ones; `None` for a topology that is not here. Patches have
/// `patch` vertices.
pub(crate) fn assemble(topology: Topology, count: usize, patch: usize) -> Option<Vec<Vec<usize>>> {
    let lists = |size: usize| -> Vec<Vec<usize>> {
        (0..count / size.max(1)).map(|number| (number * size..(number + 1) * size).collect()).collect()
    };
    let windows = |size: usize| 0..(count + 1).saturating_sub(size);
    Some(match topology {
        Topology::PointList => lists(1),
        Topology::LineList => lists(2),
        Topology::LineListWithAdjacency => lists(4),
        Topology::TriangleList => lists(3),
        Topology::TriangleListWithAdjacency => lists(6),
        Topology::PatchList => lists(patch),
        Topology::LineStrip => windows(2).map(|at| vec![at, at + 1]).collect(),
        Topology::LineStripWithAdjacency => windows(4).map(|at| (at..at + 4).collect()).collect(),
        Topology::TriangleStrip => windows(3).map(|at| strip_triangle(at).to_vec()).collect(),
        Topology::TriangleFan => windows(3).map(|at| vec![at + 1, at + 2, 0]).collect(),
        Topology::TriangleStripWithAdjacency => return None,
    })
}

/// A triangle of a strip.
pub(crate) fn strip_triangle(at: usize) -> [usize; 3] {
    if at.is_multiple_of(2) { [at, at + 1, at + 2] } else { [at, at + 2, at + 1] }
}

/// The primitive of assembled vertices, without adjacent ones; `None` for patches.
pub(crate) fn primitive(topology: Topology, vertices: &[usize]) -> Option<Primitive> {
    match (topology, vertices) {
        (Topology::PatchList, _) => None,
        (Topology::LineListWithAdjacency | Topology::LineStripWithAdjacency, &[_, a, b, _]) => {
            Some(Primitive::Line([a, b]))
        }
        (Topology::TriangleListWithAdjacency, &[a, _, b, _, c, _]) => Some(Primitive::Triangle([a, b, c])),
        (_, &[a]) => Some(Primitive::Point([a])),
        (_, &[a, b]) => Some(Primitive::Line([a, b])),
        (_, &[a, b, c]) => Some(Primitive::Triangle([a, b, c])),
        _ => None,
    }
}

/// The primitives of a strip of vertices, from place `first` on.
pub(crate) fn strip(form: Form, first: usize, count: usize) -> Vec<Primitive> {
    let windows = |size: usize| 0..(count + 1).saturating_sub(size);
    match form {
        Form::Points => windows(1).map(|at| Primitive::Point([first + at])).collect(),
        Form::Lines => windows(2).map(|at| Primitive::Line([first + at, first + at + 1])).collect(),
        Form::Triangles => {
            windows(3).map(|at| Primitive::Triangle(strip_triangle(at).map(|vertex| first + vertex))).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn topologies_form_primitives() {
        let all = |topology: Topology, count: usize| -> Vec<Primitive> {
            let assembled = assemble(topology, count, 3).expect("a topology");
            assembled.iter().filter_map(|vertices| primitive(topology, vertices)).collect()
        };
        let triangles =
            |list: &[[usize; 3]]| -> Vec<Primitive> { list.iter().copied().map(Primitive::Triangle).collect() };
        assert_eq!(all(Topology::TriangleStrip, 5), triangles(&[[0, 1, 2], [1, 3, 2], [2, 3, 4]]));
        assert_eq!(all(Topology::TriangleFan, 4), triangles(&[[1, 2, 0], [2, 3, 0]]));
        assert_eq!(all(Topology::TriangleList, 5), triangles(&[[0, 1, 2]]));
        assert_eq!(all(Topology::TriangleListWithAdjacency, 6), triangles(&[[0, 2, 4]]));
        assert_eq!(all(Topology::LineStripWithAdjacency, 5), [Primitive::Line([1, 2]), Primitive::Line([2, 3])]);
        assert_eq!(all(Topology::PatchList, 6), []);
        assert_eq!(all(Topology::TriangleStrip, 2), []);
        assert_eq!(strip(Form::Lines, 4, 3), [Primitive::Line([4, 5]), Primitive::Line([5, 6])]);
    }
}
