//! Tests of the table and of the values of indices.
