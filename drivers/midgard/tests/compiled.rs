//! Compiled programs, where runs beside the interpreter do not show a property.

use pretty_assertions::assert_eq;
use std::sync::Arc;
use tgsi_compiler::{Compiler, Driver};
use tgsi_driver_midgard::DRIVER;
use tgsi_driver_midgard::container::read_program_json;
use tgsi_driver_midgard::isa::load_store::{LoadStore, LoadStoreOp};
use tgsi_driver_midgard::isa::{Body, Bundle, decode_program};
use tgsi_driver_midgard::program::Program;
use tgsi_driver_midgard::simulator::{Environment, Launch, Simulator, VaryingLoad, Vec4, WriteOut};

fn program(text: &str) -> Program {
    let shader = tgsi::text::parse(text.as_bytes()).unwrap().shader;
    let compiler = Compiler::for_target(Arc::from(DRIVER.target(&[]).unwrap()));
    let code = compiler.compile(&shader).unwrap();
    read_program_json(&code.auxiliary_files()[0].text).unwrap()
}

/// A tile buffer that refuses write-outs, the first ones of each render target.
#[derive(Default)]
struct Busy {
    refusals: u32,
    refused: [u32; 8],
    accepted: Vec<WriteOut>,
}

impl Environment for Busy {
    fn varying(&mut self, load: &VaryingLoad) -> Vec4 {
        [1, 2, 3, 4].map(|component| ((component + load.index) as f32 * 0.5).to_bits())
    }

    fn write_out(&mut self, write: &WriteOut) -> bool {
        let refused = &mut self.refused[write.target as usize & 7];
        *refused += 1;
        let accepts = *refused > self.refusals;
        self.accepted.extend(accepts.then_some(*write));
        accepts
    }
}

/// Colours, depth, and a colour that the bundle of its write-out computes from a register that it overwrites.
#[test]
fn refused_write_outs_are_repeated() {
    let simple = "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL TEMP[0]\n\
        MUL TEMP[0], IN[0], IN[0]\nADD OUT[0], TEMP[0], TEMP[0].wwww\nEND\n";
    let several = "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL IN[1], GENERIC[1], CONSTANT\nDCL OUT[0], COLOR\n\
        DCL OUT[1], COLOR[1]\nDCL OUT[2], POSITION\nMUL OUT[0], IN[0], IN[0]\nADD OUT[1], IN[0], IN[1]\n\
        MOV OUT[2].z, IN[0].xxxx\nEND\n";
    for text in [simple, several] {
        let program = program(text);
        let simulator = Simulator::new(&program.words, program.chip).unwrap();
        let launch = Launch { lanes: 1, work_registers: program.work_registers, ..Launch::default() };
        let writes = |refusals| {
            let mut environment = Busy { refusals, ..Busy::default() };
            simulator.run(&launch, &mut environment).unwrap();
            environment.accepted
        };
        let expected = writes(0);
        assert_eq!(expected.len(), program.results.len().min(2));
        for refusals in 1..4 {
            assert_eq!(writes(refusals), expected);
        }
    }
}

#[test]
fn varyings_are_interpolated_as_declared() {
    let program = program(
        "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL IN[1], GENERIC[1], CONSTANT\nDCL IN[2], GENERIC[2], LINEAR, CENTROID\n\
        DCL OUT[0], COLOR\nDCL TEMP[0]\nADD TEMP[0], IN[0], IN[1]\nADD OUT[0], TEMP[0], IN[2]\nEND\n",
    );
    let bundles = decode_program(&program.words).unwrap();
    let loads = |bundle: &Bundle| match &bundle.body {
        Body::LoadStore(loads) => loads.0.to_vec(),
        _ => Vec::new(),
    };
    let mut found: Vec<(LoadStoreOp, i32, i32)> = bundles
        .iter()
        .flat_map(loads)
        .flatten()
        .map(|LoadStore { op, offset, .. }| (op, offset >> 9, offset & 0x38))
        .collect();
    found.sort_by_key(|load| load.1);
    // Flat, perspective and centroid are bits 3, 4 and 5.
    let kinds: Vec<(LoadStoreOp, i32)> = found.iter().map(|&(op, _, parameters)| (op, parameters)).collect();
    let mut expected =
        vec![(LoadStoreOp::LdVaryF32, 1 << 4), (LoadStoreOp::LdVaryU32, 1 << 3), (LoadStoreOp::LdVaryF32, 1 << 5)];
    let sorted = |mut kinds: Vec<(LoadStoreOp, i32)>| {
        kinds.sort_by_key(|kind| kind.1);
        kinds
    };
    expected = sorted(expected);
    assert_eq!(sorted(kinds), expected);
}
