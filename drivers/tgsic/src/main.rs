//! The command `tgsic`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

/// Compiling allocates and frees many small objects on all threads, which this allocator does with fewer instructions
/// and without locks.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    tgsic::main(&[], &[])
}
