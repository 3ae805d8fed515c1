//! Errors of the interfaces between the stages of a pipeline.

use tgsi_diagnostics::ErrorCode;
use thiserror::Error;

use crate::findings::Finding;

/// An error about variables that stages share.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub(crate) enum LinkError {
    /// An input that the stage before does not declare.
    #[error("`{name}` is read, and the {producer} shader does not declare it")]
    Undeclared {
        /// The input.
        name: String,
        /// The stage before.
        producer: &'static str,
    },
    /// An input that the stage before declares, and does not write.
    #[error("`{name}` is read, and the {producer} shader does not write it")]
    Unwritten {
        /// The input.
        name: String,
        /// The stage before.
        producer: &'static str,
    },
    /// A variable of two types.
    #[error("`{name}` has the type {found}, in the {other} shader {expected}")]
    Type {
        /// The variable.
        name: String,
        /// Its type here.
        found: String,
        /// The other stage.
        other: &'static str,
        /// Its type there.
        expected: String,
    },
    /// A struct with other fields.
    #[error("the struct of `{name}` differs from that of the {other} shader: {difference}")]
    Struct {
        /// The variable.
        name: String,
        /// The other stage.
        other: &'static str,
        /// The first difference.
        difference: String,
    },
    /// A qualifier that only one stage has.
    #[error("`{name}` is {found} here, and {expected} in the {other} shader")]
    Qualifier {
        /// The variable.
        name: String,
        /// The qualifier here.
        found: String,
        /// The other stage.
        other: &'static str,
        /// The qualifier there.
        expected: String,
    },
    /// A block with other members.
    #[error("the block `{name}` differs from that of the {other} shader: {difference}")]
    Block {
        /// The block.
        name: String,
        /// The other stage.
        other: &'static str,
        /// The first difference.
        difference: String,
    },
    /// A stage without another one that it needs.
    #[error("a pipeline with a {stage} shader needs {needed}")]
    Stages {
        /// The stage.
        stage: &'static str,
        /// The stage or declaration that is absent.
        needed: &'static str,
    },
    /// Several shaders of one stage in a language that has one.
    #[error("a program of version {version} has one {stage} shader, and this is another")]
    Units {
        /// The stage.
        stage: &'static str,
        /// The version.
        version: String,
    },
    /// Two uniforms with one location.
    #[error("`{name}` has a location of `{other}`")]
    LocationOverlap {
        /// The second one.
        name: String,
        /// The first one.
        other: String,
    },
    /// An output of a separable program that the program of the next stage lacks.
    #[error("the {other} shader has an output `{name}` that this shader does not declare in the same way")]
    Unmatched {
        /// The output, or its block.
        name: String,
        /// The stage before.
        other: &'static str,
    },
    /// A uniform with two initial values.
    #[error("the uniform `{name}` has another initial value in the {other} shader")]
    Initializer {
        /// The uniform.
        name: String,
        /// The other stage.
        other: &'static str,
    },
    /// A vertex shader that does not write the position.
    #[error("the vertex shader does not write `gl_Position`")]
    NoPosition,
    /// Stages of different languages.
    #[error("the version is {found}, that of the {other} shader {expected}")]
    Version {
        /// The version here.
        found: String,
        /// The other stage.
        other: &'static str,
        /// The version there.
        expected: String,
    },
}

impl LinkError {
    tgsi_diagnostics::error_codes! {
        Undeclared => "G0600" "link-undeclared",
        Unwritten => "G0601" "link-unwritten",
        Type => "G0602" "link-type",
        Struct => "G0603" "link-struct",
        Qualifier => "G0604" "link-qualifier",
        Initializer => "G0605" "link-initializer",
        NoPosition => "G0606" "link-no-position",
        Version => "G0607" "link-version",
        Block => "G0608" "link-block",
        Stages => "G0609" "link-stages",
        LocationOverlap => "G0610" "link-location-overlap",
        Unmatched => "G0611" "link-unmatched",
        Units => "G0612" "link-units",
    }
}

impl Finding for LinkError {
    fn code(&self) -> ErrorCode {
        LinkError::code(self)
    }

    fn is_warning(&self) -> bool {
        false
    }

    fn hint(&self) -> Option<String> {
        match self {
            LinkError::Undeclared { name, producer } => {
                Some(format!("declare and write `{name}` in the {producer} shader"))
            }
            LinkError::Unwritten { name, producer } => Some(format!("write `{name}` in the {producer} shader")),
            _ => None,
        }
    }
}
