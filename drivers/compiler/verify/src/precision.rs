//! The rounding that Vulkan allows, for shaders of one instruction.
//!
//! [`PRECISIONS`] has a row for each TGSI opcode for which Vulkan does not require the last bit, because of the
//! operations that the conversion emits for it. The bounds are those of Vulkan's specification, appendix "Vulkan
//! Environment for SPIR-V", section "Precision and Operation of SPIR-V Instructions", for 32-bit floats. All other
//! operations are correctly rounded, so every bit counts. Its rules for all operations apply too: a denormal may be
//! flushed to zero, and a NaN need not be kept.

use std::collections::BTreeSet;

use serde::Serialize;
use tgsi::Shader;
use tgsi::shader::Instruction;
use tgsi::tables::{File, Opcode, OperandType};
use tgsi_environment::{Inputs, Outputs};
use tgsi_run::vectors::Vector;

use crate::mismatch::is_kept;
use crate::ranges::{Range, exact, periodic, power, ulp};

/// Vulkan's requirement for an opcode.
struct Precision {
    opcode: Opcode,
    /// The bound in text form.
    bound: &'static str,
    /// The values that a component of the result may have, computed from the operands; `None` if it is undefined.
    ranges: fn(&Operands, usize) -> Option<Vec<Range>>,
}

const PRECISIONS: &[Precision] = &[
    Precision {
        opcode: Opcode::Rcp,
        bound: "2.5 ulp for divisors in [2^-126, 2^126]",
        ranges: |of, _| Some(vec![exact(1.0).divided(exact(of.component(0, 0)?))?]),
    },
    Precision {
        opcode: Opcode::Div,
        bound: "2.5 ulp for divisors in [2^-126, 2^126]",
        ranges: |of, c| Some(vec![exact(of.component(0, c)?).divided(exact(of.component(1, c)?))?]),
    },
    Precision {
        opcode: Opcode::Rsq,
        bound: "2 ulp",
        ranges: |of, _| Some(vec![exact(of.component(0, 0)?).inverse_root()?]),
    },
    Precision {
        opcode: Opcode::Sqrt,
        bound: "that of 1 / inversesqrt(x)",
        ranges: |of, _| {
            let x = of.component(0, 0)?;
            Some(vec![if x == 0.0 { exact(0.0) } else { exact(1.0).divided(exact(x).inverse_root()?)? }])
        },
    },
    Precision {
        opcode: Opcode::Ex2,
        bound: "3 + 2|x| ulp",
        ranges: |of, _| Some(vec![exact(of.component(0, 0)?).exp2()]),
    },
    Precision {
        opcode: Opcode::Lg2,
        bound: "3 ulp; 2^-21 for x in [0.5, 2]",
        ranges: |of, _| Some(vec![exact(of.component(0, 0)?).log2()?]),
    },
    Precision {
        opcode: Opcode::Pow,
        bound: "that of exp2(y * log2(x))",
        ranges: |of, _| Some(vec![power(of.component(0, 0)?, of.component(1, 0)?)?]),
    },
    Precision {
        opcode: Opcode::Sin,
        bound: "2^-11 for x in [-pi, pi]",
        ranges: |of, _| Some(vec![periodic(of.component(0, 0)?, f64::sin)?]),
    },
    Precision {
        opcode: Opcode::Cos,
        bound: "2^-11 for x in [-pi, pi]",
        ranges: |of, _| Some(vec![periodic(of.component(0, 0)?, f64::cos)?]),
    },
    Precision {
        opcode: Opcode::Exp,
        bound: "x, z: 3 + 2|x| ulp",
        ranges: |of, c| {
            let x = of.component(0, 0)?;
            match c {
                0 => Some(vec![exact(x.floor()).exp2()]),
                2 => Some(vec![exact(x).exp2()]),
                _ => Some(Vec::new()),
            }
        },
    },
    Precision {
        opcode: Opcode::Log,
        bound: "x, y, z: that of floor(log2|x|), |x| / exp2(floor(log2|x|)), log2|x|",
        ranges: |of, c| {
            let x = of.component(0, 0)?.abs();
            let log = exact(x).log2()?;
            let floors = [log.low.floor(), log.high.floor()].map(exact);
            match c {
                0 => Some(floors.to_vec()),
                1 => floors.into_iter().map(|floor| exact(x).divided(floor.exp2())).collect(),
                2 => Some(vec![log]),
                _ => Some(Vec::new()),
            }
        },
    },
    Precision {
        opcode: Opcode::Lit,
        bound: "z: that of exp2(w * log2(y))",
        ranges: |of, c| {
            if c != 2 {
                return Some(Vec::new());
            }
            let [x, y, w] = [of.component(0, 0)?, of.component(0, 1)?, of.component(0, 3)?];
            Some(if x > 0.0 { vec![power(y.max(0.0), w.clamp(-128.0, 128.0))?] } else { Vec::new() })
        },
    },
];

/// The operands of one lane.
struct Operands<'a> {
    instruction: &'a Instruction,
    inputs: &'a Inputs,
    lane: usize,
}

impl Operands<'_> {
    /// Returns a component of an operand; `None` if it is not an input, or not a number that devices keep.
    fn component(&self, number: usize, component: usize) -> Option<f64> {
        let word = self.word(number, component)?;
        let value = f32::from_bits(word);
        (value == 0.0 || value.is_normal()).then_some(f64::from(value))
    }

    fn word(&self, number: usize, component: usize) -> Option<u32> {
        let src = self.instruction.src.get(number)?;
        if src.register.file != File::Input || src.register.indirect.is_some() || src.register.dimension.is_some() {
            return None;
        }
        let register = usize::try_from(src.register.index).ok()?;
        let mut word = self.inputs.inputs.get(register, src.swizzle[component].into(), self.lane);
        if src.absolute {
            word &= !(1 << 31);
        }
        Some(if src.negate { word ^ 1 << 31 } else { word })
    }

    /// Returns whether a device may flush one of the operands or the result to zero: a denormal that is a float, or
    /// that is the source of a float absolute value or negation.
    fn may_be_flushed(&self, results: [u32; 2]) -> bool {
        let info = self.instruction.opcode.info();
        let is_denormal = |word: u32| f32::from_bits(word).is_subnormal();
        let is_result = info.dst_type == OperandType::Float && results.into_iter().any(is_denormal);
        let mut operands = self.instruction.src.iter().zip(info.src_types).enumerate();
        is_result
            || operands.any(|(number, (src, &ty))| {
                (ty == OperandType::Float || src.negate || src.absolute)
                    && (0..4).any(|component| self.word(number, component).is_some_and(is_denormal))
            })
    }
}

/// The words of the results of an opcode, in shaders of one instruction that a device ran.
#[derive(Clone, Debug, Default, Serialize)]
pub struct OpcodeTotals {
    /// Words of results.
    pub words: usize,
    /// Words with the bits of the recorded ones.
    pub exact: usize,
    /// Words that are a NaN with other bits, or a zero of the other sign.
    pub alike: usize,
    /// Words that differ within Vulkan's bound.
    pub within: usize,
    /// Words that differ where Vulkan has no requirement.
    pub open: usize,
    /// Words outside the bound.
    pub outside: usize,
    /// The greatest error among `within`, in units in the last place.
    pub worst_ulp: f64,
    /// Vulkan's bound.
    pub bound: &'static str,
}

/// The bound that is shown for opcodes without a row.
const EVERY_BIT: &str = "correctly rounded";

/// Returns the only instruction of a shader, if it writes an output. Returns `None` for `TXP`: it divides, and there is
/// no bound for a texture lookup at an inexact quotient.
pub fn only_instruction(shader: &Shader) -> Option<&Instruction> {
    let mut instructions = shader.instructions.iter().filter(|instruction| instruction.opcode != Opcode::End);
    let first = instructions.next()?;
    let [dst] = first.dst[..] else { return None };
    let is_plain = dst.register.file == File::Output && dst.register.indirect.is_none();
    let is_only = instructions.next().is_none() && first.opcode != Opcode::Txp;
    (is_only && is_plain).then_some(first)
}

impl OpcodeTotals {
    /// Adds other totals of the same opcode.
    pub fn add(&mut self, other: &OpcodeTotals) {
        self.words += other.words;
        self.exact += other.exact;
        self.alike += other.alike;
        self.within += other.within;
        self.open += other.open;
        self.outside += other.outside;
        self.worst_ulp = self.worst_ulp.max(other.worst_ulp);
        self.bound = other.bound;
    }

    /// Counts the results of a shader of one instruction. `is_open` returns whether the results of a lane are
    /// undefined; words at `undetermined` positions are not compared. Returns the place of the first word outside its
    /// bound, with the recorded and the found word.
    pub(crate) fn count(
        &mut self,
        instruction: &Instruction,
        vector: &Vector,
        inputs: &Inputs,
        outputs: &Outputs,
        undetermined: &BTreeSet<String>,
        is_open: impl Fn(usize) -> bool,
    ) -> Option<(String, u32, u32)> {
        let row = PRECISIONS.iter().find(|row| row.opcode == instruction.opcode);
        self.bound = row.map_or(EVERY_BIT, |row| row.bound);
        let mut first = None;
        for (register, component, lane, expected) in vector.live_outputs() {
            let found = outputs.outputs.get(register, component, lane);
            let place = || format!("OUT[{register}].{} lane {lane}", ["x", "y", "z", "w"][component & 3]);
            if expected != found && undetermined.contains(&place()) {
                continue;
            }
            self.words += 1;
            if expected == found {
                self.exact += 1;
                continue;
            }
            let operands = Operands { instruction, inputs, lane };
            let ranges = row.map_or(Some(Vec::new()), |row| (row.ranges)(&operands, component));
            let (should, is) = (f32::from_bits(expected), f32::from_bits(found));
            let saturate = instruction.saturate;
            match ranges {
                _ if should == is || should.is_nan() && is.is_nan() => self.alike += 1,
                Some(ranges) if ranges.iter().any(|range| range.has(is, saturate)) => {
                    self.within += 1;
                    let errors = ranges.iter().map(|range| (f64::from(is) - range.value).abs() / ulp(range.value));
                    let error = errors.fold(f64::INFINITY, f64::min);
                    if error.is_finite() {
                        self.worst_ulp = self.worst_ulp.max(error);
                    }
                }
                _ if operands.may_be_flushed([expected, found]) => self.open += 1,
                // For a row without ranges at a component, every bit counts.
                Some(ranges) if !ranges.is_empty() || !is_open(lane) && is_kept(expected) => {
                    self.outside += 1;
                    first.get_or_insert_with(|| (place(), expected, found));
                }
                _ => self.open += 1,
            }
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use tgsi_environment::LaneRegisters;

    use super::*;

    #[test]
    fn denormals_may_be_zeros_where_they_are_floats() {
        let may = |text: &str, word: u32, results: [u32; 2]| {
            let text = format!("VERT\nDCL IN[0]\nDCL OUT[0], POSITION\n{text}\nEND\n");
            let shader = tgsi::text::parse(text.as_bytes()).expect("a shader").shader;
            let instruction = only_instruction(&shader).expect("one instruction");
            let mut inputs = Inputs { lanes: 4, inputs: LaneRegisters::new(4, 1), ..Inputs::default() };
            inputs.inputs.set(0, 0, 0, word);
            Operands { instruction, inputs: &inputs, lane: 0 }.may_be_flushed(results)
        };
        assert!(may("ADD OUT[0], IN[0], IN[0]", 1, [2, 0]));
        assert!(may("MOV OUT[0], -IN[0]", 1, [1 << 31 | 1, 1 << 31]));
        assert!(may("MUL OUT[0], IN[0], IN[0]", 0x2000_0000, [0x0000_8000, 0]));
        assert!(!may("ADD OUT[0], IN[0], IN[0]", 0x3f80_0000, [0x4000_0000, 0]));
        assert!(!may("UADD OUT[0], IN[0], IN[0]", 1, [2, 0]));
        assert!(!may("MOV OUT[0], IN[0]", 1, [1, 0]));
    }
}
