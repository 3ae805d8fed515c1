//! Sets of stages.

use tgsi_ir::ShaderStage;

/// A set of stages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stages(u16);

/// The stages of the language with their names.
const NAMES: [(ShaderStage, &str); 6] = [
    (ShaderStage::Vertex, "vertex"),
    (ShaderStage::TessCtrl, "tessellation control"),
    (ShaderStage::TessEval, "tessellation evaluation"),
    (ShaderStage::Geometry, "geometry"),
    (ShaderStage::Fragment, "fragment"),
    (ShaderStage::Compute, "compute"),
];

impl Stages {
    /// All stages.
    pub(crate) const ALL: Stages = Stages(u16::MAX);
    /// Vertex shaders.
    pub(crate) const VERTEX: Stages = Stages::of(ShaderStage::Vertex);
    /// Tessellation control shaders.
    pub(crate) const CONTROL: Stages = Stages::of(ShaderStage::TessCtrl);
    /// Tessellation evaluation shaders.
    pub(crate) const EVALUATION: Stages = Stages::of(ShaderStage::TessEval);
    /// Geometry shaders.
    pub(crate) const GEOMETRY: Stages = Stages::of(ShaderStage::Geometry);
    /// Fragment shaders.
    pub(crate) const FRAGMENT: Stages = Stages::of(ShaderStage::Fragment);
    /// Compute shaders.
    pub(crate) const COMPUTE: Stages = Stages::of(ShaderStage::Compute);

    /// One stage.
    pub(crate) const fn of(stage: ShaderStage) -> Stages {
        Stages(1 << stage as u16)
    }

    /// The stages of both sets.
    pub(crate) const fn or(self, other: Stages) -> Stages {
        Stages(self.0 | other.0)
    }

    /// Whether the sets have a stage in common.
    #[cfg(test)]
    pub(crate) fn meets(self, other: Stages) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether a stage is in the set.
    pub(crate) fn contains(self, stage: ShaderStage) -> bool {
        self.0 >> (stage as u16) & 1 != 0
    }
}

/// `vertex and fragment`
impl std::fmt::Display for Stages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> =
            NAMES.iter().filter(|&&(stage, _)| self.contains(stage)).map(|&(_, name)| name).collect();
        match names.as_slice() {
            [] => f.write_str("no"),
            [only] => f.write_str(only),
            [first @ .., last] => write!(f, "{} and {last}", first.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_name_their_stages() {
        assert_eq!(Stages::FRAGMENT.to_string(), "fragment");
        assert_eq!(
            Stages::VERTEX.or(Stages::CONTROL).or(Stages::FRAGMENT).to_string(),
            "vertex, tessellation control and fragment"
        );
        assert!(Stages::ALL.contains(ShaderStage::Compute) && !Stages::VERTEX.contains(ShaderStage::Fragment));
    }
}
