//! Translations for a consumer use only supported constructs, unless the source needs others; and if there is no
//! translation, the error states in TGSI's terms which part of the source needs which feature.
//!
//! Real shaders are those of the reference data; others are generated. `TGSIC_ONLY=text` restricts both to targets and
//! shaders with the text in their name, and prints the code.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::common::shared;
use tgsi::Shader;
use tgsi::shader::{Instruction, Register};
use tgsi::tables::{File, Opcode, Processor, Semantic};
use tgsi_compiler::{Code, Compiler, Driver, Target};
use tgsi_diagnostics::Span;
use tgsi_driver_tgsi::{DRIVER, TgsiOptions};
use tgsi_ir::shader::ShaderStage;
use tgsi_smith::{Config, FLOAT_STAGES, STAGES, from_seed};
use tgsi_to_ir::slots::stage_of;

/// The maximum number of instructions of a shader: longer ones would take most of the time.
const LONGEST: usize = 50;

/// The number of generated shaders of each stage.
const SEEDS: u64 = 40;

/// Whether an opcode has no other form for the consumer: lookups, memory, communication between invocations,
/// derivatives of one pixel, vertices.
fn has_no_other_form(opcode: Opcode) -> bool {
    use Opcode::*;
    let info = opcode.info();
    info.is_tex
        || info.is_sample_family
        || info.has_memory
        || info.is_store
        || matches!(
            opcode,
            Emit | Endprim
                | Barrier
                | Membar
                | InterpCentroid
                | InterpOffset
                | InterpSample
                | Fbfetch
                | Clock
                | ReadHelper
                | ReadInvoc
                | ReadFirst
                | Ballot
                | VoteAny
                | VoteAll
                | VoteEq
                | Img2hnd
                | Samp2hnd
                | SamplePos
                | SampleInfo
                | Demote
                | Ddx
                | Ddy
                | DdxFine
                | DdyFine
                // Conversions to 16-bit floats, rounded to even.
                | Pk2h
                | Up2h
        )
}

/// The unsupported constructs of the code, each once.
fn not_taken(target: &TgsiOptions, code: &Shader) -> BTreeSet<String> {
    let mut rest = code.clone();
    // Findings identify instructions by their position, the first being 1; those at 0 are about declarations.
    for (at, instruction) in (1u32..).zip(&mut rest.instructions) {
        instruction.span = Span { start: at, end: at + 1 };
    }
    rest.declarations.iter_mut().for_each(|declaration| declaration.span = Span::default());
    let mut found = BTreeSet::new();
    loop {
        let fit = target.fit(&Code::Tgsi(Box::new(rest.clone()), Default::default())).expect("limits");
        let Some(excess) = fit.limit("not-taken").and_then(|limit| limit.first.clone()) else { return found };
        found.extend(excess.what);
        let at = excess.span.and_then(|span| (span.start as usize).checked_sub(1));
        let Some(instruction) = at.and_then(|at| rest.instructions.get_mut(at)) else { return found };
        // Other instructions with the opcode give the same finding, unless it is about operands.
        let opcode = instruction.opcode;
        *instruction = Instruction::new(Opcode::Nop);
        if found.contains(opcode.name()) {
            let same = rest.instructions.iter_mut().filter(|i| i.opcode == opcode);
            same.for_each(|i| *i = Instruction::new(Opcode::Nop));
        }
    }
}

/// Whether a source needs an unsupported construct.
fn needs(source: &Shader, what: &str) -> bool {
    let of_interface = ["IN of semantic ", "OUT of semantic ", "inputs of semantic ", "outputs of semantic "];
    if let Some(name) = of_interface.iter().find_map(|prefix| what.strip_prefix(prefix)) {
        return Semantic::ALL.iter().any(|semantic| semantic.name() == name);
    }
    if what.starts_with("operands in ") || what.starts_with("textures of target ") {
        return true;
    }
    // Units and constant buffers are selected by an index that no condition can replace.
    let chooses = |register: &Register| {
        register.is_indirect() && (register.file == File::Sampler || register.file == File::SamplerView)
            || register.dimension.is_some_and(|dimension| dimension.indirect.is_some())
    };
    let is_indirect = what.ends_with(" addressed indirectly") || what == "ARL" || what == "destinations in ADDR";
    if is_indirect && source.instructions.iter().any(|i| i.registers().any(chooses)) {
        return true;
    }
    let opcode = Opcode::ALL.iter().find(|opcode| opcode.name() == what);
    // A family of lookups may use another opcode in the code.
    opcode.is_some_and(|&opcode| {
        has_no_other_form(opcode)
            && source
                .instructions
                .iter()
                .any(|i| i.opcode == opcode || opcode.info().is_tex && has_no_other_form(i.opcode))
    })
}

/// Returns the defects of the translations of a shader.
fn faults(target: &TgsiOptions, compiler: &Compiler, source: &Shader) -> Vec<String> {
    match compiler.compile(source) {
        Ok(code) => {
            let code = code.into_tgsi().expect("TGSI");
            if std::env::var_os("TGSIC_ONLY").is_some() {
                println!("{}", tgsi::text::print(&code, Default::default()));
            }
            let wrong = not_taken(target, &code).into_iter().filter(|what| !needs(source, what));
            wrong.map(|what| format!("not taken: {what}")).collect()
        }
        Err(error) => {
            let finding = error.diagnostic();
            let mut wrong = Vec::new();
            if finding.message.starts_with("inst") || finding.message.contains("TGSI form") {
                wrong.push(format!("not in TGSI's words: {}", finding.message));
            }
            let is_of_all = matches!(finding.code.name, "too-many-temporaries" | "too-many-immediates");
            // Spans always compare equal, so compare their starts.
            if finding.span.start == source.processor_span.start && !is_of_all {
                wrong.push(format!("without position: {}", finding.message));
            }
            wrong
        }
    }
}

/// Whether the hardware of a target has a stage.
fn has_stage(target: &TgsiOptions, processor: Processor) -> bool {
    let empty = Shader::new(processor);
    let fit = target.fit(&Code::Tgsi(Box::new(empty), Default::default())).expect("limits");
    fit.limit("not-taken").is_none_or(|limit| limit.used == 0)
}

/// Runs all targets over the shaders, and fails with each kind of defect, its number and an example.
fn check_all(shaders: impl Fn(&TgsiOptions) -> Vec<(String, Shader)>) {
    let only = std::env::var("TGSIC_ONLY").ok();
    let mut wrong: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut count = 0;
    for profile in DRIVER.profiles() {
        let mut target = TgsiOptions::default();
        target.set(profile.name).expect("a profile");
        let compiler = Compiler::new(target.clone());
        for (name, source) in shaders(&target) {
            let wanted = only.as_ref().is_none_or(|only| format!("{} {name}", profile.name).contains(only.as_str()));
            if !wanted || !has_stage(&target, source.processor) {
                continue;
            }
            count += 1;
            for fault in faults(&target, &compiler, &source) {
                let stage = source.processor.name();
                let entry = wrong.entry(format!("{} {stage}: {fault}", profile.name));
                entry.or_insert_with(|| (0, name.clone())).0 += 1;
            }
        }
    }
    println!("{count} translations");
    let lines: Vec<String> = wrong.iter().map(|(fault, (n, example))| format!("{fault} ({n}, {example})")).collect();
    assert!(lines.is_empty(), "\n{}", lines.join("\n"));
}

/// Reads the shaders of a folder that parse without errors and are short enough.
fn read(folder: &Path) -> Vec<(String, Shader)> {
    let read = |path: std::path::PathBuf| {
        let bytes = std::fs::read(&path).expect("a file");
        let shader = tgsi::text::parse(&bytes).ok()?.shader;
        let is_checked = tgsi::check::check(&shader).errors().next().is_none();
        let name = path.file_name()?.to_string_lossy().into_owned();
        (is_checked && shader.instructions.len() <= LONGEST).then_some((name, shader))
    };
    crate::common::shaders(folder).into_iter().filter_map(read).collect()
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn translations_of_real_shaders_are_taken() {
    let shaders = read(&shared("corpus"));
    assert!(shaders.len() > 800, "{} shaders", shaders.len());
    check_all(|_| shaders.clone());
}

#[test]
fn translations_of_generated_shaders_are_taken() {
    check_all(|target| {
        let integers = !target.fidelity(ShaderStage::Fragment).lacks_integers;
        let vertex_flow = !target.fidelity(ShaderStage::Vertex).lacks_selections;
        let textureless = STAGES.into_iter().filter(|&stage| !target.has_textures(stage_of(stage))).collect::<Vec<_>>();
        let stages: &[Processor] = if integers { &STAGES } else { &FLOAT_STAGES };
        let seeds = stages.iter().flat_map(|&stage| (0..SEEDS).map(move |seed| (stage, seed)));
        seeds
            .map(|(stage, seed)| {
                let config = Config::default().with_stage(stage).with_integers(integers).with_vertex_flow(vertex_flow);
                let config = config.with_stages_without_textures(textureless.clone());
                let generated = from_seed(seed, &config).expect("a shader");
                // Errors have a position only in text.
                let text = tgsi::text::print(&generated, Default::default());
                let shader = tgsi::text::parse(text.as_bytes()).expect("a text").shader;
                (format!("{} {seed}", stage.name()), shader)
            })
            .collect()
    });
}
