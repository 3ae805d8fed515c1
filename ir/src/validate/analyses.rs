//! Rule 35: compares cached analyses with recomputed ones.

use super::error::Collector;
use super::{Location, ValidationErrorKind};
use crate::body::Body;
use crate::entities::Function;

/// Recomputes every analysis that the body caches for its current epochs. A difference means that an editing function
/// changed the code without advancing the epoch. The cache itself does not change, so that no pass comes to depend on
/// validation.
pub(super) fn check_analyses(function: Function, body: &Body, errors: &mut Collector) {
    for name in body.stale_analyses() {
        errors.push(Some(function), Location::Function, ValidationErrorKind::StaleAnalysis { name });
    }
}
