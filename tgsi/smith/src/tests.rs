//! Generated shaders pass the check, terminate, and are a function of their seed.

use super::{Config, FLOAT_STAGES, Features, STAGES, from_bytes, from_seed};
use tgsi::check::check;
use tgsi::shader::Shader;
use tgsi::tables::{OperandType, Processor};
use tgsi::text::print;

fn assert_valid(shader: &Shader, what: &str) {
    let report = check(shader);
    let errors: Vec<_> = report.diagnostics.iter().filter(|d| d.is_error()).collect();
    assert!(errors.is_empty(), "{what}: {errors:?}\n{}", print(shader, Default::default()));
}

#[test]
fn seeds_give_valid_shaders_of_every_stage() {
    for stage in STAGES {
        for seed in 0..400 {
            let config = Config { stage: Some(stage), ..Config::default() };
            let shader = from_seed(seed, &config).expect("a shader");
            assert_eq!(shader.processor, stage);
            assert_valid(&shader, &format!("{stage} {seed}"));
        }
    }
}

#[test]
fn bytes_give_valid_shaders() {
    let config = Config::default();
    let mut random = tgsi_environment::Random::new(1);
    for length in 0..300 {
        let bytes: Vec<u8> = (0..length).map(|_| random.bits() as u8).collect();
        assert_valid(&from_bytes(&bytes, &config).expect("a shader"), &format!("{length} bytes"));
    }
    for byte in 0..=255 {
        assert_valid(&from_bytes(&[byte; 200], &config).expect("a shader"), &format!("bytes {byte}"));
    }
}

#[test]
fn features_can_be_left_out() {
    for &(name, feature) in Features::NAMES {
        assert_eq!(Features::from_name(name), Some(feature));
        let config = Config { features: Features::ALL.without(feature), ..Config::default() };
        for seed in 0..50 {
            assert_valid(&from_seed(seed, &config).expect("a shader"), name);
        }
    }
}

#[test]
fn textures_can_be_left_out_of_a_stage() {
    let config = Config::default().with_stages_without_textures([Processor::Vertex]);
    let has_textures = |stage: Processor| {
        let config = config.clone().with_stage(stage);
        (0..100).any(|seed| {
            let shader = from_seed(seed, &config).expect("a shader");
            shader.instructions.iter().any(|instruction| instruction.opcode.info().is_tex)
        })
    };
    assert!(!has_textures(Processor::Vertex) && has_textures(Processor::Fragment));
}

#[test]
fn integers_can_be_left_out() {
    let config = Config { integers: false, ..Config::default() };
    for seed in 0..800 {
        let shader = from_seed(seed, &config).expect("a shader");
        assert!(FLOAT_STAGES.contains(&shader.processor));
        assert_valid(&shader, &seed.to_string());
        for instruction in &shader.instructions {
            let info = instruction.opcode.info();
            let types = info.src_types.iter().chain([&info.dst_type]);
            let is_float =
                |ty: &OperandType| matches!(ty, OperandType::Float | OperandType::Untyped | OperandType::None);
            // Values rounded to an address were floats before.
            let is_address = matches!(instruction.opcode, tgsi::tables::Opcode::Arl | tgsi::tables::Opcode::Arr);
            assert!(is_address || types.clone().all(is_float), "seed {seed}: {}", instruction.opcode);
        }
    }
}

#[test]
fn a_seed_gives_one_shader() {
    let config = Config::default();
    let shader = |seed| print(&from_seed(seed, &config).expect("a shader"), Default::default());
    assert_eq!(shader(7), shader(7));
    assert_ne!(shader(7), shader(8));
}
