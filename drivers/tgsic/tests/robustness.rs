//! Tests damaged and oversized input: the status is always 0 or 1, without panics and within bounded time.

use std::time::{Duration, Instant};

use crate::common::{FRAG, demo_shaders, files_below, shared, tgsic};

/// Long enough for a build without optimisation on a busy machine, and far below exponential or quadratic times.
const LONG: Duration = Duration::from_secs(30);

/// All commands that an input is tested with.
const COMMANDS: [&[&str]; 7] = [
    &["check"],
    &["scan"],
    &["run", "--max-steps", "100000"],
    &["ir", "--stage", "parsed"],
    &["ir", "--stage", "registers"],
    &["translate"],
    &["verify", "--seeds", "1"],
];

#[track_caller]
fn survives(input: &[u8], commands: &[&[&str]], what: &str) {
    for command in commands {
        let start = Instant::now();
        let output = tgsic(command, input);
        let shown = String::from_utf8_lossy(&input[..input.len().min(4000)]);
        assert!(matches!(output.status, 0 | 1), "{what} {command:?}: {}: {}\n{shown}", output.status, output.stderr);
        assert!(!output.stderr.contains("panicked"), "{what} {command:?}: {}\n{shown}", output.stderr);
        assert!(start.elapsed() < LONG, "{what} {command:?} took {:?}", start.elapsed());
        // A damaged shader that passes the check must have the same results at every stage.
        if command[0] == "verify" && output.status == 1 {
            let text = output.text();
            assert!(!text.contains(" 1 different"), "{what}: {text}\n{shown}");
        }
    }
}

/// A source of random choices.
struct Random(tgsi_environment::Random);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        (self.0.bits() % bound.max(1) as u64) as usize
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

const NUMBERS: [&str; 14] =
    ["0", "1", "-1", "31", "32", "64", "255", "1023", "4095", "32767", "65535", "65536", "4294967295", "4294967296"];

/// Changes lines, words and numbers, such that the result often still is a shader.
fn damage_text(text: &str, random: &mut Random) -> Vec<u8> {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    for _ in 0..1 + random.below(3) {
        let at = random.below(lines.len());
        match random.below(6) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[random.below(lines.len())].clone()),
            2 => {
                let other = random.below(lines.len());
                lines.swap(at, other);
            }
            3 | 4 => {
                // Replaces a word or number.
                let donor = lines[random.below(lines.len())].clone();
                let line = &mut lines[at];
                let number = random.below(2) == 0;
                let belongs = |c: char| if number { c.is_ascii_digit() } else { c.is_ascii_alphanumeric() || c == '_' };
                let starts: Vec<usize> = line
                    .char_indices()
                    .filter(|&(i, c)| belongs(c) && !line[..i].ends_with(belongs))
                    .map(|(i, _)| i)
                    .collect();
                if !starts.is_empty() {
                    let start = *random.pick(&starts);
                    let length = line[start..].find(|c| !belongs(c)).unwrap_or(line.len() - start);
                    let words: Vec<&str> = donor.split(|c| !belongs(c)).filter(|w| !w.is_empty()).collect();
                    let word = if number || words.is_empty() { *random.pick(&NUMBERS) } else { random.pick(&words) };
                    line.replace_range(start..start + length, word);
                }
            }
            _ => {
                let mut bytes = lines[at].clone().into_bytes();
                if !bytes.is_empty() {
                    let place = random.below(bytes.len());
                    bytes[place] = *random.pick(b"0159ABZxyzw[](){}.,:-|%@ \0\xff");
                }
                lines[at] = String::from_utf8_lossy(&bytes).into_owned();
            }
        }
        if lines.is_empty() {
            lines.push(String::new());
        }
    }
    (lines.join("\n") + "\n").into_bytes()
}

fn damage_tokens(tokens: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = tokens.to_vec();
    for _ in 0..1 + random.below(3) {
        let (place, word) = (random.below(bytes.len()), random.below(bytes.len() / 4) * 4);
        match random.below(4) {
            0 => bytes[place] = random.0.bits() as u8,
            1 => bytes[place] ^= 1 << random.below(8),
            2 => bytes[word..word + 4].copy_from_slice(&random.pick(&[0u32, u32::MAX, 1, 1 << 31]).to_le_bytes()),
            _ => {
                let from = random.below(bytes.len() / 4) * 4;
                bytes.copy_within(from..from + 4, word);
            }
        }
    }
    bytes
}

/// Damages shaders as text, as tokens and as IR text of each stage.
fn damage(texts: &[String], rounds: usize, seed: u64) {
    let mut random = Random(tgsi_environment::Random::new(seed));
    for round in 0..rounds {
        let text = random.pick(texts).clone();
        let (input, what) = match random.below(4) {
            0 => (damage_text(&text, &mut random), "text"),
            1 => (damage_tokens(&tgsic(&["encode"], &text).stdout, &mut random), "tokens"),
            _ => {
                let stage = random.pick(&["parsed", "ssa", "registers"]);
                let ir = tgsic(&["ir", "--stage", stage], &text).stdout;
                (damage_text(&String::from_utf8_lossy(&ir), &mut random), "IR")
            }
        };
        survives(&input, &COMMANDS, &format!("round {round} of seed {seed}, {what}"));
    }
}

#[test]
fn damaged_demo_shaders() {
    let texts: Vec<String> =
        demo_shaders().iter().map(|p| std::fs::read_to_string(p).expect("a text")).chain([FRAG.to_string()]).collect();
    damage(&texts, 60, 1);
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn damaged_real_shaders() {
    let shared = shared();
    let texts: Vec<String> = files_below(&shared.join("corpus"), "tgsi")
        .into_iter()
        .filter_map(|p| std::fs::read(p).ok())
        .filter(|bytes| bytes.len() < 4000)
        .filter_map(|bytes| String::from_utf8(bytes).ok())
        .collect();
    damage(&texts, 60, 2);
}

/// The IR of real shaders, printed at every stage, parses again.
#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn real_shaders_as_ir() {
    let shared = shared();
    let paths: Vec<_> = files_below(&shared.join("corpus"), "tgsi")
        .into_iter()
        .filter(|p| p.metadata().is_ok_and(|m| m.len() < 8000))
        .step_by(41)
        .collect();
    assert!(paths.len() > 20);
    let folder = crate::common::Folder::new();
    for stage in ["parsed", "ssa", "registers"] {
        let mut arguments: Vec<String> =
            ["ir", "--stage", stage, "--out-dir", stage].iter().map(ToString::to_string).collect();
        arguments.extend(paths.iter().map(|p| p.display().to_string()));
        assert_eq!(folder.run(&arguments).status, 0);
        let made = files_below(&folder.path(stage), "nir");
        assert_eq!(made.len(), paths.len());
        for command in [&["check", "-q"][..], &["ir", "--out-dir", "again"], &["verify", "--seeds", "2"]] {
            let mut arguments: Vec<String> = command.iter().map(ToString::to_string).collect();
            arguments.extend(made.iter().map(|p| p.display().to_string()));
            let output = folder.run(&arguments);
            assert_eq!(output.status, 0, "{stage} {command:?}: {}{}", output.text(), output.stderr);
        }
    }
}

const HEAD: &str = "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL TEMP[0..3]\n";

#[test]
fn deep_nesting() {
    for (open, close) in
        [("IF IN[0].xxxx\n", "ENDIF\n"), ("BGNLOOP\n", "ENDLOOP\n"), ("SWITCH IN[0].xxxx\n", "ENDSWITCH\n")]
    {
        let open = open.repeat(50_000);
        survives(format!("{HEAD}{open}END\n").as_bytes(), &COMMANDS, open.lines().next().expect("a line"));
        let both = format!("{HEAD}{open}{}END\n", close.repeat(50_000));
        survives(both.as_bytes(), &COMMANDS, &both[HEAD.len()..HEAD.len() + 20]);
    }
    // Nested as deeply as the check allows, in every pass.
    let deep = format!(
        "{HEAD}{}MOV OUT[0], TEMP[0]\n{}END\n",
        "IF IN[0].xxxx\nADD TEMP[0], TEMP[0], IN[0]\n".repeat(1000),
        "ENDIF\n".repeat(1000)
    );
    survives(deep.as_bytes(), &COMMANDS, "1000 ifs");
    assert_eq!(tgsic(&["translate"], &deep).status, 0);
    let brackets = format!("FRAG\nMOV OUT[0], {}\nEND\n", "(".repeat(100_000));
    survives(brackets.as_bytes(), &COMMANDS, "brackets");
}

#[test]
fn many_of_everything() {
    let immediates: String = (0..3000).map(|i| format!("IMM[{i}] UINT32 {{{i}, 1, 2, 3}}\n")).collect();
    let reads: String = (0..3000).map(|i| format!("UADD TEMP[0], TEMP[0], IMM[{i}]\n")).collect();
    survives(format!("{HEAD}{immediates}{reads}MOV OUT[0], TEMP[0]\nEND\n").as_bytes(), &COMMANDS, "immediates");
    let instructions = "ADD TEMP[0], TEMP[0], IN[0]\nMUL TEMP[1].xy, TEMP[0].yxzw, TEMP[1]\n".repeat(5000);
    survives(format!("{HEAD}{instructions}MOV OUT[0], TEMP[1]\nEND\n").as_bytes(), &COMMANDS, "instructions");
    let errors = "FOO\n".repeat(100_000);
    let output = tgsic(&["check"], format!("FRAG\n{errors}"));
    assert_eq!((output.status, output.stderr.len() < 20_000), (1, true));
    let branches =
        "IF TEMP[0].xxxx\nADD TEMP[0], TEMP[0], IN[0]\nELSE\nMUL TEMP[1], TEMP[0], IN[0]\nENDIF\n".repeat(500);
    survives(format!("{HEAD}{branches}MOV OUT[0], TEMP[1]\nEND\n").as_bytes(), &COMMANDS, "branches");
}

#[test]
fn large_declarations() {
    let compute = "COMP\nPROPERTY CS_FIXED_BLOCK_WIDTH 1024\nPROPERTY CS_FIXED_BLOCK_HEIGHT 1\nPROPERTY CS_FIXED_BLOCK_DEPTH 1\n\
                   DCL SV[0], THREAD_ID\nDCL BUFFER[0]\nDCL ADDR[0]\nIMM[0] UINT32 {0, 1, 2, 3}\n";
    let code = |range: &str| {
        format!(
            "{compute}DCL TEMP[{range}], ARRAY(1)\nUARL ADDR[0].x, SV[0].xxxx\nMOV TEMP[ADDR[0].x](1), SV[0]\n\
             STORE BUFFER[0].x, IMM[0].xxxx, TEMP[ADDR[0].x+5](1)\nEND\n"
        )
    };
    survives(code("0..65535").as_bytes(), &COMMANDS, "array");
    survives(code("0..4095").as_bytes(), &COMMANDS, "smaller array");
    let inputs = "FRAG\nDCL IN[0..65535], GENERIC[0], PERSPECTIVE\nDCL OUT[0..65535], COLOR\nDCL ADDR[0]\n\
                  ARL ADDR[0].x, IN[0].xxxx\nMOV OUT[ADDR[0].x], IN[ADDR[0].x]\nEND\n";
    survives(inputs.as_bytes(), &[&["check"], &["ir"], &["translate"], &["run"]], "inputs and outputs");
    // 64 bytes of IR text that declare large arrays.
    for declaration in ["num_components=16, num_array_elems=2147483647", "num_components=4, num_array_elems=65536"] {
        let ir = format!(
            "shader: MESA_SHADER_COMPUTE\nworkgroup_size: 1024, 1, 1\ndecl_function main () (entrypoint)\nimpl main {{\nblock b0:\n\
             32 %0 = @decl_reg ({declaration}, bit_size=32, divergent=1)\nblock b1:\n}}\n"
        );
        survives(ir.as_bytes(), &COMMANDS, declaration);
    }
}

#[test]
fn code_without_end() {
    let loops = "BGNLOOP\n".to_string() + &"ADD TEMP[0], TEMP[1], TEMP[2]\n".repeat(64) + "ENDLOOP\n";
    survives(format!("{HEAD}{loops}END\n").as_bytes(), &COMMANDS, "an endless loop");
    let wide = HEAD.replace(
        "FRAG",
        "COMP\nPROPERTY CS_FIXED_BLOCK_WIDTH 64\nPROPERTY CS_FIXED_BLOCK_HEIGHT 1\nPROPERTY CS_FIXED_BLOCK_DEPTH 1",
    );
    survives(format!("{wide}{loops}END\n").as_bytes(), &COMMANDS, "an endless workgroup");
    // Subroutines that each double the number of calls.
    let doubling: String =
        (1..40).map(|i| format!("BGNSUB\nCAL :{next}\nCAL :{next}\nENDSUB\n", next = 3 + 4 * i)).collect();
    let calls = format!("{HEAD}CAL :3\nNOP\nEND\n{doubling}BGNSUB\nNOP\nNOP\nENDSUB\n");
    survives(calls.as_bytes(), &COMMANDS, "calls");
    assert!(tgsic(&["translate", "--dialect", "virgl"], &calls).stderr.contains("[T0307]"));
    // Subroutines stay if the target has them.
    tgsic(&["translate"], &calls).success();
}
