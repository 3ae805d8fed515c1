//! The grammar of Mesa 25 against the verdict of its parser on every real shader, and against our parser, which must
//! accept everything that Mesa's accepts.
//! ours takes.

use crate::common::{shaders, shared};
use tgsi::text::{mesa25, parse};

/// Path and verdict in each row of the manifest: the first and the last column.
fn manifest(text: &str) -> Vec<(&str, bool)> {
    let rows = text.lines().skip(1).filter_map(|line| {
        let path = line.split(',').next()?.trim_matches('"');
        Some((path, line.rsplit(',').next()?.trim_matches('"') == "accepts"))
    });
    rows.collect()
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn verdicts_are_those_of_mesa() {
    let corpus = shared("corpus");
    let text = std::fs::read_to_string(corpus.join("MANIFEST.csv")).expect("a manifest");
    let rows = manifest(&text);
    assert!(rows.len() > 1600 && text.lines().next().is_some_and(|head| head.ends_with("mesa25_text_parser")));
    let mut wrong = Vec::new();
    for &(path, accepted) in &rows {
        let text = std::fs::read(corpus.join(path)).expect("a shader");
        let verdict = mesa25(&text);
        if verdict.is_ok() != accepted {
            wrong.push(format!(
                "{path}: {}",
                verdict.err().map_or("accepted".into(), |d| format!("{d} at {}", d.span.start))
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

/// The guessed origin is right for almost all texts printed by Mesa, and almost no text written by hand is attributed
/// to Mesa.
#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn origins_are_mostly_right() {
    let corpus = shared("corpus");
    let count = |folder: &str| {
        let mut counts = [0usize; 4];
        for path in shaders(&corpus.join(folder)) {
            let origin = tgsi::text::origin(&std::fs::read(path).expect("a shader"));
            counts[origin.producer as usize] += 1;
        }
        println!("{folder}: {counts:?} by nir_to_tgsi, glsl_to_tgsi, hand, unknown");
        counts
    };
    let [nir, glsl, hand, _] = count("ntt22");
    assert!(nir >= 650 && glsl <= 40 && hand == 0);
    let [nir, glsl, hand, _] = count("glsl_to_tgsi20");
    assert!(glsl >= 720 && nir <= 20 && hand == 0);
    let [nir, glsl, hand, _] = count("public");
    assert!(hand >= 120 && nir + glsl <= 25);
}

/// Texts with one byte changed: our parser accepts everything that the grammar of Mesa 25 accepts, except values out of
/// the range of a field (Mesa truncates them).
#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn what_mesa_takes_is_taken() {
    let corpus = shared("corpus");
    let (mut taken, mut number) = (0, 0usize);
    for path in shaders(&corpus).iter().step_by(23) {
        let text = std::fs::read(path).expect("a shader");
        if text.len() > 2000 {
            continue;
        }
        let mut damaged = text.clone();
        for place in 0..text.len() {
            number += 1;
            damaged[place] = b"09xW_.,:[]()-+ \n{}|E"[number % 20];
            if mesa25(&damaged).is_ok() {
                taken += 1;
                if let Err(errors) = parse(&damaged) {
                    let ranges = ["out-of-range", "range-backwards", "immediate-value", "empty-brackets"];
                    let other = errors.iter().find(|d| d.is_error() && !ranges.contains(&d.code.name));
                    assert!(other.is_none(), "{other:?}\n{}", String::from_utf8_lossy(&damaged));
                }
            }
            damaged[place] = text[place];
        }
    }
    assert!(taken > 2000, "{taken} of {number}");
}
