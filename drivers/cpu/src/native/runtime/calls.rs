//! Functions called by machine code: library functions for four lanes, and the evaluation of any other opcode. Code
//! finds them in the table [`FUNCTIONS`] through the context of a call, so that it contains no addresses.
//!
//! Arguments and results share an area of memory, with a vector of four words for each component: first the sources,
//! the low words of all components before the high ones, then in the same location the result.

use std::mem::offset_of;

use tgsi_ir::alu::{AluOp, ExecutionMode, evaluate};
use tgsi_ir::body::MAX_COMPONENTS;
use tgsi_ir::run::Program;
use tgsi_ir::run::native::Alu;

/// A library function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::native) enum Function {
    Exp2,
    Log2,
    Sin,
    Cos,
    Pow,
    Fma,
}

/// Four lanes.
type Quad = [f32; 4];

/// The table of functions. Library functions have one argument, a pointer to the operands in vectors of four words; the
/// result replaces the first operand.
#[repr(C)]
pub(in crate::native) struct Functions {
    exp2: extern "C" fn(*mut Quad),
    log2: extern "C" fn(*mut Quad),
    sin: extern "C" fn(*mut Quad),
    cos: extern "C" fn(*mut Quad),
    pow: extern "C" fn(*mut [Quad; 2]),
    fma: extern "C" fn(*mut [Quad; 3]),
    evaluate_alu: extern "C" fn(*const EvaluatedAlu, u64, *mut [u32; 4]),
}

/// The table of functions.
pub(in crate::native) static FUNCTIONS: Functions = Functions { exp2, log2, sin, cos, pow, fma, evaluate_alu };

/// The offset of [`evaluate_alu`] in the table.
pub(in crate::native) const EVALUATE: usize = offset_of!(Functions, evaluate_alu);

impl Function {
    /// Returns its offset in the table, in bytes.
    pub fn offset(self) -> usize {
        match self {
            Function::Exp2 => offset_of!(Functions, exp2),
            Function::Log2 => offset_of!(Functions, log2),
            Function::Sin => offset_of!(Functions, sin),
            Function::Cos => offset_of!(Functions, cos),
            Function::Pow => offset_of!(Functions, pow),
            Function::Fma => offset_of!(Functions, fma),
        }
    }
}

macro_rules! unary {
    ($($name:ident)*) => {$(
        extern "C" fn $name(lanes: *mut Quad) {
            // SAFETY: code passes the address of its stack slot, which has space for the operands.
            let lanes = unsafe { &mut *lanes };
            for value in lanes {
                *value = value.$name();
            }
        }
    )*};
}

unary! { exp2 log2 sin cos }

extern "C" fn pow(lanes: *mut [Quad; 2]) {
    // SAFETY: as above; the slot has space for two operands.
    let [base, exponent] = unsafe { &mut *lanes };
    for (base, exponent) in base.iter_mut().zip(exponent) {
        *base = base.powf(*exponent);
    }
}

extern "C" fn fma(lanes: *mut [Quad; 3]) {
    // SAFETY: as above; the slot has space for three operands.
    let [a, b, c] = unsafe { &mut *lanes };
    for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
        *a = a.mul_add(*b, *c);
    }
}

/// An ALU instruction without a rule.
#[derive(Clone, Debug)]
pub(in crate::native) struct EvaluatedAlu {
    op: AluOp,
    bit_size: u8,
    mode: ExecutionMode,
    components: u8,
    /// The components of each source, and whether they have high words.
    sources: Vec<(u8, bool)>,
    dest_bits: u8,
}

impl EvaluatedAlu {
    pub fn new(program: &Program, alu: &Alu) -> EvaluatedAlu {
        let sources = (0..usize::from(alu.num_sources).min(MAX_COMPONENTS)).map(|source| {
            let components = program.alu_source_vectors(alu, source).len().min(MAX_COMPONENTS);
            (components as u8, program.alu_source_high(alu, source) != 0)
        });
        EvaluatedAlu {
            op: alu.op,
            bit_size: alu.bit_size,
            mode: program.execution_mode(),
            components: alu.dest.components.min(MAX_COMPONENTS as u8),
            sources: sources.collect(),
            dest_bits: alu.dest.bits,
        }
    }

    /// Returns the number of four-word vectors needed for operands and result.
    pub fn vectors(&self) -> usize {
        let sources = self.sources.iter().map(|&(components, wide)| usize::from(components) << u8::from(wide)).sum();
        let result = usize::from(self.components) << u8::from(self.dest_bits == 64);
        result.max(sources)
    }

    fn evaluate(&self, words: &mut [[u32; 4]]) {
        // Nearly all instructions have few and small operands: a small buffer avoids clearing unused elements.
        match self.sources.iter().all(|&(components, _)| components <= 4) && self.sources.len() <= 4 {
            true => self.evaluate_in::<4>(words),
            false => self.evaluate_in::<MAX_COMPONENTS>(words),
        }
    }

    fn evaluate_in<const SIZE: usize>(&self, words: &mut [[u32; 4]]) {
        let mut values = [[[0u64; SIZE]; SIZE]; 4];
        let mut at = 0;
        for (number, &(components, wide)) in self.sources.iter().enumerate() {
            let count = usize::from(components);
            for component in 0..count {
                for (lane, values) in values.iter_mut().enumerate() {
                    let low = words.get(at + component).map_or(0, |words| words[lane]);
                    let high = if wide { words.get(at + count + component).map_or(0, |words| words[lane]) } else { 0 };
                    values[number][component] = u64::from(low) | u64::from(high) << 32;
                }
            }
            at += count << u8::from(wide);
        }
        let count = usize::from(self.components);
        for (lane, values) in values.iter().enumerate() {
            let mut arguments: [&[u64]; SIZE] = [&[]; SIZE];
            for ((argument, values), &(components, _)) in arguments.iter_mut().zip(values).zip(&self.sources) {
                *argument = values.get(..usize::from(components)).unwrap_or(values);
            }
            let mut result = [0u64; MAX_COMPONENTS];
            let arguments = &arguments[..self.sources.len()];
            evaluate(self.op, self.bit_size, self.components, arguments, self.mode, &mut result);
            for (component, &bits) in result.iter().enumerate().take(count) {
                let low = match self.dest_bits {
                    32 | 64 => bits as u32,
                    size => bits as u32 & ((1 << (size & 31)) - 1),
                };
                if let Some(words) = words.get_mut(component) {
                    words[lane] = low;
                }
                if self.dest_bits == 64
                    && let Some(words) = words.get_mut(count + component)
                {
                    words[lane] = (bits >> 32) as u32;
                }
            }
        }
    }
}

/// Evaluates an instruction of a list for four lanes.
extern "C" fn evaluate_alu(instructions: *const EvaluatedAlu, number: u64, words: *mut [u32; 4]) {
    // SAFETY: code passes the list of its owner, which has an instruction for each number in the code.
    let instruction = unsafe { instructions.add(number as usize) };
    // SAFETY: the owner keeps the list for as long as the code.
    let instruction = unsafe { &*instruction };
    // SAFETY: code passes the address of its stack slot, which has `vectors` vectors.
    let words = unsafe { std::slice::from_raw_parts_mut(words, instruction.vectors()) };
    instruction.evaluate(words);
}
