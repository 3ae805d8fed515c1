//! Operations of the ALU: loops over lanes for the rows of the table, [`evaluate`] for each lane for all others.

use tgsi_ir::alu::{AluOp, evaluate};
use tgsi_ir::body::MAX_COMPONENTS;

use super::{Block, CHUNK, Run};
use crate::program::operations::{all, f, float, fmax, fmin, lane_operations, one};

macro_rules! dispatch {
    (($block:ident $op:ident $masked:ident $dest:ident $sources:ident)
        $($class:ident $variant:ident |$($argument:ident),*| $value:expr;)*) => {
        match $op {
            $(AluOp::$variant => apply!($block $masked $dest $sources ($($argument),*) $value),)*
            // The program has lane operations for rows only.
            _ => {}
        }
    };
}

macro_rules! apply {
    ($block:ident $masked:ident $dest:ident $sources:ident ($a:ident) $value:expr) => {
        $block.unary($masked, $dest, $sources, |$a| $value)
    };
    ($block:ident $masked:ident $dest:ident $sources:ident ($a:ident, $b:ident) $value:expr) => {
        $block.binary($masked, $dest, $sources, |$a, $b| $value)
    };
    ($block:ident $masked:ident $dest:ident $sources:ident ($a:ident, $b:ident, $c:ident) $value:expr) => {
        $block.ternary($masked, $dest, $sources, |$a, $b, $c| $value)
    };
}

/// One step of a loop over lanes.
type Chunk = [u32; CHUNK];

/// The chunk of a file of planes that begins at a word.
#[inline(always)]
fn chunk(words: &[u32], at: usize) -> &Chunk {
    const ZERO: Chunk = [0; CHUNK];
    // All planes are there; this keeps a panic out of the loops.
    words.get(at..).and_then(|words| words.first_chunk()).unwrap_or(&ZERO)
}

// The loops are written out, each in a function of its own: as adaptors of arrays, or all in one function, they do not
// become vector code.
impl Block {
    /// Executes a row of the table.
    pub(super) fn run_lane(&mut self, op: AluOp, masked: bool, dest: u32, sources: [u32; 3]) {
        let masked = masked && !self.full;
        lane_operations!(dispatch self op masked dest sources);
    }

    #[inline(never)]
    fn unary(&mut self, masked: bool, dest: u32, [a, ..]: [u32; 3], compute: impl Fn(u32) -> u32) {
        let width = self.width;
        for at in (0..width).step_by(CHUNK) {
            let a = chunk(&self.words, a as usize * width + at);
            let mut result = [0; CHUNK];
            for lane in 0..CHUNK {
                result[lane] = compute(a[lane]);
            }
            self.put_chunk(masked, dest as usize * width, at, &result);
        }
    }

    #[inline(never)]
    fn binary(&mut self, masked: bool, dest: u32, [a, b, _]: [u32; 3], compute: impl Fn(u32, u32) -> u32) {
        let width = self.width;
        for at in (0..width).step_by(CHUNK) {
            let a = chunk(&self.words, a as usize * width + at);
            let b = chunk(&self.words, b as usize * width + at);
            let mut result = [0; CHUNK];
            for lane in 0..CHUNK {
                result[lane] = compute(a[lane], b[lane]);
            }
            self.put_chunk(masked, dest as usize * width, at, &result);
        }
    }

    #[inline(never)]
    fn ternary(&mut self, masked: bool, dest: u32, [a, b, c]: [u32; 3], compute: impl Fn(u32, u32, u32) -> u32) {
        let width = self.width;
        for at in (0..width).step_by(CHUNK) {
            let a = chunk(&self.words, a as usize * width + at);
            let b = chunk(&self.words, b as usize * width + at);
            let c = chunk(&self.words, c as usize * width + at);
            let mut result = [0; CHUNK];
            for lane in 0..CHUNK {
                result[lane] = compute(a[lane], b[lane], c[lane]);
            }
            self.put_chunk(masked, dest as usize * width, at, &result);
        }
    }

    #[inline(always)]
    fn put_chunk(&mut self, masked: bool, plane: usize, at: usize, result: &Chunk) {
        let Some(dest) = self.words.get_mut(plane + at..).and_then(|words| words.first_chunk_mut::<CHUNK>()) else {
            return;
        };
        if masked {
            let mask = chunk(&self.active, at);
            for lane in 0..CHUNK {
                dest[lane] = dest[lane] & !mask[lane] | result[lane] & mask[lane];
            }
        } else {
            *dest = *result;
        }
    }
}

impl Run<'_> {
    /// Executes an instruction without a row, in the active lanes.
    pub(super) fn run_general(&mut self, number: u32) {
        let program = self.program;
        let general = &program.generals[number as usize];
        let mode = program.mode;
        let width = self.block.width;
        let mut values = [[0u64; MAX_COMPONENTS]; MAX_COMPONENTS];
        let sources = &general.sources[..general.sources.len().min(MAX_COMPONENTS)];
        self.each_active(|run, lane| {
            for (values, (planes, high)) in values.iter_mut().zip(sources) {
                for (value, &plane) in values.iter_mut().zip(planes) {
                    *value = run.block.words[plane as usize * width + lane].into();
                    if *high != 0 {
                        *value |= u64::from(run.block.words[(plane + high) as usize * width + lane]) << 32;
                    }
                }
            }
            let mut arguments: [&[u64]; MAX_COMPONENTS] = [&[]; MAX_COMPONENTS];
            for ((argument, values), (planes, _)) in arguments.iter_mut().zip(&values).zip(sources) {
                *argument = values.get(..planes.len()).unwrap_or(values);
            }
            let mut result = [0u64; MAX_COMPONENTS];
            let components = general.dest.components;
            evaluate(general.op, general.bit_size, components, &arguments[..sources.len()], mode, &mut result);
            for (component, &bits) in result.iter().enumerate().take(components.into()) {
                run.block.set(general.dest, component, lane, bits);
            }
        });
    }
}
