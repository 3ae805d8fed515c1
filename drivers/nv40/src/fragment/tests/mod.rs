//! Tests of the passes and of emission: random programs, executed before and after.

mod generator;
mod interpreter;
mod listings;

use tgsi_environment::Random;

use self::generator::{INPUTS, UNIFORMS, selected, unit};
use self::interpreter::{Data, run, sample};
use super::{FragmentOptions, finish};
use crate::isa::Chip;
use crate::isa::fragment::FragmentOp;
use crate::machine::{DEPTH, Lookup};
use crate::program::FragmentProgram;
use crate::simulator::{self, FragmentSimulator, QuadInputs, Rules, TextureFetch, round_to_half};

fn data(seed: u64) -> Data {
    let mut random = Random::new(seed);
    let mut value = || {
        let choice = random.bits() as u32;
        match choice % 4 {
            0 => (choice >> 8 & 7) as f32,
            1 => (choice >> 8 & 255) as f32 / 64.0 - 2.0,
            2 => [0.0, 1.0, -1.0, 0.5, f32::NAN, 1e5, -0.0, 2.0][(choice >> 8 & 7) as usize],
            _ => (choice >> 8) as f32 / 1e6,
        }
    };
    let inputs = [(); 4].map(|()| {
        let mut inputs = vec![[0.0; 4]; 15];
        INPUTS.iter().for_each(|&number| inputs[usize::from(number)] = [(); 4].map(|()| value()));
        inputs
    });
    let uniforms = (0..UNIFORMS).map(|_| [(); 4].map(|()| value().to_bits())).collect();
    Data { inputs, uniforms }
}

fn execute(program: &FragmentProgram, data: &Data) -> simulator::FragmentResult {
    let mut words = program.program.clone();
    for (number, &value) in data.uniforms.iter().enumerate() {
        words.set_constant(number as u32, value);
    }
    let texture = |fetch: &TextureFetch| {
        let (ddx, ddy, level, lookup) = match fetch.lookup {
            simulator::Lookup::Implicit { ddx, ddy, bias } => (ddx, ddy, bias, Lookup::Tex),
            simulator::Lookup::Level(level) => ([0.0; 4], [0.0; 4], level, Lookup::Txl),
            simulator::Lookup::Gradient { ddx, ddy } => (ddx, ddy, 0.0, Lookup::Txd),
        };
        sample(unit(fetch.unit, lookup), fetch.coordinate, ddx, ddy, level)
    };
    let inputs = data.inputs.each_ref().map(|lane| &lane[..]);
    let quad = QuadInputs { inputs, texture: &texture, rules: Rules::Ieee, steps: 1 << 20 };
    FragmentSimulator::new(&program.program.words, program.chip).unwrap();
    FragmentSimulator::new(&words.words, program.chip).unwrap().run(&quad).unwrap()
}

/// Compares a program with its words. Returns whether the results could be compared exactly.
fn check(seed: u64, chip: Chip, options: &FragmentOptions) -> Option<FragmentProgram> {
    let selected = selected(seed, chip);
    let data = data(seed ^ 0xabcd);
    let expected = run(&selected.program, &data);
    let program = match finish(selected.clone(), options) {
        Ok(program) => program,
        Err(error) => panic!("seed {seed} on {chip}: {error}"),
    };
    let found = execute(&program, &data);
    if options.half && !expected.is_half {
        return None;
    }
    let context = || {
        let text: Vec<String> = selected.program.instructions().iter().map(ToString::to_string).collect();
        format!("seed {seed} on {chip}, {options:?}\n{}\n{}", text.join("\n"), super::tests::listings::text(&program))
    };
    assert_eq!(found.killed, expected.killed, "{}", context());
    for (lane, outputs) in expected.outputs.iter().enumerate() {
        for output in &selected.outputs {
            let number = usize::from(output.number);
            let (mut expected, mut found_value) = (outputs[number], [0.0; 4]);
            if i32::from(output.number) == DEPTH {
                (expected, found_value[2]) = ([0.0, 0.0, expected[2], 0.0], found.depth(lane));
            } else {
                found_value = found.colour(lane, number, options.exports_full);
                if !options.exports_full {
                    expected = expected.map(round_to_half);
                }
            }
            let is_same = |a: f32, b: f32| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
            assert!(
                (0..4).all(|c| is_same(expected[c], found_value[c])),
                "lane {lane}, output {number}: {expected:?}, found {found_value:?}\n{}",
                context()
            );
        }
    }
    Some(program)
}

/// Every program computes the same as its instructions before the passes, on all chips.
#[test]
fn random_programs() {
    let count = std::env::var("TGSIC_NV40_PROGRAMS").ok().and_then(|count| count.parse().ok()).unwrap_or(1500);
    let mut compared = [0; 5];
    for seed in 0..count {
        let usual = FragmentOptions::default();
        let all = [
            usual,
            FragmentOptions { exports_full: true, ..usual },
            FragmentOptions { optimize: false, ..usual },
            FragmentOptions { half: true, ..usual },
            FragmentOptions { schedule: false, ..usual },
        ];
        for chip in Chip::ALL {
            for (number, options) in all.iter().enumerate() {
                compared[number] += u64::from(check(seed, chip, options).is_some());
            }
        }
    }
    assert!(compared.iter().all(|&compared| compared > count / 20), "{compared:?}");
}

/// Order saves passes, and takes no registers that have a price.
#[test]
fn order_saves_passes() {
    let (mut before, mut after) = (0, 0);
    for seed in 0..300 {
        let of = |schedule| {
            let options = FragmentOptions { schedule, ..FragmentOptions::default() };
            let program = finish(selected(seed, Chip::Nv40), &options).unwrap();
            (program.passes(), program.registers)
        };
        let (source, ordered) = (of(false), of(true));
        assert!(ordered.1 <= source.1.max(4), "{seed}");
        before += source.0;
        after += ordered.0;
    }
    assert!(after < before, "{after} of {before}");
}

/// Programs end at their last instruction.
#[test]
fn the_end_is_on_the_last_instruction() {
    for seed in 0..300 {
        let program = finish(selected(seed, Chip::Rsx), &FragmentOptions::default()).unwrap();
        let simulator = FragmentSimulator::new(&program.program.words, program.chip).unwrap();
        let code: Vec<_> = simulator.instructions().map(|(_, instruction)| *instruction).collect();
        let (last, others) = code.split_last().unwrap();
        assert!(last.end && others.iter().all(|instruction| !instruction.end));
        let ends_in_flow = others.last().is_none_or(|instruction| instruction.flow.is_some());
        assert!(last.op != FragmentOp::Nop || ends_in_flow || others.iter().any(|other| other.flow.is_some()));
    }
}
