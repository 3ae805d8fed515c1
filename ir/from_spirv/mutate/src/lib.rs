//! Changes SPIR-V modules without changing their meaning, and damages them, to test readers of SPIR-V.
//!
//! [`mutate`] applies transformations that any compiler must undo or keep: it wraps code in selections, loops and
//! switches that are always taken, adds exits that never are, moves code into functions, and passes values through
//! copies, phis and memory. A reader must give the result the meaning of its source. [`damage`] makes words of which a
//! reader must only not crash.
//!
//! | file | holds |
//! |---|---|
//! | `operands` | which words of an instruction are ids |
//! | `module` | a module as instructions, functions and blocks |
//! | `graph` | edges, dominators, constructs |
//! | `editor` | types, constants, uses |
//! | `conditions` | conditions with a known value |
//! | `regions` | splitting of blocks; regions with one entry and one exit |
//! | `transform` | one file for each transformation, and their table |
//! | `damage` | damage |
//! | `define` | results for undefined behaviour |
//! | `capture` | outputs of vertex shaders in a buffer |
//!
//! The crate depends on no compiler, so it shares no mistakes with one.

mod capture;
mod conditions;
mod damage;
mod define;
mod editor;
mod graph;
mod module;
mod operands;
mod random;
mod regions;
mod transform;

pub use capture::capture;
pub use damage::damage;
pub use define::define;
pub use module::MutateError;

use editor::Editor;
use module::Module;
use random::Random;
use transform::{TRANSFORMATIONS, restore_order};

/// Tries for each transformation: many do not apply at the place that was chosen.
const TRIES: usize = 12;
/// Most words of a result: modules grow by factors if functions are duplicated.
const MAX_WORDS: usize = 1 << 20;

/// A changed module.
#[derive(Clone, Debug)]
pub struct Mutation {
    /// Its words.
    pub words: Vec<u32>,
    /// The transformations, in their order.
    pub applied: Vec<&'static str>,
}

/// Returns the names of all transformations.
pub fn transformations() -> impl Iterator<Item = &'static str> {
    TRANSFORMATIONS.iter().map(|row| row.name)
}

/// Applies up to `count` random transformations; fewer if they do not apply.
///
/// # Errors
/// The module has unknown opcodes, or is not a module.
pub fn mutate(words: &[u32], seed: u64, count: usize) -> Result<Mutation, MutateError> {
    mutate_by(words, seed, count, |_| true)
}

/// Applies transformations with suitable names, as [`mutate`].
///
/// # Errors
/// The module has unknown opcodes, or is not a module.
pub fn mutate_by(
    words: &[u32],
    seed: u64,
    count: usize,
    is_suitable: impl Fn(&str) -> bool,
) -> Result<Mutation, MutateError> {
    let mut editor = Editor { module: Module::read(words)?, random: Random::new(seed) };
    let rows: Vec<usize> = (0..TRANSFORMATIONS.len()).filter(|&row| is_suitable(TRANSFORMATIONS[row].name)).collect();
    let mut applied = Vec::new();
    let mut size = words.len();
    for _ in 0..count {
        for _ in 0..TRIES {
            let Some(row) = editor.random.choose(&rows).map(|row| &TRANSFORMATIONS[row]) else { break };
            // By block, so that large functions are changed more often.
            let functions = &editor.module.functions;
            let blocks: Vec<usize> = (0..functions.len()).flat_map(|f| vec![f; functions[f].blocks.len()]).collect();
            let Some(function) = editor.random.choose(&blocks) else { break };
            let before = editor.module.clone();
            let is_done = (row.run)(&mut editor, function).is_some();
            let functions = editor.module.functions.iter();
            if is_done && editor.module.has_ids() && functions.clone().all(graph::is_valid) {
                // Changes may have given blocks other dominators.
                editor.module.functions.iter_mut().for_each(restore_order);
                size = editor.module.words().len();
                applied.push(row.name);
                break;
            }
            editor.module = before;
        }
        if size > MAX_WORDS {
            break;
        }
    }
    Ok(Mutation { words: editor.module.words(), applied })
}
