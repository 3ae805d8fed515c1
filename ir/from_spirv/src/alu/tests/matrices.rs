//! Products of matrices that are given by columns and by rows.

use tgsi_arithmetic::fold::Folder;
use tgsi_arithmetic::{Columns, Kind, Operand, Scalar, Sink, matrix};

use super::pair::check;
use crate::alu::Matrix;
use crate::alu::matrix::{product, times_vector};

/// Floats of a matrix that was computed in the folder.
fn floats(vectors: &[tgsi_arithmetic::fold::Known]) -> Vec<f32> {
    vectors
        .iter()
        .flat_map(|vector| vector.bits().iter().map(|&bits| f32::from_bits(bits as u32)).collect::<Vec<_>>())
        .collect()
}

/// A matrix of small integers, whose products are exact.
fn integers<S: Sink>(sink: &mut S, columns: u8, rows: u8, first: u8) -> Columns<S::Value> {
    let bits = |number: u8| u64::from(f32::from(number).to_bits());
    (0..columns)
        .map(|column| {
            let column: Vec<u64> = (0..rows).map(|row| bits(first + column * rows + row)).collect();
            sink.constant(32, &column)
        })
        .collect()
}

#[test]
fn products_by_rows_are_those_by_columns() {
    for (left, inner, right) in (2..=4).flat_map(|a| (2..=4).flat_map(move |b| (2..=4).map(move |c| (a, b, c)))) {
        let (a, b) = (integers(&mut Folder, inner, left, 1), integers(&mut Folder, right, inner, 3));
        let matrices = |columns: &Columns<_>| {
            let rows = matrix::transpose(&mut Folder, columns);
            [Matrix::of_columns(columns.clone()), Matrix { vectors: rows, by_rows: true }]
        };
        let expected = matrix_times_matrix(&a, &b);
        for (a, b) in matrices(&a).iter().flat_map(|a| matrices(&b).map(|b| (a.clone(), b))) {
            let found = product(&mut Folder, &a, &b).unwrap();
            assert_eq!(found.by_rows, a.by_rows && b.by_rows);
            assert_eq!(floats(&found.in_order(&mut Folder, false)), expected);
            let vector = integers(&mut Folder, 1, inner, 5)[0];
            let column = product(&mut Folder, &a, &Matrix::of_columns(Columns::from_iter([vector]))).unwrap();
            let found = times_vector(&mut Folder, &a, vector).unwrap();
            assert_eq!(floats(&[found]), floats(&column.vectors));
        }
        assert!(
            product(&mut Folder, &Matrix::of_columns(a.clone()), &Matrix::of_columns(a)).is_some() == (left == inner)
        );
    }
}

/// The columns of a product, by its definition.
fn matrix_times_matrix(a: &[tgsi_arithmetic::fold::Known], b: &[tgsi_arithmetic::fold::Known]) -> Vec<f32> {
    let (rows, inner) = (usize::from(Folder.components(a[0])), a.len());
    let (a, b) = (floats(a), floats(b));
    let element = |column: usize, row: usize| (0..inner).map(|k| a[k * rows + row] * b[column * inner + k]).sum();
    (0..b.len() / inner).flat_map(|column| (0..rows).map(move |row| element(column, row)).collect::<Vec<_>>()).collect()
}

#[test]
fn constants_have_the_values_of_the_shader() {
    let mut seed = 0;
    for scalar in [16, 32, 64].map(|bits| Scalar::new(Kind::Float, bits)) {
        for by_rows in [[false, false], [false, true], [true, false], [true, true]] {
            seed += 1;
            check(seed, |pair| {
                let (a, b, vector) = (pair.matrix(scalar, 3, 3), pair.matrix(scalar, 3, 3), pair.vector(scalar, 3));
                let emitted = [a.0, b.0].into_iter().zip(by_rows);
                let [left, right] = [0; 2].map({
                    let mut emitted = emitted.map(|(vectors, by_rows)| Matrix { vectors, by_rows });
                    move |_| emitted.next().unwrap()
                });
                let product_emitted = product(&mut pair.builder, &left, &right).unwrap();
                let vector_emitted = times_vector(&mut pair.builder, &left, vector.0).unwrap();
                let left = Matrix { vectors: a.1, by_rows: by_rows[0] };
                let right = Matrix { vectors: b.1, by_rows: by_rows[1] };
                let known = product(&mut Folder, &left, &right).unwrap();
                pair.compare("product", &Operand::Matrix(product_emitted.vectors), &Operand::Matrix(known.vectors));
                let known = times_vector(&mut Folder, &left, vector.1).unwrap();
                pair.compare("times_vector", &Operand::Vector(vector_emitted), &Operand::Vector(known));
            });
        }
    }
}
