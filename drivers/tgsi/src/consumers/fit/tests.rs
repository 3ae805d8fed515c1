//! Tests of the limit tables, and of counts against known results of the compilers.

use tgsi::tables::Processor;
use tgsi_compiler::Verdict;

use super::*;

fn shader(text: &str) -> Shader {
    tgsi::text::parse(text.as_bytes()).expect("a shader").shader
}

fn used(profile: Profile, text: &str, limit: &str) -> u32 {
    let fit = fit(profile, &shader(text));
    fit.limit(limit).unwrap_or_else(|| panic!("no limit {limit}")).used
}

/// The head of a fragment shader.
const HEAD: &str = "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL IN[1], GENERIC[1], PERSPECTIVE\n\
                    DCL OUT[0], COLOR\nDCL SAMP[0]\nDCL SVIEW[0], 2D, FLOAT\nDCL CONST[0][0..1]\nDCL TEMP[0..3]\n\
                    IMM[0] FLT32 {1.0, 0.0, -1.0, 1.0}\nIMM[1] FLT32 {0.5, 0.0, 2.0, 3.0}\n";

fn fragment(profile: Profile, code: &str, limit: &str) -> u32 {
    used(profile, &format!("{HEAD}{code}\nEND\n"), limit)
}

#[test]
fn every_profile_has_rows_for_every_stage() {
    for profile in Profile::ALL {
        for &processor in Processor::ALL {
            let rows = limits::of(consumer(profile, processor));
            assert!(rows.len() > 4, "{profile:?} {processor:?}");
            for (number, row) in rows.iter().enumerate() {
                let same = rows.iter().position(|other| other.resource == row.resource);
                assert_eq!(same, Some(number), "{profile:?} {:?} is there twice", row.resource);
                assert!(!row.source.is_empty());
                assert!(row.most.is_none() || row.most == Some(0) || !row.beyond.is_empty(), "{:?}", row.resource);
            }
            let fit = fit(profile, &Shader::new(processor));
            assert_eq!(fit.limits.len(), rows.len());
        }
    }
}

#[test]
fn textures_of_vertices() {
    let without = [Profile::Nv30, Profile::Nv40, Profile::R300, Profile::R400, Profile::R500, Profile::Vgpu9];
    for profile in Profile::ALL {
        assert!(has_textures(profile, Processor::Fragment), "{profile:?}");
        assert_eq!(has_textures(profile, Processor::Vertex), !without.contains(&profile), "{profile:?}");
    }
}

#[test]
fn stages_that_the_hardware_lacks() {
    for profile in [Profile::R300, Profile::I915, Profile::Nv40] {
        assert_eq!(fit(profile, &shader("COMP\nEND\n")).verdict(), Verdict::DoesNotFit, "{profile:?}");
    }
    assert_eq!(fit(Profile::Softpipe, &shader("COMP\nEND\n")).verdict(), Verdict::Fits);
}

#[test]
fn i915_expands() {
    for (code, count) in [
        ("ADD TEMP[0], IN[0], IN[1]", 1),
        ("LRP TEMP[0], IN[0], IN[1], TEMP[1]", 2),
        ("LIT TEMP[0], IN[0]", 5),
        ("POW TEMP[0], IN[0].xxxx, IN[1].xxxx", 3),
        ("SEQ TEMP[0], IN[0], IN[1]", 3),
        ("SEQ TEMP[0], IN[0], IMM[0].yyyy", 2),
        ("SSG TEMP[0], IN[0]", 3),
        ("MOV TEMP[0], |IN[0]|", 2),
        // Constants: one is free, the second is copied; 0, 1 and -1 need none.
        ("MAD TEMP[0], CONST[0][0], CONST[0][1], IN[0]", 2),
        ("MAD TEMP[0], CONST[0][0], CONST[0][1], IMM[1]", 3),
        ("MAD TEMP[0], CONST[0][0], IMM[0], IMM[0].zzzz", 1),
        // The peephole pass.
        ("MUL TEMP[0].xyz, IN[0], IN[1]\nMOV TEMP[0].w, IN[1]", 1),
        ("MUL TEMP[0], IN[0], IN[1]\nMOV OUT[0], TEMP[0]", 1),
        ("MOV TEMP[0].x, IN[0]\nMOV TEMP[0].y, IN[0]", 1),
        ("MOV TEMP[0].xy, TEMP[0]", 0),
    ] {
        assert_eq!(fragment(Profile::I915, code, "alu-instructions"), count, "{code}");
    }
    assert_eq!(fragment(Profile::I915, "MOV TEMP[0], IN[0]", "constants"), 4);
    assert_eq!(fragment(Profile::I915, "SIN TEMP[0].x, IN[0].xxxx", "not-taken"), 1);
}

#[test]
fn i915_lookups() {
    for (code, alu, phases) in [
        ("TEX TEMP[0], IN[0], SAMP[0], 2D", 0, 1),
        ("TEX TEMP[0].xyz, IN[0], SAMP[0], 2D", 1, 1),
        ("TEX TEMP[0], IN[0].zwzw, SAMP[0], 2D", 1, 2),
        ("TEX TEMP[0], IN[0], SAMP[0], 1D", 1, 2),
        ("ADD TEMP[1], IN[0], IN[1]\nTEX TEMP[0], TEMP[1], SAMP[0], 2D", 1, 2),
        ("TEX OUT[0], IN[0], SAMP[0], 2D", 0, 2),
        ("TEX TEMP[0], IN[0], SAMP[0], 2D\nTEX TEMP[1], TEMP[0], SAMP[0], 2D\nTEX TEMP[2], TEMP[1], SAMP[0], 2D", 0, 3),
        // The copy is removed, and its source is read.
        ("MOV TEMP[1].xy, IN[0]\nTEX TEMP[0], TEMP[1], SAMP[0], 2D", 0, 1),
        ("KILL", 1, 2),
    ] {
        assert_eq!(fragment(Profile::I915, code, "alu-instructions"), alu, "{code}");
        assert_eq!(fragment(Profile::I915, code, "texture-phases"), phases, "{code}");
        assert!(fragment(Profile::I915, code, "texture-instructions") > 0, "{code}");
    }
}

#[test]
fn nv30_and_nv40_expand() {
    for (code, nv30, nv40) in [
        ("ADD TEMP[0], IN[0], IN[0]", 1, 1),
        ("ADD TEMP[0], IN[0], IN[1]", 2, 2),
        ("ADD TEMP[0], IN[0], CONST[0][0]", 2, 2),
        ("ADD TEMP[0], IMM[1], CONST[0][0]", 4, 4),
        ("CMP TEMP[0], TEMP[1], TEMP[2], TEMP[3]", 3, 3),
        ("LRP TEMP[0], TEMP[1], TEMP[2], TEMP[3]", 1, 2),
        ("RSQ TEMP[0], TEMP[1].xxxx", 1, 2),
        ("POW TEMP[0], TEMP[1].xxxx, TEMP[2].xxxx", 1, 3),
        ("TEX TEMP[0], IN[0], SAMP[0], 2D", 1, 1),
        ("IF TEMP[0].xxxx\nMOV TEMP[1], TEMP[2]\nENDIF", 1, 3),
    ] {
        // One more at the end.
        assert_eq!(fragment(Profile::Nv30, code, "instruction-slots"), nv30 + 1, "{code}");
        assert_eq!(fragment(Profile::Nv40, code, "instruction-slots"), nv40 + 1, "{code}");
    }
    // The result is in a temporary, and the copy in another.
    assert_eq!(fragment(Profile::Nv30, "ADD TEMP[0], IN[0], IN[1]", "temporaries"), 6);
    let vertex = "VERT\nDCL IN[0..1]\nDCL OUT[0], POSITION\nDCL CONST[0][0..3]\nDCL TEMP[0]\n\
                  ADD_SAT TEMP[0], IN[0], IN[1]\nDP4 OUT[0].x, TEMP[0], CONST[0][0]\nEND\n";
    assert_eq!(used(Profile::Nv30, vertex, "instructions"), 6);
    assert_eq!(used(Profile::Nv40, vertex, "instructions"), 4);
    assert_eq!(used(Profile::Nv30, vertex, "constants"), 5);
    assert_eq!(used(Profile::Nv40, vertex, "constants"), 4);
}

#[test]
fn r300_estimates() {
    for (code, r300, r500) in [
        ("MAD TEMP[0], IN[0], CONST[0][0], CONST[0][1]", 1, 1),
        ("MOV TEMP[0].xyz, IN[0].zzxw", 3, 1),
        ("MOV TEMP[0].xyz, IN[0].yzxw", 1, 1),
        ("TEX TEMP[0].xyz, IN[0], SAMP[0], 2D", 1, 0),
        ("TEX OUT[0], IN[0], SAMP[0], 2D", 1, 1),
        ("TEX TEMP[0], IN[0].zwzw, SAMP[0], 2D", 1, 0),
    ] {
        assert_eq!(fragment(Profile::R300, code, "alu-instructions"), r300, "{code}");
        assert_eq!(fragment(Profile::R500, code, "alu-instructions"), r500, "{code}");
    }
    let chain = "TEX TEMP[0], IN[0], SAMP[0], 2D\nTEX TEMP[1], TEMP[0], SAMP[0], 2D\nTEX TEMP[2], IN[1], SAMP[0], 2D";
    assert_eq!(fragment(Profile::R300, chain, "texture-phases"), 2);
    assert_eq!(fragment(Profile::R300, "ADD TEMP[0], CONST[0][1], IMM[1]", "constants"), 2);
    assert_eq!(fragment(Profile::R300, "ADD TEMP[0], CONST[0][1], IMM[0].yyyy", "constants"), 1);
    assert_eq!(fragment(Profile::R300, "LRP TEMP[0], IN[0], IN[1], IN[0]", "not-taken"), 1);
}

#[test]
fn the_first_instruction_beyond_is_found() {
    let code: String = (0..70).map(|n| format!("ADD TEMP[{}], IN[0], IN[1]\n", n % 3)).collect();
    let text = format!("{HEAD}{code}END\n");
    let fit = fit(Profile::I915, &shader(&text));
    assert_eq!(fit.verdict(), Verdict::DoesNotFit);
    let limit = fit.limit("alu-instructions").expect("a limit");
    assert_eq!((limit.used, limit.limit, limit.left()), (70, Some(64), None));
    let start = limit.first.as_ref().and_then(|first| first.span).expect("a place").start as usize;
    let line = text.get(..start).expect("a place in the text").lines().count();
    assert_eq!(line, HEAD.lines().count() + 64);
    assert_eq!(fit.findings().len(), 2, "arithmetic, and all instructions");
}

#[test]
fn nothing_panics_on_odd_shaders() {
    for text in ["FRAG\nEND\n", "FRAG\nDCL TEMP[0..32767]\nDCL CONST[0..4095]\nMOV TEMP[32767], CONST[4095]\nEND\n"] {
        for profile in Profile::ALL {
            let fit = fit(profile, &shader(text));
            assert_eq!(fit.limits.iter().filter(|limit| limit.is_exceeded() != limit.first.is_some()).count(), 0);
        }
    }
}

#[test]
fn r500_compares_for_one_branch_only() {
    let taken = |code: &str| fragment(Profile::R500, code, "not-taken") == 0;
    assert!(taken("SLT TEMP[0].x, IN[0].xxxx, IN[1].xxxx\nMOV TEMP[1], IN[0]\nIF TEMP[0].xxxx\nENDIF"));
    // A later write of the register does not matter.
    assert!(taken("SGE TEMP[0].x, IN[0], IN[1]\nIF TEMP[0].xxxx\nENDIF\nMOV TEMP[0].x, IN[0]\nMOV TEMP[1], TEMP[0]"));
    for code in [
        "SLT TEMP[0].x, IN[0], IN[1]",
        "SLT TEMP[0].xy, IN[0], IN[1]\nIF TEMP[0].xxxx\nENDIF",
        "SLT TEMP[0].x, IN[0], IN[1]\nMOV TEMP[1].x, TEMP[0].xxxx\nIF TEMP[0].xxxx\nENDIF",
        "SLT TEMP[0].x, IN[0], IN[1]\nIF TEMP[0].xxxx\nMOV TEMP[1].x, TEMP[0].xxxx\nENDIF",
        "SLT TEMP[0].x, IN[0], IN[1]\nIF IN[0].xxxx\nENDIF\nIF TEMP[0].xxxx\nENDIF",
    ] {
        assert!(!taken(code), "{code}");
    }
    let used = |code: &str| fragment(Profile::R500, code, "instructions");
    assert_eq!(used("SLT TEMP[0].x, IN[0], IN[1]\nIF TEMP[0].xxxx\nENDIF"), 3);
    assert_eq!(used("MOV TEMP[0].x, IN[0]\nIF TEMP[0].xxxx\nENDIF"), 3 + 1);
}
