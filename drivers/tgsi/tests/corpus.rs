//! The driver on real shaders: each translates, the translation passes the check, and computes the recorded results.
//!
//! `TGSIC_ONLY=text` restricts the runs to shaders with the text in their path, and prints their translations.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::common::{lines, references, shared};
use crate::compile::{lower, translate, translate_lowered};
use tgsi::Shader;
use tgsi::shader::Register;
use tgsi::tables::{File, Opcode, OperandType, Processor, Semantic};
use tgsi::text::PrintOptions;
use tgsi_compiler::{Code, Compiler, Driver, EVERY_REGISTER, InterfaceIntegers, Target, is_integer};
use tgsi_driver_tgsi::TgsiOptions;
use tgsi_environment::{AnalyticResources, Inputs, RunLimits};
use tgsi_ir::passes::pipeline;
use tgsi_run::vectors::{Agreement, UninitialisedWords, Vector, as_recorded};
use tgsi_run::{Program, run};
use tgsi_to_ir::{ToIrOptions, to_ir};

/// Returns the corpus by path, decoded from the reference tokens.
fn corpus() -> Vec<(String, Shader)> {
    let only = std::env::var("TGSIC_ONLY").ok();
    let wanted = |file: &str| only.as_ref().is_none_or(|only| file.contains(only.as_str()));
    let references = references().into_iter().filter(|(file, _)| wanted(file));
    references.map(|(file, reference)| (file, reference.shader().unwrap())).collect()
}

fn show(shader: &Shader) -> String {
    tgsi::text::print(shader, tgsi::text::PrintOptions::default())
}

fn verbose() -> bool {
    std::env::var_os("TGSIC_ONLY").is_some()
}

fn in_ssa(source: &Shader) -> tgsi_ir::Shader {
    let mut ir = to_ir(source, &ToIrOptions::default()).unwrap();
    pipeline::into_ssa(&mut ir);
    ir
}

fn through_driver(source: &Shader, options: &TgsiOptions) -> Result<Shader, String> {
    if verbose() {
        println!("--- before\n{}", show(source));
    }
    let shader = whole_through_driver(source, options)?;
    if verbose() {
        println!("--- after\n{}", show(&shader));
    }
    let findings = tgsi::check::check(&shader).diagnostics;
    let errors: Vec<_> = findings.iter().filter(|d| d.is_error()).map(|d| format!("{d:?}")).take(3).collect();
    if let Some(text) = forbidden(&shader, options) {
        return Err(text);
    }
    if errors.is_empty() { Ok(shader) } else { Err(errors.join("; ")) }
}

fn whole_through_driver(source: &Shader, options: &TgsiOptions) -> Result<Shader, String> {
    let mut ir = in_ssa(source);
    // The default of the command.
    let compiler_options = options.compiler_options(ir.stage);
    pipeline::optimize(&mut ir, &compiler_options);
    lower(&mut ir, options).map_err(|e| e.to_string())?;
    if verbose() {
        println!("--- lowered\n{}", tgsi_ir::text::print(&ir));
    }
    tgsi_registers::check::check(&ir, options.modifiers(), tgsi_registers::NO_OPERANDS)
        .map_err(|v| format!("not trivial: {v:?}"))?;
    translate_lowered(&ir, options).map_err(|e| e.to_string())
}

fn temporaries(shader: &Shader) -> u32 {
    shader
        .declarations
        .iter()
        .filter(|d| d.file == File::Temporary)
        .map(|d| u32::from(d.last) - u32::from(d.first) + 1)
        .sum()
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn the_corpus_translates() {
    let shaders = corpus();
    let peer = std::fs::read_to_string(shared("oracle/peer.csv")).unwrap();
    let rows = peer.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    let peer: HashMap<String, (usize, u32)> = rows
        .filter(|f| f[1] == "ok" && f[2].parse::<usize>().unwrap() <= 5000)
        .map(|f| (f[0].to_owned(), (f[3].parse().unwrap(), f[5].parse().unwrap())))
        .collect();
    let (mut before, mut after, mut temps_before, mut temps_after) = (0, 0, 0, 0);
    let (mut ours, mut theirs, mut ours_temps, mut theirs_temps, mut hurt) = (0, 0, 0, 0, Vec::new());
    let (mut frontend, mut lowering, mut backend) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
    let mut failed: BTreeMap<String, String> = BTreeMap::new();
    let mut grown = Vec::new();
    let options = TgsiOptions::default();
    for (file, source) in &shaders {
        let start = Instant::now();
        let mut ir = in_ssa(source);
        frontend += start.elapsed();
        let start = Instant::now();
        lower(&mut ir, &options).unwrap();
        lowering += start.elapsed();
        let start = Instant::now();
        let result = translate_lowered(&ir, &options).map_err(|e| e.to_string());
        backend += start.elapsed();
        match result.and_then(|shader| {
            let findings = tgsi::check::check(&shader).diagnostics;
            let errors: Vec<_> = findings.iter().filter(|d| d.is_error()).map(|d| d.message.clone()).take(3).collect();
            if errors.is_empty() { Ok(shader) } else { Err(errors.join("; ")) }
        }) {
            Ok(shader) => {
                if source.instructions.len() <= 5000 {
                    before += source.instructions.len();
                    after += shader.instructions.len();
                }
                temps_before += temporaries(source);
                temps_after += temporaries(&shader);
                if shader.instructions.len() > source.instructions.len() {
                    grown.push((shader.instructions.len() - source.instructions.len(), file.clone()));
                }
                if let Some(&(instructions, temps)) = peer.get(file) {
                    ours += shader.instructions.len();
                    theirs += instructions;
                    ours_temps += temporaries(&shader);
                    theirs_temps += temps;
                    if shader.instructions.len() > instructions {
                        hurt.push((shader.instructions.len() - instructions, file.clone()));
                    }
                }
            }
            Err(error) => {
                failed.insert(file.clone(), error);
            }
        }
    }
    println!("{} of {} translated", shaders.len() - failed.len(), shaders.len());
    println!("instructions {before} -> {after}, temporaries {temps_before} -> {temps_after}");
    println!("time: front end and optimiser {frontend:?}, lowering {lowering:?}, backend {backend:?}");
    println!(
        "peer: instructions {ours} against {theirs}, temporaries {ours_temps} against {theirs_temps}, hurt {}",
        hurt.len()
    );
    grown.sort_by(|a, b| b.cmp(a));
    hurt.sort_by(|a, b| b.cmp(a));
    println!("grown {}: {:#?}", grown.len(), grown.iter().take(10).collect::<Vec<_>>());
    println!("hurt: {:#?}", hurt.iter().take(15).collect::<Vec<_>>());
    for (file, text) in failed.iter().take(40) {
        println!("  {file}: {text}");
    }
    assert!(failed.is_empty(), "{} shaders failed", failed.len());
}

/// Runs every vector with a shader found by `shader`.
fn run_all(name: &str, options: &TgsiOptions, vectors: PathBuf, shader: impl FnMut(&str) -> Option<Shader>) {
    run_some(name, options, vectors, |_| true, shader);
}

/// Runs the vectors selected by `wanted`.
fn run_some(
    name: &str,
    options: &TgsiOptions,
    vectors: PathBuf,
    wanted: impl Fn(&Vector) -> bool,
    mut shader: impl FnMut(&str) -> Option<Shader>,
) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut failed: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut by_file: BTreeMap<String, Vec<Vector>> = BTreeMap::new();
    for line in lines(vectors) {
        let vector = Vector::parse(&line).unwrap();
        if !wanted(&vector) {
            continue;
        }
        by_file.entry(vector.file.clone()).or_default().push(vector);
    }
    let mut fail = |file: &str, text: String| {
        failed.entry(file.to_owned()).or_insert((0, text)).0 += 1;
    };
    for (file, vectors) in &by_file {
        let Some(source) = shader(file) else { continue };
        let source = as_recorded(&source);
        let translated = match through_driver(&source, options) {
            Ok(translated) => translated,
            Err(error) => {
                *counts.entry("errors").or_default() += vectors.len();
                fail(file, error);
                continue;
            }
        };
        let program = Program::new(&options.as_run(&translated)).unwrap();
        let uninitialised = UninitialisedWords::new(&source);
        for vector in vectors {
            if vector.has_special_values() {
                *counts.entry("special").or_default() += 1;
                continue;
            }
            let inputs = vector.inputs(&source);
            let outputs = match run(&program, &inputs, &mut AnalyticResources::default(), RunLimits::default()) {
                Ok(outputs) => outputs,
                Err(error) => {
                    *counts.entry("errors").or_default() += 1;
                    fail(file, error.to_string());
                    continue;
                }
            };
            let mut comparison = vector.compare(&outputs);
            *counts.entry("chance").or_default() += uninitialised.excuse(&source, vector, &mut comparison);
            match comparison.verdict() {
                Agreement::Exact => *counts.entry("exact").or_default() += 1,
                Agreement::Close => *counts.entry("close").or_default() += 1,
                Agreement::Different => {
                    *counts.entry("different").or_default() += 1;
                    let differences: Vec<_> = comparison.different.iter().take(3).collect();
                    fail(file, format!("seed {}: {differences:x?}", vector.seed));
                }
            }
        }
    }
    println!("{name}: {counts:?}");
    for (file, (count, text)) in failed.iter().take(60) {
        println!("  {file} ({count}): {text}");
    }
    assert!(failed.is_empty(), "{} shaders of {name} disagree", failed.len());
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn corpus_vectors_agree_through_the_driver() {
    let vectors = shared("oracle/corpus-vectors.jsonl.gz");
    let shaders = corpus();
    let shaders: HashMap<String, Shader> = shaders.into_iter().collect();
    run_all("corpus-vectors", &TgsiOptions::default(), vectors, |file| shaders.get(file).cloned());
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn opcode_vectors_agree_through_the_driver() {
    let vectors = shared("oracle/opcode-vectors.jsonl.gz");
    let texts = shared("oracle/opcodes");
    let texts = texts.parent().unwrap().to_owned();
    let only = std::env::var("TGSIC_ONLY").ok();
    run_all("opcode-vectors", &TgsiOptions::default(), vectors, |file| {
        if only.as_ref().is_some_and(|only| !file.contains(only.as_str())) {
            return None;
        }
        let text = std::fs::read(texts.join(file)).unwrap();
        Some(tgsi::text::parse(&text).unwrap().shader)
    });
}

/// Targets that lack features, and disabled passes: a part of the corpus for each.
#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn every_option_computes_the_same() {
    let vectors = shared("oracle/corpus-vectors.jsonl.gz");
    let shaders = corpus();
    for (number, (name, options)) in variants(&TgsiOptions::default()).iter().enumerate() {
        let part: HashMap<String, Shader> = shaders.iter().skip(number).step_by(8).cloned().collect();
        run_all(name, options, vectors.clone(), |file| part.get(file).cloned());
    }
}

/// Every option alone, and some combinations, on top of others.
fn variants(all: &TgsiOptions) -> Vec<(&'static str, TgsiOptions)> {
    let all = || all.clone();
    vec![
        ("fuse_fabs off", all().with(|o| o.fuse_fabs = false)),
        ("has_cmp off", all().with(|o| o.has_cmp = false)),
        ("has_sqrt off", all().with(|o| o.has_sqrt = false)),
        ("has_lz off", all().with(|o| o.has_lz = false)),
        ("component of gathers in the swizzle", all().with(|o| o.tg4_swizzle = true)),
        ("return_types", all().with(|o| o.return_types = true)),
        ("fuse_mad off", all().with(|o| o.fuse_mad = false)),
        ("few constants", all().with(|o| o.max_constant_index = 3)),
        ("results by mask", all().with(|o| (o.masked_results, o.wide_reads_before_writes) = (true, true))),
        ("one address register", all().with(|o| o.address_registers = 1)),
        ("unoptimized_ra", all().with(|o| o.unoptimized_ra = true)),
        ("pairing_scheduler", all().with(|o| (o.unoptimized_ra, o.pairing_scheduler) = (true, true))),
        ("restricted_swizzles", all().with(|o| o.restricted_swizzles = true)),
        ("vec_to_regs", all().with(|o| o.vec_to_regs = true)),
        ("optimize off", all().with(|o| o.unoptimized = true)),
        ("no modifiers", all().with(|o| (o.fuse_fabs, o.has_cmp, o.fuse_mad) = (false, false, false))),
        ("nothing at all", all().with(|o| (o.unoptimized, o.unoptimized_ra, o.vec_to_regs) = (true, true, true))),
    ]
}

/// Returns a feature of a shader that its options forbid, if any.
fn forbidden(shader: &Shader, options: &TgsiOptions) -> Option<String> {
    let has = |opcode: Opcode| shader.instructions.iter().any(|i| i.opcode == opcode);
    let absent = [
        (options.has_cmp, Opcode::Cmp),
        (options.has_sqrt, Opcode::Sqrt),
        (options.has_lz, Opcode::TexLz),
        (options.has_lz, Opcode::TxfLz),
        (options.fuse_mad, Opcode::Mad),
    ];
    if let Some((_, opcode)) = absent.into_iter().find(|&(allowed, opcode)| !allowed && has(opcode)) {
        return Some(format!("has {opcode:?}"));
    }
    let mut sources = shader.instructions.iter().flat_map(|i| &i.src);
    if !options.fuse_fabs && sources.any(|s| s.absolute) {
        return Some("has absolute values".to_owned());
    }
    let mut sources = shader.instructions.iter().flat_map(|i| &i.src).map(|s| &s.register);
    let limit = options.max_constant_index as i32;
    if sources.any(|r| r.file == File::Constant && r.indirect.is_none() && r.index > limit) {
        return Some("has constants beyond the limit".to_owned());
    }
    let addresses: u32 =
        shader.declarations.iter().filter(|d| d.file == File::Address).map(|d| u32::from(d.last - d.first) + 1).sum();
    (addresses > u32::from(options.address_registers)).then(|| "has too many address registers".to_owned())
}

/// Shaders that a consumer supports are translated to shaders that it supports.
#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn no_consumer_gets_what_it_does_not_take() {
    let shaders = corpus();
    let mut failures: Vec<String> = Vec::new();
    for name in ["softpipe", "nv30", "nv40", "i915", "r300", "r500", "svga", "vgpu9"] {
        let target = tgsi_driver_tgsi::DRIVER.target(&[name]).expect("a target");
        let is_taken = |shader: Box<Shader>| {
            let fit = target.fit(&Code::Tgsi(shader, PrintOptions::default())).expect("limits");
            let first = fit.limit("not-taken").and_then(|limit| limit.first.clone());
            first.map_or(Ok(()), |first| Err(first.what))
        };
        let compiler = Compiler::for_target(tgsi_driver_tgsi::DRIVER.target(&[name]).expect("a target").into());
        let mut taken = 0;
        for (file, source) in shaders.iter().filter(|(_, source)| is_taken(Box::new(source.clone())).is_ok()) {
            let code = compiler.compile(source).map(|code| code.into_tgsi().expect("TGSI"));
            match code.map(|shader| is_taken(Box::new(shader))) {
                Ok(Ok(())) => taken += 1,
                // A shader without effects has no other translation.
                Ok(Err(Some(what))) if what == "shaders without instructions" => {}
                Ok(Err(what)) => failures.push(format!("{name}: {file}: {}", what.unwrap_or_default())),
                Err(error) => failures.push(format!("{name}: {file}: {error}")),
            }
        }
        assert!(taken > 100 || std::env::var_os("TGSIC_ONLY").is_some(), "{name} takes {taken}");
    }
    assert_eq!(failures, Vec::<String>::new());
}

/// Whether an opcode needs integers.
fn needs_integers(opcode: Opcode) -> bool {
    let info = opcode.info();
    let is_float = |ty: OperandType| matches!(ty, OperandType::None | OperandType::Untyped | OperandType::Float);
    let floats = is_float(info.dst_type) && info.src_types.iter().all(|&ty| is_float(ty));
    matches!(opcode, Opcode::Ucmp | Opcode::Uif | Opcode::Uarl) || (opcode != Opcode::Arl && !floats)
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn targets_without_integers_get_floats() {
    let vectors = shared("oracle/corpus-vectors.jsonl.gz");
    let shaders = corpus();
    let shaders: HashMap<String, Shader> = shaders.into_iter().collect();
    let options = TgsiOptions::default().with(|o| o.native_integers = false);
    let (mut floats, mut lowered, mut refused) = (0, 0, BTreeMap::<String, usize>::new());
    let mut kept: HashMap<String, Shader> = HashMap::new();
    let mut fed: HashMap<String, (Shader, Shader, InterfaceIntegers)> = HashMap::new();
    let mut wrongly_refused = Vec::new();
    for (file, source) in &shaders {
        // An index that is not in an address register is an integer.
        let is_address = |register: &Register| {
            let outer = register.dimension.and_then(|d| d.indirect);
            register.indirect.into_iter().chain(outer).all(|i| i.file == File::Address)
        };
        let only_floats = source.instructions.iter().all(|i| {
            let registers = i.src.iter().map(|s| &s.register).chain(i.dst.iter().map(|d| &d.register));
            !needs_integers(i.opcode) && registers.into_iter().all(is_address)
        });
        let ir = in_ssa(source);
        match translate(&ir, &options) {
            Ok(shader) => {
                assert!(shader.instructions.iter().all(|i| !needs_integers(i.opcode)), "{file}: {}", show(&shader));
                let errors: Vec<_> =
                    tgsi::check::check(&shader).diagnostics.into_iter().filter(|d| d.is_error()).collect();
                assert!(errors.is_empty(), "{file}: {errors:?}\n{}", show(&shader));
                floats += usize::from(only_floats);
                lowered += usize::from(!only_floats);
                // Recorded runs provide these integers.
                let has_integers = source.declarations.iter().any(|d| {
                    d.file == File::SystemValue
                        && d.semantic.is_some_and(|s| !matches!(s.name, Semantic::Position | Semantic::Face))
                });
                let interface = options.interface_integers(&ir).unwrap().unwrap_or_default();
                if !has_integers && interface == InterfaceIntegers::default() {
                    kept.insert(file.clone(), source.clone());
                } else {
                    fed.insert(file.clone(), (source.clone(), shader, interface));
                }
            }
            Err(error) => {
                if only_floats {
                    wrongly_refused.push(format!("{file}: {error}"));
                }
                let text = error.to_string();
                let reason = text.split_once(": ").map_or(text.clone(), |(_, r)| r.to_owned());
                if verbose() {
                    println!("{file}: {error}");
                }
                *refused.entry(reason).or_default() += 1;
            }
        }
    }
    println!("{floats} of floats only, {lowered} with integers lowered, {} refused", refused.values().sum::<usize>());
    println!("{refused:#?}");
    println!("wrongly refused {}: {:#?}", wrongly_refused.len(), wrongly_refused.iter().take(20).collect::<Vec<_>>());
    // Inputs that are floats.
    let float_like = |vector: &Vector| [0, 2, 5, 7].contains(&vector.seed);
    run_some("without integers", &options, vectors.clone(), float_like, |file| kept.get(file).cloned());
    let mut files: Vec<&String> = kept.keys().collect();
    files.sort();
    for (number, (name, options)) in variants(&options).iter().enumerate() {
        let part: HashSet<&str> = files.iter().skip(number).step_by(8).map(|f| f.as_str()).collect();
        // Without CMP, a sum of products selects: the unselected operand must be finite, and in these shaders it is not
        // (some divide by 0 there, some compute the power of a negative number).
        let infinite = ["glcleartexsubimage", "spot-light"];
        let is_finite = |file: &str| options.has_cmp || !infinite.iter().any(|name| file.contains(name));
        let find = |file: &str| (part.contains(file) && is_finite(file)).then(|| kept[file].clone());
        run_some(&format!("without integers, {name}"), options, vectors.clone(), float_like, find);
    }
    assert!(wrongly_refused.is_empty());
    interface_integers_may_be_floats(vectors, &fed);
}

/// Small integers as interface integers: the translation computes the same if it gets floats instead.
fn interface_integers_may_be_floats(vectors: PathBuf, fed: &HashMap<String, (Shader, Shader, InterfaceIntegers)>) {
    let (mut equal, mut different) = (0, BTreeMap::new());
    for line in lines(vectors) {
        let vector = Vector::parse(&line).unwrap();
        let Some((source, translated, interface)) = fed.get(&vector.file).filter(|_| vector.seed == 0) else {
            continue;
        };
        // Computes the unsigned remainder of negative numbers.
        if vector.file.contains("vs-nonuniform-control-flow") {
            continue;
        }
        let integers = with_small_integers(vector.inputs(source), source, interface);
        let mut floats = integers.clone();
        interface.to_floats(&mut floats);
        let run = |shader: &Shader, inputs: &Inputs| {
            let program = Program::new(shader).unwrap();
            run(&program, inputs, &mut AnalyticResources::default(), RunLimits::default()).map_err(|e| e.to_string())
        };
        let (expected, found) = match (run(source, &integers), run(translated, &floats)) {
            (Ok(expected), Ok(mut found)) => {
                interface.to_integers(&mut found);
                (expected, found)
            }
            // Loops that never end with these numbers.
            (Err(_), Err(_)) => continue,
            (expected, found) => {
                different.insert(vector.file.clone(), format!("{:?} {:?}", expected.err(), found.err()));
                continue;
            }
        };
        let agrees = |expected: u32, found: u32| Agreement::of(expected, found) != Agreement::Different;
        let mut wrong = Vec::new();
        for lane in (0..expected.live.len()).filter(|&lane| expected.live[lane]) {
            // The outputs of a geometry shader are the vertices it emitted.
            let count = if source.processor == Processor::Geometry { 0 } else { expected.outputs.len() };
            for register in 0..count {
                for component in 0..4 {
                    let words = [&expected, &found].map(|o| o.outputs.get(register, component, lane));
                    if !agrees(words[0], words[1]) {
                        wrong.push(format!("OUT[{register}][{component}] lane {lane}: {words:x?}"));
                    }
                }
            }
        }
        if expected.live != found.live || expected.emitted.iter().map(Vec::len).ne(found.emitted.iter().map(Vec::len)) {
            wrong.push("lanes or primitives".to_owned());
        }
        let pairs = expected.emitted.iter().flatten().flatten().zip(found.emitted.iter().flatten().flatten());
        for (expected, found) in pairs {
            for (register, (expected, found)) in expected.iter().zip(found).enumerate() {
                for component in 0..4 {
                    if !agrees(expected[component], found[component]) {
                        wrong.push(format!("emitted [{register}][{component}]: {:x?}", (expected, found)));
                    }
                }
            }
        }
        if wrong.is_empty() {
            equal += 1;
        } else {
            different.insert(vector.file.clone(), wrong.into_iter().take(3).collect::<Vec<_>>().join("; "));
        }
    }
    println!("fed with floats for integers: {equal} equal, {} different", different.len());
    for (file, text) in &different {
        println!("  {file}: {text}");
    }
    assert!(equal > 0 && different.is_empty());
}

/// Inputs with small numbers for all integers.
fn with_small_integers(mut inputs: Inputs, shader: &Shader, interface: &InterfaceIntegers) -> Inputs {
    let number = |seed: usize| [0, 1, 2, 3, 1, 0, 2][seed % 7];
    assert!(interface.constants.keys().all(|&(buffer, _)| buffer != EVERY_REGISTER), "a buffer chosen at run time");
    let place = Cell::new(0);
    interface.map_inputs(&mut inputs, |_| {
        place.set(place.get() + 1);
        number(place.get())
    });
    if shader.declarations.iter().any(|d| d.file == File::SystemValue) {
        for (_, columns) in inputs.system_values.iter_mut().filter(|(value, _)| is_integer(**value)) {
            for (place, word) in columns.iter_mut().flatten().enumerate() {
                *word = number(place);
            }
        }
    }
    inputs
}

/// Whether an operand uses an address: for the register, or for its vertex or buffer.
fn is_indirect(register: &Register) -> bool {
    register.indirect.is_some() || register.dimension.is_some_and(|d| d.indirect.is_some())
}

/// The files of operands that use an address.
fn indirect_files(shader: &Shader) -> BTreeSet<File> {
    let instructions = shader.instructions.iter();
    let registers =
        instructions.flat_map(|i| i.src.iter().map(|s| &s.register).chain(i.dst.iter().map(|d| &d.register)));
    registers.filter(|r| is_indirect(r)).map(|r| r.file).collect()
}

/// Targets that cannot address files indirectly: shaders that do so translate, no indirect accesses to those files
/// remain, and recorded results agree.
#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn files_that_cannot_be_indirect() {
    let vectors = shared("oracle/corpus-vectors.jsonl.gz");
    let shaders = corpus();
    let only = std::env::var_os("TGSIC_ONLY").is_some();
    let sets: [(&str, &[File]); 5] = [
        ("no_indirect_inputs", &[File::Input]),
        ("no_indirect_outputs", &[File::Output]),
        ("no_indirect_temporaries", &[File::Temporary, File::Immediate]),
        ("no_indirect_constants", &[File::Constant, File::ConstantBuffer]),
        ("", &[File::Input, File::Output, File::Temporary, File::Immediate, File::Constant, File::ConstantBuffer]),
    ];
    for (name, files) in sets {
        let mut options = TgsiOptions::default();
        for option in TgsiOptions::OPTIONS
            .iter()
            .map(|o| o.name)
            .filter(|o| o.starts_with("no_indirect") && (name.is_empty() || *o == name))
        {
            options.set(option).unwrap();
        }
        let concerned: HashMap<String, Shader> = shaders
            .iter()
            .filter(|(_, source)| indirect_files(source).iter().any(|file| files.contains(file)))
            .cloned()
            .collect();
        let (mut before, mut after) = (0, 0);
        for (file, source) in &concerned {
            let result = through_driver(source, &options).unwrap_or_else(|error| panic!("{file}, {name}: {error}"));
            before += source.instructions.len();
            after += result.instructions.len();
            let left = indirect_files(&result);
            assert!(!left.iter().any(|file| files.contains(file)), "{file}, {name}: {left:?}\n{}", show(&result));
            // An address register is declared only if it is still used.
            let has_address = result.declarations.iter().any(|d| d.file == File::Address);
            assert_eq!(has_address, !left.is_empty(), "{file}, {name}\n{}", show(&result));
        }
        println!("{name:?}: {} shaders, instructions {before} -> {after}", concerned.len());
        assert!(!concerned.is_empty() || only);
        run_all(name, &options, vectors.clone(), |file| concerned.get(file).cloned());
    }
}
