//! Geometric functions, matrices, comparisons of vectors.

use super::op::BuiltinOp as Op;
use super::{Row, V110, V120, V130_OR_SHADER4, V400_DOUBLE};
use crate::builtins::stages::Stages;
use crate::version::{NEVER, Since};

pub(super) const ROWS: &[Row] = &[
    Row::new("length", Op::Length, &["f F"], V110),
    Row::new("length", Op::Length, &["d D"], V400_DOUBLE),
    Row::new("distance", Op::Distance, &["f F F"], V110),
    Row::new("distance", Op::Distance, &["d D D"], V400_DOUBLE),
    Row::new("dot", Op::Dot, &["f F F"], V110),
    Row::new("dot", Op::Dot, &["d D D"], V400_DOUBLE),
    Row::new("cross", Op::Cross, &["f3 f3 f3"], V110),
    Row::new("cross", Op::Cross, &["d3 d3 d3"], V400_DOUBLE),
    Row::new("normalize", Op::Normalize, &["F F"], V110),
    Row::new("normalize", Op::Normalize, &["D D"], V400_DOUBLE),
    Row::new("ftransform", Op::Ftransform, &["f4"], Since::new(110, NEVER))
        .only(Stages::VERTEX)
        .until(NEVER, 150, NEVER),
    Row::new("faceforward", Op::FaceForward, &["F F F F"], V110),
    Row::new("faceforward", Op::FaceForward, &["D D D D"], V400_DOUBLE),
    Row::new("reflect", Op::Reflect, &["F F F"], V110),
    Row::new("reflect", Op::Reflect, &["D D D"], V400_DOUBLE),
    Row::new("refract", Op::Refract, &["F F F f"], V110),
    Row::new("refract", Op::Refract, &["D D D d"], V400_DOUBLE),
    Row::new("matrixCompMult", Op::MatrixCompMult, &["M M M"], V110),
    Row::new("matrixCompMult", Op::MatrixCompMult, &["N N N"], V400_DOUBLE),
    Row::new("outerProduct", Op::OuterProduct, &["M Mc Mr"], V120),
    Row::new("outerProduct", Op::OuterProduct, &["N Nc Nr"], V400_DOUBLE),
    Row::new("transpose", Op::Transpose, &["Mt M"], V120),
    Row::new("transpose", Op::Transpose, &["Nt N"], V400_DOUBLE),
    Row::new("determinant", Op::Determinant, &["f Mq"], V120),
    Row::new("determinant", Op::Determinant, &["d Nq"], V400_DOUBLE),
    Row::new("inverse", Op::Inverse, &["Mq Mq"], Since::new(140, 300)),
    Row::new("inverse", Op::Inverse, &["Nq Nq"], V400_DOUBLE),
    Row::new("lessThan", Op::LessThan, &["Bv Fv Fv", "Bv Iv Iv"], V110),
    Row::new("lessThan", Op::LessThan, &["Bv Uv Uv"], V130_OR_SHADER4),
    Row::new("lessThan", Op::LessThan, &["Bv Dv Dv"], V400_DOUBLE),
    Row::new("lessThanEqual", Op::LessThanEqual, &["Bv Fv Fv", "Bv Iv Iv"], V110),
    Row::new("lessThanEqual", Op::LessThanEqual, &["Bv Uv Uv"], V130_OR_SHADER4),
    Row::new("lessThanEqual", Op::LessThanEqual, &["Bv Dv Dv"], V400_DOUBLE),
    Row::new("greaterThan", Op::GreaterThan, &["Bv Fv Fv", "Bv Iv Iv"], V110),
    Row::new("greaterThan", Op::GreaterThan, &["Bv Uv Uv"], V130_OR_SHADER4),
    Row::new("greaterThan", Op::GreaterThan, &["Bv Dv Dv"], V400_DOUBLE),
    Row::new("greaterThanEqual", Op::GreaterThanEqual, &["Bv Fv Fv", "Bv Iv Iv"], V110),
    Row::new("greaterThanEqual", Op::GreaterThanEqual, &["Bv Uv Uv"], V130_OR_SHADER4),
    Row::new("greaterThanEqual", Op::GreaterThanEqual, &["Bv Dv Dv"], V400_DOUBLE),
    Row::new("equal", Op::Equal, &["Bv Fv Fv", "Bv Iv Iv", "Bv Bv Bv"], V110),
    Row::new("equal", Op::Equal, &["Bv Uv Uv"], V130_OR_SHADER4),
    Row::new("equal", Op::Equal, &["Bv Dv Dv"], V400_DOUBLE),
    Row::new("notEqual", Op::NotEqual, &["Bv Fv Fv", "Bv Iv Iv", "Bv Bv Bv"], V110),
    Row::new("notEqual", Op::NotEqual, &["Bv Uv Uv"], V130_OR_SHADER4),
    Row::new("notEqual", Op::NotEqual, &["Bv Dv Dv"], V400_DOUBLE),
    Row::new("any", Op::Any, &["b Bv"], V110),
    Row::new("all", Op::All, &["b Bv"], V110),
    Row::new("not", Op::Not, &["Bv Bv"], V110),
];
