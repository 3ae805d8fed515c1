//! The subdivision of patches: points of the domain, and primitives between them.

use crate::primitives::Primitive;

/// The shape of a domain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Domain {
    /// Barycentric coordinates.
    Triangles,
    /// Two coordinates from 0 to 1.
    Quads,
    /// Lines of a constant second coordinate.
    Isolines,
}

/// The way to round levels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spacing {
    /// To the next number, with equal segments.
    Equal,
    /// To the next odd number, with two shorter segments.
    FractionalOdd,
    /// To the next even number, with two shorter segments.
    FractionalEven,
}

/// Largest level.
const MAX_LEVEL: f64 = 64.0;

/// The points of an edge from 0 to 1. With fractional spacing, two segments are shorter; they are in the middle.
#[derive(Clone, PartialEq, Debug)]
struct Division(Vec<f64>);

impl Division {
    fn new(level: f32, spacing: Spacing) -> Division {
        let level = f64::from(level);
        let (level, count) = match spacing {
            Spacing::Equal => {
                let level = level.clamp(1.0, MAX_LEVEL).ceil();
                (level, level as usize)
            }
            Spacing::FractionalEven => {
                let level = level.clamp(2.0, MAX_LEVEL);
                (level, 2 * (level / 2.0).ceil() as usize)
            }
            Spacing::FractionalOdd => {
                let level = level.clamp(1.0, MAX_LEVEL - 1.0);
                (level, 2 * ((level - 1.0) / 2.0).ceil() as usize + 1)
            }
        };
        let short = (1.0 - (count as f64 - 2.0) / level) / 2.0;
        let is_short = |segment: usize| {
            count > 1 && {
                let middle = (count - 1) / 2;
                if count.is_multiple_of(2) {
                    segment == middle || segment == middle + 1
                } else {
                    segment + 1 == middle || segment == middle + 1
                }
            }
        };
        let mut at = 0.0;
        let mut points = vec![0.0];
        for segment in 0..count.saturating_sub(1) {
            at += if is_short(segment) { short } else { 1.0 / level };
            points.push(at);
        }
        points.push(1.0);
        Division(points)
    }

    fn segments(&self) -> usize {
        self.0.len().saturating_sub(1)
    }

    fn at(&self, number: usize) -> f64 {
        self.0.get(number).copied().unwrap_or(1.0)
    }
}

/// The points and primitives of a patch.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Subdivision {
    /// Coordinates in the domain.
    pub points: Vec<[f32; 3]>,
    /// Lines or triangles between the points.
    pub primitives: Vec<Primitive>,
}

impl Subdivision {
    fn point(&mut self, point: [f64; 3]) -> usize {
        self.points.push(point.map(|at| at as f32));
        self.points.len() - 1
    }

    fn triangle(&mut self, corners: [usize; 3]) {
        self.primitives.push(Primitive::Triangle(corners));
    }

    /// Fills the area between two rows of points whose ends face each other.
    fn stitch(&mut self, outer: &[usize], inner: &[usize]) {
        let (mut a, mut b) = (0, 0);
        let (last_a, last_b) = (outer.len().saturating_sub(1), inner.len().saturating_sub(1));
        while a < last_a || b < last_b {
            // The row that is behind advances. Compares (a + 1) / last_a with (b + 1) / last_b.
            let is_outer = b == last_b || a < last_a && (2 * a + 1) * last_b.max(1) <= (2 * b + 1) * last_a.max(1);
            let (Some(&p), Some(&q)) = (outer.get(a), inner.get(b)) else { return };
            if is_outer {
                a += 1;
                if let Some(&next) = outer.get(a) {
                    self.triangle([p, next, q]);
                }
            } else {
                b += 1;
                if let Some(&next) = inner.get(b) {
                    self.triangle([p, next, q]);
                }
            }
        }
    }
}

/// Subdivides a patch; it is empty if the patch is culled by a level that is not positive.
pub fn subdivide(domain: Domain, spacing: Spacing, outer: [f32; 4], inner: [f32; 2]) -> Subdivision {
    let used = match domain {
        Domain::Triangles => 3,
        Domain::Quads => 4,
        Domain::Isolines => 2,
    };
    // NaN is not positive.
    if !outer.iter().take(used).all(|level| *level > 0.0) {
        return Subdivision::default();
    }
    match domain {
        Domain::Triangles => triangles(spacing, outer, inner[0]),
        Domain::Quads => quads(spacing, outer, inner),
        Domain::Isolines => isolines(spacing, outer),
    }
}

fn isolines(spacing: Spacing, outer: [f32; 4]) -> Subdivision {
    let mut all = Subdivision::default();
    let lines = Division::new(outer[0], Spacing::Equal).segments();
    let along = Division::new(outer[1], spacing);
    for line in 0..lines {
        let v = line as f64 / lines as f64;
        let points: Vec<usize> = along.0.iter().map(|&u| all.point([u, v, 0.0])).collect();
        all.primitives
            .extend(points.windows(2).filter_map(|pair| Some(Primitive::Line([*pair.first()?, *pair.get(1)?]))));
    }
    all
}

/// The division by an inner level. A single segment would leave no inner points, unless nothing is divided.
fn inner_division(level: f32, spacing: Spacing) -> Division {
    let division = Division::new(level, spacing);
    if division.segments() > 1 { division } else { Division::new(1.000_001, spacing) }
}

fn triangles(spacing: Spacing, outer: [f32; 4], inner: f32) -> Subdivision {
    const CORNERS: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let mut all = Subdivision::default();
    let edges = [0, 1, 2].map(|edge| Division::new(outer[edge], spacing));
    if Division::new(inner, spacing).segments() == 1 && edges.iter().all(|edge| edge.segments() == 1) {
        let corners = CORNERS.map(|corner| all.point(corner));
        all.triangle(corners);
        return all;
    }
    let division = inner_division(inner, spacing);
    let count = division.segments();
    // Edge number e is opposite corner e.
    let ring = |all: &mut Subdivision, ring: usize, points: &dyn Fn(usize) -> Vec<f64>| -> Vec<Vec<usize>> {
        let t = 2.0 * division.at(ring);
        let corner = |number: usize| CORNERS[number].map(|at| at + (1.0 / 3.0 - at) * t);
        let corners = [0, 1, 2].map(|number| all.point(corner(number)));
        let mut sides = Vec::new();
        for edge in 0..3 {
            let [from, to] = [(edge + 1) % 3, (edge + 2) % 3];
            let (start, end) = (corner(from), corner(to));
            let mut side = vec![corners[from]];
            for at in points(edge) {
                side.push(all.point([0, 1, 2].map(|axis| start[axis] + (end[axis] - start[axis]) * at)));
            }
            side.push(corners[to]);
            sides.push(side);
        }
        sides
    };
    let inside =
        |points: &[f64]| -> Vec<f64> { points.get(1..points.len().saturating_sub(1)).unwrap_or_default().to_vec() };
    let mut before = ring(&mut all, 0, &|edge: usize| inside(&edges[edge].0));
    for number in 1..=count / 2 {
        let segments = count - 2 * number;
        if segments == 0 {
            // The ring is a point.
            let middle = all.point([1.0 / 3.0; 3]);
            for side in &before {
                all.stitch(side, &[middle]);
            }
            return all;
        }
        let (first, width) = (division.at(number), 1.0 - 2.0 * division.at(number));
        let points: Vec<f64> = (1..segments).map(|at| (division.at(number + at) - first) / width).collect();
        let next = ring(&mut all, number, &|_| points.clone());
        for (outer, inner) in before.iter().zip(&next) {
            all.stitch(outer, inner);
        }
        before = next;
    }
    // An odd number of segments leaves a triangle in the middle.
    let corners: Vec<usize> = before.iter().filter_map(|side| side.first().copied()).collect();
    if let &[b, c, a] = corners.as_slice() {
        all.triangle([a, b, c]);
    }
    all
}

fn quads(spacing: Spacing, outer: [f32; 4], inner: [f32; 2]) -> Subdivision {
    let mut all = Subdivision::default();
    let edges = [0, 1, 2, 3].map(|edge| Division::new(outer[edge], spacing));
    let is_whole = |division: &Division| division.segments() == 1;
    let plain = inner.map(|level| Division::new(level, spacing));
    if plain.iter().all(is_whole) && edges.iter().all(is_whole) {
        let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
        let [a, b, c, d] = corners.map(|corner| all.point(corner));
        all.triangle([a, b, c]);
        all.triangle([a, c, d]);
        return all;
    }
    let [across, up] = inner.map(|level| inner_division(level, spacing));
    // The inner points are a grid.
    let (columns, rows) = (across.segments() - 1, up.segments() - 1);
    let grid: Vec<Vec<usize>> = (1..=rows)
        .map(|row| (1..=columns).map(|column| all.point([across.at(column), up.at(row), 0.0])).collect())
        .collect();
    let at = |column: usize, row: usize| grid.get(row).and_then(|row| row.get(column)).copied().unwrap_or(0);
    for row in 0..rows.saturating_sub(1) {
        for column in 0..columns.saturating_sub(1) {
            let [a, b] = [at(column, row), at(column + 1, row)];
            let [d, c] = [at(column, row + 1), at(column + 1, row + 1)];
            all.triangle([a, b, c]);
            all.triangle([a, c, d]);
        }
    }
    // The sides in turn: v = 0, u = 1, v = 1, u = 0.
    let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    let corner_points = corners.map(|[u, v]| all.point([u, v, 0.0]));
    let (last_column, last_row) = (columns.saturating_sub(1), rows.saturating_sub(1));
    let sides: [(usize, Vec<usize>); 4] = [
        (1, (0..columns).map(|column| at(column, 0)).collect()),
        (2, (0..rows).map(|row| at(last_column, row)).collect()),
        (3, (0..columns).rev().map(|column| at(column, last_row)).collect()),
        (0, (0..rows).rev().map(|row| at(0, row)).collect()),
    ];
    for (number, (edge, inside)) in sides.into_iter().enumerate() {
        let (start, end) = (corners[number], corners[(number + 1) % 4]);
        let mut side = vec![corner_points[number]];
        let division = &edges[edge];
        for &at in division.0.get(1..division.segments()).unwrap_or_default() {
            side.push(all.point([start[0] + (end[0] - start[0]) * at, start[1] + (end[1] - start[1]) * at, 0.0]));
        }
        side.push(corner_points[(number + 1) % 4]);
        all.stitch(&side, &inside);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    /// The area of all triangles in the plane of the first two coordinates, and that of those with another winding.
    fn areas(all: &Subdivision) -> (f64, f64) {
        let (mut left, mut right) = (0.0, 0.0);
        for primitive in &all.primitives {
            let Primitive::Triangle(corners) = *primitive else { continue };
            let [a, b, c] = corners.map(|corner| all.points[corner].map(f64::from));
            let twice = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
            if twice > 0.0 { left += twice / 2.0 } else { right -= twice / 2.0 }
        }
        (left, right)
    }

    #[test]
    fn domains_are_covered_once() {
        let levels = [1.0f32, 1.5, 2.0, 3.0, 4.7, 7.0, 64.0];
        for spacing in [Spacing::Equal, Spacing::FractionalOdd, Spacing::FractionalEven] {
            for (number, &inner) in levels.iter().enumerate() {
                let outer = [0, 1, 2, 3].map(|edge| levels[(number + 2 * edge) % levels.len()]);
                for (domain, area) in [(Domain::Triangles, 0.5), (Domain::Quads, 1.0)] {
                    let all = subdivide(domain, spacing, outer, [inner, outer[1]]);
                    let (left, right) = areas(&all);
                    assert!((left - area).abs() < 1e-5, "{domain:?} {spacing:?} {outer:?} {inner}: {left}");
                    assert!(right < 1e-6, "{domain:?} {spacing:?} {outer:?} {inner}: {right}");
                }
            }
        }
    }

    #[test]
    fn levels_give_numbers_of_primitives() {
        let count = |domain: Domain, outer: [f32; 4], inner: [f32; 2]| {
            let all = subdivide(domain, Spacing::Equal, outer, inner);
            (all.points.len(), all.primitives.len())
        };
        assert_eq!(count(Domain::Triangles, [1.0; 4], [1.0; 2]), (3, 1));
        assert_eq!(count(Domain::Triangles, [2.0; 4], [2.0; 2]), (7, 6));
        assert_eq!(count(Domain::Quads, [1.0; 4], [1.0; 2]), (4, 2));
        assert_eq!(count(Domain::Quads, [2.0; 4], [2.0; 2]), (9, 8));
        assert_eq!(count(Domain::Isolines, [3.0, 2.0, 0.0, 0.0], [0.0; 2]), (9, 6));
        assert_eq!(count(Domain::Triangles, [1.0, 0.0, 1.0, 1.0], [1.0; 2]), (0, 0));
        assert_eq!(count(Domain::Quads, [1.0, 1.0, 1.0, f32::NAN], [1.0; 2]), (0, 0));
    }

    #[test]
    fn fractional_divisions_are_symmetric() {
        let odd = Division::new(3.5, Spacing::FractionalOdd);
        assert_eq!(odd.segments(), 5);
        for (at, point) in odd.0.iter().enumerate() {
            assert!((point + odd.at(5 - at) - 1.0).abs() < 1e-9, "{odd:?}");
        }
        assert_eq!(Division::new(3.5, Spacing::FractionalEven).segments(), 4);
        assert_eq!(Division::new(0.2, Spacing::FractionalEven).0, [0.0, 0.5, 1.0]);
    }
}
