//! Projections, and the matrices that shaders read. Columns of four floats.

/// A matrix: columns.
pub(crate) type Matrix = [[f64; 4]; 4];

pub(crate) const IDENTITY: Matrix =
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];

/// The parallel projection of a cuboid: left, right, bottom, top, near, far.
pub(crate) fn ortho([left, right, bottom, top, near, far]: [f64; 6]) -> Matrix {
    let mut matrix = IDENTITY;
    matrix[0][0] = 2.0 / (right - left);
    matrix[1][1] = 2.0 / (top - bottom);
    matrix[2][2] = -2.0 / (far - near);
    matrix[3][0] = -(right + left) / (right - left);
    matrix[3][1] = -(top + bottom) / (top - bottom);
    matrix[3][2] = -(far + near) / (far - near);
    matrix
}

/// The perspective projection of a frustum, with the same bounds.
pub(crate) fn frustum([left, right, bottom, top, near, far]: [f64; 6]) -> Matrix {
    let mut matrix = [[0.0; 4]; 4];
    matrix[0][0] = 2.0 * near / (right - left);
    matrix[1][1] = 2.0 * near / (top - bottom);
    matrix[2][0] = (right + left) / (right - left);
    matrix[2][1] = (top + bottom) / (top - bottom);
    matrix[2][2] = -(far + near) / (far - near);
    matrix[2][3] = -1.0;
    matrix[3][2] = -2.0 * far * near / (far - near);
    matrix
}

pub(crate) fn transpose(matrix: Matrix) -> Matrix {
    std::array::from_fn(|column| std::array::from_fn(|row| matrix[row][column]))
}

/// The inverse by Gauss and Jordan, with row pivots; the identity for a singular matrix.
pub(crate) fn inverse(matrix: Matrix) -> Matrix {
    let (mut left, mut right) = (matrix, IDENTITY);
    for at in 0..4 {
        let magnitude = |column: &usize| left[*column][at].abs();
        let pivot = (at..4).max_by(|a, b| magnitude(a).total_cmp(&magnitude(b))).unwrap_or(at);
        if left[pivot][at] == 0.0 {
            return IDENTITY;
        }
        left.swap(at, pivot);
        right.swap(at, pivot);
        let factor = 1.0 / left[at][at];
        for row in 0..4 {
            left[at][row] *= factor;
            right[at][row] *= factor;
        }
        for column in (0..4).filter(|&column| column != at) {
            let factor = left[column][at];
            for row in 0..4 {
                left[column][row] -= factor * left[at][row];
                right[column][row] -= factor * right[at][row];
            }
        }
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverses_are_inverse() {
        let product = |a: Matrix, b: Matrix| -> Matrix {
            std::array::from_fn(|c| std::array::from_fn(|r| (0..4).map(|k| a[k][r] * b[c][k]).sum()))
        };
        for matrix in [ortho([0.0, 250.0, 0.0, 100.0, -1.0, 1.0]), frustum([-1.0, 2.0, -1.0, 1.0, 1.0, 10.0])] {
            let found = product(matrix, inverse(matrix));
            for (column, row) in (0..4).flat_map(|column| (0..4).map(move |row| (column, row))) {
                assert!((found[column][row] - IDENTITY[column][row]).abs() < 1e-9, "{found:?}");
            }
        }
    }
}
