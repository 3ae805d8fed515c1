//! Limits on modules. They bound the time and memory that a module of any content takes.

/// The limits of the front end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct SpirvLimits {
    /// Words of a module. The largest module of the games and samples that were tried has 40,000.
    pub words: u64,
    /// Ids of a module, which have an entry each in tables. The specification requires at least this number.
    pub ids: u64,
    /// Nesting of types, and of constructs of control flow, which later passes visit by recursion or by a stack.
    pub nesting: u32,
    /// Leaves (scalars and vectors) of one value, each of which is an instruction in a load of the whole.
    pub leaves: u32,
    /// Scalars of all variables of functions, private ones and those of workgroups. Each lane that is run has memory
    /// for them, and passes visit the elements of arrays.
    pub scalars: u64,
    /// Copies of functions: one for each set of variables that pointer arguments point to, which calls can double at
    /// every level.
    pub functions: u32,
    /// Variables that one pointer may lead to: an access through it is one to each.
    pub targets: u32,
    /// Instructions of all copies of functions together.
    pub instructions: u64,
}

impl Default for SpirvLimits {
    fn default() -> SpirvLimits {
        SpirvLimits {
            words: 16 << 20,
            ids: 4_194_303,
            nesting: 256,
            leaves: 1 << 16,
            scalars: 1 << 20,
            functions: 4096,
            targets: 64,
            instructions: 4 << 20,
        }
    }
}
