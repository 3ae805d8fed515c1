//! Options and statistics of compilation.

/// Options of compilation.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether inactive lanes keep their values, which derivatives in divergent control flow read.
    pub keep_inactive: bool,
    /// Whether machine code is generated. Without it, without the feature `machine-code`, and where the system forbids
    /// it, the interpreter executes everything.
    pub machine_code: bool,
    /// Whether code is generated faster, but runs slower: registers are allocated in a single pass, as they always are
    /// in large functions.
    pub quick: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { keep_inactive: false, machine_code: true, quick: false }
    }
}

/// Statistics of machine code.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The number of functions, one for each region.
    pub functions: usize,
    /// The number of operations in them.
    pub operations: usize,
    /// The number of operations of the program.
    pub total: usize,
    /// Bytes of code.
    pub bytes: usize,
    /// The number of instructions that are evaluated lane by lane by calls.
    pub evaluated: usize,
    /// The reason why there is no machine code, if it was requested.
    pub refused: Option<String>,
}
