//! Checks that the same expression has the same bits in two programs.
//!
//! A depth pass over a scene, and later passes that draw where the depth is equal, are different programs that compute
//! a position by the same expressions. Each vertex, tessellation and geometry shader is paired with variants of itself
//! ([`change_surroundings`]), both are translated, and the outputs that both have must be the same words. This check
//! does not tell whether they are right. It must hold for the interpreter and for a consumer that rounds differently
//! inside `MAD`, `LRP` and dot products ([`round_otherwise`]).

use tgsi::Shader;
use tgsi::tables::{File, Processor};
use tgsi_environment::{Inputs, Outputs, RunLimits};
use tgsi_smith::mutate::{Variant, change_surroundings, round_otherwise};

use crate::checker::Checker;
use crate::executor::{Executor, ExecutorError, ExecutorKind};
use crate::inputs;
use crate::mismatch::shortest;
use crate::verdict::{CheckStep, Defect, Verdict};

/// A translated shader, prepared for two consumers.
struct PreparedShader {
    as_defined: Executor,
    otherwise: Executor,
}

impl PreparedShader {
    fn of(shader: &Shader, checker: &Checker) -> Result<PreparedShader, ExecutorError> {
        let code = checker.compiler.compile(shader)?;
        let no_tgsi = || ExecutorError::Other("the driver does not emit TGSI".into());
        let translated = code.into_tgsi().ok_or_else(no_tgsi)?;
        Ok(PreparedShader {
            as_defined: Executor::tgsi(&translated)?,
            otherwise: Executor::tgsi(&round_otherwise(&translated))?,
        })
    }

    fn outputs(&self, inputs: &Inputs, limits: RunLimits) -> Result<[Outputs; 2], ExecutorError> {
        Ok([self.as_defined.run(inputs, limits)?.outputs, self.otherwise.run(inputs, limits)?.outputs])
    }
}

impl Checker {
    /// Compares a vertex, tessellation or geometry shader with `variants` variants of itself: the same expressions must
    /// have the same bits in all of them, also for a consumer that rounds differently inside `MAD`, `LRP` and dot
    /// products. The driver must emit TGSI.
    pub fn compare_variants(&self, shader: &Shader, variants: u64) -> Verdict {
        if matches!(shader.processor, Processor::Fragment | Processor::Compute) {
            return Verdict::WithoutResult;
        }
        self.compare_each(shader, variants).into()
    }

    /// Returns whether the shader terminates with some inputs.
    fn compare_each(&self, shader: &Shader, variants: u64) -> Result<bool, Defect> {
        let code = CheckStep::Executor(ExecutorKind::Driver(self.driver.name()));
        let alone = PreparedShader::of(shader, self).map_err(|error| Defect::error(code, error))?;
        // Runs that do not terminate have no outputs to compare.
        let runs: Vec<_> = (0..self.seeds)
            .filter_map(|seed| {
                let inputs = inputs::make_inputs(shader, seed);
                let outputs = alone.outputs(&inputs, self.limits).ok()?;
                Some((seed, inputs, outputs))
            })
            .collect();
        for number in (0..variants).take_while(|_| !runs.is_empty()) {
            let step = CheckStep::Variant(number);
            let variant = change_surroundings(shader, number);
            let among_others = PreparedShader::of(&variant.shader, self).map_err(|error| Defect::error(step, error))?;
            for (seed, inputs, expected) in &runs {
                let found = among_others.outputs(inputs, self.limits);
                let found = found.map_err(|error| Defect::error(step, error).with_inputs(*seed))?;
                for (consumer, (expected, found)) in
                    ["", "rounded otherwise, "].into_iter().zip(expected.iter().zip(&found))
                {
                    if let Some(location) = first_difference(shader, &variant, expected, found) {
                        return Err(Defect::difference(step, *seed, format!("{consumer}{location}")));
                    }
                }
            }
        }
        Ok(!runs.is_empty())
    }
}

/// Returns the first difference among the outputs that both programs have. Sign and payload of NaN are ignored.
fn first_difference(shader: &Shader, variant: &Variant, expected: &Outputs, found: &Outputs) -> Option<String> {
    let registers = || {
        let declared = shader.declarations.iter().filter(|d| d.file == File::Output);
        declared.flat_map(|d| d.first..=d.last).filter(|register| !variant.dropped.contains(register))
    };
    let differ = |e: u32, f: u32| e != f && !(f32::from_bits(e).is_nan() && f32::from_bits(f).is_nan());
    let report = |location: String, e: u32, f: u32| {
        let (a, b) = (shortest(e), shortest(f));
        Some(format!("{location} is {f:08x} ({b}), in the original {e:08x} ({a})"))
    };
    let letters = ["x", "y", "z", "w"];
    let vertices = |outputs: &Outputs| -> Vec<Vec<[u32; 4]>> {
        outputs.emitted.iter().flatten().flatten().chain(&outputs.vertices).cloned().collect()
    };
    let (e, f) = (vertices(expected), vertices(found));
    if e.len() != f.len() {
        return report("the number of vertices".into(), e.len() as u32, f.len() as u32);
    }
    for register in registers() {
        for (component, letter) in letters.into_iter().enumerate() {
            if shader.processor != Processor::Geometry {
                let words = |outputs: &Outputs| outputs.outputs.component(register.into(), component).to_vec();
                let pairs = words(expected).into_iter().zip(words(found));
                if let Some((lane, (e, f))) = pairs.enumerate().find(|&(_, (e, f))| differ(e, f)) {
                    return report(format!("OUT[{register}].{letter} lane {lane}"), e, f);
                }
            }
            for (vertex, (e, f)) in e.iter().zip(&f).enumerate() {
                let word = |of: &[[u32; 4]]| of.get(usize::from(register)).map_or(0, |words| words[component]);
                if differ(word(e), word(f)) {
                    return report(format!("vertex {vertex} OUT[{register}].{letter}"), word(e), word(f));
                }
            }
        }
    }
    None
}
