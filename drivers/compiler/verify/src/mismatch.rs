//! Compares the results of two executors.

use std::collections::HashSet;
use std::fmt;
use std::ops::ControlFlow;

use tgsi::Shader;
use tgsi::tables::{File, Processor};
use tgsi_run::vectors::Agreement;

use crate::executor::RunResult;
use crate::inputs::InputKind;
use crate::open::OpenRun;

/// The first word that differs.
pub struct Mismatch {
    /// The location, such as `OUT[0].x lane 2`.
    pub location: String,
    /// The word that the source computes.
    pub expected: u32,
    /// The word that the stage computes.
    pub found: u32,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mismatch { location, expected, found } = self;
        let (is, should) = (shortest(*found), shortest(*expected));
        write!(f, "{location} is {found:08x} ({is}), should be {expected:08x} ({should})")
    }
}

/// Formats a word as a float in the shortest form that parses back to the same, with an exponent if it would have many
/// digits.
pub fn shortest(word: u32) -> String {
    let value = f32::from_bits(word);
    let is_plain = value == 0.0 || !value.is_finite() || (1e-5..1e16).contains(&value.abs());
    if is_plain { value.to_string() } else { format!("{value:e}") }
}

/// The rule by which two words agree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// Floats agree like recorded results ([`Agreement`]). For inputs with special values (infinities, NaN, denormals),
    /// words are not compared if either side is not an ordinary float, because translations need not keep float
    /// operations on such words.
    Close(InputKind),
    /// For generated shaders ([`tgsi_smith`]): integers are equal, and floats are equal except for the bits of NaN and
    /// the sign of zero.
    Exact,
    /// [`Close`](Self::Close) for code that a device runs. Words that are NaN or infinite in the source ([`is_kept`])
    /// are not compared, because a device need not keep them.
    CloseOnDevice(InputKind),
    /// [`Exact`](Self::Exact) for code that a device runs.
    ///
    /// | words | agree if they are |
    /// |---|---|
    /// | integers | equal |
    /// | NaN or infinite in the source | anything |
    /// | other floats of a shader with operations that the device may round differently | close (denormals are zero) |
    /// | other floats | equal except for the sign of zero |
    ///
    /// Like [`Exact`](Self::Exact), also for shaders with operations that lowering
    /// [approximates](tgsi_compiler::Fidelity::approximations): they may overflow slightly earlier.
    ExactOnDevice {
        /// Whether there are operations that the device may round differently.
        approximate: bool,
    },
}

/// Returns whether a result is infinite where a float close to the largest of the same sign is expected.
fn overflows(expected: u32, found: u32) -> bool {
    let (expected, found) = (f32::from_bits(expected), f32::from_bits(found));
    found.is_infinite() && expected.is_finite() && (expected / f32::MAX) * found.signum() > 0.999
}

/// Returns whether devices keep a word: it is finite as a float, or likely a small negative integer or a true boolean.
pub fn is_kept(word: u32) -> bool {
    f32::from_bits(word).is_finite() || word >= 0xffff_ff00
}

impl Rule {
    fn agree(self, integers: bool, expected: u32, found: u32) -> bool {
        match self {
            _ if expected == found => true,
            Rule::Close(kind) => {
                Agreement::of(expected, found) != Agreement::Different
                    || (kind == InputKind::Special && !(ordinary(expected) && ordinary(found)))
            }
            Rule::CloseOnDevice(kind) => !is_kept(expected) || Rule::Close(kind).agree(integers, expected, found),
            Rule::ExactOnDevice { approximate } => {
                !integers
                    && (!f32::from_bits(expected).is_finite()
                        || approximate && Agreement::of(flushed(expected), flushed(found)) != Agreement::Different
                        || approximate && overflows(expected, found)
                        || Rule::Exact.agree(integers, expected, found))
            }
            Rule::Exact => {
                let (expected, found) = (f32::from_bits(expected), f32::from_bits(found));
                !integers && (expected.is_nan() && found.is_nan() || expected == 0.0 && found == 0.0)
            }
        }
    }
}

/// Returns the first mismatch; `None` if all words agree.
pub fn first_mismatch(shader: &Shader, rule: Rule, expected: &RunResult, found: &RunResult) -> Option<Mismatch> {
    visit_mismatches(shader, rule, expected, found, &mut ControlFlow::Break).break_value()
}

/// Like [`first_mismatch`], but ignores open words: those that differ between the unchanged and one of the changed
/// results that `open` computes. It is called only if there is a mismatch.
pub fn first_mismatch_but(
    shader: &Shader,
    rule: Rule,
    expected: &RunResult,
    found: &RunResult,
    open: impl FnOnce() -> Option<OpenRun>,
) -> Option<Mismatch> {
    first_mismatch(shader, rule, expected, found)?;
    let mut locations = HashSet::new();
    let open = open();
    for (unchanged, (rule, changed)) in
        open.iter().flat_map(|open| open.changed.iter().map(|changed| (&open.unchanged, changed)))
    {
        let _ = visit_mismatches(shader, *rule, unchanged, changed, &mut |mismatch| {
            locations.insert(mismatch.location);
            ControlFlow::Continue(())
        });
    }
    visit_mismatches(shader, rule, expected, found, &mut |mismatch| {
        if locations.contains(&mismatch.location) { ControlFlow::Continue(()) } else { ControlFlow::Break(mismatch) }
    })
    .break_value()
}

/// Passes each mismatch to a visitor, until that breaks.
fn visit_mismatches(
    shader: &Shader,
    rule: Rule,
    expected: &RunResult,
    found: &RunResult,
    visit: &mut dyn FnMut(Mismatch) -> ControlFlow<Mismatch>,
) -> ControlFlow<Mismatch> {
    // The generator keeps integers in some outputs, every other buffer and image, and shared memory.
    let mut integers = Vec::new();
    for declaration in shader.declarations.iter().filter(|d| d.file == File::Output && tgsi_smith::holds_integers(d)) {
        integers.extend(declaration.first..=declaration.last);
    }
    let agrees_in = |register: usize, e: u32, f: u32| {
        e == f || rule.agree(integers.iter().any(|&r| usize::from(r) == register), e, f)
    };
    let (a, b) = (&expected.outputs, &found.outputs);
    let mut differ = |location: String, expected: u32, found: u32| visit(Mismatch { location, expected, found });
    for (lane, (&e, &f)) in a.live.iter().zip(&b.live).enumerate() {
        if e != f {
            differ(format!("live lane {lane}"), u32::from(e), u32::from(f))?;
        }
    }
    for declaration in shader.declarations.iter().filter(|d| d.file == File::Output) {
        for register in declaration.first..=declaration.last {
            for component in 0..4 {
                let (e, f) =
                    (a.outputs.component(register.into(), component), b.outputs.component(register.into(), component));
                for (lane, &live) in a.live.iter().enumerate() {
                    let word = |words: &[u32]| words.get(lane).copied().unwrap_or(0);
                    if live && shader.processor != Processor::Geometry && !agrees_in(register.into(), word(e), word(f))
                    {
                        let letter = ["x", "y", "z", "w"][component];
                        differ(format!("OUT[{register}].{letter} lane {lane}"), word(e), word(f))?;
                    }
                }
            }
        }
    }
    for (vertex, (e, f)) in pairs(&a.vertices, &b.vertices).enumerate() {
        let (e, f) = (flat(e), flat(f));
        for word in 0..e.len().max(f.len()) {
            let (e, f) = (at(&e, word), at(&f, word));
            if !agrees_in(word / 4, e, f) {
                differ(format!("OUT[{vertex}][{}] component {}", word / 4, word % 4), e, f)?;
            }
        }
    }
    for stream in 0..4 {
        // Primitives without vertices have no effect, and some targets cannot express them.
        let [e, f] = [a, b].map(|outputs| {
            outputs.emitted[stream].iter().filter(|primitive| !primitive.is_empty()).collect::<Vec<_>>()
        });
        if e.len() != f.len() {
            differ(format!("number of primitives of stream {stream}"), e.len() as u32, f.len() as u32)?;
        }
        for (primitive, (e, f)) in e.into_iter().zip(f).enumerate() {
            let location = format!("stream {stream} primitive {primitive}");
            if e.len() != f.len() {
                differ(format!("number of vertices of {location}"), e.len() as u32, f.len() as u32)?;
            }
            for (vertex, (e, f)) in e.iter().zip(f).enumerate() {
                for word in 0..(e.len().max(f.len()) * 4) {
                    let (e, f) = (at(e.as_flattened(), word), at(f.as_flattened(), word));
                    if !agrees_in(word / 4, e, f) {
                        differ(format!("{location} vertex {vertex} OUT[{}] component {}", word / 4, word % 4), e, f)?;
                    }
                }
            }
        }
    }
    for (buffer, (e, f)) in pairs(&a.buffers, &b.buffers).enumerate() {
        let agrees = |e, f| rule.agree(buffer % 2 == 0, e, f);
        for (word, e, f) in differing_words(e.map_or(&[], |v| v), f.map_or(&[], |v| v), &agrees) {
            differ(format!("BUFFER[{buffer}] word {word}"), e, f)?;
        }
    }
    if expected.has_shared_bytes && found.has_shared_bytes {
        for (word, e, f) in differing_words(&a.shared, &b.shared, &|e, f| rule.agree(true, e, f)) {
            differ(format!("MEMORY word {word}"), e, f)?;
        }
    }
    for (buffer, (e, f)) in pairs(&a.counters, &b.counters).enumerate() {
        let (e, f): (&[u32], &[u32]) = (e.map_or(&[], |v| v), f.map_or(&[], |v| v));
        for counter in 0..e.len().max(f.len()) {
            if at(e, counter) != at(f, counter) {
                differ(format!("HWATOMIC[{buffer}][{counter}]"), at(e, counter), at(f, counter))?;
            }
        }
    }
    let (e, f) = (expected.texels(), found.texels());
    if e.len() != f.len() {
        differ("number of stored texels".to_string(), e.len() as u32, f.len() as u32)?;
    }
    for ((texel, e), (other, f)) in e.iter().zip(&f) {
        if texel != other {
            let location = format!("which texels are stored, first IMAGE[{}] at {:?}", texel.0, texel.1);
            // The texels after these are different ones too.
            return differ(location, texel.1[0], other.1[0]);
        }
        for component in 0..4 {
            if !rule.agree(texel.0 % 2 == 0, e[component], f[component]) {
                differ(
                    format!("IMAGE[{}] texel {:?} component {component}", texel.0, texel.1),
                    e[component],
                    f[component],
                )?;
            }
        }
    }
    ControlFlow::Continue(())
}

/// Returns whether a word is zero or a normal float.
fn ordinary(word: u32) -> bool {
    let value = f32::from_bits(word);
    value == 0.0 || value.is_normal()
}

/// Replaces a denormal by zero.
fn flushed(word: u32) -> u32 {
    if f32::from_bits(word).is_subnormal() { 0 } else { word }
}

fn at(words: &[u32], index: usize) -> u32 {
    words.get(index).copied().unwrap_or(0)
}

fn flat(registers: Option<&Vec<[u32; 4]>>) -> Vec<u32> {
    registers.map(|r| r.as_flattened().to_vec()).unwrap_or_default()
}

/// Pairs the elements of two lists, up to the length of the longer one.
fn pairs<'a, T>(a: &'a [T], b: &'a [T]) -> impl Iterator<Item = (Option<&'a T>, Option<&'a T>)> {
    (0..a.len().max(b.len())).map(move |i| (a.get(i), b.get(i)))
}

/// Returns the words of two memories that do not agree, with their indices.
fn differing_words(a: &[u8], b: &[u8], agrees: &dyn Fn(u32, u32) -> bool) -> impl Iterator<Item = (usize, u32, u32)> {
    let word = |bytes: &[u8], index: usize| {
        bytes.get(4 * index..4 * index + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes)
    };
    (0..a.len().max(b.len()).div_ceil(4))
        .map(move |index| (index, word(a, index), word(b, index)))
        .filter(|&(_, e, f)| !agrees(e, f))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use tgsi_environment::{AnalyticResources, LaneRegisters, Outputs};

    use super::*;

    #[test]
    fn floats_are_short_and_read_back() {
        for (word, text) in [
            (0x0000_0001, "1e-45"),
            (0x8000_0001, "-1e-45"),
            (0x7f7f_ffff, "3.4028235e38"),
            (0x3f80_0000, "1"),
            (0x8000_0000, "-0"),
            (0x3dcc_cccd, "0.1"),
            (0xff80_0000, "-inf"),
        ] {
            assert_eq!(shortest(word), text);
            assert_eq!(text.parse::<f32>().map(f32::to_bits), Ok(word));
        }
    }

    /// Returns the results of a lane with these words in OUT[0].
    fn result(words: [u32; 4]) -> RunResult {
        let mut outputs = Outputs { live: vec![true], outputs: LaneRegisters::new(1, 1), ..Outputs::default() };
        for (component, word) in words.into_iter().enumerate() {
            outputs.outputs.component_mut(0, component)[0] = word;
        }
        RunResult { outputs, resources: AnalyticResources::default(), has_shared_bytes: true }
    }

    #[test]
    fn primitives_without_vertices_have_no_effect() {
        let shader = tgsi::text::parse(b"GEOM\nEND\n").expect("valid text").shader;
        let emitted = |primitives: &[usize]| {
            let mut result = result([0; 4]);
            result.outputs.emitted[0] = primitives.iter().map(|&count| vec![vec![[0; 4]]; count]).collect();
            result
        };
        let differ =
            |a: &[usize], b: &[usize]| first_mismatch(&shader, Rule::Exact, &emitted(a), &emitted(b)).is_some();
        assert!(!differ(&[0, 3, 0, 1], &[3, 1]));
        assert!(differ(&[3, 1], &[4]) && differ(&[3, 1], &[1, 3]) && differ(&[3], &[3, 1]));
    }

    #[test]
    fn variables_of_a_workgroup_have_no_bytes() {
        let shader = tgsi::text::parse(b"COMP\nEND\n").expect("valid text").shader;
        let with_memory = |byte: u8, has_shared_bytes: bool| {
            let mut result = RunResult { has_shared_bytes, ..result([0; 4]) };
            result.outputs.shared = vec![byte; 4];
            result
        };
        let differ = |a: &RunResult, b: &RunResult| first_mismatch(&shader, Rule::Exact, a, b).is_some();
        assert!(differ(&with_memory(0, true), &with_memory(1, true)));
        assert!(!differ(&with_memory(0, false), &with_memory(1, true)));
        assert!(!differ(&with_memory(0, true), &with_memory(1, false)));
    }

    #[test]
    fn what_is_open_hides_nothing_else() {
        let text = b"FRAG\nDCL OUT[0], COLOR\nIMM[0] FLT32 {0, 0, 0, 0}\nMOV OUT[0], IMM[0]\nEND\n";
        let shader = tgsi::text::parse(text).expect("valid text").shader;
        let expected = result([1, 2, 3, 4]);
        let location = |found: [u32; 4], open: &[[u32; 4]]| {
            let open = || {
                let changed = open.iter().map(|&words| (Rule::Exact, result(words))).collect();
                Some(OpenRun { unchanged: result([1, 2, 3, 4]), changed })
            };
            first_mismatch_but(&shader, Rule::Exact, &expected, &result(found), open).map(|found| found.location)
        };
        assert_eq!(location([1, 2, 3, 4], &[]), None);
        assert_eq!(location([9, 2, 3, 4], &[]).as_deref(), Some("OUT[0].x lane 0"));
        assert_eq!(location([9, 2, 3, 4], &[[5, 2, 3, 4]]), None);
        // Open words before and after a word that is not open.
        let open = [[5, 2, 3, 4], [1, 2, 3, 7]];
        assert_eq!(location([9, 9, 3, 9], &open).as_deref(), Some("OUT[0].y lane 0"));
        assert_eq!(location([9, 2, 3, 9], &open), None);
        // Without a mismatch, nothing is computed from the shader.
        let found = first_mismatch_but(&shader, Rule::Exact, &expected, &expected, || unreachable!("nothing differs"));
        assert!(found.is_none());
    }
}
