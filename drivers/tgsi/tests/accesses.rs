//! A translation makes no access that its source does not make with the same inputs, lane by lane.
//!
//! Accesses are counted by their target: a word of a buffer, a texel, a texture, a size. The translation must not
//! access a target that the source does not access, nor access it more often. For indexed registers, and for constants,
//! two exceptions are harmless on all targets and allowed: registers in the declared range may be read whether or not
//! the source does, and registers read by the source may be read again, since operands are not kept in temporaries. A
//! lookup may become several of the same texture.
//!
//! `TGSIC_ONLY=text` restricts the runs to shaders with the text in their path, and prints their translations.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use crate::common::{shaders, shared};
use crate::compile::compile;
use tgsi::Shader;
use tgsi::shader::{Declaration, Dst, Instruction, Register, Src};
use tgsi::tables::{File, Opcode, Processor};
use tgsi_driver_tgsi::TgsiOptions;
use tgsi_environment::{AnalyticResources, Inputs, RunLimits};
use tgsi_ir::passes::pipeline::OptLevel;
use tgsi_run::{AccessTarget, LaneAccess, OpcodeCounts, Program, run_counted, run_observed};
use tgsi_smith::{Config, from_seed};
use tgsi_verify::make_inputs;

const LEVELS: [OptLevel; 3] = [OptLevel::LowerOnly, OptLevel::NoSizeGrowth, OptLevel::Full];

/// Sets of options for targets that treat accesses differently.
const TARGETS: &[&[&str]] = &[
    &[],
    &["virgl"],
    &["no_indirect_inputs", "no_indirect_outputs", "no_indirect_temporaries", "no_indirect_constants"],
];

/// The maximum number of steps of a run.
const STEPS: u64 = 20_000;

/// The number of kinds of inputs.
const SEEDS: u64 = 5;

/// An index beyond all registers, which also replaces negative ones: the distance does not matter.
const FAR: i64 = 1 << 16;

fn options(names: &[&str]) -> TgsiOptions {
    let mut options = TgsiOptions::default();
    names.iter().try_for_each(|name| options.set(name)).unwrap();
    options
}

fn translated(source: &Shader, options: &TgsiOptions, level: OptLevel) -> Option<Shader> {
    compile(source, options, level).ok()
}

/// The constants that a shader declares: buffer and number.
fn declared_constants(shader: &Shader) -> HashSet<(i64, i64)> {
    let constants = shader.declarations.iter().filter(|d| d.file == File::Constant);
    constants
        .flat_map(|d| (d.first..=d.last).map(|number| (i64::from(d.dimension.unwrap_or(0)), i64::from(number))))
        .collect()
}

/// A target that must not be accessed more often than by the source.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum AccessedTarget {
    /// A register that does not exist.
    NoRegister(File),
    /// A constant that is not declared: buffer and number.
    Constant(i64, i64),
    /// Any other target.
    Place(AccessTarget),
}

/// The accesses of a run: by lane and target the count and the last instruction. None if the run does not end in time.
fn reached(
    program: &Program,
    constants: &HashSet<(i64, i64)>,
    inputs: &Inputs,
) -> Option<HashMap<(usize, AccessedTarget), (u32, LaneAccess)>> {
    let mut counts: HashMap<(usize, AccessedTarget), (u32, LaneAccess)> = HashMap::new();
    let observe = &mut |access: LaneAccess| {
        let what = match access.target {
            AccessTarget::Register { file: File::Constant | File::ConstantBuffer, outer, index, .. } => {
                let buffer = outer.unwrap_or(0);
                if constants.contains(&(buffer, index)) {
                    return;
                }
                AccessedTarget::Constant(buffer, if (0..FAR).contains(&index) { index } else { FAR })
            }
            AccessTarget::Register { file, outer, exists, .. } => {
                // Targets that cannot index immediates hold them in temporaries.
                let file = if file == File::Immediate { File::Temporary } else { file };
                let is_vertex = usize::try_from(outer.unwrap_or(0)).is_ok_and(|v| v < inputs.vertices.len().max(1));
                if exists && is_vertex {
                    return;
                }
                AccessedTarget::NoRegister(file)
            }
            // Loads address constants by bytes; an address between words may access either one.
            AccessTarget::Word { file: file @ (File::Constant | File::ConstantBuffer), unit, address } => {
                if constants.contains(&(unit, (address / 16) as i64)) {
                    return;
                }
                AccessedTarget::Place(AccessTarget::Word { file, unit, address: address & !3 })
            }
            // Beyond all counters, at any distance.
            AccessTarget::Word { file: File::HwAtomic, unit, address } => AccessedTarget::Place(AccessTarget::Word {
                file: File::HwAtomic,
                unit,
                address: address.min(FAR as u64),
            }),
            place => AccessedTarget::Place(place),
        };
        counts.entry((access.lane, what)).or_insert((0, access)).0 += 1;
    };
    let limits = RunLimits { steps: STEPS, ..RunLimits::default() };
    run_observed(program, inputs, &mut AnalyticResources::default(), limits, observe).ok()?;
    Some(counts)
}

/// Returns the accesses that a translation makes in excess of its source, for some inputs.
fn excess(source: &Shader, after: &Shader) -> Vec<String> {
    let (before, after) = (Program::new(source).unwrap(), Program::new(after).unwrap());
    let constants = declared_constants(source);
    let mut found = Vec::new();
    for seed in 0..SEEDS {
        let inputs = make_inputs(source, seed);
        let runs = [&before, &after].map(|program| reached(program, &constants, &inputs));
        let [Some(allowed), Some(made)] = runs else { continue };
        for (&(lane, what), &(count, access)) in &made {
            let allowed = allowed.get(&(lane, what)).map_or(0, |&(count, _)| count);
            // Operands are read where they are used; one gather may become four lookups.
            let is_operand = matches!(
                what,
                AccessedTarget::Constant(..)
                    | AccessedTarget::NoRegister(_)
                    | AccessedTarget::Place(AccessTarget::Sample { .. } | AccessTarget::Query { .. })
            );
            if count > allowed && !(is_operand && allowed > 0) {
                found.push(format!(
                    "inputs {seed}, lane {lane}: {count} of {allowed}, {what:?} at instruction {} ({})",
                    access.instruction, access.opcode
                ));
            }
        }
    }
    found.sort();
    found
}

/// Checks shaders at all levels for the full target, and at the highest level for others. Returns the number of
/// translations, and the errors by name.
fn check(
    shaders: impl Iterator<Item = (String, Shader)>,
    targets: &[&[&str]],
) -> (usize, BTreeMap<String, Vec<String>>) {
    let only = std::env::var("TGSIC_ONLY").ok();
    let mut wrong = BTreeMap::new();
    let mut translations = 0;
    for (name, source) in shaders {
        if only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        for target in targets {
            let is_default = target.is_empty();
            for level in LEVELS.into_iter().filter(|&level| is_default || level == OptLevel::Full) {
                let Some(after) = translated(&source, &options(target), level) else { continue };
                translations += 1;
                let found = excess(&source, &after);
                if only.is_some() {
                    let print = |shader| tgsi::text::print(shader, tgsi::text::PrintOptions::default());
                    println!("{name} {target:?} {level:?}\n{}\n{}", print(&source), print(&after));
                }
                if !found.is_empty() {
                    wrong.insert(format!("{name} {target:?} {level:?}"), found);
                }
            }
        }
    }
    (translations, wrong)
}

/// Asserts that no shader has errors.
#[track_caller]
fn check_all(shaders: impl Iterator<Item = (String, Shader)>) {
    let (translations, wrong) = check(shaders, TARGETS);
    let mut last = "";
    for (name, found) in &wrong {
        // One line per shader.
        let shader = name.split(" [").next().unwrap_or(name);
        if shader != last {
            println!("{name}: {}", found.first().map_or("", String::as_str));
            last = shader;
        }
    }
    println!("{translations} translations, {} wrong", wrong.len());
    assert!(translations > 0 && wrong.is_empty(), "{} of {translations} translations are wrong", wrong.len());
}

fn parsed(text: &str) -> Shader {
    tgsi::text::parse(text.as_bytes()).unwrap().shader
}

fn file(path: &Path) -> Option<(String, Shader)> {
    let shader = tgsi::text::parse(&std::fs::read(path).unwrap()).ok()?.shader;
    (!tgsi::check::check(&shader).diagnostics.iter().any(|d| d.is_error()))
        .then(|| (path.display().to_string(), shader))
}

/// The code before the guarded access.
const DECLARED: &str = "FRAG\nDCL IN[0], GENERIC[0], CONSTANT\nDCL IN[1..3], ARRAY(1), GENERIC[1], PERSPECTIVE\nDCL OUT[0], COLOR\n\
    DCL CONST[0][0..3]\nDCL CONST[1][0..3]\nDCL CONST[2][0..3]\nDCL TEMP[0..2], LOCAL\nDCL TEMP[3..6], ARRAY(1), LOCAL\nDCL ADDR[0..2]\n\
    DCL SAMP[0..2]\nDCL SVIEW[0..2], 2D, FLOAT\nDCL IMAGE[0..2], 2D, PIPE_FORMAT_R32_UINT, WR\nDCL BUFFER[0..2]\nDCL MEMORY[0], SHARED\n\
    IMM[0] FLT32 {0.0, 1.0, 2.0, 3.0}\nIMM[1] UINT32 {0, 1, 2, 3}\nMOV TEMP[3], IN[1]\nMOV TEMP[4], IN[2]\nMOV TEMP[5], IN[3]\nMOV TEMP[6], IN[0]\n\
    UARL ADDR[0].x, IN[0].xxxx\nUARL ADDR[1].x, IN[0].xxxx\nUARL ADDR[2].x, IN[0].xxxx\nUSLT TEMP[0].x, IN[0].xxxx, IMM[1].zzzz\nMOV TEMP[1], IMM[0]\n";

/// Accesses by an index that is in range where the condition in `TEMP[0].x` holds.
const GUARDED: &[&str] = &[
    "MOV TEMP[1], CONST[ADDR[1].x+1][0]",
    "MOV TEMP[1], CONST[ADDR[1].x+1][ADDR[0].x]",
    "MOV TEMP[1], CONST[1][ADDR[0].x]",
    "MOV TEMP[1], CONST[ADDR[0].x+2]",
    "MOV TEMP[1], TEMP[ADDR[0].x+5](1)",
    "MOV TEMP[1], IN[ADDR[0].x+2](1)",
    "MOV TEMP[1], IMM[ADDR[0].x]",
    "TEX TEMP[1], IN[1], SAMP[ADDR[2].x+1], 2D",
    "TXF TEMP[1], IN[1], SAMP[0], 2D",
    "TXQ TEMP[1], IMM[1].xxxx, SAMP[ADDR[2].x+1], 2D",
    "LOAD TEMP[1], BUFFER[0], IN[0].xxxx",
    "LOAD TEMP[1], BUFFER[ADDR[2].x+1], IN[0].xxxx",
    "RESQ TEMP[1].x, BUFFER[ADDR[2].x+1]",
    "LOAD TEMP[1], CONST[ADDR[2].x+1], IN[0].xxxx",
    "LOAD TEMP[1], CONST[1], IN[0].xxxx",
    "LOAD TEMP[1], IMAGE[0], IN[0].xyyy, 2D, PIPE_FORMAT_R32_UINT",
    "LOAD TEMP[1], IMAGE[ADDR[2].x+1], IN[0].xyyy, 2D, PIPE_FORMAT_R32_UINT",
    "RESQ TEMP[1].xy, IMAGE[ADDR[2].x+1], 2D",
];

/// Constructs around the access.
const CONSTRUCTS: &[(&str, &str)] = &[
    ("UIF TEMP[0].xxxx\n", "\nENDIF\n"),
    ("UIF TEMP[0].xxxx\n", "\nELSE\nMOV TEMP[1], IN[1]\nENDIF\n"),
    (
        "UIF TEMP[0].xxxx\nUIF IN[0].yyyy\n",
        "\nUSNE TEMP[2].x, TEMP[1].xxxx, IMM[1].zzzz\nUIF TEMP[2].xxxx\nKILL\nENDIF\nENDIF\nENDIF\n",
    ),
    (
        "UIF TEMP[0].xxxx\n",
        "\nFSLT TEMP[2].x, TEMP[1].xxxx, IN[1].xxxx\nUIF TEMP[2].xxxx\nMOV TEMP[1], IN[3]\nENDIF\nENDIF\n",
    ),
    (
        "MOV TEMP[2], IMM[0]\nBGNLOOP\nUIF TEMP[0].xxxx\nELSE\nBRK\nENDIF\n",
        concat!(
            "\nFSLT TEMP[0].y, TEMP[1].xxxx, TEMP[2].xxxx\nUIF TEMP[0].yyyy\nBRK\nENDIF\nADD TEMP[2].x, TEMP[2].xxxx, IMM[0].yyyy\n",
            "FSLT TEMP[0].y, TEMP[2].xxxx, CONST[0][0].xxxx\nAND TEMP[0].x, TEMP[0].xxxx, TEMP[0].yyyy\nENDLOOP\n"
        ),
    ),
    (
        "MOV TEMP[2], IMM[0]\nBGNLOOP\nFSGE TEMP[0].y, TEMP[2].xxxx, IMM[0].wwww\nUIF TEMP[0].yyyy\nBRK\nENDIF\nUIF TEMP[0].xxxx\n",
        "\nENDIF\nADD TEMP[2].x, TEMP[2].xxxx, IMM[0].yyyy\nENDLOOP\n",
    ),
];

/// All accesses in all constructs.
fn guarded() -> impl Iterator<Item = (String, Shader)> {
    let mut all = Vec::new();
    for access in GUARDED {
        for (number, (before, after)) in CONSTRUCTS.iter().enumerate() {
            let text = format!("{DECLARED}{before}{access}{after}MOV OUT[0], TEMP[1]\nEND\n");
            all.push((format!("{access} in {number}"), parsed(&text)));
        }
    }
    all.into_iter()
}

#[test]
fn guarded_accesses() {
    check_all(guarded());
}

/// Mesa's interpreter divides like the CPU: division by 0, or of the least number by -1, traps.
#[test]
fn guarded_divisions() {
    let text = "VERT\nDCL IN[0]\nDCL OUT[0], GENERIC[0]\nDCL TEMP[0]\nIMM[0] UINT32 {0, 7, 0, 0}\nMOV TEMP[0], IN[0]\nUIF IN[0].yyyy\n\
        OP TEMP[0].x, IN[0].xxxx, BY\nENDIF\nMOV OUT[0], TEMP[0]\nEND\n";
    for opcode in [Opcode::Idiv, Opcode::Mod, Opcode::Udiv, Opcode::Umod] {
        for (divisor, may_run) in [("IN[0].yyyy", false), ("IMM[0].yyyy", true)] {
            let source = parsed(&text.replace("OP", opcode.info().name).replace("BY", divisor));
            for level in LEVELS {
                let program = Program::new(&translated(&source, &TgsiOptions::default(), level).unwrap()).unwrap();
                let mut counts = OpcodeCounts::default();
                let inputs = Inputs { lanes: 1, ..Inputs::default() };
                let limits = RunLimits::default();
                run_counted(&program, &inputs, &mut AnalyticResources::default(), limits, &mut counts).unwrap();
                let expected = u64::from(may_run && level != OptLevel::LowerOnly);
                assert_eq!(counts.of(opcode), expected, "{opcode} by {divisor}, {level:?}");
            }
        }
    }
}

/// A target may allow speculation of loads: then there are accesses that the other tests forbid, and the check finds
/// them.
#[test]
fn a_target_that_no_load_harms() {
    let (translations, wrong) = check(guarded(), &[&["speculate_loads"]]);
    assert!(wrong.len() * 10 > translations, "{} of {translations}", wrong.len());
    let (translations, wrong) = check(wild(), &[&["speculate_loads"]]);
    assert!(wrong.len() * 50 > translations, "{} of {translations}", wrong.len());
}

#[test]
fn the_demo_shaders() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/demo");
    check_all(shaders(&folder).iter().filter_map(|path| file(path)));
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn the_corpus() {
    let folder = shared("corpus");
    check_all(shaders(&folder).iter().filter_map(|path| file(path)));
}

#[test]
fn made_up_shaders() {
    check_all((0..500).map(|seed| (format!("seed {seed}"), from_seed(seed, &Config::default()).unwrap())));
}

/// Generated shaders with indices and addresses that come directly from inputs, each access under its own condition.
fn wild() -> impl Iterator<Item = (String, Shader)> {
    (0..500).filter_map(|seed| {
        let mut shader = from_seed(seed, &Config::default()).unwrap();
        let outside = shader.declarations.iter().find(|d| match d.file {
            File::Constant => d.dimension.unwrap_or(0) == 0,
            File::Input => shader.processor == Processor::Vertex || shader.processor == Processor::Fragment,
            _ => false,
        })?;
        let outside = Register::new(outside.file, outside.first.into());
        // Inserted instructions would move the targets of calls.
        if shader.instructions.iter().any(|i| i.opcode == Opcode::Cal) {
            return None;
        }
        let temps = shader.declarations.iter().filter(|d| d.file == File::Temporary);
        let condition = temps.map(|d| d.last + 1).max().unwrap_or(0);
        shader.declarations.push(Declaration::new(File::Temporary, condition, condition));
        let condition = Register::new(File::Temporary, condition.into());
        let mut component = 0;
        let mut next = || {
            component = (component + 1) % 4;
            Src::new(outside).swizzled([component; 4])
        };
        for mut instruction in std::mem::take(&mut shader.instructions) {
            let registers =
                instruction.src.iter().map(|s| &s.register).chain(instruction.dst.iter().map(|d| &d.register));
            let is_indirect = registers
                .into_iter()
                .any(|r| r.indirect.is_some() || r.dimension.is_some_and(|d| d.indirect.is_some()));
            let (place, is_guarded) = match instruction.opcode {
                Opcode::Uarl | Opcode::Arl => (Some(0), false),
                Opcode::Load => (Some(1), true),
                Opcode::If | Opcode::Uif | Opcode::Switch | Opcode::Case => (None, false),
                _ => (None, is_indirect),
            };
            if let Some(source) = place.and_then(|place| instruction.src.get_mut(place)) {
                *source = next();
            }
            if !is_guarded {
                shader.instructions.push(instruction);
                continue;
            }
            let mut compare = Instruction::new(Opcode::Islt);
            compare.dst.push(Dst::new(condition).masked(1));
            compare.src.extend([next(), next()]);
            let mut test = Instruction::new(Opcode::Uif);
            test.src.push(Src::new(condition).swizzled([0; 4]));
            shader.instructions.extend([compare, test, instruction, Instruction::new(Opcode::Endif)]);
        }
        shader.forget_encoding();
        Some((format!("wild {seed}"), shader))
    })
}

#[test]
fn made_up_shaders_with_wild_indices() {
    check_all(wild());
}
