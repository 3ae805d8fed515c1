//! The roles of operands.

use crate::tables::{Opcode, OutputMode};

/// The role of an operand, which determines the allowed files.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum OperandRole {
    /// A value.
    Value,
    /// A sampler of the `TEX` family, or a handle.
    Sampler,
    /// A sampler of the `SAMPLE` family, or of `SAMP2HND`.
    DirectSampler,
    /// A sampler view.
    View,
    /// A sampler view, or the temporary that denotes the rasteriser.
    ViewOrTemporary,
    /// The resource that `LOAD` reads.
    Loaded,
    /// The resource that `STORE` writes.
    Stored,
    /// The resource of an atomic.
    Atomic,
    /// The resource that `RESQ` queries.
    Queried,
    /// An image for which a handle is requested.
    Image,
    /// An input to interpolate.
    Interpolated,
    /// An output to fetch.
    Fetched,
}

/// Returns the role of source `source` of `opcode`.
pub(super) fn role(opcode: Opcode, source: usize) -> OperandRole {
    use Opcode::*;
    let info = opcode.info();
    match (opcode, source) {
        (Samp2hnd, 0) => OperandRole::DirectSampler,
        (Img2hnd, 0) => OperandRole::Image,
        (Load, 0) => OperandRole::Loaded,
        (Resq, 0) => OperandRole::Queried,
        (Store, _) => OperandRole::Value,
        (InterpCentroid | InterpSample | InterpOffset, 0) => OperandRole::Interpolated,
        (Fbfetch, 0) => OperandRole::Fetched,
        (SamplePos | SampleInfo, 0) => OperandRole::ViewOrTemporary,
        (Sviewinfo | Lod, 1) => OperandRole::View,
        (Lod, 2) => OperandRole::DirectSampler,
        (SampleI | SampleIMs, 2) => OperandRole::Value,
        (_, 1) if info.is_sample_family => OperandRole::View,
        (_, 2) if info.is_sample_family => OperandRole::DirectSampler,
        (_, 0) if info.is_store => OperandRole::Atomic,
        _ if info.is_tex && source + 1 == usize::from(info.num_src) => OperandRole::Sampler,
        _ => OperandRole::Value,
    }
}

/// Whether opcodes with such results are pure computations.
pub(super) fn computes(output_mode: OutputMode) -> bool {
    matches!(output_mode, OutputMode::Componentwise | OutputMode::Replicate | OutputMode::ChannelDependent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_of_computations_are_values() {
        for &opcode in Opcode::ALL {
            let info = opcode.info();
            if computes(info.output_mode) {
                assert!(!(info.is_tex || info.is_sample_family || info.is_store || info.has_memory), "{opcode}");
                assert!(!matches!(opcode, Opcode::Sviewinfo | Opcode::Lod));
                assert!(
                    (0..usize::from(info.num_src)).all(|source| role(opcode, source) == OperandRole::Value),
                    "{opcode}"
                );
                assert_ne!(opcode, Opcode::Store);
            }
        }
    }
}
