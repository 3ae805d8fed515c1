//! Rule 35: kept analyses against fresh ones.

use super::error::Collector;
use super::{Location, ValidationErrorKind};
use crate::body::Body;
use crate::entities::Function;

/// Computes every analysis that the body keeps for its present epochs anew. A difference means that some editing
/// function changed the code without advancing the epoch. What is kept stays as it is, so that no pass comes to depend
/// on being validated.
pub(super) fn check_analyses(function: Function, body: &Body, errors: &mut Collector) {
    for name in body.stale_analyses() {
        errors.push(Some(function), Location::Function, ValidationErrorKind::StaleAnalysis { name });
    }
}
