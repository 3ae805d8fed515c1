//! Errors of the driver.

use tgsi::tables::Opcode;
use tgsi_compiler::TargetError;
use tgsi_diagnostics::ErrorCode;
use tgsi_ir::alu::AluOp;

use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::{Inst, ShaderStage};
use thiserror::Error;

/// A shader that cannot be expressed in SPIR-V for the target.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum SpirvError {
    /// The shader has no entry point.
    #[error("the shader has no entry point")]
    NoEntryPoint,
    /// A stage that Vulkan or this driver does not support.
    #[error("there are no {0:?} shaders in SPIR-V for this target")]
    Stage(ShaderStage),
    /// An ALU operation without a SPIR-V form.
    #[error("{inst}: {op} of {bits} bits has no SPIR-V form")]
    UnsupportedAlu {
        /// The instruction.
        inst: Inst,
        /// Its opcode.
        op: AluOp,
        /// Bits of a component.
        bits: u8,
    },
    /// An intrinsic without a SPIR-V form.
    #[error("{inst}: {op} has no SPIR-V form")]
    UnsupportedIntrinsic {
        /// The instruction.
        inst: Inst,
        /// Its opcode.
        op: IntrinsicOp,
    },
    /// A feature that the target lacks or SPIR-V cannot express.
    #[error("{inst}: {what}")]
    Unsupported {
        /// The instruction.
        inst: Inst,
        /// The unsupported feature.
        what: &'static str,
    },
    /// A part of the interface that the target lacks or SPIR-V cannot express.
    #[error("{name}: {what}")]
    Interface {
        /// The variable.
        name: String,
        /// The unsupported feature.
        what: &'static str,
    },
    /// Two slots that share a location in separately translated shaders.
    #[error("{first} and {second} are both at location {location}, unless the shader is linked")]
    Location {
        /// A slot.
        first: String,
        /// The other slot.
        second: String,
        /// Their location.
        location: u32,
    },
    /// A linked shader with more slots than there are locations.
    #[error("{name} would be at location {location}, but there are only 32")]
    NoLocation {
        /// The slot.
        name: String,
        /// Its location.
        location: u32,
    },
    /// Stream output of outputs that the shader does not declare.
    #[error("stream output: {0}")]
    StreamOutput(String),
    /// A construct that lowering should have removed.
    #[error("{inst}: {what} was not lowered")]
    NotLowered {
        /// The instruction.
        inst: Inst,
        /// Its description.
        what: &'static str,
    },
    /// A module with more words or ids than supported.
    #[error("the module would have more than {0} words")]
    TooLarge(u32),
    /// An instruction that the harness, which makes code for runs, cannot replace.
    #[error("{inst}: code for runs cannot contain {what}")]
    Harness {
        /// The instruction.
        inst: Inst,
        /// Its opcode or a description.
        what: &'static str,
    },
}

impl SpirvError {
    tgsi_diagnostics::error_codes! {
        NoEntryPoint => "T2000" "spirv-no-entry-point",
        Stage => "T2001" "spirv-stage",
        UnsupportedAlu => "T2002" "spirv-unsupported-alu",
        UnsupportedIntrinsic => "T2003" "spirv-unsupported-intrinsic",
        Unsupported => "T2004" "spirv-unsupported",
        Interface => "T2005" "spirv-interface",
        NotLowered => "T2006" "spirv-not-lowered",
        TooLarge => "T2007" "spirv-too-large",
        Harness => "T2008" "spirv-harness",
        Location => "T2009" "spirv-location",
        NoLocation => "T2010" "spirv-no-location",
        StreamOutput => "T2011" "spirv-stream-output",
    }
}

impl SpirvError {
    /// Returns a suggestion.
    fn hint(&self) -> String {
        match self {
            SpirvError::NoEntryPoint => "declare a function as `(entrypoint)`".to_owned(),
            SpirvError::Stage(_) => {
                "vertex, tessellation, geometry, fragment and compute shaders have a form in SPIR-V".to_owned()
            }
            SpirvError::Unsupported { what, .. } => match HINTS.iter().find(|(start, _)| what.starts_with(start)) {
                Some((_, hint)) => (*hint).to_owned(),
                None => SHOWN.to_owned(),
            },
            SpirvError::UnsupportedAlu { bits, .. } if *bits != 32 => {
                "`--driver-option no_int64` and `no_float64` lower it to 32-bit operations".to_owned()
            }
            SpirvError::UnsupportedAlu { .. } | SpirvError::UnsupportedIntrinsic { .. } => SHOWN.to_owned(),
            SpirvError::Interface { .. } => "`--reflect` shows the interface of a shader without it".to_owned(),
            SpirvError::Location { .. } => {
                "`tgsic link` assigns different locations to the slots that both stages have".to_owned()
            }
            SpirvError::NoLocation { .. } => {
                "a shader of the pipeline must have fewer inputs; `--driver glsl` matches slots by name instead"
                    .to_owned()
            }
            SpirvError::StreamOutput(_) => {
                "name outputs and streams as the shader declares them: `OUT[1].xy->0@16/32:1` is for stream 1"
                    .to_owned()
            }
            SpirvError::NotLowered { .. } => "this is a bug in the driver: please report it with the shader".to_owned(),
            SpirvError::TooLarge(_) => "split the shader: devices refuse far smaller modules".to_owned(),
            SpirvError::Harness { .. } => "`tgsic translate` translates the shader".to_owned(),
        }
    }
}

/// The default suggestion.
const SHOWN: &str = "`tgsic ir --driver spirv --stage opt` shows the optimised code of the instruction";

/// Suggestions for unsupported features, by the start of their description.
const HINTS: &[(&str, &str)] = &[
    ("a bindless handle", "`--driver-option bindless`, for devices that can index arrays of descriptors"),
    ("elect needs SPIR-V 1.3", "`--target vulkan1.1` or later"),
    ("the extension reads 32 bits", "`--target vulkan1.1` or later"),
    ("the target has no framebuffer fetch", "targets of Vulkan have it: `--target vulkan1.1`"),
    ("a position that is written in parts", "write all four components at once, or leave out the options that move it"),
    ("a clipped vertex that is written in parts", "write all four components at once, or leave out `user_clip_planes`"),
    ("the size of a constant buffer", "name the buffer by a constant number"),
    ("a minimum level of detail", "leave the portable profile: `--target vulkan1.1`"),
    ("Vulkan has no handle", "pass the handle in a constant, with `--driver-option bindless`"),
];

impl TargetError for SpirvError {
    fn code(&self) -> ErrorCode {
        SpirvError::code(self)
    }

    fn inst(&self) -> Option<Inst> {
        match *self {
            SpirvError::UnsupportedAlu { inst, .. }
            | SpirvError::UnsupportedIntrinsic { inst, .. }
            | SpirvError::Unsupported { inst, .. }
            | SpirvError::NotLowered { inst, .. }
            | SpirvError::Harness { inst, .. } => Some(inst),
            SpirvError::NoEntryPoint
            | SpirvError::Stage(_)
            | SpirvError::Interface { .. }
            | SpirvError::Location { .. }
            | SpirvError::NoLocation { .. }
            | SpirvError::StreamOutput(_)
            | SpirvError::TooLarge(_) => None,
        }
    }

    fn message_at(&self, opcode: Option<Opcode>) -> Option<String> {
        Some(match (self, opcode.map(Opcode::name)) {
            (SpirvError::UnsupportedAlu { bits, .. }, Some(name)) => {
                format!("{name} has no SPIR-V form for values of {bits} bits")
            }
            (SpirvError::UnsupportedIntrinsic { .. }, Some(name)) => format!("{name} has no SPIR-V form"),
            // The number of the instruction is redundant where the line of the source is shown.
            _ => {
                let text = self.to_string();
                let number = self.inst().map(|inst| format!("{inst}: "));
                number.and_then(|number| text.strip_prefix(&number).map(str::to_owned)).unwrap_or(text)
            }
        })
    }

    fn hint(&self) -> Option<String> {
        Some(SpirvError::hint(self))
    }
}
