//! Functions of the language.
//!
//! A row of a table is a name with its signatures, which are patterns ([`pattern`]), the versions and stages that have
//! them, and the operation. Several rows may have one name. A lookup expands the rows of a name over the sizes and types
//! of their patterns; types that a version lacks are left out, so that `texture(sampler2DRect, vec2)` needs no row.

mod geometric;
mod image;
mod integer;
#[cfg(test)]
pub(crate) mod manual;
mod math;
mod memory;
mod op;
pub(crate) mod pattern;
mod stage;
mod texture;
mod texture_old;

use hashbrown::HashMap;
use std::sync::LazyLock;

use tgsi_ir::ShaderStage;
use tgsi_ir::body::TexOp;

use crate::builtins::stages::Stages;
use crate::extension::{Extension as E, Extensions};
use crate::program::Direction;
use crate::types::{TypeId, Types};
use crate::version::{NEVER, Profile, Since, Version};

pub(crate) use op::{AtomicKind, BuiltinOp, CounterOp, Detail, ImageOp, TextureArgument, TextureOp};
use pattern::Expansion;

const V110: Since = Since::ALWAYS;
const V120: Since = Since::new(120, 300);
const V130: Since = Since::new(130, 300);
/// Functions of integers.
const V130_OR_SHADER4: Since = Since::new(130, 300).or(&[E::EXTGpuShader4]);
/// Bits of floats as integers and back.
const V330_BITS: Since = Since::new(330, 300).or(&[E::ARBShaderBitEncoding, E::ARBGpuShader5]);
/// Functions of doubles.
const V400_DOUBLE: Since = Since::new(400, NEVER).or(&[E::ARBGpuShaderFp64]);
/// Functions of 64-bit integers.
const INT64: Since = Since::new(NEVER, NEVER).or(&[E::ARBGpuShaderInt64, E::AMDGpuShaderInt64]);
/// Functions of the bits of integers.
const V400_INTEGERS: Since = Since::new(400, 310).or(&[E::ARBGpuShader5, E::MESAShaderIntegerFunctions]);
/// Packing of bytes.
const V400_PACKING: Since = Since::new(400, 310).or(&[E::ARBShadingLanguagePacking, E::ARBGpuShader5]);

/// A signature of a function.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Signature {
    /// Type of the result.
    pub(crate) result: TypeId,
    /// Types and directions of the parameters.
    pub(crate) parameters: Vec<(TypeId, Direction)>,
    /// The operation.
    pub(crate) op: BuiltinOp,
    /// Whether a call does more than compute its results, or its results depend on which invocations execute it.
    pub(crate) has_effects: bool,
    /// The desktop version that removed it, if compilers of this version accept it all the same; calls get a warning.
    pub(crate) removed: Option<u16>,
}

/// The signatures of a name.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Overloads {
    /// No version has the function.
    Unknown,
    /// Other versions have it, or other extensions add it.
    Unavailable(Since),
    /// The version has it in these stages only.
    OtherStage(Stages),
    /// This version removed it from the core profile or, if the version is one of ES, from the ES language.
    Removed(u16),
    /// The signatures, each with other types of parameters.
    Found(Vec<Signature>),
}

/// The operation of a row.
#[derive(Clone, Copy, Debug)]
pub(super) enum RowOp {
    /// An operation.
    Op(BuiltinOp),
    /// A texture operation, completed by the roles of the parameters.
    Texture(TexOp),
}

/// A row of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    name: &'static str,
    op: RowOp,
    signatures: &'static [&'static str],
    since: Since,
    stages: Stages,
    /// The first version whose core profile lacks it by the specification.
    removed: u16,
    /// The first version in whose core profile compilers lack it.
    lacking_core: u16,
    /// The first ES version without it.
    lacking_es: u16,
}

impl Row {
    /// A function of all stages.
    const fn new(name: &'static str, op: BuiltinOp, signatures: &'static [&'static str], since: Since) -> Row {
        Row::of(name, RowOp::Op(op), signatures, since)
    }

    /// A texture function of all stages.
    const fn texture(name: &'static str, op: TexOp, signatures: &'static [&'static str], since: Since) -> Row {
        Row::of(name, RowOp::Texture(op), signatures, since)
    }

    const fn of(name: &'static str, op: RowOp, signatures: &'static [&'static str], since: Since) -> Row {
        let (removed, lacking_core, lacking_es) = (NEVER, NEVER, NEVER);
        Row { name, op, signatures, since, stages: Stages::ALL, removed, lacking_core, lacking_es }
    }

    /// Only in these stages.
    const fn only(self, stages: Stages) -> Row {
        Row { stages, ..self }
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

/// All tables.
const TABLES: &[&[Row]] = &[
    math::ROWS,
    geometric::ROWS,
    integer::ROWS,
    stage::ROWS,
    texture_old::ROWS,
    texture::ROWS,
    image::ROWS,
    memory::ROWS,
];

fn rows() -> impl Iterator<Item = &'static Row> {
    TABLES.iter().copied().flatten()
}

static BY_NAME: LazyLock<HashMap<&'static str, Vec<&'static Row>>> = LazyLock::new(|| {
    let mut by_name: HashMap<&str, Vec<&Row>> = HashMap::new();
    for row in rows() {
        by_name.entry(row.name).or_default().push(row);
    }
    by_name
});

/// Looks up a function by its name.
pub(crate) fn overloads(
    name: &str,
    version: Version,
    enabled: &Extensions,
    stage: ShaderStage,
    types: &mut Types,
) -> Overloads {
    let Some(rows) = BY_NAME.get(name) else { return Overloads::Unknown };
    let mut found: Vec<Signature> = Vec::new();
    let (mut stages, mut lacking) = (None::<Stages>, None);
    for row in rows {
        if !row.since.holds(version, enabled) {
            continue;
        }
        // Extensions may add functions that the version has removed.
        let by_extension = !version.is_at_least(row.since.desktop, row.since.es);
        if let Some(first) = row.lacking(version).filter(|_| !by_extension) {
            lacking = Some(first);
            continue;
        }
        if !row.stages.contains(stage) {
            stages = Some(stages.map_or(row.stages, |stages| stages.or(row.stages)));
            continue;
        }
        let is_removed = version.profile == Profile::Core && version.number >= row.removed && !by_extension;
        let removed = is_removed.then_some(row.removed);
        for signature in row.signatures {
            let mut expansion = Expansion { version, enabled, stage, types, found: &mut found, row, removed };
            expansion.run(signature);
        }
    }
    if !found.is_empty() {
        return Overloads::Found(found);
    }
    match (lacking, stages) {
        (Some(version), _) => Overloads::Removed(version),
        (None, Some(stages)) => Overloads::OtherStage(stages),
        (None, None) => Overloads::Unavailable(nearest(rows, version)),
    }
}

/// All names, for suggestions.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    BY_NAME.keys().copied()
}

/// The row that a version misses least: a version of the same language, or extensions of it.
fn nearest(rows: &[&Row], version: Version) -> Since {
    let missing = |since: &Since| {
        let number = if version.is_es() { since.es } else { since.desktop };
        (number, !since.extensions.iter().any(|extension| extension.exists_in(version)))
    };
    rows.iter().map(|row| row.since).min_by_key(missing).unwrap_or(Since::new(NEVER, NEVER))
}

#[cfg(test)]
mod tests;
