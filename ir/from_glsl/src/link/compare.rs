//! Compares the types of one variable in two stages, whose types have no common numbers.

use crate::keyword::Keyword;
use crate::program::{Storage, Variable};
use crate::stage::StageUnit;
use crate::types::{TypeData, TypeId};

/// A difference between two declarations of a variable.
pub(super) enum Difference {
    /// Two types.
    Type { found: String, expected: String },
    /// Structs with other fields.
    Fields(String),
    /// Two precisions.
    Precision { found: String, expected: String },
}

/// The first difference between the declarations of a variable in two stages. Precisions are compared if the language
/// has them and, outside of structs, only if `is_strict`.
pub(super) fn difference(stages: [&StageUnit; 2], variables: [&Variable; 2], is_strict: bool) -> Option<Difference> {
    // Inputs and outputs with locations may have structs of different names.
    let is_located =
        variables.iter().all(|variable| variable.traits.location.is_some() && variable.storage != Storage::Uniform);
    let has_names = !is_located || stages.iter().any(|stage| stage.program.version.is_es());
    // Nested structs, on a stack: pairs of types.
    let mut pending = vec![variables.map(|variable| variable.ty)];
    let mut is_outermost = true;
    while let Some(types) = pending.pop() {
        if let Some(found) = pair(stages, types, is_outermost, has_names, &mut pending) {
            return Some(found);
        }
        is_outermost = false;
    }
    let [first, second] = variables.map(|variable| variable.traits.precision);
    let is_other = is_strict && first != second;
    let name = |precision: Option<Keyword>| precision.map_or("without precision", Keyword::name).to_owned();
    is_other.then(|| Difference::Precision { found: name(second), expected: name(first) })
}

/// Compares two types without the structs in them, which are added to `pending`.
fn pair(
    [first, second]: [&StageUnit; 2],
    types: [TypeId; 2],
    is_outermost: bool,
    has_names: bool,
    pending: &mut Vec<[TypeId; 2]>,
) -> Option<Difference> {
    let [a, b] = types;
    let [of_a, of_b] = [&first.program.types, &second.program.types];
    let [expected, found] = [of_a.name(a, &first.interner), of_b.name(b, &second.interner)];
    let is_struct = matches!(of_a.get(a), TypeData::Struct(_)) && matches!(of_b.get(b), TypeData::Struct(_));
    if expected != found && (has_names || !is_struct) {
        return Some(if is_outermost {
            Difference::Type { found, expected }
        } else {
            Difference::Fields(format!("a field is {found} instead of {expected}"))
        });
    }
    let (TypeData::Struct(_), TypeData::Struct(_)) =
        (of_a.get(of_a.without_arrays(a)), of_b.get(of_b.without_arrays(b)))
    else {
        return None;
    };
    let [fields, others] = [of_a.fields(of_a.without_arrays(a)), of_b.fields(of_b.without_arrays(b))];
    if fields.len() != others.len() {
        return Some(Difference::Fields(format!("it has {} fields instead of {}", others.len(), fields.len())));
    }
    for (field, other) in fields.iter().zip(others) {
        let [name, other_name] = [first.interner.spelling(field.name), second.interner.spelling(other.name)];
        if name != other_name {
            return Some(Difference::Fields(format!("`{other_name}` instead of `{name}`")));
        }
        let [expected, found] = [of_a.name(field.ty, &first.interner), of_b.name(other.ty, &second.interner)];
        if expected != found {
            return Some(Difference::Fields(format!("`{name}` is {found} instead of {expected}")));
        }
        if let (Some(expected), Some(found)) = (field.precision, other.precision)
            && expected != found
        {
            let (expected, found) = (expected.name(), found.name());
            return Some(Difference::Fields(format!("`{name}` is {found} instead of {expected}")));
        }
        pending.push([field.ty, other.ty]);
    }
    None
}
