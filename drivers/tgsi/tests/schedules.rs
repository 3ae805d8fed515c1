//! Code for targets that schedule instructions writes components only once.

use crate::common::references;
use tgsi::Shader;
use tgsi::shader::Instruction;
use tgsi::tables::{File, Processor};
use tgsi_compiler::{Compiler, Driver};

/// The number of components of temporaries that are written again; none for a shader with branches.
fn written_again(shader: &Shader) -> Option<u32> {
    let temporaries = |instruction: &Instruction| {
        let register = |dst: &tgsi::shader::Dst| (dst.register.file == File::Temporary).then_some(dst.register.index);
        instruction.dst.iter().filter_map(|dst| Some((register(dst)?, dst.write_mask))).collect::<Vec<_>>()
    };
    let mut written = std::collections::HashMap::<i32, u8>::new();
    let mut again = 0;
    for instruction in &shader.instructions {
        if instruction.opcode.info().block.is_some() {
            return None;
        }
        for (register, mask) in temporaries(instruction) {
            let known = written.entry(register).or_default();
            again += (*known & mask).count_ones();
            *known |= mask;
        }
    }
    Some(again)
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn components_are_written_once_for_schedulers() {
    let fragments: Vec<(String, Shader)> = references()
        .into_iter()
        .map(|(file, reference)| (file, reference.shader().unwrap()))
        .filter(|(_, shader)| shader.processor == Processor::Fragment)
        .collect();
    for name in ["r300", "r400", "r500"] {
        let compiler = Compiler::for_target(tgsi_driver_tgsi::DRIVER.target(&[name]).expect("a target").into());
        let (mut straight, mut failures) = (0, Vec::new());
        for (file, source) in &fragments {
            // Features that the target lacks are errors.
            let Ok(code) = compiler.compile(source) else { continue };
            match written_again(&code.into_tgsi().expect("TGSI")) {
                None => {}
                Some(0) => straight += 1,
                Some(again) => failures.push(format!("{file}: {again}")),
            }
        }
        assert_eq!(failures, Vec::<String>::new(), "{name}");
        assert!(straight > 300, "{name}: {straight}");
    }
}
