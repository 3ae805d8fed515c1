//! Variables and constants of the language.
//!
//! A row of a table is a name with its type as a short text, its role, and the versions and stages that have it. Several
//! rows may have one name: an input in one stage is an output in another.
//!
//! | type | meaning |
//! |---|---|
//! | `f i u b k`, `f4` | a scalar, a vector; `k` is `uint64_t` |
//! | `m4` | a square float matrix |
//! | `gl_FogParameters` | a struct of [`state`] |
//! | `f4[3]`, `f4[gl_MaxLights]` | an array of a known length |
//! | `f[<gl_MaxClipDistances]` | an array without length, and the largest length that a declaration may give it |

pub(crate) mod constants;
mod interface;
#[cfg(test)]
pub(crate) mod manual;
pub(crate) mod state;

use hashbrown::HashMap;
use std::sync::LazyLock;

use tgsi_environment::SystemValue;
use tgsi_ir::ShaderStage;

use crate::builtins::stages::Stages;
use crate::extension::Extensions;
use crate::options::ConstantValues;
use crate::symbol::Interner;
use crate::types::{Scalar, TypeId, Types};
use crate::version::{NEVER, Profile, Since, Version};

/// A variable of the language: a row of the table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct BuiltinVariable(u16);

/// The role of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// An input in a slot of [`tgsi_ir::slots::VertAttrib`] in vertex shaders, of [`tgsi_ir::slots::VaryingSlot`] in other
    /// stages. The elements of arrays are in consecutive slots, or in consecutive components if it is compact.
    Input(u8),
    /// An output in a slot of [`tgsi_ir::slots::FragResult`] in fragment shaders, of [`tgsi_ir::slots::VaryingSlot`] in
    /// other stages. Arrays as for inputs. Only outputs may be written.
    Output(u8),
    /// An output that has no effect, such as a hint that no target takes: a variable of the invocation.
    Private,
    /// The colours of the framebuffer before the shader: outputs that are read.
    Framebuffer,
    /// A value that the pipeline provides.
    SystemValue(SystemValue),
    /// Fixed-function state ([`state`]): a uniform that the API does not name.
    State,
    /// A constant: one value for each component.
    Constant(&'static [i32]),
}

/// The result of a lookup.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    /// No version has the name.
    Unknown,
    /// Other versions have it, or other extensions add it.
    Unavailable(Since),
    /// Only the compatibility profile has it.
    Compatibility,
    /// The version has it in these stages only.
    OtherStage(Stages),
    /// This version removed it from the core profile or, if the version is one of ES, from the ES language.
    Removed(u16),
    /// The version has it.
    Variable {
        /// The variable.
        variable: BuiltinVariable,
        /// Its type.
        ty: TypeId,
        /// The desktop version that removed it, if compilers of this version accept it all the same; uses get a
        /// warning.
        removed: Option<u16>,
    },
}

/// The role of a row.
#[derive(Clone, Copy, Debug)]
enum RowRole {
    Is(Role),
    /// The values of a constant by first desktop and first ES version, in ascending order.
    Limit(Values, Values),
}

/// Values by first version.
type Values = &'static [(u16, &'static [i32])];

/// A row of a table.
#[derive(Clone, Copy, Debug)]
struct Row {
    name: &'static str,
    ty: &'static str,
    role: RowRole,
    since: Since,
    stages: Stages,
    /// Only the compatibility profile has it.
    is_fixed_function: bool,
    is_redeclarable: bool,
    is_compact: bool,
    /// The first version whose core profile lacks it by the specification.
    removed: u16,
    /// The first version in whose core profile compilers lack it.
    lacking_core: u16,
    /// The first ES version without it.
    lacking_es: u16,
}

impl Row {
    const fn new(name: &'static str, ty: &'static str, role: Role, since: Since, stages: Stages) -> Row {
        Row {
            name,
            ty,
            role: RowRole::Is(role),
            since,
            stages,
            is_fixed_function: false,
            is_redeclarable: false,
            is_compact: false,
            removed: NEVER,
            lacking_core: NEVER,
            lacking_es: NEVER,
        }
    }

    /// Of the compatibility profile.
    const fn fixed(name: &'static str, ty: &'static str, role: Role, stages: Stages) -> Row {
        let since = Since::new(110, NEVER);
        Row { is_fixed_function: true, ..Row::new(name, ty, role, since, stages) }
    }

    /// A declaration of the shader may repeat it.
    const fn redeclarable(self) -> Row {
        Row { is_redeclarable: true, ..self }
    }

    /// Four elements of the array are in a slot.
    const fn compact(self) -> Row {
        Row { is_compact: true, ..self }
    }

    /// By the specification the core profile lacks it from one version, in compilers from another; the ES language lacks
    /// it from a third.
    const fn until(self, removed: u16, lacking_core: u16, lacking_es: u16) -> Row {
        Row { removed, lacking_core, lacking_es, ..self }
    }

    /// The first version without it, if it is this one or an earlier one.
    fn lacking(&self, version: Version) -> Option<u16> {
        let first = match version.profile {
            Profile::Es => self.lacking_es,
            Profile::Core => self.lacking_core,
            Profile::Compatibility => NEVER,
        };
        (version.number >= first).then_some(first)
    }
}

/// All rows; [`BuiltinVariable`] is an index.
static ROWS: LazyLock<Vec<Row>> =
    LazyLock::new(|| [interface::VERTEX, interface::FRAGMENT, interface::OTHER, state::ROWS, constants::ROWS].concat());

static BY_NAME: LazyLock<HashMap<&'static str, Vec<BuiltinVariable>>> = LazyLock::new(|| {
    let mut by_name: HashMap<&str, Vec<BuiltinVariable>> = HashMap::new();
    for (number, row) in ROWS.iter().enumerate() {
        by_name.entry(row.name).or_default().push(BuiltinVariable(number as u16));
    }
    by_name
});

/// Looks up a variable by its name.
pub(crate) fn lookup(
    name: &str,
    version: Version,
    enabled: &Extensions,
    stage: ShaderStage,
    constants: &ConstantValues,
    types: &mut Types,
    interner: &mut Interner,
) -> Found {
    let Some(variables) = BY_NAME.get(name) else { return Found::Unknown };
    let mut best = Found::Unavailable(nearest(variables, version));
    for &variable in variables {
        let Some(row) = variable.row() else { continue };
        if !row.since.holds(version, enabled) {
            continue;
        }
        if row.is_fixed_function && !has_fixed_function(version) {
            best = Found::Compatibility;
            continue;
        }
        if let Some(first) = row.lacking(version) {
            best = Found::Removed(first);
            continue;
        }
        if !row.stages.contains(stage) {
            best = Found::OtherStage(match best {
                Found::OtherStage(stages) => stages.or(row.stages),
                _ => row.stages,
            });
            continue;
        }
        let is_removed = version.profile == Profile::Core && version.number >= row.removed;
        let removed = is_removed.then_some(row.removed);
        let Some(ty) = type_of(row.ty, version, enabled, constants, types, interner) else { continue };
        return Found::Variable { variable, ty, removed };
    }
    best
}

/// Whether a version has the variables of the fixed-function pipeline.
pub(crate) fn has_fixed_function(version: Version) -> bool {
    version.profile == Profile::Compatibility
}

/// Looks up a constant with a single value that an implementation chooses. Returns its name, and whether it is the length
/// of an array.
pub(crate) fn implementation_constant(name: &str) -> Option<(&'static str, bool)> {
    let name = implementation_constants().find(|known| *known == name)?;
    let is_length = |row: &Row| {
        let length = row.ty.strip_suffix(']').and_then(|ty| ty.split_once('['));
        length.is_some_and(|(_, length)| length.trim_start_matches('<') == name)
    };
    Some((name, ROWS.iter().any(is_length)))
}

/// The names of these constants.
pub(crate) fn implementation_constants() -> impl Iterator<Item = &'static str> {
    constants::ROWS.iter().filter(|row| row.ty == "i").map(|row| row.name)
}

/// All names, for suggestions.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    BY_NAME.keys().copied().filter(|name| !name.contains('.'))
}

/// The members of `gl_in` or `gl_out`, in the order of the table: rows have the name of the array, a dot, and that of
/// the member.
pub(crate) fn members_of(array: &str) -> impl Iterator<Item = &'static str> + use<'_> {
    let mut last = "";
    let of_array =
        interface::OTHER.iter().filter_map(move |row| row.name.split_once('.').filter(|(of, _)| *of == array));
    of_array.map(|(_, member)| member).filter(move |member| std::mem::replace(&mut last, member) != *member)
}

/// The row that a version misses least: a version of the same language, or extensions of it.
fn nearest(variables: &[BuiltinVariable], version: Version) -> Since {
    let missing = |since: &Since| {
        let number = if version.is_es() { since.es } else { since.desktop };
        (number, !since.extensions.iter().any(|extension| extension.exists_in(version)))
    };
    let all = variables.iter().filter_map(|variable| variable.row()).map(|row| row.since);
    all.min_by_key(missing).unwrap_or(Since::new(NEVER, NEVER))
}

impl BuiltinVariable {
    fn row(self) -> Option<&'static Row> {
        ROWS.get(usize::from(self.0))
    }

    /// The name.
    pub(crate) fn name(self) -> &'static str {
        self.row().map_or("", |row| row.name)
    }

    /// The role in a version.
    pub(crate) fn role(self, version: Version) -> Role {
        match self.row().map(|row| row.role) {
            Some(RowRole::Is(role)) => role,
            Some(RowRole::Limit(desktop, es)) => {
                let values = if version.is_es() { es } else { desktop };
                let value = values.iter().rev().find(|&&(first, _)| version.number >= first).or(values.first());
                Role::Constant(value.map_or(&[0], |&(_, value)| value))
            }
            None => Role::State,
        }
    }

    /// Whether a declaration of the shader may repeat it, to give a length or qualifiers.
    pub(crate) fn is_redeclarable(self) -> bool {
        self.row().is_some_and(|row| row.is_redeclarable)
    }

    /// Whether four elements of the array share a slot.
    pub(crate) fn is_compact(self) -> bool {
        self.row().is_some_and(|row| row.is_compact)
    }

    /// Whether the shader may write it.
    pub(crate) fn is_writable(self) -> bool {
        matches!(self.row().map(|row| row.role), Some(RowRole::Is(Role::Output(_) | Role::Private)))
    }

    /// The largest length of an array that is declared without one.
    pub(crate) fn max_length(self, version: Version, enabled: &Extensions, constants: &ConstantValues) -> Option<u32> {
        let (_, length) = self.row()?.ty.strip_suffix(']')?.split_once("[<")?;
        length_of(length, version, enabled, constants)
    }
}

/// A length: a number, or the name of a constant.
fn length_of(text: &str, version: Version, enabled: &Extensions, constants: &ConstantValues) -> Option<u32> {
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    if let Some(value) = constants.get(text) {
        return u32::try_from(value).ok();
    }
    let variable = BY_NAME
        .get(text)?
        .iter()
        .copied()
        .find(|variable| variable.row().is_some_and(|row| row.since.holds(version, enabled)));
    match variable.or(BY_NAME.get(text)?.last().copied())?.role(version) {
        Role::Constant(&[value]) => u32::try_from(value).ok(),
        _ => None,
    }
}

/// The type of a row.
fn type_of(
    text: &'static str,
    version: Version,
    enabled: &Extensions,
    constants: &ConstantValues,
    types: &mut Types,
    interner: &mut Interner,
) -> Option<TypeId> {
    if let Some((element, length)) = text.strip_suffix(']').and_then(|text| text.split_once('[')) {
        let length = if length.starts_with('<') { None } else { Some(length_of(length, version, enabled, constants)?) };
        let element = type_of(element, version, enabled, constants, types, interner)?;
        return Some(types.array(element, length));
    }
    if text.starts_with("gl_") {
        return state::struct_type(text, types, interner);
    }
    let mut letters = text.chars();
    let first = letters.next()?;
    let size = match letters.as_str() {
        "" => 1,
        "2" => 2,
        "3" => 3,
        "4" => 4,
        _ => return None,
    };
    let scalar = match first {
        'f' => Scalar::Float,
        'i' => Scalar::Int,
        'u' => Scalar::Uint,
        'b' => Scalar::Bool,
        'k' => Scalar::Uint64,
        'm' if size > 1 => return Some(TypeId::matrix(size, size)),
        _ => return None,
    };
    Some(TypeId::vector(scalar, size))
}

#[cfg(test)]
mod tests;
