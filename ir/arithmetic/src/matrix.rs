//! Functions of matrices of floats, given by their columns.

use arrayvec::ArrayVec;
use tgsi_ir::Swizzle;
use tgsi_ir::alu::AluOp;

use crate::geometry::cross;
use crate::operators::{difference, dot, sum};
use crate::{Columns, MAX, Sink};

/// The product of a column and a row: as many rows and columns as they have components.
pub fn outer_product<S: Sink>(sink: &mut S, column: S::Value, row: S::Value) -> Columns<S::Value> {
    let (rows, columns) = (sink.components(column), sink.components(row));
    let columns = (0..columns.min(MAX as u8)).map(|number| {
        let factor = (row, Swizzle::replicate(number));
        sink.alu(AluOp::Fmul, rows, &[(column, Swizzle::IDENTITY), factor])
    });
    columns.collect()
}

/// The transpose of 2 to 4 columns of one size.
pub fn transpose<S: Sink>(sink: &mut S, columns: &[S::Value]) -> Columns<S::Value> {
    let rows = columns.first().map_or(0, |&column| sink.components(column));
    let row = |row: u8| columns.iter().take(MAX).map(move |&column| (column, row)).collect::<ArrayVec<_, MAX>>();
    (0..rows).map(|number| sink.gather(&row(number))).collect()
}

/// A component of a vector.
type Element<V> = (V, u8);

fn product<S: Sink>(sink: &mut S, a: Element<S::Value>, b: Element<S::Value>) -> S::Value {
    sink.alu(AluOp::Fmul, 1, &[(a.0, Swizzle::replicate(a.1)), (b.0, Swizzle::replicate(b.1))])
}

/// `a * d - b * c`
fn minor<S: Sink>(sink: &mut S, [a, b, c, d]: [Element<S::Value>; 4]) -> S::Value {
    let (first, second) = (product(sink, a, d), product(sink, b, c));
    difference(sink, first, second)
}

/// The determinant of 2 to 4 columns of as many components. Returns `None` for other numbers of columns.
pub fn determinant<S: Sink>(sink: &mut S, columns: &[S::Value]) -> Option<S::Value> {
    Some(match *columns {
        [a, b] => minor(sink, [(a, 0), (b, 0), (a, 1), (b, 1)]),
        [a, b, c] => {
            let normal = cross(sink, b, c);
            dot(sink, a, normal)
        }
        [a, b, c, d] => {
            let (first, second) = (minors(sink, a, b), minors(sink, c, d));
            expansion(sink, &first, &second)
        }
        _ => return None,
    })
}

/// The inverse of 2 to 4 columns of as many components: cofactors divided by the determinant. Returns `None` for other
/// numbers of columns.
pub fn inverse<S: Sink>(sink: &mut S, columns: &[S::Value]) -> Option<Columns<S::Value>> {
    let determinant_and_columns = match *columns {
        [a, b] => {
            let (minus_b, minus_a) = (sink.one(AluOp::Fneg, b), sink.one(AluOp::Fneg, a));
            let first = sink.gather(&[(b, 1), (minus_a, 1)]);
            let second = sink.gather(&[(minus_b, 0), (a, 0)]);
            (determinant(sink, columns)?, Columns::from_iter([first, second]))
        }
        [a, b, c] => {
            let rows = [cross(sink, b, c), cross(sink, c, a), cross(sink, a, b)];
            (dot(sink, a, rows[0]), transpose(sink, &rows))
        }
        [a, b, c, d] => {
            let (first, second) = (minors(sink, a, b), minors(sink, c, d));
            let determinant = expansion(sink, &first, &second);
            let mut all = Columns::new();
            for column in 0..4 {
                // The cofactors of a row of the matrix, without that row and one column after the other.
                let elements = [(b, &second), (a, &second), (d, &first), (c, &first)];
                let mut cofactors = ArrayVec::<Element<S::Value>, MAX>::new();
                for (row, (vector, minors)) in elements.into_iter().enumerate() {
                    let cofactor = cofactor(sink, vector, column, minors)?;
                    let is_odd = (usize::from(column) + row) % 2 == 1;
                    cofactors.push((if is_odd { sink.one(AluOp::Fneg, cofactor) } else { cofactor }, 0));
                }
                all.push(sink.gather(&cofactors));
            }
            (determinant, all)
        }
        _ => return None,
    };
    let (determinant, columns) = determinant_and_columns;
    let factor = sink.one(AluOp::Frcp, determinant);
    Some(columns.into_iter().map(|column| sink.two(AluOp::Fmul, column, factor)).collect())
}

/// The rows of each pair: (0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3).
const PAIRS: [(u8, u8); 6] = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];

/// The determinants of all pairs of rows of two columns.
fn minors<S: Sink>(sink: &mut S, a: S::Value, b: S::Value) -> [S::Value; 6] {
    PAIRS.map(|(p, q)| minor(sink, [(a, p), (b, p), (a, q), (b, q)]))
}

/// The determinant of four columns from the minors of the first and of the last two.
fn expansion<S: Sink>(sink: &mut S, first: &[S::Value; 6], second: &[S::Value; 6]) -> S::Value {
    let products = [0, 1, 2, 3, 4, 5].map(|number: usize| sink.two(AluOp::Fmul, first[number], second[5 - number]));
    let [first, minus1, plus2, plus3, minus4, plus5] = products;
    let so_far = difference(sink, first, minus1);
    let so_far = sum(sink, so_far, plus2);
    let so_far = sum(sink, so_far, plus3);
    let so_far = difference(sink, so_far, minus4);
    sum(sink, so_far, plus5)
}

/// The determinant of the components of a vector other than one, and the minors of two columns.
fn cofactor<S: Sink>(sink: &mut S, vector: S::Value, left_out: u8, minors: &[S::Value; 6]) -> Option<S::Value> {
    let mut rows = (0..4).filter(|&row| row != left_out);
    let (x, y, z) = (rows.next()?, rows.next()?, rows.next()?);
    let pair = |p, q| PAIRS.iter().position(|&pair| pair == (p, q)).and_then(|at| minors.get(at)).copied();
    let (yz, xz, xy) = (pair(y, z)?, pair(x, z)?, pair(x, y)?);
    let (first, second, third) =
        (product(sink, (vector, x), (yz, 0)), product(sink, (vector, y), (xz, 0)), product(sink, (vector, z), (xy, 0)));
    let first_two = difference(sink, first, second);
    Some(sum(sink, first_two, third))
}
