//! ALU instructions: loops over lanes for common 32-bit opcodes, [`evaluate`] per lane for all others.

use super::fast_alu::{all, f, fast_table, float, fmax, fmin, fneg, one};
use super::machine::Machine;
use super::ops::Alu;
use crate::alu::{AluOp, evaluate, fma_single};
use crate::body::MAX_COMPONENTS;

macro_rules! make_dispatch {
    (($machine:ident $alu:ident) $($needs:ident $variant:ident |$($argument:ident),*| $value:expr;)*) => {
        match $alu.op {
            $(AluOp::$variant => apply!($machine $alu ($($argument),*) $value),)*
            op if op.is_vec() => $machine.run_vec($alu),
            _ => $machine.run_dot($alu),
        }
    };
}

macro_rules! apply {
    ($machine:ident $alu:ident ($a:ident) $value:expr) => {
        $machine.unary($alu, |$a| $value)
    };
    ($machine:ident $alu:ident ($a:ident, $b:ident) $value:expr) => {
        $machine.binary($alu, |$a, $b| $value)
    };
    ($machine:ident $alu:ident ($a:ident, $b:ident, $c:ident) $value:expr) => {
        $machine.ternary($alu, |$a, $b, $c| $value)
    };
}

impl Machine<'_, '_> {
    /// Executes an ALU instruction.
    pub fn run_alu(&mut self, number: u32) {
        let program = self.program;
        let alu = &program.alus[number as usize];
        if alu.fast {
            fast_table!(make_dispatch self alu);
        } else {
            self.run_general(alu);
        }
    }

    #[inline(always)]
    fn unary(&mut self, alu: &Alu, compute: impl Fn(u32) -> u32) {
        let program = self.program;
        let width = self.width;
        for (dest, &a) in (alu.dest.vector..).zip(program.alu_source_vectors(alu, 0)) {
            let a = &self.words[a as usize * width..][..width];
            for (result, &a) in self.result.iter_mut().zip(a) {
                *result = compute(a);
            }
            super::machine::put(&mut self.words, dest, &self.result, &self.active, self.full);
        }
    }

    #[inline(always)]
    fn binary(&mut self, alu: &Alu, compute: impl Fn(u32, u32) -> u32) {
        let program = self.program;
        let width = self.width;
        let sources = program.alu_source_vectors(alu, 0).iter().zip(program.alu_source_vectors(alu, 1));
        for (dest, (&a, &b)) in (alu.dest.vector..).zip(sources) {
            let a = &self.words[a as usize * width..][..width];
            let b = &self.words[b as usize * width..][..width];
            for ((result, &a), &b) in self.result.iter_mut().zip(a).zip(b) {
                *result = compute(a, b);
            }
            super::machine::put(&mut self.words, dest, &self.result, &self.active, self.full);
        }
    }

    #[inline(always)]
    fn ternary(&mut self, alu: &Alu, compute: impl Fn(u32, u32, u32) -> u32) {
        let program = self.program;
        let width = self.width;
        let sources = program.alu_source_vectors(alu, 0).iter().zip(program.alu_source_vectors(alu, 1));
        let sources = sources.zip(program.alu_source_vectors(alu, 2));
        for (dest, ((&a, &b), &c)) in (alu.dest.vector..).zip(sources) {
            let a = &self.words[a as usize * width..][..width];
            let b = &self.words[b as usize * width..][..width];
            let c = &self.words[c as usize * width..][..width];
            for (((result, &a), &b), &c) in self.result.iter_mut().zip(a).zip(b).zip(c) {
                *result = compute(a, b, c);
            }
            super::machine::put(&mut self.words, dest, &self.result, &self.active, self.full);
        }
    }

    fn run_vec(&mut self, alu: &Alu) {
        let program = self.program;
        let width = self.width;
        for number in 0..usize::from(alu.num_sources).min(alu.dest.components.into()) {
            let Some(&source) = program.alu_source_vectors(alu, number).first() else { continue };
            let start = source as usize * width;
            self.result.copy_from_slice(&self.words[start..start + width]);
            let dest = alu.dest.vector + number as u32;
            super::machine::put(&mut self.words, dest, &self.result, &self.active, self.full);
        }
    }

    /// Dot products, starting with the last component.
    fn run_dot(&mut self, alu: &Alu) {
        let program = self.program;
        let width = self.width;
        let sources = program.alu_source_vectors(alu, 0).iter().zip(program.alu_source_vectors(alu, 1));
        for (number, (&a, &b)) in sources.rev().enumerate() {
            let a = &self.words[a as usize * width..][..width];
            let b = &self.words[b as usize * width..][..width];
            for ((result, &a), &b) in self.result.iter_mut().zip(a).zip(b) {
                let product = f(a) * f(b);
                *result = if number == 0 { product.to_bits() } else { (f(*result) + product).to_bits() };
            }
        }
        for vector in alu.dest.vector..alu.dest.vector + u32::from(alu.dest.components) {
            super::machine::put(&mut self.words, vector, &self.result, &self.active, self.full);
        }
    }

    /// Evaluates any opcode, lane by lane.
    fn run_general(&mut self, alu: &Alu) {
        let program = self.program;
        let width = self.width;
        let mode = program.properties.float_controls_execution_mode;
        let mut values = [[0u64; MAX_COMPONENTS]; MAX_COMPONENTS];
        let first = alu.sources as usize;
        let sources = &program.alu_sources[first..first + usize::from(alu.num_sources).min(MAX_COMPONENTS)];
        self.each_active(|machine, lane| {
            for (values, source) in values.iter_mut().zip(sources) {
                let start = source.start as usize;
                let vectors = &program.source_vectors[start..start + usize::from(source.components)];
                for (value, &vector) in values.iter_mut().zip(vectors) {
                    *value = machine.words[vector as usize * width + lane].into();
                    if source.high != 0 {
                        let high = machine.words[(vector as usize + usize::from(source.high)) * width + lane];
                        *value |= u64::from(high) << 32;
                    }
                }
            }
            let mut arguments: [&[u64]; MAX_COMPONENTS] = [&[]; MAX_COMPONENTS];
            for ((argument, values), source) in arguments.iter_mut().zip(&values).zip(sources) {
                *argument = values.get(..usize::from(source.components)).unwrap_or(values);
            }
            let mut result = [0u64; MAX_COMPONENTS];
            evaluate(alu.op, alu.bit_size, alu.dest.components, &arguments[..sources.len()], mode, &mut result);
            for (component, &bits) in result.iter().enumerate().take(alu.dest.components.into()) {
                machine.set(alu.dest, component, lane, bits);
            }
        });
    }
}
