//! Findings of the parser on invalid texts: rule, position, message, hint. Every error of a text is reported.

use pretty_assertions::assert_eq;
use tgsi::limits::{Limits, MAX_DIAGNOSTICS, MAX_OLD_DECLARATIONS};
use tgsi::text::parse;
use tgsi_diagnostics::{Diagnostic, LineIndex};

const HEAD: &str = "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL TEMP[0..3]\n";

fn show(text: &[u8], diagnostics: &[Diagnostic]) -> Vec<String> {
    let index = LineIndex::new(text);
    let line = |d: &Diagnostic| {
        let (line, column) = index.line_column(d.span.start);
        let hint = d.hint.as_deref().map_or(String::new(), |hint| format!(" ({hint})"));
        format!("{line}:{column}: {}[{}]: {}{hint}", d.severity, d.code.name, d.message)
    };
    diagnostics.iter().map(line).collect()
}

fn errors(text: &str) -> Vec<String> {
    match parse(text.as_bytes()) {
        Ok(parsed) => panic!("accepted: {text}\n{:?}", parsed.shader),
        Err(diagnostics) => show(text.as_bytes(), &diagnostics),
    }
}

/// Returns the only error of a text of [`HEAD`], this line 5, and `END`.
fn error_of(line: &str) -> String {
    let found = errors(&format!("{HEAD}{line}\nEND\n"));
    assert_eq!(found.len(), 1, "{found:?}");
    found.into_iter().next().expect("one")
}

#[test]
fn every_error() {
    let cases = [
        ("MOOV OUT[0], IN[0]", "5:1: error[unknown-opcode]: unknown opcode `MOOV` (did you mean `MOV`?)"),
        ("  3: ADDD_SAT OUT[0], IN[0]", "5:6: error[unknown-opcode]: unknown opcode `ADDD` (did you mean `ADD`?)"),
        ("DLC OUT[1], COLOR", "5:1: error[unknown-opcode]: unknown opcode `DLC` (did you mean `DCL`?)"),
        (
            "BRA :3",
            "5:1: error[removed-opcode]: the opcode BRA is no longer part of TGSI: control flow is structured, there are no jumps to \
             labels",
        ),
        ("MOV OUT[0], TMEP[0]", "5:13: error[unknown-file]: unknown register file `TMEP` (did you mean `TEMP`?)"),
        ("DCL TMP[0]", "5:5: error[unknown-file]: unknown register file `TMP` (did you mean `TEMP`?)"),
        ("MOV OUT[0], TEMPX[0][1]", "5:13: error[unknown-file]: unknown register file `TEMPX[0][1]`"),
        (
            "DCL OUT[1], COLUR",
            "5:13: error[unknown-attribute]: unknown semantic or attribute `COLUR` in a declaration (did you mean `COLOR`?)",
        ),
        ("DCL OUT[1], COLOR, POSITION", "5:20: error[duplicate-attribute]: a second semantic in the same declaration"),
        (
            "DCL IN[1], LINEAR, CONSTANT",
            "5:20: error[duplicate-attribute]: a second interpolation mode in the same declaration",
        ),
        (
            "PROPERTY FS_COORD_ORIGINS UPPER_LEFT",
            "5:10: error[unknown-property]: unknown property `FS_COORD_ORIGINS` (did you mean `FS_COORD_ORIGIN`?)",
        ),
        (
            "PROPERTY FS_COORD_ORIGIN SIDEWAYS",
            "5:26: error[property-value]: `SIDEWAYS` is not a value of the property FS_COORD_ORIGIN (possible are UPPER_LEFT, LOWER_LEFT)",
        ),
        (
            "PROPERTY FS_DEPTH_LAYOUT 4294967296",
            "5:26: error[property-value]: `4294967296` is not a value of the property FS_DEPTH_LAYOUT (a number of 32 bits)",
        ),
        (
            "TEX OUT[0], IN[0], SAMP[0], 5D",
            "5:29: error[unknown-target]: unknown texture target `5D` (did you mean `1D`?)",
        ),
        ("TEX OUT[0], IN[0], SAMP[0]", "5:27: error[missing-target]: TEX needs a texture target after its operands"),
        ("DCL IMAGE[0], 7D", "5:15: error[unknown-target]: unknown texture target `7D` (did you mean `1D`?)"),
        (
            "DCL SVIEW[0], 2D, FLAOT",
            "5:19: error[unknown-return-type]: unknown return type `FLAOT` (did you mean `FLOAT`?)",
        ),
        ("DCL SVIEW[0], 2D", "5:17: error[expected]: expected a return type, found the end of the line"),
        (
            "LOAD TEMP[0], BUFFER[0], IN[0], COHERRENT",
            "5:33: error[unknown-modifier]: unknown memory qualifier, texture target or format `COHERRENT` (did you mean `COHERENT`?)",
        ),
        (
            "LOAD TEMP[0], IMAGE[0], IN[0], 2D, PIPE_FORMAT_R32_UIN",
            "5:36: error[unknown-modifier]: unknown memory qualifier, texture target or format `PIPE_FORMAT_R32_UIN` (did you mean \
             `PIPE_FORMAT_R32_UINT`?)",
        ),
        (
            "IMM[0] FLT23 {1, 2, 3, 4}",
            "5:8: error[unknown-immediate-type]: unknown type of an immediate `FLT23` (did you mean `FLT32`?)",
        ),
        ("IMM[0] FLT32 {1, zwei, 3, 4}", "5:18: error[immediate-value]: `zwei` is not a value of type FLT32"),
        (
            "IMM[0] UINT32 {4294967296, 0, 0, 0}",
            "5:16: error[immediate-value]: `4294967296` is not a value of type UINT32",
        ),
        ("IMM[0] INT32 {1.5, 0, 0, 0}", "5:15: error[immediate-value]: `1.5` is not a value of type INT32"),
        (
            "IMM[0] FLT32 {1, 2, 3, 4, 5}",
            "5:27: error[immediate-count]: an immediate of type FLT32 has at most 4 values",
        ),
        ("IMM[0] FLT64 {1, 2, 3}", "5:21: error[immediate-count]: an immediate of type FLT64 has at most 2 values"),
        ("IMM[3] FLT32 {1, 2, 3, 4}", "5:1: error[immediate-order]: found IMM[3] where IMM[0] should be declared"),
        ("MOV OUT[0, IN[0]", "5:10: error[expected-character]: expected `]`, found `,`"),
        ("IMM[0] FLT32 {1, 2", "5:19: error[expected-character]: expected `,`, found the end of the line"),
        ("MOV OUT[0], --IN[0]", "5:14: error[expected]: expected a register, found `-`"),
        ("MOV OUT[], IN[0]", "5:9: error[expected]: expected a register, found `]`"),
        (
            "MOV OUT[0], IN[-32769]",
            "5:16: error[out-of-range]: register index -32769 is out of range, -32768 to 32767 are possible",
        ),
        (
            "DCL TEMP[4..65536]",
            "5:13: error[out-of-range]: register index 65536 is out of range, 0 to 65535 are possible",
        ),
        (
            "DCL TEMP[4], ARRAY(1024)",
            "5:20: error[out-of-range]: array number 1024 is out of range, 0 to 1023 are possible",
        ),
        ("CAL :16777216", "5:6: error[out-of-range]: label 16777216 is out of range, 0 to 16777215 are possible"),
        ("DCL TEMP[5..2]", "5:10: error[range-backwards]: the range 5..2 ends before it begins"),
        ("DCL TEMP[]", "5:5: error[empty-brackets]: `[]` has no meaning here"),
        (
            "MOV OUT[0].yx, IN[0]",
            "5:12: error[write-mask]: `.yx` is not a write mask (components must be in order, each once: `.xy`)",
        ),
        (
            "MOV OUT[0].q, IN[0]",
            "5:12: error[write-mask]: `.q` is not a write mask (a write mask has components out of x, y, z, w)",
        ),
        (
            "MOV OUT[0], IN[0].xyzq",
            "5:19: error[swizzle]: `.xyzq` is not a swizzle (a swizzle has four components out of x, y, z, w)",
        ),
        (
            "MOV OUT[0], IN[0].xyzwx",
            "5:19: error[swizzle]: `.xyzwx` is not a swizzle (a swizzle has four components out of x, y, z, w)",
        ),
        (
            "MOV OUT[0], IN[ADDR[0].xy]",
            "5:24: error[swizzle]: `.xy` is not a swizzle (an address is one component: x, y, z or w)",
        ),
        (
            "TEX OUT[0], IN[0], SAMP[0], 2D, IN[0].xq",
            "5:39: error[swizzle]: `.xq` is not a swizzle (an offset has three components out of x, y, z, w)",
        ),
        (
            "MOV OUT[0], IN[0].xy",
            "5:19: error[swizzle]: `.xy` is not a swizzle (a swizzle has four components: `.xyyy`)",
        ),
        ("MOV OUT[0], |IN[0]", "5:19: error[unclosed-absolute]: the absolute value has no closing `|`"),
        ("ADD OUT[0], IN[0]", "5:18: error[too-few-operands]: ADD needs 3 operands, there are 2"),
        ("MOV", "5:4: error[too-few-operands]: MOV needs 2 operands, there are 0"),
        ("SUB OUT[0],", "5:11: error[too-few-operands]: SUB needs 3 operands, there are 1"),
        ("MOV OUT[0], IN[0], IN[0]", "5:20: error[too-many-operands]: MOV has only 2 operands"),
        ("MOV OUT[0], IN[0], -IN[0]", "5:20: error[too-many-operands]: MOV has only 2 operands"),
        ("SUB OUT[0], IN[0], IN[0], IN[0]", "5:27: error[too-many-operands]: SUB has only 3 operands"),
        (
            "TEX OUT[0], IN[0], SAMP[0], 2D, IN[0].xyz, IN[0].xyz, IN[0].xyz, IN[0].xyz, IN[0].xyz",
            "5:77: error[too-many-offsets]: an instruction has at most 4 texture offsets",
        ),
        ("MOV OUT[0], IN[0]?", "5:18: error[after-statement]: unexpected `?` after the statement"),
        ("{ IN[0]", "5:1: error[expected-statement]: expected DCL, IMM, PROPERTY or an instruction, found `{`"),
        ("\u{e4}", "5:1: error[expected-statement]: expected DCL, IMM, PROPERTY or an instruction, found `\u{e4}`"),
        ("#endif", "5:1: error[unbalanced-conditional]: `#endif` without its counterpart"),
        ("#else", "5:1: error[unbalanced-conditional]: `#else` without its counterpart"),
        ("#ifndef X", "5:1: error[unbalanced-conditional]: `#ifdef` without its counterpart"),
        (
            "#define a b\n#define b a\nMOV OUT[0], a",
            "7:13: error[macro-depth]: the definition of `a` is recursive or too deep",
        ),
        (
            "DCL TEMP[4..32767]\nCLAMP OUT[0], IN[0], IN[0], IN[0]",
            "8:1: error[no-registers]: the shader leaves no register numbers for its scratch temporaries",
        ),
        ("5 MOV OUT[0], IN[0]", "5:3: error[expected-character]: expected `:`, found `MOV`"),
        ("MOV OUT[0], IN[0] :x", "5:20: error[expected]: expected a number, found `x`"),
    ];
    for (line, expected) in cases {
        assert_eq!(error_of(line), expected);
    }
}

#[test]
fn errors_of_the_whole_text() {
    let only = |text: &str, expected: &str| assert_eq!(errors(text), [expected]);
    only("", "1:1: error[empty-text]: the text is empty; a shader begins with the name of its stage");
    only(" \n# nothing\n", "1:1: error[empty-text]: the text is empty; a shader begins with the name of its stage");
    only("FRAGMENT\nEND\n", "1:1: error[unknown-stage]: unknown stage `FRAGMENT` (did you mean `FRAG`?)");
    only("GOEM\nEND\n", "1:1: error[unknown-stage]: unknown stage `GOEM` (did you mean `GEOM`?)");
    only("[\n", "1:1: error[expected]: expected the name of a stage, found `[`");
    let many = "DCL RES[0]\n".repeat(MAX_OLD_DECLARATIONS + 1);
    only(
        &format!("FRAG\n{many}END\n"),
        "258:5: error[too-many-old-declarations]: at most 256 declarations of files that TGSI no longer has are read",
    );
    // The memory is never touched, because the length alone decides.
    let long = parse(&vec![0; Limits::default().text_bytes as usize + 1]).expect_err("too long");
    assert_eq!(show(b"", &long), ["1:1: error[text-too-long]: the text has 67108865 bytes, at most 67108864 are read"]);
    let many = errors(&format!("FRAG\n{}", "BOGUS\n".repeat(MAX_DIAGNOSTICS + 50)));
    assert_eq!(many.len(), MAX_DIAGNOSTICS + 1);
    assert_eq!(many.last().map(String::as_str), Some("202:1: error[too-many-errors]: too many errors, giving up"));
}

#[test]
fn all_errors_are_reported_once() {
    let text = "FRAG\r\nDCL IN[0], GENERICC[0], PERSPECTIVE\r\nDCL OUT[0], COLOR\r\nIMM[0] FLT32 {1, x, 3, 4}\r\n\
                IMM[1] FLT32 {1, 2, 3, 4}\r\n  0: MOV OUT[0].yx, IN[0]   1: MUUL OUT[0], IN[0], IN[0]\r\n  2: ADD OUT[0],\r\n\
                  3: MOV OUT[0], IMM[1]\r\n  4: MOV\r\n  5: END\r\n";
    assert_eq!(
        errors(text),
        [
            "2:12: error[unknown-attribute]: unknown semantic or attribute `GENERICC` in a declaration (did you mean `GENERIC`?)",
            "4:18: error[immediate-value]: `x` is not a value of type FLT32",
            "6:17: error[write-mask]: `.yx` is not a write mask (components must be in order, each once: `.xy`)",
            "6:32: error[unknown-opcode]: unknown opcode `MUUL` (did you mean `MUL`?)",
            "7:16: error[too-few-operands]: ADD needs 3 operands, there are 1",
            "9:9: error[too-few-operands]: MOV needs 2 operands, there are 0",
        ]
    );
}

#[test]
fn warnings() {
    let warnings = |text: &str| match parse(text.as_bytes()) {
        Ok(parsed) => show(text.as_bytes(), &parsed.warnings),
        Err(errors) => panic!("{errors:?}"),
    };
    assert_eq!(
        warnings(
            "GEOM\nDCL IN[][0], GENERIC[0], CENTROID\nDCL OUT[0], STREAM(1, 0, 0, 0)\nDCL IN[][1], COLOR, CYLWRAP_XY\nEND"
        ),
        [
            "2:26: warning[location-without-mode]: the interpolation location has no effect without an interpolation mode",
            "3:13: warning[stream-without-semantic]: STREAM has no effect without a semantic",
            "4:21: warning[cylindrical-wrap]: cylindrical wrapping is no longer part of TGSI and is ignored",
        ]
    );
    assert_eq!(
        warnings("COMP\nDCL RES[0], BUFFER, RAW\nBGNSUB\nMFENCE RES[0]\nRET\nENDSUB\n"),
        ["3:1: warning[no-main]: the text has no main program; it now calls the subroutine at instruction 0"]
    );
    assert_eq!(
        warnings("TESS_EVAL\nDCL SV[0], (null)\nEND"),
        ["2:12: warning[null-name]: Mesa prints several unnamed values as `(null)`; this one is read as \
             TESS_DEFAULT_OUTER_LEVEL"]
    );
    assert_eq!(
        warnings("FRAG\nDCL TEMP[0..1]\nDFRACEXP_SAT TEMP[0].xy, TEMP[1].x, TEMP[0].xyxy\nEND"),
        ["3:1: warning[no-saturation]: saturation has no meaning on DFRACEXP and is ignored"]
    );
}

#[test]
fn large_texts_take_linear_time() {
    // Generous: each of these takes well under a second if it is linear, and minutes if it is quadratic.
    let limit = std::time::Duration::from_secs(20);
    let many = 100_000;
    let texts = [
        format!(
            "FRAG\nDCL TEMP[0..3]\n{}END\n",
            "  1: MAD TEMP[0].xyz, -|TEMP[1].wzyx|, TEMP[2].xxxx, TEMP[3]\n".repeat(many)
        ),
        format!("FRAG\nDCL TEMP[0..3]\n{}{}END\n", "IF TEMP[0].xxxx\n".repeat(many), "ENDIF\n".repeat(many)),
        format!("FRAG\nDCL TEMP[0..3]\n{}END\n", "NRM TEMP[0], TEMP[1]\n".repeat(many)),
        format!("FRAG\n{}", "A".repeat(many * 100)),
        format!("FRAG\nMOV{}", " \n".repeat(many * 50)),
        format!("FRAG\nMOV {}", "1 ".repeat(many * 50)),
        format!("FRAG\nTEX {}", "1 : ".repeat(many * 20)),
        format!("FRAG\nBARRIER{}END", ", COHERENT\n".repeat(many)),
        format!("FRAG\nDCL TEMP[0]\n{}END", "# x\n".repeat(many * 10)),
        format!("COMP\n{}", "BGNSUB\nENDSUB\n".repeat(many)),
        format!("COMP\nDCL RES[0]\n{}", "BGNSUB\nMFENCE RES[0]\nENDSUB\n".repeat(many)),
        format!("FRAG\n{}", "#endif\n".repeat(many * 10)),
        format!("FRAG\n{}", "#ifdef A\n".repeat(many)),
        format!("FRAG\n{}", "#define A B\n".repeat(many)),
        format!("FRAG\nDCL IMMX[0..32000] {{{}{{1}}}}\nEND", "{1},".repeat(32000)),
        format!("FRAG\nIMM[0] FLT32 {{{}", "1e".repeat(many * 10)),
        format!("FRAG\nIMM[0] FLT32 {{1{}", "0".repeat(many * 10)),
        "\u{0}\u{ff}".repeat(many * 20),
    ];
    for text in &texts {
        let start = std::time::Instant::now();
        drop(parse(text.as_bytes()));
        let head: String = text.chars().take(60).collect();
        assert!(start.elapsed() < limit, "{head}...: {:?}", start.elapsed());
    }
}
