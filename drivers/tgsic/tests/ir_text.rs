//! Tests IR text as input: `ir`, `run`, `translate`, `check` and `verify` accept the output of `ir`.

use crate::common::{FRAG, Folder, demo_shaders, tgsic};
use pretty_assertions::assert_eq;

/// A shader as Mesa prints it after its variables have been removed.
const LOWERED: &str = "\
shader: MESA_SHADER_FRAGMENT
inputs: 1
outputs: 1
decl_function main () (entrypoint)

impl main {
    block b0:   // preds:
    32    %0 = load_const (0x00000000 = 0.000000)
    32x4  %1 = @load_input (%0 (0x0)) (base=0, range=1, component=0, dest_type=float32, io location=VARYING_SLOT_VAR0 slots=1)
    32x4  %2 = fadd %1, %1
                @store_output (%2, %0 (0x0)) (base=0, range=1, wrmask=xyzw, component=0, src_type=float32, io location=FRAG_RESULT_DATA0 slots=1)
                // succs: b1
    block b1:
}
";

#[test]
fn every_stage_is_taken_up_again() {
    for path in demo_shaders() {
        let path = path.to_str().expect("a name");
        let translated = tgsic(&["translate", path], "").success().stdout;
        let run = |arguments: &[&str], input: &[u8]| {
            let output = tgsic(&[&["run", "--seed", "2"], arguments].concat(), input).success();
            let text = output.text().to_string();
            text[..text.rfind('\n').and_then(|end| text[..end].rfind('\n')).expect("lines")].to_string()
        };
        let left = run(&[path], b"");
        for stage in ["parsed", "ssa", "registers"] {
            let ir = tgsic(&["ir", "--stage", stage, path], "").success().stdout;
            tgsic(&["check"], &ir).success();
            assert_eq!(tgsic(&["ir", "--stage", "parsed"], &ir).success().stdout, ir, "{path} {stage}: as it is");
            assert_eq!(run(&[], &ir), left, "{path} {stage}");
            for via in ["ir", "ssa", "registers", "driver:tgsi"] {
                assert_eq!(run(&["--via", via], &ir), left, "{path} {stage} via {via}");
            }
            let verified = tgsic(&["verify"], &ir).success();
            assert_eq!(verified.text(), "1 shaders: 1 equal at every stage, 0 different, 0 errors\n");
            let again = tgsic(&["translate"], &ir).success().stdout;
            if stage != "registers" {
                assert_eq!(again, translated, "{path} {stage}");
            }
        }
        let parsed = tgsic(&["ir", "--stage", "parsed", path], "").success().stdout;
        assert_eq!(tgsic(&["ir"], &parsed).success().stdout, tgsic(&["ir", path], "").success().stdout, "{path}");
    }
}

#[test]
fn a_shader_without_variables() {
    let translated = tgsic(&["translate"], LOWERED).success();
    assert!(translated.text().contains("ADD OUT[0], IN[0], IN[0]"), "{}", translated.text());
    let run = tgsic(&["run", "--seed", "2"], LOWERED).success();
    let of_tgsi = tgsic(&["run", "--seed", "2"], FRAG).success();
    assert_eq!(run.text().lines().take(4).collect::<Vec<_>>(), of_tgsi.text().lines().take(4).collect::<Vec<_>>());
}

#[test]
fn errors_have_places() {
    let cases = [
        ("fadd", "faddd", "<stdin>:10:16: error: unknown opcode `faddd` (did you mean `fadd`?) [T1004]"),
        ("fadd %1, %1", "fadd %1, %9", "value %9 is used but never defined [T1017]"),
        ("32x4  %2", "16x4  %2", "[T1115]"),
        (
            "MESA_SHADER_FRAGMENT",
            "MESA_SHADER_FRAGMENTS",
            "<stdin>:1:1: error: the text does not begin with `shader:` and a stage [T1002]",
        ),
        ("(entrypoint)", "", "the shader has no entry point with code [T1217]"),
    ];
    for (from, to, expected) in cases {
        let text = LOWERED.replacen(from, to, 1);
        let folder = Folder::with(&[("a.nir", &text), ("b.nir", LOWERED)]);
        // Two inputs select the short format of findings.
        let output = folder.run(&["check", "a.nir", "b.nir"]);
        assert_eq!(output.status, 1, "{expected}");
        assert!(output.stderr.contains(&expected.replace("<stdin>", "a.nir")), "{expected}: {}", output.stderr);
        for command in ["check", "ir", "run", "translate", "verify"] {
            let output = tgsic(&[command], &text);
            assert_eq!(output.status, 1, "{command}");
            assert!(output.stderr.contains("┌─ <stdin>:"), "{command}: {}", output.stderr);
        }
    }
    let shown = tgsic(&["translate"], LOWERED.replace("32x4  %2", "16x4  %2"));
    assert!(shown.stderr.contains("\n10 │     16x4  %2 = fadd %1, %1\n"), "{}", shown.stderr);
    let mut bytes = LOWERED.as_bytes().to_vec();
    let at = LOWERED.find("fadd").expect("there");
    bytes[at] = 0xff;
    let output = tgsic(&["translate"], &bytes);
    assert!(
        output.stderr.contains("the text is not UTF-8") && output.stderr.contains("<stdin>:10:"),
        "{}",
        output.stderr
    );
}

#[test]
fn what_needs_tgsi_says_so() {
    for command in ["print", "encode", "scan"] {
        let output = tgsic(&[command], LOWERED);
        assert_eq!((output.status, output.text()), (1, ""), "{command}");
        assert!(output.stderr.contains("error[T0800]: this is IR, not TGSI"), "{}", output.stderr);
        assert!(output.stderr.contains("hint: `tgsic translate` converts IR to TGSI"), "{}", output.stderr);
    }
    let output = tgsic(&["run", "--via", "tgsi"], LOWERED);
    assert_eq!(
        (output.status, output.stderr.as_str()),
        (2, "tgsic: the shader is IR, which cannot be run as TGSI; use --via ir\n")
    );
    // A stage that TGSI does not have.
    let task = "shader: MESA_SHADER_TASK\ndecl_function main () (entrypoint)\n\nimpl main {\n    block b0:\n    // succs: b1\n    block b1:\n}\n";
    let output = tgsic(&["translate"], task);
    assert_eq!((output.status, output.stderr.contains("TGSI has no Task shaders")), (1, true), "{}", output.stderr);
    tgsic(&["check"], task).success();
}

#[test]
fn translate_json_of_ir_has_no_sizes_before() {
    let output = tgsic(&["translate", "--json"], LOWERED).success();
    let row: serde_json::Value = serde_json::from_str(output.text()).expect("JSON");
    assert_eq!((&row["instructions_before"], &row["instructions_after"]), (&serde_json::Value::Null, &2.into()));
    assert_eq!(row["stage"], "FRAG");
}
