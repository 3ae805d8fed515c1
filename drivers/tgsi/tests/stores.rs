//! Code for consumers that store more components than the mask, or store before all operands are read, computes the
//! same under these rules. `corpus.rs` does the same for the corpus.

use crate::compile::compile;
use tgsi::Shader;
use tgsi::tables::{Opcode, Processor};
use tgsi_driver_tgsi::TgsiOptions;
use tgsi_environment::{AnalyticResources, Inputs, RunLimits};
use tgsi_ir::passes::pipeline::OptLevel;
use tgsi_run::{Program, as_mesa_stores, run};
use tgsi_smith::{Config, from_seed};

fn translated(source: &Shader, options: &TgsiOptions) -> Shader {
    compile(source, options, OptLevel::Full).unwrap()
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// For consumers that respect masks, code packs registers tightly; run under the other rules it computes different
/// results, which shows that the simulation has an effect.
#[test]
fn what_such_a_consumer_loses_is_seen() {
    let text = "COMP\nDCL SV[0], THREAD_ID\nDCL BUFFER[0]\nDCL TEMP[0..1]\n\
                IMM[0] UINT32 {0, 2, 3, 5}\nIMM[1] UINT32 {8, 0, 0, 0}\n\
                UADD TEMP[0].yz, SV[0].xxyy, IMM[0].zzww\nATOMUADD TEMP[0].x, BUFFER[0], IMM[0].xxxx, IMM[0].yyyy\n\
                UADD TEMP[1].x, TEMP[0].xxxx, TEMP[0].yyyy\nUMUL TEMP[1].y, TEMP[0].yyyy, TEMP[0].zzzz\n\
                STORE BUFFER[0].xy, IMM[1].xxxx, TEMP[1]\nEND\n";
    let source = tgsi::text::parse(text.as_bytes()).unwrap().shader;
    let stores = |shader: &Shader| {
        let inputs = Inputs { lanes: 1, buffers: vec![words(&[7, 0, 0, 0])], ..Inputs::default() };
        let outputs =
            run(&Program::new(shader).unwrap(), &inputs, &mut AnalyticResources::default(), RunLimits::default());
        outputs.unwrap().buffers[0].clone()
    };
    let careful = TgsiOptions::default();
    let careless = TgsiOptions::default().with(|o| (o.masked_results, o.wide_reads_before_writes) = (true, true));
    let expected = stores(&source);
    assert_eq!(expected, words(&[9, 0, 10, 15]));
    assert_eq!(stores(&translated(&source, &careful)), expected);
    assert_eq!(stores(&as_mesa_stores(&translated(&source, &careful))), expected);
    assert_eq!(stores(&translated(&source, &careless)), expected);
    assert_ne!(stores(&as_mesa_stores(&translated(&source, &careless))), expected);
}

/// No instruction of generated code has a destination that a 64-bit half would overwrite too early, and every atomic on
/// memory has x in its mask, without which it has no effect there.
#[test]
fn generated_code_runs_the_same() {
    let mut atomics = 0;
    for seed in 0..400 {
        let config = Config::default().with_stage(Processor::Compute).with_size(60);
        let code = translated(&from_seed(seed, &config).unwrap(), &TgsiOptions::default());
        let rewritten = as_mesa_stores(&code);
        let dropped = rewritten.instructions.iter().filter(|i| i.opcode == Opcode::Nop).count();
        assert_eq!(dropped, code.instructions.iter().filter(|i| i.opcode == Opcode::Nop).count(), "seed {seed}");
        atomics += code.instructions.iter().filter(|i| i.opcode.info().is_store && i.opcode != Opcode::Store).count();
        let inputs = Inputs {
            lanes: 4,
            constants: (0..4).map(|b| (0..256).map(|word| (word * 7 + b) % 13).collect()).collect(),
            buffers: (0..16).map(|b| (0..=255u8).map(|byte| byte % 5 + b).collect()).collect(),
            shared_size: 1024,
            ..Inputs::default()
        };
        let limits = RunLimits::default();
        let result = |shader: &Shader| {
            let program = Program::new(shader).unwrap();
            run(&program, &inputs, &mut AnalyticResources::default(), limits).map(|o| (o.buffers, o.shared)).ok()
        };
        assert_eq!(result(&code), result(&rewritten), "seed {seed}");
    }
    assert!(atomics > 100, "{atomics}");
}
