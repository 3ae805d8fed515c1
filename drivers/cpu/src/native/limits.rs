//! Limits of machine code. Operations beyond them are left to the interpreter.

#![cfg_attr(not(feature = "machine-code"), allow(dead_code, reason = "only code generation uses all of them"))]

/// The number of constant buffers that code can access.
pub(super) const MAX_CONSTANTS: u32 = 16;

/// The number of storage buffers that code can access.
pub(super) const MAX_STORAGE: u32 = 16;

/// The number of vertices of a primitive that code can access: as many as a patch has.
pub(super) const MAX_VERTICES: u32 = 32;

/// The number of input registers that code can access.
pub(super) const MAX_INPUTS: u32 = 256;

/// The greatest word of a buffer that code accesses at a constant place.
pub(super) const MAX_WORD: u64 = 1 << 26;

/// Bytes that one load may read.
pub(super) const ZEROS: usize = 32;

/// Most known units of a program.
pub(super) const MAX_KNOWN: usize = 16;

/// Fewest operations that are worth a call.
pub(super) const MIN_OPERATIONS: u32 = 2;

/// Most weight of a region's operations: some steps of compilation take more than linear time in the size of the
/// function. The smaller limits are tried if a function needs too much stack for its values.
pub(super) const MAX_WEIGHTS: [u32; 3] = [4000, 1000, 250];

/// Most instructions, of Cranelift's IR, of all inline lookups of a program: those of about five lookups of the nearest
/// texel, or of one between levels. A call makes a bilinear lookup slightly slower.
pub(super) const MAX_INLINE: usize = 1500;

/// Most instructions and block parameters of a function with register allocation by backtracking, which takes more than
/// linear time. Larger functions use a single pass, which is many times faster.
pub(super) const MAX_BACKTRACKING: usize = 8000;

/// Most bytes of the stack that a function may use. Threads usually have two megabytes, on some systems only 128 KiB.
pub(super) const MAX_FRAME: u32 = 64 << 10;
