//! Damaged shaders, as text and as tokens, in this process: every truncation and every change of a single byte. There
//! must be no panic, every error must have a position within the input, and shaders that pass the check must translate
//! to shaders that pass it.
//!
//! The demo shaders and small ones of the fixtures are damaged in every test run, and fifty real ones in part. The full
//! run takes minutes: `TGSIC_ALL_DAMAGE=1 cargo test --release -p tgsi-driver-tgsi --test damaged -- --nocapture`.

use std::collections::BTreeMap;
use std::path::Path;

use crate::compile::compile;
use tgsi::Shader;
use tgsi::check::{check, check_partial, lint};
use tgsi::limits::Limits;
use tgsi::tokens::{bytes_from_words, decode, encode, words_from_bytes};
use tgsi_compiler::CompileError;
use tgsi_diagnostics::Diagnostic;
use tgsi_driver_tgsi::TgsiOptions;
use tgsi_ir::passes::pipeline::OptLevel;

/// The replacements of a byte: characters with a meaning somewhere, and meaningless ones.
const BYTES: &[u8] = b"0915xyzwABE_[](){}.,:;-|#/ \n\0\xff";

/// How much of the possible damage is done.
#[derive(Clone, Copy)]
struct MutationSampling<'a> {
    /// Every n-th byte is changed,
    step: usize,
    /// to each of these,
    to: &'a [u8],
    /// and of all changes every n-th is tested.
    every: usize,
    /// One in `sample` shaders that pass the check is translated.
    sample: usize,
}

/// Counts of inputs and results.
#[derive(Default)]
struct Tally {
    inputs: usize,
    accepted: usize,
    translated: usize,
    codes: BTreeMap<&'static str, usize>,
}

impl Tally {
    /// Records findings, each of which must be within an input of this length; returns whether there is an error.
    #[track_caller]
    fn note(&mut self, findings: &[Diagnostic], length: usize, what: &dyn Fn() -> String) -> bool {
        for d in findings {
            let (start, end) = (d.span.start as usize, d.span.end as usize);
            // The end of the input is a valid position, and the only one of an empty input.
            let inside = start <= length && end <= length + 1 && start <= end;
            let somewhere = end > 0 || length == 0;
            assert!(inside && (somewhere || !d.is_error()), "{d} at {start}..{end} of {length}\n{}", what());
            for note in &d.notes {
                assert!(note.span.end as usize <= length && note.span.start < note.span.end, "{d}\n{}", what());
            }
            *self.codes.entry(d.code.id).or_default() += usize::from(d.is_error());
        }
        findings.iter().any(Diagnostic::is_error)
    }

    /// Checks a shader and, if it passes and is chosen, compiles it.
    fn shader(&mut self, shader: &Shader, length: usize, chosen: bool, what: &dyn Fn() -> String) {
        let mut findings = check(shader).diagnostics;
        findings.extend(lint(shader));
        if self.note(&findings, length, what) {
            return;
        }
        self.accepted += 1;
        if !chosen {
            return;
        }
        let options = TgsiOptions::default();
        let keeping = options.clone().with(|o| (o.subroutine_size, o.subroutine_growth) = (0, 0));
        for options in [options, keeping] {
            let translated = match compile(shader, &options, OptLevel::Full) {
                Ok(translated) => translated,
                // A missing TGSI form is an ordinary error.
                Err(CompileError::Target { .. }) => continue,
                Err(error) => panic!("{error}\n{}", what()),
            };
            let findings = check(&translated).diagnostics;
            let error = findings.iter().find(|d| d.is_error());
            assert!(error.is_none(), "{error:?}\n{}", what());
            self.translated += 1;
        }
    }

    fn text(&mut self, text: &[u8], chosen: bool, what: &dyn Fn() -> String) {
        self.inputs += 1;
        let result = tgsi::text::read(text);
        let mut findings = result.diagnostics;
        let wrong = match &result.skipped {
            Some(skipped) => {
                assert!(findings.iter().any(Diagnostic::is_error), "{}", what());
                findings.extend(check_partial(&result.shader, skipped, &Limits::default()).diagnostics);
                true
            }
            None => false,
        };
        tgsi::text::focus(text, &mut findings);
        self.note(&findings, text.len(), what);
        if !wrong {
            self.shader(&result.shader, text.len(), chosen, what);
        }
    }

    fn tokens(&mut self, bytes: &[u8], chosen: bool, what: &dyn Fn() -> String) {
        self.inputs += 1;
        let words = match words_from_bytes(bytes) {
            Ok(words) => words,
            Err(error) => {
                assert!(error.word() <= bytes.len() / 4, "{error}\n{}", what());
                return;
            }
        };
        match decode(&words) {
            Ok(shader) => self.shader(&shader, words.len(), chosen, what),
            Err(error) => {
                assert!(error.word() <= words.len(), "{error}\n{}", what());
                *self.codes.entry(error.code().id).or_default() += 1;
            }
        }
    }

    /// Tests truncations of an input, and changes of single bytes.
    fn damage(&mut self, name: &str, bytes: &[u8], is_text: bool, extent: MutationSampling<'_>) {
        let MutationSampling { step, to, every, sample } = extent;
        let mut number = 0;
        let mut one = |tally: &mut Tally, damaged: &[u8], place: usize, byte: Option<u8>| {
            number += 1;
            if number % every != 0 {
                return;
            }
            let chosen = number / every % sample == 0;
            let what = || format!("{name}, byte {place} {byte:?}: {}", String::from_utf8_lossy(damaged));
            if is_text { tally.text(damaged, chosen, &what) } else { tally.tokens(damaged, chosen, &what) }
        };
        for length in (0..=bytes.len()).step_by(step) {
            one(self, &bytes[..length], length, None);
        }
        let mut damaged = bytes.to_vec();
        for place in (0..bytes.len()).step_by(step) {
            for &byte in to.iter().filter(|&&byte| byte != bytes[place]) {
                damaged[place] = byte;
                one(self, &damaged, place, Some(byte));
            }
            damaged[place] = bytes[place];
        }
    }

    /// Damages a text and its tokens.
    fn both(&mut self, name: &str, text: &[u8], extent: MutationSampling<'_>) {
        self.damage(name, text, true, extent);
        let Ok(parsed) = tgsi::text::parse(text) else { return };
        let words = encode(&parsed.shader).unwrap_or_else(|error| panic!("{name}: {error}"));
        self.damage(name, &bytes_from_words(&words), false, extent);
    }

    fn show(&self) {
        let Tally { inputs, accepted, translated, codes } = self;
        println!("{inputs} inputs, {accepted} pass the check, {translated} of them translated; {} codes", codes.len());
    }
}

#[test]
fn demo_shaders() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut tally = Tally::default();
    for path in crate::common::shaders(&folder.join("demo")) {
        let text = std::fs::read(&path).expect("a text");
        let extent = MutationSampling { step: 1, to: b"9x]., \n\xff", every: 1, sample: 101 };
        tally.both(&path.display().to_string(), &text, extent);
    }
    // All fixtures of the check, including errors and old constructs.
    for path in crate::common::shaders(&folder.join("tgsi/check"))
        .into_iter()
        .chain(crate::common::shaders(&folder.join("tgsi/lint")))
    {
        let text = std::fs::read(&path).expect("a text");
        if text.len() < 2000 {
            let extent = MutationSampling { step: 7, to: b"7]y\n", every: 1, sample: 101 };
            tally.both(&path.display().to_string(), &text, extent);
        }
    }
    tally.show();
    assert!(tally.inputs > 20_000 && tally.accepted > 1000 && tally.translated > 30 && tally.codes.len() > 50);
}

/// Fifty real shaders, spread over all of moderate size.
#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn real_shaders() {
    let folder = crate::common::shared("corpus");
    let all = std::env::var_os("TGSIC_ALL_DAMAGE").is_some();
    // A prime number, so that all positions and all bytes occur.
    let (every, sample) = if all { (1, 97) } else { (23, 29) };
    let small: Vec<_> = crate::common::shaders(&folder)
        .into_iter()
        .filter(|path| path.metadata().is_ok_and(|m| (200..3000).contains(&m.len())))
        .collect();
    let chosen: Vec<_> = small.iter().step_by((small.len() / 50).max(1)).take(50).collect();
    assert_eq!(chosen.len(), 50);
    let mut tally = Tally::default();
    for (number, path) in chosen.iter().enumerate() {
        let text = std::fs::read(path).expect("a text");
        tally.both(&path.display().to_string(), &text, MutationSampling { step: 1, to: BYTES, every, sample });
        if number % 10 == 9 {
            tally.show();
        }
    }
    assert!(tally.inputs > 1_500_000 / every && tally.accepted > 150_000 / every && tally.codes.len() > 60);
    assert!(tally.translated > 100);
}
