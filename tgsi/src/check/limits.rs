//! Limits of the check, with their reasons. Those that only drivers have are warnings.

use crate::tables::File;

/// Deepest nesting of blocks. Compilers stay far below; every pass over a shader keeps a stack of this depth.
pub const MAX_NESTING: u32 = 1024;

/// Most instructions of a shader with all calls replaced by what they call, which is how most drivers take subroutines. Calls of calls can
/// make exponentially much code of a few lines.
pub const MAX_INLINED_INSTRUCTIONS: u64 = 1 << 18;

/// Most findings that a report holds; more of them would help nobody.
pub const MAX_FINDINGS: usize = 1000;

/// Clip and cull distances together: two registers.
pub const MAX_CLIP_AND_CULL_DISTANCES: u32 = 8;

/// Vertices of a tessellation patch.
pub const MAX_PATCH_VERTICES: u32 = 32;

/// Most vertices that a geometry shader may emit, in any API.
pub const MAX_GEOMETRY_OUTPUT_VERTICES: u32 = 1024;

/// Most invocations of a geometry shader that drivers allow.
pub const MAX_GEOMETRY_INVOCATIONS: u32 = 127;

/// Registers of a file that drivers take at most (for constants and atomic counters: outer indices), none if only the tokens limit it.
pub const fn driver_registers(file: File) -> Option<u32> {
    match file {
        File::Input | File::Output => Some(80),
        File::Address => Some(3),
        File::Constant | File::ConstantBuffer | File::Sampler | File::Buffer | File::HwAtomic => Some(32),
        File::SamplerView => Some(128),
        File::Image => Some(64),
        File::Memory => Some(4),
        File::Temporary => Some(4096),
        File::Null | File::Immediate | File::SystemValue => None,
    }
}
