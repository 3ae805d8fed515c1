//! Texts of 64 KiB that try to make compilation slow: the result is a shader or an error with a position, and
//! intermediate results stay small. The test counts work instead of measuring time: the instructions after every pass,
//! how often passes change something, and the bytes of the result. It shows times and memory too, if requested:
//!
//! ```text
//! TGSIC_TIMES=1 cargo test --release -p tgsic --test all hostile -- --nocapture
//! ```

use std::process::{Command, Stdio};

use crate::common::{Folder, tgsic};

/// Size of a hostile text in bytes.
const SIZE: usize = 64 << 10;
/// Maximum number of IR instructions for each text.
const MAX_INSTRUCTIONS: u64 = 400_000;
/// Maximum work of all passes together: for each run, the number of instructions at that time.
const MAX_WORK: u64 = 5_000_000;
/// Maximum size of a result in bytes.
const MAX_BYTES: usize = 2 << 20;

const FRAG: &str = "FRAG\nDCL IN[0],GENERIC[0],PERSPECTIVE\nDCL OUT[0],COLOR\n";
const GEOM: &str = "GEOM\nPROPERTY GS_INPUT_PRIMITIVE TRIANGLES\nPROPERTY GS_OUTPUT_PRIMITIVE POINTS\nPROPERTY GS_MAX_OUTPUT_VERTICES 1024\n";
const VERT: &str = "VERT\nDCL IN[0]\nDCL OUT[0],GENERIC[0]\n";

/// Returns `head`, as many parts as fit, and `tail`.
fn fill(head: &str, part: impl Fn(usize) -> String, tail: &str) -> String {
    let mut text = head.to_owned();
    for number in 0.. {
        let part = part(number);
        if text.len() + part.len() + tail.len() > SIZE {
            break;
        }
        text.push_str(&part);
    }
    text + tail
}

fn each(count: usize, part: impl Fn(usize) -> String) -> String {
    (0..count).map(part).collect()
}

/// Returns subroutines that call the next one twice.
fn doubling(depth: usize) -> String {
    let calls = each(depth - 1, |i| format!("BGNSUB\nCAL :{next}\nCAL :{next}\nENDSUB\n", next = 7 + 4 * i));
    let leaf = "BGNSUB\nADD TEMP[0],TEMP[0],IN[0]\nENDSUB\n";
    format!("{FRAG}DCL TEMP[0]\nCAL :3\nMOV OUT[0],TEMP[0]\nEND\n{calls}{leaf}")
}

/// Returns subroutines that call the next one between these lines; the last one has `last` instructions.
fn chain(length: usize, before: &[&str], behind: &[&str], last: usize) -> String {
    let lines = 3 + before.len() + behind.len();
    let lines_of = |lines: &[&str]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let subroutine = |inside: String| format!("BGNSUB\n{}{inside}{}ENDSUB\n", lines_of(before), lines_of(behind));
    let calls = each(length, |i| subroutine(format!("CAL :{}\n", 3 + lines * (i + 1))));
    let leaf = each(last, |i| format!("ADD TEMP[{}],TEMP[0],IN[0]\n", i % 400));
    format!("{FRAG}DCL TEMP[0..399]\nCAL :3\nMOV OUT[0],TEMP[0]\nEND\n{calls}BGNSUB\n{leaf}ENDSUB\n")
}

/// Returns nested loops that count to 32.
fn counting(components: &str, inside: &str) -> String {
    components.chars().fold(inside.to_owned(), |inside, c| {
        format!(
            "MOV TEMP[0].{c},IMM[0].xxxx\nBGNLOOP\nUADD TEMP[0].{c},TEMP[0].{c}{c}{c}{c},IMM[0].yyyy\n\
             USGE TEMP[1].x,TEMP[0].{c}{c}{c}{c},IMM[0].zzzz\nUIF TEMP[1].xxxx\nBRK\nENDIF\n{inside}ENDLOOP\n"
        )
    })
}

/// Returns the texts with their names.
fn texts() -> Vec<(&'static str, String)> {
    let temps = |count: usize| format!("{FRAG}DCL TEMP[0..{}]\n", count - 1);
    let switch = format!("{FRAG}DCL TEMP[0]\nIMM[0] UINT32 {{1,2,3,4}}\nSWITCH IN[0].xxxx\n");
    let switch_end = "ENDSWITCH\nMOV OUT[0],TEMP[0]\nEND\n";
    let same = |part: &'static str| move |_: usize| part.to_owned();
    let add = |i: usize| format!("ADD TEMP[{i}],TEMP[{i}],IN[0]\n");
    let read = |count: usize| each(count, |i| format!("ADD OUT[0],TEMP[{i}],OUT[0]\n"));
    let index = "DCL ADDR[0]\nARL ADDR[0].x,IN[0].xxxx\n";
    let counters = format!("{}IMM[0] UINT32 {{0,1,32,128}}\n", temps(4));
    let result = "MOV OUT[0],TEMP[2]\nEND\n";
    vec![
        ("ifs that nothing closes", fill(FRAG, same("IF IN[0].xxxx\n"), "END\n")),
        ("8000 ifs", FRAG.to_owned() + &"IF IN[0].x\n".repeat(3600) + &"ENDIF\n".repeat(3600) + "END\n"),
        (
            "1024 ifs",
            temps(4) + &"IF IN[0].xxxx\nADD TEMP[0],TEMP[0],IN[0]\n".repeat(1024) + &"ENDIF\n".repeat(1024) + "END\n",
        ),
        (
            "1024 loops",
            temps(4)
                + &"BGNLOOP\n".repeat(1024)
                + "ADD TEMP[0],TEMP[0],IN[0]\nBRK\n"
                + &"BRK\nENDLOOP\n".repeat(1024)
                + "MOV OUT[0],TEMP[0]\nEND\n",
        ),
        (
            "deep loops around many temporaries",
            temps(800)
                + &"BGNLOOP\nIF IN[0].xxxx\nBRK\nENDIF\n".repeat(500)
                + &each(800, add)
                + &"ENDLOOP\n".repeat(500)
                + &read(400)
                + "END\n",
        ),
        (
            "deep ifs around many temporaries",
            temps(800)
                + &"IF IN[0].xxxx\n".repeat(1000)
                + &each(800, add)
                + &"ENDIF\n".repeat(1000)
                + &read(300)
                + "END\n",
        ),
        ("cases without code", fill(&switch, same("CASE IMM[0].xxxx\n"), switch_end)),
        ("cases that fall through", fill(&switch, same("CASE IMM[0].xxxx\nADD TEMP[0],TEMP[0],IN[0]\n"), switch_end)),
        (
            "cases that may be left",
            fill(&switch, same("CASE IMM[0].xxxx\nIF IN[0].yyyy\nBRK\nENDIF\nADD TEMP[0],TEMP[0],IN[0]\n"), switch_end),
        ),
        ("calls that double", doubling(1000)),
        ("calls that double, as often as they may", doubling(13)),
        ("subroutines", fill(&format!("{FRAG}END\n"), same("BGNSUB\nENDSUB\n"), "")),
        (
            "an array of 65536",
            fill(
                &format!("{FRAG}DCL TEMP[0..65535],ARRAY(1)\n{index}"),
                same("MOV TEMP[ADDR[0].x](1),IN[0]\nADD OUT[0],OUT[0],TEMP[ADDR[0].x+7](1)\n"),
                "END\n",
            ),
        ),
        (
            "65536 temporaries, one at a time",
            fill(&temps(65536), |i| format!("ADD TEMP[{}],TEMP[{}],IN[0]\n", i * 7 % 32768, i * 13 % 32768), "END\n"),
        ),
        (
            "1000 arrays of 65536",
            FRAG.to_owned()
                + &each(1000, |i| format!("DCL TEMP[0..65535],ARRAY({})\n", i + 1))
                + index
                + "MOV OUT[0],TEMP[ADDR[0].x](1)\nEND\n",
        ),
        (
            "inputs and outputs",
            format!(
                "FRAG\nDCL IN[0..65535],GENERIC[0],LINEAR\nDCL OUT[0..65535],COLOR\n{index}MOV OUT[ADDR[0].x],IN[ADDR[0].x]\nEND\n"
            ),
        ),
        (
            "outputs at every EMIT",
            fill(
                &format!(
                    "{GEOM}DCL IN[][0],GENERIC[0]\nDCL OUT[0..700],GENERIC[0]\nIMM[0] UINT32 {{0,0,0,0}}\n{}",
                    each(700, |i| format!("MOV OUT[{i}],IN[0][0]\n"))
                ),
                same("EMIT IMM[0].xxxx\n"),
                "END\n",
            ),
        ),
        (
            "outputs at every RET",
            fill(
                &format!(
                    "VERT\nDCL IN[0]\nDCL OUT[0..700],GENERIC[0]\n{}",
                    each(700, |i| format!("MOV OUT[{i}],IN[0]\n"))
                ),
                same("IF IN[0].xxxx\nRET\nENDIF\n"),
                "END\n",
            ),
        ),
        ("immediates", fill(FRAG, |i| format!("IMM FLT32 {{{i},1,2,3}}\n"), "END\n")),
        ("numbers of immediates", fill(FRAG, same("IMM[4294967295] FLT32 {1}\nIMM[65534] FLT32 {1}\n"), "END\n")),
        ("an identifier", format!("FRAG\nDCL {}[0]\nEND\n", "A".repeat(SIZE))),
        ("a number", format!("FRAG\nDCL TEMP[{}]\nEND\n", "1".repeat(SIZE))),
        ("a float", format!("FRAG\nIMM[0] FLT32 {{{}.{}e9999}}\nEND\n", "1".repeat(30_000), "1".repeat(30_000))),
        ("labels", fill("FRAG\n", same("0:"), "\n")),
        ("labels of instructions", fill("FRAG\n", same("NOP :16777215\n"), "END\n")),
        ("errors", fill("FRAG\n", same("X\n"), "END\n")),
        (
            "registers that are not declared",
            fill(
                &each(2000, |i| format!("{}DCL TEMP[{}]\n", if i == 0 { FRAG } else { "" }, 2 * i)),
                |i| format!("MOV TEMP[{}],IN[0]\n", 2 * i + 1),
                "END\n",
            ),
        ),
        ("definitions", fill("FRAG\n", |i| format!("#define a{i} a{}\n", i + 1), "MOV a0,a1\nEND\n")),
        ("overlaps", fill("FRAG\n", same("DCL TEMP[0..9]\n"), "END\n")),
        (
            "old arrays",
            format!("COMP\n{}MOV TEMPX[0][0],TEMPX[1][0]\nEND\n", each(250, |i| format!("DCL TEMPX[{i}][0..65535]\n"))),
        ),
        ("old opcodes", fill(&temps(2), same("RFL TEMP[0],TEMP[0],IN[0]\n"), "MOV OUT[0],TEMP[0]\nEND\n")),
        (
            "old predicates",
            fill(
                &format!("{FRAG}DCL PRED[0]\nDCL TEMP[0]\n"),
                same("(!PRED[0].xyzw) ADD TEMP[0],TEMP[0],IN[0]\n"),
                "END\n",
            ),
        ),
        ("loops that are unrolled", fill(&counters, |_| counting("xyzw", "ADD TEMP[2],TEMP[2],IN[0]\n"), result)),
        (
            "a large loop that is unrolled",
            format!("{counters}{}{result}", counting("x", &"MUL TEMP[2],TEMP[2],IN[0]\n".repeat(2000))),
        ),
        (
            "selects",
            fill(
                &temps(2),
                same("IF TEMP[0].xxxx\nMOV TEMP[0],TEMP[1]\nELSE\nADD TEMP[1],TEMP[0],IN[0]\nENDIF\n"),
                "MOV OUT[0],TEMP[1]\nEND\n",
            ),
        ),
        (
            "inputs with a gap",
            fill(
                &format!("{FRAG}DCL IN[2..4000],GENERIC[2]\nDCL TEMP[0]\n{index}"),
                same("ADD TEMP[0],TEMP[0],IN[ADDR[0].x]\n"),
                "MOV OUT[0],TEMP[0]\nEND\n",
            ),
        ),
        ("a chain of calls", chain(900, &["IF IN[0].xxxx", "KILL", "ENDIF"], &[], 1000)),
        ("blocks around calls", chain(1000, &["IF IN[0].xxxx"], &["ENDIF"], 400)),
        ("loops around calls", chain(900, &["BGNLOOP"], &["BRK", "ENDLOOP"], 10)),
        (
            "conditions that are equal values",
            fill(
                &temps(3),
                same("USNE TEMP[2].x,TEMP[0].xxxx,TEMP[1].xxxx\nUIF TEMP[2].xxxx\nMOV TEMP[0],IN[0]\nENDIF\n"),
                "MOV OUT[0],TEMP[0]\nEND\n",
            ),
        ),
        (
            "loads",
            fill(
                &format!("{VERT}DCL BUFFER[0]\nDCL TEMP[0]\n"),
                same("LOAD TEMP[0],BUFFER[0],TEMP[0].xxxx\n"),
                "MOV OUT[0],TEMP[0]\nEND\n",
            ),
        ),
    ]
}

/// Returns the largest number of instructions in the record of passes.
fn most_instructions(record: &str) -> u64 {
    let counts = record.lines().filter_map(|line| line.split(" -> ").nth(1)?.split(' ').next()?.parse().ok());
    counts.max().unwrap_or(0)
}

/// Returns the sum of the numbers of instructions before every pass that ran.
fn work(record: &str) -> u64 {
    let before = record.lines().filter_map(|line| line.split(" -> ").next()?.rsplit(' ').next()?.parse::<u64>().ok());
    before.sum()
}

#[test]
fn hostile_texts_stay_small() {
    let folder = Folder::new();
    let timed = std::env::var_os("TGSIC_TIMES").is_some();
    for (name, text) in texts() {
        let check = tgsic(&["check", "--error-format", "gcc"], &text);
        assert!(matches!(check.status, 0 | 1), "{name}: {}", check.stderr);
        assert!(!check.stderr.contains("panicked"), "{name}: {}", check.stderr);
        let translate = tgsic(&["translate", "-vv", "--error-format", "gcc"], &text);
        // Shaders that pass the check may still need more temporaries than operands can name.
        let too_many = translate.status == 1 && translate.stderr.contains("[T0712]");
        assert!(translate.status == check.status || too_many, "{name}: {}", translate.stderr);
        if translate.status == 1 {
            let errors = translate.stderr.lines().filter(|line| line.contains(": error: "));
            let placed = |line: &str| line.split(':').take(3).skip(1).all(|part| part.parse::<u32>().is_ok());
            assert!(errors.clone().count() > 0 && errors.clone().all(placed), "{name}: {}", translate.stderr);
        }
        let most = most_instructions(&translate.stderr);
        assert!(most < MAX_INSTRUCTIONS, "{name}: {most} instructions");
        let work = work(&translate.stderr);
        assert!(work < MAX_WORK, "{name}: {work} instructions walked over");
        assert!(translate.stdout.len() < MAX_BYTES, "{name}: {} bytes", translate.stdout.len());
        if timed {
            println!("{name:40} {most} instructions, {work} walked over");
            show_times(&folder, name, &text);
        }
    }
}

/// Shows user time and peak memory as measured by `time`.
fn show_times(folder: &Folder, name: &str, text: &str) {
    folder.write("text.tgsi", text.as_bytes());
    for command in ["check", "translate"] {
        let mut time = Command::new("time");
        let program = env!("CARGO_BIN_EXE_tgsic");
        time.args(["-q", "-f", "%U %M", program, command, "--error-format", "gcc", "text.tgsi"]);
        let Ok(output) = time.current_dir(folder.path(".")).stdin(Stdio::null()).output() else {
            println!("skipped: there is no program `time`");
            return;
        };
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let figures: Vec<f64> =
            errors.lines().last().unwrap_or_default().split(' ').filter_map(|f| f.parse().ok()).collect();
        let [seconds, kilobytes] = figures[..] else { panic!("{name}: {errors}") };
        let slow = if seconds >= 0.1 || kilobytes >= 65_536.0 { "0.1 s or 64 MiB exceeded" } else { "" };
        println!("{name:40} {command:9} {seconds:5.2} s {:6.1} MiB {slow}", kilobytes / 1024.0);
    }
}
