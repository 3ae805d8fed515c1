//! Operations of the ALU: loops over lanes for the rows of the table, [`evaluate`] for each lane for all others.

use std::array;

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
        $block.lanes(
            $masked,
            $dest,
            [$sources[0]],
            #[inline(always)]
            |[$a]| $value,
        )
    };
    ($block:ident $masked:ident $dest:ident $sources:ident ($a:ident, $b:ident) $value:expr) => {
        $block.lanes(
            $masked,
            $dest,
            [$sources[0], $sources[1]],
            #[inline(always)]
            |[$a, $b]| $value,
        )
    };
    ($block:ident $masked:ident $dest:ident $sources:ident ($a:ident, $b:ident, $c:ident) $value:expr) => {
        $block.lanes(
            $masked,
            $dest,
            $sources,
            #[inline(always)]
            |[$a, $b, $c]| $value,
        )
    };
}

impl Block {
    /// Executes a row of the table.
    pub(super) fn run_lane(&mut self, op: AluOp, masked: bool, dest: u32, sources: [u32; 3]) {
        let masked = masked && !self.full;
        lane_operations!(dispatch self op masked dest sources);
    }

    /// Computes a plane from others, chunk by chunk.
    #[inline(always)]
    fn lanes<const N: usize>(
        &mut self,
        masked: bool,
        dest: u32,
        sources: [u32; N],
        compute: impl Fn([u32; N]) -> u32 + Copy,
    ) {
        let width = self.width;
        let mut at = 0;
        while at < width {
            let planes: [Option<&[u32; CHUNK]>; N] = sources
                .map(|plane| self.words.get(plane as usize * width + at..).and_then(|words| words.first_chunk()));
            let planes = planes.map(|plane| plane.unwrap_or(&[0; CHUNK]));
            let result: [u32; CHUNK] = array::from_fn(
                #[inline(always)]
                |lane| {
                    compute(planes.map(
                        #[inline(always)]
                        |plane| plane[lane],
                    ))
                },
            );
            let start = dest as usize * width + at;
            if let Some(dest) = self.words.get_mut(start..).and_then(|words| words.first_chunk_mut::<CHUNK>()) {
                if masked {
                    let mask: &[u32; CHUNK] =
                        self.active.get(at..).and_then(|words| words.first_chunk()).unwrap_or(&[0; CHUNK]);
                    for lane in 0..CHUNK {
                        dest[lane] = dest[lane] & !mask[lane] | result[lane] & mask[lane];
                    }
                } else {
                    *dest = result;
                }
            }
            at += CHUNK;
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
